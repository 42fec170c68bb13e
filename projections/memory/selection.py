"""Which active memories a block may show, and why the others are left out (SPEC 11.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import takewhile
from operator import itemgetter

from msgspec import Struct

from projections.memory.model import Cohort, Entry, MemoryState, Source
from projections.memory.retention import (
    Curve,
    ages_beside,
    cohort_of,
    cohort_strengths,
    curve_of,
    dormant_spans,
    rank_at,
    ranker,
)
from projections.policy import Policy, caps_of

__all__ = ["MAX_ENTRIES", "Selection", "active_entries", "fits_caps", "ranked", "select", "strongest", "weakest"]

MAX_ENTRIES = 28


class Selection(Struct, frozen=True):
    """Entries in rank order that pass the caps, and the reason for each that does not."""

    chosen: tuple[Entry, ...]
    omitted: tuple[tuple[Entry, str], ...]


def active_entries(state: MemoryState) -> list[Entry]:
    """Active entries, grouped by type and cohort, the oldest first in each."""
    return [
        _entry(state, number)
        for cohorts in state.cohorts.values()
        for members in cohorts.values()
        for _, number in members
    ]


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


def strongest(state: MemoryState) -> tuple[Entry, ...]:
    """The entries that pass the caps, in rank order: what ``select`` chooses of ``ranked``.

    Looks at the newest places of each cohort, and at the entries of those alone that may pass: O(cohorts and caps),
    besides equals.
    """
    policy = state.context.policy
    caps, limit = caps_of(policy), max_entries(policy)
    strength = cohort_strengths(state)
    places: list[tuple[float, int]] = []
    passing: list[float] = []  # strengths that pass the caps of types, whichever of equals has them
    for type_, cohorts in state.cohorts.items():
        exempt, capped = _newest(type_, cohorts, policy, strength, limit)
        cap = min(caps.get(type_, 0), limit)
        places += exempt + _first(capped, cap)
        passing += [present for present, _ in (*exempt, *capped[:cap])]
    least = sorted(passing)[-limit] if 0 < limit < len(passing) else 0.0
    found = [
        (rank_at(entry := _entry(state, number), present), entry) for present, number in places if present >= least
    ]
    found.sort(key=itemgetter(0))
    return select((entry for _, entry in found), policy).chosen


def fits_caps(state: MemoryState, newcomer: Entry) -> bool:
    """Whether a compaction candidate would pass the caps if it were active now (SPEC 9.4).

    That is whether fewer than its type's cap are ahead of it in its type, and fewer than the global cap among all that
    the type caps let through. O(cohorts + caps), besides entries that are exactly as strong as the newcomer; where
    there is no room, it is found out from the first few cohorts.
    """
    policy = state.context.policy
    caps, limit = caps_of(policy), max_entries(policy)
    own_type = newcomer.proposal.type
    if caps.get(own_type, 0) == 0 or limit == 0:
        return False
    count_ahead = _counter(state, newcomer)
    ahead = 0
    for type_ in sorted(state.cohorts, key=lambda name: name != own_type):
        cap, counted = caps.get(type_, 0), 0
        for cohort, members in state.cohorts[type_].items():
            most = limit - ahead if cohort.safety_critical else cap - counted
            if most <= 0:
                continue
            found = count_ahead(curve_of(type_, cohort, policy), members, most)
            if cohort.safety_critical:
                ahead += found
            else:
                counted += found
            if ahead + counted >= limit or (type_ == own_type and counted >= cap):
                return False
        ahead += counted
    return True


def weakest(state: MemoryState, source: Source) -> Entry:
    """The active entry of a source that comes last in rank order; O(cohorts), besides equals.

    Raises:
        ValueError: if there is none.
    """
    policy, strength = state.context.policy, cohort_strengths(state)
    oldest_first = [
        (strength(curve := curve_of(type_, cohort, policy), members[0][0]), curve, members)
        for type_, cohorts in state.cohorts.items()
        for cohort, members in cohorts.items()
        if cohort.source == source
    ]
    least = min(oldest for oldest, _, _ in oldest_first)
    equals = [
        _entry(state, number)
        for oldest, curve, members in oldest_first
        if oldest == least
        for _, number in takewhile(lambda member: strength(curve, member[0]) == least, members)  # noqa: B023 - at once
    ]
    return equals[0] if len(equals) == 1 else max(equals, key=ranker(state))


Members = list[tuple[int, int]]


def _newest(
    type_: str, cohorts: dict[Cohort, Members], policy: Policy, strength: Callable[[Curve, int], float], limit: int
) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
    """Strength and number of all members of a type that may pass its cap: those exempt from it, and the others.

    Those come strongest first.
    """
    cap = min(caps_of(policy).get(type_, 0), limit)
    exempt: list[tuple[float, int]] = []
    capped: list[tuple[float, int]] = []
    floor = 0.0  # what is weaker has as many of its type before it as its cap lets through
    for cohort, members in cohorts.items():
        most, least = (limit, 0.0) if cohort.safety_critical else (cap, floor)
        curve = curve_of(type_, cohort, policy)
        taken, last = 0, 0.0
        for clock, number in reversed(members) if most > 0 else ():
            present = strength(curve, clock)
            if present < least or (taken >= most and present < last):
                break  # all others are older, and so no stronger
            (exempt if cohort.safety_critical else capped).append((present, number))
            taken, last = taken + 1, present
        if taken >= most and not cohort.safety_critical:
            floor = max(floor, last)
    return exempt, sorted(capped, reverse=True)


def _first(places: list[tuple[float, int]], count: int) -> list[tuple[float, int]]:
    """The first of places that are sorted by strength, and all that are as strong as the last of them."""
    if not 0 < count < len(places):
        return places if count else []
    return [place for place in places if place[0] >= places[count - 1][0]]


def _counter(state: MemoryState, newcomer: Entry) -> Callable[[Curve, Members, int], int]:
    """What counts the members of a cohort that rank before a newcomer, up to a number."""
    now, strength, dormant = state.now, cohort_strengths(state), dormant_spans(state)
    last_gap = dormant[-1][1] if dormant else -math.inf
    own = strength(curve_of(newcomer.proposal.type, cohort_of(newcomer), state.context.policy), newcomer.clock)

    def count(curve: Curve, members: Members, most: int) -> int:
        if curve.greatest < own:
            return 0
        # Most often ages tell, and no strength is asked for. Dormant time only makes an age less.
        younger, older = ages_beside(curve, own)
        if most <= len(members) and now - members[-most][0] < younger:
            return most
        newest = members[-1][0]
        if last_gap <= newest and now - newest > older:
            return 0
        found = 0
        for clock, number in reversed(members):
            present = strength(curve, clock)
            if found >= most or present < own:
                break  # all others are older, and so no stronger
            found += present > own or rank_at(_entry(state, number), own) < rank_at(newcomer, own)
        return found

    return count


def _entry(state: MemoryState, number: int) -> Entry:
    return state.entries[state.numbers[number]]
