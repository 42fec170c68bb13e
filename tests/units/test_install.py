"""The plugin's text, the places where the client looks, the list of installs, and changes of one file."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.errors import LockTimeout, StorageError
from memfold.errors import CannotCreate, DataError
from memfold.hosts import installs, opencode_install
from memfold.hosts.installs import (
    Install,
    Manifest,
    hold_manifest,
    read_manifest,
    remove_empty_folders,
    replace_file,
    write_manifest,
)
from memfold.hosts.opencode_install import (
    Change,
    carry_out,
    is_packaged,
    plan_install,
    plan_removal,
    plugin_commands,
    plugin_text,
    settle,
    start_commands,
)
from memfold.hosts.opencode_places import (
    Mention,
    config_folders,
    find_mentions,
    find_plugins,
    global_folder,
    is_plugin,
)
from memfold.hosts.starting import child_environment, found, is_temporary, passing_place, start_trouble
from memfold.processes import last_line, run_bounded

TEXT = plugin_text([["memfold", "bridge"]])
OTHER = plugin_text([["/opt/memfold", "bridge"]])
OLD = "// memfold plugin for OpenCode\nconst COMMANDS = [] // of some release\n"

words = st.lists(st.text(max_size=12), min_size=1, max_size=4)


@given(st.lists(words, min_size=1, max_size=3))
def test_the_text_differs_in_its_line_of_commands_alone(commands: list[list[str]]) -> None:
    """Any commands come back as they were given, and the rest of the file is the packaged one."""
    text = plugin_text(commands)
    assert plugin_commands(text) == tuple(map(tuple, commands))
    other = [(one, two) for one, two in zip(text.split("\n"), TEXT.split("\n"), strict=True) if one != two]
    assert all(one.startswith("const COMMANDS = ") for one, _ in other)
    assert is_packaged(text.encode())


@pytest.mark.parametrize(
    "text",
    ["", "const COMMANDS = ", "const COMMANDS = [", "const COMMANDS = 3", 'const COMMANDS = [3, "x", []]', "[" * 9999],
)
def test_no_commands_in_other_texts(text: str) -> None:
    """Whatever stands in a file, reading its commands raises nothing."""
    assert plugin_commands(text) == ()
    assert plugin_commands(f"const COMMANDS = {text}") == ()
    assert not is_packaged(text.encode())


def test_commands_are_read_before_what_follows_them() -> None:
    """A semicolon or a comment behind the list is no part of it."""
    assert plugin_commands('x\nconst COMMANDS = [["a", "b"]]; // why\ny') == (("a", "b"),)


def test_a_package_without_the_plugin_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged installation is named, not written out."""

    def missing(*_: object) -> bytes:
        raise FileNotFoundError(2, "gone")

    monkeypatch.setattr("pkgutil.get_data", missing)
    with pytest.raises(DataError, match="missing from this installation"):
        plugin_text([["a"]])
    monkeypatch.setattr("pkgutil.get_data", lambda *_: b"no such line")
    with pytest.raises(DataError, match="no line of commands"):
        plugin_text([["a"]])


def test_what_starts_a_bridge() -> None:
    """A user's copy names this interpreter, deaf to the environment; a shared one names nobody's folders."""
    first, second = start_commands("global")
    assert first == (sys.executable, "-E", "-P", "-m", "memfold", "bridge")
    assert second == ("memfold", "bridge")
    assert start_commands("project") == (("memfold", "bridge"),)
    assert start_commands("global", executable="") == (("memfold", "bridge"),)


def test_the_marker_counts_in_the_first_lines_alone() -> None:
    """A plugin that only talks about ours is not ours."""
    assert is_plugin(TEXT.encode())
    assert is_plugin(OLD.encode())
    assert not is_plugin(b"x" * 1024 + OLD.encode())


def _plan(path: Path, manifest: Manifest | None = None, text: str = TEXT) -> Change:
    return plan_install(str(path), "global", text, manifest or Manifest(), str(path.parents[1] / "data"))


