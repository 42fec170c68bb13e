"""What a ledger means, as one readable text: the form in which golden results are kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ledger.events import AnyEvent, type_name
from ledger.log import FileLog
from projections.accounting import Record, counts
from projections.hot.view import hot_view
from projections.memory.model import Ref
from projections.prompts import current_epoch
from projections.render import numbered_block
from projections.world import WorldState
from replay.positions import session_sources
from replay.sessions import warnings_of
from replay.state import state_at
from replay.views import next_block, present_block

__all__ = ["EXPECTED", "IMPORTS", "LEDGERS", "NAMES", "RECORDINGS", "described", "events_of"]

_FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
RECORDINGS = _FIXTURES / "recordings"
LEDGERS = _FIXTURES / "ledgers"
EXPECTED = _FIXTURES / "expected" / "ledgers"
IMPORTS = _FIXTURES / "expected" / "imports"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))

_NOTHING = "(nothing)"


def events_of(name: str) -> list[AnyEvent]:
    """The events of a fixture ledger."""
    return list(FileLog.open(LEDGERS / name).read())


def described(name: str, events: list[AnyEvent]) -> str:
    """Events, accounts, blocks and hot states of a ledger, as text that a person can review."""
    world = state_at(events)
    warnings = warnings_of(world.memory, world.sessions)
    parts = [
        f"# {name}",
        _section("events", "\n".join(f"{event.seq:>3} {event.time} {type_name(event)}" for event in events)),
        _section("accounts", "\n".join(f"{state}: {count}" for state, count in counts(world.accounts).items())),
        _section("candidates", "\n\n".join(_candidate(world, ref, one) for ref, one in world.accounts.records.items())),
        _section(
            "warnings",
            "\n".join(f"{code}: {count}" for code, count in warnings.items()),
        ),
        _section("block at the end", present_block(world).text),
        _section("block of a session that would start now", next_block(world).text),
        _section("numbered list at the end", numbered_block(world.memory).text),
    ]
    for session, source in session_sources(events).items():
        parts += _session(session, source, world, events)
    return "\n\n".join(parts) + "\n"


def _section(title: str, text: str) -> str:
    return f"## {title}\n{text or _NOTHING}"


def _candidate(world: WorldState, ref: Ref, record: Record) -> str:
    proposal = record.proposal
    entry = None if record.into is None else world.memory.entries[record.into]
    lines = [
        f"{proposal.order[0]}.{proposal.order[1]} [{proposal.type}] {proposal.text or '(text not kept)'}",
        f"  {record.state} at {record.offset}: {', '.join(record.reasons) or '-'}",
        f"  {proposal.source}, confidence {proposal.confidence}, by {proposal.origin}",
    ]
    if entry is not None:
        lines.append(f"  {'is' if entry.ref == ref else 'went into'} {entry.id}, reinforced {entry.reinforcements}x")
    return "\n".join(lines)


def _session(session: str, source: str, world: WorldState, events: list[AnyEvent]) -> Iterator[str]:
    """The frozen block of each epoch of a session, and its hot block where something happened and at the end."""
    yield f"# session {session}"
    for epoch in world.prompts.epochs.get(source, ()):
        then = current_epoch(state_at(events, epoch.offset).prompts, source)
        yield _section(f"frozen block of the epoch from {epoch.offset} on", then.text if then else "")
    last = events[-1].seq
    for offset, what in [*_telling(source, events), (last, "the end")]:
        yield _section(f"hot block at {offset}: {what}", hot_view(state_at(events, offset), source).text)


def _telling(source: str, events: list[AnyEvent]) -> Iterator[tuple[int, str]]:
    """Where a session's first error opens, where its first is closed or marked, and its last event before a summary."""
    opened = changed = False
    before = 0
    for event in events:
        if event.source != source:
            continue
        if type_name(event) == "session.compacted":
            yield before, "before a summary"
        before = event.seq
        errors = state_at(events, event.seq).sessions.hot(source).errors
        if errors and not opened:
            opened = True
            yield event.seq, "an error is open"
        elif opened and not changed and (not errors or errors[0].maybe_fixed):
            changed = True
            yield event.seq, "that error is closed" if not errors else "that error may be fixed"


def main() -> None:
    """Describe fixture ledgers on stdout, each twice: a fold leaves nothing behind that another could see."""
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]  # stdout is text here
    for name in [*NAMES, *NAMES]:
        sys.stdout.write(described(name, events_of(name)))


if __name__ == "__main__":
    main()
