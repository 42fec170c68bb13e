"""Make the recording of a first look: ``python -m tests.hosts.opencode.harness.tour``.

The real client, with memfold put in place by ``memfold install opencode``, is told something in one session and opens
another. The recording holds what was typed, what memfold gave to the model, as the provider received it, and what the
commands print; nothing of the client's own prompt. It becomes ``docs/how-to/tour.txt``, and its beginning the block
between the marks in the README. Only the model's answers are scripted.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.hosts.opencode.harness.fake_provider import Json
from tests.hosts.opencode.harness.host import OpenCode, install, loopback_only, ripgrep
from tests.hosts.opencode.harness.prefix import Prompt, epochs

__all__ = ["CUT", "PAGE", "README", "README_BLOCK", "head", "tour"]

_ROOT = Path(__file__).resolve().parents[4]
_BOOKING = Path(__file__).resolve().parent / "workspaces" / "booking"
README = _ROOT / "README.md"
PAGE = _ROOT / "docs" / "how-to" / "tour.txt"
README_BLOCK = re.compile(r"(<!-- tour -->\n+```text\n)(.*?)(```\n+<!-- /tour -->)", re.DOTALL)
CUT = "$ memfold cache\n"
"""What comes from here on stands in the page alone."""

_OURS = ("Workspace memory (", "Hot session state (")
_LOOK: list[Json] = [
    {
        "tools": [
            {"name": "read", "args": {"filePath": "@WS@/src/rates.js"}},
            {"name": "bash", "args": {"command": "npm test", "description": "Run the tests"}},
        ]
    },
    {"text": "A day can't be Friday and Saturday at once: `&&` in nightCents should be `||`."},
]
_SESSIONS: tuple[tuple[str, ...], ...] = (
    (
        "Guests are charged the weekday price on Fridays. Please find out why.",
        "Remember: run npm test before every commit, the nightly build is too late to find a wrong price.",
        "记住：金额一律用整数分存储，不要用浮点数。",
        "Remember: the harbour master sees a demo tomorrow",
    ),
    ("What do I have to know before I change a price here?",),
)
_COMMANDS = ("list", 'why "harbour master"', "cache")


def tour(oc: OpenCode) -> str:
    """Play it; the recording."""
    oc.fake.learn(_SESSIONS[0][0], _LOOK)
    installed = _printed(oc, "install opencode")
    server = oc.serve()
    for texts in _SESSIONS:
        session = server.create()
        for text in texts:
            server.prompt(session, text)
    server.dispose()
    server.stop()
    played = epochs(oc.fake.requests)
    assert [epoch.differences for epoch in played] == [[] for _ in _SESSIONS]
    shown = [
        "\n".join([f"── session {number} in OpenCode ──", *_given(texts, epoch.prompts[-1])]) + "\n"
        for number, (texts, epoch) in enumerate(zip(_SESSIONS, played, strict=True), 1)
    ]
    text = "\n".join([installed, *shown, *(_printed(oc, command) for command in _COMMANDS)])
    for path, name in ((oc.workspace, "/home/dev/booking"), (oc.home, "/home/dev"), (sys.prefix, "/home/dev/venv")):
        text = text.replace(str(path), name)
    return text


def head(recording: str) -> str:
    """The part of a recording that the README shows."""
    return recording.partition(CUT)[0].rstrip("\n") + "\n"


def _given(texts: tuple[str, ...], prompt: Prompt) -> Iterator[str]:
    """What was typed, with what memfold gave beside it: both stand in the last request of the epoch."""
    (block,) = prompt.system[1:] or [""]
    yield from _block("the model is given, at the end of the system prompt", block)
    users = (m["content"] for m in prompt.messages if m["role"] == "user")
    for text, content in zip(texts, users, strict=True):
        first, *others = [content] if isinstance(content, str) else [part["text"] for part in content]
        assert first == text
        yield f"\nyou type: {text}"
        yield from _block("the model is given, beside your message", *others)


def _block(title: str, *texts: str) -> Iterator[str]:
    lines = [line for text in texts for line in text.split("\n") if text]
    assert all(text.startswith(_OURS) for text in texts if text)  # what isn't ours must not be recorded
    yield f"{title}:{'' if lines else ' nothing'}"
    yield from (f"  | {line}" for line in lines)


def _printed(oc: OpenCode, command: str) -> str:
    printed = oc.memfold(*shlex.split(command)).strip("\n")
    return f"$ memfold {command}\n{printed}\n"


def main() -> None:
    """Write the page, and its beginning into the README."""
    install()
    ripgrep()
    loopback_only()
    with tempfile.TemporaryDirectory(prefix="memfold-tour-") as work:
        oc = OpenCode(Path(work) / "tour", _BOOKING, plugins=())
        try:
            recording = tour(oc)
        finally:
            oc.close()
    PAGE.write_text(recording, encoding="utf-8")
    readme, count = README_BLOCK.subn(
        lambda found: found[1] + head(recording) + found[3], README.read_text(encoding="utf-8")
    )
    assert count == 1, "the README has no marks"
    README.write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
