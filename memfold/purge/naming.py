"""What a person names for a purge: a memory by its id, a text wherever it stands, or the message that proposed it."""

from __future__ import annotations

from memfold.errors import NotFoundError
from projections.erasure.needles import SHORTEST_NAMED
from projections.memory.model import Ref
from projections.text.cut import weighted_length
from projections.world import WorldState
from replay.names import entry_by_id, parse_id, refs_by_text

__all__ = ["of_message", "of_name", "of_text", "unknown_text"]

_LISTED = 5


def of_name(world: WorldState, name: str) -> tuple[Ref, ...]:
    """The memory with an id, in whatever state, or all candidates with exactly this text, if there are any.

    Raises:
        NotFoundError: if the name is an id that no memory has.
    """
    wanted = name.strip()
    if parse_id(wanted) is None:
        return tuple(ref for ref in refs_by_text(world, wanted) if wanted in _texts(world, ref))
    entry = entry_by_id(world.memory, wanted)
    if entry is None:
        raise NotFoundError(f"there is no memory {wanted}", "memfold list --state all")
    return (entry.ref,)


def of_text(name: str) -> tuple[str, ...]:
    """The text that a name is, to be erased wherever it stands; none where it is an id."""
    wanted = name.strip()
    return () if parse_id(wanted) is not None or not wanted else (wanted,)


def unknown_text(world: WorldState, name: str) -> NotFoundError:
    """What to say of a text that stands nowhere: who holds it in other letters, or that it is too short to be found."""
    wanted = name.strip()
    texts = dict.fromkeys(_texts(world, ref)[-1] for ref in refs_by_text(world, wanted))
    if texts:
        listed = "; ".join(list(texts)[:_LISTED])
        return NotFoundError(
            f"no text is exactly {wanted!r}; these hold it: {listed}", "name one by its whole text or id"
        )
    if weighted_length(wanted) < SHORTEST_NAMED:
        return NotFoundError(
            f"nothing here is exactly {wanted!r}, and a text below {SHORTEST_NAMED} characters isn't looked for"
            " inside of others",
            "name more of what stands around it",
        )
    return NotFoundError(f"nothing here holds {wanted!r}", "memfold why TEXT")


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
