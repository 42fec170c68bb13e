"""What the generators reach: a law that is never put to the test in an interesting state shows nothing."""

from __future__ import annotations

from collections import Counter

from hypothesis import Phase, given, settings

from ledger.times import DAY_MS, HOUR_MS, format_time
from projections.memory.model import CANDIDATE_STATES
from projections.reasons import REASONS
from tests.support.harness import FIRST
from tests.support.streams import FACTS, ODD_REQUESTS, REFUSED_LINES, Step, events_of, histories, summary_of
from tests.support.watch import Watch, watched

NOT_REASONS = {
    *("type_cap", "global_cap", "char_budget"),  # why an active memory is not shown: test_caps
    *("increment", "refresh_only"),  # outcomes of an absorption, beside its reason
    *("invisible_removed", "terse_label"),  # notes
    *("empty_summary", "duplicate_delivery", "id_conflict"),  # warnings of status
    *("import_damaged", "import_skipped"),  # warnings of an import
    *("memory_off", "off_the_record", "empty_text"),  # why a command did nothing: test_tools, test_cli_changes
    "erased",  # a purge rewrites the log: tests of purge
    "numbered_ref_reinforce",  # an applied REINFORCE is no candidate (SPEC 2.4)
    "updated",  # a change of wording is no move of a candidate
    "store_cap",  # takes more than 200 memories: test_caps
}
"""Codes that no decision about a candidate has, and where they are shown; the one that takes too long a history."""


def _timed(steps: list[Step], gap: int = HOUR_MS) -> list[Step]:
    return [step | {"at": format_time(FIRST + number * gap)} for number, step in enumerate(steps, 1)]


def _summary(session: str, *lines: str) -> list[Step]:
    return [
        {"do": "compaction_started", "session": session},
        {"do": "compacted", "session": session, "summary": summary_of(list(lines))},
    ]


_STORED = _summary("A", "- [project] The main config lives in src/config.ts")
_REPLACE = "REPLACE [M1] [project] The codebase builds with Bazel and Make"
_LIST = {"do": "compaction_started", "session": "B"}


def _answer(line: str, snapshot: str = "Memory ref snapshot id: {snapshot}") -> Step:
    return {"do": "compacted", "session": "B", "summary": summary_of([line], snapshot)}


def _import(digest: str) -> Step:
    line = {"file": "MEMORY.md", "digest": digest, "line": 3, "text": "use tabs everywhere", "source": "explicit"}
    return {"do": "import_line", "line": line}


ARRANGED: dict[str, list[Step]] = {
    "every refused line": _timed([*_summary("A", *REFUSED_LINES), *_summary("A", *FACTS)]),
    "odd requests": _timed(
        [{"do": "user_message", "session": "A", "message": one, "text": one} for one in ODD_REQUESTS]
    ),
    "reinforced by its own session": _timed([*_STORED, *_summary("A", "REINFORCE [M1]")]),
    "replaced, but asked for": _timed(
        [{"do": "memory_add", "session": "A", "title": "use tabs everywhere", "content": ""}, *_summary("B", _REPLACE)]
    ),
    "replaced, restored": _timed([*_STORED, *_summary("B", _REPLACE), {"do": "restore", "pick": 0}]),
    "replaced, said again": _timed([*_STORED, *_summary("B", _REPLACE), *_STORED]),
    "reinforced, then protected": _timed([*_STORED, *_summary("B", "REINFORCE [M1]"), *_summary("C", _REPLACE)]),
    "reinforced too soon": _timed([*_STORED, *_summary("B", "REINFORCE [M1]")], 60_000),
    "changed meanwhile": _timed(
        [*_STORED, _LIST, {"do": "memory_update", "session": "A", "id": "MEM-001", "title": "Other"}, _answer(_REPLACE)]
    ),
    "gone meanwhile": _timed([*_STORED, _LIST, {"do": "memory_delete", "id": "MEM-001"}, _answer(_REPLACE)]),
    "another list": _timed([*_STORED, _LIST, _answer(_REPLACE, snapshot="Memory ref snapshot id: x")]),
    "no list named": _timed([*_STORED, _LIST, _answer(_REPLACE, snapshot="")]),
    "absorbed by a sub-agent": _timed(
        [
            {"do": "memory_add", "session": "C", "title": "use tabs in Makefiles", "content": ""},
            {"do": "memory_add", "session": "A", "title": "use tabs in Makefiles", "content": ""},
            {"do": "session_parent", "session": "C", "parent": "A"},
        ],
        DAY_MS,
    ),
    "said twice at once": _timed(
        [
            {
                "do": "user_message",
                "session": "A",
                "message": "m",
                "text": "\n".join(["Remember: use tabs everywhere"] * 2),
            }
        ]
    ),
    "said in a rules file": _timed(
        [
            {"do": "rules_file", "path": "AGENTS.md", "text": "User prefers brief recaps after each change."},
            *_summary("A", "- [feedback] User prefers brief recaps after each change"),
        ]
    ),
    "deleted, said again": _timed([*_STORED, {"do": "memory_delete", "id": "MEM-001"}, *_STORED]),
    "imported, changed here, imported from an edited file": _timed(
        [
            _import("d1"),
            {"do": "memory_update", "session": "A", "id": "MEM-001", "title": "use tabs in Makefiles"},
            _import("d2"),
        ]
    ),
    "a full block": _timed(
        [
            {"do": "policy", "config": {"caps": {"project": 1}}},
            {"do": "memory_add", "session": "A", "title": "the codebase builds with Bazel only", "content": ""},
            *_STORED,
        ]
    ),
}


@settings(max_examples=200, derandomize=True, database=None, phases=[Phase.generate])
@given(histories(max_size=25))
def _sample(reached: Counter[str], history: list[Step]) -> None:
    watch = Watch()
    watched(events_of(history), watch)
    reached.update(watch.reached)


def test_histories_reach_every_state_and_reason() -> None:
    """A fixed sample of random and arranged histories meets every candidate state and every decision's reason."""
    reached: Counter[str] = Counter()
    random_part: Counter[str] = Counter()
    _sample(random_part)
    for history in ARRANGED.values():
        watch = Watch()
        watched(events_of(history), watch)
        reached.update(watch.reached)
    watch = Watch()
    watched(events_of([{"do": "memory_add", "session": "A", "title": "use tabs", "content": ""}], project=False), watch)
    reached.update(watch.reached)
    assert set(CANDIDATE_STATES) <= set(random_part)
    assert set(REASONS) - set(reached) - set(random_part) == NOT_REASONS
