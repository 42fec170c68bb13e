"""The ``console`` blocks of the README and the how-to guides do what they show.

A block holds lines ``$ memfold …``, each followed by what it prints, stderr included; a line ``…`` stands for any
lines. Blocks of one page run in order, in a folder that holds the recordings and nothing else.
``python -m tests.e2e.test_docs`` writes what is printed now in place of a lone ``…``.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import RECORDINGS, ROOT, home, run

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANY = "…"


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """The folder that the commands of one page run in."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        shutil.copytree(RECORDINGS, folder / "fixtures" / "recordings")
        with home(folder), contextlib.chdir(folder):
            yield folder


def _steps(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what it is said to print."""
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        yield command, expected


def _print(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    assert program == "memfold", f"only memfold runs in a console block, not {command!r}; use a block of another kind"
    ran = run(*arguments)
    text = (ran.out if not ran.out or ran.out.endswith("\n") else f"{ran.out}\n") + ran.err
    return text.replace(str(folder), "/home/dev")


def _fits(text: str, expected: str) -> bool:
    """Whether a text is what is expected, ``…`` standing for any lines."""
    pattern = re.escape(expected).replace(f"{re.escape(_ANY)}\\\n", "(?:.*\\n)*?")
    return re.fullmatch(pattern, text) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_show_what_is_printed(page: Path) -> None:
    """Every command of the page prints what the page says."""
    with _folder() as folder:
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for command, expected in _steps(block):
                text = _print(command, folder)
                assert _fits(text, expected), f"{command}\n{text}"


def test_a_wrong_page_would_be_found() -> None:
    """Another line, a missing one and one too many don't fit; an ellipsis does."""
    assert _fits("a\nb\n", "a\nb\n")
    assert _fits("a\nb\nc\n", "a\n…\nc\n")
    assert _fits("a\nb\nc\n", "…\n")
    assert not _fits("a\nb\n", "a\n")
    assert not _fits("a\n", "a\nb\n")
    assert not _fits("a\nb\n", "a\n…\nc\n")


def _rewrite(page: Path) -> None:
    with _folder() as folder:

        def block(match: re.Match[str]) -> str:
            steps = []
            for command, expected in _steps(match[1]):
                text = _print(command, folder)
                steps.append(f"$ {command}\n{text if expected.strip() == _ANY else expected}")
            return f"```console\n{''.join(steps)}```"

        page.write_text(_BLOCK.sub(block, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for one in PAGES:
        _rewrite(one)
