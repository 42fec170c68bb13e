"""Areas ``events``, ``hot``, ``errors`` and ``promotion``: neutral events fed to an empty ledger."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import msgspec

from ledger.source import make_source
from projections.accounting import counts
from projections.hot.view import hot_view
from projections.memory.model import Proposal, Ref
from projections.world import WorldState
from replay.names import current_wording
from replay.sessions import warnings_of
from replay.views import frozen_text, next_block
from tests.conformance.runner import UnknownKey
from tests.support.harness import HOST, STEP, Harness

SEES_EXPECT = True
"""``prompt_session`` and the like are keys of ``expect`` that say which state is asked for."""


def run(given: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """Feed the row's events and read what is wanted from disk."""
    with tempfile.TemporaryDirectory() as data:
        harness = Harness(data, given.get("workspace", "/w/app"), given.get("config"))
        harness.feed(given["events"])
        seen = Seen(harness, given.get("expect", {}))
        return {key: seen.value(key) for key in wanted}


def compare(key: str, expected: Any, actual: Any) -> bool:
    """The comparisons of the row schema, by key."""
    for names, agrees in _COMPARISONS:
        if key in names:
            return agrees(expected, actual)
    return bool(expected == actual)


def _in_order(parts: list[str], text: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def _same_fields(expected: list[dict[str, Any]], actual: list[dict[str, Any]]) -> bool:
    """A complete list, of which each object is compared by the given keys."""
    return len(expected) == len(actual) and all(
        want.items() <= have.items() for want, have in zip(expected, actual, strict=True)
    )


_COMPARISONS: tuple[tuple[tuple[str, ...], Callable[[Any, Any], bool]], ...] = (
    (("active", "pending", "rejected_reasons", "warnings"), lambda want, have: sorted(want) == sorted(have)),
    (("prompt_contains", "hot_contains"), lambda want, have: all(part in have for part in want)),
    (("prompt_excludes", "hot_excludes"), lambda want, have: all(part not in have for part in want)),
    (("prompt_order",), _in_order),
    (("prompts_equal",), lambda _, have: all(first == second for first, second in have)),
    (("prompts_differ",), lambda _, have: all(first != second for first, second in have)),
    (
        ("verdicts", "reasons", "counts", "ids", "sources", "types", "reinforcements"),
        lambda want, have: want.items() <= have.items(),
    ),
    (("open_errors", "active_files"), _same_fields),
    (("absent_bytes",), lambda _, leaks: not leaks),
    (("ledger_bytes_max",), lambda limit, size: size <= limit),
)


class Seen:
    """Reads the keys of ``expect`` from a harness after its last event."""

    def __init__(self, harness: Harness, expect: dict[str, Any]) -> None:
        self.harness = harness
        self.expect = expect
        self.root = expect.get("in_workspace")
        self.world = harness.state(self.root)

    def value(self, key: str) -> Any:
        """The actual value of a key."""
        reader: Callable[[Seen], Any] | None = _READERS.get(key)
        if reader is None:
            raise UnknownKey(key)
        return reader(self)

    def prompt(self) -> str:
        """The workspace block that the row asks about."""
        session = self.expect.get("prompt_session")
        if session is not None:
            return frozen_text(self.world, make_source(HOST, session))
        if not self.harness.config.enabled:
            return ""
        return next_block(self.world, self.harness.last_ms + STEP).text

    def hot(self) -> str:
        """The hot block of the row's session; none goes with a message off the record."""
        session = self.expect.get("hot_session", self.harness.last_session)
        if session is not None and self.harness.workspace(self.root).capture.is_off_the_record(session):
            return ""
        return hot_view(self.world, self.hot_source()).text

    def hot_source(self) -> str:
        """The session whose hot state is asked for."""
        return make_source(HOST, self.expect.get("hot_session", self.harness.last_session))

    def pairs(self, key: str) -> list[tuple[str, str]]:
        """The blocks of ``prompts_equal`` and ``prompts_differ``."""
        return [
            (self.block_after(session, first), self.block_after(session, second))
            for session, first, second in self.expect[key]
        ]

    def block_after(self, session: str, index: int) -> str:
        """A session's block after the event with that index."""
        world = self.harness.state(self.root, self.harness.offsets[index])
        return frozen_text(world, make_source(HOST, session))

    def by_text(self, read: Callable[[WorldState, Ref], Any]) -> dict[str, Any]:
        """A value per text; the latest candidate with a text wins."""
        values: dict[str, Any] = {}
        for ref, record in self.world.accounts.records.items():
            values[record.proposal.text] = read(self.world, ref)
            values[current_wording(self.world, ref).text] = read(self.world, ref)
        return values

    def entries_by_text(self, read: Callable[[Any], Any]) -> dict[str, Any]:
        """A value per entry text; the latest entry wins."""
        return {one.proposal.text: read(one) for one in self.world.memory.entries.values()}

    def errors(self) -> list[dict[str, Any]]:
        """Open errors, newest first."""
        open_ = self.world.sessions.hot(self.hot_source()).errors
        return [
            msgspec.structs.asdict(one.seen) | {"count": one.count, "maybe_fixed": one.maybe_fixed} for one in open_
        ]

    def files(self) -> list[dict[str, Any]]:
        """Kept files by rank."""
        return [msgspec.structs.asdict(one) for one in self.world.sessions.hot(self.hot_source()).files]

    def decisions(self) -> list[str]:
        """Recent decisions, oldest first."""
        return [one.text for one in self.world.sessions.hot(self.hot_source()).decisions]

    def warnings(self) -> list[str]:
        """Codes that ``status`` reports."""
        return sorted(warnings_of(self.world.memory, self.world.sessions))

    def rejected(self) -> list[str]:
        """The reason codes of all rejected candidates."""
        records = self.world.accounts.records.values()
        return [code for record in records if record.state == "rejected" for code in record.reasons]

    def leaks(self) -> list[str]:
        """Strings of ``absent_bytes`` that some file holds."""
        files = self.harness.all_bytes().values()
        return [text for text in self.expect["absent_bytes"] if any(text.encode() in one for one in files)]


def _active(seen: Seen) -> list[str]:
    return [one.proposal.text for one in seen.world.memory.entries.values() if one.state == "promoted"]


def _pending(seen: Seen) -> list[str]:
    waiting: list[Proposal] = list(seen.world.memory.pending.values())
    return [one.text for one in waiting]


_READERS: dict[str, Callable[[Seen], Any]] = {
    "active": _active,
    "active_count": lambda seen: len(_active(seen)),
    "pending": _pending,
    "verdicts": lambda seen: seen.by_text(lambda world, ref: world.accounts.records[ref].state),
    "reasons": lambda seen: seen.by_text(lambda world, ref: sorted(world.accounts.records[ref].reasons)),
    "rejected_reasons": Seen.rejected,
    "counts": lambda seen: counts(seen.world.accounts),
    "ids": lambda seen: seen.entries_by_text(lambda one: one.id),
    "sources": lambda seen: seen.entries_by_text(lambda one: one.proposal.source),
    "types": lambda seen: seen.entries_by_text(lambda one: one.proposal.type),
    "reinforcements": lambda seen: seen.entries_by_text(lambda one: one.reinforcements),
    "prompt_session": lambda seen: seen.expect["prompt_session"],
    "prompt": Seen.prompt,
    "prompt_contains": Seen.prompt,
    "prompt_excludes": Seen.prompt,
    "prompt_order": Seen.prompt,
    "prompts_equal": lambda seen: seen.pairs("prompts_equal"),
    "prompts_differ": lambda seen: seen.pairs("prompts_differ"),
    "hot_session": lambda seen: seen.expect["hot_session"],
    "hot": Seen.hot,
    "hot_contains": Seen.hot,
    "hot_excludes": Seen.hot,
    "open_errors": Seen.errors,
    "active_files": Seen.files,
    "recent_decisions": Seen.decisions,
    "warnings": Seen.warnings,
    "in_workspace": lambda seen: seen.root,
    "absent_bytes": Seen.leaks,
    "ledger_bytes_max": lambda seen: seen.harness.ledger_bytes(seen.root),
}
