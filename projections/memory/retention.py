"""How strong a memory is: initial weight, half-life, dormancy, reinforcement (SPEC 10)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Literal

from msgspec import Struct

from ledger.times import DAY_MS
from projections.memory.model import SOURCE_RANK, Cohort, Entry, MemoryState
from projections.policy import Policy, Retention

__all__ = [
    "MAX_REINFORCEMENTS",
    "Curve",
    "Outcome",
    "RankKey",
    "ages_beside",
    "cohort_of",
    "cohort_strengths",
    "curve_of",
    "dormant_spans",
    "effective_age",
    "half_life_days",
    "initial_strength",
    "rank_at",
    "rank_key",
    "ranker",
    "reinforce_outcome",
    "strength",
]

MAX_REINFORCEMENTS = 6
RankKey = tuple[float, int, int, int, int]
Outcome = Literal["increment", "refresh_only", "same_session", "min_interval"]

_TYPE_FACTOR = {"reference": 1.0, "project": 1.25, "feedback": 2.25, "decision": 2.5}
_CUSTOM_FACTOR = 1.25
_SOURCE_FACTOR = {"compaction": 1.0, "manual": 1.4, "explicit": 2.0}
_IMPORTANCE_FACTOR = {"low": 0.7, "normal": 1.0, "high": 1.5}
_SAFETY_FACTOR = 1.5
_HALF_LIFE_BASE = 0.85
_DECIMALS = 9
"""Rounding keeps the order where a platform's power function differs in its last bit (SPEC 10.2)."""
_DOUBT = 2 * 10**-_DECIMALS
"""Strengths that differ by more are in the order of their ages."""


def type_factor(type_: str, policy: Policy) -> float:
    """Weight of a memory type: built in, or configured in percent (SPEC 10.1, 20.1)."""
    for custom in policy.types:
        if custom.name == type_:
            return custom.factor_percent / 100
    return _TYPE_FACTOR.get(type_, _CUSTOM_FACTOR)


def initial_strength(entry: Entry, policy: Policy) -> float:
    """``type x source x importance x safety``; confidence plays no part (SPEC 10.1)."""
    wording = entry.proposal
    return _initial(wording.type, wording.source, wording.importance, wording.safety_critical, policy)


@lru_cache(maxsize=1024)
def _initial(type_: str, source: str, importance: str, safety_critical: bool, policy: Policy) -> float:
    safety = _SAFETY_FACTOR if safety_critical else 1.0
    return type_factor(type_, policy) * _SOURCE_FACTOR[source] * _IMPORTANCE_FACTOR[importance] * safety


def half_life_days(reinforcements: int, retention: Retention) -> float:
    """``45 / 0.85^min(n, 6)`` days for n reinforcements (SPEC 10.1)."""
    return retention.half_life_days / _HALF_LIFE_BASE ** min(reinforcements, MAX_REINFORCEMENTS)


def dormant_spans(state: MemoryState) -> tuple[tuple[int, int], ...]:
    """Dormant spans up to now, the still open one included, as (start, end) in milliseconds (SPEC 10.4).

    The event at the evaluated position ends the last gap, whoever it belongs to.
    """
    if state.last_activity is None:
        return state.dormant
    start = state.last_activity + state.context.policy.retention.dormant_after_days * DAY_MS
    return (*state.dormant, (start, state.now)) if start < state.now else state.dormant


def effective_age(clock: int, now: int, dormant: tuple[tuple[int, int], ...], retention: Retention) -> float:
    """Milliseconds from ``clock`` to ``now`` with the dormant time in between discounted; never negative."""
    return _ages(now, dormant, retention)(clock)


def _ages(now: int, dormant: tuple[tuple[int, int], ...], retention: Retention) -> Callable[[int], float]:
    """``effective_age`` of many clocks; O(log spans) for each where all spans are over, as they are in a fold."""
    discount = 100 - retention.dormant_rate_percent
    last = dormant[-1][1] if dormant else -math.inf
    ends, since = _asleep(dormant) if last <= now else ([], [])

    def age_of(clock: int) -> float:
        age = max(0, now - clock)
        if last <= clock:
            return age
        if last <= now:
            first = bisect_right(ends, clock)
            idle = since[first] - max(0, clock - dormant[first][0])
        else:
            idle = sum(max(0, min(end, now) - max(start, clock)) for start, end in dormant)
        return age - idle * discount / 100

    return age_of


@lru_cache(maxsize=16)
def _asleep(dormant: tuple[tuple[int, int], ...]) -> tuple[list[int], list[int]]:
    """Where each dormant span ends, and how long it and all behind it are."""
    since = accumulate(end - start for start, end in reversed(dormant))
    return [end for _, end in dormant], [*since][::-1]


def strength(entry: Entry, now: int, dormant: tuple[tuple[int, int], ...], policy: Policy) -> float:
    """``initial x 2^(-effective_age / half_life)``, always finite and never negative (SPEC 10.1, I20)."""
    return _strengths(now, dormant, policy)(entry)


