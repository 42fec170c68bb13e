"""The words that caused a refusal: judged again from the proposing event, as it stood then (SPEC 22)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ledger.events import AnyEvent, MemoryAdded, MemoryImported, MemoryRequested, SessionCompacted
from ledger.runs import Run
from projections.facts import Known, facts_of, parts_beside
from projections.memory.activity import calls_taken_in
from projections.memory.fold import WorkspaceMemory
from projections.memory.model import MemoryState, Ref
from projections.reasons import Evidence, explain, rule_of
from projections.rules.candidates import parse_summary
from projections.rules.explicit import extract
from projections.rules.refusals import injected_part

__all__ = ["ReasonLine", "plain_reason", "reason_lines", "reasons_from"]


class ReasonLine(Struct, frozen=True):
    """One reason for people: code, section of the rule, a sentence, and the words that matched.

    ``matched`` is empty where the text as a whole is the evidence, or where the reason lies in other events.
    ``start`` and ``end`` are characters of the text that was judged, or of the title, content, tags or rationale beside
    it.
    """

    code: str
    rule: str
    text: str
    matched: str = ""
    start: int = 0
    end: int = 0


def reason_lines(
    events: Iterable[AnyEvent | Run], ref: Ref, codes: tuple[str, ...], known: Known | None = None
) -> tuple[ReasonLine, ...]:
    """The reasons of one candidate with their evidence; O(length of the log up to the proposing event).

    The event is judged under the policy, workspace root and instruction files in force when it was proposed. Facts at
    hand change the time this takes and nothing else.
    """
    source, found = _judged(events, ref, known)
    spans: dict[str, Evidence] = {}
    for one in found:
        spans.setdefault(one.code, one)
    return tuple(_line(code, source, spans.get(code)) for code in codes)


def reasons_from(text: str, found: Iterable[Evidence]) -> tuple[ReasonLine, ...]:
    """Reasons of a text judged just now."""
    return tuple(_line(one.code, text, one) for one in found)


def plain_reason(code: str) -> ReasonLine:
    """A reason whose evidence is no span of words."""
    return ReasonLine(code, rule_of(code), explain(code))


def _line(code: str, source: str, one: Evidence | None) -> ReasonLine:
    if one is None or one.end <= one.start:
        return plain_reason(code)
    return ReasonLine(code, rule_of(code), explain(code), source[one.start : one.end], one.start, one.end)


def _judged(events: Iterable[AnyEvent | Run], ref: Ref, known: Known | None) -> tuple[str, tuple[Evidence, ...]]:
    """The text that was judged and what was found in it."""
    memory = WorkspaceMemory(known)
    before = memory.initial()
    for event in calls_taken_in(before, events):
        if event.id == ref.event:
            return _judge(event, ref.index, before)
        memory.step(before, event)
    return "", ()


def _judge(event: AnyEvent, index: int, memory: MemoryState) -> tuple[str, tuple[Evidence, ...]]:
    if isinstance(event, MemoryRequested | SessionCompacted) and event.data.judged:
        return "", ()  # a purge has taken the words away (SPEC 15.4)
    if isinstance(event, MemoryRequested):
        requests = extract(event.data.text, memory.context)
        if index < len(requests):
            return requests[index].text, requests[index].reasons
    elif isinstance(event, SessionCompacted):
        lines = parse_summary(event.data.section, memory.context, memory.rule_digests).lines
        if index < len(lines):
            return lines[index].text, lines[index].reasons
    elif isinstance(event, MemoryAdded | MemoryImported):
        (line,) = facts_of(event, memory.context).lines
        if found := injected_part(line.text, parts_beside(event)):
            part, span = found
            return part, (Evidence("prompt_injection", *span),)
    return "", ()
