"""``memfold install`` and ``memfold uninstall``: one file comes and goes, and nothing else is touched."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfold.cli.main import main
from memfold.hosts.installs import hold_manifest
from memfold.hosts.opencode_install import plugin_commands, plugin_text
from tests.support.cli import Ran, home, run

OLD = "// memfold plugin for OpenCode\nconst COMMANDS = [] // of some release\n"
FOREIGN = "export default {}\n"

Tree = dict[str, tuple[int, int, bytes]]


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A home folder with settings of its own."""
    folder = tmp_path / "home"
    (folder / ".config" / "opencode").mkdir(parents=True)
    (folder / ".config" / "opencode" / "opencode.json").write_text('{\n  "model" : "x" }')
    (folder / ".profile").write_text("umask 022\n")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository."""
    folder = tmp_path / "app"
    for name in ("objects", "refs"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "sub").mkdir()
    return folder


@pytest.fixture(autouse=True)
def place(user: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In the project, with that home, and commands that start without being asked."""
    monkeypatch.chdir(project / "sub")
    monkeypatch.setattr("memfold.cli.install.start_trouble", lambda *_: "")
    monkeypatch.setattr("memfold.cli.install.passing_place", lambda *_: "")
    with home(user):
        yield


def _tree(*folders: Path) -> Tree:
    """Every file and folder but the data folder: mode, and for files time and content."""
    found: Tree = {}
    for path in sorted(path for folder in folders for path in (folder, *folder.rglob("*"))):
        if ".local" in path.parts:
            continue
        status = path.lstat()
        whole = stat.S_ISREG(status.st_mode)
        found[str(path)] = (status.st_mode, status.st_mtime_ns if whole else 0, path.read_bytes() if whole else b"")
    return found


def _document(ran: Ran) -> dict[str, object]:
    document: dict[str, object] = json.loads(ran.out)
    return document


def _user_file(user: Path) -> Path:
    return user / ".config" / "opencode" / "plugin" / "memfold.js"


@pytest.mark.parametrize("scopes", [["--global"], ["--project"], ["--global", "--project"]])
def test_install_and_uninstall_leave_nothing_behind(user: Path, project: Path, scopes: list[str]) -> None:
    """Home and repository are as before, byte for byte, modes and times of all files included (UXT-04)."""
    before = _tree(user, project)
    for scope in scopes:
        assert run("install", "opencode", scope).code == 0
    assert _tree(user, project) != before
    assert run("uninstall", "opencode").code == 0
    assert _tree(user, project) == before
    assert run("uninstall", "opencode").out == "nothing is installed here\n"


def test_a_file_that_stood_there_comes_back(user: Path, project: Path) -> None:
    """A team's committed copy is as before, though this release has updated it meanwhile."""
    path = project / ".opencode" / "plugin" / "memfold.js"
    path.parent.mkdir(parents=True)
    path.write_text(OLD)
    os.utime(path, ns=(5, 7))
    before = _tree(user, project)
    ran = run("install", "opencode", "--project")
    assert "-const COMMANDS = [] // of some release" in ran.out
    assert "+const COMMANDS = " in ran.out
    assert run("uninstall", "opencode", "--dry-run").out.startswith("restore: plugin of this project")
    assert path.read_text() != OLD
    assert run("uninstall", "opencode").code == 0
    assert _tree(user, project) == before


def test_the_second_time_changes_nothing(user: Path) -> None:
    """It says so, and writes no file anew."""
    run("install", "opencode")
    before = {path: path.lstat().st_mtime_ns for path in user.rglob("*")}
    ran = run("install", "opencode")
    assert ran.out.startswith("unchanged: plugin of this user")
    assert "Restart" not in ran.out
    assert {path: path.lstat().st_mtime_ns for path in user.rglob("*")} == before


