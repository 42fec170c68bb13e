"""One event being folded: the state it changes, and the moves that it makes (SPEC 9.6)."""

from __future__ import annotations

from msgspec import Struct

from projections.memory.model import CandidateState, MemoryState, Move, Proposal, Ref

__all__ = ["Turn", "reject", "turn_down"]


class Turn(Struct):
    """One event being folded: the state it changes, and the moves it makes."""

    state: MemoryState
    event: str
    offset: int
    moves: list[Move]

    def record(
        self,
        proposal: Proposal,
        before: CandidateState | None,
        after: CandidateState,
        *reasons: str,
        into: Ref | None = None,
        outcome: str = "",
        event: str | None = None,
    ) -> None:
        """Write a decision down; ``event`` names the deciding event where it isn't the running one."""
        self.moves.append(
            Move(
                proposal=proposal,
                before=before,
                after=after,
                reasons=reasons,
                event=self.event if event is None else event,
                offset=self.offset,
                into=into,
                outcome=outcome,
            )
        )


def reject(turn: Turn, proposal: Proposal, *reasons: str, before: CandidateState | None = None) -> None:
    """Refuse a candidate with all its reasons."""
    if proposal.text:
        turn.state.refused[proposal.ref] = proposal
    turn.record(proposal, before, "rejected", *reasons)


def turn_down(
    turn: Turn,
    proposal: Proposal,
    *reasons: str,
    taken_in: tuple[str, ...] = (),
    before: CandidateState | None = None,
) -> None:
    """Refuse a candidate for what the state holds, not for what it says.

    ``taken_in`` are the reasons in its text, if any. Had it been known to come from a sub-agent, they or that would
    have been the reason, whatever the state held; a late parent link says so then (I16).
    """
    reject(turn, proposal, *reasons, before=before)
    if proposal.session is not None:
        refused = turn.state.turned_down
        entry = (proposal, taken_in or ("subagent_session",))
        refused[proposal.session] = (*refused.get(proposal.session, ()), entry)