def rank_key(entry: Entry, now: int, dormant: tuple[tuple[int, int], ...], policy: Policy) -> RankKey:
    """Sort key, best first: strength, source rank, later creation, id (SPEC 10.2)."""
    return rank_at(entry, strength(entry, now, dormant, policy))


def ranker(state: MemoryState) -> Callable[[Entry], RankKey]:
    """``rank_key`` as of a state's now, for many entries: what they have in common is worked out once."""
    weigh = _strengths(state.now, dormant_spans(state), state.context.policy)
    return lambda entry: rank_at(entry, weigh(entry))


def cohort_strengths(state: MemoryState) -> Callable[[Curve, int], float]:
    """The strength of a clock on a curve as of a state's now, as rank compares it; it rises with the clock."""
    now, dormant = state.now, dormant_spans(state)
    age_of = _ages(now, dormant, state.context.policy.retention)
    last_gap = dormant[-1][1] if dormant else -1

    def strength_at(curve: Curve, clock: int) -> float:
        # The common case of an age, which a call would cost half of: no gap since.
        age = now - clock if last_gap <= clock <= now else age_of(clock)
        return round(curve.first * math.exp2(-age / curve.half_life), _DECIMALS)

    return strength_at


def cohort_of(entry: Entry) -> Cohort:
    """What an entry shares with those that decay as it does."""
    wording = entry.proposal
    count = min(entry.reinforcements, MAX_REINFORCEMENTS)
    return Cohort(wording.source, wording.importance, wording.safety_critical, count)


class Curve(Struct, frozen=True, gc=False):
    """How what a cohort holds loses strength.

    Attributes:
        greatest: what no entry exceeds, however new it is, as rank compares it.
        first: the strength of a new entry.
        half_life: in milliseconds.
    """

    greatest: float
    first: float
    half_life: float


@lru_cache(maxsize=4096)
def curve_of(type_: str, cohort: Cohort, policy: Policy) -> Curve:
    """The curve of a cohort of a type."""
    first = _initial(type_, cohort.source, cohort.importance, cohort.safety_critical, policy)
    return Curve(round(first, _DECIMALS), first, _half_lives(policy.retention)[cohort.reinforcements])


@lru_cache(maxsize=4096)
def ages_beside(curve: Curve, strength: float) -> tuple[float, float]:
    """Of what is on a curve: younger than the first age it is stronger, older than the second weaker, beyond doubt.

    In milliseconds, whatever rounding does. Minus infinity where there is no such age: a clock may be ahead of now.
    """
    return _age_at(curve, strength + _DOUBT) - 1, _age_at(curve, strength - _DOUBT) + 1


def _age_at(curve: Curve, strength: float) -> float:
    """When what is on a curve has become as weak as this."""
    if strength <= 0:
        return math.inf
    return curve.half_life * math.log2(curve.first / strength) if curve.first > strength else -math.inf


@lru_cache(maxsize=16)
def _half_lives(retention: Retention) -> tuple[float, ...]:
    """Half-lives in milliseconds by number of reinforcements."""
    return tuple(half_life_days(count, retention) * DAY_MS for count in range(MAX_REINFORCEMENTS + 1))


def _strengths(now: int, dormant: tuple[tuple[int, int], ...], policy: Policy) -> Callable[[Entry], float]:
    """The strength of any entry at one moment."""
    age_of, scale = _ages(now, dormant, policy.retention), _half_lives(policy.retention)
    initial: dict[tuple[str, str, str, bool], float] = {}

    def weigh(entry: Entry) -> float:
        wording = entry.proposal
        kind = (wording.type, wording.source, wording.importance, wording.safety_critical)
        first = initial.get(kind)
        if first is None:
            first = initial[kind] = initial_strength(entry, policy)
        age = age_of(entry.clock)
        return first * math.exp2(-age / scale[min(MAX_REINFORCEMENTS, entry.reinforcements)])

    return weigh


def rank_at(entry: Entry, weight: float) -> RankKey:
    """``rank_key`` of an entry that is as strong as this."""
    offset, index = entry.order
    return (-round(weight, _DECIMALS), -SOURCE_RANK[entry.proposal.source], -offset, -index, entry.number)


def reinforce_outcome(entry: Entry, time: int, session: str | None, retention: Retention) -> Outcome:
    """What an attempt at ``time`` from ``session`` does to an entry (SPEC 10.3).

    An attempt without a session knows only the interval.
    """
    if session is not None and session in entry.sessions:
        return "same_session"
    latest = max(entry.created, entry.reinforced_at if entry.reinforced_at is not None else entry.created)
    if time - latest < retention.min_reinforce_minutes * 60_000:
        return "min_interval"
    return "increment" if entry.reinforcements < MAX_REINFORCEMENTS else "refresh_only"
