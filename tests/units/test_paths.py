"""Workspaces are found as git would find them, and data lie where the user wants them."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memfold import paths
from memfold.errors import ConfigError, StorageFailure
from memfold.paths import config_dir, data_dir, is_project, ledger_dir, workspace_key, workspace_root
from tests.support.broken_disk import broken_disk, counted, refused


def git(*arguments: str, at: Path) -> None:
    """Run git without the user's configuration."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *who, *arguments], cwd=at, env=environ, check=True, capture_output=True)


def repository(path: Path) -> Path:
    """A repository with one commit."""
    path.mkdir(parents=True)
    git("init", "-q", at=path)
    git("commit", "-q", "--allow-empty", "-m", "first", at=path)
    return path


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with one commit, at its real path."""
    return repository(Path(os.path.realpath(tmp_path)) / "repo")


def test_a_folder_outside_of_git_is_its_own_workspace(tmp_path: Path) -> None:
    """Without a repository the workspace is the folder's own real path, links resolved."""
    folder = tmp_path / "plain" / "deep"
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder)
    real = os.path.realpath(folder)
    assert workspace_root(str(folder)) == workspace_root(str(tmp_path / "link")) == real
    assert workspace_root(f"{folder}/../deep/.") == real


def test_folders_and_files_of_a_repository_share_its_root(repo: Path) -> None:
    """Every folder and file below, git's own included, belongs to the repository."""
    folder = repo / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "file.py").touch()
    for place in (repo, folder, folder / "file.py", repo / ".git", repo / ".git" / "refs"):
        assert workspace_root(str(place)) == str(repo)
        assert workspace_root(str(place), worktrees="separate") == str(repo)


def test_worktrees_share_the_main_worktree(repo: Path) -> None:
    """A second worktree has the main worktree's root, from its sub-folders too; ``separate`` splits them."""
    git("worktree", "add", "-q", "../second", at=repo)
    second = repo.parent / "second"
    (second / "sub").mkdir()
    assert workspace_root(str(second / "sub")) == str(repo)
    assert workspace_root(str(second / "sub"), worktrees="separate") == str(second)
    assert workspace_root(str(repo), worktrees="separate") == str(repo)


def test_a_submodule_is_its_own_workspace(repo: Path) -> None:
    """A submodule is a repository of its own, and its worktrees share that one."""
    library = repository(repo.parent / "library")
    git("submodule", "add", "-q", str(library), "libs/lib", at=repo)
    module = repo / "libs" / "lib"
    assert workspace_root(str(module)) == str(module)
    assert workspace_root(str(module.parent)) == str(repo)
    git("worktree", "add", "-q", str(repo.parent / "lib-second"), at=module)
    assert workspace_root(str(repo.parent / "lib-second")) == str(module)


def test_worktrees_of_a_bare_repository_share_it(repo: Path) -> None:
    """A bare repository has no main worktree, so that it stands for all of its worktrees, and for itself."""
    bare = repo.parent / "bare.git"
    git("clone", "-q", "--bare", str(repo), str(bare), at=repo.parent)
    git("worktree", "add", "-q", "../one", at=bare)
    for place in (repo.parent / "one", bare, bare / "refs"):
        assert workspace_root(str(place)) == str(bare)


def test_a_hidden_bare_repository_belongs_to_the_folder_around_it(repo: Path) -> None:
    """Where a ``.git`` file names a bare repository beside the worktrees, the folder with that file is the root."""
    project = repo.parent / "project"
    project.mkdir()
    git("clone", "-q", "--bare", str(repo), str(project / ".bare"), at=repo.parent)
    (project / ".git").write_text("gitdir: ./.bare\n")
    git("worktree", "add", "-q", "one", at=project)
    assert workspace_root(str(project)) == workspace_root(str(project / "one")) == str(project)


def test_a_separate_git_dir_changes_nothing(tmp_path: Path) -> None:
    """A repository whose git directory lies elsewhere is at its worktree."""
    top = Path(os.path.realpath(tmp_path))
    git("init", "-q", "--separate-git-dir", str(top / "elsewhere.git"), str(top / "work"), at=top)
    assert workspace_root(str(top / "work")) == str(top / "work")


def test_a_moved_worktree_is_found_again(repo: Path) -> None:
    """Git's own move, and a repair after any other one, lead both ways again; until then the place is its own."""
    git("worktree", "add", "-q", "../second", at=repo)
    git("worktree", "move", "../second", "../third", at=repo)
    third, fourth = repo.parent / "third", repo.parent / "fourth"
    assert workspace_root(str(third)) == str(repo)
    third.rename(fourth)
    assert workspace_root(str(fourth)) == str(fourth)
    git("worktree", "repair", str(fourth), at=repo)
    assert workspace_root(str(fourth)) == str(repo)
    repo.rename(repo.parent / "renamed")
    git("worktree", "repair", str(fourth), at=repo.parent / "renamed")
    assert workspace_root(str(fourth)) == str(repo.parent / "renamed")


