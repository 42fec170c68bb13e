"""The lean way of ``memfold hook`` finds the ledger that ``memfold.paths`` names, or leaves that to it (SPEC 1.6)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from memfold.config import config_files
from memfold.hook import place
from memfold.hook.place import Unclear, find
from memfold.paths import data_dir, ledger_dir, workspace_key, workspace_root
from tests.support.effort import examples
from tests.support.hook import repository

_FOLDERS = (".", "a", "a/sub", "b", "b/deep/sub")
_TEXTS = (
    *("", "nonsense", "../..\n", "..", "a", ".git", "{top}/a/.git\n", "{top}/b/.git\n", "{top}/a/../b/.git\n"),
    *("gitdir: {top}/a/.git/worktrees/x\n", "gitdir: {top}/b/.git/worktrees/x", "gitdir:{top}/a/.git/worktrees/x\n"),
    *("gitdir: ../a/.git/worktrees/x\n", "gitdir: {top}/a/.git\n", "gitdir: {top}/a\n", "gitdir: /nowhere/.git\n"),
    "[core]\n\tworktree = {top}/b\n",
)
_NAMES = (
    *(".git", ".git/HEAD", ".git/commondir", ".git/gitdir", ".git/config", "HEAD", "commondir", "gitdir", "config"),
    *(".git/worktrees/x/commondir", ".git/worktrees/x/gitdir", ".git/worktrees/x/HEAD"),
)
Step = Callable[[Path], object]


def _written(top: Path, name: str, text: str) -> None:
    (top / name).parent.mkdir(parents=True, exist_ok=True)
    (top / name).write_text(text.format(top=top))


def _worktree(top: Path, main: str, tree: str, back: str) -> None:
    """What ``git worktree add`` makes; the repository may know another place by that name."""
    repository(top / main)
    _written(top, f"{tree}/.git", f"gitdir: {{top}}/{main}/.git/worktrees/x\n")
    _written(top, f"{main}/.git/worktrees/x/commondir", "../..\n")
    _written(top, f"{main}/.git/worktrees/x/gitdir", f"{{top}}/{back}/.git\n")


def _bare(top: Path, folder: str) -> None:
    for name in ("objects", "refs"):
        (top / folder / name).mkdir(parents=True)
    _written(top, f"{folder}/HEAD", "ref: refs/heads/main\n")


_folders = st.sampled_from(_FOLDERS)
_steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(lambda folder: lambda top: repository(top / folder), _folders),
    st.builds(lambda a, b, c: lambda top: _worktree(top, a, b, c), _folders, _folders, _folders),
    st.builds(lambda a, b: lambda top: _worktree(top, a, b, b), _folders, _folders),
    st.builds(lambda folder: lambda top: _bare(top, folder), _folders),
    st.builds(
        lambda folder, name, text: lambda top: _written(top, f"{folder}/{name}", text),
        *(_folders, st.sampled_from(_NAMES), st.sampled_from(_TEXTS)),
    ),
    st.builds(lambda a, b: lambda top: (top / a / ".git").symlink_to(top / b / ".git"), _folders, _folders),
)


def _lean(folder: str, home: Path) -> place.Place | None:
    try:
        return find(folder, {b"HOME": os.fsencode(home)})
    except (Unclear, OSError, ValueError):
        return None


def _plain(folder: str, home: Path) -> place.Place:
    environ = {"HOME": str(home)}
    root = workspace_root(folder)
    user, workspace = config_files(root, environ).values()
    return ledger_dir(data_dir(environ), workspace_key(root)), (user, workspace)


@given(st.lists(_steps, min_size=1, max_size=4))
@settings(max_examples=examples(150))
def test_i21_the_same_workspace_or_none(steps: list[Step]) -> None:
    """I21: whatever git files folders bring along, no event is given to another workspace for being fast."""
    with TemporaryDirectory() as folder:
        top = Path(os.path.realpath(folder))
        for name in _FOLDERS:
            (top / name).mkdir(parents=True, exist_ok=True)
        for step in steps:
            try:
                step(top)
            except OSError:  # something else stands there
                event("a step that can't be")
        for name in (*_FOLDERS, "a/.git", "b/.git/refs"):
            at = os.path.normpath(top / name)
            lean = _lean(at, top)
            event("plain" if lean is None else "lean")
            if lean is not None:
                assert lean == _plain(at, top)


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES, errno.ESTALE, errno.ELOOP])
def test_what_cannot_be_seen_is_left_to_the_plain_way(tmp_path: Path, code: int) -> None:
    """Whichever look is refused: the place is the same one, or it isn't plain to see."""
    top = Path(os.path.realpath(tmp_path))
    _worktree(top, "a", "b", "b")
    (top / "b" / "sub").mkdir()
    at = str(top / "b" / "sub")
    whole = _lean(at, top)
    assert whole == _plain(at, top)
    looks = _looks(at, top, 0, code)
    assert looks > 20
    for number in range(1, looks + 1):
        with mock.patch.object(place, "posix", broken := _Refusing(number, code)):
            assert _lean(at, top) in (None, whole)
        assert broken.done >= number


def _looks(at: str, top: Path, number: int, code: int) -> int:
    with mock.patch.object(place, "posix", counting := _Refusing(number, code)):
        assert _lean(at, top)
    return counting.done


class _Refusing:
    """The system's calls, of which one is refused."""

    def __init__(self, number: int, code: int) -> None:
        self.done, self._number, self._code = 0, number, code

    def __getattr__(self, name: str) -> object:
        """A call that counts, or a constant."""
        real = getattr(os, name)
        return self._counted(real) if callable(real) and name != "close" else real

    def _counted(self, real: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object) -> object:
            self.done += 1
            if self.done == self._number:
                raise OSError(self._code, os.strerror(self._code))
            return real(*arguments)

        return call