@pytest.mark.parametrize("arguments", [["install"], ["install", "--project"], ["uninstall"]])
def test_a_dry_run_writes_nothing(user: Path, project: Path, arguments: list[str]) -> None:
    """It tells the same, and touches nothing, the data folder included."""
    name, *scope = arguments
    if name == "uninstall":
        run("install", "opencode")
    before = sorted(map(str, (*user.rglob("*"), *project.rglob("*"))))
    ran = run(name, "opencode", *scope, "--dry-run")
    assert ran.code == 0
    assert "nothing was done (--dry-run)" in ran.out
    assert sorted(map(str, (*user.rglob("*"), *project.rglob("*")))) == before


def test_what_is_said_about_a_new_file(user: Path) -> None:
    """Path, both commands, how to go on; and the file starts exactly those."""
    ran = run("install", "opencode")
    assert ran.err == ""
    for words in (str(_user_file(user)), f"{sys.executable} -E -P -m memfold bridge", "Restart OpenCode", "doctor"):
        assert words in ran.out
    console = ("memfold", "bridge")
    expected = ((sys.executable, "-E", "-P", "-m", "memfold", "bridge"), console)
    assert plugin_commands(_user_file(user).read_text()) == expected
    ran = run("install", "opencode", "--project")
    assert "a new file in the repository" in ran.err
    assert "only one of them serves" in ran.err
    assert str(user) not in Path("../.opencode/plugin/memfold.js").read_text()
    assert plugin_commands(Path("../.opencode/plugin/memfold.js").read_text()) == (console,)


def test_documents(user: Path) -> None:
    """The documents of both commands name each file and what happens to it."""
    document = _document(run("install", "opencode", "--json", "--dry-run"))
    assert (document["schema"], document["dry_run"]) == ("memfold.install/1", True)
    run("install", "opencode")
    _user_file(user).write_text(OLD)
    (change,) = json.loads(run("install", "opencode", "--json").out)["changes"]
    assert (change["action"], change["scope"], change["path"]) == ("update", "global", str(_user_file(user)))
    assert change["diff"].startswith("--- ")
    assert Path(change["kept"]).read_text() == OLD
    assert "edited" in change["why"]
    document = _document(run("uninstall", "opencode", "--json"))
    assert document["schema"] == "memfold.uninstall/1"
    assert document["data"] == str(user / ".local" / "share" / "memfold")


def test_a_foreign_file_is_refused(user: Path, project: Path) -> None:
    """73, with what to do; nothing is touched, by uninstall either, which ends with 3."""
    path = _user_file(user)
    path.parent.mkdir()
    path.write_text(FOREIGN)
    before = _tree(user, project)
    ran = run("install", "opencode")
    assert (ran.code, ran.out) == (73, "")
    assert "is no plugin of memfold\n  try: move it away" in ran.err
    ran = run("uninstall", "opencode", "--global")
    assert (ran.code, "left: plugin of this user" in ran.out) == (3, True)
    assert run("uninstall", "opencode").code == 3
    assert _tree(user, project) == before
    assert not (user / ".local").exists()


def test_a_copy_of_the_team_is_left_unless_it_is_meant(user: Path, project: Path) -> None:
    """Uninstall without a scope removes what was installed from here; a project's other copy is named."""
    path = project / ".opencode" / "plugin" / "memfold.js"
    path.parent.mkdir(parents=True)
    path.write_text(plugin_text([["memfold", "bridge"]]))
    assert run("install", "opencode", "--project").out.startswith("unchanged")
    ran = run("uninstall", "opencode")
    assert ran.code == 3
    assert "memfold uninstall opencode --project removes it" in ran.out
    assert path.exists()
    assert run("uninstall", "opencode", "--global").out == "nothing is installed here\n"
    assert run("uninstall", "opencode", "--project").code == 0
    assert not path.exists()
    assert path.parent.exists()