def test_a_worktree_that_is_named_by_relative_paths(repo: Path) -> None:
    """Newer versions of git write them."""
    git("worktree", "add", "-q", "../second", at=repo)
    (repo.parent / "second" / ".git").write_text("gitdir: ../repo/.git/worktrees/second\n")
    (repo / ".git" / "worktrees" / "second" / "gitdir").write_text("../../../../second/.git\n")
    assert workspace_root(str(repo.parent / "second")) == str(repo)


def _looks_like_git(folder: Path, **files: str) -> Path:
    """What git takes for a repository; its other files as they are given."""
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def _fake_git_dir(folder: Path, repo: Path) -> None:
    _looks_like_git(folder / "fake", commondir=f"{repo}/.git\n", gitdir=f"{folder}/.git\n")
    (folder / ".git").write_text("gitdir: fake\n")


def _fake_git_folder(folder: Path, repo: Path) -> None:
    _looks_like_git(folder / ".git", commondir=f"{repo}/.git\n", gitdir=f"{folder}/.git\n")


def _fake_bare(folder: Path, repo: Path) -> None:
    _looks_like_git(folder, commondir=f"{repo}/.git\n")


def _other_s_git_dir(folder: Path, repo: Path) -> None:
    (folder / ".git").write_text(f"gitdir: {repo}/.git\n")


def _other_s_worktree(folder: Path, repo: Path) -> None:
    git("worktree", "add", "-q", "../second", at=repo)
    (folder / ".git").write_text(f"gitdir: {repo}/.git/worktrees/second\n")


def _core_worktree(folder: Path, repo: Path) -> None:
    _looks_like_git(folder, config=f"[core]\n\tworktree = {repo}\n")


def _core_worktree_behind_a_worktree(folder: Path, repo: Path) -> None:
    _looks_like_git(folder / "bare", config=f"[core]\n\tworktree = {repo}\n")
    _looks_like_git(folder / "bare" / "worktrees" / "x", commondir="../..\n", gitdir=f"{folder}/.git\n")
    (folder / ".git").write_text("gitdir: bare/worktrees/x\n")


def _link(folder: Path, repo: Path) -> None:
    (folder / ".git").symlink_to(repo / ".git")


@pytest.mark.parametrize(
    "pretend",
    [
        *(_fake_git_dir, _fake_git_folder, _fake_bare, _other_s_git_dir, _other_s_worktree, _core_worktree),
        *(_core_worktree_behind_a_worktree, _link),
    ],
)
def test_i21_no_folder_can_make_itself_another_s_worktree(repo: Path, pretend: Callable[[Path, Path], None]) -> None:
    """Whatever git files a folder brings along, it is given the memories of no other project."""
    folder = repo.parent / "unpacked"
    folder.mkdir()
    pretend(folder, repo)
    (folder / "sub").mkdir()
    for place in (folder, folder / "sub"):
        assert Path(workspace_root(str(place))).is_relative_to(folder)
    assert workspace_root(str(repo)) == str(repo)


def test_a_stale_worktree_is_its_own_workspace(tmp_path: Path) -> None:
    """Where the repository that a ``.git`` file names is gone, the checkout still is one workspace."""
    folder = tmp_path / "old" / "sub"
    folder.mkdir(parents=True)
    (tmp_path / "old" / ".git").write_text("gitdir: /nowhere/.git/worktrees/old\n")
    assert workspace_root(str(folder)) == os.path.realpath(tmp_path / "old")


@pytest.mark.parametrize("content", [None, "", "nonsense", "gitdir\n"])
def test_what_only_looks_like_git_is_passed_over(repo: Path, content: str | None) -> None:
    """An empty ``.git`` folder and a ``.git`` file without a pointer make no repository, as for git."""
    folder = repo / "sub"
    folder.mkdir()
    if content is None:
        (folder / ".git").mkdir()
    else:
        (folder / ".git").write_text(content)
    assert workspace_root(str(folder)) == str(repo)


@pytest.mark.parametrize("content", ["gitdir: /a\0b", "gitdir: \0", "\0" * 99])
def test_a_pointer_that_no_path_can_be_is_passed_over(repo: Path, content: str) -> None:
    """NUL bytes in a ``.git`` file name nothing, as a power cut leaves them."""
    (repo / "sub").mkdir()
    (repo / "sub" / ".git").write_text(content)
    assert workspace_root(str(repo / "sub")) == str(repo)


