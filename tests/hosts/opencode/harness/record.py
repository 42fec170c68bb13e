"""Make the recordings: ``python -m tests.hosts.opencode.harness.record OUT [NAME ...]``.

Each scenario runs in the real client with the recorder as its only plugin, and becomes ``OUT/NAME.jsonl``:
workspace and home under fixed names, text written by the client removed, repeated updates of a running tool
thinned out.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.hosts.opencode.harness.fake_provider import Json
from tests.hosts.opencode.harness.host import OpenCode, install, loopback_only, read_jsonl, ripgrep
from tests.hosts.opencode.harness.scenarios import SCENARIOS

_WORKSPACES = Path(__file__).resolve().parent / "workspaces"
_REMOVED = "[text written by the client removed]"
_SHELL_NOTE = re.compile(r"(<shell_metadata>\\n)(?:(?!</shell_metadata>).)*(\\n</shell_metadata>)")


def record(name: str, work: Path) -> list[str]:
    """Play one scenario in a fresh folder under ``work``; the lines of its recording."""
    scenario = SCENARIOS[name]
    oc = OpenCode(work / name, _WORKSPACES / scenario.workspace, config=scenario.config)
    try:
        scenario.play(oc)
        time.sleep(0.3)  # the last event may still be on its way to the file
    finally:
        oc.close()
    return list(_scrub(read_jsonl(oc.hooks_log), oc))


def _scrub(records: list[Json], oc: OpenCode) -> Iterator[str]:
    names = ((oc.workspace, "/workspace/demo"), (oc.home, "/home/dev"), (oc.base, "/workspace"))
    typed = {p.get("text") for r in records if r["hook"] == "chat.message" for p in r["output"]["parts"]}
    running: set[str] = set()
    for r in records:
        part = r.get("event", {}).get("properties", {}).get("part", {})
        if part.get("synthetic") and part.get("text") not in typed:
            part["text"] = _REMOVED
        if part.get("type") == "tool" and part["state"]["status"] == "running":
            if part["callID"] in running:
                continue
            running.add(part["callID"])
        text = json.dumps(r, ensure_ascii=False)
        for path, name in names:
            text = text.replace(str(path), name)
        yield _SHELL_NOTE.sub(rf"\1{_REMOVED}\2", text)


def main() -> None:
    """Record all scenarios, or those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SCENARIOS))
    args = parser.parse_args()
    install()
    ripgrep()
    loopback_only()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="memfold-record-") as work:
        for name in args.names or SCENARIOS:
            lines = record(name, Path(work))
            (args.out / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))
            print(f"{name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