def test_a_lost_list_is_no_reason_to_fail(user: Path) -> None:
    """The user's own copy is known by its marker; a damaged list is set aside and named."""
    run("install", "opencode")
    listed = user / ".local" / "share" / "memfold" / "installs.json"
    listed.write_text("{")
    ran = run("uninstall", "opencode")
    assert ran.code == 0
    assert "the list of installs is damaged" in ran.err
    assert f"set aside as {listed}.damaged" in ran.err
    assert not _user_file(user).exists()
    listed.write_text("{")
    assert "set aside" in run("install", "opencode").err


def test_another_configuration_folder_is_respected(user: Path, tmp_path: Path) -> None:
    """``OPENCODE_CONFIG_DIR`` is where the file goes, and that is said; uninstall finds it without the variable."""
    own = tmp_path / "own"
    own.mkdir()
    with mock.patch.dict(os.environ, OPENCODE_CONFIG_DIR=str(own)):
        ran = run("install", "opencode")
    assert "OPENCODE_CONFIG_DIR is respected" in ran.err
    assert (own / "plugin" / "memfold.js").exists()
    assert run("uninstall", "opencode").code == 0
    assert list(own.iterdir()) == []
    with mock.patch.dict(os.environ, OPENCODE_CONFIG_DIR="relative"):
        ran = run("install", "opencode")
    assert "no absolute path and ignored" in ran.err
    assert _user_file(user).exists()


def test_settings_that_name_us_or_can_not_be_read_are_only_mentioned(user: Path, project: Path) -> None:
    """The client's settings are never changed."""
    (project / "opencode.json").write_text('{"plugin": ["./.opencode/plugin/memfold.js", "memfold"]}')
    (user / ".config" / "opencode" / "opencode.json").write_text("{ nonsense")
    before = _tree(project)
    ran = run("install", "opencode")
    assert f"{project}/opencode.json names 'memfold'; it is left as it is" in ran.err
    assert "opencode.json can't be read and is left as it is" in ran.err
    assert "only one copy serves" in ran.err
    assert _tree(project) == before


@pytest.mark.parametrize("name", ["install", "uninstall"])
def test_a_place_that_is_no_project(user: Path, name: str) -> None:
    """The home folder is none: a project's plugin there would serve everything."""
    ran = run(name, "opencode", "--project", "--workspace", str(user))
    assert ran.code == 64
    assert "is no project" in ran.err
    assert run(name, "opencode", "--project", "--workspace", str(user / "missing")).code == 64
    assert run("uninstall", "opencode", "--workspace", str(user)).code == 0


def test_a_worktree_has_a_copy_of_its_own(project: Path, tmp_path: Path) -> None:
    """Its memories are the repository's; but the client looks no further than the worktree."""
    (project / ".git" / "worktrees" / "b").mkdir(parents=True)
    (project / ".git" / "worktrees" / "b" / "commondir").write_text("../..\n")
    tree = tmp_path / "b"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {project}/.git/worktrees/b\n")
    assert run("install", "opencode", "--project", "--workspace", str(tree)).code == 0
    assert (tree / ".opencode" / "plugin" / "memfold.js").exists()


