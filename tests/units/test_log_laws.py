"""The shipped laws of every log, held by both of ours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ledger.events import AnyEvent
from ledger.locks import PortableLock
from ledger.log import LOCK_SUFFIX, LOG_NAME, FileLog, Log
from ledger.memory import MemoryLog
from ledger.testing import LAWS, Law, MakeLog
from tests.support.logs import KEY, ROOT


@pytest.fixture(params=["file", "file, portable lock", "memory"])
def make_log(request: pytest.FixtureRequest, tmp_path: Path) -> MakeLog:
    """A maker of fresh logs of each kind."""
    numbers = count()

    def make() -> Log:
        folder = tmp_path / str(next(numbers))
        if request.param == "memory":
            return MemoryLog()
        if request.param == "file":
            return FileLog.create(folder, root=ROOT, key=KEY, durability="never")
        lock = PortableLock(str(folder / (LOG_NAME + LOCK_SUFFIX)), 2.0)
        return FileLog.create(folder, root=ROOT, key=KEY, durability="never", lock=lock)

    return make


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: Law, make_log: MakeLog) -> None:
    """Each law holds for each log."""
    law(make_log)


class Forgetful(MemoryLog):
    """A log that loses every event but the first."""

    def read(self, start: int = 0) -> Iterator[AnyEvent]:
        """Only the first event."""
        return iter(list(super().read(start))[:1])


class Careless(MemoryLog):
    """A log that ignores what the caller expects."""

    def append(self, *args: Any, **options: Any) -> Any:
        """Write whatever comes."""
        options.pop("expect", None)
        return super().append(*args, **options)


@pytest.mark.parametrize(("log", "law"), [(Forgetful, LAWS[0]), (Careless, LAWS[4])])
def test_a_law_can_be_broken(log: type[MemoryLog], law: Law) -> None:
    """A log that doesn't hold a law is told so, with what was expected."""
    with pytest.raises(AssertionError, match="expect"):
        law(log)
