"""Which folders share a memory, which never do, and what is said of a workspace that has moved (SPEC 1.6)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfold.paths import workspace_key, workspace_root
from tests.support.bridge import Client, compacted, events_of, hook, init, ran, said, system
from tests.support.cli import home, run
from tests.units.test_paths import git, repository

FACT = "use integer cents for money"
REMEMBER = f"Remember: {FACT}"


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder at its real path, with a home beside the workspaces, for commands and clients alike."""
    real = Path(os.path.realpath(tmp_path))
    (real / "home").mkdir()
    monkeypatch.chdir(real)
    with home(real / "home"):
        yield real


def _client(top: Path, directory: Path, instance: str = "one", **variables: str) -> Client:
    """A client that works in a folder, whichever workspace that is."""
    client = Client(top, Path(workspace_root(str(directory))), **variables)
    client.begin(directory, instance=instance)
    return client


def _block(client: Client, session: str) -> str:
    return "\n".join(client.ask(system(session))["system"])


def test_worktrees_share_a_memory_and_no_hot_state(top: Path) -> None:
    """WSI-01: what is asked for in one worktree shows in the other; an error there stays there."""
    main = repository(top / "app")
    git("worktree", "add", "-q", "../second", at=main)
    second = top / "second" / "sub"
    second.mkdir()
    one, two = _client(top, second), _client(top, main, "two")
    one.ask(said(REMEMBER, "A"))
    one.ask(ran("npm test", 1, "FAIL rates.js: wrong", "A"))
    assert FACT in _block(two, "B")
    assert "FAIL" not in str(two.ask(said("go on", "B", "m2")))
    assert len({event.source for event in one.events()}) == 3  # both sessions, and the ledger itself


def test_worktrees_can_be_kept_apart(top: Path) -> None:
    """WSI-01: with ``worktrees = "separate"`` each has a memory of its own."""
    main = repository(top / "app")
    git("worktree", "add", "-q", "../second", at=main)
    config = top / "home" / ".config" / "memfold"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('worktrees = "separate"\n')
    _client(top, top / "second").ask(said(REMEMBER, "A"))
    assert FACT not in _block(_client(top, main, "two"), "B")
    assert FACT in _block(_client(top, top / "second", "three"), "C")


def test_a_link_leads_to_the_same_memory(top: Path) -> None:
    """WSI-07: what is asked for through a symbolic link shows in the real folder and in a sub-folder of it."""
    (top / "app" / "src").mkdir(parents=True)
    (top / "app" / ".git").mkdir()
    for name in ("HEAD", "objects", "refs"):
        (top / "app" / ".git" / name).mkdir()
    (top / "link").symlink_to(top / "app")
    _client(top, top / "link" / "src").ask(said(REMEMBER, "A"))
    assert FACT in _block(_client(top, top / "app", "two"), "B")


def test_case_is_the_volume_s(top: Path) -> None:
    """WSI-06: where a volume knows letter case, two folders that differ in it are two memories."""
    for name in ("App", "aPP"):
        (top / name).mkdir(exist_ok=True)
    if (top / "App").samefile(top / "aPP"):
        assert workspace_root(str(top / "App")) == workspace_root(str(top / "aPP"))
        return
    _client(top, top / "App").ask(said(REMEMBER, "A"))
    assert FACT not in _block(_client(top, top / "aPP", "two"), "B")


def test_two_workspaces_never_mix(top: Path) -> None:
    """I21: sessions of the same id, messages of the same id, turn by turn: each ledger holds its own alone."""
    clients = []
    for name in ("one", "two"):
        (top / name).mkdir()
        clients.append(_client(top, top / name, name))
    for number in range(5):
        for name, client in zip(("one", "two"), clients, strict=True):
            client.ask(said(f"Remember: use colour {name}{number} for headings", "S", f"m{number}"))
    for name, other, client in (("one", "two", clients[0]), ("two", "one", clients[1])):
        block = _block(client, "T")
        assert block.count(f"colour {name}") == 5
        assert f"colour {other}" not in block
        assert f"colour {other}" not in str(events_of(top / "home", top / name))
    # A child serves the folder it was begun with, whatever is sent to it later.
    assert clients[0].ask(init(top / "two"))["refused"].startswith("elsewhere: ")


def test_a_workspace_that_vanishes_under_its_client(top: Path) -> None:
    """Its hooks are answered as before, what is asked for is stored under its path, and the folder isn't made again."""
    (top / "app").mkdir()
    config = top / "home" / ".config" / "memfold"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('memoryFile = "on"\n')
    client = _client(top, top / "app")
    (top / "app").rmdir()
    assert f"Noted for the next sessions: {FACT}" in client.ask(said(REMEMBER, "A"))["notice"]
    client.respawn()
    assert FACT in _block(client, "B")
    assert not (top / "app").exists()


