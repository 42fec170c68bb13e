"""What messages and summaries propose: explicit requests, candidate lines, numbered commands (SPEC 4, 5, 14)."""

from __future__ import annotations

import msgspec

from ledger.digests import sha256
from ledger.events import AnyEvent, CompactionPrepared, JudgedLine, MemoryRequested, SessionCompacted
from projections.facts import Facts, LineFacts
from projections.memory import decide, merging
from projections.memory.model import MemoryState, Proposal, Ref, Snapshot
from projections.memory.proposals import from_line
from projections.memory.turn import Turn, reject, turn_down

__all__ = [
    "all_reasons",
    "is_repeat",
    "key_digest",
    "note_delivery",
    "on_compacted",
    "on_prepared",
    "on_requested",
    "refuse",
    "remember_proposal",
    "warn",
]


def on_requested(turn: Turn, event: MemoryRequested, facts: Facts) -> None:
    """Take in what a user's message asks to remember; it waits for the next moment of decision (SPEC 14.1)."""
    state, session, data = turn.state, event.source, event.data
    if not note_delivery(turn, event, f"{data.text}{_judged_before(data.judged)}"):
        return
    deleted_by = state.deleted_messages.get(data.message) if data.message else None
    for index, line in enumerate(facts.lines):
        proposal = from_line(
            state,
            event,
            index,
            line,
            source="explicit",
            session=session,
            message=data.message,
            origin="message",
            notes=data.notes,
        )
        if refuse(turn, proposal, line.reasons):
            continue
        remember_proposal(turn, proposal)
        if deleted_by is not None:
            decide.drop(turn, proposal, before=None, event=deleted_by)
            continue
        state.said[session] = (*state.said.get(session, ()), proposal.ref)
        decide.keep_pending(turn, proposal)


def on_prepared(turn: Turn, event: CompactionPrepared) -> None:
    """Open the numbered list of a session; an earlier one that no compaction closed is replaced (SPEC 5.4)."""
    if event.source not in turn.state.subagents:
        targets = tuple((Ref(one.event, one.index), one.key) for one in event.data.targets)
        turn.state.snapshots[event.source] = Snapshot(event.id, targets)


def on_compacted(turn: Turn, event: SessionCompacted, facts: Facts) -> None:
    """Commands, then what is pending, then the summary's candidates; then a new epoch begins (SPEC 14.3)."""
    state, session, data = turn.state, event.source, event.data
    if not note_delivery(turn, event, f"{data.digest}\n{data.section}{_judged_before(data.judged)}"):
        return
    if not data.digest:
        warn(state, "empty_summary")
    snapshot = state.snapshots.pop(session, None)
    lines = _proposals(turn, event, facts.lines)
    numbered = [pair for pair in lines if pair[1].kind in ("reinforce", "replace")]
    plain = [pair for pair in lines if pair[1].kind not in ("reinforce", "replace")]
    for proposal, line in numbered:
        if session in state.subagents or not state.project:
            refuse(turn, proposal, all_reasons(turn, line))
        else:
            _command(turn, proposal, line, snapshot, facts.snapshot)
    if session not in state.subagents:
        for waiting in [one for one in state.pending.values() if one.session in (session, None)]:
            decide.decide(turn, waiting, before="pending")
    for proposal, line in plain:
        if not refuse(turn, proposal, all_reasons(turn, line)):
            remember_proposal(turn, proposal)
            decide.decide(turn, proposal)
    if session not in state.subagents:
        state.epochs[session] = event.seq
        state.opened = session


def _proposals(turn: Turn, event: SessionCompacted, lines: tuple[LineFacts, ...]) -> list[tuple[Proposal, LineFacts]]:
    """A proposal for each line of a block, in line order."""
    return [
        (
            from_line(
                turn.state,
                event,
                index,
                line,
                source="compaction",
                session=event.source,
                message=event.data.message,
                origin="summary",
                notes=event.data.notes,
            ),
            line,
        )
        for index, line in enumerate(lines)
    ]


def _command(turn: Turn, proposal: Proposal, line: LineFacts, snapshot: Snapshot | None, named: str | None) -> None:
    """REINFORCE or REPLACE by number; a number means what it meant in its own list (SPEC 5.4)."""
    state = turn.state
    refusal, target = _resolve(turn, line, snapshot, named)
    reasons = all_reasons(turn, line)
    if refusal or target is None:
        turn_down(turn, proposal, refusal, taken_in=reasons)
        return
    entry = state.entries[target]
    if line.kind == "reinforce":
        outcome = merging.reinforce(turn, target, state.now, proposal.session)
        if outcome in ("same_session", "min_interval"):
            turn_down(turn, proposal, outcome)
        return
    if entry.proposal.source != "compaction":
        turn_down(turn, proposal, "protected_memory_source", taken_in=reasons)
    elif entry.reinforcements:
        turn_down(turn, proposal, "protected_reinforced_target", taken_in=reasons)
    elif reasons:
        reject(turn, proposal, *reasons)
    else:
        remember_proposal(turn, proposal)
        _replace(turn, proposal, target)