def test_a_pipe_in_a_git_folder_is_not_waited_for(repo: Path) -> None:
    """What git would read as one line may be a pipe in a stranger's folder."""
    os.mkfifo(repo / ".git" / "commondir")
    assert workspace_root(str(repo)) == str(repo)


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES, errno.ESTALE])
@pytest.mark.parametrize("layout", ["repository", "worktree", "submodule", "bare", "below bare", "no git"])
def test_what_cannot_be_seen_is_no_other_workspace(repo: Path, layout: str, code: int) -> None:
    """Whichever look at the disk is refused: the workspace is the same one, or it is said that nobody knows it."""
    place = _laid_out(repo, layout)
    root = workspace_root(str(place))
    calls = counted(lambda: workspace_root(str(place)))
    told: list[StorageFailure] = []
    for call in calls:
        with broken_disk(refused(call.number, code)):
            try:
                assert workspace_root(str(place)) == root, call
            except StorageFailure as failure:
                told.append(failure)
    assert len(told) > len(calls) // 2
    assert all(
        "nobody knows which workspace this is" in one.message and os.strerror(code) in one.message for one in told
    )


def _laid_out(repo: Path, layout: str) -> Path:
    """A folder in which somebody works."""
    sub = repo / "sub" / "deep"
    top = repo.parent
    if layout == "worktree":
        git("worktree", "add", "-q", str(top / "second"), at=repo)
        sub = top / "second" / "sub"
    elif layout == "submodule":
        git("submodule", "add", "-q", str(repository(top / "library")), "lib", at=repo)
        sub = repo / "lib" / "sub"
    elif layout in {"bare", "below bare"}:
        git("clone", "-q", "--bare", str(repo), str(top / "bare.git"), at=top)
        sub = top / "bare.git" / ("refs" if layout == "below bare" else "")
    elif layout == "no git":
        sub = top / "plain" / "sub"
    sub.mkdir(parents=True, exist_ok=True)
    return sub


@pytest.mark.parametrize("path", ["/w/app", "/w/none/../app/", "//w/app/."[1:]])
def test_a_path_that_is_not_there_is_used_as_given(path: str) -> None:
    """It is normalised and not looked up."""
    assert workspace_root(path) == "/w/app"


@pytest.mark.parametrize("path", ["/w/\0", "/w/\ud800"])
def test_a_path_that_cannot_be_is_a_name_like_any_other(path: str) -> None:
    """What a broken host sends gives a root, a key and an answer, not an exception."""
    root = workspace_root(path)
    assert root == path
    assert len(workspace_key(root)) == 16
    assert is_project(root, {"HOME": "/home/u"})


