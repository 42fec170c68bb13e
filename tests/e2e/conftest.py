"""A project of its own, for tests of commands that run in one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfold.paths import data_dir, ledger_dir, workspace_key
from tests.support.cli import home


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project and a home folder of its own; commands run in the project."""
    folder = tmp_path / "harbour"
    (folder / ".git").mkdir(parents=True)
    with home(tmp_path):
        monkeypatch.chdir(folder)
        yield folder


@pytest.fixture
def ledger(project: Path) -> Path:
    """The folder of the project's ledger."""
    return Path(ledger_dir(data_dir(os.environ), workspace_key(str(project))))
