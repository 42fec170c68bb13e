"""Runs the real OpenCode client, isolated and on loopback, against the fake provider.

The client is installed from npm into ``$MEMFOLD_HOSTS_CACHE`` (default: ``memfold-hosts`` in the user's cache
folder) when it isn't there yet. Everything else of a run lives in the folder given to ``OpenCode``: the isolated
home, the workspace, the hook log and the client's output.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from filelock import FileLock

from tests.hosts.opencode.harness.fake_provider import FakeProvider, Json, Request

__all__ = [
    "VERSION",
    "OpenCode",
    "Plugin",
    "Server",
    "children",
    "install",
    "loopback_only",
    "read_jsonl",
    "ripgrep",
    "wait_for",
]

VERSION = "1.18.33"
_HERE = Path(__file__).resolve().parent
_PROVIDERS = {
    "openai": ("fake", "fake-1", "@ai-sdk/openai-compatible"),
    "anthropic": ("anthropic", "claude-sonnet-4-5", "@ai-sdk/anthropic"),
}
"""Forms of a provider: its id, its model's id, and the client's package for it."""
T = TypeVar("T")


class Plugin(NamedTuple):
    """A plugin to load: from the client's own plugin folder, or with options by its configuration."""

    name: str
    text: str
    options: Json | None = None


RECORDER = Plugin("recorder.js", (_HERE / "recorder.js").read_text())
"""Writes down the payloads of hooks."""


def install() -> Path:
    """The client's binary; installs it on first use (about 350 MB)."""
    root = _cache() / f"opencode-{VERSION}"
    binary = root / "node_modules" / ".bin" / "opencode"
    with FileLock(f"{root}.lock"):  # tests that run side by side may all want it
        if not binary.exists():
            root.mkdir(parents=True, exist_ok=True)
            command = ["npm", "install", "--prefix", str(root), "--no-audit", "--no-fund", "--loglevel=error"]
            soon = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000"]  # where there is no network, say so soon
            subprocess.run(
                [*command, *soon, f"opencode-ai@{VERSION}"], check=True, stdin=subprocess.DEVNULL, timeout=600
            )
    return binary


def ripgrep() -> Path | None:
    """The folder of ``rg``, for the client's grep and glob: from PATH, on Debian from the cache, else None."""
    if found := shutil.which("rg"):
        return Path(found).parent
    root = _cache() / "ripgrep"
    if not (root / "usr/bin/rg").exists() and shutil.which("apt-get"):
        root.mkdir(exist_ok=True)
        script = "apt-get download ripgrep && dpkg -x ripgrep_*.deb ."
        subprocess.run(["sh", "-c", script], cwd=root, check=False, capture_output=True, timeout=120)
    return root / "usr/bin" if (root / "usr/bin/rg").exists() else None


def loopback_only() -> None:
    """Restart this program in a network namespace that has loopback alone; do nothing where that isn't allowed.

    Call it after ``install`` and ``ripgrep``, which need the network.
    """
    if os.environ.get("MEMFOLD_NETNS") or not shutil.which("unshare"):
        return
    probe = ["unshare", "-rn", "ip", "link", "set", "lo", "up"]
    if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        os.environ["MEMFOLD_NETNS"] = "1"
        sys.stdout.flush()
        again = ["sh", "-c", 'ip link set lo up; exec "$@"', "sh", sys.executable, *sys.orig_argv[1:]]
        os.execvp("unshare", ["unshare", "-rn", *again])  # noqa: S606  # replaced by itself, nothing else


