"""What a user's message asks to remember, and why not: explicit memories (SPEC 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from projections.policy import Context, Policy
from projections.reasons import Evidence
from projections.rules.injection import find_injection
from projections.rules.kinds import type_of
from projections.rules.limits import bounded
from projections.rules.own_blocks import own_words, remove_foreign
from projections.rules.patterns import at_end, at_start
from projections.rules.reading import Find, Reader
from projections.rules.triggers import triggers_of
from projections.text.canonical import exact_key
from projections.text.clean import clean, single_line
from projections.text.cut import weighted_length
from projections.text.intake import take_in
from projections.text.limits import TEXT_LIMIT
from projections.text.redact import is_secret_only

__all__ = ["Request", "extract", "is_off_the_record", "reduce_message"]

_MIN_WEIGHT = 8
_FINAL_MARKS = " .!。！…"
_DEFERRALS = frozenset(
    (
        "later",
        "next time",
        "not now",
        "再说",
        "再說",
        "以后再说",
        "以後再說",
        "稍后",
        "稍後",
        "あとで",
        "後で",
        "나중에",
    )
)
_TIME_WORDS = (
    *("today", "tomorrow", "tonight", "this morning", "this afternoon", "this evening", "next week"),
    *("in a minute", "in an hour"),
    *("今天", "今晚", "明天", "后天", "後天", "下周", "下週", "下星期", "稍后", "稍後", "待会", "待會", "等一下"),
    *("今日", "今夜", "明日", "来週", "あとで", "後で"),
    *("오늘", "내일", "다음 주", "나중에", "이따가"),
)
_PLACEHOLDER = ">"
"""A quoted, empty line: what is left of a line that only showed that no list follows a request."""


class Request(Struct, frozen=True):
    """One remember form of a message: a candidate, accepted if it has no reasons (SPEC 4.8).

    Attributes:
        type: the memory type by SPEC 4.7.
        text: the stored form, one line of at most 260 characters; empty for a negated request.
        reasons: the first that applies of SPEC 4.6, at most one; its span is in characters of ``text``.
        start, end: span of form and body in the message after SPEC 1.3 (steps 1-3) and 3.2, which is the
            message itself when it comes from the log.
        trigger: the words that asked.
        notes: notes of the message (``invisible_removed``); a reduced message has lost them.
    """

    type: str
    text: str
    reasons: tuple[Evidence, ...]
    start: int
    end: int
    trigger: str
    notes: tuple[str, ...] = ()


def extract(text: str, context: Context) -> tuple[Request, ...]:
    """All requests of a message in its order, accepted and refused (SPEC 4).

    Takes the message as it came, cleaned or reduced; the result is the same. O(length).
    """
    words, notes = own_words(text, context.policy)
    reader = Reader(words, triggers_of(context.policy))
    seen: set[str] = set()
    requests: list[Request] = []
    for find in reader.finds():
        request = _judged(find, context, seen)
        start = reader.lines[find.line].start + find.start
        end = reader.lines[find.last].start + find.end
        requests.append(Request(*request, start, end, find.trigger, notes))
        if not request[2]:
            seen.add(exact_key(request[0], request[1], context.root))
    return tuple(requests)


def _judged(find: Find, context: Context, seen: set[str]) -> tuple[str, str, tuple[Evidence, ...]]:
    """Type, stored text and the reason of one find, the first that applies in the order of SPEC 4.6."""
    if find.kind == "negated_request":
        return type_of(""), "", (Evidence("negated_request"),)
    text = take_in(find.words, context.policy, TEXT_LIMIT).text
    kind = type_of(text)
    if find.kind in {"code_block", "quoted", "log_line"}:
        at = max(0, text.find(form := single_line(find.trigger)))
        reason = Evidence(find.kind, at, at + len(form)) if text.startswith(form, at) else Evidence(find.kind)
        return kind, text, (reason,)
    reason_found = next(_refusals(find, text, context.policy), None)
    if reason_found is None and exact_key(kind, text, context.root) in seen:
        reason_found = Evidence("duplicate_in_message")
    return kind, text, (reason_found,) if reason_found else ()


def _refusals(find: Find, text: str, policy: Policy) -> Iterator[Evidence]:
    """Why a body is not taken, in the order of SPEC 4.6."""
    if text.rstrip(_FINAL_MARKS).lower() in _DEFERRALS:
        yield Evidence("deferral", 0, len(text))
    if find.kind == "question":
        yield Evidence("question", max(0, len(text) - 1), len(text))
    first, last = _time_words(policy)
    if moment := first.match(text) or last.search(text):
        yield Evidence("one_off", *moment.span())
    if weighted_length(text) < _MIN_WEIGHT:
        yield Evidence("too_short")
    if span := find_injection(text):
        yield Evidence("prompt_injection", *span)
    if is_secret_only(text):
        yield Evidence("secret_only")


@lru_cache(maxsize=32)
def _time_words(policy: Policy) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = _TIME_WORDS + policy.patterns.time_words
    return at_start(*words), at_end(words)


def reduce_message(text: str, context: Context) -> str:
    """What the log keeps of a message: the lines that hold a form, a body or a fence (DESIGN 3).

    Returns:
        The message after SPEC 1.3 (steps 1-3) and 3.2 with all other lines empty and negated bodies removed, at
        most 64 KiB of UTF-8; the empty string if it holds no form. ``extract`` finds the same in it, spans aside,
        and reducing again changes nothing.
    """
    words, _ = own_words(text, context.policy)
    reader = Reader(words, triggers_of(context.policy))
    finds = list(reader.finds())
    if not finds:
        return ""
    drops: dict[int, list[tuple[int, int, str]]] = {}
    for find in finds:
        drops.setdefault(find.line, []).extend(find.drop)
    kept: list[str] = []
    for index, line in enumerate(reader.lines):
        if index in reader.used:
            kept.append(_without(line.text, drops.get(index, [])))
        elif line.fence:
            kept.append(line.text)
        else:
            kept.append(_PLACEHOLDER if index in reader.peeked and line.text.strip() else "")
    return bounded("\n".join(kept).strip("\n"))


def _without(line: str, spans: list[tuple[int, int, str]]) -> str:
    """The line with some spans replaced, given in order."""
    parts: list[str] = []
    position = 0
    for start, end, instead in spans:
        if start < end:
            parts += [line[position:start], instead]
            position = end
    return "".join(parts) + line[position:]


def is_off_the_record(text: str) -> bool:
    """Whether a message asks that nothing of it be written: its first line starts so, in any case (SPEC 3.7)."""
    return remove_foreign(clean(text).text).lstrip().lower().startswith("off the record")
