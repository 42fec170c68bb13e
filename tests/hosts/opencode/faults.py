"""A server in the real client, and faults of its ledger and its bridge that come and go while it runs."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path

from ledger.locks import FlockLock
from memfold.hosts.opencode_install import plugin_text
from tests.hosts.opencode.harness.fake_provider import Json
from tests.hosts.opencode.harness.host import Server, wait_for
from tests.hosts.opencode.harness.kills import fact
from tests.hosts.opencode.stage import Start

__all__ = ["FAULTS", "KEPT", "Fault", "Stage", "read_only"]

KEPT = {"pending", "promoted", "absorbed"}
"""States of a candidate that isn't lost."""
STEPS: list[Json] = [
    {"text": "Let me look.", "tools": [{"name": "bash", "args": {"command": "echo 7", "description": "Look"}}]},
    {"text": "It is seven."},
]


class Disk:
    """A small file system of its own on a folder, which only those see who enter it (Linux).

    Raises:
        OSError: if this machine doesn't allow it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        script = 'mount -t tmpfs -o size=64m,mode=700 none "$0" && echo mounted && exec sleep 900'
        command = ["unshare", "-rm", "sh", "-c", script, str(folder)]
        self._holder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self._holder.stdout is not None
        if self._holder.stdout.readline() != "mounted\n":
            raise OSError(self._holder.communicate()[1].strip())

    def enter(self, folder: Path) -> list[str]:
        """The words before a command that is to run inside, in a folder."""
        return ["nsenter", "-t", str(self._holder.pid), "-U", "-m", "--preserve-credentials", f"--wd={folder}"]

    def path(self, inside: Path) -> Path:
        """A path inside, seen from outside."""
        return Path(f"/proc/{self._holder.pid}/root{inside}")

    def mount(self, mode: str) -> None:
        """Make it ``ro`` or ``rw``."""
        command = ["mount", "-o", f"remount,{mode}", str(self._folder)]
        subprocess.run([*self.enter(Path("/")), *command], check=True)

    @contextmanager
    def full(self) -> Generator[None]:
        """Without any room left."""
        filler = self.path(self._folder / "filler")
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 20))
        yield
        filler.unlink()

    def close(self) -> None:
        """Let it go."""
        self._holder.kill()
        self._holder.communicate()


class Stage:
    """One server in one workspace, and faults around it.

    The plugin is the packaged one. What it starts is a script in the place of an interpreter, for the faults of that;
    the data folder is a disk of its own where the machine allows that.
    """

    def __init__(self, start: Start, client: Path, folder: Path, files: ExitStack) -> None:
        self._python = folder / "python"
        self.oc = start(plugin=plugin_text([[str(self._python), "-E", "-P", "-m", "memfold", "bridge"]]))
        self.oc.environ["PATH"] += f":{client.parent}"  # doctor looks for the client
        self.data = self.oc.home / ".local/share/memfold"
        self.data.mkdir(parents=True, mode=0o700)
        self.disk: Disk | None = None
        self.why_no_disk = ""
        try:
            self.disk = files.enter_context(closing(Disk(self.data)))
        except OSError as problem:
            self.why_no_disk = f"no file system of its own: {problem}"
        self.entry = self.disk.enter(self.oc.workspace) if self.disk else []
        self.start_python(sys.executable)
        self.usual = self._usual()
        self.server = self.oc.serve()
        self._facts = 0

    def start_python(self, *command: str) -> None:
        """From now on the plugin starts this."""
        new = self._python.with_suffix(".new")
        entered = f'[ "$INSIDE" ] || set -- {shlex.join(self.entry)} "$@"' if self.entry else ""
        new.write_text(f'#!/bin/sh\nset -- {shlex.join(command)} "$@"\n{entered}\nexec "$@"\n')
        new.chmod(0o755)
        new.rename(self._python)

    def renew(self) -> None:
        """End the client's instance: the next session has a new one, with a bridge of its own."""
        self.server.dispose()
        wait_for(lambda: not self.server.children(), 20)

    def without_python(self) -> None:
        """From now on there is nothing to start."""
        self._python.unlink()

    def _usual(self) -> list[Json]:
        """A turn without memfold."""
        server = self.oc.serve(MEMFOLD="off")
        turn = self._turn(server, "Look, please")
        server.stop()
        return turn

    def _turn(self, server: Server, text: str) -> list[Json]:
        """A turn with a call of a tool, in a session of its own: what the client then shows."""
        self.oc.fake.learn(text, STEPS)
        session = server.create()
        asked = len(self.oc.requests())
        server.prompt(session, text)
        assert len(self.oc.requests()) - asked == len(STEPS)
        return [part for message in server.call("GET", f"/session/{session}/message") for part in _shown(message)]

    def remember(self) -> str:
        """A turn in which something is to be remembered: it is as usual. What is to be remembered."""
        self._facts += 1
        kept = fact(self._facts)
        _, *turn = self._turn(self.server, f"Remember: {kept}")
        assert turn == self.usual[1:]
        return kept

    def memfold(self, *args: str) -> subprocess.CompletedProcess[str]:
        """A command of memfold, in the client's environment."""
        command = [*self.entry, sys.executable, "-E", "-P", "-m", "memfold", *args]
        environ = {**self.oc.environ, "INSIDE": "yes"}
        return subprocess.run(command, cwd=self.oc.workspace, env=environ, capture_output=True, text=True, check=False)

    def doctor(self) -> tuple[int, str]:
        """The exit status of doctor, and what it warns of."""
        run = self.memfold("doctor", "--json")
        bad = [one for one in json.loads(run.stdout)["checks"] if one["outcome"] in {"warn", "fail"}]
        return run.returncode, "\n".join(" ".join((one["name"], one["seen"], *one["details"])) for one in bad)

    def kept(self, *facts: str) -> bool:
        """Whether all of these are in the ledger."""
        listed = self.memfold("list", "--state", "all", "--json")
        rows = [] if listed.returncode else json.loads(listed.stdout)["memories"]  # else there is no ledger yet
        return {row["text"] for row in rows if row["state"] in KEPT} >= set(facts)

    def is_quiet(self) -> bool:
        """Whether the client said what it says without memfold, and nothing else."""
        off, on = (re.sub(r":\d+", "", path.read_text()) for path in sorted(self.oc.base.glob("serve-*.log")))
        return off == on

    @property
    def can_be_read_only(self) -> bool:
        """Whether this machine can forbid us to write."""
        return self.disk is not None or os.geteuid() != 0

    @property
    def ledger(self) -> Path:
        """The ledger's file."""
        data = self.disk.path(self.data) if self.disk else self.data
        (path,) = data.rglob("workspaces/*")
        return path / "events.jsonl"


