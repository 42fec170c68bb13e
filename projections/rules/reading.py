"""Reads a message for remember forms: which lines and clauses ask for what, unjudged (SPEC 4.1-4.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from projections.rules.triggers import (
    Trigger,
    Triggers,
    clause_start,
    sentence_end,
    skip_separator,
    skip_spaces,
)
from projections.rules.zones import LIST_MARKER, Line, Quotations, lines_of, quotations_of

__all__ = ["Find", "Reader"]

_LIST_ITEM = re.compile(rf" {{0,3}}{LIST_MARKER}")
_COLONS = (":", "：")
_END_MARKS = frozenset(".!?;。！？；")
# The leftmost match is the longest particle; a comma may stand behind it.
_PARTICLE = re.compile("(?:ことを|って|のを|を|と|이라고|는 것을|는 걸|라고|을|를|(?<=다)고)?、?\\Z")
_PARTICLE_REACH = 8

_CLOSING_TAG = re.compile(r"[,，]\s{0,4}(?:ok\?|okay\?|right\?|please)\s{0,8}\Z", re.IGNORECASE)
_CLOSING_TAG_REACH = 24

Kind = Literal["code_block", "quoted", "log_line", "negated_request", "question", "body"]


class Find(Struct, frozen=True):
    """One form found. Positions are characters of the line with that index; ``words`` is what it asks to keep.

    Attributes:
        kind: the reason it is refused as it stands (a zone, a negation, a question), or ``body``.
        line: index of the line that ``start`` belongs to.
        last: index of the line that ``end`` belongs to.
        trailing: the form stands behind the words.
        drop: for a negated request, the spans of its line that must not be kept and what stands for each: before
            the form, behind it, and behind the mark of a quotation that goes on in the next sentence.
    """

    kind: Kind
    line: int
    start: int
    last: int
    end: int
    trigger: str
    words: str = ""
    trailing: bool = False
    drop: tuple[tuple[int, int, str], ...] = ()


class Reader:
    """One pass over one message. ``lines`` are its lines; ``used``, after ``finds``, those that were read for a find.

    ``peeked`` are lines that decided that no list follows a request; whoever empties lines must leave
    something there that is still no list.
    """

    def __init__(self, text: str, triggers: Triggers) -> None:
        self.lines = lines_of(text)
        self.used: set[int] = set()
        self.peeked: set[int] = set()
        self._taken: set[int] = set()
        self._triggers = triggers
        self._filled = _next_filled(self.lines)
        # Both are read for every clause of a line and found once.
        self._quotations: dict[int, Quotations] = {}
        self._body_ends: dict[int, int] = {}

    def finds(self) -> Iterator[Find]:
        """All forms in the order of the message; O(length)."""
        for index, line in enumerate(self.lines):
            if index in self._taken:
                continue
            for find in self._in_zone(index, line) if line.zone else self._in_readable(index):
                self.used.update((find.line, find.last))
                yield find

    def _in_zone(self, index: int, line: Line) -> Iterator[Find]:
        form = self._triggers.anywhere(line.text)
        if form and line.zone:
            words = line.text[form.start : form.end]
            yield Find(line.zone, index, form.start, index, len(line.text), words, line.text)

    def _in_readable(self, index: int) -> Iterator[Find]:
        """The forms of one readable line, sentence by sentence (SPEC 4.2)."""
        line, quotations = self.lines[index].text, self._quotations_in(index)
        position, quoted = clause_start(line), False
        while position < len(line):
            end = sentence_end(line, position)
            trigger = self._first(line, position, end, quotations)
            if not quoted and (form := self._quoted(line, position, end, trigger, quotations)):
                quoted = True  # like a zone, it is recorded once for the line
                yield _citation(index, line, form, quotations)
            if trigger is None:
                position = skip_spaces(line, end)
                continue
            resume = len(line)
            for find in self._asked(index, trigger, position, quoted):
                yield find
                resume = _resume(line, find) if find.last == index else len(line)
            position = skip_spaces(line, resume)

    def _asked(self, index: int, trigger: Trigger, sentence: int, quoted: bool) -> Iterator[Find]:
        """What one form asks for; a quotation that was recorded in its sentence must stay readable."""
        line = self.lines[index].text
        if trigger.kind == "negated":
            yield self._negated(index, trigger, trigger.start if quoted else sentence)
        elif trigger.kind == "trailing" and line[sentence : trigger.start].strip():
            yield _trailing(index, line, sentence, trigger)
        else:
            yield from self._bodies(index, trigger)

    def _first(self, line: str, start: int, end: int, quotations: Quotations) -> Trigger | None:
        """The first form of a sentence that stands in no quotation."""
        triggers = self._triggers
        leading = triggers.at_clause(line, start)
        if leading and quotations.around(leading.start) < 0:
            return leading
        found = [
            next((form for form in forms if quotations.around(form.start) < 0), None)
            for forms in (triggers.negated_in(line, start, end), triggers.after_comma(line, start, end))
        ]
        first = min((form for form in found if form), key=lambda form: form.start, default=None)
        if first is None and (ending := triggers.ending(line, start, end)) and quotations.around(ending.start) < 0:
            return ending
        return first

    def _quoted(self, line: str, start: int, end: int, first: Trigger | None, quotations: Quotations) -> Trigger | None:
        """The form in a quotation before the first that counts; directly behind the opening mark included."""
        if not quotations.starts:
            return None
        triggers = self._triggers
        stop = first.start if first else end
        inside = quotations.starts_between(start, stop)
        found = [
            triggers.at_clause(line, start),
            None if first else triggers.ending(line, start, end),
            next((form for form in triggers.negated_in(line, start, stop) if quotations.around(form.start) >= 0), None),
            next((form for form in (triggers.at_clause(line, begin) for begin in inside) if form), None),
        ]
        cited = [form for form in found if form and quotations.around(form.start) >= 0]
        return min(cited, key=lambda form: form.start, default=None)

    def _negated(self, index: int, trigger: Trigger, sentence: int) -> Find:
        """A negated request. Of its sentence only the form may be kept, and a mark whose quotation goes on."""
        line, quotations = self.lines[index].text, self._quotations_in(index)
        stop = _words_end(line, trigger.end)
        around = quotations.around(stop)
        mark_end = max(trigger.end, quotations.starts[around]) if around >= 0 else stop
        mark = max(trigger.end, mark_end - len(quotations.marks[around])) if around >= 0 else stop
        drop = (
            (quotations.behind(sentence), trigger.start, " "),
            (trigger.end, mark, " "),
            (mark_end, stop, ""),
        )
        words = line[trigger.start : trigger.end]
        return Find("negated_request", index, trigger.start, index, stop, words, drop=drop)

    def _bodies(self, first: int, trigger: Trigger) -> Iterator[Find]:
        """What a form asks to keep: the rest of its line, a list, or the next readable line (SPEC 4.5)."""
        words = self.lines[first].text[trigger.start : trigger.end]
        index, position = first, _body_start(self.lines[first].text, trigger)
        while True:
            self.used.add(index)
            line = self.lines[index].text
            position, negated = self._strip(line, position)
            if negated:
                yield self._negated(index, negated, negated.start)
                return
            stop = self._body_end(index)
            found = _body(line, (first, trigger.start), (index, position, stop), words)
            # A question asks for its own sentence alone; a colon further on is not its own.
            if found.kind == "question":
                yield found
                return
            items = self._items_after(index) if position >= stop or line.endswith(_COLONS, 0, stop) else []
            if items:
                yield from (self._item(item, words) for item in items)
                return
            following = None if position < stop else self._next_readable(index)
            if following is None:
                yield found
                return
            self._taken.add(following)
            index, position = following, clause_start(self.lines[following].text)

    def _item(self, index: int, words: str) -> Find:
        line = self.lines[index].text
        self._taken.add(index)
        start, negated = self._strip(line, clause_start(line))
        if negated:
            return self._negated(index, negated, negated.start)
        return _body(line, (index, start), (index, start, self._body_end(index)), words)

    def _strip(self, line: str, position: int) -> tuple[int, Trigger | None]:
        """Where a body starts behind the forms at its start, and the negated form it begins with, if any."""
        while True:
            if negated := self._triggers.negated_at(line, position):
                return position, negated
            form = self._triggers.at_clause(line, position)
            if form is None:
                return position, None
            if form.kind == "negated":
                return position, form
            position = _body_start(line, form)

    def _items_after(self, index: int) -> list[int]:
        """The list items that follow a line, blank lines before the first aside."""
        start = stop = self._filled[index + 1]
        while stop < len(self.lines) and _is_item(self.lines[stop]):
            stop += 1
        if start == stop:
            self.peeked.add(start)
        return list(range(start, stop))

    def _next_readable(self, index: int) -> int | None:
        later = self._filled[index + 1]
        while later < len(self.lines) and self.lines[later].zone:
            later = self._filled[later + 1]
        return later if later < len(self.lines) else None

    def _body_end(self, index: int) -> int:
        """Where the words of a line end: a closing "ok?" or "please" and whitespace are left off (SPEC 4.5)."""
        if index not in self._body_ends:
            line = self.lines[index].text
            tag = _CLOSING_TAG.search(line, max(0, len(line) - _CLOSING_TAG_REACH))
            self._body_ends[index] = len((line[: tag.start()] if tag else line).rstrip())
        return self._body_ends[index]

    def _quotations_in(self, index: int) -> Quotations:
        if index not in self._quotations:
            self._quotations[index] = quotations_of(self.lines[index].text)
        return self._quotations[index]


def _next_filled(lines: tuple[Line, ...]) -> list[int]:
    """For each line, and for the end, the index of the first line from there on that isn't blank."""
    following = [len(lines)] * (len(lines) + 2)
    for index in range(len(lines) - 1, -1, -1):
        following[index] = index if lines[index].text.strip() else following[index + 1]
    return following


