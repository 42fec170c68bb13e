"""What stories in the real client share: the client, workspaces with the plugin, and a look at the ledger."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memfold.hosts.opencode_install import plugin_text
from tests.hosts.opencode.harness.fake_provider import Json
from tests.hosts.opencode.harness.host import OpenCode, Plugin, install

__all__ = ["BRIDGE", "WORKSPACES", "Start", "account", "client", "patient", "start"]

WORKSPACES = Path(__file__).resolve().parent / "harness" / "workspaces"
BRIDGE = [sys.executable, "-E", "-P", "-m", "memfold", "bridge"]

Start = Callable[..., OpenCode]


@pytest.fixture(scope="session")
def client() -> Path:
    """The client, installed when it isn't there yet."""
    try:
        return install()
    except (OSError, subprocess.SubprocessError) as problem:
        pytest.skip(f"no OpenCode: it isn't in the cache, and npm can't install it ({problem})")


@pytest.fixture
def start(client: Path, tmp_path: Path) -> Iterator[Start]:
    """Prepare clients in workspaces of their own, with the plugin and memfold's own bridge.

    ``plugin`` takes another text of the plugin: by default its limits are long.
    """
    clients: list[OpenCode] = []

    def prepare(
        workspace: str = "demo", options: Json | None = None, plugin: str | None = None, **more: Any
    ) -> OpenCode:
        ours = Plugin("memfold.js", patient(plugin_text([BRIDGE])) if plugin is None else plugin, options)
        base = tmp_path / f"client-{len(clients)}"
        clients.append(OpenCode(base, WORKSPACES / workspace, plugins=[ours], **more))
        return clients[-1]

    yield prepare
    for one in clients:
        one.close()


def patient(plugin: str) -> str:
    """The plugin with longer limits: most stories aren't about them, and a busy machine is slow."""
    for limit in ("HOOK_MS = 1500", "COMPACTED_MS = 500", "TODOS_MS = 300", "CLOSE_MS = 1000"):
        assert f"const {limit} " in plugin
        plugin = plugin.replace(limit, f"{limit}0")
    return plugin


def account(oc: OpenCode) -> list[Json]:
    """All candidates, whatever became of them."""
    rows: list[Json] = json.loads(oc.memfold("list", "--state", "all", "--json"))["memories"]
    return rows