def _shown(message: Json) -> Iterator[Json]:
    """The parts of a message, without what differs from turn to turn."""
    for part in message["parts"]:
        if not part.get("synthetic"):
            state = part.get("state", {})
            yield {
                "role": message["info"]["role"],
                "type": part["type"],
                "text": part.get("text"),
                "tool": part.get("tool"),
                "status": state.get("status"),
                "output": state.get("output"),
            }


@contextmanager
def locked(stage: Stage) -> Generator[None]:
    """Another process holds the writers' lock."""
    lock = FlockLock(f"{stage.ledger}.lock", 10)
    with closing(lock), lock.hold():
        yield


@contextmanager
def full(stage: Stage) -> Generator[None]:
    """The disk has no room; without a disk of its own, the bridge may not make its files any longer."""
    if stage.disk:
        with stage.disk.full():
            yield
        return
    (bridge,) = stage.server.children()
    size = stage.ledger.stat().st_size
    before = resource.prlimit(bridge, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    yield
    resource.prlimit(bridge, resource.RLIMIT_FSIZE, before)


@contextmanager
def read_only(stage: Stage) -> Generator[None]:
    """Nothing can be written. No bridge has a file open when this begins: that would forbid it."""
    stage.renew()
    if stage.disk:
        stage.disk.mount("ro")
        yield
        stage.disk.mount("rw")
        return
    stage.ledger.chmod(0o400)
    stage.ledger.parent.chmod(0o500)
    yield
    stage.ledger.parent.chmod(0o700)
    stage.ledger.chmod(0o600)


@contextmanager
def folder(stage: Stage) -> Generator[None]:
    """A folder stands in the log's place."""
    log = stage.ledger
    aside = log.rename(log.with_suffix(".aside"))
    log.mkdir(mode=0o700)
    yield
    log.rmdir()
    aside.rename(log)


@contextmanager
def garbage(stage: Stage) -> Generator[None]:
    """A line in the middle is overwritten."""
    place = sum(len(line) + 1 for line in stage.ledger.read_bytes().split(b"\n")[:3])
    with stage.ledger.open("r+b") as log:
        log.seek(place + 20)
        log.write(b"\xff garbage \xfe")
    yield


@contextmanager
def torn(stage: Stage) -> Generator[None]:
    """The last line is half written."""
    with stage.ledger.open("ab") as log:
        log.write(b'{"type":"tool.compl')
    yield


@contextmanager
def zeros(stage: Stage) -> Generator[None]:
    """Zeros stand behind the last line, as after a power cut."""
    with stage.ledger.open("ab") as log:
        log.write(bytes(700))
    yield


@contextmanager
def no_python(stage: Stage) -> Generator[None]:
    """The interpreter is gone."""
    stage.renew()
    stage.without_python()
    yield
    stage.start_python(sys.executable)


@contextmanager
def no_memfold(stage: Stage) -> Generator[None]:
    """The interpreter has no package memfold."""
    stage.renew()
    stage.start_python(sys.executable, "-I", "-S")
    yield
    stage.start_python(sys.executable)


@contextmanager
def nonsense(stage: Stage) -> Generator[None]:
    """What the plugin starts is another program, which talks without end."""
    stage.renew()
    stage.start_python("sh", "-c", "exec yes")
    yield
    stage.start_python(sys.executable)


Fault = Callable[[Stage], AbstractContextManager[None]]
FAULTS: tuple[tuple[Fault, str], ...] = (
    (locked, r"^lock another process, number \d+ \(.*\), has held .*events\.jsonl\.lock"),
    (folder, r"^ledger .*events\.jsonl is a folder"),
    (garbage, r"^log .*not_utf8: 1"),
    (zeros, r"^log .*nul_bytes: 1"),
    (torn, r"^log .*not_json: 1"),
    (full, r"^(disk|failures) .*(No space left on device|is full|File too large)"),
    (read_only, r"^disk not stored: .*(Read-only file system|Permission denied)"),
    (no_python, r"^plugin .*memfold\.js starts .*/python: not there"),
    (no_memfold, r"^bridge .*No module named memfold"),
    (nonsense, r"^bridge .*its answer is 'y'"),
)
"""What goes wrong, and how doctor names it."""
