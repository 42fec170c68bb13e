"""The JSON document of ``memfold prompt``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.times import format_time
from memfold.cli.documents.prompts import BlockPart, EpochPart, HotPart, LinePart, OmittedPart, PromptDocument, SizePart
from memfold.cli.place import View, session_of
from memfold.cli.words import tokens
from projections.prompts import block_digest
from projections.render import Block

if TYPE_CHECKING:
    from memfold.cli.prompt import Prompt

__all__ = ["prompt_document"]


def prompt_document(view: View, prompt: Prompt) -> PromptDocument:
    """What was printed, with sizes, ids and omissions."""
    epoch, hot = prompt.epoch, prompt.hot
    return PromptDocument(
        ledger=view.place.shown_directory,
        position=prompt.memory.offset,
        now=format_time(prompt.memory.now),
        kind=prompt.kind,
        session=session_of(prompt.source),
        epoch=None if epoch is None else EpochPart(epoch.offset, epoch.event, format_time(epoch.now)),
        block=_block_part(prompt.block),
        hot=None if hot is None else HotPart(hot.text, _size(hot.text), hot.sections),
        note=prompt.note,
    )


def _block_part(block: Block) -> BlockPart:
    return BlockPart(
        text=block.text,
        digest=block_digest(block.text),
        size=_size(block.text),
        shown=tuple(LinePart(one.id, one.proposal.type, one.proposal.text) for one in block.shown),
        omitted=tuple(OmittedPart(one.id, reason, one.proposal.text) for one, reason in block.omitted),
    )


def _size(text: str) -> SizePart:
    return SizePart(len(text), tokens(len(text)))
