"""Checkpoints: names, what makes one count, who writes them, and what they are made of (DESIGN 6)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ledger.events import Draft, MemoryRequestedData, SessionStartedData, ToolCompletedData
from ledger.ids import MonotonicIds
from ledger.log import Cursor, FileLog, Reader
from projections.accounting import Accounts
from projections.histories import Steps
from projections.hot.delivery import Given
from projections.hot.state import States
from projections.memory.model import MemoryState
from projections.prompts import Prompts
from projections.world import World
from replay import checkpoints, live
from replay.archive import Archive, Damaged, Record, build
from replay.checkpoints import STATE_VERSION, Checkpoint, Head, find, folder_of
from replay.live import CHECKPOINT_EVERY, Live
from replay.recheck import recheck
from replay.rows import Older
from replay.state import state_at
from replay.stored import SCHEMA, Body, codec_of, parts_of
from replay.tables import Table, records_of
from tests.support.schema import schema_digest

_FIRST = 1_767_225_600_000


def _log(folder: Path, calls: int = 0) -> FileLog:
    """A ledger of one session with a request and so many calls."""
    log = FileLog.create(
        folder, root="/w/app", key="0" * 16, clock=lambda: _FIRST, new_id=MonotonicIds(), durability="never"
    )
    _append(log, SessionStartedData("s"), MemoryRequestedData("m1", "Remember: use pnpm in every package"))
    _append(log, *[ToolCompletedData(call=f"c{n}", tool="read") for n in range(calls)])
    return log


def _append(log: FileLog, *data: object, source: str = "test/s") -> None:
    log.append([Draft(source=source, time="2026-01-01T00:00:00Z", data=one) for one in data])  # type: ignore[arg-type]


def _kept(log: FileLog) -> list[str]:
    folder = Path(folder_of(log.directory))
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def _found(archive: Archive, table: str, key: str) -> str | None:
    value = archive.find(table, f'"{key}"'.encode())
    return None if value is None else bytes(value).decode()


def _write(log: FileLog) -> None:
    one = Live(log)
    one.world("test/s")
    one.keep(every=0)


class TestTypes:
    """What is stored is named, so that no other code reads it by mistake."""

    def test_the_schema_names_all_stored_types(self) -> None:
        """Whoever changes a stored type writes the new digest into ``replay.stored.SCHEMA``."""
        types = (Head, Body, MemoryState, Older, Prompts, Accounts, States, dict[str, Given], Steps)
        assert schema_digest(*types) == SCHEMA

    def test_the_version_is_that_of_the_projection(self) -> None:
        """A start need not import the projection for its version."""
        assert World.version == STATE_VERSION


class TestWriting:
    """When one is written, and what becomes of earlier ones."""

    def test_one_is_due_after_so_many_events(self, tmp_path: Path) -> None:
        """None before, one then, and the next after as many again."""
        log = _log(tmp_path, CHECKPOINT_EVERY - 4)
        one = Live(log)
        one.world()
        one.keep()
        assert not _kept(log)
        _append(log, ToolCompletedData(call="last", tool="read"))
        one.world()
        one.keep()
        first = _kept(log)
        assert [Path(name).suffix for name in first] == [".json", ".table"]
        _append(log, *[ToolCompletedData(call=f"d{n}", tool="read") for n in range(CHECKPOINT_EVERY - 1)])
        one.world()
        one.keep()
        assert _kept(log) == first

    def test_the_latest_two_stay(self, tmp_path: Path) -> None:
        """Over the archive that they share."""
        log = _log(tmp_path)
        one = Live(log)
        for number in range(4):
            _append(log, ToolCompletedData(call=f"e{number}", tool="read"))
            one.world()
            one.keep(every=0)
        assert [Path(name).suffix for name in _kept(log)] == [".table", ".json", ".json"]
        assert len(list(find(log))) == 2

    def test_those_of_a_longer_log_are_no_later_ones(self, tmp_path: Path) -> None:
        """A shorter copy of the log was put back: what is left of the longer one goes, what is written now stays."""
        log = _log(tmp_path / "l", calls=3)
        short = Path(log.path).read_bytes()
        for number in range(2):
            _append(log, *[ToolCompletedData(call=f"d{number}{n}", tool="read") for n in range(50)])
            _write(log)
        Path(log.path).write_bytes(short)
        _write(FileLog.open(tmp_path / "l"))
        (one,) = find(FileLog.open(tmp_path / "l"))
        assert one.cursor.byte == len(short)
        assert len(_kept(log)) == 2

    def test_one_that_is_pruned_while_verify_looks_is_no_finding(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A live bridge has removed it for a later one: nothing was wrong with it."""
        log = _log(tmp_path / "l")
        _write(log)

        def gone(one: Checkpoint, _: object) -> bool:
            Path(one.path).unlink()
            return False

        monkeypatch.setattr("replay.recheck._is_right", gone)
        assert recheck(log).removed == ()

    def test_those_below_a_folder_that_anyone_may_write_to_are_not_read(self, tmp_path: Path) -> None:
        """Who may write to ``derived/`` may put another folder of checkpoints in it; none is written there either."""
        log = _log(tmp_path / "l")
        _write(log)
        assert len(list(find(log))) == 1
        (tmp_path / "l" / "derived").chmod(0o777)
        assert list(find(log)) == []
        before = _kept(log)
        _append(log, ToolCompletedData(call="e", tool="read"))
        _write(log)
        assert _kept(log) == before

    def test_many_changes_make_an_archive_of_their_own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Else a start would have to read ever more of them."""
        monkeypatch.setattr(checkpoints, "_MOST_CHANGES", 1)
        log = _log(tmp_path)
        one = Live(log)
        for number in range(2):
            _append(log, MemoryRequestedData(f"r{number}", f"Remember: port {number} is in use here"))
            one.world()
            one.keep(every=0)
        assert [Path(name).suffix for name in _kept(log)] == [".json", ".table", ".json", ".table"]
        assert next(find(log)).cursor.byte == Path(log.path).stat().st_size

    def test_nothing_large_is_written_while_somebody_may_wait(self, tmp_path: Path) -> None:
        """The archive comes later; changes beside one are small."""
        log = _log(tmp_path)
        one = Live(log)
        one.world()
        one.keep(2, every=0)
        assert not _kept(log)
        one.keep(every=0)
        _append(log, ToolCompletedData(call="e", tool="read"))
        one.world()
        one.keep(2, every=0)
        assert len(_kept(log)) == 3

    def test_a_full_disk_is_not_tried_again_at_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not behind each answer, but after as many events as make one due, and at the end."""
        log = _log(tmp_path)
        one = Live(log)
        tries: list[int] = []
        monkeypatch.setattr(live, "save", lambda *_, **__: tries.append(1))
        for _ in range(3):
            _append(log, *[ToolCompletedData(call="e", tool="read")] * 2)
            for _ in range(3):
                one.world()
                one.keep(10_000, every=4)
        assert len(tries) == 2
        one.keep(every=4)
        assert len(tries) == 3

    def test_the_archive_is_written_again_where_it_was_deleted(self, tmp_path: Path) -> None:
        """What others delete, a process that goes on doesn't take for there."""
        log = _log(tmp_path)
        one = Live(log)
        one.world()
        one.keep(every=0)
        shutil.rmtree(folder_of(log.directory))
        _append(log, ToolCompletedData(call="e", tool="read"))
        one.world()
        one.keep(every=0)
        assert next(find(log)).parts.table("seen") == {"memfold": None, "test/s": None}

    def test_files_are_private(self, tmp_path: Path) -> None:
        """They hold what the log holds."""
        log = _log(tmp_path / "ledger")
        _write(log)
        folder = Path(folder_of(log.directory))
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}

    def test_a_log_that_was_replaced_meanwhile_gets_none(self, tmp_path: Path) -> None:
        """A purge takes words away, and nothing may bring them back."""
        log = _log(tmp_path)
        one = Live(log)
        one.world()
        path = Path(log.path)
        path.with_suffix(".new").write_bytes(path.read_bytes())
        path.with_suffix(".new").rename(path)
        one.keep(every=0)
        assert not _kept(log)

    def test_one_that_a_purge_overtakes_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The log is replaced while the files are made: they are never written."""
        log = _log(tmp_path)
        one = Live(log)
        one.world()
        path = Path(log.path)

        def parts(*of: Any) -> Any:
            path.with_suffix(".new").write_bytes(path.read_bytes())
            path.with_suffix(".new").rename(path)
            return parts_of(*of)

        monkeypatch.setattr("replay.checkpoints.parts_of", parts)
        one.keep(every=0)
        assert not _kept(log)

    def test_a_folder_that_cannot_be_made_costs_time_alone(self, tmp_path: Path) -> None:
        """As where a file stands in its place."""
        log = _log(tmp_path)
        Path(log.directory, "derived").write_text("a file in the way")
        _write(log)
        assert Live(log).world("test/s") == state_at(log.read(), only={"test/s"})

    def test_sessions_that_were_asked_for_last_are_remembered(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """So that their blocks need no fold of the whole log; there are only so many."""
        monkeypatch.setattr(live, "_REMEMBERED", 2)
        log = _log(tmp_path)
        for session in "tuv":
            _append(log, SessionStartedData(session), source=f"test/{session}")
        one = Live(log)
        for session in "stuv":
            one.world(f"test/{session}")
        one.world("test/t")
        one.keep(every=0)
        assert next(find(log)).asked == ("test/v", "test/t")
        after = Live(log)
        assert after.world("test/t") == state_at(log.read(), only={"test/v", "test/t"})
        assert after.sources == {"test/v", "test/t"}
        assert after.world("test/u") == state_at(log.read(), only={"test/t", "test/u", "test/v"})


class TestFinding:
    """What counts, and what is ignored."""

    def test_the_start_reads_no_more_than_the_tail(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """LOG-16: a cold render reads a checkpoint and a tail."""
        log = _log(tmp_path, 200)
        _write(log)
        end = Path(log.path).stat().st_size
        _append(log, MemoryRequestedData("m2", "Remember: the API speaks JSON"))
        read: list[int] = []
        reader = FileLog.reader

        def noted(self: FileLog, cursor: Cursor) -> Reader:
            read.append(cursor.byte)
            return reader(self, cursor)

        monkeypatch.setattr(FileLog, "reader", noted)
        monkeypatch.setattr(FileLog, "read", lambda self: pytest.fail("the whole log was read"))
        world = Live(log).world("test/s")
        monkeypatch.undo()
        assert read == [end]
        assert world == state_at(log.read(), only={"test/s"})

    @pytest.mark.parametrize("suffix", [".json", ".table"])
    def test_a_flipped_byte_changes_nothing(self, tmp_path: Path, suffix: str) -> None:
        """IDR-10: a checkpoint with one flipped byte gives what the log gives, wherever it is."""
        log = _log(tmp_path)
        _write(log)
        path = next(Path(folder_of(log.directory)).glob(f"*{suffix}"))
        content = path.read_bytes()
        whole = state_at(log.read(), only={"test/s"})
        for place in range(0, len(content), 97):
            path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
            assert Live(log).world("test/s") == whole

    def test_an_older_version_changes_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """IDR-10: one of an older fold is not read, and goes with the next that is written."""
        log = _log(tmp_path)
        with monkeypatch.context() as older:
            older.setattr(checkpoints, "_KIND", "world-2.1.1-0123456789abcdef")
            _write(log)
        (head,) = (name for name in _kept(log) if name.endswith(".json"))
        assert not list(find(log))
        assert Live(log).world("test/s") == state_at(log.read(), only={"test/s"})
        _write(log)
        assert head not in _kept(log)
        assert len(list(find(log))) == 1

    def test_none_at_all_changes_nothing(self, tmp_path: Path) -> None:
        """IDR-10: nor does a folder of other things."""
        log = _log(tmp_path)
        assert not list(find(log))
        folder = Path(folder_of(log.directory))
        folder.mkdir(parents=True)
        (folder / "notes.txt").write_text("nothing of ours")
        (folder / f"{checkpoints._KIND}-x.json").mkdir()
        assert not list(find(log))

    def test_of_a_log_that_is_not_there(self, tmp_path: Path) -> None:
        """There are none."""
        assert not list(find(FileLog(tmp_path)))


class TestArchive:
    """Records that are looked up one by one."""

    def _archive(self, path: Path, count: int) -> Archive:
        data, layout = build(
            [*records_of("entries", {f"k{n}": n for n in range(count)}), *records_of("others", {"k0": "other"})]
        )
        path.write_bytes(data)
        return Archive(str(path), layout)

    def test_each_key_is_found_and_no_other(self, tmp_path: Path) -> None:
        """In its own table."""
        archive = self._archive(tmp_path / "a", 5000)
        assert len(archive.layout.pages) > 16
        assert all(_found(archive, "entries", f"k{n}") == str(n) for n in range(0, 5000, 7))
        assert _found(archive, "others", "k0") == '"other"'
        assert _found(archive, "others", "k1") is None
        assert _found(archive, "entries", "k5000") is None

    def test_a_key_that_is_not_there_seldom_costs_a_bucket(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Most texts that come in are new; and a table without records costs nothing at all."""
        archive = self._archive(tmp_path / "a", 5000)
        read: list[int] = []
        usual = Archive._read_bucket

        def noted(self: Archive, entry: bytes) -> tuple[Record, ...]:
            read.append(1)
            return usual(self, entry)

        monkeypatch.setattr(Archive, "_read_bucket", noted)
        assert all(_found(archive, "entries", f"new{n}") is None for n in range(500))
        assert len(read) < 50
        read.clear()
        monkeypatch.setattr(Archive, "_entry", lambda *_: pytest.fail("a page was read"))
        assert all(_found(archive, "graves", f"k{n}") is None for n in range(500))

    def test_all_of_a_table_is_in_its_order(self, tmp_path: Path) -> None:
        """As it was written."""
        records = self._archive(tmp_path / "a", 300).tables()["entries"]
        assert [bytes(record.value) for record in records] == [str(n).encode() for n in range(300)]
        assert all(isinstance(record, Record) for record in records)

    def test_an_empty_one_finds_nothing(self, tmp_path: Path) -> None:
        """There is a bucket all the same."""
        data, layout = build([])
        (tmp_path / "a").write_bytes(data)
        assert Archive(str(tmp_path / "a"), layout).find("entries", b'"k"') is None

    def test_another_byte_is_damage(self, tmp_path: Path) -> None:
        """Wherever it is, whoever asks for what it belongs to is told."""
        path = tmp_path / "a"
        archive = self._archive(path, 40)
        content = path.read_bytes()
        for place in range(len(content)):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with pytest.raises(Damaged):
                Archive(str(path), archive.layout).tables()


