"""The files that ``verify`` is given: heads and proofs that were kept elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import msgspec

from memfold.cli.proof_documents import ProofDocument
from memfold.errors import DataError, NotFoundError
from projections.text.clean import decode
from replay.tlog import Head, Proof, parse_head, parse_proof

__all__ = ["GivenProof", "read_head", "read_proof"]


class GivenProof(NamedTuple):
    """A proof, and the line of its event if the file holds it."""

    proof: Proof
    line: bytes | None = None


def read_head(name: str) -> Head:
    """Read a head; ``-`` names stdin.

    Raises:
        NotFoundError: if there is no such file.
        DataError: if it is no head.
    """
    try:
        return parse_head(_read(name))
    except ValueError as error:
        raise DataError(f"{decode(name)} is no head: {error}", "memfold head prints one") from error


def read_proof(name: str) -> GivenProof:
    """Read a proof, as text or as the document that ``memfold prove --json`` prints; ``-`` names stdin.

    Raises:
        NotFoundError: if there is no such file.
        DataError: if it is no proof.
    """
    text = _read(name)
    try:
        if not text.lstrip().startswith("{"):
            return GivenProof(parse_proof(text))
        document = msgspec.json.decode(text, type=ProofDocument)
        return GivenProof(parse_proof(document.text), document.line.encode())
    except (ValueError, msgspec.MsgspecError) as error:
        raise DataError(f"{decode(name)} is no proof: {error}", "memfold prove prints one") from error


def _read(name: str) -> str:
    if name == "-":
        return decode(sys.stdin.read())
    try:
        return Path(name).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {decode(name)}") from error