def test_a_relative_path_counts_from_the_working_directory(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory is where a command was called."""
    monkeypatch.chdir(repo)
    assert workspace_root(".") == str(repo)
    assert workspace_root("gone") == str(repo / "gone")


def test_the_letter_case_of_the_disk_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WSI-06: where a volume ignores case, each spelling of a path is the one on disk; what isn't listed stays."""
    top = Path(os.path.realpath(tmp_path))
    (top / "App" / "Src").mkdir(parents=True)
    below = len(str(top))

    def only_here(parent: str, name: str) -> bool:
        return len(parent) >= below and bool(name)

    monkeypatch.setattr(paths, "_ignores_case", only_here)
    assert paths._as_on_disk(f"{top}/aPP/src") == f"{top}/App/src"  # the wrong parent can't be listed here
    assert paths._as_on_disk(f"{top}/App/sRC") == f"{top}/App/Src"
    assert paths._as_on_disk(f"{top}/App/Src") == f"{top}/App/Src"
    assert paths._as_on_disk(f"{top}/other") == f"{top}/other"


def test_letter_case_counts_where_the_volume_says_so(tmp_path: Path) -> None:
    """WSI-06: on a volume that knows case, two folders that differ in it are two workspaces."""
    top = Path(os.path.realpath(tmp_path))
    (top / "App").mkdir()
    if (top / "aPP").exists():
        pytest.skip("this volume ignores case")
    (top / "aPP").mkdir()
    assert workspace_root(str(top / "App")) != workspace_root(str(top / "aPP"))
    assert not paths._ignores_case(str(top), "App")
    assert not paths._ignores_case(str(top), "123")


def test_finding_a_workspace_leaves_no_trace(repo: Path) -> None:
    """FSP-11: the work tree and git's directory are as before."""
    before = sorted(str(path) for path in repo.rglob("*"))
    workspace_root(str(repo))
    assert sorted(str(path) for path in repo.rglob("*")) == before


def test_the_key_is_a_digest_of_the_path() -> None:
    """16 hex digits of SHA-256, of the very bytes of a path that is no UTF-8."""
    assert workspace_key("/w/app") == hashlib.sha256(b"/w/app").hexdigest()[:16]
    assert workspace_key(os.fsdecode(b"/w/\xff")) == hashlib.sha256(b"/w/\xff").hexdigest()[:16]


@pytest.mark.parametrize("variable", ["TMPDIR", "TEMP", "TMP"])
def test_places_that_are_no_project(tmp_path: Path, variable: str) -> None:
    """WSI-08: home, ``/`` and the temporary folders themselves are none, by any link; a folder below is one."""
    home, temporary = tmp_path / "home", tmp_path / "scratch"
    for folder in (home, temporary):
        (folder / "project").mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    environ = {"HOME": str(tmp_path / "link"), variable: str(temporary)}
    for place in ("/", *paths._TEMPORARY, str(home), str(tmp_path / "link"), str(temporary)):
        assert not is_project(place, environ), place
    assert is_project(str(home / "project"), environ)
    assert is_project(str(temporary / "project"), environ)
    assert is_project("/w/app", environ)


def test_relative_and_empty_variables_exclude_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty or relative TMPDIR doesn't make the working directory a temporary folder."""
    monkeypatch.chdir(tmp_path)
    assert is_project(str(tmp_path), {"HOME": "/home/u", "TMPDIR": "", "TMP": "."})


@pytest.mark.parametrize(
    ("environ", "configured", "expected"),
    [
        ({"HOME": "/home/u"}, "", "/home/u/.local/share/memfold"),
        ({"HOME": "/home/u"}, "  ", "/home/u/.local/share/memfold"),
        ({"HOME": "/home/u", "XDG_DATA_HOME": "/data/"}, "", "/data/memfold"),
        ({"HOME": "/home/u", "XDG_DATA_HOME": "data"}, "", "/home/u/.local/share/memfold"),
        ({"USERPROFILE": "/users/u", "LOCALAPPDATA": "/users/u/local"}, "", "/users/u/local/memfold"),
        ({"USERPROFILE": "/users/u"}, "", "/users/u/.local/share/memfold"),
        ({"HOME": "/home/u"}, "~/mem", "/home/u/mem"),
        ({"HOME": "/home/u"}, "~", "/home/u"),
        ({"HOME": "/home/u", "XDG_DATA_HOME": "/data"}, "/srv/../mem/", "/mem"),
    ],
)
def test_the_data_folder(environ: dict[str, str], configured: str, expected: str) -> None:
    """FSP-08: empty is the default, ``~`` is expanded, a relative XDG variable is ignored as its standard says."""
    assert data_dir(environ, configured) == expected


@pytest.mark.parametrize("configured", ["mem", "./mem", "../mem", "~nobody-of-this-name/mem", "/a\0b"])
def test_a_data_folder_that_moves_is_refused(configured: str) -> None:
    """FSP-08: a relative path would be another folder in each working directory; the message says what to write."""
    with pytest.raises(ConfigError, match="absolute") as caught:
        data_dir({"HOME": "/home/u"}, configured)
    assert repr(configured) in caught.value.message
    assert "'~/'" in caught.value.fix


def test_a_data_folder_longer_than_any_path_is_refused() -> None:
    """At once, and without the whole of it in the message."""
    with pytest.raises(ConfigError, match="longer than 4096") as caught:
        data_dir({"HOME": "/h"}, "/a" * 100_000)
    assert len(str(caught.value)) < 200


def test_without_a_home_the_message_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without HOME and without an account has no default folder, and is told so."""
    import pwd

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(ConfigError, match="HOME or dataDir"):
        data_dir({})
    with pytest.raises(ConfigError, match="HOME or XDG_CONFIG_HOME"):
        config_dir({})
    with pytest.raises(ConfigError, match="absolute"):
        data_dir({}, "~/mem")
    assert data_dir({}, "/mem") == "/mem"


def test_the_account_knows_the_home_that_the_environment_does_not() -> None:
    """Without HOME the user database answers."""
    import pwd

    assert data_dir({}) == f"{pwd.getpwuid(os.getuid()).pw_dir}/.local/share/memfold"


def test_a_bare_repository_that_names_a_folder_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the command runs, in that repository too, the folder is not its workspace."""
    (tmp_path / "mine").mkdir()
    bare = tmp_path / "bare"
    _looks_like_git(bare, config=f"[core]\n\tworktree = {tmp_path / 'mine'}\n")
    monkeypatch.chdir(bare)
    assert workspace_root(str(bare)) == os.path.realpath(bare)


def test_the_configuration_folder() -> None:
    """It follows its own variable."""
    assert config_dir({"HOME": "/home/u"}) == "/home/u/.config/memfold"
    assert config_dir({"HOME": "/home/u", "XDG_CONFIG_HOME": "/etc/u"}) == "/etc/u/memfold"


def test_a_ledger_lies_below_the_data_folder() -> None:
    """One folder a workspace, by its key."""
    assert ledger_dir("/data/memfold", "0123456789abcdef") == "/data/memfold/workspaces/0123456789abcdef"
