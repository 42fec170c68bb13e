"""A log is replaced by one with other lines: what isn't changed keeps its bytes, and nothing is lost (DESIGN 4)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ledger.check import check
from ledger.codec import encode
from ledger.errors import NewerFormat, StorageError
from ledger.events import Draft, LedgerCreated, LedgerCreatedData, LedgerErasedData
from ledger.ids import MonotonicIds
from ledger.locks import default_lock
from ledger.log import LOCK_SUFFIX, FileLog
from ledger.problems import Kind, Problem
from ledger.recovery import Record
from ledger.rewrite import REWRITE_SUFFIX, pieces, rewrite
from tests.support.logs import draft, event_id, line_of, new_log, raw_log, titles


class Keep:
    """Changes nothing, but for what is replaced in the bytes of each piece."""

    def __init__(self, old: bytes = b"", new: bytes = b"", *, drafts: Sequence[Draft] = ()) -> None:
        self.old, self.new = old, new
        self.pieces: list[tuple[Record, bytes]] = []
        self.written = b""
        self._drafts = drafts

    def begin(self) -> None:
        """Nothing to look at."""

    def content(self, path: str) -> Iterator[bytes]:
        """Each piece as below."""
        return pieces(path, self.piece)

    def piece(self, record: Record, data: bytes) -> bytes:
        """The bytes with the replacement."""
        self.pieces.append((record, data))
        return data.replace(self.old, self.new) if self.old else data

    def drafts(self, path: str) -> Sequence[Draft]:
        """What to append."""
        assert Path(path).exists()
        return self._drafts

    def approve(self, path: str) -> None:
        """Keep what stands there."""
        self.written = Path(path).read_bytes()


def _created() -> bytes:
    data = LedgerCreatedData(format=1, ledger="l", root="/w", key="k")
    return encode(LedgerCreated(specversion="1.0", id=event_id(0), source="memfold", seq=0, data=data))


DAMAGED = b"".join(
    (
        _created(),
        b"\xef\xbb\xbf  ",
        line_of(1, "one"),
        b"\n\r\n",
        b'torn {"type":"mem\n',
        line_of(2, "two").rstrip(b"\n"),
        line_of(3, "three").rstrip(b"\n"),
        b" glued\n",
        line_of(2, "two again", number=2),
        b"\0\0\0\n",
        b'{"type":"later.release","specversion":"1.0","id":"x","source":"s","seq":4,"data":{"a": 1.50}}\n',
        b"\xff\xfe\n",
        line_of(5, "five").rstrip(b"\n"),
    )
)
"""A log with all kinds of damage, and a last line without its end."""


def test_what_is_not_changed_keeps_its_bytes(tmp_path: Path) -> None:
    """Blank lines, byte order marks, garbage, unknown events and copies stay as they are, byte for byte."""
    log = raw_log(tmp_path / "l", DAMAGED)
    assert rewrite(log.path, Keep(), new_id=MonotonicIds()) == ()
    assert Path(log.path).read_bytes() == DAMAGED
    assert titles(log.read()) == ["one", "two", "three", "five"]


def test_each_piece_is_asked_for_once(tmp_path: Path) -> None:
    """Events, copies and damaged pieces come with their bytes; what a scan says of an event's number doesn't."""
    log = raw_log(tmp_path / "l", DAMAGED)
    change = Keep(b"two", b"2")
    rewrite(log.path, change, new_id=MonotonicIds())
    assert titles(log.read()) == ["one", "2", "three", "five"]
    kinds = [record.item.kind for record, _ in change.pieces if isinstance(record.item, Problem)]
    assert kinds == [Kind.NOT_JSON, Kind.NOT_JSON, Kind.DUPLICATE_ID, Kind.NUL_BYTES, Kind.NOT_UTF8]
    assert Path(log.path).read_bytes() == DAMAGED.replace(b"two", b"2")


def test_what_is_appended_comes_behind_the_last_line(tmp_path: Path) -> None:
    """The record of a purge has the next seq and a line of its own, also behind a line that lacks its end."""
    for number, end in enumerate((b"", b'{"type":"memory.add', b"\n")):
        log = raw_log(
            tmp_path / str(number), _created() + line_of(1, "one").rstrip(b"\n") + (b"\n" + end if end else b"")
        )
        events = rewrite(log.path, Keep(drafts=[draft("last")]), new_id=MonotonicIds())
        assert [event.seq for event in events] == [2]
        assert titles(log.read()) == ["one", "last"]
        assert [problem.kind for problem in check(log.directory)] in ([], [Kind.NOT_JSON])


def test_a_writer_that_has_the_old_file_open_goes_on_with_the_new_one(tmp_path: Path) -> None:
    """Appends before and after a rewrite through one open log are all there, in their order."""
    log = new_log(tmp_path / "l")
    log.append([draft("one")])
    rewrite(log.path, Keep(b"one", b"eins"), new_id=MonotonicIds())
    log.append([draft("two")])
    assert titles(log.read()) == ["eins", "two"]
    assert check(log.directory) == []


@pytest.mark.parametrize("content", [b"", b"\n", b"garbage\n"])
def test_a_log_without_events_is_rewritten_like_any_other(tmp_path: Path, content: bytes) -> None:
    """There is no first event that could tell a format: what stands there stays."""
    log = raw_log(tmp_path / "l", content)
    assert rewrite(log.path, Keep(), new_id=MonotonicIds()) == ()
    assert Path(log.path).read_bytes() == content


def test_a_refusal_keeps_the_old_file(tmp_path: Path) -> None:
    """What the approval raises goes through; the old file stands there, and nothing beside it."""

    class Refusing(Keep):
        def approve(self, path: str) -> None:
            raise ValueError(path)

    log = raw_log(tmp_path / "l", _created() + line_of(1, "one"))
    with pytest.raises(ValueError, match=REWRITE_SUFFIX):
        rewrite(log.path, Refusing(b"one", b"two"), new_id=MonotonicIds())
    assert titles(log.read()) == ["one"]
    assert sorted(path.name for path in Path(log.directory).iterdir()) == ["events.jsonl", "events.jsonl.lock"]


def test_a_file_that_a_kill_has_left_is_named_and_removed(tmp_path: Path) -> None:
    """``check`` names it as what it is, and the next rewrite begins anew."""
    log = raw_log(tmp_path / "l", _created() + line_of(1, "one"))
    left = Path(log.path + REWRITE_SUFFIX)
    left.write_bytes(b"half a li")
    left.chmod(0o600)
    assert [problem.kind for problem in check(log.directory)] == [Kind.UNFINISHED_REWRITE]
    change = Keep()
    rewrite(log.path, change, new_id=MonotonicIds())
    assert change.written == Path(log.path).read_bytes() == _created() + line_of(1, "one")
    assert check(log.directory) == []


def test_modes_stay(tmp_path: Path) -> None:
    """The new file can be read by whom the old one could be read."""
    log = raw_log(tmp_path / "l", _created())
    for mode in (0o600, 0o640):
        Path(log.path).chmod(mode)
        rewrite(log.path, Keep(), new_id=MonotonicIds())
        assert Path(log.path).stat().st_mode & 0o777 == mode


def test_a_newer_ledger_is_not_rewritten(tmp_path: Path) -> None:
    """This release doesn't know what the lines of a later format promise."""
    data = LedgerCreatedData(format=9, ledger="l", root="/w", key="k")
    line = encode(LedgerCreated(specversion="1.0", id=event_id(0), source="memfold", seq=0, data=data))
    log = raw_log(tmp_path / "l", line)
    with pytest.raises(NewerFormat):
        rewrite(log.path, Keep(), new_id=MonotonicIds())
    assert Path(log.path).read_bytes() == line


