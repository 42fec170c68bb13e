"""A project into which texts are sent, and all that memfold has written of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from memfold.cli.desk import REFUSED
from memfold.errors import FINDINGS, OK, NotFoundError
from tests.corpus.model import Secret
from tests.support.bridge import Client, folder_of, hook
from tests.support.cli import home, run

__all__ = ["Entry", "Project", "leaking", "sent", "written"]

_ANSWERS = (OK, REFUSED, FINDINGS, NotFoundError.exit_code)
"""How commands end that took a text, refused it, or found none."""


class Project:
    """A project with a home folder of its own: the real bridge in this process, and the commands.

    Args:
        folder: an empty folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "harbour"
        self.inputs = folder / "inputs"
        (self.root / ".git").mkdir(parents=True)
        self.inputs.mkdir()
        self.client = Client(folder, self.root)
        self._lines = 0

    @property
    def home(self) -> Path:
        """The home folder, below which memfold's data are."""
        return self.folder / "home"

    @property
    def memory_file(self) -> Path:
        """MEMORY.md of the project."""
        return self.root / ".opencode" / "memory" / "MEMORY.md"

    def next(self, what: str) -> str:
        """An id that wasn't used yet."""
        self._lines += 1
        return f"{what}{self._lines}"

    def begin(self, session: str = "S") -> None:
        """The client starts, and a session in it."""
        self.client.begin()
        self.client.ask(hook("experimental.chat.system.transform", session))

    def command(self, *arguments: str) -> str:
        """Run a command here; what it printed."""
        done = run(*arguments, "--workspace", str(self.root))
        assert done.code in _ANSWERS, done.err
        return done.out

    def file(self, name: str, data: bytes) -> str:
        """A file that somebody else has written."""
        path = self.inputs / name
        path.write_bytes(data)
        return str(path)


Entry = Callable[[Project, Sequence[str]], None]
"""Sends texts into a project in one way."""


@contextmanager
def sent(entry: Entry, texts: Sequence[str], folder: Path) -> Iterator[Project]:
    """A project into which texts went by one entry; then its log was torn and healed, and it was copied."""
    project = Project(folder)
    with home(project.home):
        entry(project, texts)
        project.client.bridge.close()
        project.command("add", "the berth is dredged in spring", "--tag", "harbour")
        log = folder_of(project.home, project.root) / "events.jsonl"
        log.write_bytes(log.read_bytes()[:-20])
        project.command("add", "the pier is painted in autumn")
        project.command("backup")
        project.command("export", "--output", str(project.home / "exported.json"))
        yield project


def written(project: Project) -> dict[str, str]:
    """All that was written, by memfold or into its files: name below the project's folder → name and content."""
    found: dict[str, str] = {}
    for place in (project.home, project.memory_file.parent):
        for path in place.rglob("*"):
            name = str(path.relative_to(project.folder))
            found[name] = name + ("\n" + path.read_bytes().decode(errors="replace") if path.is_file() else "")
    return found


def leaking(secrets: Sequence[Secret], files: dict[str, str]) -> list[tuple[Secret, str, str]]:
    """The secrets of which a file holds a piece, with the file and the piece."""
    return [
        (secret, name, piece)
        for secret in secrets
        for piece in sorted(secret.pieces)
        for name, text in files.items()
        if piece in text
    ]
