"""Copies of a ledger: made under its lock, sealed with a manifest, put back by one rename."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from unittest import mock

import pytest

from ledger.copies import LogCopy, copy_log, digest_log, replace_log
from ledger.errors import LedgerNotFound, LockTimeout, SequenceConflict, StorageError
from ledger.locks import default_lock
from ledger.log import LOCK_SUFFIX, LOG_NAME, FileLog
from memfold import backups
from memfold.backups import (
    MANIFEST_NAME,
    find_backup,
    known_backups,
    make_backup,
    note_trouble,
    noted_elsewhere,
    read_backup,
    require_backup,
    seal,
    trouble_of,
)
from memfold.elsewhere import add_to_note
from memfold.errors import DataError, NotFoundError
from tests.support.logs import KEY, ROOT, draft, new_log

NOW = 1_767_225_600_000
STAMP = "20260101T000000000Z"


def _ledger(folder: Path, *titles: str) -> Path:
    with new_log(folder) as log:
        log.append([draft(title) for title in titles])
    return folder


def _titles(folder: Path) -> list[str]:
    return [getattr(event.data, "title", "") for event in FileLog.open(folder).read() if hasattr(event, "data")][1:]


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_backup_is_the_same_bytes_with_a_manifest(tmp_path: Path) -> None:
    """Its folder is named after the time; file and folder are private under any umask."""
    ledger = _ledger(tmp_path / "ledger", "Use tabs")
    before = os.umask(0)
    try:
        backup = make_backup(str(ledger), str(tmp_path / "data"), KEY, now=NOW)
    finally:
        os.umask(before)
    folder = tmp_path / "data" / "backups" / KEY / STAMP
    assert backup.folder == str(folder)
    assert (folder / LOG_NAME).read_bytes() == (ledger / LOG_NAME).read_bytes()
    assert (_mode(folder), _mode(folder / LOG_NAME), _mode(folder / MANIFEST_NAME)) == (0o700, 0o600, 0o600)
    manifest = json.loads((folder / MANIFEST_NAME).read_text())
    assert (manifest["root"], manifest["key"], manifest["events"]) == (ROOT, KEY, 2)
    assert manifest["created"] == "2026-01-01T00:00:00.000Z"
    assert manifest["size"] == (ledger / LOG_NAME).stat().st_size
    assert trouble_of(read_backup(str(folder))) == ""
    assert require_backup(str(folder)) == backup.manifest


def test_two_backups_of_one_moment_have_folders_of_their_own(tmp_path: Path) -> None:
    """Nothing is overwritten, and both are known, oldest first."""
    ledger, data = _ledger(tmp_path / "ledger", "Use tabs"), str(tmp_path / "data")
    made = [make_backup(str(ledger), data, KEY, now=now).folder for now in (NOW + 1000, NOW, NOW)]
    assert [os.path.basename(folder) for folder in made[1:]] == [STAMP, f"{STAMP}-1"]  # noqa: PTH119 - text
    assert known_backups(data, KEY) == (made[1], made[2], made[0])


def test_a_backup_made_elsewhere_is_noted(tmp_path: Path) -> None:
    """So that a purge finds it; one whose disk isn't there now stays noted."""
    ledger, data, stick = _ledger(tmp_path / "ledger", "a"), str(tmp_path / "data"), tmp_path / "stick"
    first = make_backup(str(ledger), data, KEY, now=NOW, to=str(stick)).folder
    second = make_backup(str(ledger), data, KEY, now=NOW, to=str(stick)).folder
    assert Path(first).parent == stick
    assert known_backups(data, KEY) == noted_elsewhere(data, KEY) == (first, second)
    stick.rename(tmp_path / "gone")
    assert known_backups(data, KEY) == ()
    assert noted_elsewhere(data, KEY) == (first, second)


