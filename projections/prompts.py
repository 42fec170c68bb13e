"""Rendered prompts: epochs with their frozen blocks, receipts, and what a session's hot block lists (SPEC 12, 14.1)."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

import msgspec
from msgspec import Struct

from ledger.digests import sha256
from ledger.events import AnyEvent, Delivery, PromptRendered, SessionCompacted, SessionDeleted, SessionStarted
from ledger.runs import Run
from projections.facts import Known
from projections.memory.activity import calls_taken_in
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import Entry, MemoryState, Proposal, Ref
from projections.render import workspace_block

__all__ = [
    "Epoch",
    "PromptState",
    "Prompts",
    "Receipt",
    "RenderedPrompts",
    "block_digest",
    "copy_prompts",
    "current_epoch",
    "hot_pending",
    "segment_of",
    "step_prompts",
]


class Epoch(Struct, frozen=True, gc=False):
    """One epoch of a session: the event that began it and the block frozen there (SPEC 12.1).

    ``text`` is the workspace block, or the summary that stands in its place; ``segment`` what a host is given: the
    policy of the tools, where there are any, and the text. Both are dropped when the epoch ends, since the log up to
    ``offset`` gives them again; the digest of the segment stays.
    """

    session: str
    offset: int
    event: str
    now: int
    text: str
    segment: str
    digest: str
    shown: tuple[Ref, ...]
    keys: frozenset[str]
    """Exact keys of what the block shows, as they were when it was frozen."""
    delivery: Delivery = Delivery()
    """What the session's latest start had said by then; it holds for the whole epoch (SPEC 19)."""
    open: bool = True


class Receipt(Struct, frozen=True, gc=False):
    """A block that was handed to a host: what was shown then, whatever today's code derives (DESIGN 3)."""

    session: str
    offset: int
    kind: str
    epoch: int
    digest: str
    size: int
    shown: tuple[Ref, ...]
    instance: str = ""


class Prompts(Struct):
    """Epochs and receipts per session, oldest first, and the delivery settings of its latest start."""

    epochs: dict[str, tuple[Epoch, ...]] = {}
    receipts: dict[str, list[Receipt]] = {}
    deliveries: dict[str, Delivery] = {}


class PromptState(Struct):
    """Prompts beside the memory they render."""

    memory: MemoryState
    prompts: Prompts


def current_epoch(prompts: Prompts, session: str) -> Epoch | None:
    """The open epoch of a session, or None."""
    epochs = prompts.epochs.get(session)
    return epochs[-1] if epochs and epochs[-1].open else None


def step_prompts(prompts: Prompts, memory: MemoryState, event: AnyEvent, only: AbstractSet[str] | None = None) -> None:
    """Freeze a block where workspace memory has begun an epoch; note settings, receipts and ends.

    ``memory`` is the state after the event. With ``only`` nothing is kept of other sessions.
    """
    if not memory.fresh:
        return
    if isinstance(event, SessionStarted) and (only is None or event.source in only):
        prompts.deliveries[event.source] = event.data.delivery
    session = memory.opened
    if session is not None and (only is None or session in only):
        delivery = prompts.deliveries.get(session, Delivery())
        text, shown = _frozen(memory, delivery)
        segment = segment_of(memory, text, delivery)
        epoch = Epoch(
            session=session,
            offset=event.seq,
            event=event.id,
            now=memory.now,
            text=text,
            segment=segment,
            digest=block_digest(segment),
            shown=tuple(entry.ref for entry in shown),
            keys=frozenset(entry.proposal.exact for entry in shown),
            delivery=delivery,
        )
        prompts.epochs[session] = (*_closed(prompts, session), epoch)
    elif isinstance(event, PromptRendered):
        if only is not None and event.source not in only:
            return
        data = event.data
        receipt = Receipt(
            session=event.source,
            offset=event.seq,
            kind=data.kind,
            epoch=data.epoch,
            digest=data.digest,
            size=data.size,
            shown=data.targets,
            instance=data.instance,
        )
        prompts.receipts.setdefault(event.source, []).append(receipt)
    elif _ends_epoch(event, memory) and event.source in prompts.epochs:
        prompts.epochs[event.source] = _closed(prompts, event.source)


def segment_of(memory: MemoryState, text: str, delivery: Delivery) -> str:
    """The constant segment that a host is given: the policy of the tools, a blank line, the text (SPEC 12.3, 16.8)."""
    policy = _policy(memory) if delivery.tools else ""
    return "\n\n".join(part for part in (policy, text) if part)


