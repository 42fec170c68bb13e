"""Each call of the system that the ledger makes fails once, in each way: nothing stored is lost or half there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from ledger.check import check
from ledger.copies import LogCopy, copy_log, digest_log, replace_log
from ledger.errors import LedgerError, SequenceConflict
from ledger.events import Draft
from ledger.ids import MonotonicIds
from ledger.log import FileLog
from ledger.problems import DAMAGE, NOTES
from ledger.rewrite import REWRITE_SUFFIX, pieces, rewrite
from tests.support.logs import KEY, ROOT, counting_ids, draft, event_id, new_log, titles
from tests.support.sweep import Case, sweep

BATCH = [draft(f"batch {number}", event_id(1000 + number)) for number in range(3)]
NEW = ["batch 0", "batch 1", "batch 2"]


def sound(folder: Path, *, torn: bool = True) -> list[str]:
    """The titles of a ledger, of which each event stands whole and in its place."""
    with FileLog.open(folder) as log:
        events = list(log.read())
    assert [event.seq for event in events] == list(range(len(events)))
    kinds = {problem.kind for problem in check(folder)}
    assert kinds <= NOTES | (DAMAGE if torn else frozenset()), kinds
    return titles(events)


def begun(folder: Path, content: Sequence[str] = ("a", "b")) -> Path:
    """A ledger with memories."""
    with new_log(folder) as log:
        log.append([draft(title, event_id(2000 + number)) for number, title in enumerate(content)])
    return folder


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.torture)], ids=["some", "all"])
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether each call has each kind of trouble, or one or two in turn."""
    return bool(request.param)


def test_creating(tmp_path: Path, *, thorough: bool) -> None:
    """A ledger that couldn't be made is made the next time, and begins with one event."""
    place = tmp_path / "base"
    place.mkdir()
    folder = place / "data" / "workspaces" / "k"

    def act() -> None:
        FileLog.create(folder, root=ROOT, key=KEY).close()

    def require(done: bool, said: object) -> None:
        if done:
            assert sound(folder) == []
            assert FileLog.open(folder).size() == 1

    assert sweep(Case(place, act, require, (LedgerError,)), thorough=thorough) > 15


@pytest.mark.parametrize("tail", [b"", b'{"type":"memory.added","spec', "half", "unended"])
@pytest.mark.parametrize("fresh", [True, False], ids=["another", "same"])
def test_appending(tmp_path: Path, *, tail: bytes | str, fresh: bool, thorough: bool) -> None:
    """What was stored before stays; a batch that was acknowledged is there, and one that wasn't comes once."""
    folder = begun(tmp_path / "l")
    path = folder / "events.jsonl"
    if isinstance(tail, bytes):
        with path.open("ab") as file:
            file.write(tail)
    else:
        path.write_bytes(path.read_bytes()[: -1 if tail == "unended" else -40])
    before = titles(FileLog.open(folder).read())
    logs: list[FileLog] = []

    def act() -> None:
        if fresh or not logs:
            logs[:] = [FileLog.open(folder, new_id=counting_ids(), durability="always")]
        with logs[0] if fresh else nullcontext():
            logs[0].append(BATCH)

    def require(done: bool, said: object) -> None:
        found = sound(folder)
        stored = len(NEW) if done else getattr(said, "stored", 0)
        assert found[: len(before) + stored] == before + NEW[:stored]
        # What the caller isn't told of it may be there all the same only where nobody could look.
        assert found == before + NEW[: len(found) - len(before)]
        if not fresh:
            logs[0].close()

    assert sweep(Case(folder, act, require, (LedgerError,)), thorough=thorough) > 8


class Shout:
    """A rewrite that changes one title and appends a memory (``ledger.rewrite.Change``)."""

    def begin(self) -> None:
        """Nothing to look at."""

    def content(self, path: str) -> Iterator[bytes]:
        """Shout one title."""
        return pieces(path, lambda _, data: data.replace(b'"title":"a"', b'"title":"A"'))

    def drafts(self, path: str) -> Sequence[Draft]:
        """The end."""
        return [draft("end")]

    def approve(self, path: str) -> None:
        """Anything goes."""


def test_rewriting(tmp_path: Path, *, thorough: bool) -> None:
    """The log is the old one or the new one; what stands beside it after a failure is known, and goes with the next."""
    folder = begun(tmp_path / "l")

    def act() -> None:
        rewrite(str(folder / "events.jsonl"), Shout(), new_id=MonotonicIds())

    def require(done: bool, said: object) -> None:
        beside = folder / f"events.jsonl{REWRITE_SUFFIX}"
        if done:
            assert not beside.exists()
        beside.unlink(missing_ok=True)  # a problem that check names
        found = sound(folder, torn=False)
        assert found[:2] == ["A", "b"] if done else found[:2] in (["a", "b"], ["A", "b"])
        assert set(found[2:]) == ({"end"} if found[0] == "A" else set())

    assert sweep(Case(folder, act, require, (LedgerError,)), thorough=thorough) > 20


def test_copying(tmp_path: Path, *, thorough: bool) -> None:
    """A copy is whole or not there, and can be made once the trouble is over."""
    begun(tmp_path / "base" / "l")
    copy = tmp_path / "base" / "copy.jsonl"

    def act() -> LogCopy:
        copy.unlink(missing_ok=True)
        return copy_log(str(tmp_path / "base" / "l"), str(copy))

    def require(done: bool, said: object) -> None:
        assert sound(tmp_path / "base" / "l", torn=False) == ["a", "b"]
        if done:
            assert copy.read_bytes() == (tmp_path / "base" / "l" / "events.jsonl").read_bytes()
            assert said == digest_log(str(tmp_path / "base" / "l"))

    assert sweep(Case(tmp_path / "base", act, require, (LedgerError, OSError)), thorough=thorough) > 10


def test_restoring(tmp_path: Path, *, thorough: bool) -> None:
    """The log is what it was or what the copy is."""
    folder, source = begun(tmp_path / "base" / "l"), begun(tmp_path / "base" / "copy", ["c"])
    copy = digest_log(str(source))
    kept: list[None] = []

    def act() -> None:
        with suppress(SequenceConflict):  # restored, though the folder could not be synced
            replace_log(str(folder), str(source), copy, expect=3, first=lambda: kept.append(None))

    def require(done: bool, said: object) -> None:
        assert sound(folder, torn=False) in ([["c"]] if done else [["a", "b"], ["c"]])

    assert sweep(Case(tmp_path / "base", act, require, (LedgerError,)), thorough=thorough) > 15


READS: tuple[Callable[[FileLog], object], ...] = (
    lambda log: titles(log.read()),
    lambda log: log.size(),
    lambda log: log.has_begun(),
    lambda log: log.health(),
    lambda log: [record.byte for record in log.scan()],
    lambda log: [problem.kind for problem in check(log.directory)],
)


@pytest.mark.parametrize("number", range(len(READS)))
def test_reading(tmp_path: Path, *, number: int, thorough: bool) -> None:
    """A read says what is there or that it couldn't look: never less than there is, as if that were all."""
    folder = begun(tmp_path / "l")
    before = (folder / "events.jsonl").read_bytes()
    whole = READS[number](FileLog.open(folder))

    def act() -> object:
        return READS[number](FileLog.open(folder))

    def require(done: bool, said: object) -> None:
        assert not done or said == whole
        assert (folder / "events.jsonl").read_bytes() == before

    assert sweep(Case(folder, act, require, (LedgerError,)), thorough=thorough) > 3