def test_a_folder_whose_name_is_no_text_is_noted(tmp_path: Path) -> None:
    """Names on a disk are bytes."""
    ledger, data = _ledger(tmp_path / "ledger", "a"), str(tmp_path / "data")
    made = make_backup(str(ledger), data, KEY, now=NOW, to=os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    assert known_backups(data, KEY) == (made.folder,)


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b'{"folders": 3}', b'{"folders": [3]}', b"\xff"])
def test_a_damaged_note_is_told_and_kept(tmp_path: Path, note: bytes) -> None:
    """Whatever stands there, the other copies are found; none is made that can't be noted."""
    ledger, data = _ledger(tmp_path / "ledger", "a"), str(tmp_path / "data")
    made = make_backup(str(ledger), data, KEY, now=NOW).folder
    path = tmp_path / "data" / "backups" / KEY / "elsewhere.json"
    path.write_bytes(note)
    assert known_backups(data, KEY) == (made,)
    said = note_trouble(data, KEY)
    assert said is not None
    assert str(path) in said[0]
    with pytest.raises(DataError, match=r"nothing was done: .*damaged"):
        make_backup(str(ledger), data, KEY, now=NOW, to=str(tmp_path / "stick"))
    with pytest.raises(OSError, match="it is damaged"):
        add_to_note(str(path.parent), "/stick")
    assert (path.read_bytes(), (tmp_path / "stick").exists()) == (note, False)


def test_a_damaged_byte_costs_one_folder_of_the_note_at_most(tmp_path: Path) -> None:
    """Wherever it is: all other folders are still known, and if any is not, that is told or it isn't there."""
    ledger, data = _ledger(tmp_path / "ledger", "a"), str(tmp_path / "data")
    made = [make_backup(str(ledger), data, KEY, now=NOW + n, to=str(tmp_path / "stick")).folder for n in range(3)]
    path = tmp_path / "data" / "backups" / KEY / "elsewhere.json"
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes((whole[at] ^ 0x81,)) + whole[at + 1 :])
        left = [folder for folder in known_backups(data, KEY) if folder in made]
        assert len(left) >= len(made) - 2
        absent = [folder for folder in noted_elsewhere(data, KEY) if folder not in made]
        assert len(left) == len(made) or note_trouble(data, KEY) is not None or absent


def test_a_note_that_cannot_be_read_is_no_missing_one(tmp_path: Path) -> None:
    """It may name copies: a folder in its place, or a disk that fails, says nothing of them."""
    ledger, data = _ledger(tmp_path / "ledger", "a"), str(tmp_path / "data")
    assert note_trouble(data, KEY) is None
    make_backup(str(ledger), data, KEY, now=NOW)
    (tmp_path / "data" / "backups" / KEY / "elsewhere.json").mkdir()
    said = note_trouble(data, KEY)
    assert said is not None
    assert "can't be read" in said[0]


def test_a_backup_is_named_by_path_file_or_stamp(tmp_path: Path) -> None:
    """Whatever a person copies from a list; anything else is not found."""
    ledger, data = _ledger(tmp_path / "ledger", "a"), str(tmp_path / "data")
    folder = make_backup(str(ledger), data, KEY, now=NOW).folder
    for name in (folder, f"{folder}/{LOG_NAME}", f"{folder}/{MANIFEST_NAME}", STAMP):
        assert find_backup(data, KEY, name) == folder
    for name in ("", "nope", str(tmp_path)):
        with pytest.raises(NotFoundError):
            find_backup(data, KEY, name)


def _cut(folder: Path) -> None:
    (folder / LOG_NAME).write_bytes((folder / LOG_NAME).read_bytes()[:-3])


def _remove_log(folder: Path) -> None:
    (folder / LOG_NAME).unlink()


def _remove_manifest(folder: Path) -> None:
    (folder / MANIFEST_NAME).unlink()


def _break_manifest(folder: Path) -> None:
    (folder / MANIFEST_NAME).write_text("{")


def _newer_manifest(folder: Path) -> None:
    document = json.loads((folder / MANIFEST_NAME).read_text())
    (folder / MANIFEST_NAME).write_text(json.dumps(document | {"version": 2}))


