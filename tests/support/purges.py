"""Histories in which texts are purged on the way, in memory: the events are rewritten where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from hypothesis import strategies as st

from ledger.codec import encode
from ledger.events import AnyEvent, Draft, LedgerErasedData
from ledger.memory import MemoryLog
from projections.erasure.agreement import differences
from projections.erasure.events import EventEraser
from projections.erasure.fields import MEANING_TAGS, NAMING, OURS, is_name, staying
from projections.erasure.needles import SHORTEST_NAMED
from projections.erasure.texts import Choice, Containing, choose, history_of
from projections.memory.model import Ref
from projections.text.cut import weighted_length
from tests.support.streams import BODIES, Stage, histories

KEY = "k" * 64

Step = dict[str, Any]


def erase(
    events: list[AnyEvent], named: list[Ref], containing: Containing, texts: tuple[str, ...] = ()
) -> tuple[Choice, list[AnyEvent]]:
    """The events without the texts of what is named, as many as before; nothing else may differ."""
    choice = choose(history_of(events), named, containing, texts=texts)
    eraser = EventEraser(choice, KEY)
    changed = [eraser.take(event) for event in events]
    assert list(differences(eraser.old, eraser.new, choice)) == []
    assert list(map(_envelope, changed)) == list(map(_envelope, events))
    if not choice.kept:
        for event in changed:
            assert all(map(is_name, staying(encode(event), choice.needles))), event
    return choice, changed


def _envelope(event: AnyEvent) -> tuple[object, ...]:
    return type(event), event.id, event.seq, event.time, event.source


def free_texts(events: list[AnyEvent]) -> list[str]:
    """Whatever stands in the events as text of people, hosts and tools; each once, in their order."""
    found = (text for event in events for text in _free(msgspec.to_builtins(event)))
    return list(dict.fromkeys(text for text in found if weighted_length(text.strip()) >= SHORTEST_NAMED))


def _free(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value not in MEANING_TAGS:
            yield value
    elif isinstance(value, dict):
        for name, one in cast("dict[str, Any]", value).items():
            if name not in OURS | NAMING:
                yield from _free(one)
    elif isinstance(value, list | tuple):
        for one in cast("list[Any]", value):
            yield from _free(one)


class PurgingStage(Stage):
    """A stage, in memory, that also purges: ``{"do": "purge_some", "pick": n, "containing": …}``.

    ``{"do": "purge_text", …, "begin": n, "length": n}`` purges a piece of a text that stands somewhere.
    """

    def __init__(self) -> None:
        super().__init__(None)
        self.choices: list[Choice] = []
        self.replaced: list[tuple[list[AnyEvent], list[AnyEvent]]] = []
        """The events before and after each purge."""

    def do_purge_some(self, event: Step, ws: Any, time: str | None) -> None:
        """Purge some candidate, in whatever state it is."""
        records = list(ws.state().accounts.records)
        if not records:
            return
        self._purge([records[event["pick"] % len(records)]], event["containing"], time)

    def do_purge_text(self, event: Step, ws: Any, time: str | None) -> None:
        """Purge a piece of some text, wherever it stands."""
        texts = free_texts(self.events())
        if not texts:
            return
        text = texts[event["pick"] % len(texts)].strip()
        begin = event["begin"] % len(text)
        end = begin + event["length"] + 1
        while weighted_length(text[begin:end].strip()) < SHORTEST_NAMED:
            begin, end = (begin, end + 1) if end < len(text) else (begin - 1, end)
        self._purge([], event["containing"], time, (text[begin:end],))

    def _purge(self, named: list[Ref], containing: Containing, time: str | None, texts: tuple[str, ...] = ()) -> None:
        before = self.events()
        choice, changed = erase(before, named, containing, texts)
        self.choices.append(choice)
        self.replaced.append((list(before), list(changed)))
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
    steps: list[Step] = list(map(_reasoned, draw(histories(max_size=max_size))))
    for _ in range(draw(st.integers(1, purges))):
        purge = {
            "do": draw(st.sampled_from(("purge_some", "purge_text"))),
            "pick": draw(st.integers(0, 60)),
            "containing": draw(st.sampled_from(("purge", "keep"))),
            "begin": draw(st.integers(0, 60)),
            "length": draw(st.integers(0, 60)),
        }
        steps = [*steps, purge, *map(_reasoned, draw(histories(max_size=max_size // 2)))]
    return steps


def _reasoned(step: Step) -> Step:
    """A delete or restore that says why: a text that a memory may have too, or one of its own."""
    if step["do"] not in ("memory_delete", "restore"):
        return step
    return step | {"reason": f"not true any more: {BODIES[0]}" if "message" in step else "it said zebra"}
