"""What a person names for a purge: a memory by its id, any candidate by its whole text or the message it came with."""

from __future__ import annotations

from memfold.errors import NotFoundError
from projections.memory.model import Ref
from projections.world import WorldState
from replay.names import entry_by_id, parse_id, refs_by_text

__all__ = ["of_message", "of_name"]

_LISTED = 5


def of_name(world: WorldState, name: str) -> tuple[Ref, ...]:
    """The memory with an id, in whatever state, or all candidates with exactly this text.

    Raises:
        NotFoundError: if there is none; a part of a text is not enough, but what holds it is listed.
    """
    wanted = name.strip()
    if parse_id(wanted) is not None:
        entry = entry_by_id(world.memory, wanted)
        if entry is None:
            raise NotFoundError(f"there is no memory {wanted}", "memfold list --state all")
        return (entry.ref,)
    found = refs_by_text(world, wanted)
    if whole := tuple(ref for ref in found if wanted in _texts(world, ref)):
        return whole
    if found:
        texts = dict.fromkeys(_texts(world, ref)[-1] for ref in found)
        listed = "; ".join(list(texts)[:_LISTED])
        raise NotFoundError(
            f"no text is exactly {wanted!r}; these hold it: {listed}", "name one by its whole text or id"
        )
    raise NotFoundError(f"nothing here holds {wanted!r}", "memfold why TEXT")


def of_message(world: WorldState, message: str) -> tuple[Ref, ...]:
    """All that a message has proposed, refused requests included.

    Raises:
        NotFoundError: if it has proposed nothing.
    """
    records = world.accounts.records
    found = tuple(ref for ref, record in records.items() if message and record.proposal.message == message)
    if not found:
        raise NotFoundError(f"no message {message!r} has proposed anything", "memfold log --type memory.requested")
    return found


def _texts(world: WorldState, ref: Ref) -> tuple[str, ...]:
    """The text that a candidate was proposed with, and that of the memory it is."""
    entry = world.memory.entries.get(ref)
    proposed = world.accounts.records[ref].proposal.text
    return (proposed,) if entry is None else (proposed, entry.proposal.text)
