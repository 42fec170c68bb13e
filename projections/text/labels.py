"""Secrets that show by the label before them: passwords, keys, flags, PINs, user and password (SPEC 7.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from projections.text.label_rules import RULES
from projections.text.label_words import LABELLED_WORD, LABELS, MORE_LABELS
from projections.text.looks import is_key_like
from projections.text.more_labels import may_name_more
from projections.text.shapes import MARK, Finder
from projections.text.values import ALONE, second_label
from projections.text.views import JOINT, Span

__all__ = ["across_lines", "labelled", "without_labels"]


def labelled(extra: tuple[str, ...] = ()) -> tuple[Finder, ...]:
    """What finds the values of labels, without their quotes (SPEC 7.4).

    Args:
        extra: further labels, which count as passwords do (SPEC 20.3). One that begins like a built-in label can't
            hide it.

    Returns:
        Functions from a text, whose shapes (SPEC 7.3) are hidden already, to spans in order. Each is linear.
    """
    return (partial(_all_values, extra),)


def across_lines(text: str, extra: tuple[str, ...] = ()) -> list[Span]:
    """The values of labels in a joined view, those of a line below their label only if they show what they are.

    They do if they look like a secret or stand alone in their line. In order, apart from each other; linear.
    """
    return list(_all_values(extra, text, _belongs))


def _belongs(text: str, label_end: int, span: Span) -> bool:
    """Whether a value in a joined view is one of its label; a quotation over many lines began with an apostrophe."""
    if text.count(JOINT, *span) > 1:
        return False
    if JOINT not in text[label_end : span.start]:
        return True
    value = text[span.start : span.end].replace(MARK, "")
    alone = ALONE.match(text, span.end) and "://" not in value and any(map(str.isalnum, value))
    return bool(alone) or is_key_like(value)


def without_labels(text: str, extra: tuple[str, ...] = ()) -> str:
    """A redacted text without its labels, the words they end and the mark (SPEC 7.6)."""
    if configured := _configured(extra):
        text = configured.sub(" ", text)
    return LABELLED_WORD.sub(" ", text).replace(MARK, " ")


def _always(_text: str, _label_end: int, _span: Span) -> bool:
    return True


def _all_values(
    extra: tuple[str, ...], text: str, accepts: Callable[[str, int, Span], bool] = _always
) -> Iterator[Span]:
    """The values of all labels, each looked for in the same text: what hides one label's value would hide another."""
    patterns = _patterns(extra, text)
    if len(patterns) == 1:
        yield from _values(LABELS, text, accepts)
        return
    joint: Span | None = None
    for span in sorted(span for labels in patterns for span in _values(labels, text, accepts)):
        if joint and span.start < joint.end:
            joint = Span(joint.start, max(joint.end, span.end))
            continue
        if joint:
            yield joint
        joint = span
    if joint:
        yield joint


def _values(labels: re.Pattern[str], text: str, accepts: Callable[[str, int, Span], bool]) -> Iterator[Span]:
    """The values of labels, if they are accepted: given the text, where the label ends, and the value.

    A value that is a label too, or the first word of one, is looked at once more as such; it is short.
    """
    at = done = 0
    while label := labels.search(text, at):
        at = label.end()
        for span in RULES[label.lastgroup or ""](text, label):
            if span.start >= done and accepts(text, label.end(), span):
                yield span
                done = span.end
                at = span.start if second_label(text, span) else span.end


def _patterns(extra: tuple[str, ...], text: str) -> tuple[re.Pattern[str], ...]:
    """The labels that may stand in a text."""
    configured = _configured(extra)
    return (*([configured] if configured else []), LABELS, *([MORE_LABELS] if may_name_more(text) else []))


@lru_cache(maxsize=16)
def _configured(extra: tuple[str, ...]) -> re.Pattern[str] | None:
    labels = "|".join(re.escape(label) for label in sorted(extra, key=len, reverse=True) if label.strip())
    return re.compile(f"(?P<password>{labels})(?![A-Za-z0-9])", re.IGNORECASE) if labels else None
