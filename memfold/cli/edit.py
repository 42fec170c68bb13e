# ruff: noqa: PTH108 - a descriptor's file is removed by its name
"""``memfold edit``: change title, content, tags or type of a memory, by options or in an editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path

from memfold.cli.add import check_type, given_text, worded
from memfold.cli.desk import Desk, tell
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.pin import PIN_TAG
from memfold.editing import update
from memfold.errors import NotFoundError, UsageError
from projections.memory.model import Entry
from projections.memory_file.model import FileEntry
from projections.memory_file.reading import read_file
from projections.memory_file.writing import write_file
from projections.text.clean import decode

__all__ = ["configure", "run"]

Fields = dict[str, str | list[str]]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("memory", metavar="ID|TEXT", help="an id such as MEM-003, or a text, whole or in part")
    parser.add_argument("text", metavar="NEW", nargs="?", help="another text, as for add; - reads it from stdin")
    parser.add_argument("--title", metavar="T", help="another title")
    parser.add_argument("--content", metavar="T", help="another content, below the title; empty: none")
    tags = parser.add_mutually_exclusive_group()
    tags.add_argument(
        "--tag", metavar="T", action="append", help="these tags in place of the present ones; a pin stays"
    )
    tags.add_argument("--no-tags", action="store_true", help="no tags; a pin stays")
    parser.add_argument("--type", metavar="T", help="another type")
    ledger_options(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Change the fields that are given; without any, open an editor."""
    fields = _given(options)
    with Desk(options) as desk:
        check_type(desk, options.type)
        ref = desk.named(options.memory)
        if ref not in desk.store.world().memory.entries:
            raise NotFoundError("it is pending and has no id yet: say it anew, and forget this one", "memfold forget")
        wording = desk.wording(ref)
        if not fields:
            fields = _edited(desk.store.world().memory.entries[ref])
        elif "tags" in fields and PIN_TAG in wording.tags:
            fields["tags"] = [*fields["tags"], PIN_TAG]  # unpin takes it
        done = update(desk.store, ref, session=None, origin="cli", time=desk.time, **fields)  # type: ignore[arg-type]  # names and types are those above
        return tell(desk, options, done)


def _given(options: Namespace) -> Fields:
    """The fields that the arguments name.

    Raises:
        UsageError: if the content is given twice, or as an empty text.
    """
    fields: Fields = {
        name: decode(value) for name in ("title", "content", "type") if (value := getattr(options, name)) is not None
    }
    if options.text is not None:
        if options.content is not None:
            raise UsageError("the text is given twice", "leave out --content")
        text = given_text(options.text)
        if not text.strip():
            raise UsageError("the new text is empty", "memfold forget takes a memory out")
        title = fields.get("title")
        fields["title"], fields["content"] = worded(text, title if isinstance(title, str) else None)
    if options.tag is not None or options.no_tags:
        fields["tags"] = options.tag or []
    return fields


def _edited(entry: Entry) -> Fields:
    """What a person makes of the memory in an editor: it stands there as in MEMORY.md.

    Raises:
        UsageError: if there is no terminal or no editor.
    """
    wording = entry.proposal
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor or not sys.stdin.isatty():
        raise UsageError(
            "nothing to change is given", "a new text, --title, --content, --tag or --type; with $EDITOR, on a terminal"
        )
    descriptor, path = tempfile.mkstemp(suffix=".md", prefix="memfold-")
    try:
        os.fchmod(descriptor, 0o600)  # the umask may have taken the owner's bits
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(
                write_file(
                    [FileEntry(entry.number, wording.title, wording.content, tags=wording.tags)], entry.number + 1
                )
            )
        try:
            code = subprocess.run([*shlex.split(editor), path], check=False).returncode  # noqa: S603 - the person's own
        except (OSError, ValueError) as error:
            raise UsageError(f"the editor {editor!r} can't be started: {error}", "set VISUAL or EDITOR") from error
        if code:
            raise UsageError(f"the editor ended with {code}, so nothing was changed", "save and leave it normally")
        entries = read_file(Path(path).read_text(encoding="utf-8", errors="replace")).entries
    finally:
        os.unlink(path)
    if len(entries) != 1:
        raise UsageError("the file must hold one memory; nothing was changed", "leave its first lines as they are")
    # Only what was changed: somebody else may have changed the rest while the editor was open.
    after = entries[0]
    fields: Fields = {}
    if after.title != wording.title:
        fields["title"] = after.title
    if after.content != wording.content:
        fields["content"] = after.content
    if after.tags != wording.tags:
        fields["tags"] = list(after.tags)
    return fields