class TestTable:
    """A dictionary, whichever part of it lies in the archive."""

    def _table(self, path: Path) -> Table[str, str]:
        data, layout = build(records_of("names", {"a": "1", "b": "2", "c": "3"}))
        path.write_bytes(data)
        return Table(Archive(str(path), layout), codec_of("names"))

    def test_reads_as_a_dictionary(self, tmp_path: Path) -> None:
        """Key by key, and as a whole."""
        table = self._table(tmp_path / "a")
        assert (table["b"], table.get("x", "none"), "c" in table, "x" in table) == ("2", "none", True, False)
        with pytest.raises(KeyError):
            table["x"]
        assert table == {"a": "1", "b": "2", "c": "3"}
        assert table != {"a": "1"}
        assert (len(table), list(table), list(reversed(table))) == (3, ["a", "b", "c"], ["c", "b", "a"])
        assert dict(table) == {**table} == dict(table.items())
        assert list(table.values()) == ["1", "2", "3"]

    @pytest.mark.parametrize("at_hand", [False, True])
    def test_changes_as_a_dictionary(self, tmp_path: Path, *, at_hand: bool) -> None:
        """Order included: a key that was deleted and comes again stands at the end."""
        table, plain = self._table(tmp_path / "a"), {"a": "1", "b": "2", "c": "3"}
        if at_hand:
            len(table)
        before = table.copy()
        for one in (table, plain):
            one["b"] = "4"
            one["new"] = "5"
            del one["a"]
            one["a"] = "6"
            assert one.pop("c") == "3"
            assert one.pop("c", "gone") == "gone"
            assert one.setdefault("b", "7") == "4"
            assert one.setdefault("d", "8") == "8"
            with pytest.raises(KeyError):
                one.pop("c")
            with pytest.raises(KeyError):
                del one["c"]
        changed, gone = table.since()
        again = Table(table.archive, codec_of("names"), changed, gone)
        assert list(again.items()) == list(table.items()) == list(plain.items())
        assert list(before.items()) == [("a", "1"), ("b", "2"), ("c", "3")]
