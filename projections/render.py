"""Workspace blocks as text: the frozen block and the numbered list, in whole lines under their budgets (SPEC 11)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ledger.times import DAY_MS
from projections.headers import NUMBERED_HEADER, WORKSPACE_HEADER
from projections.inert import inert_line
from projections.memory.model import Entry, MemoryState
from projections.memory.selection import Selection, ranked, select, strongest
from projections.policy import Policy, type_order

__all__ = [
    "MAX_CHARS",
    "MIN_CHARS",
    "Block",
    "numbered_block",
    "render_numbered",
    "render_workspace",
    "workspace_block",
]

MAX_CHARS = 3600
MIN_CHARS = 80
_STALE_DAYS: dict[str, int | None] = {"feedback": None, "decision": 45, "project": 60, "reference": 90}


class Block(Struct, frozen=True):
    """A rendered block: its text, the entries it shows in line order, and why each other active one is left out."""

    text: str
    shown: tuple[Entry, ...]
    omitted: tuple[tuple[Entry, str], ...]


def workspace_block(state: MemoryState, *, omitted: bool = True) -> Block:
    """The block of SPEC 11.2 as of a state's position, with the state's now.

    Args:
        state: the state.
        omitted: whether all that is left out is wanted too: O(n log n) in active entries. Else the block lacks most of
            it, and costs the same whatever their number.
    """
    return render_workspace(_selection(state, omitted=omitted), state.now, state.context.policy)


def numbered_block(state: MemoryState, *, omitted: bool = True) -> Block:
    """The numbered list of SPEC 11.4 as of a state's position; ``shown[n - 1]`` is what ``[Mn]`` means.

    Args:
        state: the state.
        omitted: as for ``workspace_block``.
    """
    return render_numbered(_selection(state, omitted=omitted), state.context.policy)


def _selection(state: MemoryState, *, omitted: bool) -> Selection:
    return select(ranked(state), state.context.policy) if omitted else Selection(strongest(state), ())


def render_workspace(selection: Selection, now: int, policy: Policy) -> Block:
    """Render a selection with rationale and stale labels."""
    lines = [f"- {_line(entry)}{_stale_label(entry, now, policy)}" for entry in selection.chosen]
    fixed = [len(line) for line in lines]
    admitted, left_out = _admit(selection.chosen, fixed, [0] * len(lines), WORKSPACE_HEADER, policy)
    text_of = {entry.ref: line for entry, line in zip(selection.chosen, lines, strict=True)}
    shown = _in_sections(admitted, policy)
    text = _join(WORKSPACE_HEADER, [(entry, text_of[entry.ref]) for entry in shown])
    return Block(text, tuple(shown), (*selection.omitted, *left_out))


def render_numbered(selection: Selection, policy: Policy) -> Block:
    """Render a selection as a numbered list.

    A number is known only when all lines are chosen, but the digits they take together depend on their count
    alone: the n-th line admitted pays for the digits of n.
    """
    fixed = [len(f"[M] {inert_line(entry.proposal.text)}") for entry in selection.chosen]
    digits = [len(str(n + 1)) for n in range(len(fixed))]
    admitted, left_out = _admit(selection.chosen, fixed, digits, NUMBERED_HEADER, policy)
    shown = _in_sections(admitted, policy)
    lines = [(entry, f"[M{n}] {inert_line(entry.proposal.text)}") for n, entry in enumerate(shown, 1)]
    return Block(_join(NUMBERED_HEADER, lines), tuple(shown), (*selection.omitted, *left_out))


def budget_of(policy: Policy) -> int:
    """Characters a workspace block may take; below 80 nothing is rendered (SPEC 2.6)."""
    chars = min(policy.workspace_chars, MAX_CHARS)
    return chars if chars >= MIN_CHARS else 0


def _admit(
    entries: Sequence[Entry], fixed: Sequence[int], digits: Sequence[int], header: str, policy: Policy
) -> tuple[list[Entry], list[tuple[Entry, str]]]:
    """Admit lines in rank order as long as the whole block stays within the budget (SPEC 11.1)."""
    budget, used = budget_of(policy), len(header)
    headed: set[str] = set()
    admitted: list[Entry] = []
    left_out: list[tuple[Entry, str]] = []
    for entry, length in zip(entries, fixed, strict=True):
        type_ = entry.proposal.type
        heading = 0 if type_ in headed else len(f"\n{type_}:")
        cost = heading + 1 + length + digits[len(admitted)]
        if used + cost > budget:
            left_out.append((entry, "char_budget"))
            continue
        used += cost
        headed.add(type_)
        admitted.append(entry)
    return admitted, left_out


def _in_sections(entries: Sequence[Entry], policy: Policy) -> list[Entry]:
    """Entries by section in type order, by rank within each."""
    return [entry for type_ in type_order(policy) for entry in entries if entry.proposal.type == type_]


def _join(header: str, lines: Sequence[tuple[Entry, str]]) -> str:
    if not lines:
        return ""
    out, section = [header], ""
    for entry, line in lines:
        if entry.proposal.type != section:
            section = entry.proposal.type
            out.append(f"{section}:")
        out.append(line)
    return "\n".join(out)


def _line(entry: Entry) -> str:
    rationale = entry.proposal.rationale
    return inert_line(entry.proposal.text) + (f" Why: {inert_line(rationale)}" if rationale else "")


def _stale_label(entry: Entry, now: int, policy: Policy) -> str:
    days = _stale_days(entry.proposal.type, policy)
    age = now - entry.clock
    return f" [{age // DAY_MS}d old, verify]" if days is not None and age > days * DAY_MS else ""


def _stale_days(type_: str, policy: Policy) -> int | None:
    for custom in policy.types:
        if custom.name == type_:
            return custom.stale_days
    return _STALE_DAYS.get(type_)
