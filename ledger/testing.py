"""The laws of every log, shipped: anyone's implementation of ``ledger.log.Log`` can be held to them.

``for law in LAWS: law(make_log)``, where ``make_log()`` gives a fresh, writable log each time. Each law raises
``AssertionError`` and says what differs. With pytest: ``@pytest.mark.parametrize("law", LAWS)``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from ledger.errors import SequenceConflict
from ledger.events import Draft, MemoryAddedData, SessionStartedData
from ledger.ids import uuid7
from ledger.log import Log
from ledger.problems import Problem

__all__ = ["LAWS", "Law", "MakeLog"]

MakeLog = Callable[[], Log]
Law = Callable[[MakeLog], None]


def reads_back_what_was_appended(make_log: MakeLog) -> None:
    """What ``append`` returned is what ``read`` gives, in order."""
    log = make_log()
    before = list(log.read())
    written = [event for batch in ([_start("a")], [_memory("b"), _memory("c")]) for event in log.append(batch)]
    _same(list(log.read()), before + written, "events read")


def what_a_draft_says_is_stored(make_log: MakeLog) -> None:
    """Each attribute of a draft is that of its event, whether it is given or not."""
    log = make_log()
    full = Draft(
        source="test/s",
        time="2026-01-01T00:00:00.000Z",
        data=MemoryAddedData(title="full"),
        id=uuid7(1, b"its own id"),
        subject="what it is about",
        causationid="what caused it",
    )
    bare = Draft(source="test", time=None, data=SessionStartedData(session="s"))
    events = log.append([full, bare])
    _same(len(events), 2, "number of events")
    for draft, event in ((full, events[0]), (bare, events[1])):
        for name in ("source", "time", "data", "subject", "causationid"):
            _same(getattr(event, name), getattr(draft, name), name)
    _same(events[0].id, full.id, "id")


def numbers_are_dense(make_log: MakeLog) -> None:
    """Each event's seq is one above the one before, across batches, and ``size`` is the next."""
    log = make_log()
    start = log.size()
    for batch in range(1, 4):
        log.append([_memory(f"{batch}/{index}") for index in range(batch)])
    _same([event.seq for event in log.read(start)], list(range(start, start + 6)), "seq")
    _same(log.size(), start + 6, "size")


def ids_are_unique_and_rise(make_log: MakeLog) -> None:
    """Events that bring no id get one, and later ones are greater."""
    log = make_log()
    ids = [event.id for event in log.append([_memory(str(index)) for index in range(50)])]
    _same(ids, sorted(set(ids)), "ids")


def an_empty_batch_writes_nothing(make_log: MakeLog) -> None:
    """Appending nothing changes nothing and returns nothing."""
    log = make_log()
    before = list(log.scan())
    _same(log.append([]), (), "events")
    _same(list(log.scan()), before, "records")


def expect_guards_the_position(make_log: MakeLog) -> None:
    """``expect`` lets the next seq pass and stops any other, which then writes nothing."""
    log = make_log()
    start = log.size()
    log.append([_memory("first")], expect=start)
    for wrong in (start, start + 2):
        try:
            log.append([_memory("second")], expect=wrong)
        except SequenceConflict as conflict:
            _same((conflict.expected, conflict.actual), (wrong, start + 1), "conflict")
        else:
            raise AssertionError(f"expect={wrong} passed although {start + 1} is next")
    _same(log.size(), start + 1, "size")


def an_id_counts_once(make_log: MakeLog) -> None:
    """A draft whose id stands in the log, or came before in its batch, is not written again (SPEC 21)."""
    log = make_log()
    first, second = uuid7(1, b"first id.."), uuid7(1, b"second id.")
    _same(len(log.append([_memory("once", first)])), 1, "events of the first delivery")
    again = log.append([_memory("once", first), _memory("new", second), _memory("new", second)])
    _same([event.id for event in again], [second], "ids of the second delivery")
    _same([event.id for event in log.read() if event.id in {first, second}], [first, second], "ids read")


def read_starts_anywhere(make_log: MakeLog) -> None:
    """``read(start)`` gives exactly the events from that seq on; beyond the end there are none."""
    log = make_log()
    log.append([_memory(str(index)) for index in range(5)])
    events = list(log.read())
    for start in range(log.size() + 2):
        _same(list(log.read(start)), events[start:], f"events from {start}")


def scan_agrees_with_read(make_log: MakeLog) -> None:
    """The events of ``scan`` are those of ``read``; a healthy log has no problem, and places rise."""
    log = make_log()
    log.append([_memory("ünïcödé 記憶"), _start("s")])
    records = list(log.scan())
    _same([record.item for record in records], list(log.read()), "events scanned")
    _same([record.item for record in records if isinstance(record.item, Problem)], [], "problems")
    places = [(record.line, record.byte, record.byte + record.length) for record in records]
    for (line, _, end), (next_line, next_byte, _) in pairwise(places):
        _same((next_line, next_byte), (line + 1, end + 1), "place of the next line")


def text_survives(make_log: MakeLog) -> None:
    """Any text comes back as it was, but a lone surrogate, which UTF-8 can't hold, as U+FFFD (SPEC 1.3)."""
    log = make_log()
    for text in ("", 'quote " slash \\ tab \t feed \n', "\x00\x1b\x7f", "é 한국어 👩‍👩‍👧", "\u2028\u2029"):
        (event,) = log.append([_memory(text)])
        _same(event.data, MemoryAddedData(title=text), "data")
    (event,) = log.append([_memory("a\ud800b")])
    _same(event.data, MemoryAddedData(title="a\ufffdb"), "data")
    _same(list(log.read())[-1], event, "event read")


LAWS: tuple[Law, ...] = (
    reads_back_what_was_appended,
    numbers_are_dense,
    ids_are_unique_and_rise,
    an_empty_batch_writes_nothing,
    expect_guards_the_position,
    an_id_counts_once,
    read_starts_anywhere,
    scan_agrees_with_read,
    text_survives,
    what_a_draft_says_is_stored,
)
"""Every law, in the order of what it relies on."""


def _memory(title: str, event_id: str | None = None) -> Draft:
    return Draft(source="test/s", time="2026-01-01T00:00:00.000Z", data=MemoryAddedData(title=title), id=event_id)


def _start(session: str) -> Draft:
    return Draft(source=f"test/{session}", time=None, data=SessionStartedData(session=session))


def _same(actual: Any, expected: Any, what: str) -> None:
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")
