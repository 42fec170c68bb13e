"""What a purge leaves of a text: a mark, and keyed digests by which equal texts are still known (SPEC 15.4)."""

from __future__ import annotations

from ledger.digests import blake2b

__all__ = ["ERASED", "erased_key", "keyed_digest"]

ERASED = "[erased]"
"""Stands wherever a purged text stood."""

_SIZE = 16
_LONGEST_KEY = 64


def keyed_digest(key: str, kind: str, text: str) -> str:
    """A digest, in hex, of a text that plays a part: as a text key, as an identity, as a fact. Linear; total.

    Args:
        key: the key that stands in the ``ledger.erased`` event; only its first 64 bytes count.
        kind: the part, so that one text has another digest in each.
        text: the text.
    """
    secret = key.encode("utf-8", "replace")[:_LONGEST_KEY]
    return blake2b(f"{kind}\0{text}".encode("utf-8", "replace"), digest_size=_SIZE, key=secret).hexdigest()


def erased_key(digest: str) -> str:
    """The text key or identity key of a purged text; no text has it, since a text key holds no brackets at its ends."""
    return f"{ERASED}:{digest}"