def _install(path: Path, text: str = TEXT) -> tuple[str, Change]:
    data = str(path.parents[1] / "data")
    change = plan_install(str(path), "global", text, read_manifest(data), data)
    carry_out([change], read_manifest(data), data)
    return data, change


def _remove(path: Path) -> Change:
    data = str(path.parents[1] / "data")
    manifest = read_manifest(data)
    change = plan_removal(str(path), "global", manifest.of(str(path)), data)
    carry_out([change], manifest, data)
    return change


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the plugin goes; its folder isn't there yet."""
    return tmp_path / "plugin" / "memfold.js"


def test_create_and_remove(path: Path) -> None:
    """The file and its folder come and go; 0644, since it holds no secret; the list of installs is private."""
    data, change = _install(path)
    assert (change.action, change.folders) == ("create", (str(path.parent),))
    assert path.read_text() == TEXT
    assert path.stat().st_mode & 0o777 == 0o644
    assert (Path(data) / "installs.json").stat().st_mode & 0o777 == 0o600
    assert _install(path)[1].action == "unchanged"
    assert _remove(path).action == "remove"
    assert not path.parent.exists()
    assert read_manifest(data) == Manifest()
    assert _remove(path).action == "gone"


def test_any_umask_leaves_the_owner_in(path: Path) -> None:
    """A umask of 0777 neither locks us out of our folder nor changes the file's mode."""
    before = os.umask(0o777)
    try:
        _install(path)
    finally:
        os.umask(before)
    assert path.parent.stat().st_mode & 0o700 == 0o700
    assert path.stat().st_mode & 0o777 == 0o644


def test_an_update_keeps_nothing_that_can_be_made_again(path: Path) -> None:
    """What we wrote ourselves is replaced without a copy."""
    data, _ = _install(path)
    _, change = _install(path, OTHER)
    assert (change.action, change.kept) == ("update", "")
    assert path.read_text() == OTHER
    assert not (Path(data) / "kept").exists()


def test_an_edited_copy_is_kept(path: Path) -> None:
    """By install and by uninstall; uninstall brings back what stood there before us: nothing."""
    data, _ = _install(path)
    path.write_text(TEXT + "// mine\n")
    _, change = _install(path)
    assert change.action == "update"
    assert "edited" in change.why
    assert Path(change.kept).read_text() == TEXT + "// mine\n"
    assert Path(change.kept).stat().st_mode & 0o777 == 0o600
    path.write_text(TEXT + "// again\n")
    removed = _remove(path)
    assert (removed.action, Path(removed.kept).read_text()) == ("remove", TEXT + "// again\n")
    assert not path.exists()
    assert len(list((Path(data) / "kept").iterdir())) == 2


def test_a_copy_from_elsewhere_comes_back(path: Path) -> None:
    """Bytes, mode and time of a file that stood there before the first install."""
    path.parent.mkdir()
    path.write_text(OLD)
    path.chmod(0o640)
    os.utime(path, ns=(1_000_000_007, 2_000_000_011))
    data, change = _install(path)
    assert "uninstall restores it" in change.why
    path.write_text(TEXT + "// mine\n")
    _install(path, OTHER)
    assert _remove(path).action == "restore"
    status = path.stat()
    assert (path.read_text(), status.st_mode & 0o777, status.st_mtime_ns) == (OLD, 0o640, 2_000_000_011)
    assert [one.read_text() for one in (Path(data) / "kept").iterdir()] == [TEXT + "// mine\n"]


def test_a_copy_that_can_not_come_back_is_named(path: Path) -> None:
    """Where the kept copy is gone, ours is removed all the same, and that is said."""
    path.parent.mkdir()
    path.write_text(OLD)
    _, change = _install(path)
    Path(change.kept).unlink()
    removed = _remove(path)
    assert removed.action == "remove"
    assert "can't be restored" in removed.why
    assert not path.exists()


def test_a_kept_copy_that_was_changed_does_not_come_back(path: Path) -> None:
    """Its name tells what it holds: other content is not what stood there."""
    path.parent.mkdir()
    path.write_text(OLD)
    _, change = _install(path)
    Path(change.kept).write_text("my thesis")
    removed = _remove(path)
    assert (removed.action, "is not what was kept" in removed.why) == ("remove", True)
    assert Path(change.kept).read_text() == "my thesis"


