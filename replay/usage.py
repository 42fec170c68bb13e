"""What sessions cost a prompt cache: their blocks, hot parts and tokens, and what another layout would read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from ledger.events import (
    AnyEvent,
    PromptRendered,
    PromptRenderedData,
    SessionCompacted,
    SessionLinked,
    SessionMeasured,
    SessionMeasuredData,
    SessionStarted,
    ToolCompleted,
    UnknownEvent,
)
from ledger.source import make_source, split_source
from projections.facts import Known
from projections.hot.session import HotState
from projections.hot.view import hot_view
from projections.prompts import current_epoch
from projections.world import World, WorldState

__all__ = ["EpochUse", "SessionUse", "Survey", "Tokens", "Turn", "Usage", "survey", "tokens_of", "usage_of"]


class Tokens(NamedTuple):
    """Tokens of prompts as a host reported them: ``input`` doesn't hold what came from the cache or went into it."""

    requests: int = 0
    input: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def prompt(self) -> int:
        """All tokens that were sent."""
        return self.input + self.cache_read + self.cache_write


class Turn(Struct, frozen=True, gc=False):
    """A turn, from a user's message to the end of the model's work on it.

    Attributes:
        tokens: as reported, the requests of compactions included.
        carrying: requests that carry blocks; a compaction's own carries none.
        changed: at most so many requests before which the hot block had changed.
    """

    tokens: Tokens
    carrying: int
    changed: int

    def behind(self, first: int) -> float:
        """Tokens of an average request that stand behind a first block of ``first`` tokens."""
        return max(0.0, self.tokens.prompt / max(1, self.tokens.requests) - first)


class EpochUse(Struct):
    """One epoch of a session.

    Attributes:
        offset: offset of the event that began it.
        began: its time in milliseconds.
        block: characters of its frozen block.
        digest: digest of that block, as the log gives it.
        placement: where hot state stands.
        open: whether it is the session's open one.
        given: digests of the frozen blocks that receipts name, in their order, repeats left out.
        receipts: receipts of a frozen block.
        parts: hot blocks and changes that were given.
        part_characters: their characters.
        turns: those that ended in it.
    """

    offset: int
    began: int
    block: int
    digest: str
    placement: str
    open: bool = True
    given: tuple[str, ...] = ()
    receipts: int = 0
    parts: int = 0
    part_characters: int = 0
    turns: tuple[Turn, ...] = ()

    @property
    def block_changes(self) -> int:
        """How often a host was given another frozen block than before in this epoch: never, unless a rule is broken."""
        return len(self.given) - 1 if self.given else 0

    @property
    def requests(self) -> int:
        """Requests that carried the block."""
        return sum(turn.carrying for turn in self.turns)

    @property
    def hot_changes(self) -> int:
        """Requests before which the hot block had changed; the first of the epoch doesn't count."""
        return sum(turn.changed for turn in self.turns)

    def again_classic(self, first: int) -> float:
        """Tokens read again if both blocks stood in the system prompt and hot state were renewed for every request.

        All segments behind the client's first are one block there, which stands before all messages: a request before
        which hot state changed reads everything behind the first block again.
        """
        return sum(turn.changed * turn.behind(first) for turn in self.turns)

    def again_here(self, first: int) -> float:
        """Tokens read again because of what was given: as in the classic layout if hot state stands in the prompt."""
        heaviest = max((turn.behind(first) for turn in self.turns), default=0.0)
        hot = self.again_classic(first) if self.placement == "system" else 0.0
        return hot + self.block_changes * heaviest


