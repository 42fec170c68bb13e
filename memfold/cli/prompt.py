"""``memfold prompt``: the block of memories that a prompt holds, byte for byte, at any position.

A session start waits for this command, so it imports what a block needs and nothing more: hot state with ``--hot``
only, the documents with ``--json`` only. A test holds the set of modules.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from msgspec import Struct

from memfold.cli.place import View, open_view
from memfold.errors import UsageError
from projections.memory.model import MemoryState
from projections.prompts import Epoch, PromptState, current_epoch
from projections.render import Block, numbered_block, workspace_block

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from projections.hot.block import HotBlock
    from projections.world import WorldState

__all__ = ["Prompt", "configure", "run"]


class Prompt(Struct, frozen=True):
    """What is printed: a block, the epoch that froze it, the hot block beside it, and why there is none."""

    kind: str
    memory: MemoryState
    source: str | None
    epoch: Epoch | None
    block: Block
    hot: HotBlock | None
    note: str | None


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    from memfold.cli.parsing import at_option, json_option, ledger_options

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
    prompt = _prompt(view, options)
    if options.json:
        from memfold.cli.console import Console
        from memfold.cli.prompt_document import prompt_document

        Console(options).emit(prompt_document(view, prompt))
        return 0
    hot = prompt.hot.text if prompt.hot else ""
    text = "\n\n".join(part for part in (prompt.block.text, hot) if part)
    if text and sys.stdout.isatty():
        # A terminal needs a line break behind it, and no control that a foreign writer may have left in a text.
        from memfold.terminal import clean

        text = clean(f"{text}\n", lines=True)
    if options.patience is not None:
        options.patience.end()
    sys.stdout.write(text)  # else it is exactly what a host gets
    if prompt.note and not text:
        from memfold.cli.console import Console

        Console(options).note(prompt.note)
    return 0


def _prompt(view: View, options: Namespace) -> Prompt:
    """The blocks that the options ask for."""
    source = view.session(options.session) if options.session is not None else None
    hot_source = source or (_last_session(view) if options.hot else None)
    if options.hot and hot_source and not _is_off(view):
        from projections.hot.view import hot_view

        world = view.world({hot_source})
        return _made(view, world, options, hot_view(world, hot_source), (source, hot_source))
    only = frozenset[str]() if source is None else {source}
    return view.with_blocks(only, lambda state: _made(view, state, options, None, (source, hot_source)))


def _made(
    view: View,
    state: PromptState | WorldState,
    options: Namespace,
    hot: HotBlock | None,
    sources: tuple[str | None, str | None],
) -> Prompt:
    """The block of a state; ``sources`` are the session whose block it is, and the one that is asked about."""
    source, asked = sources
    off = _is_off(view)
    kind, epoch, block = _block(view, state, source, options)
    if off:
        block = Block("", (), block.omitted)
    note = None if block.text else _why_empty(state, source, epoch, off=off)
    return Prompt(kind, state.memory, asked, epoch, block, hot, note)


def _is_off(view: View) -> bool:
    return view.at is None and not view.place.resolved.config.enabled


def _block(
    view: View, state: PromptState | WorldState, source: str | None, options: Namespace
) -> tuple[str, Epoch | None, Block]:
    if options.next:
        from replay.views import next_block

        return "next", None, next_block(state, omitted=options.json)
    if options.numbered:
        return "numbered", None, numbered_block(state.memory, omitted=options.json)
    if source is None:
        return "present", None, workspace_block(state.memory, omitted=options.json)
    epoch = current_epoch(state.prompts, source)
    if epoch is None:
        return "frozen", None, Block("", (), ())
    shown = tuple(state.memory.entries[ref] for ref in epoch.shown)
    if not options.json or epoch.delivery.injection == "summary":
        return "frozen", epoch, Block(epoch.segment, shown, ())
    # What was left out is known only at the epoch's own position: a second fold, which only --json pays for.
    then = workspace_block(View(view.place, view.log, epoch.offset).blocks(frozenset()).memory)
    return "frozen", epoch, Block(epoch.segment, then.shown, then.omitted)


def _last_session(view: View) -> str | None:
    """The source of the last event that belongs to a session."""
    source = None
    for event in view.events():
        if "/" in event.source:
            source = event.source
    return source


def _why_empty(state: PromptState | WorldState, source: str | None, epoch: Epoch | None, *, off: bool) -> str:
    if off:
        return "no block: memory is switched off"
    if source is not None and source in state.memory.subagents:
        return "no block: the session is a sub-agent, which gets none"
    if source is not None and epoch is None:
        return "no block: the session has no open epoch here; it is deleted, or has had no prompt yet"
    if state.memory.pending and epoch is None:
        return f"no block: {len(state.memory.pending)} pending, none active yet; a new session decides (--next)"
    if epoch is None:
        return "no block: no memory is active"
    waiting = "; what was asked for since: --hot" if state.memory.said.get(epoch.session) else ""
    return f"no block: no memory was active when its epoch began, #{epoch.offset}{waiting}"
