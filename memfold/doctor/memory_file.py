"""The check of MEMORY.md: whether one is kept here, and whether it can be understood."""

from __future__ import annotations

from collections.abc import Iterator

from memfold.doctor.model import Check, Scene
from memfold.memory_file.disk import MEMORY_NAME, FileTrouble, memory_path, read
from memfold.memory_file.keeper import REPORTS
from projections.memory_file.edits import UNREADABLE
from projections.memory_file.reading import decode_file, read_file
from projections.text.clean import decode

__all__ = ["check_memory_file"]


def check_memory_file(scene: Scene) -> Iterator[Check]:
    """The file as it stands; where nobody asked for one there is nothing to say."""
    path = decode(memory_path(scene.root))
    try:
        look = read(scene.root, MEMORY_NAME)
    except FileTrouble as trouble:
        yield Check("MEMORY.md", "warn", decode(str(trouble)), "put a plain file in its place, or memoryFile = off")
        return
    if look is None:
        return
    parsed = read_file(decode_file(look.data))
    found = sorted(UNREADABLE.intersection(parsed.reports))
    if found:
        yield Check("MEMORY.md", "warn", f"{path}: {REPORTS[found[0]]}", "mend the file, then memfold sync")
    else:
        count = sum(not entry.archived for entry in parsed.entries)
        yield Check("MEMORY.md", "ok", f"{path}: {count} active", "")