class SessionUse(Struct):
    """One session: its source, its epochs, oldest first, and turns that ended while it had none."""

    source: str
    epochs: list[EpochUse]
    loose: tuple[Turn, ...] = ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All turns."""
        return (*self.loose, *(turn for epoch in self.epochs for turn in epoch.turns))


class Usage(Struct, frozen=True):
    """Sessions as they were asked for, and the position they are meant for."""

    sessions: tuple[SessionUse, ...]
    offset: int
    now: int


class Survey(Struct, frozen=True):
    """What one look at the log finds.

    Attributes:
        sources: root sessions that were measured or given a block, the latest first.
        first: tokens that the client's first system block and its tools take at most: the smallest average prompt of a
            turn; 0 where no turn tells.
        plain: number of turns that tell.
        subagents: number of sub-agents.
        measured: whether any root session was measured.
        receipts: whether any block was handed to a host.
    """

    sources: tuple[str, ...]
    first: int
    plain: int
    subagents: int
    measured: bool
    receipts: bool


def tokens_of(turns: Iterable[Turn]) -> Tokens:
    """The sums over turns."""
    return Tokens(*map(sum, zip(Tokens(), *(turn.tokens for turn in turns), strict=True)))


def survey(events: Iterable[AnyEvent]) -> Survey:
    """Find the sessions worth a closer look; O(length of the log), and nothing is folded.

    A turn in which the client compacted tells nothing of the first block: a compaction's request has none.
    """
    latest: dict[str, None] = {}
    averages: dict[str, list[float]] = {}
    subagents: set[str] = set()
    compacted: set[str] = set()
    receipts = False
    for event in events:
        source = event.source
        if isinstance(event, SessionMeasured | PromptRendered):
            latest.pop(source, None)
            latest[source] = None
            if isinstance(event, PromptRendered):
                receipts = True
                continue
            found = averages.setdefault(source, [])
            tokens = _tokens(event.data)
            if source not in compacted and tokens.requests and tokens.prompt:
                found.append(tokens.prompt / tokens.requests)
            compacted.discard(source)
        elif isinstance(event, SessionCompacted):
            compacted.add(source)
        elif isinstance(event, SessionStarted) and event.data.parent is not None:
            subagents.add(source)
        elif isinstance(event, SessionLinked):
            subagents.add(make_source(split_source(source)[0], event.data.session))
    roots = tuple(source for source in reversed(latest) if source not in subagents and "/" in source)
    plain = [average for source in roots for average in averages.get(source, ())]
    return Survey(
        sources=roots,
        first=int(min(plain, default=0)),
        plain=len(plain),
        subagents=len(subagents),
        measured=any(source in averages for source in roots),
        receipts=receipts,
    )


def usage_of(events: Iterable[AnyEvent], sources: Sequence[str], known: Known | None = None) -> Usage:
    """Fold what the named sessions were given and what it cost.

    Args:
        events: the log, from its first event.
        sources: sources of sessions.
        known: facts at hand; they change the time this takes and nothing else.

    One pass, O(length of the log); hot blocks are rendered where an event of their session changed them, no others.
    """
    world = World(frozenset(sources), known)
    state = world.initial()
    tallies = {source: _Tally(source) for source in sources}
    for event in events:
        world.step(state, event)
        tally = tallies.get(event.source)
        if tally is not None and state.memory.fresh and not isinstance(event, UnknownEvent):
            tally.take(state, event)
    for source, tally in tallies.items():
        if current_epoch(state.prompts, source) is None:
            tally.close()
    return Usage(tuple(tally.use for tally in tallies.values()), state.memory.offset, state.memory.now)


class _Tally:
    """One session while its events come by.

    ``asked`` is False until the model was asked in this epoch: its first request reads everything anyway, so what
    changed before it costs nothing.
    """

    def __init__(self, source: str) -> None:
        self.use = SessionUse(source, [])
        self._asked = self._carried = False
        self._hot: HotState | None = None
        self._text = ""
        self._changed = self._compactions = 0

    def take(self, state: WorldState, event: AnyEvent) -> None:
        """One event of the session, after the state has taken it in."""
        if isinstance(event, SessionMeasured):
            self._end_turn(event.data)
            return
        if isinstance(event, PromptRendered):
            self._receipt(event.data)
            return
        if state.memory.opened == self.use.source:
            self._compactions += isinstance(event, SessionCompacted)
            self._begin(state)
        self._look(state, event)

    def close(self) -> None:
        """The session has no open epoch."""
        for epoch in self.use.epochs:
            epoch.open = False

    def _begin(self, state: WorldState) -> None:
        self.close()
        epoch = state.prompts.epochs[self.use.source][-1]
        use = EpochUse(epoch.offset, epoch.now, len(epoch.segment), epoch.digest, epoch.delivery.placement)
        self.use.epochs.append(use)
        self._asked = self._carried = False

    def _look(self, state: WorldState, event: AnyEvent) -> None:
        """Whether the hot block is another one now. A call that left the hot state as it was isn't worth a look."""
        hot = state.sessions.hot(self.use.source)
        if isinstance(event, ToolCompleted):
            self._asked = True  # somebody must have made this call
            if hot is self._hot:
                return
        self._hot = hot
        text = hot_view(state, self.use.source).text
        if text != self._text:
            self._text = text
            self._changed += self._asked

    def _receipt(self, data: PromptRenderedData) -> None:
        epoch = next((one for one in reversed(self.use.epochs) if one.offset == data.epoch), None)
        if epoch is None:
            return
        if data.kind == "workspace":
            epoch.receipts += 1
            if epoch.given[-1:] != (data.digest,):
                epoch.given = (*epoch.given, data.digest)
        elif data.size:  # an empty one says that there was nothing to give
            epoch.parts += 1
            epoch.part_characters += data.size

    def _end_turn(self, data: SessionMeasuredData) -> None:
        carrying = max(0, data.requests - self._compactions)
        later = carrying if self._carried else max(0, carrying - 1)
        turn = Turn(_tokens(data), carrying, min(self._changed, later))
        if self.use.epochs:
            self.use.epochs[-1].turns += (turn,)
        else:
            self.use.loose += (turn,)
        if carrying:
            self._asked = self._carried = True
        self._changed = self._compactions = 0


def _tokens(data: SessionMeasuredData) -> Tokens:
    return Tokens(*(max(0, count) for count in (data.requests, data.input, data.cache_read, data.cache_write)))
