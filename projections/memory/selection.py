"""Which active memories a block may show, and why the others are left out (SPEC 11.1)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from projections.memory.model import Entry, MemoryState
from projections.memory.retention import ranker
from projections.policy import Policy, caps_of

__all__ = ["MAX_ENTRIES", "Selection", "active_entries", "fits_caps", "ranked", "select"]

MAX_ENTRIES = 28


class Selection(Struct, frozen=True):
    """Entries in rank order that pass the caps, and the reason for each that does not."""

    chosen: tuple[Entry, ...]
    omitted: tuple[tuple[Entry, str], ...]


def active_entries(state: MemoryState) -> list[Entry]:
    """Active entries, grouped by type, in ledger order within each."""
    return [state.entries[ref] for refs in state.by_type.values() for ref in refs]


def ranked(state: MemoryState) -> list[Entry]:
    """Active entries, strongest first, as of the state's now; O(n log n)."""
    return sorted(active_entries(state), key=ranker(state))


def max_entries(policy: Policy) -> int:
    """The configured number of entries; it can only lower the limit of SPEC 2.6."""
    return max(0, min(policy.max_entries, MAX_ENTRIES))


def select(order: Iterable[Entry], policy: Policy) -> Selection:
    """Apply type caps, then the global cap, to entries in rank order.

    Safety-critical entries are exempt from type caps and don't count toward them; the global cap holds for them.
    """
    caps, limit = caps_of(policy), max_entries(policy)
    used: dict[str, int] = dict.fromkeys(caps, 0)
    chosen: list[Entry] = []
    omitted: list[tuple[Entry, str]] = []
    for entry in order:
        wording = entry.proposal
        cap, count = caps.get(wording.type, 0), used.get(wording.type, 0)
        if not wording.safety_critical:
            if count >= cap:
                omitted.append((entry, "type_cap"))
                continue
            used[wording.type] = count + 1
        if len(chosen) >= limit:
            omitted.append((entry, "global_cap"))
        else:
            chosen.append(entry)
    return Selection(tuple(chosen), tuple(omitted))


def fits_caps(state: MemoryState, newcomer: Entry) -> bool:
    """Whether a compaction candidate would pass the caps if it were active now (SPEC 9.4).

    Entries are counted newest first and only as far as each type's cap, so a full store answers early.
    """
    policy = state.context.policy
    caps, limit = caps_of(policy), max_entries(policy)
    rank = ranker(state)
    own = rank(newcomer)
    own_type = newcomer.proposal.type
    ahead = 0
    for type_ in sorted(state.by_type, key=lambda name: name != own_type):
        cap, counted = caps.get(type_, 0), 0
        if type_ == own_type and cap == 0:
            return False
        for ref in reversed(state.by_type[type_]):
            entry = state.entries[ref]
            free = entry.proposal.safety_critical
            if counted >= cap and not free:
                continue
            if rank(entry) > own:
                continue
            if free:
                ahead += 1
            else:
                counted += 1
                if type_ == own_type and counted >= cap:
                    return False
        ahead += counted
        if ahead >= limit:
            return False
    return caps.get(own_type, 0) > 0 and limit > 0