def test_commands_that_do_not_start(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that doesn't find memfold is left out; where nothing starts, that is said."""
    monkeypatch.setattr("memfold.cli.install.start_trouble", lambda command, _: "" if len(command) == 2 else "no")
    monkeypatch.setattr("memfold.cli.install.passing_place", lambda *_: "/home/u/.cache")
    ran = run("install", "opencode")
    assert "doesn't start memfold (no): it is left out" in ran.err
    assert "lies in /home/u/.cache, which may be cleaned; to be safe: in a clone" in ran.err
    assert plugin_commands(_user_file(user).read_text()) == (("memfold", "bridge"),)
    monkeypatch.setattr("memfold.cli.install.start_trouble", lambda *_: "no")
    ran = run("install", "opencode")
    assert "nothing starts memfold here" in ran.err
    assert len(plugin_commands(_user_file(user).read_text())) == 2


def test_a_python_in_a_temporary_folder_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    """To install it once more would put it there again, so nobody is told to."""
    monkeypatch.setattr("memfold.cli.install.passing_place", lambda *_: tempfile.gettempdir())
    ran = run("install", "opencode")
    assert ran.err.endswith("which may be cleaned\n")


KEPT = f"{hashlib.sha256(OLD.encode()).hexdigest()[:16]}-memfold.js"
OURS = ["ours/plugin/memfold.js", "ours/plugins/memfold.js", ".config/opencode/plugin/memfold.js"]
COPIES = [f".local/share/memfold/kept/{KEPT}", f"docs/{KEPT}", "docs/thesis.txt", "docs/memfold.js", ".profile"]
NOT_OURS = ["foreign/plugin/memfold.js", "docs/notes.js", "link/plugin/memfold.js", "empty/../ours/plugin/memfold.js"]
FOLDERS = ["empty", "bare/sub", "ours/plugin", "ours"]


ODD = [None, "", "\0", "\ud800", "/", "/\0/plugin/memfold.js", "/x" * 3000, "\x1b[2J"]


def _below_home(places: list[str]) -> st.SearchStrategy[str]:
    return st.sampled_from(places).map("HOME/{}".format)


numbers = st.sampled_from([0o644, 0o7777, 0, 0o10000, -1, 1 << 62, 1 << 63, 1 << 200])
entries = st.fixed_dictionaries(
    {
        "host": st.just("opencode"),
        "scope": st.just("global"),
        "path": _below_home(OURS) | _below_home([*COPIES, *NOT_OURS]) | st.sampled_from(ODD),
        "digest": st.sampled_from([hashlib.sha256(OLD.encode()).hexdigest(), "x"]),
    },
    optional={
        "folders": st.lists(_below_home(FOLDERS), max_size=3),
        "earlier": st.fixed_dictionaries({"kept": _below_home(COPIES), "mode": numbers, "mtime_ns": numbers}),
    },
)
anything = st.recursive(
    st.sampled_from(ODD) | st.booleans() | numbers | st.floats() | st.text(),
    lambda one: st.lists(one) | st.dictionaries(st.text(), one),
)
documents = st.lists(entries, max_size=3) | st.lists(st.one_of(entries, anything), max_size=3) | anything


def _full_home(base: Path) -> Path:
    """Foreign files and folders, plugins of ours, and a copy that was kept."""
    (base / "empty").mkdir()
    (base / "bare" / "sub").mkdir(parents=True)
    (base / "link").symlink_to("ours")
    for place in (*OURS, *COPIES, *NOT_OURS):
        path = base / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FOREIGN if "foreign" in place else OLD)
    return base


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents)
def test_no_list_makes_uninstall_touch_what_is_not_ours(tmp_path: Path, document: object) -> None:
    """Whatever ``installs.json`` says: only plugins of ours go or come, with folders that are empty then."""
    base = _full_home(Path(tempfile.mkdtemp(dir=tmp_path)))
    try:
        text = json.dumps({"schema": "memfold.installs/1", "installs": document}).replace("HOME", str(base))
        (base / ".local/share/memfold/installs.json").write_text(text)
        before = _tree(base)
        with home(base):
            assert run("uninstall", "opencode", "--dry-run", "--json").code in (0, 3)
            assert _tree(base) == before
            ran = run("uninstall", "opencode", "--json")
        assert ran.code in (0, 3)
        assert json.loads(ran.out)["schema"] == "memfold.uninstall/1"
        assert "\x1b" not in ran.err
        after = _tree(base)
        touched = {str(Path(path).relative_to(base)) for path in before if after.get(path) != before[path]}
        above = {str(folder) for place in OURS for folder in Path(place).parents}
        assert touched <= {*OURS, *above}
        assert after.keys() <= before.keys()
    finally:
        shutil.rmtree(base)


