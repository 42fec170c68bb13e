"""The quality gate: all reasons why a proposed text is no lasting memory (SPEC 6)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from projections.policy import Context, Policy
from projections.reasons import Evidence
from projections.rules import gate_words as words
from projections.rules.injection import find_injection
from projections.rules.patterns import source_of
from projections.rules.rule_files import digest_of
from projections.text.cut import weighted_length
from projections.text.paths import is_path
from projections.text.redact import is_secret_only

__all__ = ["CONDITIONS", "Subject", "judge", "notes"]

Span = tuple[int, int]
_WHOLE: Span = (0, 0)
_MIN_WEIGHT, _MIN_WEIGHT_OF_VALUE = 20, 12
_MIN_HASH, _LABEL_REACH = 12, 20
_TERSE_WORDS = 4


class Subject(Struct, frozen=True):
    """The text that is judged. ``rule`` says that it has a normative word, so no *word* condition applies."""

    type: str
    text: str
    rule: bool
    context: Context
    rule_digests: frozenset[str]


Condition = Callable[[Subject], "Span | None"]
"""Where a text meets a condition of SPEC 6.2, or None; ``(0, 0)`` stands for the text as a whole."""


def judge(
    type: str,  # noqa: A002 - the field's own name, as in every entry
    text: str,
    context: Context,
    rule_digests: frozenset[str] = frozenset(),
) -> tuple[Evidence, ...]:
    """All reasons against a text (SPEC 6.1), in the order of the table; empty means accepted.

    Args:
        type: a built-in or configured memory type; what asks for a sign of a type concerns the built-in ones.
        text: the stored form: one line, redacted and cut.
        context: policy (configured gate words) and workspace root.
        rule_digests: digests of what instruction files say (SPEC 3.6).

    Returns:
        Reasons with the span of ``text`` that matched. O(length).
    """
    subject = Subject(type, text, words.NORMATIVE.search(text) is not None, context, rule_digests)
    found = [Evidence(code, *span) for code, condition in CONDITIONS if (span := condition(subject)) is not None]
    found.extend(
        Evidence(f"custom:{name}", *match.span())
        for name, pattern in _configured(context.policy)
        if (match := pattern.search(text))
    )
    return tuple(found)


def notes(text: str) -> tuple[str, ...]:
    """Soft notes, which never reject: a bare label of a few words without a verb (SPEC 6.2)."""
    bare = not ({":", "："} & set(text)) and len(text.split()) < _TERSE_WORDS and not words.LINKING.search(text)
    return ("terse_label",) if bare else ()


@lru_cache(maxsize=32)
def _configured(policy: Policy) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((gate.name, re.compile(source_of(gate.words), re.IGNORECASE)) for gate in policy.patterns.gate)


def _span(match: re.Match[str] | None) -> Span | None:
    return match.span() if match else None


def _both(text: str, first: re.Pattern[str], second: re.Pattern[str]) -> Span | None:
    """The span from one match to the other, whichever comes first, if both occur."""
    one, other = first.search(text), second.search(text)
    return (min(one.start(), other.start()), max(one.end(), other.end())) if one and other else None


def _first(*spans: Span | None) -> Span | None:
    return next((span for span in spans if span is not None), None)


def _too_short(subject: Subject) -> Span | None:
    names_value = subject.type == "reference" and words.NAMED_VALUE.search(subject.text)
    return _WHOLE if weighted_length(subject.text) < (_MIN_WEIGHT_OF_VALUE if names_value else _MIN_WEIGHT) else None


def _progress_snapshot(subject: Subject) -> Span | None:
    text = subject.text
    files = None if words.FILE_LIMIT.search(text) else _both(text, words.FILE_COUNT, words.FILE_ACTIVITY)
    hard = _first(_span(words.TEST_COUNT.search(text)), files, _span(words.NEXT_STEP.match(text)))
    if hard or subject.rule:
        return hard
    return _first(
        _both(text, words.COMPLETION, words.WORK),
        _both(text, words.NUMBERED_PHASE, words.PHASE_DONE),
        _span(words.CJK_PROGRESS.search(text)),
        _span(words.CURRENCY.search(text)),
    )


def _temporary_status(subject: Subject) -> Span | None:
    if subject.rule:
        return None
    return _span(words.STATUS_START.match(subject.text) or words.STATUS.search(subject.text))


def _transient_bug_state(subject: Subject) -> Span | None:
    return None if subject.rule else _span(words.BUG_STATE.search(subject.text))


def _unresolved_question(subject: Subject) -> Span | None:
    # Blanks keep the positions of what is left.
    text = words.URL.sub(lambda url: " " * len(url.group()), subject.text).rstrip()
    end = len(text)
    hard = (end - 1, end) if text.endswith(("?", "？")) else _span(words.QUESTION.search(text))
    if hard or subject.rule:
        return hard
    return _span(words.OPEN_START.match(text) or words.UNDECIDED.search(text))


def _commit_or_ci_snapshot(subject: Subject) -> Span | None:
    hard = _first(_span(words.COMMIT_PREFIX.match(subject.text)), _commit_hash(subject.text))
    return hard if hard or subject.rule else _both(subject.text, words.CI, words.CI_STATE)


def _commit_hash(text: str) -> Span | None:
    """The first word that is a commit hash by its place or its length (SPEC 6.5)."""
    for match in words.HEX_WORD.finditer(text):
        word, start = match.group(), match.start()
        digits = sum(character.isdigit() for character in word)
        if digits in {0, len(word)}:
            continue
        labelled = words.HASH_LABEL.search(text[max(0, start - _LABEL_REACH) : start])
        leading = digits > 1 and not text[:start].strip()
        if labelled or leading or len(word) >= _MIN_HASH:
            return match.span()
    return None


def _raw_error(subject: Subject) -> Span | None:
    text = subject.text
    traceback = text.find(words.TRACEBACK)
    return _first(
        _span(words.ERROR_NAME.match(text)),
        _span(words.STACK_FRAME.search(text)),
        # A letter tells a file's place from a time of day: (10:30:15).
        next((place.span() for place in words.STACK_PLACE.finditer(text) if not place[1].isdigit()), None),
        (traceback, traceback + len(words.TRACEBACK)) if traceback >= 0 else None,
        (0, len(words.PANIC)) if text.startswith(words.PANIC) else None,
    )


def _path_heavy(subject: Subject) -> Span | None:
    parts = subject.text.split()
    return _WHOLE if 2 * sum(map(is_path, parts)) > len(parts) else None


def _active_file_snapshot(subject: Subject) -> Span | None:
    match = words.FILE_TOUCH.fullmatch(subject.text.strip())
    return _WHOLE if match and "." in match[1] else None


def _code_or_api_signature(subject: Subject) -> Span | None:
    return _span(words.SIGNATURE.match(subject.text))


def _deployment_snapshot(subject: Subject) -> Span | None:
    deployment = words.DEPLOYMENT.search(subject.text)
    if deployment is None:
        return None
    return next((match.span() for match in words.ENTROPY_ID.finditer(subject.text) if _is_random(match[1])), None)


def _is_random(word: str) -> bool:
    return (
        any(character.islower() for character in word)
        and any(character.isupper() for character in word)
        and any(character.isdigit() for character in word)
    )


def _bad_feedback(subject: Subject) -> Span | None:
    if subject.type != "feedback" or subject.rule or words.PREFERENCE.search(subject.text):
        return None
    return _WHOLE


def _bad_decision(subject: Subject) -> Span | None:
    if subject.type != "decision" or subject.rule:
        return None
    text = subject.text
    states_rule = words.RULE.search(text)
    if not (states_rule or words.ARCHITECTURE_NAME.search(text) or words.ARCHITECTURE.search(text)):
        return _WHOLE
    return _first(
        _span(words.IMPLEMENTED.search(text)),
        _both(text, words.PAST, words.RECENT),
        None if states_rule else _span(words.WORK_CONTEXT.search(text)),
    )


def _memory_echo(subject: Subject) -> Span | None:
    return _span(words.ACCORDING.match(subject.text) or words.ECHO.search(subject.text))


def _in_rules_file(subject: Subject) -> Span | None:
    if not subject.rule_digests or digest_of(subject.text, subject.context) not in subject.rule_digests:
        return None
    return _WHOLE


def _prompt_injection(subject: Subject) -> Span | None:
    return find_injection(subject.text)


def _secret_only(subject: Subject) -> Span | None:
    return _WHOLE if is_secret_only(subject.text) else None


CONDITIONS: tuple[tuple[str, Condition], ...] = (
    ("too_short", _too_short),
    ("progress_snapshot", _progress_snapshot),
    ("temporary_status", _temporary_status),
    ("transient_bug_state", _transient_bug_state),
    ("unresolved_question", _unresolved_question),
    ("commit_or_ci_snapshot", _commit_or_ci_snapshot),
    ("raw_error", _raw_error),
    ("path_heavy", _path_heavy),
    ("active_file_snapshot", _active_file_snapshot),
    ("code_or_api_signature", _code_or_api_signature),
    ("deployment_snapshot", _deployment_snapshot),
    ("bad_feedback", _bad_feedback),
    ("bad_decision", _bad_decision),
    ("memory_echo", _memory_echo),
    ("in_rules_file", _in_rules_file),
    ("prompt_injection", _prompt_injection),
    ("secret_only", _secret_only),
)
"""Reason code and condition, in the order of the table of SPEC 6.2."""
