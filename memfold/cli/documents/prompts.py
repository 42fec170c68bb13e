"""The document of ``memfold prompt``, and what it is made of."""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "BlockPart",
    "EpochPart",
    "HotPart",
    "LinePart",
    "OmittedPart",
    "PromptDocument",
    "SizePart",
]


class SizePart(Struct, frozen=True):
    """How large a block is.

    Attributes:
        characters: Unicode code points.
        tokens: estimate: a quarter of the characters, rounded up.
    """

    characters: int
    tokens: int


class LinePart(Struct, frozen=True):
    """A line of a block: a memory that it shows.

    Attributes:
        id: its id.
        type: its type.
        text: its text as stored.
    """

    id: str
    type: str
    text: str


class OmittedPart(Struct, frozen=True):
    """An active memory that a block leaves out.

    Attributes:
        id: its id.
        reason: code of the reason.
        text: its text as stored.
    """

    id: str
    reason: str
    text: str


class BlockPart(Struct, frozen=True):
    """A block of memories.

    Attributes:
        text: the block, byte for byte; empty if there is none.
        digest: SHA-256 of its UTF-8 bytes, in hex.
        size: how large it is.
        shown: what it shows, in the order of its lines.
        omitted: which active memories it leaves out, strongest first.
    """

    text: str
    digest: str
    size: SizePart
    shown: tuple[LinePart, ...]
    omitted: tuple[OmittedPart, ...]


class EpochPart(Struct, frozen=True):
    """The epoch that a frozen block belongs to.

    Attributes:
        offset: offset of the event that began it.
        event: id of that event.
        time: its time, which is "now" in the block.
    """

    offset: int
    event: str
    time: str


class HotPart(Struct, frozen=True):
    """The hot block of a session.

    Attributes:
        text: the block; empty if nothing is known.
        size: how large it is.
        sections: number of lines by section.
    """

    text: str
    size: SizePart
    sections: dict[str, int]


class PromptDocument(Struct, frozen=True, tag_field="schema", tag="memfold.prompt/1"):
    """The blocks of a prompt (`memfold prompt --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        kind: `frozen` for a session's block, `present` as of the last event, `next` for a session that starts now,
            `numbered` for the list that a compaction is given.
        session: id of the session, or null.
        epoch: the session's open epoch, or null.
        block: the block.
        hot: the hot block if `--hot` was given, else null.
        note: why the block is empty, or null.
    """

    ledger: str
    position: int
    now: str
    kind: str
    session: str | None
    epoch: EpochPart | None
    block: BlockPart
    hot: HotPart | None = None
    note: str | None = None
