"""Each call of the system that a command makes fails once: a sentence on stderr, and the command can be done again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger.log import LOG_NAME, FileLog
from ledger.rewrite import REWRITE_SUFFIX
from memfold.backups import known_backups, read_backup, trouble_of
from memfold.errors import FINDINGS
from memfold.memory_file.disk import memory_path
from memfold.paths import data_dir, ledger_dir, workspace_key
from tests.faults.test_every_call_ledger import sound
from tests.support.cli import Ran, home, run
from tests.support.sweep import Case, sweep

PILOTS = "The pilot boat waits behind the breakwater"
CRANES = "The cranes stand still on Sundays"
FILE = f"### [MEM-001] {CRANES}\n\n## Archived\n"
REFUSED = {1, 3, 65, 73, 74, 75}
"""Exit codes of a command that the disk has refused something; 3 where the rest was done,
65 where it was a copy; never 66, as if nothing were there."""


class Desk:
    """A project and a home folder below one folder, and commands that run there."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.project = base / "harbour"
        (self.project / ".git").mkdir(parents=True)
        self.data = data_dir(os.environ)
        self.key = workspace_key(str(self.project))
        self.ledger = Path(ledger_dir(self.data, self.key))

    def texts(self) -> list[str]:
        """The memories in the ledger that are there for good, whatever became of them: its titles."""
        if not FileLog(self.ledger).has_begun():
            return []
        (self.ledger / f"{LOG_NAME}{REWRITE_SUFFIX}").unlink(missing_ok=True)  # check names it as unfinished
        return sound(self.ledger)

    def active(self) -> set[str]:
        """Texts of the active memories."""
        ran = run("list", "--workspace", str(self.project))
        return {text for text in (PILOTS, CRANES) if text in ran.out}

    def holding(self, text: str) -> list[str]:
        """The files that hold a text."""
        return [str(path) for path in self.base.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]

    def litter(self) -> list[str]:
        """Files that only somebody who is writing has."""
        return [path.name for path in self.base.rglob("*") if path.suffix == ".tmp" or path.name.endswith(".new")]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A desk where the client's programs aren't looked for."""
    monkeypatch.setattr("memfold.cli.install.start_trouble", lambda *_: "")
    monkeypatch.setattr("memfold.cli.install.passing_place", lambda *_: "")
    base = tmp_path / "base"
    base.mkdir()
    with home(base):
        desk = Desk(base)
        monkeypatch.chdir(tmp_path)
        yield desk


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.torture)], ids=["some", "all"])
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether each call has each kind of trouble, or one or two in turn."""
    return bool(request.param)


Look = Callable[[bool], None]


def _sweep(
    desk: Desk, look: Look, *command: str, thorough: bool, codes: tuple[int, ...] = (0,), keeps: bool = True
) -> None:
    """A command ends with a sentence or well; then what must hold is looked at, and it is done again.

    Args:
        desk: where it runs.
        look: what must hold, told whether the command has said that it is done.
        command: its arguments.
        thorough: as ``sweep``.
        codes: exit codes that say so.
        keeps: whether all events that were there stay as they were.
    """
    before = desk.texts() if keeps else []
    place = [] if command[0] in {"install", "uninstall"} else ["--workspace", str(desk.project)]

    def act() -> Ran:
        ran = run(*command, *place)
        if ran.code not in codes:
            raise RefusedError(ran)
        return ran

    def require(done: bool, said: object) -> None:
        ran = said.ran if isinstance(said, RefusedError) else said
        assert isinstance(ran, Ran)
        lines = ran.err.splitlines()
        assert not any("unexpected" in line or "Traceback" in line or "Error" in line for line in lines), ran.err
        if not done:
            assert ran.code in REFUSED, ran
            assert lines if ran.code != FINDINGS else ran.out
            assert not lines or lines[-1].startswith(("memfold: ", "  try: ")), ran.err
        texts = desk.texts()
        assert texts[: len(before)] == before
        look(done and "no MEMORY.md is kept" not in ran.out)  # which says that it has done nothing

    case = Case(desk.base, act, require, (RefusedError,))
    assert sweep(case, thorough=thorough, most=48) > 10


