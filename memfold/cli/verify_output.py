"""What ``memfold verify`` says to a person: one verdict, what it rests on, and the heads that don't hold."""

from __future__ import annotations

from collections.abc import Callable

from memfold.cli.console import Console
from memfold.cli.words import plural
from replay.recheck import Rechecked
from replay.rerender import Difference, Rerendered
from replay.tlog import Proof
from replay.verify import Break, Given, Verification

__all__ = ["print_prompts", "print_proof", "print_verification"]

_SHOWN = 10
_CAUSES = {
    "purge": "a purge took words out of it",
    "damage": "events before it are lost: memfold check",
    "policy": "a policy in force then means something else in this version",
    "version": "another version of memfold made it",
    "unknown": "nothing explains it: a mistake in memfold, or the receipt isn't true",
}
_THAT = {"head": "that head", "proof": "the head in that proof"}
_AGAIN = {"head": "take a new head", "proof": "make a new proof"}
_YOURS = {"head": "the head you gave", "proof": "the head in the proof"}


def print_verification(console: Console, found: Verification, names: tuple[str, ...], kept: Rechecked) -> None:
    """Print the verdict and what it rests on.

    Args:
        console: where to.
        found: what was found.
        names: for each given head whether it was a ``head`` by itself or that of a ``proof``.
        kept: what came of looking at what was kept of the log when it was read.
    """
    style = console.style
    ended = [_ended(name, one) for name, one in zip(names, found.given, strict=True) if one.standing == "purged"]
    if found.breaks:
        _verdict(console, style.red, f"broken: {_where(found.breaks[0])}")
    elif kept.removed:
        heads = f"{_holding(found, names)}, but " if not ended and (found.heads or names) else ""
        _verdict(
            console, style.red, f"changed: {heads}what was kept of the log when it was read isn't what it says now"
        )
    elif not ended and (found.heads or names):
        _verdict(console, style.green, f"intact: {_holding(found, names)}")
    elif not ended:
        text = "what changed can't be told; memfold head > FILE keeps one"
        _verdict(console, style.yellow, f"no head stands in the ledger yet: {text}")
    for text in ended:
        _verdict(console, style.yellow, text)
    console.fields(
        [
            ("tree", f"{plural(found.head.size, 'line')}, root {found.head.root.hex()}"),
            ("sealed", f"the first {plural(found.sealed, 'line')}" if found.heads else ""),
            *((name, _given(one)) for name, one in zip(_labels(names), found.given, strict=True)),
            ("purged", _purged(found)),
            ("kept", f"{plural(kept.held, 'checkpoint')} for fast starts, as the log gives" if kept.held else ""),
            ("removed", f"{', '.join(kept.removed)}: answers follow the log from now on" if kept.removed else ""),
        ]
    )
    for one in found.breaks[:_SHOWN]:
        console.wrapped(_place(one))
    if len(found.breaks) > _SHOWN:
        console.wrapped(f"… and {len(found.breaks) - _SHOWN:,} more: behind a line that changed no head holds")
    if found.breaks or kept.removed:
        why = "" if found.breaks else "somebody changed a line in its place, or memfold made a mistake; "
        look = "memfold import --dry-run COPY, with a copy of the log from before, names the events that differ"
        console.wrapped(why + look)


def print_proof(console: Console, proof: Proof, event: str) -> None:
    """Print whether a proof is right whose head holds; ``event`` is the id of what it proves, empty for nothing."""
    style = console.style
    if event:
        _verdict(console, style.green, f"proven: index {proof.index:,} of the tree is event {event}")
    else:
        _verdict(console, style.red, f"not proven: index {proof.index:,} of the tree isn't the event of the proof")


def print_prompts(console: Console, prompts: Rerendered) -> None:
    """Print which prompts come out otherwise than they were given."""
    console.out()
    count = len(prompts.differences)
    if not count:
        text = f"{plural(prompts.receipts, 'prompt')} made again, each as it was given"
        _verdict(console, console.style.green, text if prompts.receipts else "no prompt was given yet")
        return
    _verdict(console, console.style.red, f"{count:,} of {plural(prompts.receipts, 'prompt')} come out otherwise")
    rows = [_row(one) for one in prompts.differences[:_SHOWN]]
    console.table(rows, ("receipt", "kind", "made from", "because"), (0, 2), (0, 1, 2))
    if count > _SHOWN:
        console.out(f"… and {count - _SHOWN:,} more, with --json")


def _verdict(console: Console, style: Callable[[str], str], text: str) -> None:
    for line in console.lines(text, ""):
        console.out(style(line))


def _holding(found: Verification, names: tuple[str, ...]) -> str:
    """All that holds: what was given, and the heads in the ledger."""
    if not names:
        return f"{_heads(found.heads)} {'hold' if found.heads > 1 else 'holds'}"
    given = " and ".join(_YOURS[name] for name in names)
    more = f", and so {'does' if found.heads == 1 else 'do'} {_heads(found.heads)} in the ledger" if found.heads else ""
    return f"{given} {'hold' if len(names) > 1 else 'holds'}{more}"


def _ended(name: str, one: Given) -> str:
    """A purge ends every head that was kept before it: nothing that stands there now can be compared with it."""
    before = f"{_THAT[name]} is from before purge #{one.purge}"
    if one.matched:
        return f"{before}; it matches the log as it was then; {_AGAIN[name]}"
    return f"{before}: it can't be compared; {_AGAIN[name]}"


def _purged(found: Verification) -> str:
    if found.purged is None:
        return ""
    count = found.unchecked
    which = "the head" if count == 1 else f"the {_heads(count)}"
    return f"#{found.purged} began a new history" + (f"; {which} before it can't be compared" if count else "")


def _heads(count: int) -> str:
    return plural(count, "head")


def _where(one: Break) -> str:
    lines = f"line {one.first_line:,}"
    if one.first_line != one.last_line:
        lines = f"lines {one.first_line:,} to {one.last_line:,}"
    if one.offset is not None and one.size <= one.after:
        return f"head #{one.offset} in {lines} contradicts a head before it that holds"
    if not one.found:
        return f"there should be {plural(one.size, 'line')}"
    if one.offset is None:
        return f"something changed in {lines} after that head was taken"
    return f"something changed in {lines} after {'it was' if one.first_line == one.last_line else 'they were'} sealed"


def _place(one: Break) -> str:
    name = "the head that was given" if one.offset is None else f"head #{one.offset}"
    repaired = f"; damage was set aside by a repair, #{one.repaired}" if one.repaired is not None else ""
    now = f"now {one.found[:16]}…" if one.found else "there aren't so many now"
    return f"{name} over {plural(one.size, 'line')}: {one.expected[:16]}…, {now}{repaired}"


def _labels(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the fields: ``given`` where there is but one head."""
    return names if len(names) > 1 else ("given",) * len(names)


def _given(one: Given) -> str:
    over = f"the head over {plural(one.head.size, 'line')}"
    if one.standing == "holds":
        return f"{over} holds: nothing before it has changed"
    return f"{over} doesn't hold" if one.standing == "broken" else f"{over} is from before purge #{one.purge}"


def _row(one: Difference) -> tuple[str, ...]:
    return (f"#{one.offset}", one.kind, f"#{one.position}", _CAUSES[one.cause])