def _folder_for_manifest(folder: Path) -> None:
    (folder / MANIFEST_NAME).unlink()
    (folder / MANIFEST_NAME).mkdir()


def _headless(folder: Path) -> None:
    (folder / LOG_NAME).write_bytes((folder / LOG_NAME).read_bytes().partition(b"\n")[2])
    seal(str(folder))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_cut, "changed or cut"),
        (_remove_log, "no ledger"),
        (_remove_manifest, "never finished"),
        (_break_manifest, "damaged"),
        (_newer_manifest, "newer release"),
        (_folder_for_manifest, "can't be read"),
        (_headless, "no beginning"),
    ],
)
def test_a_copy_that_cannot_be_restored_says_why(tmp_path: Path, damage: object, says: str) -> None:
    """Nothing of it is used."""
    ledger, data = _ledger(tmp_path / "ledger", "a"), str(tmp_path / "data")
    folder = make_backup(str(ledger), data, KEY, now=NOW).folder
    assert callable(damage)
    damage(Path(folder))
    assert says in trouble_of(read_backup(folder))
    with pytest.raises(DataError, match="can't be restored"):
        require_backup(folder)


def test_a_copy_that_was_rewritten_is_sealed_anew(tmp_path: Path) -> None:
    """As a purge does; when it was made stays."""
    ledger, data = _ledger(tmp_path / "ledger", "a", "b"), str(tmp_path / "data")
    folder = make_backup(str(ledger), data, KEY, now=NOW).folder
    _cut(Path(folder))
    again = seal(folder).manifest
    assert again is not None
    assert again.created == "2026-01-01T00:00:00.000Z"
    assert trouble_of(read_backup(folder)) == ""


def test_no_half_copy_stays(tmp_path: Path) -> None:
    """Where the disk is full or there is no log, the new folder is gone again."""
    ledger, data = _ledger(tmp_path / "ledger", "a"), str(tmp_path / "data")
    assert known_backups(data, KEY) == ()
    (tmp_path / "data" / "backups" / KEY).mkdir(parents=True)
    with mock.patch("ledger.copies.os.fsync", side_effect=OSError(28, "full")), pytest.raises(StorageError):
        make_backup(str(ledger), data, KEY, now=NOW)
    with pytest.raises(LedgerNotFound):
        make_backup(str(tmp_path / "nowhere"), data, KEY, now=NOW)
    assert known_backups(data, KEY) == ()


def test_a_backup_folder_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    """A file in its place, a disk without room for the manifest, a thousand copies of one moment."""
    ledger, data = _ledger(tmp_path / "ledger", "a"), tmp_path / "data"
    data.write_text("a file")
    with pytest.raises(StorageError):
        make_backup(str(ledger), str(data), KEY, now=NOW)
    data.unlink()
    with mock.patch.object(backups, "replace_file", side_effect=OSError(28, "full")), pytest.raises(StorageError):
        make_backup(str(ledger), str(data), KEY, now=NOW)
    with mock.patch.object(backups, "_TRIES", 1), pytest.raises(StorageError, match="many backups"):
        make_backup(str(ledger), str(data), KEY, now=NOW)


def test_copying_waits_for_the_lock(tmp_path: Path) -> None:
    """No append falls into a copy; who holds the lock already says so."""
    ledger = _ledger(tmp_path / "ledger", "a")
    lock = default_lock(str(ledger / LOG_NAME) + LOCK_SUFFIX, 1.0)
    with lock.hold(), mock.patch("ledger.copies._PATIENCE", 0.01):
        with pytest.raises(LockTimeout):
            copy_log(str(ledger), str(tmp_path / "copy"))
        assert copy_log(str(ledger), str(tmp_path / "copy"), locked=True) == digest_log(str(ledger))
    lock.close()