class RefusedError(Exception):
    """A command that didn't end well."""

    def __init__(self, ran: Ran) -> None:
        super().__init__(ran.err)
        self.ran = ran


def test_adding(desk: Desk, *, thorough: bool) -> None:
    """A memory that was said to be stored is stored, and what was there stays."""
    assert run("add", CRANES, "--workspace", str(desk.project)).code == 0

    def look(done: bool) -> None:
        if done:
            assert PILOTS in desk.texts()
        assert desk.texts().count(PILOTS) <= 1

    _sweep(desk, look, "add", PILOTS, thorough=thorough)


def _edited(desk: Desk) -> None:
    """A memory, its file, and a memory that a person has added to that."""
    assert run("add", CRANES, "--workspace", str(desk.project)).code == 0
    path = Path(memory_path(str(desk.project)))
    path.parent.mkdir(parents=True)
    path.write_text("Mine\n", encoding="utf-8")
    assert run("sync", "--workspace", str(desk.project)).code == 0
    text = path.read_text(encoding="utf-8")
    assert CRANES in text
    path.write_text(text.replace("## Archived", f"### [MEM-000] {PILOTS}\n\n## Archived"), encoding="utf-8")


def test_syncing(desk: Desk, *, thorough: bool) -> None:
    """What a person wrote into MEMORY.md is in the file or in the ledger, and becomes one memory."""
    _edited(desk)
    path = Path(memory_path(str(desk.project)))

    def look(done: bool) -> None:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("Mine\n")
        assert PILOTS in text
        assert CRANES in text
        assert desk.texts().count(PILOTS) <= 1
        if done:
            assert desk.active() == {PILOTS, CRANES}
            assert "MEM-002" in text

    _sweep(desk, look, "sync", thorough=thorough)


def test_forgetting(desk: Desk, *, thorough: bool) -> None:
    """A memory is gone or still there; once it was said to be gone it is in neither ledger nor file."""
    _edited(desk)
    assert run("sync", "--workspace", str(desk.project)).code == 0

    def look(done: bool) -> None:
        assert CRANES in desk.active()
        if done:
            assert desk.active() == {CRANES}

    _sweep(desk, look, "forget", PILOTS, thorough=thorough, codes=(0, 66))


def test_backing_up(desk: Desk, *, thorough: bool) -> None:
    """A copy that was said to be made can be restored, and no half one is taken for it."""
    assert run("add", CRANES, "--workspace", str(desk.project)).code == 0
    content = (desk.ledger / LOG_NAME).read_bytes()

    def look(done: bool) -> None:
        sound_ones = [one for one in known_backups(desk.data, desk.key) if not trouble_of(read_backup(one))]
        assert bool(sound_ones) or not done
        assert all(Path(one, LOG_NAME).read_bytes() == content for one in sound_ones)

    _sweep(desk, look, "backup", thorough=thorough)


def test_backing_up_elsewhere(desk: Desk, *, thorough: bool) -> None:
    """A copy in another place is noted before it is made, so that a purge finds it."""
    assert run("add", CRANES, "--workspace", str(desk.project)).code == 0

    def look(done: bool) -> None:
        made = {str(path.parent) for path in (desk.base / "stick").rglob(LOG_NAME)}
        assert made <= set(known_backups(desk.data, desk.key))
        assert bool(made) or not done

    _sweep(desk, look, "backup", "--to", str(desk.base / "stick"), thorough=thorough)


def test_restoring(desk: Desk, *, thorough: bool) -> None:
    """The log is the present one or the copy; what it replaces is kept in any case."""
    assert run("add", CRANES, "--workspace", str(desk.project)).code == 0
    assert run("backup", "--workspace", str(desk.project)).code == 0
    (backup,) = known_backups(desk.data, desk.key)
    _edit_log(desk)
    old, new = (desk.ledger / LOG_NAME).read_bytes(), Path(backup, LOG_NAME).read_bytes()

    def look(done: bool) -> None:
        now = (desk.ledger / LOG_NAME).read_bytes()
        assert now == new if done else now in (old, new)
        if now == new:
            assert any(path.read_bytes() == old for path in Path(desk.data, "backups").rglob(LOG_NAME))

    _sweep(desk, look, "restore-backup", backup, "--yes", thorough=thorough, keeps=False)


