"""What the user is told: what of a message is kept, or why not (SPEC 4.8), and which settings are ignored (SPEC 19)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Literal

from msgspec.structs import replace

from ledger.errors import LedgerError, LockTimeout, NewerFormat, StorageError, UntrustedLedger
from memfold.bounds import whole_lines
from memfold.config import Finding
from memfold.terminal import clean
from projections.accounting import Record
from projections.inert import inert
from projections.memory.decide import find_duplicate
from projections.memory.model import MemoryState, Ref
from projections.reasons import explain
from projections.text.cut import cut
from projections.world import WorldState

__all__ = [
    "NOTICE_CHARS",
    "NOTICE_LINES",
    "notice_of",
    "notice_of_failure",
    "notice_of_file",
    "notice_of_length",
    "notice_of_move",
    "notice_of_settings",
]

NOTICE_LINES = 3
"""Candidates that are named; of more, only their number. Of settings, that number is one of the lines."""
NOTICE_CHARS = 120
"""Characters of a line."""
_SOURCE_CHARS = 50
"""Characters of a path; of a longer one its name, so that the line still says what is wrong."""


def notice_of(world: WorldState, source: str, event: str, message: str) -> str:
    """What the user is told of a message that is recorded, one line for each of its candidates.

    Args:
        world: the state with the message taken in.
        source: the session's source.
        event: id of the event that recorded it.
        message: the host's id of it. A message that comes again proposes nothing: then it is told of the first time.

    Returns:
        At most ``NOTICE_LINES`` lines and how many more there are, safe for a terminal; nothing for a sub-agent, to
        which no user speaks. O(candidates of the session).
    """
    memory = world.memory
    if source in memory.subagents:
        return ""
    records = list(_records(world, event))
    if not records and (before := memory.messages.get(message)):
        records = list(_records(world, before[0].event))
    lines = [_line(memory, source, record) for record in records[:NOTICE_LINES]]
    if more := len(records) - len(lines):
        lines.append(f"and {more} more")
    return "\n".join(lines)


def notice_of_failure(error: LedgerError | None) -> str:
    """What the user is told of a message that isn't stored for good: nobody may believe that it is safe."""
    return _shown("Not stored yet", "" if error is None else _cause(error))


def notice_of_length(message: str) -> str:
    """What the user is told of a message whose end isn't read: a request may stand there (``memfold.bounds``)."""
    read = len(whole_lines(message))
    if read == len(message):
        return ""
    return f"Only the first {read:,} of {len(message):,} characters are read for memories"


def notice_of_move(before: Sequence[str], home: str) -> str:
    """What the user is told where nothing is remembered yet and the folder may have had another path before."""
    if not before:
        return ""
    return _shown(f"Was this {_place(before[0], home)}? Its memories can be taken over", "memfold workspaces")


def notice_of_settings(findings: Sequence[Finding], home: str) -> str:
    """What the user is told of settings that were ignored or lowered (SPEC 19).

    Args:
        findings: in the order of the layers.
        home: the home folder, which is shown as ``~``; empty if there is none.

    Returns:
        At most ``NOTICE_LINES`` lines, safe for a terminal: first what concerns a file as a whole, then the switch.
    """
    ranked = sorted(findings, key=lambda one: (one.key != "", one.key != "enabled"))
    named = ranked if len(ranked) <= NOTICE_LINES else ranked[: NOTICE_LINES - 1]
    lines = [_shown("Settings ignored", str(replace(one, source=_place(one.source, home)))) for one in named]
    if more := len(ranked) - len(named):
        lines.append(f"and {more} more: memfold config show")
    return "\n".join(lines)


def notice_of_file(sentence: str, home: str) -> str:
    """What the user is told of MEMORY.md: the file's place from the home folder on, then the sentence about it."""
    path, colon, rest = sentence.partition(": ")
    return cut(clean(f"{_place(path, home)}{colon}{rest}"), 2 * NOTICE_CHARS)


def _place(source: str, home: str) -> str:
    """A file's path, from the home folder on where it is below it, or its name alone; other sources as they are."""
    inside = home.rstrip("/") + "/"
    shown = f"~/{source.removeprefix(inside)}" if len(inside) > 1 and source.startswith(inside) else source
    return shown if len(shown) <= _SOURCE_CHARS else f"…/{source.rpartition('/')[2]}"


def _records(world: WorldState, event: str) -> Iterator[Record]:
    """What became of the candidates of an event, in their order; their indexes have no gap."""
    for index in count():
        record = world.accounts.records.get(Ref(event, index))
        if record is None:
            return
        yield record


def _line(memory: MemoryState, source: str, record: Record) -> str:
    """One candidate and its fate; the text of a negated request isn't kept, so there is none to show (SPEC 4.4)."""
    match _fate(memory, source, record):
        case "kept":
            head = "Noted for the next sessions"
        case "known":
            head = "Already known"
        case "refused":
            # What follows a colon in such a sentence is the rule's small print.
            head = f"Not kept ({explain(record.reasons[0]).partition(':')[0]})"
    return _shown(head, inert(record.proposal.text))


def _fate(memory: MemoryState, source: str, record: Record) -> Literal["kept", "known", "refused"]:
    """What a candidate comes to; of one that is pending, what a decision would find now (SPEC 9.4)."""
    if record.state == "absorbed":
        return "known"
    if record.state == "promoted":
        return "kept"
    if record.state != "pending":
        return "refused"
    proposal = record.proposal
    asked = (memory.pending.get(ref) for ref in memory.said.get(source, ()) if ref.event != proposal.ref.event)
    is_repeated = any(one is not None and one.exact == proposal.exact for one in asked)
    return "known" if is_repeated or find_duplicate(memory, proposal) is not None else "kept"


def _cause(error: LedgerError) -> str:
    """The cause in few words; where it is stands in the private log."""
    match error:
        case LockTimeout():
            return "another process is writing"
        case NewerFormat():
            return "a newer memfold wrote this ledger"
        case UntrustedLedger():
            return f"{error.reason} (memfold doctor)"
        case StorageError():
            return error.reason
        case _:
            return str(error)


def _shown(head: str, text: str) -> str:
    return cut(clean(f"{head}: {text}" if text else head), NOTICE_CHARS)
