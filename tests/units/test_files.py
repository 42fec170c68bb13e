"""Private files and folders: what stands in the way is named, and nothing waits for it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ledger.errors import LedgerNotFound, NotWritable, StorageError
from ledger.files import PATH_LIMIT, is_there, make_private_folder, open_private, open_regular
from ledger.log import LOG_NAME, FileLog
from tests.support.logs import KEY, ROOT, draft, line_of, raw_log

MAKERS: list[Callable[[Path], None]] = [
    os.mkfifo,
    lambda path: path.mkdir(),
    lambda path: path.symlink_to("/dev/zero"),
]


@pytest.mark.parametrize("make", MAKERS)
def test_only_regular_files_are_opened(make: Callable[[Path], None], tmp_path: Path) -> None:
    """A pipe, a folder and a device are refused without waiting, and no descriptor stays open."""
    make(tmp_path / "x")
    before = set(Path("/dev/fd").iterdir())  # others may be closed meanwhile, when what held them is collected
    with pytest.raises(OSError, match="no regular file"):
        os.close(open_regular(str(tmp_path / "x")))
    assert set(Path("/dev/fd").iterdir()) <= before


@pytest.mark.parametrize("make", MAKERS)
def test_a_log_that_is_no_file(make: Callable[[Path], None], tmp_path: Path) -> None:
    """Creating, opening and reading end at once and name what is there; the same for a log replaced later."""
    (tmp_path / "l").mkdir()
    make(tmp_path / "l" / LOG_NAME)
    with pytest.raises(StorageError):
        FileLog.create(tmp_path / "l", root=ROOT, key=KEY)
    with pytest.raises(StorageError, match=r"events\.jsonl: it is no regular file"):
        FileLog.open(tmp_path / "l")
    log = raw_log(tmp_path / "m", line_of(0))
    Path(log.path).unlink()
    make(Path(log.path))
    for use in (lambda: list(log.read()), lambda: log.append([draft("a")])):
        with pytest.raises(StorageError):
            use()


def test_a_log_that_is_a_dangling_link(tmp_path: Path) -> None:
    """A link that leads nowhere is no ledger, and none is made through it."""
    (tmp_path / LOG_NAME).symlink_to(tmp_path / "nowhere")
    with pytest.raises(LedgerNotFound):
        FileLog.open(tmp_path)
    with pytest.raises(StorageError, match=r"events\.jsonl: a symbolic link that leads nowhere"):
        FileLog.create(tmp_path, root=ROOT, key=KEY)
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_comes_and_goes_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that others make and remove meanwhile is tried again."""
    real = os.open
    answers = iter([FileNotFoundError(), FileExistsError()])

    def racing(path: str, flags: int, mode: int = 0o777) -> int:
        if error := next(answers, None):
            raise error
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", racing)
    os.close(open_private(str(tmp_path / "x"), os.O_RDWR))
    assert (tmp_path / "x").exists()


def test_a_folder_out_of_sight_is_no_missing_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system doesn't let us look, that is said, with path and owner."""

    def refuse(path: str) -> os.stat_result:
        if path.endswith(LOG_NAME):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path)

    real = os.stat
    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(NotWritable, match=r"events\.jsonl: Permission denied \(owner: user id"):
        FileLog.open(tmp_path)


def test_deep_folders_are_made(tmp_path: Path) -> None:
    """A thousand missing parents are made without recursion; a path that no system takes is refused at once."""
    deep = tmp_path / ("a/" * 1000)
    make_private_folder(str(deep))
    deep.rmdir()  # it was there
    (tmp_path / "stays").touch()
    os.removedirs(deep.parent)  # who cleans up may do so by recursion
    with pytest.raises(OSError, match="too long") as caught:
        make_private_folder("/a" * PATH_LIMIT)
    assert caught.value.errno == errno.ENAMETOOLONG


def test_a_refusal_names_the_file(tmp_path: Path) -> None:
    """As one of the system's does, so that whoever catches it can say where it was."""
    with pytest.raises(OSError, match="no regular file") as caught:
        open_regular(str(tmp_path))
    assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, str(tmp_path))


def test_what_can_t_be_looked_at_is_there(tmp_path: Path) -> None:
    """A folder that leads in a circle is no missing file: whoever opens it is told."""
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "file").touch()
    assert is_there(str(tmp_path / "circle" / "x"))
    assert is_there(str(tmp_path / "circle"))
    assert is_there(str(tmp_path / "file"))
    for missing in ("nothing", "file/x", "a\0b"):
        assert not is_there(str(tmp_path / missing))
