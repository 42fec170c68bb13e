"""What came of an import, file by file and memory by memory: the structs, which are parts of the JSON document."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ledger.events import Skipped

__all__ = ["FileReport", "LineReport", "Outcome"]

Outcome = Literal["taken", "merged", "waiting", "retired", "refused"]


class LineReport(Struct, frozen=True, kw_only=True):
    """What came of one memory of a file.

    Attributes:
        line: its line in the file, from 1.
        item: which of the memories of that line, from 0.
        outcome: `taken` as a memory of its own, `merged` into another one, `waiting` for the next session, `retired`
            as it was in the file, or `refused`.
        text: its text as it is stored.
        id: id of the memory that it is or went into; null for others.
        wanted: the id that the file gives it, if it got another one; else null.
        reasons: codes of the reasons.
        repairs: what taking it in has changed: `redacted`, `cut`, `cleaned`.
    """

    line: int
    item: int
    outcome: Outcome
    text: str
    id: str | None
    wanted: str | None
    reasons: tuple[str, ...]
    repairs: tuple[str, ...]


class FileReport(Struct, frozen=True, kw_only=True):
    """What came of one file.

    Attributes:
        file: its name.
        format: its layout; `ledger` for another copy of the ledger, whose events are taken as they are.
        digest: SHA-256 of its bytes, in hex.
        known: memories that stood in the ledger already; importing them again changes nothing. Of a copy of the
            ledger: events that both hold.
        damaged: why nothing could be read of it; empty if it could.
        counter: the next number that the file names, or null.
        counts: number of memories by outcome; of a copy of the ledger: events that were `taken`.
        lines: its new memories.
        skipped: what is no memory; of a copy of the ledger: what stays there.
        differs: offsets here of events that a copy of the ledger has under the same id with other words.
    """

    file: str
    format: str
    digest: str
    known: int
    damaged: str
    counter: int | None
    counts: dict[str, int]
    lines: tuple[LineReport, ...]
    skipped: tuple[Skipped, ...]
    differs: tuple[int, ...] = ()
