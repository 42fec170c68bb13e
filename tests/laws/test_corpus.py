"""The corpus of SPEC 7: secrets are found, innocent texts stay, and no entry writes a secret (I8).

``python -m tests.corpus`` prints the figures; ``make corpus`` sends every form through every entry.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from tests.corpus.entries import ENTRIES, SILENT
from tests.corpus.innocents import innocents
from tests.corpus.model import LEAK, Innocent, Secret, leaks
from tests.corpus.project import leaking, sent, written
from tests.corpus.score import GOAL, score, shown
from tests.corpus.secrets import one_of_each_form, secrets

_TELLTALE = "The Qwortle is green here"
_SOME = [next(row) for _, row in groupby(one_of_each_form(), key=lambda one: one.kind)]


def test_precision_and_recall_reach_their_goals() -> None:
    """Of what SPEC 7 promises, at least 99 in 100 secrets are hidden and as many changed texts hold one."""
    found = score(secrets(), innocents())
    assert found.recall >= GOAL, shown(found)
    assert found.precision >= GOAL, shown(found)


def test_the_corpus_is_large_and_the_same_each_time() -> None:
    """At least two hundred texts with a secret, and as many without one; a seed gives the same ones again."""
    assert list(secrets()) == list(secrets())
    assert list(innocents()) == list(innocents())
    assert sum(one.counted for one in secrets()) >= 200
    assert len(list(one_of_each_form())) >= 200
    assert sum(one.counted for one in innocents()) >= 200
    assert len({one.text for one in secrets()}) == len(list(secrets()))


def test_no_innocent_text_holds_a_piece_of_a_secret() -> None:
    """What is taken for a leak can't come from anywhere else."""
    texts = "\n".join(one.text for one in innocents())
    windows = {texts[at : at + LEAK] for at in range(len(texts))}
    assert windows.isdisjoint(frozenset[str]().union(*(one.pieces for one in secrets())))


def test_what_is_left_of_a_secret_is_counted() -> None:
    """Five characters in a row are a leak, four are none; texts that are left or changed lower the figures."""
    secret = Secret("odd", "the word is Kjhgfdq", ("Kjhgfdq",))
    assert leaks(secret, "xKjhgx") == []
    assert leaks(secret, "xKjhgfx") == ["Kjhgf"]
    found = score([secret, *_SOME[:3]], [Innocent("odd", "password: x1"), Innocent("plain", "use tabs")])
    assert (found.recall, found.precision) == (0.75, 0.75)
    assert "| odd | 1 | 0 |" in shown(found)


@pytest.mark.parametrize("name", ENTRIES)
def test_i8_no_entry_writes_a_secret(name: str, tmp_path: Path) -> None:
    """A secret of each kind goes in and stands in no file; a text without one does, so the entry was open."""
    texts = [secret.text for secret in _SOME]
    with sent(ENTRIES[name], [*texts, _TELLTALE], tmp_path) as project:
        files = written(project)
    assert [(secret.kind, file, piece) for secret, file, piece in leaking(_SOME, files)] == []
    assert any("Qwortle" in text for text in files.values()) == (name not in SILENT)
    assert any("quarantine" in file for file in files)
    assert any("backups" in file for file in files)


def test_a_leak_would_be_seen(tmp_path: Path) -> None:
    """The search finds a secret in any file below the home folder, and in a file's name."""
    with sent(ENTRIES["memory_read"], [], tmp_path) as project:
        secret = _SOME[0]
        (project.home / f"x{secret.values[0][:5]}").touch()
        (project.home / ".local" / "share" / "memfold" / "memfold.log").write_text(f"x {secret.values[-1]}")
        found = leaking(_SOME, written(project))
    assert {file.rpartition("/")[2] for _, file, _ in found} == {f"x{secret.values[0][:5]}", "memfold.log"}