def test_nobody_can_write_meanwhile(tmp_path: Path) -> None:
    """The lock is held from before the first look until the new file is in place; a copy needs none."""
    log = raw_log(tmp_path / "l", _created())
    seen: list[str] = []

    class Trying(Keep):
        def begin(self) -> None:
            self._try("begin")

        def approve(self, path: str) -> None:
            self._try("approve")

        def _try(self, when: str) -> None:
            try:
                with default_lock(log.path + LOCK_SUFFIX, 0.0).hold():
                    seen.append(f"{when} free")
            except TimeoutError:
                seen.append(f"{when} locked")

    rewrite(log.path, Trying(), new_id=MonotonicIds())
    rewrite(log.path, Trying(), new_id=MonotonicIds(), locked=True)
    assert seen == ["begin locked", "approve locked", "begin free", "approve free"]


@pytest.mark.parametrize("name", ["unlink", "open", "write", "fchmod", "fsync", "replace"])
def test_what_the_system_refuses_is_told(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever call fails, the old file stands there whole, nothing stands beside it, and the next try does it."""
    before = _created() + line_of(1, "one")
    log = raw_log(tmp_path / "l", before)
    real = getattr(os, name)

    def failing(*arguments: object, **options: object) -> object:
        if name == "unlink" or any(REWRITE_SUFFIX in str(one) for one in arguments) or isinstance(arguments[0], int):
            raise PermissionError(13, "refused")
        return real(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(f"ledger.rewrite.os.{name}", failing)
        if name in ("unlink", "open"):
            Path(log.path + REWRITE_SUFFIX).write_bytes(b"left")
        with pytest.raises(StorageError):
            rewrite(log.path, Keep(b"one", b"two"), new_id=MonotonicIds())
    assert Path(log.path).read_bytes() == before
    rewrite(log.path, Keep(b"one", b"two"), new_id=MonotonicIds())
    assert titles(log.read()) == ["two"]
    assert not Path(log.path + REWRITE_SUFFIX).exists()


def test_a_long_log_is_written_in_pieces(tmp_path: Path) -> None:
    """More than fits a buffer comes out whole, with what was appended."""
    lines = [line_of(seq, "x" * 5000) for seq in range(1, 500)]  # several lines to a buffer, and several buffers
    log = raw_log(tmp_path / "l", _created() + b"".join(lines))
    erased = Draft(source="memfold", time=None, data=LedgerErasedData(targets=()))
    rewrite(log.path, Keep(b"xx", b"y", drafts=[erased]), new_id=MonotonicIds())
    assert log.size() == 501
    assert titles(log.read()) == ["y" * 2500] * 499
    assert check(log.directory) == []


def test_the_log_is_there_when_a_folder_cannot_be_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last step alone may fail behind the rename: it is told, and the new log stands there."""
    log = raw_log(tmp_path / "l", _created() + line_of(1, "one"))

    def failing(_: str) -> None:
        raise OSError(5, "input/output error")

    monkeypatch.setattr("ledger.rewrite.sync_folder", failing)
    with pytest.raises(StorageError, match="input/output"):
        rewrite(log.path, Keep(b"one", b"two"), new_id=MonotonicIds())
    assert titles(FileLog.open(log.directory).read()) == ["two"]


def test_a_link_is_not_replaced(tmp_path: Path) -> None:
    """By whatever wants to: the file that it leads to would stay, and all who use that go on with it."""
    log = new_log(tmp_path)
    path = Path(log.path)
    path.rename(tmp_path / "real")
    path.symlink_to(tmp_path / "real")
    with pytest.raises(StorageError, match="symbolic link"):
        rewrite(log.path, Keep(), new_id=MonotonicIds())
    assert path.is_symlink()
