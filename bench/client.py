"""What the plugin adds to a turn of the real client: the same scripted turn with and without it, interleaved."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.measure import Samples, in_turn, median, ratio
from memfold.hosts.opencode_install import plugin_text
from tests.hosts.opencode.harness.host import VERSION, OpenCode, Plugin, Server

__all__ = ["measure_client"]

_TURNS = 40
_HARNESS = Path(__file__).resolve().parents[1] / "tests" / "hosts" / "opencode" / "harness"
_WITHOUT, _AGAIN, _WITH = "without", "without, a second client", "with the plugin"


def measure_client(folder: Path, bridge: Sequence[str]) -> None:
    """Measure and print; without an installed client say so.

    Args:
        folder: an empty folder.
        bridge: the command that the plugin starts.

    Raises:
        RuntimeError: if the plugin recorded nothing, so that nothing was measured.
    """
    print("\n(g) a turn of the real client: a request to remember, two commands, an answer; wall; baseline: no plugin")
    if not _is_installed(VERSION):
        print(
            f"    not measured: opencode-ai {VERSION} is not installed (python -m tests.hosts.opencode.harness.record)"
        )
        return
    plugin = Plugin("memfold.js", plugin_text([bridge]))
    numbers = iter(range(10 * _TURNS))

    def turn(server: Server) -> None:
        session = server.create()
        server.prompt(session, f"Remember: module {next(numbers)} counts in cents [[script:short]]")

    with ExitStack() as stack:
        cases = {}
        for name, plugins in ((_WITHOUT, ()), (_AGAIN, ()), (_WITH, (plugin,))):
            client = OpenCode(folder / name, _HARNESS / "workspaces" / "demo", plugins=plugins)
            stack.callback(client.close)
            cases[name] = partial(turn, client.serve())
        in_turn(cases, 2)
        samples = in_turn(cases, _TURNS, time.perf_counter)
    logs = (folder / _WITH).glob("home/**/workspaces/*/events.jsonl")
    recorded = sum(log.read_text().count('"memory.requested"') for log in logs)
    if recorded < _TURNS:
        raise RuntimeError(f"the plugin recorded {recorded} of {_TURNS} requests")
    _report(samples)


def _is_installed(version: str) -> bool:
    base = os.environ.get("MEMFOLD_HOSTS_CACHE")
    cache = Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memfold-hosts"
    return (cache / f"opencode-{version}" / "node_modules" / ".bin" / "opencode").exists()


def _report(samples: Samples) -> None:
    print(f"    {_WITHOUT}: median {median(samples, _WITHOUT) * 1e3:.0f} ms; {_TURNS} turns each")
    for case in (_AGAIN, _WITH):
        added = [ours - theirs for ours, theirs in zip(samples[case], samples[_WITHOUT], strict=True)]
        low, middle, high = (round(seconds * 1e3) for seconds in statistics.quantiles(added, n=4))
        times = ratio(samples, case, _WITHOUT)[0]
        print(f"    {case}: {times:.2f}x, {middle:+} ms a turn (middle half {low:+} to {high:+} ms)")
