"""The table of checks, and the run through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from memfold.doctor.client import check_bridge, check_client, check_first_start, check_plugin
from memfold.doctor.disk import check_backups, check_disk, check_ledger, check_lock
from memfold.doctor.history import check_events, check_failures, check_log, check_memories
from memfold.doctor.memory_file import check_memory_file
from memfold.doctor.model import Check, Scene
from memfold.doctor.program import check_imports, check_memory, check_moved, check_program, check_project

__all__ = ["CHECKS", "examine"]

CHECKS: tuple[Callable[[Scene], Iterable[Check]], ...] = (
    check_memory,
    check_project,
    check_moved,
    check_program,
    check_imports,
    check_client,
    check_plugin,
    check_first_start,
    check_bridge,
    check_ledger,
    check_disk,
    check_lock,
    check_backups,
    check_log,
    check_events,
    check_memories,
    check_memory_file,
    check_failures,
)
"""In the order of the output: what comes first explains what comes later."""


def examine(scene: Scene, checks: Iterable[Callable[[Scene], Iterable[Check]]] = CHECKS) -> Iterator[Check]:
    """Run checks one by one; one that fails unexpectedly is a failure of its own, and the others are still run."""
    for look in checks:
        try:
            yield from look(scene)
        except Exception as error:  # noqa: BLE001 - whatever is wrong here is what doctor is asked for
            name = getattr(look, "__name__", "check").removeprefix("check_")
            yield Check(name, "fail", f"it can't be looked at: {str(error) or type(error).__name__}", "memfold check")
