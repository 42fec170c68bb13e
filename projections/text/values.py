"""What stands behind a label: a separator, then a quotation or a run of characters without whitespace (SPEC 7.4)."""

from __future__ import annotations

import re
from collections.abc import Callable

from projections.text.characters import CLOSING_BRACKETS, OPENING_BRACKETS, PAIRED_QUOTES, QUOTES
from projections.text.label_words import LABELLED_WORD
from projections.text.looks import is_key_like
from projections.text.shapes import MARK
from projections.text.views import BLANK, JOINT, Span

__all__ = [
    "CLOSE",
    "GAP",
    "RUN",
    "RUN_ENDS",
    "SEPARATOR",
    "UNCLOSED",
    "any_value",
    "loose_value",
    "run_at",
    "value_at",
]

_SPACE = BLANK
"""A label and what stands in the next line are no pair while lines are kept."""

CLOSE = r"\\{0,3}+[\"'`”’」』»]?\]?(?:\*\*|__)?"
"""What may stand behind a label: a closing quote, escaped or not, and the ends of an index or of **emphasis**."""
SEPARATOR = re.compile(
    rf"{CLOSE}(?:{_SPACE}++is\b)?{_SPACE}*+(?:[=:：＝]{{1,3}}+(?!//)>?|是{_SPACE}*+[:：]?)"
    rf"(?:(?:\*\*|__)(?={_SPACE}))?{_SPACE}*+"
)
GAP = re.compile(rf"{CLOSE}{_SPACE}++(?:is{_SPACE}++)?")

RUN = re.compile(rf"(?:{re.escape(MARK)}|[^\s{re.escape(QUOTES + OPENING_BRACKETS + CLOSING_BRACKETS)},，;；])++")
"""A value that isn't quoted."""
RUN_ENDS = ".!?。！？…*"
"""Not part of a value at its end; ``…`` because a text may have been cut there, ``*`` as emphasis may end there."""
UNCLOSED = re.compile(rf"(?:[bBrRuUfF]{{1,2}}|\$)?\\*+[{re.escape(QUOTES)}](?=\S)")
"""An opening quote, of which nobody knows yet whether it ends."""

# The body of each kind of quotation is the one group that matched. An opening sign never stands inside a body
# whose closing sign differs from it, so that unclosed ones are not read again and again.
_QUOTED = re.compile(
    "(?:[bBrRuUfF]{1,2}|\\$)?(?:"
    + "|".join(
        (
            r"\"{2,3}(?![\s,;:})\]])([^\"\n]++)\"{2,3}",
            r"'{2,3}(?![\s,;:})\]])([^'\n]++)'{2,3}",
            r"\"((?:[^\"\\\n]|\\.)*+)\"",
            r"'((?:[^'\\\n]|\\.)*+)'",
            r"`([^`\n]*+)`",
            r"\\++[\"']((?:[^\"'\\\n]|\\++(?![\"']))*+)\\++[\"']",
            *(f"{opening}([^{opening}{closing}\n]*+){closing}" for opening, closing in PAIRED_QUOTES),
        )
    )
    + ")"
)
_LINE_END = re.compile(f"[\n{JOINT}]|\\Z")


def value_at(text: str, at: int) -> Span | None:
    """A quoted string without its quotes, maybe empty, or a run; None where neither stands."""
    if quoted := _QUOTED.match(text, at):
        start, end = quoted.span(quoted.lastindex or 0)
        # `"Token:" is the label of "Key"`: that quotation closed before the value and another opens after it.
        between_quotations = text[start : start + 1].isspace() and text[quoted.end() : quoted.end() + 1].isalnum()
        return None if between_quotations else Span(start, end)
    return None if UNCLOSED.match(text, at) else run_at(text, at)


def run_at(text: str, at: int) -> Span | None:
    """A run without what may only end a sentence; None for nothing, and for a reference to a variable."""
    run = RUN.match(text, at)
    if run is None:
        return None
    value = run.group().rstrip(RUN_ENDS)
    if not value or (value == "$" and text.startswith(("{", "("), run.end())):
        return None
    return Span(at, at + len(value))


def _rest_of_line(text: str, at: int) -> Span | None:
    """What stands behind an opening quote without its end, up to the end of the line; None where no such quote is."""
    opening = UNCLOSED.match(text, at)
    if opening is None:
        return None
    end = _LINE_END.search(text, opening.end())
    return Span(opening.end(), end.start() if end else len(text))


def any_value(text: str, at: int) -> list[Span]:
    """The value behind a separator, whatever it is; an opening quote without its end takes the rest of the line."""
    if value := value_at(text, at):
        return _with_second_label(text, value) if value.start < value.end else []
    if rest := _rest_of_line(text, at):
        # A mark that a cut has shortened is left as it is.
        return [] if MARK.startswith(text[rest.start : rest.end].rstrip("…")) else [rest]
    return []


def _with_second_label(text: str, value: Span) -> list[Span]:
    """``credentials: password: …`` and ``Bearer token …``: what follows the first label is a second one."""
    found = text[value.start : value.end]
    label = found.rstrip("=:：＝")
    if not LABELLED_WORD.fullmatch(label):
        return [value]
    if label != found or SEPARATOR.match(text, value.end):
        return []  # It is looked at as a label, next. Hidden, it would leave its value without one.
    return [value, *_bare_value(text, value.end, is_key_like)]


def loose_value(text: str, at: int, is_secret: Callable[[str], bool]) -> list[Span]:
    """The value behind mere whitespace or "is", if it looks like a secret."""
    return [span for value in _bare_value(text, at, is_secret) for span in _with_second_label(text, value)]


def _bare_value(text: str, at: int, is_secret: Callable[[str], bool]) -> list[Span]:
    """As ``_loose_value``, whatever follows."""
    gap = GAP.match(text, at)
    if gap is None:
        return []
    value = value_at(text, gap.end())
    if value is None and (opening := UNCLOSED.match(text, gap.end())):
        value = run_at(text, opening.end())
    return [value] if value and is_secret(text[value.start : value.end].replace(MARK, "")) else []
