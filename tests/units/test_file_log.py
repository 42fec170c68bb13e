"""The log as a file: what stands in it, whose it is, and what a damaged one gives."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger import reader
from ledger.codec import SEQ_LIMIT, decode_known, encode
from ledger.errors import (
    InvalidDraft,
    LedgerNotFound,
    NewerFormat,
    NotWritable,
    SequenceConflict,
    StorageError,
    storage_error,
)
from ledger.events import (
    AnyEvent,
    Data,
    Draft,
    LedgerCreated,
    LedgerCreatedData,
    MemoryAddedData,
    PolicySetData,
    SessionCompactedData,
    SessionDeletedData,
    SessionLinkedData,
)
from ledger.files import make_private_folder, open_regular
from ledger.log import LOCK_SUFFIX, LOG_NAME, Cursor, FileLog, Health, Reader
from ledger.problems import Kind
from ledger.reader import START, reading_twice
from ledger.writer import Durability
from tests.support.logs import (
    KEY,
    ROOT,
    draft,
    event_id,
    events_of,
    line_of,
    memory,
    new_log,
    problems_of,
    raw_log,
    titles,
)

FAR = line_of(SEQ_LIMIT - 1)
UNKNOWN = b'{"type":"later.thing","specversion":"1.0","id":"u","source":"h","seq":%d,"data":{}}\n'

FILES: list[tuple[bytes, list[int], Health, list[Kind]]] = [
    (b"", [], Health(), []),
    (b"\n\r\n \n", [], Health(), []),
    (line_of(0) + line_of(1), [0, 1], Health(events=2), []),
    (line_of(0) + line_of(1).rstrip(), [0, 1], Health(events=2), []),
    (line_of(0).rstrip() + b"\r\n" + line_of(1), [0, 1], Health(events=2), []),
    (b"\xef\xbb\xbf" + line_of(0) + line_of(1), [0, 1], Health(events=2), []),
    (line_of(0).rstrip() + line_of(1), [0, 1], Health(events=2, fused=1), [Kind.FUSED_LINE]),
    (line_of(0) + b"=======\n" + line_of(1), [0, 1], Health(events=2, damaged=1), [Kind.MERGE_MARKER]),
    (line_of(0) + b"\0" * 9000, [0], Health(events=1, damaged=1), [Kind.TORN_TAIL]),
    (line_of(0) + line_of(1)[:60], [0], Health(events=1, damaged=1), [Kind.TORN_TAIL]),
    (line_of(0) + line_of(0) + line_of(1), [0, 1], Health(events=2, duplicates=1), [Kind.DUPLICATE_ID]),
    (line_of(0) + line_of(1) + line_of(0), [0, 1], Health(events=2, duplicates=1), [Kind.DUPLICATE_ID]),
    (line_of(0) + line_of(2) + line_of(1), [0, 2, 1], Health(events=3), [Kind.SEQ_GAP, Kind.SEQ_BACK]),
    (
        line_of(0) + line_of(205) + line_of(1) + line_of(2) + line_of(205) + line_of(3) + line_of(206),
        [0, 205, 1, 2, 3, 206],
        Health(events=6, duplicates=1),
        [Kind.SEQ_GAP, Kind.SEQ_BACK, Kind.DUPLICATE_ID, Kind.SEQ_GAP],
    ),
    (
        line_of(0) + FAR + line_of(1) + line_of(2) + FAR + line_of(3),
        [0, SEQ_LIMIT - 1, 1, 2, 3],
        Health(events=5, duplicates=1),
        [Kind.SEQ_FAR, Kind.DUPLICATE_ID],
    ),
    (  # numbers that come as expected, but aren't new
        line_of(0) + line_of(9) + b"".join(map(line_of, range(1, 5))),
        [0, 9, 1, 2, 3, 4],
        Health(events=6),
        [Kind.SEQ_GAP, Kind.SEQ_BACK],
    ),
    (  # a copy of one that wasn't new, and not the expected one either
        line_of(0) + line_of(205) + line_of(1) + line_of(2) + line_of(7) + line_of(8) + line_of(7),
        [0, 205, 1, 2, 7, 8],
        Health(events=6, duplicates=1),
        [Kind.SEQ_GAP, Kind.SEQ_BACK, Kind.SEQ_GAP, Kind.DUPLICATE_ID],
    ),
    (  # the copy stands where its number can be
        line_of(0) + line_of(500) + line_of(1) + line_of(500) + line_of(2),
        [0, 500, 1, 2],
        Health(events=4, duplicates=1),
        [Kind.SEQ_FAR, Kind.DUPLICATE_ID],
    ),
    (line_of(0) + line_of(5), [0, 5], Health(events=2), [Kind.SEQ_GAP]),
    (line_of(3), [3], Health(events=1), [Kind.SEQ_GAP]),
    (line_of(0) + line_of(0, number=9), [0, 0], Health(events=2), [Kind.SEQ_BACK]),
    (
        line_of(0) + line_of(0) + line_of(1) + line_of(2, number=1) + line_of(3),
        [0, 1, 2, 3],
        Health(events=4, duplicates=1),
        [Kind.DUPLICATE_ID],
    ),
    (
        line_of(0).rstrip() + line_of(0).rstrip() + line_of(1),
        [0, 1],
        Health(events=2, duplicates=1, fused=1),
        [Kind.DUPLICATE_ID, Kind.FUSED_LINE],
    ),
    (line_of(0) + UNKNOWN % 1 + line_of(2), [0, 1, 2], Health(events=3, unknown=1), []),
    (
        b"x" * 219_000 + b"\n" + line_of(0),
        [0],
        Health(events=1, damaged=1),
        [Kind.NOT_JSON],
    ),
]
"""What a file holds, the events that count, and what is wrong with it."""


def _mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


class TestCreate:
    """Making a ledger, and opening one."""

    def test_first_event(self, tmp_path: Path) -> None:
        """A new ledger holds ``ledger.created`` as seq 0, with the workspace and the time of the clock."""
        log = new_log(tmp_path / "l")
        (event,) = log.read()
        assert isinstance(event, LedgerCreated)
        assert event.data == LedgerCreatedData(format=1, ledger=event_id(0), root=ROOT, key=KEY, project=True)
        assert (event.seq, event.time, event.source) == (0, "2026-01-01T00:00:00.000Z", "memfold")
        assert log.size() == 1

    def test_twice(self, tmp_path: Path) -> None:
        """Creating a ledger that is there changes no byte, and both objects write to the same log."""
        first = new_log(tmp_path / "l")
        before = Path(first.path).read_bytes()
        second = FileLog.create(tmp_path / "l", root="/other", key="other")
        assert Path(first.path).read_bytes() == before
        first.append([draft("a")])
        second.append([draft("b")])
        first.append([draft("c")])
        assert titles(second.read()) == ["a", "b", "c"]
        assert [event.seq for event in first.read()] == [0, 1, 2, 3]

    def test_at_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of two creators that both found an empty file, one finds the other's event and writes none."""
        folder = tmp_path / "l"
        new_log(folder)
        monkeypatch.setattr(FileLog, "size", lambda _: 0)
        assert FileLog.create(folder, root=ROOT, key=KEY).health().events == 1

    def test_torn_creation(self, tmp_path: Path) -> None:
        """A ledger whose creation was cut off is created by the next."""
        log = new_log(tmp_path / "l")
        Path(log.path).write_bytes(Path(log.path).read_bytes()[:50])
        (event,) = new_log(tmp_path / "l").read()
        assert isinstance(event, LedgerCreated)
        assert event.seq == 0
        assert log.health() == Health(events=1, damaged=1)

    @pytest.mark.parametrize("umask", [0o777, 0, 0o022])
    def test_modes(self, umask: int, tmp_path: Path) -> None:
        """Folders are 0700 and files 0600 under any umask, parents that were missing included."""
        before = os.umask(umask)
        try:
            log = new_log(tmp_path / "a" / "b")
            with Path(log.path).open("ab") as file:
                file.write(b"torn")
            log.append([draft("x")])
        finally:
            os.umask(before)
        quarantine = tmp_path / "a" / "b" / "quarantine"
        assert {_mode(path) for path in (tmp_path / "a", tmp_path / "a" / "b", quarantine)} == {0o700}
        (piece,) = quarantine.iterdir()
        assert {_mode(path) for path in (log.path, log.path + LOCK_SUFFIX, piece)} == {0o600}

    def test_own_modes_stay(self, tmp_path: Path) -> None:
        """A mode that the owner chose later isn't changed back."""
        log = new_log(tmp_path / "l")
        Path(log.path).chmod(0o640)
        new_log(tmp_path / "l").append([draft("x")])
        assert _mode(log.path) == 0o640

    def test_nothing_there(self, tmp_path: Path) -> None:
        """Opening what isn't there names the path and what helps, and makes nothing."""
        with pytest.raises(LedgerNotFound, match="created with the first event") as caught:
            FileLog.open(tmp_path / "none")
        assert caught.value.path == str(tmp_path / "none" / LOG_NAME)
        assert list(tmp_path.iterdir()) == []

    def test_a_file_in_the_way(self, tmp_path: Path) -> None:
        """A data folder that is a file, or a log that is a folder, is a storage error."""
        (tmp_path / "file").write_text("")
        (tmp_path / "l" / LOG_NAME).mkdir(parents=True)
        for folder in ("file", "file/below", "l"):
            with pytest.raises(StorageError):
                FileLog.create(tmp_path / folder, root=ROOT, key=KEY)
        with pytest.raises(StorageError, match="no regular file"):
            FileLog.open(tmp_path / "l")
        with pytest.raises(LedgerNotFound):
            FileLog.open(tmp_path / "file")

    def test_folder_made_meanwhile(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A folder that another process makes between the look and the making is taken as it is."""
        answers = iter([False, True])
        monkeypatch.setattr(os.path, "isdir", lambda _: next(answers, True))
        (tmp_path / "x").mkdir(mode=0o755)
        monkeypatch.setattr(os.path, "dirname", lambda _: "")
        make_private_folder(str(tmp_path / "x"))
        assert _mode(tmp_path / "x") == 0o755

    def test_newer_format(self, tmp_path: Path) -> None:
        """A ledger of a newer release can be read, and isn't written to."""
        data = LedgerCreatedData(format=2, ledger="l", root="/", key="k")
        created = LedgerCreated(specversion="1.0", id=event_id(0), source="memfold", seq=0, data=data)
        log = raw_log(tmp_path, encode(created))
        with pytest.raises(NewerFormat, match="upgrade") as caught:
            log.append([draft("x")])
        assert (caught.value.found, caught.value.supported) == (2, 1)
        assert list(log.read()) == [created]

    def test_close_and_use_again(self, tmp_path: Path) -> None:
        """A closed log opens again with its next append; leaving a ``with`` block closes it."""
        with new_log(tmp_path / "l") as log:
            log.append([draft("a")])
        log.append([draft("b")])
        log.close()
        log.close()
        assert titles(log.read()) == ["a", "b"]


class TestDraftsAndExpectations:
    """What is refused, and that a refusal writes nothing."""

    @pytest.mark.parametrize(
        ("bad", "why"),
        [
            (Draft(source="h", time=None, data=PolicySetData("d", {"x": object()})), "objects of type object"),
            (
                Draft(source="h", time=None, data=MemoryAddedData(title=5)),  # type: ignore[arg-type] # a caller's mistake
                r"Expected `str`, got `int` - at `\$\.data\.title`",
            ),
            (
                Draft(source=None, time=None, data=MemoryAddedData("t")),  # type: ignore[arg-type] # a caller's mistake
                r"Expected `str`, got `null` - at `\$\.source`",
            ),
        ],
    )
    def test_drafts_that_do_not_read_back(self, bad: Draft, why: str, tmp_path: Path) -> None:
        """A draft that no reader could read is refused with its type and the reason, and its batch with it."""
        log = new_log(tmp_path / "l")
        with pytest.raises(InvalidDraft, match=why) as caught:
            log.append([draft("good"), bad])
        assert caught.value.type_name in str(caught.value)
        assert log.size() == 1

    def test_expect(self, tmp_path: Path) -> None:
        """A conflict says both numbers; a foreign append is seen."""
        log = new_log(tmp_path / "l")
        new_log(tmp_path / "l").append([draft("foreign", event_id(99))])
        with pytest.raises(SequenceConflict, match="expected seq 1 to be next, but it is 2"):
            log.append([draft("a")], expect=1)
        assert titles(log.read()) == ["foreign"]


class TestDurability:
    """What is on the disk before an append returns."""

    @pytest.mark.parametrize(
        ("durability", "data", "durable", "expected"),
        [
            ("memories", MemoryAddedData("t"), None, 1),
            ("memories", SessionCompactedData(), None, 1),
            ("memories", SessionDeletedData(), None, 1),
            ("memories", SessionLinkedData("s", "p"), None, 0),
            ("memories", SessionLinkedData("s", "p"), True, 1),
            ("memories", MemoryAddedData("t"), False, 0),
            ("always", SessionLinkedData("s", "p"), None, 1),
            ("never", MemoryAddedData("t"), None, 0),
            ("never", MemoryAddedData("t"), True, 1),
        ],
    )
    def test_what_is_synced(
        self, durability: Durability, data: Data, durable: bool | None, expected: int, tmp_path: Path
    ) -> None:
        """Memories and what decides about them are synced, unless the caller or the log says otherwise."""
        log = FileLog.create(tmp_path / "l", root=ROOT, key=KEY, durability=durability)
        with pytest.MonkeyPatch.context() as patch:
            synced: list[int] = []
            patch.setattr(os, "fdatasync", synced.append)
            log.append([Draft(source="h/s", time=None, data=data)], durable=durable)
        assert len(synced) == expected

    def test_one_sync_for_a_batch(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A batch is written and synced once; a batch that writes nothing isn't."""
        log = FileLog.create(tmp_path / "l", root=ROOT, key=KEY)
        syncs: list[int] = []
        monkeypatch.setattr(os, "fdatasync", syncs.append)
        log.append([draft(str(index)) for index in range(10)])
        assert len(syncs) == 1
        log.append([])
        assert len(syncs) == 1

    def test_the_first_event_is_synced(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whose the ledger is must be told by it, whatever else may be lost."""
        syncs: list[int] = []
        monkeypatch.setattr(os, "fdatasync", syncs.append)
        FileLog.create(tmp_path / "l", root=ROOT, key=KEY, durability="never").close()
        assert len(syncs) == 1

    def test_new_entries_are_synced(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A new file, and a new folder, are made durable in the folder that holds them."""
        folders: list[str] = []
        real = os.fsync

        def sync(descriptor: int) -> None:
            folders.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
            real(descriptor)

        monkeypatch.setattr(os, "fsync", sync)
        new_log(tmp_path / "a" / "b")
        assert folders == [str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "b")]


class TestReading:
    """Damage, duplicates, order, and where a next pass goes on."""

    def test_reading_is_harmless(self, tmp_path: Path) -> None:
        """No reading operation changes a byte, makes a file, or needs to write (I22)."""
        log = raw_log(tmp_path, line_of(0) + b"garbage\n" + line_of(1) + line_of(1) + line_of(2)[:40])
        before = Path(log.path).read_bytes()
        list(log.read())
        list(log.scan())
        log.health()
        log.size()
        assert Path(log.path).read_bytes() == before
        assert [path.name for path in tmp_path.iterdir()] == [LOG_NAME]

    @pytest.mark.parametrize(("content", "seqs", "health", "kinds"), FILES)
    def test_what_a_file_gives(
        self, content: bytes, seqs: list[int], health: Health, kinds: list[Kind], tmp_path: Path
    ) -> None:
        """Each event counts once, in file order; what is wrong is counted and named."""
        log = raw_log(tmp_path, content)
        assert [event.seq for event in log.read()] == seqs
        assert events_of(log.scan()) == list(log.read())
        assert [problem.kind for problem in problems_of(log.scan())] == kinds
        assert log.health() == health
        assert log.health().status == ("recovered" if health.damaged or health.fused else "ok")

    @pytest.mark.parametrize("content", [row[0] for row in FILES])
    def test_the_first_event_is_that_of_a_read(self, content: bytes, tmp_path: Path) -> None:
        """Whatever stands before or behind the line that tells whose the ledger is."""
        created = Path(new_log(tmp_path / "new").path).read_bytes()
        foreign = created.replace(b'"seq":0', b'"seq":5')
        long = created.replace(b"/w/app", b"/w/" + b"a" * (1 << 17))
        befores = (b"", b"\xef\xbb\xbf", b"garbage\n", line_of(0), foreign, b"\n", created[:40])
        for number, before in enumerate(befores):
            for line in (created, foreign, long, created.rstrip(), b""):
                log = raw_log(tmp_path / f"{number}", before + line + content)
                first = next(log.read(), None)
                assert log.created() == (first if isinstance(first, LedgerCreated) else None)

    @pytest.mark.parametrize(("content", "seqs"), [row[:2] for row in FILES])
    def test_a_read_in_pieces_gives_what_a_read_in_one_gives(
        self, content: bytes, seqs: list[int], tmp_path: Path
    ) -> None:
        """Wherever a follower was when the file grew, once or at each line; and its cursor ends where one pass ends."""
        log = raw_log(tmp_path, content)
        whole = log.reader()
        events = list(whole)
        assert whole.cursor.seq == (seqs[-1] + 1 if seqs else 0)
        lines = content.splitlines(keepends=True)
        ends = [sum(map(len, lines[:count])) for count in range(1, len(lines) + 1)]
        for steps in [ends, *([end, len(content)] for end in ends)]:
            cursor, found = START, list[AnyEvent]()
            for end in steps:
                Path(log.path).write_bytes(content[:end])
                following = log.reader(cursor)
                found += following
                cursor = following.cursor
            assert found == events
            assert cursor == whole.cursor or not lines

    def test_places(self, tmp_path: Path) -> None:
        """Every record says line, byte and length, whether its line is healthy or not."""
        log = raw_log(tmp_path, line_of(0) + b"\n  junk \r\n" + line_of(1).rstrip() + line_of(2))
        content = Path(log.path).read_bytes()
        for record in log.scan():
            piece = content[record.byte :][: record.length]
            assert record.line == content[: record.byte].count(b"\n") + 1
            assert piece == piece.strip()
        assert [record.line for record in log.scan()] == [1, 3, 4, 4, 4]

    def test_problem_of_an_event_comes_first(self, tmp_path: Path) -> None:
        """A gap is named right before the event behind it, at the same place."""
        _, gap, event = raw_log(tmp_path, line_of(0) + line_of(5)).scan()
        assert event.item == memory(5)
        assert (gap.line, gap.byte, gap.length) == (event.line, event.byte, event.length)
        assert "has seq 5, expected 1" in str(gap.item)

    def test_ids_are_read_when_a_number_does_not_rise(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """While numbers rise, with gaps or without, no id is looked up; one look for each number that doesn't."""
        looks: list[int] = []
        real = reader.IdsBefore.before

        def counting(ids: reader.IdsBefore, stop: int) -> set[str]:
            looks.append(stop)
            return real(ids, stop)

        monkeypatch.setattr(reader.IdsBefore, "before", counting)
        list(raw_log(tmp_path / "a", line_of(0) + b"x\n" + line_of(2) + line_of(3)).read())
        assert looks == []
        list(raw_log(tmp_path / "b", line_of(0) + line_of(1) + line_of(0) + line_of(1) + line_of(2)).read())
        assert looks == [2 * len(line_of(0)), 3 * len(line_of(0))]

    def test_one_number_too_high_costs_no_second_reading(self, tmp_path: Path) -> None:
        """Behind it numbers are not new, and each event is told from its copy by its id, whatever else is damaged."""
        lines = [line_of(seq) for seq in range(200)]
        lines[50] = line_of(150, number=50)
        lines[90] = b"torn\n"
        lines[110:110] = [lines[20], lines[105], line_of(110)]
        log = raw_log(tmp_path, b"".join(lines))
        events = list(log.read())
        assert [event.id for event in events] == [event_id(seq) for seq in range(200) if seq != 90]
        assert events_of(log.scan()) == events
        assert log.health() == Health(events=199, damaged=1, duplicates=3)

    def test_a_file_cut_while_it_is_read(self, tmp_path: Path) -> None:
        """A file that another hand shortens during a read ends the read, it doesn't hold it up."""
        log = raw_log(tmp_path, b"".join(line_of(seq, "x" * 1000) for seq in range(3000)) + line_of(0))
        events = log.read()
        next(events)
        os.truncate(log.path, 5000)
        assert len(list(events)) < 3000

    def test_copies_are_looked_up_once_each(self, tmp_path: Path) -> None:
        """A log that is one long copy of itself reads each line again once, not once for each copy."""
        half = b"".join(line_of(seq) for seq in range(2000))
        log = raw_log(tmp_path, half + half)
        assert log.health() == Health(events=2000, duplicates=2000)

    def test_read_from(self, tmp_path: Path) -> None:
        """``read(start)`` gives the events from that seq on, wherever they stand."""
        log = raw_log(tmp_path, line_of(0) + line_of(2) + line_of(1) + line_of(3))
        assert [event.seq for event in log.read(2)] == [2, 3]

    def test_a_follower_reads_each_event_once(self, tmp_path: Path) -> None:
        """A cursor goes on behind what was read; a torn last line is read when it is complete."""
        log = raw_log(tmp_path, line_of(0) + line_of(1)[:30])
        path = Path(log.path)
        following = log.reader()
        assert [event.seq for event in following] == [0]
        assert following.cursor == Cursor(len(line_of(0)), 1, 0)
        assert list(log.reader(following.cursor)) == []
        path.write_bytes(line_of(0) + line_of(1).rstrip())
        following = log.reader(following.cursor)
        assert [event.seq for event in following] == [1]
        path.write_bytes(line_of(0) + line_of(1) + line_of(2) + line_of(1) + line_of(0))
        following = log.reader(following.cursor)
        assert [event.seq for event in following] == [2]
        assert following.cursor.byte == path.stat().st_size
        assert list(log.reader(following.cursor)) == []
        assert Reader(log.path).cursor == START

    def test_cursor_behind_a_saved_event(self, tmp_path: Path) -> None:
        """An event saved from a torn last line isn't given again by the next pass."""
        log = raw_log(tmp_path, b"junk" + line_of(0).rstrip() + line_of(1)[:30])
        following = log.reader()
        assert [event.seq for event in following] == [0]
        assert following.cursor.byte == 4 + len(line_of(0).rstrip())
        Path(log.path).write_bytes(b"junk" + line_of(0).rstrip() + line_of(1))
        assert [event.seq for event in log.reader(following.cursor)] == [1]

    def test_gone(self, tmp_path: Path) -> None:
        """Reading or writing a log that was removed names it."""
        log = new_log(tmp_path / "l")
        log.append([draft("a")])
        Path(log.path).unlink()
        for use in (lambda: list(log.read()), lambda: list(log.scan()), log.size, lambda: log.append([draft("x")])):
            with pytest.raises(LedgerNotFound, match=LOG_NAME):
                use()


class TestHealing:
    """What an append does with the end of the file."""

    def test_complete_event_without_line_feed(self, tmp_path: Path) -> None:
        """A last event that only lacks its line feed gets it, and nothing is set aside."""
        log = raw_log(tmp_path, line_of(0) + line_of(1).rstrip())
        (event,) = log.append([draft("new")])
        assert Path(log.path).read_bytes() == line_of(0) + line_of(1) + encode(event)
        assert event.seq == 2
        assert log.health() == Health(events=3)
        assert not (tmp_path / "quarantine").exists()

    @pytest.mark.parametrize("torn", [line_of(1)[:50], b"\0" * 9000, b"\xff\xfe", b"x" * 100_000])
    def test_torn_tail(self, torn: bytes, tmp_path: Path) -> None:
        """A torn tail is copied to quarantine by its offset, closed off, and stays where it is."""
        log = raw_log(tmp_path, line_of(0) + torn)
        (event,) = log.append([draft("new")])
        assert Path(log.path).read_bytes() == line_of(0) + torn + b"\n" + encode(event)
        assert event.seq == 1
        (piece,) = (tmp_path / "quarantine").iterdir()
        assert piece.name == f"{len(line_of(0))}-{len(torn)}.bytes"
        assert piece.read_bytes() == torn
        assert log.health() == Health(events=2, damaged=1)

    def test_torn_text_behind_an_event_without_line_feed(self, tmp_path: Path) -> None:
        """Only the torn bytes are set aside, by the offset at which they stand in the log."""
        kept = line_of(0) + line_of(1).rstrip()
        log = raw_log(tmp_path, kept + b"torn")
        log.append([draft("new")])
        (piece,) = (tmp_path / "quarantine").iterdir()
        assert (piece.name, piece.read_bytes()) == (f"{len(kept)}-4.bytes", b"torn")

    def test_a_system_that_reads_little_at_a_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The end of the file is read to its end, in as many pieces as it takes."""
        log = raw_log(tmp_path, line_of(40) + line_of(41) + line_of(42).rstrip())
        real = os.pread
        monkeypatch.setattr(os, "pread", lambda descriptor, size, at: real(descriptor, min(size, 7), at))
        assert log.size() == 43

    def test_quarantine_that_cannot_be_written(self, tmp_path: Path) -> None:
        """A quarantine that can't be written doesn't stop the append: the bytes stay in the log."""
        log = raw_log(tmp_path, line_of(0) + b"torn")
        (tmp_path / "quarantine").write_text("a file in the way")
        log.append([draft("new")])
        assert b"torn\n" in Path(log.path).read_bytes()

    @pytest.mark.parametrize(
        ("content", "following"),
        [
            (b"", 0),
            (b"\n\n", 0),
            (b"garbage", 0),
            (line_of(41), 42),
            (line_of(40) + line_of(41) + b"\n" * 20_000, 42),
            (line_of(41) + b"\0" * 500_000, 42),
            (line_of(41) + b"junk line\n" * 9_000, 42),
            (line_of(41) + line_of(40), 42),
            (line_of(41, "long" * 20_000), 42),
            (b"junk" + line_of(41).rstrip() + b"junk", 42),
            (line_of(40).rstrip() + line_of(41), 42),
            (UNKNOWN % 41, 42),
            (line_of(41) + FAR, 42),
            (line_of(41) + FAR * 100, 42),
            (FAR, 1),
        ],
    )
    def test_next_seq(self, content: bytes, following: int, tmp_path: Path) -> None:
        """The next seq is found behind any kind of tail, and the append is read back."""
        log = raw_log(tmp_path, content)
        assert log.size() == following
        (event,) = log.append([draft("new")])
        assert event.seq == following
        assert list(log.read())[-1] == event

    def test_the_tail_alone_is_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """On a long log an append reads a few kilobytes at most, and none if nobody else wrote."""
        log = raw_log(tmp_path, b"".join(line_of(seq) for seq in range(3000)))
        read: list[int] = []
        real = os.pread

        def counting(descriptor: int, size: int, at: int) -> bytes:
            read.append(size)
            return real(descriptor, size, at)

        monkeypatch.setattr(os, "pread", counting)
        assert log.append([draft("a")])[0].seq == 3000
        assert sum(read) <= 4096
        read.clear()
        assert log.append([draft("b")])[0].seq == 3001
        assert read == []

    def test_what_an_append_asks_the_system(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """While nobody else touches the folder, an append looks at log and sidecar once each and opens nothing."""
        log = new_log(tmp_path / "l")
        log.append([draft("a")])
        asked: list[str] = []

        def counting(name: str) -> None:
            real: Callable[..., object] = getattr(os, name)

            def ask(*args: object, **options: object) -> object:
                asked.append(name)
                return real(*args, **options)

            monkeypatch.setattr(os, name, ask)

        for name in ("stat", "fstat", "open", "pread", "write", "fdatasync"):
            counting(name)
        log.append([draft("b"), draft("c")], durable=True)
        assert asked == ["stat", "stat", "write", "fdatasync"]

    @pytest.mark.parametrize("copied", [False, True])
    def test_file_moved_away(self, copied: bool, tmp_path: Path) -> None:
        """A log that was moved isn't written under its new name, whether a copy stands in its place or nothing."""
        log = new_log(tmp_path / "l")
        log.append([draft("a")])
        path = Path(log.path)
        moved = path.rename(tmp_path / "moved")
        before = moved.read_bytes()
        if copied:
            path.write_bytes(before)
            assert log.append([draft("b")])[0].seq == 2
        else:
            with pytest.raises(LedgerNotFound):
                log.append([draft("b")])
        assert moved.read_bytes() == before
        moved.replace(path)
        assert log.append([draft("c")])[0].seq == 2
        assert titles(log.read()) == ["a", "c"]

    def test_replaced_by_one_of_the_same_size(self, tmp_path: Path) -> None:
        """What was known of the old file's tail isn't taken for the new one's, however alike they look."""
        log = new_log(tmp_path / "l")
        log.append([draft("a")])
        path = Path(log.path)
        other = path.read_bytes().replace(b'"seq":1', b'"seq":7')
        (tmp_path / "new").write_bytes(other)
        (tmp_path / "new").replace(path)
        assert log.append([draft("b")])[0].seq == 8

    def test_replaced_file(self, tmp_path: Path) -> None:
        """A writer that kept its descriptor follows a file that was replaced."""
        log = new_log(tmp_path / "l")
        log.append([draft("a")])
        path = Path(log.path)
        (tmp_path / "new").write_bytes(path.read_bytes() + line_of(2, "of the repair"))
        (tmp_path / "new").replace(path)
        assert log.append([draft("b")])[0].seq == 3
        assert titles(log.read()) == ["a", "of the repair", "b"]


def test_errors_say_the_owner(tmp_path: Path) -> None:
    """A refusal names path and owner, also where only the folder is there."""
    refused = storage_error(PermissionError(13, "Permission denied"), str(tmp_path / "none"))
    assert isinstance(refused, NotWritable)
    assert str(refused) == f"{tmp_path / 'none'}: Permission denied (owner: user id {tmp_path.stat().st_uid})"
    assert str(storage_error(PermissionError(13, "No"), "/none/at/all")) == "/none/at/all: No"
    assert str(storage_error(OSError(), "/p")) == "/p: OSError"


def test_import_is_cheap() -> None:
    """Importing the package, or its log, loads nothing that start-up need not pay for."""
    script = (
        "import sys, ledger; assert 'msgspec' not in sys.modules; assert ledger.FileLog; import ledger.log;"
        "bad = {'filelock', 'watchfiles', 'asyncio', 'pathlib', 'json'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_public_names() -> None:
    """Every name of ``ledger.__all__`` is there, sorted; another is an AttributeError."""
    import ledger

    assert list(ledger.__all__) == sorted(ledger.__all__)
    assert all(getattr(ledger, name) for name in ledger.__all__)
    assert json.loads(encode(memory(0)))["id"] == decode_known(line_of(0)).id
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ledger.nothing


def test_a_log_that_is_dropped_lets_go_of_its_files(tmp_path: Path) -> None:
    """Who forgets to close a log leaks no descriptors."""
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("only Linux lists the descriptors of a process")
    log = FileLog.create(tmp_path, root="/w", key="0" * 16)
    log.append([Draft(source="x/s", time=None, data=SessionDeletedData())])
    held = len(list(folder.iterdir()))
    del log
    assert len(list(folder.iterdir())) < held


def test_the_copy_of_a_line_whose_number_could_not_be_is_known_where_it_can(tmp_path: Path) -> None:
    """Up to that number a reader looks at no id; from there on it does."""
    far = line_of(400, number=900)
    dense = [line_of(seq) for seq in range(1, 400)]
    log = raw_log(tmp_path, b"".join([line_of(0), far, *dense, far]))
    assert [event.seq for event in log.read()] == [0, 400, *range(1, 400)]


def test_a_number_can_be_as_high_as_its_place(tmp_path: Path) -> None:
    """Up to the byte at which the event ends, which the next writer takes as a reader does; and not above it."""
    first = line_of(0)
    highest = next(seq for seq in range(1000) if len(first + line_of(seq, "t", 1)) - 1 == seq)
    assert raw_log(tmp_path / "a", first + line_of(highest, "t", 1)).size() == highest + 1
    assert raw_log(tmp_path / "b", first + line_of(highest + 1, "t", 1)).size() == 1


def test_both_openings_are_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that is put in place between them is read by both: else ids of one would be told of the other's lines."""
    log, later = tmp_path / "events.jsonl", tmp_path / "later"
    log.write_bytes(b"old")
    later.write_bytes(b"new")
    opened: list[str] = []

    def opener(path: str, flags: int) -> int:
        opened.append(path)
        if len(opened) == 2:
            later.replace(log)
        return open_regular(path, flags)

    monkeypatch.setattr("ledger.reader.open_regular", opener)
    with reading_twice(str(log)) as (file, again):
        assert (file.read(), again.read()) == (b"new", b"new")


def test_a_log_that_is_never_the_same_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a hundred rounds nobody looks on."""
    log = tmp_path / "events.jsonl"

    def opener(path: str, flags: int) -> int:
        (tmp_path / "next").write_bytes(b"")
        (tmp_path / "next").replace(log)
        return open_regular(path, flags)

    monkeypatch.setattr("ledger.reader.open_regular", opener)
    with pytest.raises(StorageError, match=r"events\.jsonl"), reading_twice(str(log)):
        pass
