"""The ``console`` blocks of the README, the how-to guides and the format do what they show.

A block holds lines ``$ memfold …``, each followed by what it prints, stderr included; a line ``…`` stands for any
lines. Blocks of one page run in order, in a folder that holds the recordings and nothing else. What isn't a plain
``memfold`` command runs in bash, where ``memfold`` is this program.
``python -m tests.e2e.test_docs`` writes what is printed now in place of a lone ``…``.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import RECORDINGS, ROOT, home, run

PAGES = [ROOT / "README.md", ROOT / "docs" / "format.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANY = "…"
_OF_A_SHELL = re.compile(r"[|<>]|^(?!memfold )")


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
    if _OF_A_SHELL.search(command):
        text = _print_in_bash(command, folder)
    else:
        ran = run(*shlex.split(command)[1:])
        text = (ran.out if not ran.out or ran.out.endswith("\n") else f"{ran.out}\n") + ran.err
    return text.replace(str(folder), "/home/dev")


def _print_in_bash(command: str, folder: Path) -> str:
    """What bash prints, stderr included; it has the standard tools and ``memfold``."""
    program = f'memfold() {{ "{sys.executable}" -m memfold "$@"; }}'
    ran = subprocess.run(
        ["bash", "-c", f"{program}\n{command}"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    return ran.stdout.decode()


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


def test_links_between_pages_lead_somewhere() -> None:
    """Every relative link in the README and in docs names a file, and a heading in it if it names one."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages
        for link in re.findall(r"\]\(((?!https?:)[^()\s]+)\)", page.read_text(encoding="utf-8"))
        if not _leads_somewhere(page, link)
    ]
    assert broken == []


def _leads_somewhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    if not anchor:
        return target.exists()
    headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
    return anchor in {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


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