def test_a_repository_stays_clean(top: Path) -> None:
    """FSP-11: a session that touches files in 20 folders leaves nothing behind, in the work tree and in ``.git``."""
    app = repository(top / "app")
    for number in range(20):
        (app / f"part{number}").mkdir()
        (app / f"part{number}" / "file.py").write_text("")
    before = sorted(app.rglob("*"))
    client = _client(top, app / "part0")
    client.ask(said(REMEMBER, "A"))
    for number in range(20):
        given = {"filePath": str(app / f"part{number}" / "file.py")}
        client.ask(hook("tool.execute.after", "A", {"output": "done"}, tool="edit", callID=f"c{number}", args=given))
    for record in compacted("Memory candidates:\n- [project] The nightly build runs on port 7400", "A"):
        client.ask(record)
    assert FACT in _block(client, "A")
    client.bridge.close()
    assert sorted(app.rglob("*")) == before


@pytest.mark.parametrize("new", ["shop", "elsewhere/app"])
def test_a_moved_workspace_is_not_silently_empty(top: Path, new: str) -> None:
    """WSI-07: the command and the client name the old path; the command that is shown takes its memories over."""
    (top / "app").mkdir()
    _client(top, top / "app").ask(said(REMEMBER, "A"))
    (top / new).parent.mkdir(exist_ok=True)
    (top / "app").rename(top / new)
    for other in ("neighbour", "far/away"):  # the one is still there, the other has nothing in common with it
        (top / other).mkdir(parents=True)
        _client(top, top / other).ask(said("Remember: use tabs in Go files", "A"))
    (top / "far" / "away").rmdir()
    ran_ = run("list", "--workspace", str(top / new))
    assert ran_.code == 66
    assert f"if it was {top}/app before" in ran_.err
    shown = f"memfold export --workspace {top}/app > memories.json && memfold import memories.json"
    assert ran_.err.splitlines()[1] == f"  try: {shown}"
    client = _client(top, top / new, "two")
    notice = client.ask(said("good morning", "B", "m2"))["notice"]
    assert notice.startswith("Was this ")
    assert notice.endswith("app? Its memories can be taken over: memfold workspaces")
    assert "notice" not in client.ask(said("go on", "B", "m3"))
    listed = run("workspaces").out
    assert f"  {shown}\n" in listed
    (top / "memories.json").write_text(run("export", "--workspace", f"{top}/app").out)
    assert run("import", str(top / "memories.json"), "--workspace", str(top / new)).code == 0
    assert FACT in run("list", "--workspace", str(top / new), "--state", "all").out
    assert FACT in _block(client, "C")


def test_workspaces_are_listed(top: Path) -> None:
    """WSI-08: each with what became of its folder; places that are no project are marked, what is no ledger isn't."""
    (top / "app").mkdir()
    (top / "old").mkdir()
    _client(top, top / "app").ask(said(REMEMBER, "A"))
    _client(top, top / "old").ask(said(REMEMBER, "A"))
    _client(top, top / "home").ask(said(REMEMBER, "A"))
    (top / "old").rmdir()
    data = top / "home" / ".local" / "share" / "memfold" / "workspaces"
    (data / "empty").mkdir()
    (data / "odd" / "events.jsonl").mkdir(parents=True)
    (data / "torn").mkdir()
    (data / "torn" / "events.jsonl").write_bytes(b"junk\n")
    document = json.loads(run("workspaces", "--json").out)
    states = {one["workspace"]: one["state"] for one in document["workspaces"]}
    expected = {str(top / "app"): "there", str(top / "old"): "gone", str(top / "home"): "no project", "": "unknown"}
    assert states == expected
    assert [one["ledger"] for one in document["workspaces"] if one["take_over"]] == [
        str(data / workspace_key(str(top / "old")))
    ]
    assert f"rm -r {data}/{workspace_key(str(top / 'old'))}" in run("workspaces").out


def test_no_workspace_yet(top: Path) -> None:
    """It is said where they would be."""
    assert run("workspaces").out == f"no workspace has a ledger in {top}/home/.local/share/memfold/workspaces\n"


@pytest.mark.parametrize("where", ["home", "root", "temporary"])
def test_places_that_are_no_project(top: Path, where: str) -> None:
    """WSI-08: hot state works there, nothing becomes memory, and it is said so; a folder below is a project."""
    scratch = top / "scratch"
    (scratch / "test-1").mkdir(parents=True)
    place = {"home": top / "home", "root": Path("/"), "temporary": scratch}[where]
    client = _client(top, place, TMPDIR=str(scratch))
    answer = client.ask(said(REMEMBER, "A"))
    assert answer["notice"].startswith("Not kept (")
    assert "no project" in answer["notice"]
    client.ask(ran("npm test", 1, "FAIL rates.js: wrong", "A"))
    assert "FAIL rates.js" in client.ask(said("go on", "A", "m2"))["part"]
    assert FACT not in _block(client, "B")
    below = _client(top, scratch / "test-1", "two", TMPDIR=str(scratch))
    below.ask(said(REMEMBER, "C"))
    assert FACT in _block(below, "D")
