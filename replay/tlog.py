"""Heads and proofs as text (C2SP tlog-checkpoint and tlog-proof, without signatures: nobody holds a key here)."""

from __future__ import annotations

from base64 import b64decode, b64encode
from hashlib import sha256

from msgspec import Struct

__all__ = ["Head", "Proof", "head_text", "origin_of", "parse_head", "parse_proof", "proof_text"]

_PROOF_LINE = "c2sp.org/tlog-proof@v1"
_ROOT_SIZE = 32
_MOST_DIGITS = 18
_MOST_HASHES = 64
_NO_LEAVES = sha256().digest()
"""The root over no leaf (RFC 6962, 2.1)."""


class Head(Struct, frozen=True):
    """A tree head.

    Attributes:
        origin: which log it is of.
        size: number of leaves.
        root: their root, 32 bytes.
    """

    origin: str
    size: int
    root: bytes


class Proof(Struct, frozen=True):
    """That a leaf stands in the tree of a head.

    Attributes:
        index: the leaf, from 0.
        hashes: the roots beside its way to the top, from below.
        head: the head.
    """

    index: int
    hashes: tuple[bytes, ...]
    head: Head


def origin_of(ledger: str) -> str:
    """The name of a ledger's tree in heads: it holds the ledger's id, so that two are never taken for one another."""
    return f"memfold/ledger/{ledger}"


def head_text(head: Head) -> str:
    """The three lines of a head: origin, size, root in base64."""
    return f"{head.origin}\n{head.size}\n{b64encode(head.root).decode()}\n"


def parse_head(text: str) -> Head:
    """Read a head. Lines behind the third, such as extensions and signatures, are passed over.

    Raises:
        ValueError: naming the line that is wrong.
    """
    origin, size, root, *_ = [*text.split("\n"), "", "", ""]
    if not origin or origin != origin.strip():
        raise ValueError(f"line 1 {origin!r} is no origin")
    head = Head(origin, _number(size, "line 2"), _hash(root, "line 3"))
    if not head.size and head.root != _NO_LEAVES:
        raise ValueError("line 3 isn't the root over 0 lines")
    return head


def proof_text(proof: Proof) -> str:
    """A proof: its leaf's index, its hashes, a blank line, the head."""
    hashes = "".join(f"{b64encode(one).decode()}\n" for one in proof.hashes)
    return f"{_PROOF_LINE}\nindex {proof.index}\n{hashes}\n{head_text(proof.head)}"


def parse_proof(text: str) -> Proof:
    """Read a proof; lines that begin with ``extra`` are passed over.

    Raises:
        ValueError: naming what is wrong.
    """
    top, _, head = text.partition("\n\n")
    first, *lines = top.split("\n")
    lines = [line for line in lines if not line.startswith("extra ")]
    if first != _PROOF_LINE or not lines or not lines[0].startswith("index "):
        raise ValueError(f"it doesn't begin with {_PROOF_LINE!r} and an index")
    if len(lines) > _MOST_HASHES + 1:
        raise ValueError(f"it has {len(lines) - 1} hashes; no tree is that high")
    index = _number(lines[0].removeprefix("index "), "the index")
    hashes = tuple(_hash(line, f"hash {number}") for number, line in enumerate(lines[1:], 1))
    return Proof(index, hashes, parse_head(head))


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS) or (text[0] == "0" and text != "0"):
        raise ValueError(f"{what} {text!r} is no number")
    return int(text)


def _hash(text: str, what: str) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        data = b""
    if len(data) != _ROOT_SIZE or b64encode(data).decode() != text:
        raise ValueError(f"{what} {text!r} is no SHA-256 in base64")
    return data