def test_a_file_that_was_removed_by_hand(path: Path) -> None:
    """Installed again it keeps its history; uninstalled, the folders that we made go too."""
    path.parent.mkdir()
    path.write_text(OLD)
    _install(path)
    path.unlink()
    assert _install(path)[1].action == "create"
    assert _remove(path).action == "restore"
    path.unlink()
    path.parent.rmdir()
    data, _ = _install(path)
    path.unlink()
    assert _remove(path).action == "gone"
    assert not path.parent.exists()
    assert read_manifest(data) == Manifest()


def test_folders_made_at_two_times_go(path: Path) -> None:
    """The inner one was made by the first install, all by the second."""
    path = path.parents[1] / "outer" / "plugin" / "memfold.js"
    data = str(path.parents[2] / "data")
    for _ in range(2):
        path.parents[1].mkdir(exist_ok=True)
        settle(lambda manifest: [plan_install(str(path), "global", TEXT, manifest, data)], data, dry_run=False)
        path.unlink()
        path.parent.rmdir()
        path.parents[1].rmdir()
    settle(lambda manifest: [plan_install(str(path), "global", TEXT, manifest, data)], data, dry_run=False)
    settle(lambda manifest: [plan_removal(str(path), "global", manifest.of(str(path)), data)], data, dry_run=False)
    assert not path.parents[1].exists()


def test_a_place_where_we_may_not_look_is_left(path: Path) -> None:
    """One such entry keeps nobody from removing the others."""
    path.parent.mkdir()
    removal = plan_removal(str(path.parent / ("x" * 300) / "memfold.js"), "global", None, "")
    assert (removal.action, "too long" in removal.why) == ("left", True)


def test_a_folder_that_is_used_stays(path: Path) -> None:
    """What the client puts beside us is not ours."""
    _install(path)
    (path.parent / "package.json").write_text("{}")
    _remove(path)
    assert [one.name for one in path.parent.iterdir()] == ["package.json"]


@pytest.mark.parametrize("what", ["file", "folder", "link", "dangling", "outdated"])
def test_what_is_not_ours_is_not_touched(path: Path, what: str) -> None:
    """A foreign file, a folder, a link of a dotfile manager: refused, by uninstall too."""
    path.parent.mkdir()
    target = path.parents[1] / "dotfiles.js"
    if what == "file":
        path.write_text("export default {}")
    elif what == "folder":
        path.mkdir()
    else:
        path.symlink_to(target)
        if what != "dangling":
            target.write_text(OLD if what == "outdated" else "export default {}")
    before = sorted(path.parents[1].rglob("*"))
    with pytest.raises(CannotCreate, match="js is"):
        _plan(path)
    removal = plan_removal(str(path), "global", None, "")
    assert removal.action == "left"
    assert removal.why
    carry_out([removal], Manifest(), str(path.parents[1] / "data"))
    assert sorted(path.parents[1].rglob("*")) == before


def test_a_link_to_the_same_text_is_fine(path: Path) -> None:
    """A dotfile manager may hold the file; then there is nothing to do."""
    path.parent.mkdir()
    target = path.parents[1] / "dotfiles.js"
    target.write_text(TEXT)
    path.symlink_to(target)
    assert _plan(path).action == "unchanged"


def test_a_linked_folder_is_written_through(path: Path) -> None:
    """Dotfile managers link whole folders; the link stays."""
    real = path.parents[1] / "dotfiles"
    real.mkdir()
    path.parent.symlink_to(real)
    _install(path)
    assert (real / "memfold.js").read_text() == TEXT
    _remove(path)
    assert list(real.iterdir()) == []
    assert path.parent.is_symlink()


def test_a_failed_write_leaves_all_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No folder, no half file, no entry in the list."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(opencode_install, "replace_file", full)
    with pytest.raises(StorageError, match="No space left"):
        _install(path)
    assert not path.parent.exists()
    assert read_manifest(str(path.parents[1] / "data")) == Manifest()


