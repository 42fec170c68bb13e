"""What stands behind a label: a separator, then a quotation or a run of characters without whitespace (SPEC 7.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from projections.text.characters import CLOSING_BRACKETS, OPENING_BRACKETS, PAIRED_QUOTES, QUOTES
from projections.text.label_words import SECOND_LABEL, TAIL
from projections.text.looks import is_key_like
from projections.text.shapes import MARK
from projections.text.views import BLANK, JOINT, Span

__all__ = [
    "ALONE",
    "CLOSE",
    "FILLER",
    "GAP",
    "RUN",
    "RUN_ENDS",
    "SEPARATOR",
    "UNCLOSED",
    "any_value",
    "digits_at",
    "loose_value",
    "run_at",
    "second_label",
    "value_at",
]

_SPACE = BLANK
"""A label and what stands in the next line are no pair while lines are kept."""

CLOSE = r"\\{0,3}+[\"'`”’」』»]?\]?(?:\*\*|__)?"
"""What may stand behind a label: a closing quote, escaped or not, and the ends of an index or of **emphasis**."""
_SIGN = r"[=:：＝]{1,3}+(?!//)>?"
FILLER = rf"(?:(?:is|key)(?=[\s=:：＝]|\Z)|是|(?<![=:：＝]){_SIGN}(?![=:：＝]))"
"""What stands at a value's place and is none: a verb, a second sign, the last word of ``auth: key …``."""
SEPARATOR = re.compile(
    rf"{CLOSE}(?:{_SPACE}++(?:is|key)\b)*+{_SPACE}*+(?:{_SIGN}|是{_SPACE}*+[:：]?)"
    rf"(?:(?:\*\*|__)(?={_SPACE}))?{_SPACE}*+(?:{FILLER}{_SPACE}*+)*+",
    re.IGNORECASE,
)
GAP = re.compile(rf"{CLOSE}{_SPACE}++(?:(?:is|key|basic){_SPACE}++|是{_SPACE}*+)*+", re.IGNORECASE)
_ASSIGNED = re.compile(rf"{CLOSE}{_SPACE}*+{_SIGN}(?![=:：＝]){_SPACE}*+")

RUN = re.compile(rf"(?:{re.escape(MARK)}|[^\s{re.escape(QUOTES + OPENING_BRACKETS + CLOSING_BRACKETS)},，;；])++")
"""A value that isn't quoted."""
RUN_ENDS = ".!?。！？…*"
"""Not part of a value at its end; ``…`` because a text may have been cut there, ``*`` as emphasis may end there."""
UNCLOSED = re.compile(rf"(?:[bBrRuUfF]{{1,2}}|\$)?\\*+(?:`{{3,8}}+{_SPACE}*+|[{re.escape(QUOTES)}])(?=\S)")
"""An opening quote, of which nobody knows yet whether it ends."""
_FENCE_OPENS = re.compile(rf"`{{3,8}}+[a-z+#]{{0,16}}+{_SPACE}*+(?=[\n{JOINT}]|\Z)")
"""Its value is in the lines below, as ``text`` behind the fence is none."""

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
            rf"`{{3,8}}+{_SPACE}*+([^`\n{JOINT}]++)`{{3,8}}+",
            r"`(?!``)([^`\n]*+)`",
            # Not possessive as a whole: Python before 3.11.5 then misses it, as its parts look ahead.
            r"\\++[\"']((?:[^\"'\\\n]|\\++(?![\"']))*)\\++[\"']",
            *(f"{opening}([^{opening}{closing}\n]*+){closing}" for opening, closing in PAIRED_QUOTES),
        )
    )
    + ")"
)
_LINE_END = re.compile(f"[\n{JOINT}]|\\Z")
ALONE = re.compile(rf"[{re.escape(RUN_ENDS + QUOTES)}]{{0,4}}+[ \t]*+(?:[{JOINT}\n]|\Z)")
"""What may stand behind a value that is the last of its line."""
_DIGITS = re.compile(r"\d{4,}+(?![A-Za-z_])")
_LABELS_IN_A_ROW = 4


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