class OpenCode:
    """One isolated home, one workspace, one fake provider."""

    def __init__(
        self,
        base: Path,
        files: Path,
        *,
        config: Json | None = None,
        plugins: Sequence[Plugin] = (RECORDER,),
        provider: str = "openai",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            base: a folder to make for it.
            files: the workspace starts as a copy of this folder.
            config: more of the client's configuration.
            plugins: what the client loads.
            provider: which form the provider speaks, ``openai`` or ``anthropic``.
            environ: more of the client's environment.
        """
        base.mkdir(parents=True)
        self.base = base.resolve()
        self.home = self.base / "home"
        self._temporary = self.base / "tmp"
        self._temporary.mkdir()
        self.workspace = _git_workspace(self.base / "demo", files)
        self.hooks_log = self.base / "hooks.jsonl"
        self.fake = FakeProvider(json.loads((_HERE / "scripts.json").read_text()), self.workspace)
        self._binary = install()
        self._processes: list[subprocess.Popen[str]] = []
        self.environ = {**self._environment(), **(environ or {})}
        self.model = dict(zip(("providerID", "modelID"), _PROVIDERS[provider], strict=False))
        self._configure(_PROVIDERS[provider], config or {}, plugins)

    def cli(self, *args: str, **environ: str) -> int:
        """Run one command of the client in its own process; its exit status (-9 after two minutes)."""
        with (self.base / "client.log").open("a") as log:
            process = self._spawn(*args, out=log, environ=environ)
            try:
                return process.wait(120)
            except subprocess.TimeoutExpired:
                _kill_group(process)
                return process.wait()

    def run(self, text: str, *flags: str, **environ: str) -> int:
        """One turn in its own process. The text goes word by word: the client quotes an argument with a space."""
        return self.cli("run", "--format", "json", *flags, "--", *text.split(" "), **environ)

    def begin_run(self, text: str, *flags: str) -> subprocess.Popen[str]:
        """Start a turn in its own process, and come back at once."""
        with (self.base / "client.log").open("a") as log:
            return self._spawn("run", "--format", "json", *flags, "--", *text.split(" "), out=log, environ={})

    def serve(self, **environ: str) -> Server:
        """Start a server process."""
        path = self.base / f"serve-{len(self._processes)}.log"
        with path.open("w") as log:
            process = self._spawn("serve", "--port", "0", "--hostname", "127.0.0.1", out=log, environ=environ)

        def address() -> str | None:
            text = path.read_text()
            if process.poll() is not None:
                raise RuntimeError(f"the server ended with {process.returncode}: {text[-500:]}")
            _, found, rest = text.partition("listening on http://")
            return f"http://{rest.split()[0]}" if found and "\n" in rest else None

        return Server(process, wait_for(address, 60), self.model)

    def begin(self, call: Callable[..., object], *args: str) -> threading.Thread:
        """Start a turn and come back as soon as the model has been asked."""
        before = len(self.fake.requests)
        thread = threading.Thread(target=call, args=args, daemon=True)
        thread.start()
        wait_for(lambda: len(self.fake.requests) > before, 30)
        return thread

    def requests(self, session: str | None = None, kind: str = "main") -> list[Request]:
        """The model requests of one kind so far, of one session or of all."""
        return [r for r in self.fake.requests if r.kind == kind and session in (None, r.session)]

    def hooks(self, name: str) -> list[Json]:
        """The recorded calls of one hook so far."""
        return [r for r in read_jsonl(self.hooks_log) if r["hook"] == name]

    def memfold(self, *args: str) -> str:
        """What a command of memfold prints in this workspace; it must end well."""
        command = [sys.executable, "-E", "-P", "-m", "memfold", *args]
        run = subprocess.run(command, cwd=self.workspace, env=self.environ, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def mark(self, label: str) -> None:
        """Write into the recording what happens next."""
        with self.hooks_log.open("a") as log:
            log.write(json.dumps({"t": time.time(), "hook": "mark", "label": label}, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Stop what this object started."""
        for process in self._processes:
            if process.poll() is None:
                _kill_group(process)
                process.wait()
        shutil.rmtree(self._temporary, ignore_errors=True)
        self.fake.close()

    def _spawn(self, *args: str, out: Any, environ: Mapping[str, str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(self._binary), *args],
            cwd=self.workspace,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            text=True,
            start_new_session=True,  # a group of its own, so that the commands it runs end with it
        )
        self._processes.append(process)
        return process

    def _environment(self) -> dict[str, str]:
        home = str(self.home)
        path = os.environ["PATH"]
        if rg := ripgrep():
            path += f":{rg}"
        switches = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "CLAUDE_CODE")
        return {
            "PATH": path,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "HOME": home,
            "TMPDIR": str(self._temporary),  # each start of the client leaves its native library there, 5 MB
            "XDG_CONFIG_HOME": f"{home}/.config",
            "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_STATE_HOME": f"{home}/.local/state",
            "XDG_CACHE_HOME": f"{home}/.cache",
            "npm_config_offline": "true",
            "npm_config_fetch_retries": "0",  # MEMORY.md makes a .opencode, where the client installs its package too
            "npm_config_update_notifier": "false",
            "REC_OUT": str(self.hooks_log),
            **{f"OPENCODE_DISABLE_{name}": "1" for name in switches},
        }

    def _configure(self, form: tuple[str, str, str], extra: Json, plugins: Sequence[Plugin]) -> None:
        name, ident, package = form
        model = {"name": "Fake", "limit": {"context": 200000, "output": 8000}, "tool_call": True}
        provider = {
            "npm": package,
            "name": "Fake",
            "options": {"baseURL": self.fake.url, "apiKey": "none"},
            "models": {ident: model},
        }
        config: Json = {
            "model": f"{name}/{ident}",
            "small_model": f"{name}/{ident}",
            "enabled_providers": [name],
            "provider": {name: provider},
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "lsp": False,
            "formatter": False,
            "permission": {"*": "allow"},
            **extra,
        }
        folder = self.home / ".config" / "opencode"
        (folder / "plugin").mkdir(parents=True)
        for plugin in plugins:
            path = folder / plugin.name if plugin.options else folder / "plugin" / plugin.name
            path.write_text(plugin.text)
            if plugin.options:
                config.setdefault("plugin", []).append([str(path), plugin.options])
        (folder / "opencode.json").write_text(json.dumps(config, indent=1))
        # A present lock file spares the client the install of its plugin package: 72 s of retries when offline.
        wanted = {"": {"dependencies": {"@opencode-ai/plugin": VERSION}}}
        (folder / "node_modules").mkdir()
        (folder / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": wanted}))


class Server:
    """The client's HTTP interface."""

    def __init__(self, process: subprocess.Popen[str], url: str, model: Json) -> None:
        self.process = process
        self._url = url
        self._model = model

    def call(self, method: str, path: str, body: Json | None = None) -> Any:
        """One request; the decoded answer, or None if there is none."""
        request = urllib.request.Request(  # noqa: S310  # always http on loopback
            self._url + path,
            method=method,
            headers={"content-type": "application/json"},
            data=None if body is None else json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310  # always http on loopback
            text = answer.read().decode()
        return json.loads(text) if text else None

    def children(self) -> list[int]:
        """The processes that this one has started and that still run (Linux)."""
        return children(self.process.pid)

    def create(self, title: str = "Demo") -> str:
        """Start a session; its id."""
        ident = self.call("POST", "/session", {"title": title})["id"]
        assert isinstance(ident, str)
        return ident

    def prompt(self, session: str, text: str, **more: object) -> None:
        """Send a user message and wait for the end of the turn."""
        self.call("POST", f"/session/{session}/message", {"parts": [{"type": "text", "text": text}], **more})

    def prompt_unanswered(self, session: str, text: str) -> None:
        """Send a user message where the turn is aborted or the server killed meanwhile."""
        with contextlib.suppress(OSError, urllib.error.URLError, http.client.HTTPException, ValueError):
            self.prompt(session, text)

    def summarize(self, session: str) -> None:
        """Compact a session by hand."""
        self.call("POST", f"/session/{session}/summarize", self._model)

    def dispose(self) -> None:
        """End the instance in an orderly way: plugins are told."""
        self.call("POST", "/instance/dispose")

    def stop(self, sig: signal.Signals = signal.SIGTERM) -> None:
        """End the server process."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                _kill_group(self.process)
                self.process.wait()


def children(process: int) -> list[int]:
    """The processes that a process has started and that still run (Linux)."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text().rpartition(") ")[2].split()[:2]
            if int(parent) == process and state != "Z":
                found.append(int(stat.parent.name))
    return found


def read_jsonl(path: Path) -> list[Json]:
    """The complete lines of a JSON Lines file that is still being written; none if it doesn't exist yet."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].split("\n") if line]


def wait_for(probe: Callable[[], T | None], seconds: float) -> T:
    """Ask again every 0.1 s until the probe gives something true; TimeoutError when it never does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := probe():
            return found
        time.sleep(0.1)
    raise TimeoutError(f"nothing came within {seconds} s")


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(os.environ.get("MEMFOLD_HOSTS_CACHE") or Path(base) / "memfold-hosts")
    path.mkdir(parents=True, exist_ok=True)
    return path.resolve()


def _git_workspace(path: Path, files: Path) -> Path:
    shutil.copytree(files, path)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ["-c", "user.name=dev", "-c", "user.email=dev@example.invalid"]
    for args in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-q", "-m", "Start"]):
        subprocess.run(["git", *args], cwd=path, check=True, env=env)
    return path.resolve()


def _kill_group(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
