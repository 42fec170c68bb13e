"""``memfold config show``: each setting, its value and where that comes from."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from memfold.cli.console import Console
from memfold.cli.documents.health import FindingPart
from memfold.cli.documents.settings import ConfigDocument, SettingPart
from memfold.cli.parsing import choice, json_option, ledger_options
from memfold.cli.place import reading_place
from memfold.config import Finding
from memfold.terminal import clean
from projections.text.clean import decode

__all__ = ["configure", "finding_line", "finding_parts", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    choice(parser, "what", ("show",), "action", "the settings in force")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the settings; what was ignored follows on stderr."""
    place, console = reading_place(options), Console(options)
    resolved = place.resolved
    document = ConfigDocument(
        workspace=decode(place.root),
        settings=tuple(
            SettingPart(key, value, decode(resolved.origins.get(key, "default")))
            for key, value in resolved.values.items()
        ),
        findings=finding_parts(resolved.findings),
    )
    if options.json:
        console.emit(document)
        return 0
    rows = [(one.key, json.dumps(one.value, ensure_ascii=False), one.origin) for one in document.settings]
    console.table(rows, ("key", "value", "from"))
    for finding in document.findings:
        console.note(finding_line(finding))
    return 0


def finding_parts(findings: Iterable[Finding]) -> tuple[FindingPart, ...]:
    """Findings as parts of a document."""
    return tuple(
        FindingPart(*(decode(text) for text in (one.source, one.key, one.value, one.problem, one.fix)))
        for one in findings
    )


def finding_line(part: FindingPart) -> str:
    """A finding as one line for people."""
    return clean(str(Finding(part.source, part.key, part.value, part.problem, part.fix)))
