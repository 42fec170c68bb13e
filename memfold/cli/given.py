"""The files that ``verify`` is given: heads and proofs that were kept elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from memfold.cli.documents.proofs import ProofDocument
from memfold.cli.reading import given_file
from memfold.errors import DataError
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
        DataError: if it is no head, or too large to be one.
        OSError: if it can't be read, or is no file.
    """
    try:
        return parse_head(given_file(name))
    except ValueError as error:
        raise DataError(f"{decode(name)} is no head: {error}", "memfold head prints one") from error


def read_proof(name: str) -> GivenProof:
    """Read a proof, as text or as the document that ``memfold prove --json`` prints; ``-`` names stdin.

    Raises:
        NotFoundError: if there is no such file.
        DataError: if it is no proof, or too large to be one.
        OSError: if it can't be read, or is no file.
    """
    text = given_file(name)
    try:
        if not text.lstrip().startswith("{"):
            return GivenProof(parse_proof(text))
        document = msgspec.json.decode(text, type=ProofDocument)
        return GivenProof(parse_proof(document.text), document.line.encode())
    except (ValueError, msgspec.MsgspecError) as error:
        raise DataError(f"{decode(name)} is no proof: {error}", "memfold prove prints one") from error
