"""What of a session's hot state is due with its next message, told from what it has been given (SPEC 12.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from ledger.events import AnyEvent, PromptRendered, SessionDeleted, SessionLinked, SessionStarted
from ledger.source import make_source, split_source
from projections.headers import DELTA_HEADER, HOT_HEADER
from projections.hot.block import MAYBE_FIXED, HotBlock, HotLine
from projections.hot.view import hot_view, true_lines
from projections.inert import inert
from projections.memory.intake import key_digest
from projections.prompts import Epoch, block_digest, current_epoch
from projections.text.cut import cut

if TYPE_CHECKING:
    from projections.world import WorldState

__all__ = [
    "DELTA_CHARS",
    "NOTHING_LEFT",
    "Given",
    "HotPart",
    "hot_due",
    "line_digest",
    "step_given",
    "system_due",
    "system_hot",
]

DELTA_CHARS = 300
NOTHING_LEFT = f"{HOT_HEADER}\n(none)"
"""The whole block where nothing is shown any more, for a session that would go on believing earlier lines."""
_DELTA_SECTIONS = ("pending_memories", "open_errors", "recent_decisions")
"""Files are left out: they change by the session's own calls alone, which stand in the conversation."""


class Given(Struct, frozen=True):
    """What a session has been given in its open epoch, as its receipts tell.

    Attributes:
        instance: the host process that it was given to.
        lines: the lines that the session knows, by digest, in the order of the receipt.
        whole: digest of the last whole block; empty if there was none.
        complete: False if it was also given lines that nothing held any more when their receipt came: no change can
            take them back, so the whole block has to.
    """

    instance: str
    lines: dict[str, HotLine]
    whole: str = ""
    complete: bool = True


class HotPart(Struct, frozen=True):
    """What to give: the whole block, possibly an empty one, or a change.

    Attributes:
        lines: digests of the lines that the session knows after it.
        epoch: offset of the session's open epoch.
        position: offset of the state that it shows.
    """

    kind: Literal["hot", "delta"]
    text: str
    lines: tuple[str, ...]
    epoch: int
    position: int


def line_digest(line: HotLine) -> str:
    """Names a line in a receipt without holding its text."""
    return key_digest(f"{line.section}: {line.entry}")


def hot_due(world: WorldState, source: str, instance: str) -> HotPart | None:
    """What a session's next message carries of its hot state, or None.

    Args:
        world: the state with the message taken in.
        source: the session's source.
        instance: names the process of the host; another one begins with the whole block.

    Returns:
        The whole block if nothing was given in this epoch and instance, or something that can't be told of any more;
        even an empty one, so that its receipt says so. Later what has changed, by the session's delivery settings.
        None too for sub-agents and sessions that have no open epoch, and where hot state is off or stands in the
        system prompt.
    """
    epoch = _receiving(world, source)
    if epoch is None or epoch.delivery.placement == "system":
        return None
    given, block = world.given.get(source), hot_view(world, source)
    kind: Literal["hot", "delta"] = "hot"
    text, lines = block.text, _digests(block)
    if not text and given is not None and (given.lines or not given.complete):
        text = NOTHING_LEFT if len(NOTHING_LEFT) <= world.memory.context.policy.hot_chars else ""
    if given is not None and given.instance == instance and given.complete:
        if epoch.delivery.hot_delivery == "delta":
            kind = "delta"
            text, lines = _change(block, true_lines(world, source), given)
        if not text or block_digest(text) == given.whole:
            return None
    return HotPart(kind, text, lines, epoch.offset, world.memory.offset)


def system_hot(world: WorldState, source: str) -> str:
    """The hot block to put behind the frozen one into the system prompt, where the session's settings say so."""
    epoch = _receiving(world, source)
    return hot_view(world, source).text if epoch is not None and epoch.delivery.placement == "system" else ""


def system_due(world: WorldState, source: str, instance: str) -> HotPart | None:
    """What of ``system_hot`` needs a receipt: the block, where it isn't the last that this instance was given.

    None too for an empty block: where nothing was given, nothing need be told.
    """
    epoch, given = _receiving(world, source), world.given.get(source)
    if epoch is None or not (text := system_hot(world, source)):
        return None
    if given is not None and given.instance == instance and given.whole == block_digest(text):
        return None
    return HotPart("hot", text, _digests(hot_view(world, source)), epoch.offset, world.memory.offset)


