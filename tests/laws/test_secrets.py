"""Laws of secrets: no file holds one, whichever way it came in and wherever a cut of ours fell (SPEC 7, I8)."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.streams import Stage, Step

# No letter of a hex digit and no vowel: nothing of ours holds five of these in a row by chance.
_LETTERS = "GHJKLMNPQRSTVWXZghjkmnpqrstvwxz23456789"
_CAPITALS = "GHJKLMNPQRSTVWXZ23456789"
_LEAK = 5


def _body(seed: int, length: int, alphabet: str = _LETTERS) -> str:
    """A value of high entropy that is built here, so that this file holds none."""
    chance = random.Random(seed)  # noqa: S311 - a test value, no secret of anyone
    body = "".join(chance.choice(alphabet) for _ in range(length))
    return f"K7w{body}"


def _key_file(body: str, line_end: str) -> str:
    lines = [body[at : at + 24] for at in range(0, len(body), 24)]
    name = "PRIVATE" + " KEY"
    return line_end.join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----"])


def _web_token(body: str) -> str:
    head = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    return f"{head}.{body[:20]}.{body[20:]}"


KINDS: dict[str, Callable[[str], str]] = {
    "key file": lambda body: _key_file(body, "\n"),
    "escaped key file": lambda body: _key_file(body, "\\n"),
    "url": lambda body: f"https://deploy:{body}@db.example.com/app",
    "github": lambda body: f"ghp_{body}",
    "github fine": lambda body: f"github_pat_{body}",
    "gitlab": lambda body: f"glpat-{body}",
    "slack": lambda body: f"xoxb-{body}",
    "openai": lambda body: f"sk-proj-{body}",
    "stripe": lambda body: f"sk_live_{body}",
    "google": lambda body: f"AIza{body}",
    "npm": lambda body: f"npm_{body}",
    "hugging face": lambda body: f"hf_{body}",
    "pypi": lambda body: f"pypi-{body}",
    "aws": lambda body: f"AKIA{body.upper()}",
    "web token": _web_token,
    "password": lambda body: f"password: {body}",
    "quoted password": lambda body: f'"client_secret": "{body}"',
    "bare password": lambda body: f"passphrase {body}",
    "variable": lambda body: f"DB_PASS={body}",
    "setting": lambda body: f"{{pass: {body}}}",
    "russian password": lambda body: f"пароль: {body}",
    "chinese key": lambda body: f"密钥：{body}",
    "slack app": lambda body: f"xapp-1-{body}",
    "chinese password": lambda body: f"密码是{body}",
    "api key": lambda body: f"API_KEY={body}",
    "flag": lambda body: f"--token {body}",
    "bearer": lambda body: f"Authorization: Bearer {body}",
    "user and password": lambda body: f"username: u{body[:12]}, password: {body}",
}

_FRAMES = (
    "Remember: the staging box takes {} for the deploy",
    "from now on use {}",
    "Remember these:\n- {}\n- use tabs in Makefiles",
    "Remember: " + "words before it " * 15 + "{} and after",
    "Remember: " + "x" * 235 + " {}",
    "Error: the call with {} was refused at src/a.ts:3",
)


def _everywhere(text: str) -> list[Step]:
    """The text through each way in."""
    line = " ".join(text.split())
    shell = {"do": "tool", "tool": "bash", "args": {"command": f"deploy {line}", "filePath": line}, "exit": 1}
    steps: list[Step] = [
        {"do": "session_start"},
        {"do": "user_message", "message": "m1", "text": text},
        {"do": "tool", "tool": "edit", "args": {"filePath": f"src/{line}"}},
        {"do": "tool", "tool": "grep", "args": {"pattern": line}, "output": f"src/a.ts:1: {line}\n{line}.ts: x"},
        shell | {"output": f"{text}\nFAIL {line}"},
        shell | {"do": "tool_failed", "error": text},
        {"do": "compaction_started"},
        {"do": "compacted", "summary": f"## Goal\n{text}\n\nMemory candidates:\n- [project] It needs {line} to deploy"},
        {"do": "compacted", "summary": f"Memory candidates:\n- project {line}\nREPLACE [M1] [project] {line}"},
        {"do": "memory_add", "title": line, "content": text, "tags": [line, "a," + line], "type": line},
        {"do": "memory_add", "title": "Ports of the staging box", "content": "y" * 240 + text},
        {"do": "memory_update", "id": "MEM-001", "title": f"New {line}", "content": text, "tags": [line]},
        {"do": "memory_delete", "text": line},
        {"do": "rules_file", "path": f"{line}/AGENTS.md", "text": text},
        {"do": "session_start", "session": "other"},
    ]
    return [{"session": "S", "call": f"c{number}"} | step for number, step in enumerate(steps)]


@settings(max_examples=examples(60))
@given(st.sampled_from(sorted(KINDS)), st.sampled_from(_FRAMES), st.integers(0, 2**32), st.integers(28, 60))
def test_i8_no_file_holds_a_secret(kind: str, frame: str, seed: int, length: int) -> None:
    """No file below the data folder holds five characters of a secret in a row, nor does any name of one."""
    body = _body(seed, length)
    secret = KINDS[kind](body)
    with TemporaryDirectory() as folder:
        stage = Stage(folder)
        stage.feed(_everywhere(frame.format(secret)))
        assert len(stage.events()) > 10
        names = "\n".join(str(path.relative_to(folder)) for path in Path(folder).rglob("*"))
        written = names + "\n".join(data.decode() for data in stage.all_bytes().values())
    value = body.upper() if kind == "aws" else body
    pieces = {value[at : at + _LEAK] for at in range(len(value) - _LEAK + 1)}
    assert [piece for piece in pieces if piece in written] == []
