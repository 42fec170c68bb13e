"""Which folders share a memory, which never do, and what is said of a workspace that has moved (SPEC 1.6)."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

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
    """WSI-07: commands and the client name the old path, until the command that they show has been used."""
    (top / "app").mkdir()
    _client(top, top / "app").ask(said(REMEMBER, "A"))
    (top / new).parent.mkdir(exist_ok=True)
    (top / "app").rename(top / new)
    for other in ("neighbour", "far/away"):  # the one is still there, the other has nothing in common with it
        (top / other).mkdir(parents=True)
        _client(top, top / other).ask(said("Remember: use tabs in Go files", "A"))
    (top / "far" / "away").rmdir()
    why = "it was beside this folder" if new == "shop" else "it had the same name"
    told, shown = f"this may have been {top}/app ({why}; 1 to take over) before", _takes_over(top / "app")
    before = run("list", "--workspace", str(top / new))
    assert before.code == 66
    assert before.err == f"memfold: no ledger for {top / new} yet; {told}\n  try: {shown}\n"
    client = _client(top, top / new, "two")
    notice = client.ask(said("good morning", "B", "m2"))["notice"]
    assert notice.startswith("Was this ")
    assert notice.endswith("app? Its memories can be taken over: memfold workspaces")
    assert "notice" not in client.ask(said("go on", "B", "m3"))
    assert run("add", "use short names", "--workspace", str(top / new)).code == 0
    for command in ("status", "doctor"):
        assert told in _one_line(run(command, "--workspace", str(top / new)).out)
        assert shown in _one_line(run(command, "--workspace", str(top / new)).out)
    assert f"  {shown}\n" in run("workspaces").out
    _take_over(top / "app", top / new)
    assert FACT in run("list", "--workspace", str(top / new), "--state", "all").out
    assert FACT in _block(client, "C")
    for command in ("status", "doctor"):
        assert "may have been" not in run(command, "--workspace", str(top / new)).out
    listed = run("workspaces").out
    assert shown not in listed
    assert f"{top}/app was taken over by {top / new}\n" in listed


def test_the_likeliest_of_several_vanished_folders_comes_first(top: Path) -> None:
    """WSI-07: those with the same name before those beside it; one that was used later, or holds nothing, is none."""
    for name in ("old/app", "new/web", "new/empty"):
        (top / name).mkdir(parents=True)
        client = _client(top, top / name)
        client.ask(said("hello there" if name == "new/empty" else REMEMBER, "A"))
        client.bridge.close()
    (top / "new" / "app").mkdir()
    assert run("add", "use short names", "--workspace", str(top / "new" / "app")).code == 0
    (top / "new" / "late").mkdir()
    assert run("add", "use long names", "--workspace", str(top / "new" / "late")).code == 0
    for name in ("old/app", "new/web", "new/empty", "new/late"):
        (top / name).rmdir()
    document = json.loads(run("status", "--workspace", str(top / "new" / "app"), "--json").out)
    formers = [(one["workspace"], one["why"], one["take_over"]) for one in document["moved_from"]]
    assert formers == [
        (f"{top}/old/app", "it had the same name", _takes_over(top / "old" / "app")),
        (f"{top}/new/web", "it was beside this folder", _takes_over(top / "new" / "web")),
    ]
    assert f"{top}/new/empty holds no memory\n" in run("workspaces").out
    data = top / "home" / ".local" / "share" / "memfold" / "workspaces"
    (data / workspace_key(f"{top}/old/app") / "events.jsonl").write_bytes(b"junk\n")
    assert f"{top}/old/app" not in run("status", "--workspace", str(top / "new" / "app")).out


def _takes_over(old: Path) -> str:
    return f"memfold export --workspace {old} | memfold import -"


def _take_over(old: Path, new: Path) -> None:
    """Do what the command says, without a shell."""
    exported = run("export", "--workspace", str(old)).out.encode()
    with mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(exported))):
        assert run("import", "-", "--workspace", str(new)).code == 0
    assert sorted(new.iterdir()) == []


def _one_line(text: str) -> str:
    return " ".join(text.split())


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
    listed = run("workspaces").out
    assert f"rm -r {data}/{workspace_key(str(top / 'old'))}" in listed
    assert "no project: the home folder" in listed
    assert f"rm -r {data}/{workspace_key(str(top / 'home'))}" in listed
    assert f"rm -r {data}/{workspace_key(str(top / 'app'))}" not in listed


@pytest.mark.parametrize("command", [["add", "use tabs"], ["import", "list.md"], ["import", "list.md", "--dry-run"]])
def test_nothing_is_stored_by_hand_where_nothing_becomes_memory(top: Path, command: list[str]) -> None:
    """WSI-08: whoever adds a memory in the home folder is told, and no ledger is made with the text in it."""
    (top / "list.md").write_text("- use tabs\n")
    before = sorted(top.rglob("*"))
    ran_ = run(*command, "--workspace", str(top / "home"))
    assert ran_.code == 1
    assert f"{top}/home is no project, and nothing becomes memory there: nothing was stored" in ran_.err
    assert sorted(top.rglob("*")) == before


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
