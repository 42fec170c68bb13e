"""A text the log has never held: what today's rules say about it, and what comes nearest (SPEC 22)."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from projections.facts import judge_line
from projections.memory import decide
from projections.memory.model import CONFIDENCE, Proposal, Ref, Source
from projections.policy import Policy
from projections.rules.candidate_lines import read_line
from projections.rules.explicit import extract
from projections.rules.kinds import type_of
from projections.rules.quality import judge
from projections.rules.trigger_forms import PACKS
from projections.text.canonical import canonical
from projections.text.intake import take_in, take_in_block
from projections.world import WorldState
from replay.evidence import ReasonLine, plain_reason, reasons_from

__all__ = ["Nearest", "Unseen", "Verdict", "judge_unseen"]


LIMITS_OF_THE_LOG = (
    "a message without a remember form leaves no trace",
    "the text of a negated request is not kept",
    "what was said while memory was off, or off the record, leaves no trace",
    "other workspaces leave no trace here",
)

_NEAR = 50
_SHARED_WORDS = 2
"""One word in common says nothing of two texts."""


class Verdict(Struct, frozen=True):
    """What a rule would say now of one text it finds: kept as a memory of a type, or refused and why."""

    type: str
    text: str
    accepted: bool
    reasons: tuple[ReasonLine, ...]


class Nearest(Struct, frozen=True):
    """The candidate that shares the most words with the text; ``shared`` in hundredths of the shorter one's words."""

    text: str
    state: str
    event: str
    offset: int
    shared: int


class Unseen(Struct, frozen=True, kw_only=True):
    """What can be said of a text that was never captured.

    ``as_message`` holds a verdict for each remember form the text contains as a user's message: none means that
    nothing triggers. ``as_candidate`` is what the gate says of it as a line of a summary. ``language`` names a
    trigger pack that is off and would find a form.
    """

    text: str
    as_message: tuple[Verdict, ...]
    as_candidate: Verdict
    language: str | None
    nearest: Nearest | None
    limits: tuple[str, ...] = LIMITS_OF_THE_LOG


def judge_unseen(world: WorldState, query: str) -> Unseen:
    """Judge a text under the policy in force at the position; O(number of candidates) for the nearest one."""
    context = world.memory.context
    message = take_in_block(query, context.policy).text
    requests = tuple(
        _verdict(world, one.type, one.text, reasons_from(one.text, one.reasons)) for one in extract(message, context)
    )
    return Unseen(
        text=query,
        as_message=requests,
        as_candidate=_as_candidate(world, query),
        language=None if requests else _silent_pack(world, message),
        nearest=_nearest(world, query),
    )


def _verdict(world: WorldState, type_: str, text: str, reasons: tuple[ReasonLine, ...]) -> Verdict:
    """Refused for its own reasons, else for the place where nothing becomes memory (SPEC 1.6), else kept."""
    if not reasons and not world.memory.project:
        reasons = (plain_reason("not_a_project"),)
    return Verdict(type_, text, accepted=not reasons, reasons=reasons)


def _as_candidate(world: WorldState, query: str) -> Verdict:
    """The gate, and then what stands in the way at this position: tombstones, duplicates, caps.

    A leading ``[type]`` is read as a summary's line would be; without one the words tell the type (SPEC 4.7, 5.2).
    """
    memory = world.memory
    policy = memory.context.policy
    line = read_line(query, 0, policy)
    text = take_in(line.text if line.kind == "candidate" else query, policy, 260).text
    if line.kind == "malformed":
        return Verdict("", text, accepted=False, reasons=(plain_reason(line.code),))
    type_ = line.type if line.kind == "candidate" else type_of(text)
    found = judge(type_, text, memory.context, memory.rule_digests)
    if found:
        return Verdict(type_, text, accepted=False, reasons=reasons_from(text, found))
    if not world.memory.project:
        return _verdict(world, type_, text, ())
    code = _standing_code(world, _proposal(world, type_, text, "compaction"))
    accepted = code in ("new_entry", "absorbed_exact", "absorbed_identity", "absorbed_cross_type")
    return Verdict(type_, text, accepted=accepted, reasons=(plain_reason(code),))


def _standing_code(world: WorldState, proposal: Proposal) -> str:
    grave = decide.find_tombstone(world.memory, proposal)
    if grave is not None:
        return f"{grave.kind}_before"
    match = decide.find_duplicate(world.memory, proposal)
    if match is not None:
        return match[1]
    return "new_entry" if decide.has_room(world.memory, proposal) else "rejected_capacity"


def _proposal(world: WorldState, type_: str, text: str, source: Source) -> Proposal:
    memory = world.memory
    line = judge_line(memory.context, "candidate", type_, text)
    return Proposal(
        ref=Ref("", 0),
        order=(memory.offset + 1, 0),
        time=memory.now,
        type=type_,
        text=text,
        source=source,
        confidence=CONFIDENCE[source],
        session=None,
        exact=line.exact,
        key=line.key,
        identity=line.identity or line.exact,
    )


def _silent_pack(world: WorldState, message: str) -> str | None:
    """A trigger pack that is switched off and would find a form in the message."""
    context = world.memory.context
    for language in sorted(PACKS - set(context.policy.languages)):
        policy: Policy = msgspec.structs.replace(context.policy, languages=(*context.policy.languages, language))
        if extract(message, msgspec.structs.replace(context, policy=policy)):
            return language
    return None


def _nearest(world: WorldState, query: str) -> Nearest | None:
    """Most shared canonical words, at least two and half of the shorter text's; the earlier candidate wins a tie."""
    wanted = set(canonical(query, world.memory.context.root).split())
    best: tuple[int, Nearest] | None = None
    for ref, record in world.accounts.records.items():
        words = set(record.proposal.key.split())
        shorter = min(len(wanted), len(words))
        shared = 100 * len(wanted & words) // shorter if shorter else 0
        if (
            shared >= _NEAR
            and len(wanted & words) >= min(_SHARED_WORDS, shorter)
            and (best is None or shared > best[0])
        ):
            text = record.proposal.text
            best = (shared, Nearest(text, record.state, ref.event, record.proposal.order[0], shared))
    return None if best is None else best[1]