def _is_item(line: Line) -> bool:
    return not line.zone and _LIST_ITEM.match(line.text) is not None


def _body_start(line: str, trigger: Trigger) -> int:
    start = trigger.end
    while trigger.kind == "trailing" and line[start : start + 1] in {"。", ".", "!", "！"}:
        start += 1  # 覚えておいて。x: the form is a sentence of its own before its body
    return skip_separator(line, start)


def _words_end(line: str, position: int) -> int:
    """Where the sentence that holds a position ends, without its end mark."""
    end = sentence_end(line, position)
    return end - 1 if end > position and line[end - 1] in _END_MARKS else end


def _resume(line: str, find: Find) -> int:
    """Where reading goes on: a question and a negation cover their own sentence, a body the rest of the line."""
    if find.kind == "question":
        return find.end
    ends_sentence = find.kind == "negated_request" or find.trailing
    return sentence_end(line, find.end) if ends_sentence else len(line)


def _body(line: str, start: tuple[int, int], body: tuple[int, int, int], words: str) -> Find:
    """The words of a line between two positions; if they begin with a question, only that (SPEC 4.6)."""
    (first, trigger), (index, position, stop) = start, body
    stop = max(position, stop)
    end = sentence_end(line, position, stop)
    if line[position:end].endswith(("?", "？")):
        return Find("question", first, trigger, index, end, words, line[position:end])
    return Find("body", first, trigger, index, stop, words, line[position:stop])


def _citation(index: int, line: str, form: Trigger, quotations: Quotations) -> Find:
    end = min(quotations.ends[quotations.around(form.start)], len(line))
    return Find("quoted", index, form.start, index, end, line[form.start : form.end], line[form.start : end])


def _trailing(index: int, line: str, start: int, form: Trigger) -> Find:
    """The body of a trailing form stands before it, without a final particle (SPEC 4.3)."""
    words = line[start : form.start].rstrip()
    particle = _PARTICLE.search(words, max(0, len(words) - _PARTICLE_REACH))
    words = words[: particle.start()] if particle else words
    return Find("body", index, start, index, form.end, line[form.start : form.end], words.rstrip(), trailing=True)
