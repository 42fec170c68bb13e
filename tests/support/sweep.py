"""An operation, done once for each call that it makes of the system, with trouble there; and then again without."""

from __future__ import annotations

import errno
import gc
import os
import shutil
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from tests.support.broken_disk import (
    Call,
    Trouble,
    broken_disk,
    counted,
    dead,
    full,
    half,
    read_only,
    refused,
    without_syncs,
)

__all__ = ["Case", "sweep"]

_ALWAYS = (errno.EIO, errno.EACCES)
_OF_CALL = {
    "write": (errno.ENOSPC, errno.EINTR),
    "open": (errno.ENOSPC, errno.EMFILE, errno.EROFS),
    "fsync": (errno.ENOSPC,),
    "fdatasync": (errno.ENOSPC,),
    "replace": (errno.ENOSPC, errno.EROFS),
    "flock": (errno.ENOLCK, errno.EWOULDBLOCK, errno.EINTR),
}


class Case:
    """An operation in a folder of its own.

    Args:
        folder: where it works; it is put back as it was before each try, since paths in files name it.
        act: does it; a refusal of the disk is an exception of those in ``refusals``, or a value. It may be done again.
        require: looks at what came of it, told whether ``act`` has come to its end and what it returned.
        refusals: how ``act`` may say that it couldn't.
    """

    def __init__(
        self,
        folder: Path,
        act: Callable[[], object],
        require: Callable[[bool, object], None],
        refusals: tuple[type[Exception], ...] = (),
    ) -> None:
        self.folder, self.act, self.require, self.refusals = folder, act, require, refusals
        self._saved = folder.with_name(folder.name + ".saved")
        shutil.copytree(folder, self._saved, symlinks=True)

    def restore(self) -> None:
        """Put the folder back."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._saved, self.folder, symlinks=True)

    def attempt(self) -> tuple[bool, object]:
        """Do it: whether it came to its end, and what it said."""
        try:
            return True, self.act()
        except self.refusals as refusal:
            return False, refusal


def sweep(case: Case, *, thorough: bool = False, most: int = 80) -> int:
    """Do the operation with trouble at each of its calls; how many calls it makes.

    After each trouble what must hold is looked at, then the operation is done again without any, which must succeed;
    and no descriptor is left open.

    Args:
        case: the operation.
        thorough: with each kind of trouble at each call; else with some of them, in turn.
        most: how often the operation is done then.
    """
    with without_syncs():
        return _sweep(case, thorough=thorough, most=most)


def _sweep(case: Case, *, thorough: bool, most: int) -> int:
    case.restore()
    case.require(True, case.act())  # whatever is imported or made ready once is, before calls are counted
    case.restore()
    calls = counted(case.act)
    troubles = list(_all(calls)) if thorough else list(_some(calls, most))
    found = [f"{label}: {wrong}" for label, trouble in troubles if (wrong := _wrong(case, trouble))]
    assert not found, "\n".join([f"{len(found)} of {len(troubles)}:", *found])
    return len(calls)


def _all(calls: Iterable[Call]) -> Iterator[tuple[str, Trouble]]:
    return ((f"{label} at {call}", trouble) for call in calls for label, trouble in _troubles(call))


def _some(calls: Sequence[Call], most: int) -> Iterator[tuple[str, Trouble]]:
    """Evenly over the calls, and twice as often over those that change something."""
    changing = [call for call in calls if call.changes or call.grows]
    for some, share in ((changing, most * 2 // 3), (calls, most // 3)):
        step = max(1, -(-len(some) // share))
        for call in some[::step]:
            troubles = list(_troubles(call))
            label, trouble = troubles[call.number % len(troubles)]
            yield f"{label} at {call}", trouble


def _troubles(call: Call) -> Iterator[tuple[str, Trouble]]:
    for code in (*_ALWAYS, *_OF_CALL.get(call.name, ())):
        yield errno.errorcode[code], refused(call.number, code)
    if call.moves_bytes:
        yield "half", half(call.number)
    if call.grows:
        yield "full", full(call.number)
    if call.changes:
        yield "read-only", read_only(call.number)
    yield "dead", dead(call.number)


def _wrong(case: Case, trouble: Trouble) -> str:
    """What is wrong after a trouble; empty if nothing is."""
    case.restore()
    before = _descriptors()
    try:
        with broken_disk(trouble):
            outcome = case.attempt()
        case.require(*outcome)
        del outcome  # an error holds what its frames do
        case.require(True, case.act())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told with the call that led to it
        places = [f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)]
        return f"{type(error).__name__}: {error} ({' '.join(places[-6:])})"
    if set(_descriptors()) - set(before):
        gc.collect()  # what stands in a circle is closed when it is found
    left = sorted(set(_descriptors()) - set(before))
    return f"left open: {left}" if left else ""


def _descriptors() -> list[str]:
    """The open descriptors and what they lead to."""
    folder = "/proc/self/fd"
    if not os.path.isdir(folder):  # noqa: PTH112 - no path of ours
        return []
    shown = []
    for name in os.listdir(folder):  # noqa: PTH208 - as above
        try:
            shown.append(f"{name} {os.readlink(os.path.join(folder, name))}")  # noqa: PTH115, PTH118 - as above
        except OSError:
            continue  # that of the listing itself
    return sorted(shown)
