"""What must never be written is taken out of a text: private spans and secrets (SPEC 7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from projections.policy import RedactionExtra
from projections.text.labels import across_lines, labelled, without_labels
from projections.text.shapes import MARK, Finder, shapes
from projections.text.views import CONTINUATION, JOINT, Span, as_seen, continued, joined, splice

__all__ = ["MARK", "is_secret_only", "redact", "redact_lines", "withhold"]

_PRIVATE_TAG = re.compile("<(/?)private>", re.IGNORECASE)
_NO_EXTRA = RedactionExtra()
_PASSES = 8


def withhold(text: str, *, keep_lines: bool = False) -> str:
    """Remove ``<private>…</private>`` with its tags; an unclosed one runs to the end (SPEC 7.2).

    Tags are of any case and nesting is counted; a closing tag without an opening one is plain text. Idempotent
    and linear. With ``keep_lines`` a span leaves its line feeds, for a text whose lines are counted.
    """
    return _repeat(partial(_without_spans, keep_lines), text, lambda left: left[: _first_opening(left)])


def redact(text: str, extra: RedactionExtra = _NO_EXTRA) -> str:
    """Replace secrets by ``[REDACTED]``: shapes that need no label, then labelled values (SPEC 7.3, 7.4).

    Args:
        text: a decoded and cleaned text (SPEC 1.3), before it is cut.
        extra: configured labels and token prefixes (SPEC 20.3).

    Returns:
        The text with labels, separators and quotes kept. Idempotent; linear in the length of the text.
    """
    finders = (*shapes(extra.prefixes), *labelled(extra.labels))

    def once(left: str) -> str:
        for find in finders:
            left = _hide(left, find)
        return left

    return _repeat(once, text, lambda _: MARK)


def redact_lines(text: str, extra: RedactionExtra = _NO_EXTRA, above: str = "") -> str:
    """Redact a text whose lines will be shown as one, or one below the other: a label may stand in the line before.

    A value in another line than its label counts if it looks like a secret or stands there alone; ``auth:`` above a
    list of rules is a heading. Blank lines and list marks between the two don't part them.

    Args:
        text: a decoded and cleaned text (SPEC 1.3), before it is cut.
        extra: configured labels and token prefixes (SPEC 20.3).
        above: a redacted line that is shown before the text, such as its title.

    Returns:
        The text, its lines kept. Idempotent; linear in the length.
    """
    head = f"{above}:\n" if above else ""

    def once(left: str) -> str:
        left = redact(left, extra)
        seen = as_seen(head + left)
        line = joined(seen.text)
        if JOINT not in line.text:
            return left
        found = [seen.origin(line.origin(span)) for span in across_lines(line.text, extra.labels)]
        start = len(head)
        return splice(left, [Span(a - start, b - start) for a, b in found if a >= start], MARK)

    return _repeat(once, text, lambda _: MARK)


def is_secret_only(text: str, extra: RedactionExtra = _NO_EXTRA) -> bool:
    """Whether a redacted text holds no letter or digit beside marks and labels (SPEC 7.6). Linear."""
    return MARK in text and not any(char.isalnum() for char in without_labels(as_seen(text).text, extra.labels))


def _hide(text: str, find: Finder) -> str:
    """The text without the secrets of one kind, which are looked for in the text as it is seen."""
    seen = as_seen(text)
    if CONTINUATION not in seen.text:
        return splice(text, map(seen.origin, find(seen.text)), MARK)
    for spaced in (True, False):
        seen = as_seen(text)
        line = continued(seen.text, spaced=spaced)
        text = splice(text, [seen.origin(line.origin(span)) for span in find(line.text)], MARK)
    return text


def _repeat(step: Callable[[str], str], text: str, give_up: Callable[[str], str]) -> str:
    """Apply a step until it changes nothing, which makes it idempotent.

    What a step takes out can make neighbours of what stood apart, so one round may lay open what only the next
    one sees. Two rounds settle any honest text; one built to need more than ``_PASSES`` is withheld rather than
    read for ever.
    """
    for _ in range(_PASSES):
        changed = step(text)
        if changed == text:
            return text
        text = changed
    return give_up(text)


def _first_opening(text: str) -> int:
    return next((tag.start() for tag in _PRIVATE_TAG.finditer(text) if not tag[1]), len(text))


def _without_spans(keep_lines: bool, text: str) -> str:
    kept: list[str] = []
    depth = at = 0
    for tag in _PRIVATE_TAG.finditer(text):
        if not tag[1]:
            if depth == 0:
                kept.append(text[at : tag.start()])
                at = tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                kept.append("\n" * text.count("\n", at, tag.end()) if keep_lines else "")
                at = tag.end()
    return "".join(kept) if depth else "".join([*kept, text[at:]])
