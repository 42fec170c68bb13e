"""``memfold add``: store a memory by hand."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from memfold.cli.desk import Desk, tell
from memfold.cli.parsing import json_option, ledger_options
from memfold.cli.reading import STDIN, given_stdin
from memfold.editing import add
from memfold.errors import UsageError
from projections.policy import type_order
from projections.similar import most_similar
from projections.text.clean import decode, single_line
from projections.text.cut import cut
from projections.text.limits import TITLE_LIMIT

__all__ = ["check_type", "configure", "given_text", "run", "worded"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("text", metavar="TEXT", help="what to remember; - reads it from stdin")
    parser.add_argument("--title", metavar="T", help="one line that stands alone (default: the text, if it is short)")
    parser.add_argument("--type", metavar="T", help="feedback, decision, project or reference (default: by its words)")
    parser.add_argument("--tag", metavar="T", action="append", default=[], help="a tag; may be given again")
    ledger_options(parser)
    json_option(parser)


def given_text(argument: str) -> str:
    """The text of an argument, or of stdin."""
    return given_stdin() if argument == STDIN else decode(argument)


def worded(text: str, title: str | None = None) -> tuple[str, str]:
    """Title and content of what a person typed: a text that fits in one line is the title alone."""
    line = single_line(text)
    title = title or cut(line, TITLE_LIMIT)
    return title, "" if title == line else text


def run(options: Namespace) -> int:
    """Add it, and say what is stored or why not."""
    text = given_text(options.text)
    if not text.strip():
        raise UsageError("there is no text to remember", 'memfold add "use small commits"')
    title, content = worded(text, decode(options.title) if options.title else None)
    with Desk(options, make=True) as desk:
        check_type(desk, options.type)
        done = add(
            desk.store,
            session=None,
            title=title,
            content=content,
            tags=options.tag,
            type=options.type,
            origin="cli",
            time=desk.time,
        )
        similar = None
        if done.kind == "saved" and done.entry is not None:
            similar = most_similar(desk.store.world().memory, done.entry.proposal.text, but=done.entry)
        also = "" if similar is None else f"similar: {similar.id} {cut(similar.proposal.text, TITLE_LIMIT)}"
        return tell(desk, options, done, also=also)


def check_type(desk: Desk, type_: str | None) -> None:
    """Refuse a type that isn't one here.

    Raises:
        UsageError: naming those there are.
    """
    known = type_order(desk.place.resolved.config.policy)
    if type_ is not None and type_ not in known:
        raise UsageError(f"there is no type {decode(type_)!r}", f"--type {', '.join(known)}")
