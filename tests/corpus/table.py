"""What is written of the secrets of each form that go through one entry."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.corpus.entries import ENTRIES
from tests.corpus.project import leaking, sent, written
from tests.corpus.secrets import one_of_each_form

__all__ = ["Row", "row_of"]


class Row(NamedTuple):
    """What came of one entry; ``shown`` are some of the leaks, if there are any."""

    name: str
    texts: int
    size: int
    leaks: int
    shown: list[str]


def row_of(name: str) -> Row:
    """Send one text of each form through an entry, and look for them in all that was written."""
    used = list(one_of_each_form())
    texts = [one.text for one in used]
    with tempfile.TemporaryDirectory() as folder, sent(ENTRIES[name], texts, Path(folder)) as project:
        files = written(project)
    found = leaking(used, files)
    size = sum(len(text.encode()) for text in files.values())
    shown_ = [f"{secret.kind}: {piece!r} of {secret.text[-120:]!r} in {file}" for secret, file, piece in found[:3]]
    return Row(name, len(used), size, len({secret for secret, _, _ in found}), shown_)
