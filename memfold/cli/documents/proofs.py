"""The JSON documents of the commands that show that a ledger is whole: head, prove, verify, repair."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from replay.rerender import Difference
from replay.verify import Break

__all__ = [
    "PROOF_DOCUMENTS",
    "PROOF_PARTS",
    "GivenKind",
    "GivenPart",
    "HeadDocument",
    "Outcome",
    "PiecePart",
    "ProofDocument",
    "RepairDocument",
    "Standing",
    "VerifyDocument",
]

GivenKind = Literal["head", "proof"]
Standing = Literal["holds", "broken", "purged", "unknown"]


Outcome = Literal["repaired", "nothing_to_do", "dry_run"]
"""How a repair ended."""


class HeadDocument(Struct, frozen=True, tag_field="schema", tag="memfold.head/1"):
    """The head of a ledger's hash tree (`memfold head --json`).

    Attributes:
        ledger: folder of the ledger.
        origin: name of the tree.
        size: number of lines in it.
        root: its root, in hex.
        text: the head as it is printed without `--json` (C2SP tlog-checkpoint).
        breaks: heads in the ledger that don't hold, as `memfold verify` tells them.
    """

    ledger: str
    origin: str
    size: int
    root: str
    text: str
    breaks: tuple[Break, ...]


class ProofDocument(Struct, frozen=True, tag_field="schema", tag="memfold.proof/1"):
    """The proof that an event stands in a ledger (`memfold prove --json`).

    Attributes:
        ledger: folder of the ledger.
        event: id of the event.
        offset: its offset.
        index: which line of the tree it is, from 0, like offsets.
        line: the line, without its end.
        hashes: what leads from the line to the root, from below, in hex (RFC 6962).
        size: number of lines in the tree.
        root: its root, in hex.
        text: the proof as it is printed without `--json` (C2SP tlog-proof).
    """

    ledger: str
    event: str
    offset: int
    index: int
    line: str
    hashes: tuple[str, ...]
    size: int
    root: str
    text: str


class GivenPart(Struct, frozen=True):
    """A head that was given to `memfold verify`, and what the ledger says of it.

    Attributes:
        kind: `head`, or `proof` for the head in a proof.
        size: number of lines that it covers.
        root: their root, in hex.
        standing: `holds`; `broken`: those lines are others now; `purged`: it is from before a purge, so it can't be
            compared; `unknown`: the ledger isn't here, and the head in the proof covers another number of lines.
        purge: offset of the purge that ended it; null unless it is `purged`.
        matched: whether the ledger says that it was so before that purge.
    """

    kind: GivenKind
    size: int
    root: str
    standing: Standing
    purge: int | None = None
    matched: bool = False


class VerifyDocument(Struct, frozen=True, tag_field="schema", tag="memfold.verify/1"):
    """Whether a ledger is what its heads say (`memfold verify --json`).

    Attributes:
        ledger: folder of the ledger; empty where a proof was checked without it.
        intact: whether all that was looked at holds.
        size: number of lines in the tree; that of the proof's head where the ledger isn't here.
        root: its root, in hex.
        heads: how many heads in the ledger hold.
        unchecked: how many stand before the last purge, which began a new history.
        purged: offset of that purge; null without one.
        breaks: heads that don't hold, in file order, then those that were given.
        given: the heads that were given: that of `--since`, then that of `--proof`.
        since: whether all of them hold; null if none was given.
        proof: what leads from the first of them to the present one, in hex (RFC 6962, 2.1.2).
        event: id of the event that a given proof is about; empty if none was given, or it proves nothing.
        receipts: how many prompts were made again; null if that wasn't asked for.
        differences: those that came out otherwise than the host was given them.
        checkpoints: how many checkpoints beside the ledger are what the log gives.
        removed: names of those that weren't, and ``blocks.jsonl`` if an outline wasn't; they are gone, and nothing
            needs them.
    """

    ledger: str
    intact: bool
    size: int
    root: str
    heads: int
    unchecked: int
    purged: int | None
    breaks: tuple[Break, ...]
    given: tuple[GivenPart, ...]
    since: bool | None
    proof: tuple[str, ...]
    event: str
    receipts: int | None
    differences: tuple[Difference, ...]
    checkpoints: int
    removed: tuple[str, ...]


class PiecePart(Struct, frozen=True):
    """Damaged bytes that a repair sets aside, or a line that it splits.

    Attributes:
        line: number of the line.
        byte: where they begin in the file.
        length: how many they are.
        kind: what is wrong with them.
        file: where they are kept; empty for a line that is split.
    """

    line: int
    byte: int
    length: int
    kind: str
    file: str


class RepairDocument(Struct, frozen=True, tag_field="schema", tag="memfold.repair/1"):
    """What a repair does (`memfold repair --json`).

    Attributes:
        ledger: folder of the ledger.
        outcome: `repaired`, `nothing_to_do`, or `dry_run`, which only shows what there is to do.
        done: whether it was done.
        pieces: what is set aside or split, in file order.
        steps: breaks in the numbers that nothing accounted for, and which the repair notes as known.
        renumbered: former id to present id, of each memory that has another one than in the latest backup, since lines
            before it are lost.
        event: id of the event that records it; empty if none was written.
    """

    ledger: str
    outcome: Outcome
    done: bool
    pieces: tuple[PiecePart, ...]
    steps: int
    renumbered: dict[str, str]
    event: str


PROOF_DOCUMENTS: tuple[type[Struct], ...] = (HeadDocument, ProofDocument, VerifyDocument, RepairDocument)
PROOF_PARTS: tuple[type[Struct], ...] = (Break, GivenPart, Difference, PiecePart)