def test_a_list_with_entries_of_others_is_set_aside(user: Path, project: Path) -> None:
    """It is said which, the sound ones are carried out, and the next time all is well."""
    run("install", "opencode")
    listed = user / ".local" / "share" / "memfold" / "installs.json"
    document = json.loads(listed.read_text())
    document["installs"].append(document["installs"][0] | {"path": str(user / ".profile")})
    listed.write_text(json.dumps(document))
    assert "damaged: entry 2: " in run("uninstall", "opencode", "--dry-run").err
    ran = run("uninstall", "opencode")
    assert (ran.code, "removed: plugin of this user" in ran.out) == (0, True)
    assert f"set aside as {listed}.damaged" in ran.err
    assert (user / ".profile").exists()
    assert run("uninstall", "opencode").err == ""


def test_a_list_that_can_not_be_set_aside_is_told(user: Path) -> None:
    """74, and it stays where it is."""
    listed = user / ".local" / "share" / "memfold" / "installs.json"
    (listed.with_name("installs.json.damaged") / "x").mkdir(parents=True)
    listed.write_text("{")
    assert run("uninstall", "opencode").code == 74
    assert listed.read_text() == "{"


def test_a_list_that_is_held_is_told(monkeypatch: pytest.MonkeyPatch, user: Path) -> None:
    """75: try again."""
    monkeypatch.setattr("memfold.hosts.installs._LOCK_SECONDS", 0.01)
    with hold_manifest(str(user / ".local" / "share" / "memfold")):
        assert run("install", "opencode").code == 75
    assert not _user_file(user).exists()


def test_memory_that_is_off_is_said(user: Path) -> None:
    """The plugin is put in place all the same."""
    with mock.patch.dict(os.environ, MEMFOLD="off"):
        assert "memory is switched off (MEMFOLD)" in run("install", "opencode").err
    assert _user_file(user).exists()


def test_memories_stay(user: Path) -> None:
    """Uninstall says where they are, and the command that deletes them."""
    run("install", "opencode")
    (user / ".local" / "share" / "memfold" / "workspaces" / "0123456789abcdef").mkdir(parents=True)
    ran = run("uninstall", "opencode")
    assert f"Memories of 1 workspace stay in {user}/.local/share/memfold" in ran.out
    assert f"rm -r {user}/.local/share/memfold" in ran.out


def test_no_empty_folder_stays(user: Path, tmp_path: Path) -> None:
    """Where there was no memory the data folder goes; what is no memory is named; a chosen folder is left."""
    data = user / ".local" / "share" / "memfold"
    run("install", "opencode")
    _user_file(user).write_text(_user_file(user).read_text() + "// edited\n")
    run("install", "opencode")
    (kept,) = (data / "kept").iterdir()
    ran = run("uninstall", "opencode")
    assert f"No memories are left; in {data} there is still kept" in ran.out
    kept.unlink()
    assert run("uninstall", "opencode").out == "nothing is installed here\n"
    assert not data.exists()
    chosen = tmp_path / "chosen"
    with mock.patch.dict(os.environ, MEMFOLD_DATA_DIR=str(chosen)):
        run("install", "opencode")
        assert (chosen / "installs.json").exists()
        run("uninstall", "opencode")
    assert list(chosen.iterdir()) == []


def test_a_data_folder_that_can_not_be_written(user: Path) -> None:
    """Nothing is put in place that could not be taken away again."""
    (user / ".local").write_text("")
    ran = run("install", "opencode")
    assert ran.code in (73, 74)
    assert not _user_file(user).exists()


def test_a_host_has_to_be_named() -> None:
    """64, as for any argument that is missing or wrong."""
    with mock.patch("sys.stderr"):
        assert main(["install"]) == 64
        assert main(["uninstall", "vim"]) == 64
        assert main(["install", "opencode", "--global", "--project"]) == 64
