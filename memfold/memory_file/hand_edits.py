"""Hand edits as drafts: in an order in which each is possible, and only what the log doesn't hold yet (SPEC 16.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ledger.events import AnyEvent, Draft, MemoryAdded, MemoryAddedData, MemoryDeleted, MemoryRestored, MemoryUpdated
from ledger.ids import MonotonicIds
from memfold.capture import Capture
from projections.memory.model import Ref
from projections.memory_file.edits import Edits
from projections.memory_file.model import FileEntry

__all__ = ["drafts_of", "not_told_yet"]

_EDITS = (MemoryAdded, MemoryUpdated, MemoryDeleted, MemoryRestored)


def drafts_of(edits: Edits, capture: Capture, time: str) -> list[Draft]:
    """What a person changed, as drafts to be appended in one piece.

    Args:
        edits: the changes; they are recorded in the order of their fields.
        capture: what cleans and redacts.
        time: RFC 3339, when they were noticed.
    """
    drafts: list[Draft] = []
    for ref in edits.deleted:
        drafts += capture.memory_deleted(None, target=ref, origin="hand_edit", time=time)
    for ref in edits.restored:
        drafts += capture.memory_restored(None, ref, origin="hand_edit", time=time)
    for one in edits.updated:
        drafts += capture.memory_updated(
            None, one.target, title=one.title, content=one.content, tags=one.tags, origin="hand_edit", time=time
        )
    for ref in edits.archived:
        drafts += capture.memory_deleted(None, target=ref, origin="hand_edit", time=time)
    new_id = MonotonicIds()
    for entry in edits.added:
        drafts += _added(entry, capture, time, new_id)
    return drafts


def not_told_yet(drafts: Sequence[Draft], since: Iterable[AnyEvent]) -> list[Draft]:
    """The drafts that the log doesn't hold already, as after a kill or where the file can't be written.

    Told again they would undo what tools have done since. What was edited twice was told as it was edited last.

    Args:
        drafts: edits of the version that was written last.
        since: the events behind that.
    """
    edits = (event.data for event in since if isinstance(event, _EDITS) and event.data.origin == "hand_edit")
    last = {_place(data): data for data in edits}
    told = [_unnumbered(data) for data in last.values()]
    return [draft for draft in drafts if _unnumbered(draft.data) not in told]


def _added(entry: FileEntry, capture: Capture, time: str, new_id: MonotonicIds) -> list[Draft]:
    """A new memory; one that a person has put under Archived is deleted at once, so that its text isn't lost."""
    made = capture.memory_added(
        None,
        title=entry.title,
        content=entry.content,
        tags=entry.tags,
        number=entry.number or None,
        origin="hand_edit",
        time=time,
    )
    if not (entry.archived and made):
        return made
    event = new_id()
    gone = capture.memory_deleted(None, target=Ref(event, 0), origin="hand_edit", time=time)
    return [Draft(source=made[0].source, time=time, data=made[0].data, id=event), *gone]


def _place(data: object) -> object:
    """What a later edit of the same kind takes the place of: its target, or itself if it adds."""
    return type(data), getattr(data, "target", data)


def _unnumbered(data: object) -> object:
    """An addition that is told again finds its number taken, by itself."""
    return replace(data, number=None) if isinstance(data, MemoryAddedData) else data
