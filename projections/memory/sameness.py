"""Whether two wordings state the same fact (SPEC 8.5), also where a purge has taken their texts away (SPEC 15.4)."""

from __future__ import annotations

from projections.memory.model import MemoryState, Proposal, Ref
from projections.text.erased import keyed_digest

__all__ = ["erased_digests", "is_purged", "same_fact", "was_erased"]


def same_fact(first: Proposal, second: Proposal, root: str) -> bool:
    """Whether two texts have one type and one identity; asked only where their identity keys are equal already.

    A purged text and one that isn't never meet: whatever a purged one has met was purged with it.
    """
    if first.type != second.type:
        return False
    if first.erased is not None and second.erased is not None:
        ours, theirs = first.erased, second.erased
        is_equal = first.key == second.key or (ours.fact != "" and ours.fact == theirs.fact)
        return is_equal or not set(ours.same).isdisjoint(theirs.same)
    if first.erased is not None or second.erased is not None:
        return False
    # Rarely asked, and what it imports is dear: see projections.facts.
    from projections.text.identity import same_identity

    return same_identity(first.type, first.text, second.text, root) is not None


def is_purged(state: MemoryState, ref: Ref, wording: Proposal) -> bool:
    """Whether a purge has taken this wording from this candidate by now: then nothing makes it active again.

    A later purge may have taken another wording that it had meanwhile.
    """
    return wording.erased is not None and wording.erased.key in state.purged.get(ref, ())


def was_erased(state: MemoryState, proposal: Proposal) -> bool:
    """Whether a candidate says what was purged: the same text, or the same words about the same thing."""
    return any(
        not digests.isdisjoint(erased_digests(key, proposal, state.context.root))
        for key, digests in state.erasures.items()
    )


def erased_digests(key: str, proposal: Proposal, root: str) -> frozenset[str]:
    """What a purge under a key notes of a text: digests of its text key and of its fact, if it has one."""
    if proposal.erased is not None:
        return frozenset({proposal.erased.key, proposal.erased.fact} - {""})
    from projections.text.identity import fact_key

    fact = fact_key(proposal.type, proposal.text, root)
    found = {keyed_digest(key, "text", proposal.key)}
    return frozenset(found | {keyed_digest(key, "fact", fact)} if fact else found)
