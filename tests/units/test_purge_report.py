"""What a person is told of places that a purge doesn't change."""

from __future__ import annotations

from pathlib import Path

from memfold.cli.documents.changes import PlacePart
from memfold.cli.purge_report import _action


def test_what_is_derived_of_another_ledger_names_it(tmp_path: Path) -> None:
    """A purge there removes it; a folder of that name without a log beside it is nobody's to change."""
    (tmp_path / "derived").mkdir()
    part = PlacePart(path=str(tmp_path / "derived" / "facts.jsonl"), kind="other", action="tell")
    assert _action(part) == "left as it is: it isn't memfold's to change"
    (tmp_path / "events.jsonl").touch()
    assert _action(part) == f"another ledger's; purge there too: --ledger {tmp_path}"