def _edit_log(desk: Desk) -> None:
    assert run("add", PILOTS, "--workspace", str(desk.project)).code == 0


def test_purging(desk: Desk, *, thorough: bool) -> None:
    """Once it was said to be purged, no file holds the text; until then it can be purged again."""
    _edited(desk)
    assert run("sync", "--workspace", str(desk.project)).code == 0
    assert run("backup", "--workspace", str(desk.project)).code == 0

    def look(done: bool) -> None:
        assert CRANES in desk.active()
        if done:
            assert desk.holding(PILOTS) == []

    _sweep(desk, look, "purge", PILOTS, "--yes", thorough=thorough, codes=(0, 66), keeps=False)


def test_importing(desk: Desk, *, thorough: bool) -> None:
    """Each line is taken once, however often the import is tried."""
    (desk.base / "notes.md").write_text(f"- {PILOTS}\n- {CRANES}\n", encoding="utf-8")

    def look(done: bool) -> None:
        if done:
            assert desk.active() == {PILOTS, CRANES}
            assert run("list", "--workspace", str(desk.project)).out.count(PILOTS) == 1

    _sweep(desk, look, "import", "--format", "bullets", str(desk.base / "notes.md"), thorough=thorough)


def test_exporting(desk: Desk, *, thorough: bool) -> None:
    """An export is whole or not there."""
    assert run("add", CRANES, "--workspace", str(desk.project)).code == 0
    output = desk.base / "out.md"
    assert run("export", "--format", "markdown", "--output", str(output), "--workspace", str(desk.project)).code == 0
    whole = output.read_bytes()
    output.write_bytes(b"earlier")

    def look(done: bool) -> None:
        assert output.read_bytes() in ([whole] if done else [whole, b"earlier"])

    _sweep(desk, look, "export", "--format", "markdown", "--output", str(output), "--force", thorough=thorough)


def _plugin(desk: Desk) -> Path:
    return desk.base / ".config" / "opencode" / "plugin" / "memfold.js"


def test_installing(desk: Desk, *, thorough: bool) -> None:
    """The plugin is whole or as it was, and what stood there can be put back."""
    plugin = _plugin(desk)
    plugin.parent.mkdir(parents=True)
    earlier = b"// memfold plugin for OpenCode\nconst COMMANDS = [] // of some release\n"
    plugin.write_bytes(earlier)

    def look(done: bool) -> None:
        content = plugin.read_bytes()
        if content == earlier:
            assert not done
            return
        assert content.endswith(b"}\n")
        assert any(path.read_bytes() == earlier for path in Path(desk.data, "kept").iterdir())

    _sweep(desk, look, "install", "opencode", thorough=thorough)


def test_uninstalling(desk: Desk, *, thorough: bool) -> None:
    """The plugin is there whole or gone."""
    plugin = _plugin(desk)
    assert run("install", "opencode").code == 0
    installed = plugin.read_bytes()

    def look(done: bool) -> None:
        assert (plugin.read_bytes() if plugin.exists() else b"") in ([b""] if done else [b"", installed])

    _sweep(desk, look, "uninstall", "opencode", thorough=thorough)


READING = (
    ("list",),
    ("status",),
    ("why", CRANES),
    ("prompt", "--next"),
    ("log",),
    ("account",),
    ("check",),
    ("history", "MEM-001"),
    ("config", "show"),
)


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_reading(desk: Desk, command: tuple[str, ...], *, thorough: bool) -> None:
    """A command that reads says the whole or that it couldn't look: memory that can't be read isn't shown as empty."""
    assert run("add", CRANES, "--workspace", str(desk.project)).code == 0
    whole = run(*command, "--workspace", str(desk.project)).out

    def act() -> Ran:
        ran = run(*command, "--workspace", str(desk.project))
        if ran.code != 0:
            raise RefusedError(ran)
        return ran

    def require(done: bool, said: object) -> None:
        ran = said.ran if isinstance(said, RefusedError) else said
        assert isinstance(ran, Ran)
        assert "unexpected" not in ran.err
        # It may say more, as that a file of settings can't be read.
        assert not done or set(whole.splitlines()) <= set(ran.out.splitlines())

    assert sweep(Case(desk.base, act, require, (RefusedError,)), thorough=thorough, most=16) > 3
