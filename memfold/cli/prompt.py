"""``memfold prompt``: the block of memories that a prompt holds, byte for byte, at any position."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents import PromptDocument
from memfold.cli.parsing import at_option, json_option, ledger_options
from memfold.cli.parts import BlockPart, EpochPart, HotPart, LinePart, OmittedPart, SizePart
from memfold.cli.place import View, open_view, session_of
from memfold.cli.words import tokens
from memfold.errors import UsageError
from projections.memory.model import Entry
from projections.prompts import Epoch, block_digest, current_epoch
from projections.render import Block, numbered_block, workspace_block
from projections.world import WorldState
from replay.positions import state_at
from replay.views import hot_view, next_block, present_block

__all__ = ["block_part", "configure", "prompt_document", "run"]


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    ledger_options(parser)
    parser.add_argument(
        "--session", metavar="S", help="the block of this session's open epoch: its id, or a part of it"
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--next", action="store_true", help="what a new session would get: what is pending is decided first"
    )
    kind.add_argument("--numbered", action="store_true", help="the numbered list that a compaction is given")
    parser.add_argument("--hot", action="store_true", help="also the hot block of the session, or of the last one")
    at_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the block."""
    if options.session is not None and (options.next or options.numbered):
        raise UsageError("--session names a frozen block; --next and --numbered make another one")
    view = open_view(options)
    document = prompt_document(view, options)
    console = Console(options)
    if options.json:
        console.emit(document)
        return 0
    hot = document.hot.text if document.hot else ""
    text = "\n\n".join(part for part in (document.block.text, hot) if part)
    # Exactly what a host gets: a line break behind it is for a terminal only.
    sys.stdout.write(text + ("\n" if text and sys.stdout.isatty() else ""))
    if document.note and not text:
        console.note(document.note)
    return 0


def prompt_document(view: View, options: Namespace) -> PromptDocument:
    """The blocks that the options ask for."""
    source = view.session(options.session) if options.session is not None else None
    hot_source = source or (_last_session(view) if options.hot else None)
    world = view.world(only=hot_source or "")
    off = view.at is None and not view.place.resolved.config.enabled
    kind, epoch, block = _block(view, world, source, options)
    hot = hot_view(world, hot_source) if options.hot and hot_source and not off else None
    if off:
        block = Block("", (), block.omitted)
    return PromptDocument(
        ledger=view.place.shown_directory,
        position=world.memory.offset,
        now=format_time(world.memory.now),
        kind=kind,
        session=session_of(hot_source),
        epoch=None if epoch is None else EpochPart(epoch.offset, epoch.event, format_time(epoch.now)),
        block=block_part(block),
        hot=None if hot is None else HotPart(hot.text, _size(hot.text), hot.sections),
        note=_why_empty(world, source, epoch, off=off) if not block.text else None,
    )


def block_part(block: Block) -> BlockPart:
    """A block as a part of a document."""
    return BlockPart(
        text=block.text,
        digest=block_digest(block.text),
        size=_size(block.text),
        shown=tuple(LinePart(one.id, one.proposal.type, one.proposal.text) for one in block.shown),
        omitted=tuple(OmittedPart(one.id, reason, one.proposal.text) for one, reason in block.omitted),
    )


def _block(view: View, world: WorldState, source: str | None, options: Namespace) -> tuple[str, Epoch | None, Block]:
    if options.next:
        return "next", None, next_block(world)
    if options.numbered:
        return "numbered", None, numbered_block(world.memory)
    if source is None:
        return "present", None, present_block(world)
    epoch = None if source in world.memory.subagents else current_epoch(world.prompts, source)
    if epoch is None:
        return "frozen", None, Block("", (), ())
    if not options.json:
        return "frozen", epoch, Block(epoch.text, _shown(world, epoch), ())
    # What was left out is known only at the epoch's own position: a second fold, which only --json pays for.
    then = workspace_block(state_at(view.log.read(), epoch.offset, only="").memory)
    return "frozen", epoch, Block(epoch.text, then.shown, then.omitted)


def _shown(world: WorldState, epoch: Epoch) -> tuple[Entry, ...]:
    return tuple(world.memory.entries[ref] for ref in epoch.shown)


def _last_session(view: View) -> str | None:
    """The source of the last event that belongs to a session."""
    source = None
    for event in view.events():
        if "/" in event.source:
            source = event.source
    return source


def _why_empty(world: WorldState, source: str | None, epoch: Epoch | None, *, off: bool) -> str:
    if off:
        return "no block: memory is switched off"
    if source is not None and source in world.memory.subagents:
        return "no block: the session is a sub-agent, which gets none"
    if source is not None and epoch is None:
        return "no block: the session has no open epoch here; it is deleted, or has had no prompt yet"
    if world.memory.pending and epoch is None:
        return f"no block: {len(world.memory.pending)} pending, none active yet; a new session decides (--next)"
    return "no block: no memory was active then" if epoch else "no block: no memory is active"


def _size(text: str) -> SizePart:
    return SizePart(len(text), tokens(len(text)))