def step_given(world: WorldState, event: AnyEvent) -> None:
    """Take in a receipt, or the end of an epoch; the rest of ``world`` is the state after the event."""
    if not world.memory.fresh:
        return
    if isinstance(event, PromptRendered):
        _take_receipt(world, event)
    elif isinstance(event, SessionLinked):
        host, _ = split_source(event.source)
        world.given.pop(make_source(host, event.data.session), None)
    elif world.memory.opened is not None or isinstance(event, SessionDeleted | SessionStarted):
        epoch = _receiving(world, event.source)
        if epoch is None or epoch.offset == event.seq:
            world.given.pop(event.source, None)


def _take_receipt(world: WorldState, event: PromptRendered) -> None:
    """Note which lines a session knows now, and whether there are others, whose text nothing holds any more."""
    data, source = event.data, event.source
    epoch = _receiving(world, source)
    if epoch is None or data.epoch != epoch.offset or data.kind == "workspace":
        return
    before = world.given.get(source)
    found = {} if before is None else dict(before.lines)
    found |= {line_digest(line): line for line in true_lines(world, source)}
    lines = {digest: found[digest] for digest in data.lines if digest in found}
    complete = found.keys() >= set(data.lines)
    if data.kind == "hot" or before is None:
        world.given[source] = Given(data.instance, lines, data.digest if data.kind == "hot" else "", complete)
    else:
        world.given[source] = Given(data.instance, lines, before.whole, complete and before.complete)


def _digests(block: HotBlock) -> tuple[str, ...]:
    return tuple(map(line_digest, block.lines))


def _receiving(world: WorldState, source: str) -> Epoch | None:
    """The open epoch of a session that gets hot state, wherever it is put."""
    epoch = None if source in world.memory.subagents else current_epoch(world.prompts, source)
    if epoch is None or not epoch.delivery.enabled or epoch.delivery.hot_delivery == "off":
        return None
    return epoch


def _change(block: HotBlock, true: tuple[HotLine, ...], given: Given) -> tuple[str, tuple[str, ...]]:
    """The changes that fit beside each other, and what is known after them; no text if there are none.

    One that doesn't fit is not known, so it comes with a later message.
    """
    known, text = dict(given.lines), DELTA_HEADER
    for gone, new in _changes(block, true, given):
        lines = _told(gone, new)
        if len(text) + len(lines) > DELTA_CHARS:
            continue
        text += lines
        if gone:
            del known[line_digest(gone)]
        if new:
            known[line_digest(new)] = new
    return "" if text == DELTA_HEADER else text, tuple(known)


def _changes(
    block: HotBlock, true: tuple[HotLine, ...], given: Given
) -> Iterator[tuple[HotLine | None, HotLine | None]]:
    """What the session knows and isn't true any more, and what the block shows and it doesn't know; by section.

    An error that only got or lost its mark is one change: half of it would say that it is closed.
    """
    still = set(true)
    subjects = set(map(_subject, true))
    for section in _DELTA_SECTIONS:
        shown = (line for line in block.lines if line.section == section)
        new = {_subject(line): line for line in shown if line_digest(line) not in given.lines}
        for line in given.lines.values():
            if line.section == section and line not in still:
                heir = new.pop(_subject(line), None)
                if heir is not None or _subject(line) not in subjects:
                    yield line, heir
        for line in new.values():
            yield None, line


def _told(gone: HotLine | None, new: HotLine | None) -> str:
    """A change as it reads. One that is too long to stand alone would never come, so its entries are cut (SPEC 1.5)."""
    lines = [(f"\n{sign} {line.section}: ", line) for sign, line in (("-", gone), ("+", new)) if line]
    whole = "".join(f"{lead}{line.entry}" for lead, line in lines)
    room = DELTA_CHARS - len(DELTA_HEADER)
    if len(whole) <= room:
        return whole
    return "".join(f"{lead}{_cut(line, room // len(lines) - len(lead))}" for lead, line in lines)


def _cut(line: HotLine, limit: int) -> str:
    """An entry within a limit, with its mark; inert again, since a cut can end a word that was none of the tags."""
    subject = _subject(line).entry
    mark = line.entry[len(subject) :]
    return inert(cut(subject, limit - len(mark))) + mark


def _subject(line: HotLine) -> HotLine:
    """What a line is about: an error is the same one with and without its mark."""
    return line._replace(entry=line.entry.removesuffix(MAYBE_FIXED)) if line.section == "open_errors" else line
