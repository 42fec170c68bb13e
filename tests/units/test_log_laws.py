"""The shipped laws of every log, held by both of ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ledger.errors import SequenceConflict
from ledger.events import Draft, Event, MemoryAddedData
from ledger.locks import PortableLock
from ledger.log import LOCK_SUFFIX, LOG_NAME, FileLog, Log
from ledger.memory import MemoryLog
from ledger.problems import Kind, problem
from ledger.recovery import Record
from ledger.testing import LAWS, Law, MakeLog, expect_guards_the_position, text_survives
from tests.support.logs import KEY, ROOT


@pytest.fixture(params=["file", "file, portable lock", "memory"])
def make_log(request: pytest.FixtureRequest, tmp_path: Path) -> MakeLog:
    """A maker of fresh logs of each kind."""
    numbers = count()

    def make() -> Log:
        folder = tmp_path / str(next(numbers))
        if request.param == "memory":
            return MemoryLog()
        if request.param == "file":
            return FileLog.create(folder, root=ROOT, key=KEY, durability="never")
        lock = PortableLock(str(folder / (LOG_NAME + LOCK_SUFFIX)), 2.0)
        return FileLog.create(folder, root=ROOT, key=KEY, durability="never", lock=lock)

    return make


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: Law, make_log: MakeLog) -> None:
    """Each law holds for each log."""
    law(make_log)


Method = Callable[..., Any]


def _append_always(log: MemoryLog, append: Method) -> Method:
    """Stores what it refuses."""

    def broken(drafts: Sequence[Draft], *, expect: int | None = None) -> tuple[Event, ...]:
        before = log.size()
        events: tuple[Event, ...] = append(drafts)
        if expect is not None and before:
            raise SequenceConflict(expect, 1)
        return events

    return broken


def _conflict_elsewhere(_: MemoryLog, append: Method) -> Method:
    """Refuses with numbers of its own."""

    def broken(drafts: Sequence[Draft], *, expect: int | None = None) -> tuple[Event, ...]:
        try:
            events: tuple[Event, ...] = append(drafts, expect=expect)
        except SequenceConflict:
            raise SequenceConflict(7, 8) from None
        return events

    return broken


def _with(item: Any) -> Callable[[MemoryLog, Method], Method]:
    return lambda _, scan: lambda: [*scan(), Record(item, 9, 9_999, 1)]


def _instead(found: Any) -> Callable[[MemoryLog, Method], Method]:
    return lambda *_: lambda *_, **__: found


ODD = problem(Kind.NOT_JSON, "x")
EXTRA = Draft(source="test", time=None, data=MemoryAddedData("extra"))
BROKEN: list[tuple[str, str, Callable[[MemoryLog, Method], Method], str]] = [
    ("reads_back_what_was_appended", "read", lambda _, read: lambda: list(read())[:1], "events read"),
    ("numbers_are_dense", "read", lambda _, read: lambda start: list(read(start))[::-1], "seq"),
    ("numbers_are_dense", "size", _instead(0), "size"),
    ("ids_are_unique_and_rise", "append", lambda _, append: lambda drafts: append(drafts)[::-1], "ids"),
    ("an_empty_batch_writes_nothing", "append", _instead(None), "events"),
    ("an_empty_batch_writes_nothing", "append", lambda _, add: lambda all_: add(all_ or [EXTRA])[1:], "records"),
    (
        "expect_guards_the_position",
        "append",
        lambda _, append: lambda drafts, expect: append(drafts),
        "expect=0 passed although 1 is next",
    ),
    (
        "expect_guards_the_position",
        "append",
        lambda log, append: lambda drafts, expect: append(drafts, expect=min(expect, log.size())),
        "expect=2 passed although 1 is next",
    ),
    ("expect_guards_the_position", "append", _conflict_elsewhere, "conflict"),
    ("expect_guards_the_position", "append", _append_always, "size"),
    ("an_id_counts_once", "append", _instead(()), "events of the first delivery"),
    (
        "an_id_counts_once",
        "append",
        lambda _, append: lambda drafts: sum((append([replace(one, id=None)]) for one in drafts), ()),
        "ids of the second delivery",
    ),
    ("an_id_counts_once", "read", _instead(()), "ids read"),
    ("read_starts_anywhere", "read", lambda _, read: lambda start=0: read(min(start, 1)), "events from 2"),
    ("scan_agrees_with_read", "scan", _instead(()), "events scanned"),
    ("scan_agrees_with_read", "scan", _with(ODD), "problems"),
    (
        "scan_agrees_with_read",
        "scan",
        lambda _, scan: lambda: [replace(one, byte=one.byte * 2) for one in scan()],
        "place of the next line",
    ),
    ("text_survives", "append", lambda _, add: lambda drafts: add([EXTRA for _ in drafts]), "data"),
    ("text_survives", "read", lambda _, read: lambda: list(read())[:1], "event read"),
    *(
        (
            "what_a_draft_says_is_stored",
            "append",
            lambda _, append, name=name, odd=odd: (
                lambda drafts: append([replace(one, **{name: odd}) for one in drafts])
            ),
            name,
        )
        for name, odd in {
            "source": "another",
            "time": None,
            "data": MemoryAddedData("other"),
            "subject": None,
            "causationid": None,
            "id": None,
        }.items()
    ),
    *(
        (
            "what_a_draft_says_is_stored",
            "append",
            lambda _, append, name=name: (
                lambda drafts: append([replace(one, **{name: getattr(one, name) or "x"}) for one in drafts])
            ),
            name,
        )
        for name in ("time", "subject", "causationid")
    ),
    ("what_a_draft_says_is_stored", "append", lambda _, add: lambda drafts: add(drafts[:1]), "number of events"),
]


@pytest.mark.parametrize(("law", "method", "change", "told"), BROKEN)
def test_a_law_can_be_broken(
    law: str, method: str, change: Callable[[MemoryLog, Method], Method], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log one method of which does something else is told which, with what was expected."""
    log = MemoryLog()
    monkeypatch.setattr(log, method, change(log, getattr(log, method)))
    if told == "problems":  # which read gives as well
        monkeypatch.setattr(log, "read", lambda: [record.item for record in log.scan()])
    (held,) = (one for one in LAWS if one.__name__ == law)
    with pytest.raises(AssertionError, match=f"^{told}(: expected |$)"):
        held(lambda: log)


def test_a_log_that_refuses_what_is_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The right position must pass; a log that lets none pass is told by its own refusal."""
    log = MemoryLog()

    def refuse(_: Sequence[Draft], *, expect: int | None = None) -> tuple[Event, ...]:
        raise SequenceConflict(-1 if expect is None else expect, 0)

    monkeypatch.setattr(log, "append", refuse)
    with pytest.raises(SequenceConflict, match="expected seq 0 to be next"):
        expect_guards_the_position(lambda: log)


def test_each_law_is_broken_once() -> None:
    """A law that nothing breaks says nothing."""
    assert {row[0] for row in BROKEN} == {law.__name__ for law in LAWS}


def test_a_log_that_puts_another_mark_for_a_lone_surrogate_is_told() -> None:
    """With what was expected in which attribute."""
    log = MemoryLog()
    append = log.append

    def broken(drafts: Sequence[Draft], *, expect: int | None = None) -> tuple[Event, ...]:
        events: Any = append(drafts, expect=expect)
        return tuple(replace(one, data=MemoryAddedData(one.data.title.replace("\ufffd", "?"))) for one in events)

    setattr(log, "append", broken)  # noqa: B010 - a type checker lets no method be replaced
    with pytest.raises(AssertionError, match=r"^data: expected .*a[?]b"):
        text_survives(lambda: log)