def _policy(memory: MemoryState) -> str:
    from projections.policy_text import policy_text

    return policy_text(is_empty=not memory.cohorts)


def _frozen(memory: MemoryState, delivery: Delivery) -> tuple[str, tuple[Entry, ...]]:
    """The block of an epoch and the memories that it shows; a line of a summary stands for the memory it names."""
    if delivery.injection == "workspace":
        block = workspace_block(memory, omitted=False)
        return block.text, block.shown
    from projections.memory_file.entries import file_entries
    from projections.memory_file.summary import summary_entries, summary_text

    entries = file_entries(memory)
    text = summary_text(entries, delivery.summary_chars)
    numbers = summary_entries(entries, delivery.summary_chars)
    return text, tuple(memory.entries[memory.numbers[number]] for number in numbers)


def hot_pending(memory: MemoryState, prompts: Prompts, session: str) -> list[tuple[str, str]]:
    """What a session asked for and its frozen blocks don't hold yet, as (type, text), oldest first (SPEC 14.1).

    A memory leaves the list for good when a frozen block of the session holds it or the entry it went into. One
    that the block has held all along, asked for again, is never listed (SPEC 1.1).
    """
    held = {ref for epoch in prompts.epochs.get(session, ()) for ref in epoch.shown}
    # Texts count in the open block alone: one that an earlier block held may have been deleted and asked for again.
    current = current_epoch(prompts, session)
    held_keys: frozenset[str] = frozenset() if current is None else current.keys
    listed: dict[str, tuple[str, str]] = {}
    for ref in memory.said.get(session, ()):
        wording = _unheld(memory, ref, held)
        if wording is not None and wording.exact not in held_keys:
            # A repeated request is shown once, in the place of its first.
            listed.setdefault(wording.exact, (wording.type, wording.text))
    return list(listed.values())


def block_digest(text: str) -> str:
    """SHA-256 (hex) of a block's UTF-8 bytes."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


class RenderedPrompts:
    """The frozen blocks as a projection of their own; ``only`` names the sessions whose blocks are asked for."""

    name = "rendered-prompts"
    version = 3

    def __init__(self, only: AbstractSet[str] | None = None, known: Known | None = None) -> None:
        self._memory = WorkspaceMemory(known)
        self._only = only

    def initial(self) -> PromptState:
        """No epochs."""
        return PromptState(self._memory.initial(), Prompts())

    def copy(self, state: PromptState) -> PromptState:
        """A state of its own."""
        return PromptState(self._memory.copy(state.memory), copy_prompts(state.prompts))

    def apply(self, state: PromptState, event: AnyEvent) -> PromptState:
        """The state after one more event."""
        after = self.copy(state)
        self.step(after, event)
        return after

    def step(self, state: PromptState, event: AnyEvent) -> None:
        """Change a state that only the caller can see."""
        self._memory.step(state.memory, event)
        step_prompts(state.prompts, state.memory, event, self._only)

    def run(self, state: PromptState, events: Iterable[AnyEvent | Run]) -> None:
        """Step through many events, tool calls in bulk."""
        for event in calls_taken_in(state.memory, events):
            self.step(state, event)


def copy_prompts(prompts: Prompts) -> Prompts:
    """Prompts of their own; of what the tables hold only the lists of receipts change."""
    receipts = {session: list(found) for session, found in prompts.receipts.items()}
    return Prompts(dict(prompts.epochs), receipts, dict(prompts.deliveries))


def _closed(prompts: Prompts, session: str) -> tuple[Epoch, ...]:
    return tuple(
        msgspec.structs.replace(epoch, text="", segment="", open=False) if epoch.open else epoch
        for epoch in prompts.epochs.get(session, ())
    )


def _ends_epoch(event: AnyEvent, memory: MemoryState) -> bool:
    """Whether a session's epoch ends and none begins: it is deleted, or a sub-agent that compacts (SPEC 12.2)."""
    if isinstance(event, SessionCompacted):
        return event.source in memory.subagents
    return isinstance(event, SessionDeleted)


def _unheld(memory: MemoryState, ref: Ref, held: set[Ref]) -> Proposal | None:
    """The wording to list for a request, or None if a block holds it or it is gone."""
    if ref in memory.pending:
        return memory.pending[ref]
    absorbed = memory.absorbed.get(ref)
    into = ref if absorbed is None else absorbed.into
    entry = memory.entries.get(into)
    if entry is None or entry.state != "promoted" or into in held:
        return None
    return entry.proposal if absorbed is None else absorbed.proposal