def test_a_path_without_end_is_refused(tmp_path: Path) -> None:
    """No system takes it, and nothing is made on the way."""
    with pytest.raises(StorageError, match="too long"):
        _plan(tmp_path.joinpath(*["x"] * 2500, "memfold.js"))
    assert list(tmp_path.iterdir()) == []


def test_a_half_written_file_is_never_seen(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails leaves the old file and nothing beside it."""
    path.parent.mkdir()
    path.write_text("old")

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output"):
        replace_file(str(path), b"new", mode=0o644)
    assert [one.read_text() for one in path.parent.iterdir()] == ["old"]


def test_a_failure_names_the_file_that_was_meant(tmp_path: Path) -> None:
    """Not the one in between, whose name nobody knows."""
    with pytest.raises(FileNotFoundError) as told:
        replace_file(str(tmp_path / "missing" / "x.js"), b"", mode=0o644)
    assert told.value.filename == str(tmp_path / "missing" / "x.js")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b'{"schema":"memfold.installs/9"}', b"[" * 100_000])
def test_a_damaged_list_is_set_aside(path: Path, content: bytes) -> None:
    """It counts as empty, is kept under another name, and is no reason to fail."""
    data = path.parents[1] / "data"
    data.mkdir()
    (data / "installs.json").write_bytes(content)
    assert read_manifest(str(data)).damage
    _install(path)
    assert (data / "installs.json.damaged").read_bytes() == content
    assert read_manifest(str(data)).of(str(path)) is not None
    assert _remove(path).action == "remove"


def test_a_list_that_can_not_be_read_counts_as_damaged(tmp_path: Path) -> None:
    """Whatever stands in its place."""
    (tmp_path / "installs.json").mkdir()
    assert "regular file" in read_manifest(str(tmp_path)).damage


SOUND: dict[str, object] = {
    "host": "opencode",
    "scope": "global",
    "path": "/h/plugin/memfold.js",
    "digest": "d",
    "folders": ["/h", "/h/plugin"],
}
EARLIER = {"kept": "DATA/kept/0123456789abcdef-memfold.js", "mode": 0o644, "mtime_ns": 7}
HOSTILE: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("path", ("", "plugin/memfold.js", "/h/plugin/other.js", "/h/docs/memfold.js", "/memfold.js", 7, None)),
    ("path", ("/h/./plugin/memfold.js", "/h/x/../plugin/memfold.js", "/h//plugin/memfold.js")),
    ("path", ("/\0/plugin/memfold.js", "/\ud800/plugin/memfold.js", "/a" * 9999 + "/plugin/memfold.js")),
    ("folders", (3, *([folder] for folder in ("", "h", "/other", "/h/plug", "/h/plugin/memfold.js", "/h/..", 3)))),
    ("kept", tuple(f"DATA/kept/{name}" for name in ("x", "0123456789abcdef-thesis.txt", ".."))),
    ("kept", tuple(f"{place}/0123456789abcdef-memfold.js" for place in ("/h", "DATA", "kept", ""))),
    ("mode", (-1, 0o10000, 1 << 70, 1.5, "7")),
    ("mtime_ns", (1 << 63, -(1 << 63) - 1, None)),
    ("scope", ("everywhere",)),
    ("digest", (None,)),
)


def _list_of(data: Path, *entries: object) -> Manifest:
    data.mkdir(exist_ok=True)
    text = json.dumps({"schema": "memfold.installs/1", "installs": entries, "damage": "x"})
    (data / "installs.json").write_text(text.replace("DATA", str(data)))
    return read_manifest(str(data))


@pytest.mark.parametrize(("field", "value"), [(field, one) for field, values in HOSTILE for one in values], ids=ascii)
def test_an_entry_that_is_not_ours_is_left_out(tmp_path: Path, field: str, value: object) -> None:
    """Nobody acts on it; it is named by its number, and those beside it count."""
    other = SOUND | {"path": "/h/plugins/memfold.js", "folders": []}
    wrong: dict[str, object] = {"folders": []}
    wrong |= {"earlier": EARLIER | {field: value}} if field in EARLIER else {field: value}
    manifest = _list_of(tmp_path / "data", other, SOUND | wrong)
    assert [one.path for one in manifest.installs] == [other["path"]]
    assert manifest.damage.startswith("entry 2: ")
    assert manifest.damage.isprintable()


def test_a_sound_entry_counts_beside_others(tmp_path: Path) -> None:
    """Others are counted, whatever they are; what was set aside is not read again."""
    manifest = _list_of(tmp_path / "data", SOUND | {"earlier": EARLIER}, 3, [], {})
    assert manifest.damage == "entry 2: Expected `object`, got `int`, and 2 more"
    (install,) = manifest.installs
    assert install.earlier
    assert write_manifest(str(tmp_path / "data"), manifest).endswith("installs.json.damaged")
    assert read_manifest(str(tmp_path / "data")) == Manifest((install,))


def test_a_list_of_another_kind_is_named_in_plain_signs(tmp_path: Path) -> None:
    """What stands in a file neither moves the cursor nor breaks a document."""
    (tmp_path / "installs.json").write_text(json.dumps({"schema": "\x1b[31m\ud800"}))
    damage = read_manifest(str(tmp_path)).damage
    assert damage.isprintable()
    assert damage.encode()


Plan = Callable[[Manifest], Sequence[Change]]


def _plans(folder: Path, data: str) -> tuple[Plan, Plan]:
    """An install and an uninstall in a folder."""
    path = str(folder / "plugin" / "memfold.js")
    return (
        lambda manifest: [plan_install(path, "global", TEXT, manifest, data)],
        lambda manifest: [plan_removal(path, "global", manifest.of(path), data)],
    )


def test_an_install_in_between_is_not_lost(tmp_path: Path) -> None:
    """What another process installs after we have read the list stands in it too."""
    data = str(tmp_path / "data")
    (one, _), (two, _) = (_plans(tmp_path / name, data) for name in ("one", "two"))
    done: list[int] = []

    def plan(manifest: Manifest) -> Sequence[Change]:
        if not done:
            done.append(1)
            settle(two, data, dry_run=False)
        return one(manifest)

    settle(plan, data, dry_run=False)
    assert len(read_manifest(data).installs) == 2


def test_many_at_once_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installs and uninstalls side by side: the list holds what is there, and no lock stays behind the last."""

    def slowly(data: str, manifest: Manifest) -> str:
        time.sleep(0.001)  # gives way to another thread between reading and writing
        return write_manifest(data, manifest)

    monkeypatch.setattr(opencode_install, "write_manifest", slowly)
    data = tmp_path / "data"
    plans = [_plans(tmp_path / str(number), str(data)) for number in range(4)]

    def work(pair: tuple[Plan, Plan]) -> None:
        install, remove = pair
        for _ in range(10):
            (change,) = settle(install, str(data), dry_run=False).changes
            assert read_manifest(str(data)).of(change.path)
            settle(remove, str(data), dry_run=False)
            remove_empty_folders(str(data))
        settle(install, str(data), dry_run=False)

    with ThreadPoolExecutor(len(plans)) as pool:
        list(pool.map(work, plans))
    assert len(read_manifest(str(data)).installs) == len(plans)
    for _, remove in plans:
        settle(remove, str(data), dry_run=False)
    assert list(data.iterdir()) == []


def test_a_list_that_another_process_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who can't have it gives up, and nothing is installed."""
    data = str(tmp_path / "data")
    install, _ = _plans(tmp_path, data)
    monkeypatch.setattr(installs, "_LOCK_SECONDS", 0.01)
    with hold_manifest(data), pytest.raises(LockTimeout):
        settle(install, data, dry_run=False)
    assert list(tmp_path.rglob("*")) == [tmp_path / "data"]


def test_a_lock_that_can_not_be_made_is_no_reason_to_fail(tmp_path: Path) -> None:
    """Whether the list can be written is told by writing it."""
    (tmp_path / "data" / "installs.json.lock").mkdir(parents=True)
    install, _ = _plans(tmp_path, str(tmp_path / "data"))
    settle(install, str(tmp_path / "data"), dry_run=False)
    assert len(read_manifest(str(tmp_path / "data")).installs) == 1


def test_a_path_that_is_no_utf8(tmp_path: Path) -> None:
    """A folder may have any name."""
    path = os.fsdecode(b"/\xff/plugin/memfold.js")
    manifest = Manifest((Install("opencode", "global", path, "d", ("/\udcff",)),))
    write_manifest(str(tmp_path), manifest)
    assert read_manifest(str(tmp_path)) == manifest
    assert write_manifest(str(tmp_path), Manifest()) == ""
    assert list(tmp_path.iterdir()) == []


def test_one_path_stands_in_the_list_once() -> None:
    """A second install takes the place of the first."""
    one, two = (Install("opencode", "global", "/a", digest) for digest in "12")
    assert Manifest((one,)).with_install(two) == Manifest((two,))
    assert Manifest((one,)).without("/a") == Manifest()
    assert Manifest().of("/a") is None


def test_folders_that_the_client_reads(tmp_path: Path) -> None:
    """The user's first, then those from the root of the worktree to the working directory."""
    environ = {"HOME": "/h", "OPENCODE_CONFIG_DIR": "/own/"}
    folders = config_folders(environ, "/w/app/sub", "/w/app")
    assert folders == [
        "/h/.config/opencode",
        "/h/.opencode",
        "/own",
        "/w/app/.opencode",
        "/w/app/sub/.opencode",
    ]
    assert global_folder(environ) == "/own"
    assert global_folder({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}) == "/x/opencode"
    assert global_folder({"HOME": "/h", "OPENCODE_CONFIG_DIR": "own"}) == "/h/.config/opencode"
    assert config_folders({"HOME": "/h"}, "/w", "/elsewhere")[-1] == "/w/.opencode"


def test_plugins_are_found_by_their_marker(tmp_path: Path) -> None:
    """Under any name, in both folders, a file once; sub-folders and other endings don't count, as for the client."""
    one, two = tmp_path / "one", tmp_path / "two"
    for name in ("plugin/a.js", "plugins/b.ts", "plugin/c.mjs", "plugin/sub/d.js"):
        (one / name).parent.mkdir(parents=True, exist_ok=True)
        (one / name).write_text(TEXT)
    (one / "plugin" / "foreign.js").write_text("export default {}")
    (one / "plugin" / "folder.js").mkdir()
    two.symlink_to(one)
    assert find_plugins([str(one), str(two)]) == [str(one / "plugin/a.js"), str(one / "plugins/b.ts")]


def test_settings_are_read_as_the_client_reads_them(tmp_path: Path) -> None:
    """Comments, commas at the end, a byte order mark; what is no JSON is told apart and nothing is raised."""
    settings = tmp_path / "opencode.jsonc"
    settings.write_text(
        '\ufeff{ // "plugin": ["memfold-no"]\n "a": "http://x/*", /* , ] */ "plugin": ["x", "./memfold.js",\n'
        ' ["memfold", {"enabled": false}], ["memfold", 3], [], 7, ], }',
    )
    (tmp_path / "opencode.json").write_text('{"plugin": "memfold"')
    (tmp_path / "config.json").write_text("[]")
    environ = {"OPENCODE_CONFIG_CONTENT": '{"plugin":["memfold-x"]}', "OPENCODE_CONFIG": str(tmp_path / "none.json")}
    mentions = find_mentions(environ, [str(tmp_path)], "")
    assert mentions.found == (
        Mention(str(settings), "./memfold.js"),
        Mention(str(settings), "memfold", {"enabled": False}),
        Mention(str(settings), "memfold"),
        Mention("$OPENCODE_CONFIG_CONTENT", "memfold-x"),
    )
    assert [file for file, _ in mentions.unreadable] == [str(tmp_path / "opencode.json")]


@pytest.mark.parametrize("text", ["/*" * 400_000, '"' * 800_001, ", " * 400_000, "//" * 400_000, '"\\' * 400_000])
def test_settings_of_any_kind_are_read_in_one_pass(tmp_path: Path, text: str) -> None:
    """Nothing in a file makes reading it slow, or raises."""
    (tmp_path / "opencode.json").write_text(text)
    assert find_mentions({}, [str(tmp_path)], "").found == ()


def test_the_environment_of_a_bridge() -> None:
    """Nothing in it changes what Python imports, and its own hooks stay silent."""
    given_ = {"PATH": "/bin", "PYTHONPATH": ".", "PYTHONHOME": "x", "PYTHONSTARTUP": "y", "PYTHONINSPECT": "1"}
    assert child_environment(given_) == {"PATH": "/bin", "MEMFOLD_IN_HOOK": "1"}


def _script(path: Path, text: str) -> list[str]:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return [str(path), "bridge"]


def test_why_a_command_does_not_start(tmp_path: Path) -> None:
    """Not there, ends badly, says something else: each is said in a few words."""
    environ = {"PATH": os.environ["PATH"]}
    assert start_trouble(["no-such-program", "bridge"], environ) == "no-such-program is not there"
    assert start_trouble(_script(tmp_path / "a", "echo oops >&2; exit 3"), environ) == "oops"
    assert start_trouble(_script(tmp_path / "b", "exit 3"), environ) == "it ended with 3"
    assert "this is memfold" in start_trouble(_script(tmp_path / "c", "echo memfold 0.0.0"), environ)
    assert start_trouble([sys.executable, "-m", "memfold", "bridge"], {"PYTHONPATH": str(Path.cwd()), **environ}) == ""
    assert found(["sh"], environ)
    assert not found(["sh"], {"PATH": ""})


def test_interpreters_that_may_be_gone_tomorrow(tmp_path: Path) -> None:
    """Environments of ``uvx`` and the like lie in caches."""
    assert passing_place("/home/u/.cache/uv/archive-v0/x/bin/python", {}) == "/home/u/.cache/uv/archive-v0"
    assert passing_place("/home/u/.cache/x/bin/python", {}) == "/home/u/.cache"
    assert passing_place(str(tmp_path / "x/bin/python"), {"UV_CACHE_DIR": str(tmp_path)}) == str(tmp_path)
    assert passing_place("/usr/bin/python3", {"XDG_CACHE_HOME": "relative"}) == ""
    assert is_temporary(passing_place(f"{tempfile.gettempdir()}/x/bin/python", {}))
    assert not is_temporary("/home/u/.cache")


def _runs(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_a_program_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    """A grandchild that holds the pipe doesn't hold us, and doesn't outlive the program."""
    command = _script(tmp_path / "slow", f"sleep 60 & echo $! > '{tmp_path}/number'; sleep 60")
    ended = run_bounded(command, cwd="/", environ=os.environ, timeout=0.3)
    assert (ended.code, ended.trouble) == (None, "no end after 0.3 s")
    number = int((tmp_path / "number").read_text())
    for _ in range(1000):  # the kernel takes its time to end it
        if not _runs(number):
            break
        time.sleep(0.01)
    assert not _runs(number)
    assert run_bounded(["a\0b"], cwd="/", environ={}, timeout=1).code is None
    assert run_bounded([str(tmp_path)], cwd="/", environ={}, timeout=1).trouble == "Permission denied"
    both = _script(tmp_path / "both", "echo a; echo b >&2")
    assert run_bounded(both, cwd="/", environ={}, timeout=9) == (0, b"a\n", "b")
    assert last_line(b"a\n b \n\n") == "b"
    assert last_line(b"") == ""


def test_kept_copies_have_names_by_content(tmp_path: Path) -> None:
    """The same content is kept once."""
    path = installs.kept_path(str(tmp_path), "memfold.js", "0123456789abcdef" * 4)
    assert path == str(tmp_path / "kept" / "0123456789abcdef-memfold.js")
    installs.keep_copy(path, b"x")
    installs.keep_copy(path, b"x")
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_the_list_of_installs_is_readable_by_people(path: Path) -> None:
    """One JSON document that names its schema."""
    data, _ = _install(path)
    document = json.loads((Path(data) / "installs.json").read_text())
    assert document["schema"] == "memfold.installs/1"
    assert document["installs"][0]["path"] == str(path)