def digits_at(text: str, at: int) -> list[Span]:
    """The digits of a PIN, behind a quote or a verb too."""
    if gap := GAP.match(text, at):
        at = gap.end()
    quote = UNCLOSED.match(text, at)
    digits = _DIGITS.match(text, quote.end() if quote else at)
    return [Span(*digits.span())] if digits else []


def _rest_of_line(text: str, at: int) -> Span | None:
    """What stands behind an opening quote without its end, up to the end of the line; None where no such quote is."""
    opening = UNCLOSED.match(text, at)
    if opening is None:
        return None
    end = _LINE_END.search(text, opening.end())
    return Span(opening.end(), end.start() if end else len(text))


def any_value(text: str, at: int) -> list[Span]:
    """The value behind a separator, whatever it is; an opening quote without its end takes the rest of the line."""
    if _FENCE_OPENS.match(text, at):
        return []
    if value := value_at(text, at):
        return _with_second_label(text, value) if value.start < value.end else []
    if rest := _rest_of_line(text, at):
        # A mark that a cut has shortened is left as it is.
        return [] if MARK.startswith(text[rest.start : rest.end].rstrip("…")) else [rest]
    return []


def _with_second_label(text: str, value: Span) -> list[Span]:
    """``credentials: password: …``, ``Bearer token …``: what follows the first label is a second one, or the like."""
    label = second_label(text, value)
    if label is None:
        return [value, *_typed(text, value), *_below(text, value)]
    if not label["choosy"] and (label.end() < value.end or SEPARATOR.match(text, label.end())):
        return []  # It is looked at as a label, next. Hidden, it would leave its value without one.
    row = [value]
    for _ in range(_LABELS_IN_A_ROW):
        gap = SEPARATOR.match(text, label.end()) or GAP.match(text, label.end())
        if label["pin"] and (digits := digits_at(text, label.end())):
            return [*row, *digits]
        if gap is None or (after := value_at(text, gap.end())) is None:
            break
        row.append(after)
        label = second_label(text, after)
        if label is None:
            return row if is_key_like(text[after.start : after.end].replace(MARK, "")) else [value]
    return [value, *_bare_value(text, label.end(), is_key_like)]


def second_label(text: str, value: Span) -> re.Match[str] | None:
    """The label that begins where a value does and goes on at least to its end, signs aside."""
    label = SECOND_LABEL.match(text, value.start)
    return label if label and text[label.end() : value.end].strip("=:：＝") == "" else None


def _below(text: str, value: Span) -> list[Span]:
    """A value that stands alone below one that is hidden: that may have been its label, as in ``auth: token``."""
    if text[value.start : value.end] != MARK:
        return []
    tail = TAIL.match(text, value.end)
    end = tail.end() if tail else value.end
    for between in (SEPARATOR, GAP):
        gap = between.match(text, end)
        below = value_at(text, gap.end()) if gap and JOINT in gap.group() else None
        if below and ALONE.match(text, below.end) and is_key_like(text[below.start : below.end].replace(MARK, "")):
            return [below]
    return []


def _typed(text: str, value: Span) -> Iterator[Span]:
    """``password: string = …`` and ``credentials: login: …``: what stood at the value's place was the name of one."""
    while True:
        is_named = text[value.end - 1] in ":："
        behind = (GAP if is_named else _ASSIGNED).match(text, value.end)
        after = value_at(text, behind.end()) if behind else None
        if after is None or after.start == after.end or (is_named and not is_key_like(text[after.start : after.end])):
            return
        yield after
        value = after


def loose_value(text: str, at: int, is_secret: Callable[[str], bool]) -> list[Span]:
    """The value behind mere whitespace or "is", if it looks like a secret."""
    return [span for value in _bare_value(text, at, is_secret) for span in _with_second_label(text, value)]


def _bare_value(text: str, at: int, is_secret: Callable[[str], bool]) -> list[Span]:
    """As ``loose_value``, whatever follows."""
    gap = GAP.match(text, at)
    if gap is None:
        return []
    value = value_at(text, gap.end())
    if value is None and (opening := UNCLOSED.match(text, gap.end())):
        value = run_at(text, opening.end())
    return [value] if value and is_secret(text[value.start : value.end].replace(MARK, "")) else []
