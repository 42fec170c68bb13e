"""The document of ``memfold cache``, and what it is made of."""

from __future__ import annotations

from msgspec import Struct

from memfold.cli.documents.prompts import SizePart

__all__ = [
    "CacheDocument",
    "EpochUsePart",
    "SessionUsePart",
    "TokensPart",
]


class TokensPart(Struct, frozen=True, kw_only=True):
    """Tokens of prompts as the host reported them, and how many were read again because memory changed.

    Attributes:
        requests: requests to the model, those of compactions included.
        input: tokens that were neither read from the cache nor written to it.
        cache_read: tokens read from the provider's cache.
        cache_write: tokens written to it.
        prompt: all of these.
        cached: share of the prompt that was read from the cache, in hundredths; null if no cache use was reported.
        hot_changes: requests before which the hot block had changed, the first of each epoch left out.
        again_here: estimate of the tokens read again because a block changed before the messages; two digits.
        again_classic: the same if both blocks stood in the system prompt; null where too few turns tell.
    """

    requests: int
    input: int
    cache_read: int
    cache_write: int
    prompt: int
    cached: int | None
    hot_changes: int
    again_here: int
    again_classic: int | None


class EpochUsePart(Struct, frozen=True, kw_only=True):
    """What one epoch of a session cost.

    Attributes:
        offset: offset of the event that began it.
        time: its time.
        open: whether it is the session's open epoch.
        block: size of its frozen block.
        digest: SHA-256 of that block, in hex.
        receipts: how often a host was handed the block, by the receipts in the log.
        block_changes: how often another block was handed over than before; anything but 0 is a bug.
        carried: requests that carried the block; a compaction's own request carries none.
        placement: `user-part` or `system`: where hot state stands.
        hot_parts: hot blocks and changes that were given.
        hot: their size; each is sent once and stands in the history from then on.
        tokens: tokens of the turns that ended in this epoch.
    """

    offset: int
    time: str
    open: bool
    block: SizePart
    digest: str
    receipts: int
    block_changes: int
    carried: int
    placement: str
    hot_parts: int
    hot: SizePart
    tokens: TokensPart


class SessionUsePart(Struct, frozen=True, kw_only=True):
    """What one session cost.

    Attributes:
        session: its id.
        began: when its first epoch began, or null if it has none.
        tokens: tokens of its turns.
        epochs: its epochs, oldest first.
    """

    session: str
    began: str | None
    tokens: TokensPart
    epochs: tuple[EpochUsePart, ...]


class CacheDocument(Struct, frozen=True, kw_only=True, tag_field="schema", tag="memfold.cache/1"):
    """What memory costs the provider's prompt cache (`memfold cache --json`).

    Attributes:
        ledger: folder of the ledger.
        position: offset of the last event that counts.
        now: time at that position.
        missing: what would have to be in the log to say more, as sentences; empty if nothing is missing.
        sessions: the latest sessions, the latest first, or the one that was asked for.
        more: how many further sessions were measured or given a block.
        subagents: how many sub-agents there are; they are given no block and left out.
        total: sums over these sessions.
        first_block: tokens taken for the client's first system block and its tools; 0 if no turn tells.
        assumptions: what the estimates assume, as sentences.
    """

    ledger: str
    position: int
    now: str
    missing: tuple[str, ...]
    sessions: tuple[SessionUsePart, ...]
    more: int
    subagents: int
    total: TokensPart
    first_block: int
    assumptions: tuple[str, ...]