def _replace(turn: Turn, proposal: Proposal, target: Ref) -> None:
    """Put a new text in an entry's place. A text that was deleted doesn't return this way either (I6)."""
    state = turn.state
    grave = decide.find_tombstone(state, proposal)
    if grave is not None:
        turn_down(turn, proposal, f"{grave.kind}_before")
        return
    match = decide.find_duplicate(state, proposal)
    if match is not None:
        ref, reason = match
        if ref != target:
            # The new text is remembered already: the old one goes, the copy that is there stays.
            merging.absorb(turn, proposal, ref, reason)
            decide.retire(turn, state.entries[target], "superseded", "numbered_ref_replace", superseded_by=ref)
            return
        if reason == "absorbed_exact":
            merging.absorb(turn, proposal, ref, reason)
            return
    # The new entry comes first, so that lifting the tombstones of its text can't lift the one the old text leaves.
    entry = decide.promote(turn, proposal, "numbered_ref_replace", supersedes=target)
    if state.entries[target].state == "promoted":
        decide.retire(turn, state.entries[target], "superseded", "numbered_ref_replace", superseded_by=entry.ref)


def _resolve(turn: Turn, line: LineFacts, snapshot: Snapshot | None, named: str | None) -> tuple[str, Ref | None]:
    """The entry a number names, or the reason why it names none."""
    state = turn.state
    if snapshot is None:
        return "missing_memory_ref_snapshot", None
    if named is None:
        return "missing_compaction_snapshot_id", None
    if named != snapshot.id:
        return "compaction_snapshot_mismatch", None
    if line.ref is None or not 1 <= line.ref <= len(snapshot.targets):
        return "invalid_memory_ref", None
    ref, key = snapshot.targets[line.ref - 1]
    entry = state.entries.get(ref)
    if entry is None or entry.state != "promoted":
        return "memory_ref_target_unavailable", None
    if key_digest(entry.proposal.exact) != key:
        return "memory_ref_target_changed", None
    return "", ref


def refuse(turn: Turn, proposal: Proposal, taken_in: tuple[str, ...]) -> bool:
    """Refuse a candidate for what its text says, whose it is, or where it is said (SPEC 9.4); whether it was."""
    if taken_in:
        reject(turn, proposal, *taken_in)
    elif proposal.session in turn.state.subagents:
        reject(turn, proposal, "subagent_session")
    elif not turn.state.project:
        turn_down(turn, proposal, "not_a_project")
    else:
        return False
    return True


def all_reasons(turn: Turn, line: LineFacts) -> tuple[str, ...]:
    """The reasons in a text of a summary, and what the loaded instruction files add to them (SPEC 3.6)."""
    digests = turn.state.rule_digests
    if digests and line.kind != "malformed" and line.text and key_digest(line.key) in digests:
        return (*line.reasons, "in_rules_file")
    return line.reasons


def remember_proposal(turn: Turn, proposal: Proposal) -> None:
    """Note whose candidate it is, for a late parent link and for a delete by message."""
    state = turn.state
    if proposal.session is not None:
        state.proposed[proposal.session] = (*state.proposed.get(proposal.session, ()), proposal.ref)
    if proposal.message:
        state.messages[proposal.message] = (*state.messages.get(proposal.message, ()), proposal.ref)


def is_repeat(state: MemoryState, event: AnyEvent) -> bool:
    """Whether a message or summary has been delivered before under its host id: then it is no activity either."""
    return _delivery_key(event) in state.delivered


def note_delivery(turn: Turn, event: MemoryRequested | SessionCompacted, content: str) -> bool:
    """Whether a host id comes for the first time; later ones are only counted (SPEC 3.5)."""
    key = _delivery_key(event)
    if key is None:
        return True
    state, digest = turn.state, key_digest(content)
    known = state.delivered.get(key)
    if known is None:
        state.delivered[key] = digest
        return True
    warn(state, "duplicate_delivery" if known == digest else "id_conflict")
    return False


def _judged_before(lines: tuple[JudgedLine, ...]) -> str:
    """What a purge has left of a text: enough to tell a second delivery from other content."""
    return msgspec.json.encode(lines).decode() if lines else ""


def _delivery_key(event: AnyEvent) -> tuple[str, str] | None:
    """Host and id of a message or summary; None where the host gave no id.

    The ids are the host's, not the session's: a fork replays messages of the session that it comes from.
    """
    if isinstance(event, MemoryRequested):
        kind, message = "message", event.data.message
    elif isinstance(event, SessionCompacted):
        kind, message = "summary", event.data.message
    else:
        return None
    return (event.source.partition("/")[0], f"{kind}:{message}") if message else None


def warn(state: MemoryState, code: str) -> None:
    """Count something that ``status`` reports."""
    state.warnings[code] = state.warnings.get(code, 0) + 1


def key_digest(key: str) -> str:
    """First 16 hex digits of SHA-256: names a text without holding it."""
    return sha256(key.encode("utf-8", "replace")).hexdigest()[:16]
