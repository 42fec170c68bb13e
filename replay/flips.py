"""The smallest change that flips a verdict: reason codes to remove, or one policy key, tried on the log (SPEC 22)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec
from msgspec import Struct

from ledger.events import AnyEvent
from ledger.runs import Run
from projections.accounting import Record
from projections.facts import Judged, Known, facts_of
from projections.memory.model import Ref
from projections.memory.selection import MAX_ENTRIES
from projections.policy import Context, Policy, caps_limit, caps_of
from projections.protocol import fold
from projections.render import MAX_CHARS
from projections.world import World, WorldState
from replay.views import present_block
from replay.what_if import under_policy

__all__ = ["Flip", "smallest_flip"]

Events = Callable[[], Iterable[AnyEvent | Run]]

_NO_SESSION: frozenset[str] = frozenset()
_LANGUAGES = "triggers.languages"


class Flip(Struct, frozen=True):
    """What would have to be otherwise.

    Attributes:
        codes: the fewest reason codes to remove; all of them, since each one alone refuses.
        key: one policy key whose change alone flips the verdict in a replay of this log, or None.
        value: the smallest change of that key that does: the value to set, or in words what to leave out.
    """

    codes: tuple[str, ...]
    key: str | None = None
    value: str | None = None


class _Trial(NamedTuple):
    key: str
    value: str
    change: Callable[[Policy], Policy]


def smallest_flip(
    prefix: Events,
    ref: Ref,
    record: Record,
    omitted: str | None,
    policy: Policy,
    *,
    known: Known | None = None,
    proposed: tuple[AnyEvent, Context] | None = None,
) -> Flip | None:
    """Find what flips a candidate's verdict; None where nothing is decided yet.

    Args:
        prefix: gives the log up to the position.
        ref: the candidate.
        record: its account.
        omitted: why the block leaves it out, if it is active and not shown.
        policy: the policy in force at the position; changes are measured against it.
        known: facts at hand; they change the time this takes and nothing else.
        proposed: the event that proposed it, and the context that it was judged in; it may save trials.

    Policy keys are tried by folding the log again under the changed policy, so the answer is exact: O(length of the
    log) per trial, at most 28 trials.
    """
    if record.state == "pending":
        return None
    codes = (omitted,) if omitted else () if record.state == "promoted" else record.reasons
    for trial in _trials(record, omitted, policy):
        if _is_not_proposed(proposed, ref, trial) or _flipped(
            fold(World(_NO_SESSION, known), under_policy(prefix(), trial.change)), ref, record, omitted
        ):
            return Flip(codes, trial.key, trial.value)
    return Flip(codes) if codes else None


def _is_not_proposed(proposed: tuple[AnyEvent, Context] | None, ref: Ref, trial: _Trial) -> bool:
    """Whether what was accepted wouldn't even be proposed, whatever else the policy changes: no fold need tell it."""
    if trial.key != _LANGUAGES or proposed is None:
        return False
    event, context = proposed
    if (
        not isinstance(event, Judged) or context == Context()
    ):  # a log that doesn't begin as such has no policy to change
        return False
    return ref.index >= len(facts_of(event, Context(trial.change(context.policy), context.root)).lines)


def _flipped(world: WorldState, ref: Ref, record: Record, omitted: str | None) -> bool:
    if omitted:
        return any(entry.ref == ref for entry in present_block(world).shown)
    after = world.accounts.records.get(ref)
    accepted = after is not None and after.state in ("promoted", "absorbed")
    return accepted != (record.state in ("promoted", "absorbed"))


def _trials(record: Record, omitted: str | None, policy: Policy) -> Iterator[_Trial]:
    """Policy keys that could matter for the reasons at hand, each from its smallest change on."""
    codes = {omitted} if omitted else set(record.reasons)
    if codes & {"type_cap", "rejected_capacity"}:
        yield from _higher_caps(record.proposal.type, policy)
    if codes & {"global_cap", "rejected_capacity"}:
        for entries in range(policy.max_entries + 1, MAX_ENTRIES + 1):
            yield _replacing("prompt.maxEntries", str(entries), max_entries=entries)
    if codes == {"char_budget"} and policy.workspace_chars < MAX_CHARS:
        yield _replacing("prompt.workspaceChars", str(MAX_CHARS), workspace_chars=MAX_CHARS)
    for code in sorted(code for code in codes if code.startswith("custom:")):
        yield _Trial("patterns.gate", f"without {code.removeprefix('custom:')!r}", _without_gate(code))
    if record.state == "promoted" and not omitted and record.proposal.source == "explicit":
        for language in policy.languages:
            left = tuple(one for one in policy.languages if one != language)
            yield _replacing(_LANGUAGES, f"without {language!r}", languages=left)


def _higher_caps(type_: str, policy: Policy) -> Iterator[_Trial]:
    for cap in range(caps_of(policy).get(type_, 0) + 1, caps_limit(type_) + 1):
        yield _Trial(f"caps.{type_}", str(cap), _with_cap(type_, cap))


def _with_cap(type_: str, cap: int) -> Callable[[Policy], Policy]:
    def change(policy: Policy) -> Policy:
        caps = tuple((name, cap if name == type_ else value) for name, value in policy.caps)
        types = tuple(msgspec.structs.replace(one, cap=cap) if one.name == type_ else one for one in policy.types)
        return msgspec.structs.replace(policy, caps=caps, types=types)

    return change


def _without_gate(code: str) -> Callable[[Policy], Policy]:
    name = code.removeprefix("custom:")

    def change(policy: Policy) -> Policy:
        gate = tuple(one for one in policy.patterns.gate if one.name != name)
        patterns = msgspec.structs.replace(policy.patterns, gate=gate)
        return msgspec.structs.replace(policy, patterns=patterns)

    return change


def _replacing(key: str, value: str, **fields: object) -> _Trial:
    def change(policy: Policy) -> Policy:
        return msgspec.structs.replace(policy, **fields)

    return _Trial(key, value, change)
