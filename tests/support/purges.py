"""Histories in which texts are purged on the way, in memory: the events are rewritten where they stand."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ledger.codec import encode
from ledger.events import AnyEvent, Draft, LedgerErasedData
from ledger.memory import MemoryLog
from projections.erasure.agreement import differences
from projections.erasure.events import EventEraser
from projections.erasure.texts import Choice, Containing, choose, history_of
from projections.memory.model import Ref
from tests.support.streams import Stage, histories

KEY = "k" * 64

Step = dict[str, Any]


def erase(events: list[AnyEvent], named: list[Ref], containing: Containing) -> tuple[Choice, list[AnyEvent]]:
    """The events without the texts of what is named, as many as before; nothing else may differ."""
    choice = choose(history_of(events), named, containing)
    eraser = EventEraser(choice, KEY)
    changed = [eraser.take(event) for event in events]
    assert list(differences(eraser.old, eraser.new, choice)) == []
    assert [(event.id, event.seq) for event in changed] == [(event.id, event.seq) for event in events]
    if not choice.kept:
        for event in changed:
            assert not choice.needles.are_in_bytes(encode(event)), event
    return choice, changed


class PurgingStage(Stage):
    """A stage, in memory, that also purges: ``{"do": "purge_some", "pick": n, "containing": …}``."""

    def __init__(self) -> None:
        super().__init__(None)
        self.choices: list[Choice] = []

    def do_purge_some(self, event: Step, ws: Any, time: str | None) -> None:
        """Purge some candidate, in whatever state it is."""
        records = list(ws.state().accounts.records)
        if not records:
            return
        events = self.events()
        choice, changed = erase(events, [records[event["pick"] % len(records)]], event["containing"])
        self.choices.append(choice)
        log = self._logs[self.root]
        assert isinstance(log, MemoryLog)
        log.__dict__["_events"] = changed
        log.__dict__["_lines"] = [encode(one) for one in changed]
        self._open.clear()
        data = LedgerErasedData(choice.targets, key=KEY, digests=choice.digests(KEY))
        self.workspace().record([Draft(source="memfold", time=time, data=data)])


@st.composite
def purging_histories(draw: st.DrawFn, *, max_size: int = 20, purges: int = 2) -> list[Step]:
    """Histories with purges in between, after which the same things are said again."""
    steps: list[Step] = draw(histories(max_size=max_size))
    for _ in range(draw(st.integers(1, purges))):
        purge = {
            "do": "purge_some",
            "pick": draw(st.integers(0, 60)),
            "containing": draw(st.sampled_from(("purge", "keep"))),
        }
        steps = [*steps, purge, *draw(histories(max_size=max_size // 2))]
    return steps