def test_a_log_is_copied_in_pieces(tmp_path: Path) -> None:
    """However long it is, size and digest are those of all of it."""
    log = new_log(tmp_path / "ledger")
    log.append([draft("x" * 100)])
    data = Path(log.path).read_bytes()
    with mock.patch("ledger.copies._CHUNK", 64):
        copied = copy_log(log.directory, str(tmp_path / "copy"))
    assert copied == LogCopy(len(data), hashlib.sha256(data).hexdigest())
    assert (tmp_path / "copy").read_bytes() == data


def test_a_copy_overwrites_nothing(tmp_path: Path) -> None:
    """A file that is there stays as it is."""
    ledger = _ledger(tmp_path / "ledger", "a")
    (tmp_path / "copy").write_text("mine")
    with pytest.raises(StorageError):
        copy_log(str(ledger), str(tmp_path / "copy"))
    assert (tmp_path / "copy").read_text() == "mine"


def test_a_log_is_replaced_by_a_copy(tmp_path: Path) -> None:
    """One rename; an open writer goes on in the new one."""
    ledger, copy = _ledger(tmp_path / "ledger", "a", "b"), _ledger(tmp_path / "copy", "c")
    writer = FileLog.open(ledger)
    writer.append([draft("d")])
    kept: list[list[str]] = []
    replace_log(str(ledger), str(copy), digest_log(str(copy)), expect=4, first=lambda: kept.append(_titles(ledger)))
    assert kept == [["a", "b", "d"]]
    assert _titles(ledger) == ["c"]
    writer.append([draft("e")])
    writer.close()
    assert _titles(ledger) == ["c", "e"]
    assert _titles(copy) == ["c"]
    assert {path.name for path in ledger.iterdir()} == {LOG_NAME, LOG_NAME + LOCK_SUFFIX}
    assert _mode(ledger / LOG_NAME) == 0o600


def test_a_copy_makes_the_log_where_there_is_none(tmp_path: Path) -> None:
    """As after a lost disk."""
    copy = _ledger(tmp_path / "copy", "c")
    replace_log(str(tmp_path / "new"), str(copy), digest_log(str(copy)), expect=0, first=lambda: None)
    assert _titles(tmp_path / "new") == ["c"]


def test_nothing_is_replaced_if_anything_has_changed(tmp_path: Path) -> None:
    """The log has gone on, the copy is another one, or what was to be kept couldn't be: the log is as it was."""
    ledger, copy = _ledger(tmp_path / "ledger", "a"), _ledger(tmp_path / "copy", "c")
    good, before = digest_log(str(copy)), (ledger / LOG_NAME).read_bytes()

    def fail() -> None:
        raise StorageError("kept", 28, "full")

    with pytest.raises(SequenceConflict):
        replace_log(str(ledger), str(copy), good, expect=9, first=lambda: None)
    with pytest.raises(SequenceConflict):
        replace_log(str(ledger), str(copy), LogCopy(good.size, "0" * 64), expect=2, first=lambda: None)
    with pytest.raises(StorageError):
        replace_log(str(ledger), str(copy), good, expect=2, first=fail)
    with mock.patch("ledger.copies.os.replace", side_effect=OSError(5, "io")), pytest.raises(StorageError):
        replace_log(str(ledger), str(copy), good, expect=2, first=lambda: None)
    assert (ledger / LOG_NAME).read_bytes() == before
    (ledger / ".events.jsonl.restore").write_text("left by a kill")
    replace_log(str(ledger), str(copy), good, expect=2, first=lambda: None)
    assert _titles(ledger) == ["c"]


def test_trouble_of_the_system_is_a_storage_error(tmp_path: Path) -> None:
    """A folder in place of the log or of the ledger's folder, and no permission."""
    odd = tmp_path / "odd"
    (odd / LOG_NAME).mkdir(parents=True)
    with pytest.raises(StorageError):
        digest_log(str(odd))
    copy = _ledger(tmp_path / "copy", "c")
    with pytest.raises(StorageError):
        replace_log(str(odd), str(copy), digest_log(str(copy)), expect=0, first=lambda: None)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        replace_log(str(tmp_path / "file"), str(copy), digest_log(str(copy)), expect=0, first=lambda: None)
