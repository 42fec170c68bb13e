# ruff: noqa: PTH113, PTH118 - os.path strings, as in ``memfold.paths``
"""``memfold paths``: where the ledger, the data and the configuration are."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace

from ledger.log import LOG_NAME
from memfold.cli.console import Console
from memfold.cli.documents.settings import ConfigFilePart, PathsDocument
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.place import reading_place
from memfold.config import config_files
from memfold.hook.command import fast_command
from memfold.paths import config_dir, data_dir, workspace_key
from projections.text.clean import decode

__all__ = ["configure", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the paths, whether or not anything is there."""
    place, console = reading_place(options), Console(options)
    events = os.path.join(place.directory, LOG_NAME)
    document = PathsDocument(
        workspace=decode(place.root),
        key=workspace_key(place.root) if place.root else "",
        ledger=place.shown_directory,
        events=decode(events),
        exists=os.path.isfile(events),
        data=decode(data_dir(os.environ, place.resolved.config.data_dir)),
        config=decode(config_dir(os.environ)),
        files=tuple(
            ConfigFilePart(decode(path), os.path.isfile(path)) for path in config_files(place.root, os.environ).values()
        ),
        hook=tuple(map(decode, fast_command())),
    )
    if options.json:
        console.emit(document)
        return 0
    console.fields(
        [
            ("workspace", document.workspace or "unknown"),
            ("key", document.key),
            ("ledger", document.ledger),
            ("events", _known(document.events, exists=document.exists)),
            ("data", document.data),
            *zip(
                ("user settings", "workspace settings"),
                (_known(one.path, exists=one.exists) for one in document.files),
                strict=False,
            ),
            *([("hook", shlex.join(document.hook))] if document.hook else []),
        ]
    )
    return 0


def _known(path: str, *, exists: bool) -> str:
    return path + ("" if exists else "  (not there yet)")
