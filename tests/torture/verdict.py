"""What must hold of a ledger whose writers were killed: each violation in words, and counts of what was seen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from ledger.check import check
from ledger.codec import decode
from ledger.log import LOG_NAME, FileLog
from ledger.problems import DAMAGE, Problem
from ledger.recovery import recover
from ledger.writer import QUARANTINE, quarantine_name
from tests.support.logs import titles
from tests.torture.texts import is_whole

__all__ = ["Verdict", "judge"]

_BEGIN = b'{"type":"memory.added","specversion":"1.0","id":"'


class Verdict(Struct):
    """What was found; without violations all is well.

    Attributes:
        events: events that stand in the log.
        torn: pieces that a kill left, each closed off and set aside.
        bytes: of the log.
        violations: what must not be.
    """

    events: int = 0
    torn: int = 0
    bytes: int = 0
    violations: list[str] = []


def judge(folder: str, acknowledged: Mapping[str, int]) -> Verdict:
    """Look at a ledger that nobody writes any more, behind an append that has closed off the last torn line.

    Args:
        folder: the ledger's folder.
        acknowledged: the title of each event whose append has returned, and its seq, -1 where that isn't known.
    """
    verdict = Verdict(bytes=os.path.getsize(os.path.join(folder, LOG_NAME)))  # noqa: PTH118, PTH202 - as the ledger
    verdict.violations = [
        *_of_events(folder, acknowledged, verdict),
        *_of_lines(folder, verdict),
        *(f"check: {found.message}" for found in check(folder) if found.kind not in DAMAGE),
    ]
    return verdict


def _of_events(folder: str, acknowledged: Mapping[str, int], verdict: Verdict) -> Iterator[str]:
    """Each acknowledged event is there once, whole, where its writer was told; seq is dense."""
    found: dict[str, int] = {}
    for seq, event in enumerate(FileLog.open(folder).read()):
        verdict.events += 1
        if event.seq != seq:
            yield f"event {seq} has seq {event.seq}"
        if not is_whole(event):
            yield f"event {seq} isn't what was written"
        for title in titles([event]):
            if title in found:
                yield f"{title} stands there as seq {found[title]} and {seq}"
            found[title] = seq
    for title, seq in acknowledged.items():
        if title not in found:
            yield f"{title} was acknowledged and is lost"
        elif seq not in (-1, found[title]):
            yield f"{title} was acknowledged as seq {seq} and stands at {found[title]}"


def _of_lines(folder: str, verdict: Verdict) -> Iterator[str]:
    """Each line is one event, or the beginning of one, which was set aside before it was closed off."""
    byte = 0
    with Path(folder, LOG_NAME).open("rb") as file:
        for line in file:
            if isinstance(decode(line.rstrip(b"\n")), Problem):
                verdict.torn += 1
                yield from _of_torn(folder, line, byte)
            if not line.endswith(b"\n"):
                yield f"the line at byte {byte} was not closed off"
            byte += len(line)


def _of_torn(folder: str, line: bytes, byte: int) -> Iterator[str]:
    piece = line.rstrip(b"\n")
    if not piece.startswith(_BEGIN[: len(piece)]):
        yield f"the line at byte {byte} is no beginning of an event"
    if any(not isinstance(record.item, Problem) for record in recover(line)):
        yield f"the line at byte {byte} holds an event fused with something else"
    kept = piece.rstrip(b" ")  # a piece that ends inside a text may end in a space, which no reader counts
    aside = Path(folder, QUARANTINE, quarantine_name(byte, len(kept)))
    if not aside.is_file() or aside.read_bytes() != kept:
        yield f"the torn piece at byte {byte} was not set aside"
