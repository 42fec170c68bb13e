"""Whether a log still has what stood before a place of it: what is kept beside a log counts only then (DESIGN 6)."""

from __future__ import annotations

from ledger.digests import blake2b
from ledger.files import open_regular

__all__ = ["digest_before"]

_LOOK_BACK = 4096


def digest_before(path: str, byte: int) -> str:
    """Digest of up to 4 KiB before a byte: of the last line, or the end of a long one. The same cost at any size.

    Args:
        path: the log.
        byte: the place.

    Returns:
        BLAKE2b in hex; empty where the log isn't that long.

    Raises:
        OSError: if the log can't be read.
    """
    start = max(0, byte - _LOOK_BACK)
    with open(path, "rb", opener=open_regular) as file:
        file.seek(start)
        data = file.read(byte - start)
    return blake2b(data).hexdigest() if len(data) == byte - start else ""
