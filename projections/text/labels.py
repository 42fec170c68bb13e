"""Secrets that show by the label before them: passwords, keys, flags, PINs, user and password (SPEC 7.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from projections.text.characters import CLOSING_BRACKETS, OPENING_BRACKETS, PAIRED_QUOTES, QUOTES
from projections.text.looks import has_digit, has_mixed_letters, is_key_like, is_secret_like, is_small_number
from projections.text.programs import glued_password, login_secret
from projections.text.shapes import MARK, Finder
from projections.text.views import BLANK, JOINT, Span

__all__ = ["across_lines", "labelled", "without_labels"]

_GLUE = f"[ {JOINT}]"
_PASSWORDS = (
    r"password|passwd|pwd|passphrase|密碼|密码|パスワード|비밀번호|contrase(?:ñ|n\u0303)a|passwort"
    rf"|mot{_GLUE}de{_GLUE}passe"
)
# The first word of a label may have been hidden, as the value of another one.
_KEYS = (
    rf"(?:(?:api|auth|private|access|secret)[ _{JOINT}-]?|{re.escape(MARK)}[ {JOINT}])key"
    r"|token|bearer|secret|credentials?|auth"
)
_USERS = rf"user[ _{JOINT}-]?name|用戶名|用户名|ユーザー名|사용자명|usuario|utilisateur|benutzer"
_FLAGS = r"(?<![\w-])--(?:password|token|secret|api-key|auth)(?=\s)"
_SCHEMES = r"basic|digest|token|api-?key|negotiate|ntlm|hawk|hoba|dpop|aws"

_SPACE = BLANK
"""A label and what stands in the next line are no pair while lines are kept."""

_CLOSE = r"\\{0,3}+[\"'`”’」』»]?\]?(?:\*\*|__)?"
"""What may stand behind a label: a closing quote, escaped or not, and the ends of an index or of **emphasis**."""
_SIGN = r"[=:：＝]{1,3}+(?!//)>?"
_FILLER = rf"(?:(?:is|key)(?=[\s=:：＝]|\Z)|是|(?<![=:：＝]){_SIGN}(?![=:：＝]))"
"""What stands at a value's place and is none: a verb, a second sign, the last word of ``auth: key …``."""
_SEPARATOR = re.compile(
    rf"{_CLOSE}(?:{_SPACE}++(?:is|key)\b)*+{_SPACE}*+(?:{_SIGN}|是{_SPACE}*+[:：]?)"
    rf"(?:(?:\*\*|__)(?={_SPACE}))?{_SPACE}*+(?:{_FILLER}{_SPACE}*+)*+",
    re.IGNORECASE,
)
_GAP = re.compile(rf"{_CLOSE}{_SPACE}++(?:(?:is|key|basic){_SPACE}++|是{_SPACE}*+)*+", re.IGNORECASE)
_ASSIGNED = re.compile(rf"{_CLOSE}{_SPACE}*+{_SIGN}(?![=:：＝]){_SPACE}*+")
_SCHEME = re.compile(rf"(?:bearer|basic){_SPACE}++(?=\S)", re.IGNORECASE)

_RUN = re.compile(rf"(?:{re.escape(MARK)}|[^\s{re.escape(QUOTES + OPENING_BRACKETS + CLOSING_BRACKETS)},，;；])++")
_RUN_ENDS = ".!?。！？…*"
"""Not part of a value at its end; ``…`` because a text may have been cut there, ``*`` as emphasis may end there."""

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
            r"\\++[\"']((?:[^\"'\\\n]|\\++(?![\"']))*+)\\++[\"']",
            *(f"{opening}([^{opening}{closing}\n]*+){closing}" for opening, closing in PAIRED_QUOTES),
        )
    )
    + ")"
)
_UNCLOSED = re.compile(rf"(?:[bBrRuUfF]{{1,2}}|\$)?\\*+(?:`{{3,8}}+{_SPACE}*+|[{re.escape(QUOTES)}])(?=\S)")
_FENCE_OPENS = re.compile(rf"`{{3,8}}+[a-z+#]{{0,16}}+{_SPACE}*+(?=[\n{JOINT}]|\Z)")
"""Its value is in the lines below, as ``text`` behind the fence is none."""

_DIGITS = re.compile(r"\d{4,}+(?![A-Za-z_])")
_COMMA = re.compile(rf"\\{{0,3}}+[\"'`”’」』»]?{_SPACE}*+[,，]{_SPACE}*+\\{{0,3}}+[\"'`“‘「『«]?")
_AUTHORIZATION = re.compile(rf"authorization{_CLOSE}{_SPACE}*+[=:：＝]{_SPACE}*+[\"'`]?\Z", re.IGNORECASE)
_LONGEST_HEADER_BEFORE = 40
_TELLING = 100
_LONGEST_NAME = 256
_LABELS_IN_A_ROW = 4


_HEADER_VALUE = re.compile(
    rf"\\{{0,3}}+[\"'`]?(?!bearer\b)(?:(?P<known>{_SCHEMES}){_SPACE}++|[a-z][\w-]{{0,31}}+{_SPACE}++)?(?=\S)",
    re.IGNORECASE,
)

_LABELS = re.compile(
    rf"(?:(?P<flag>{_FLAGS})|(?P<user>{_USERS})|(?P<password>{_PASSWORDS})|(?P<bearer>bearer)|(?P<header>authorization)"
    rf"|(?P<key>{_KEYS})|(?P<pin>pin))(?![A-Za-z0-9])|(?<![\w-])(?:(?P<login>-u|--(?:proxy-)?user(?=[\s=]))|(?P<glued>-p))",
    re.IGNORECASE,
)
_PASSWORD_LABEL = re.compile(rf"\w{{0,32}}?(?:{_PASSWORDS})", re.IGNORECASE)
_LABELLED_WORD = re.compile(
    rf"[\w-]{{0,32}}?(?:{_USERS}|{_PASSWORDS}|authorization(?:\W{{1,4}}(?:{_SCHEMES})(?=\s))?|{_KEYS}|pin)"
    r"(?![A-Za-z0-9])(?:[\s=:：＝]*+(?:(?:is|key)\b|是))*+",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"[{re.escape(_RUN_ENDS + QUOTES)}]{{0,4}}+[ \t]*+(?:[{JOINT}\n]|\Z)")
_SECOND = re.compile(
    rf"(?:{_FLAGS}|[\w-]{{0,32}}?(?:{_USERS}|{_PASSWORDS}|authorization|{_KEYS}|(?P<scheme>{_SCHEMES})|(?P<pin>pin)))"
    r"(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_LINE_END = re.compile(f"[\n{JOINT}]|\\Z")


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
    alone = _ALONE.match(text, span.end) and "://" not in value and any(map(str.isalnum, value))
    return bool(alone) or is_key_like(value)


def without_labels(text: str, extra: tuple[str, ...] = ()) -> str:
    """A redacted text without its labels, the words they end and the mark (SPEC 7.6)."""
    if configured := _configured(extra):
        text = configured.sub(" ", text)
    return _LABELLED_WORD.sub(" ", text).replace(MARK, " ")


def _always(_text: str, _label_end: int, _span: Span) -> bool:
    return True


def _all_values(
    extra: tuple[str, ...], text: str, accepts: Callable[[str, int, Span], bool] = _always
) -> Iterator[Span]:
    """The values of all labels, each looked for in the same text: what hides one label's value would hide another."""
    patterns = _patterns(extra)
    if len(patterns) == 1:
        yield from _values(_LABELS, text, accepts)
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
        for span in _RULES[label.lastgroup or ""](text, label):
            if span.start >= done and accepts(text, label.end(), span):
                yield span
                done = span.end
                at = span.start if _second_label(text, span) else span.end


def _patterns(extra: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    configured = _configured(extra)
    return (configured, _LABELS) if configured else (_LABELS,)


@lru_cache(maxsize=16)
def _configured(extra: tuple[str, ...]) -> re.Pattern[str] | None:
    labels = "|".join(re.escape(label) for label in sorted(extra, key=len, reverse=True) if label.strip())
    return re.compile(f"(?P<password>{labels})(?![A-Za-z0-9])", re.IGNORECASE) if labels else None


def _password(text: str, label: re.Match[str]) -> list[Span]:
    if separator := _SEPARATOR.match(text, label.end()):
        return _any_value(text, separator.end())
    return _loose_value(text, label.end(), is_secret_like)


def _key(text: str, label: re.Match[str]) -> list[Span]:
    if separator := _SEPARATOR.match(text, label.end()):
        scheme = _SCHEME.match(text, separator.end())
        spans = _any_value(text, scheme.end() if scheme else separator.end())
        return [] if spans and is_small_number(text[spans[0].start : spans[0].end]) else spans
    return _loose_value(text, label.end(), is_key_like)


def _bearer(text: str, label: re.Match[str]) -> list[Span]:
    if _SEPARATOR.match(text, label.end()):
        return _key(text, label)
    start = label.start()
    header = text[max(0, start - _LONGEST_HEADER_BEFORE) : start]
    if header.endswith(tuple(QUOTES)) or _AUTHORIZATION.search(header):
        return _loose_value(text, label.end(), bool)
    return _loose_value(text, label.end(), lambda value: has_digit(value) or has_mixed_letters(value))


def _header(text: str, label: re.Match[str]) -> list[Span]:
    """``Authorization`` with any scheme; Bearer has a rule of its own. Prose behind the colon is no credential."""
    separator = _SEPARATOR.match(text, label.end())
    value = _HEADER_VALUE.match(text, separator.end()) if separator else None
    if value is None:
        return []
    # What a run begins with tells what it is: one read to its end only to be kept would be read again and again.
    head = _RUN.match(text, value.end(), value.end() + _TELLING)
    if head is None:
        return []
    found = head.group()
    padded = len(found) < _TELLING and found.endswith("=")
    if not (value["known"] or padded or is_key_like(found)):
        return []
    run = _run(text, value.end())
    return [run] if run else []


def _flag(text: str, label: re.Match[str]) -> list[Span]:
    gap = _GAP.match(text, label.end())
    return [] if gap is None or text.startswith("-", gap.end()) else _any_value(text, gap.end())


def _pin(text: str, label: re.Match[str]) -> list[Span]:
    before = _SEPARATOR.match(text, label.end())
    if before is None and label.group() == "PIN":
        before = _GAP.match(text, label.end())
    if before is None:
        return []
    return _digits(text, before.end())


def _digits(text: str, at: int) -> list[Span]:
    if gap := _GAP.match(text, at):
        at = gap.end()
    quote = _UNCLOSED.match(text, at)
    digits = _DIGITS.match(text, quote.end() if quote else at)
    return [Span(*digits.span())] if digits else []


def _user(text: str, label: re.Match[str]) -> list[Span]:
    """A user name is a secret only together with the password that follows it after a comma.

    Most names are kept, so what follows them is read again: one run may hold the label a thousand times over. A run
    that is longer than any name is therefore not read to its end.
    """
    separator = _SEPARATOR.match(text, label.end())
    if separator is None:
        return []
    start = separator.end()
    head = _RUN.match(text, start, start + _LONGEST_NAME)
    name = _value(text, start) if head is None or head.end() < start + _LONGEST_NAME else None
    comma = _COMMA.match(text, name.end) if name else None
    if name is None or comma is None:
        return []
    second = _PASSWORD_LABEL.match(text, comma.end())
    between = _SEPARATOR.match(text, second.end()) if second else None
    return [name, *_any_value(text, between.end())] if between else []


_RULES: dict[str, Callable[[str, re.Match[str]], list[Span]]] = {
    "flag": _flag,
    "user": _user,
    "password": _password,
    "bearer": _bearer,
    "key": _key,
    "pin": _pin,
    "header": _header,
    "login": lambda text, label: login_secret(text, label.start(), label.end()),
    "glued": lambda text, label: glued_password(text, label.start(), label.end()),
}


def _any_value(text: str, at: int) -> list[Span]:
    """The value behind a separator, whatever it is; an opening quote without its end takes the rest of the line."""
    if _FENCE_OPENS.match(text, at):
        return []
    if value := _value(text, at):
        return _with_second_label(text, value) if value.start < value.end else []
    if opening := _UNCLOSED.match(text, at):
        end = _LINE_END.search(text, opening.end())
        rest = Span(opening.end(), end.start() if end else len(text))
        # A mark that a cut has shortened is left as it is.
        return [] if MARK.startswith(text[rest.start : rest.end].rstrip("…")) else [rest]
    return []


def _with_second_label(text: str, value: Span) -> list[Span]:
    """``credentials: password: …``, ``Bearer token …``: what follows the first label is a second one, or the like."""
    label = _second_label(text, value)
    if label is None:
        return [value, *_typed(text, value), *_below(text, value)]
    if not label["scheme"] and (label.end() < value.end or _SEPARATOR.match(text, label.end())):
        return []  # It is looked at as a label, next. Hidden, it would leave its value without one.
    row = [value]
    for _ in range(_LABELS_IN_A_ROW):
        gap = _SEPARATOR.match(text, label.end()) or _GAP.match(text, label.end())
        if label["pin"] and (digits := _digits(text, label.end())):
            return [*row, *digits]
        if gap is None or (after := _value(text, gap.end())) is None:
            break
        row.append(after)
        label = _second_label(text, after)
        if label is None:
            return row if is_key_like(text[after.start : after.end].replace(MARK, "")) else [value]
    return [value, *_bare_value(text, label.end(), is_key_like)]


def _second_label(text: str, value: Span) -> re.Match[str] | None:
    """The label that begins where a value does and goes on at least to its end, signs aside."""
    label = _SECOND.match(text, value.start)
    return label if label and text[label.end() : value.end].strip("=:：＝") == "" else None


def _below(text: str, value: Span) -> list[Span]:
    """A value that stands alone below one that is hidden: that may have been its label, as in ``auth: token``."""
    if text[value.start : value.end] != MARK:
        return []
    gap = _SEPARATOR.match(text, value.end) or _GAP.match(text, value.end)
    below = _value(text, gap.end()) if gap and JOINT in gap.group() else None
    if below is None or not _ALONE.match(text, below.end):
        return []
    return [below] if is_key_like(text[below.start : below.end].replace(MARK, "")) else []


def _typed(text: str, value: Span) -> Iterator[Span]:
    """``password: string = …`` and ``credentials: login: …``: what stood at the value's place was the name of one."""
    while True:
        is_named = text[value.end - 1] in ":："
        behind = (_GAP if is_named else _ASSIGNED).match(text, value.end)
        after = _value(text, behind.end()) if behind else None
        if after is None or after.start == after.end or (is_named and not is_key_like(text[after.start : after.end])):
            return
        yield after
        value = after


def _loose_value(text: str, at: int, is_secret: Callable[[str], bool]) -> list[Span]:
    """The value behind mere whitespace or "is", if it looks like a secret."""
    return [span for value in _bare_value(text, at, is_secret) for span in _with_second_label(text, value)]


def _bare_value(text: str, at: int, is_secret: Callable[[str], bool]) -> list[Span]:
    """As ``_loose_value``, whatever follows."""
    gap = _GAP.match(text, at)
    if gap is None:
        return []
    value = _value(text, gap.end())
    if value is None and (opening := _UNCLOSED.match(text, gap.end())):
        value = _run(text, opening.end())
    return [value] if value and is_secret(text[value.start : value.end].replace(MARK, "")) else []


def _value(text: str, at: int) -> Span | None:
    """A quoted string without its quotes, maybe empty, or a run; None where neither stands."""
    if quoted := _QUOTED.match(text, at):
        start, end = quoted.span(quoted.lastindex or 0)
        # `"Token:" is the label of "Key"`: that quotation closed before the value and another opens after it.
        between_quotations = text[start : start + 1].isspace() and text[quoted.end() : quoted.end() + 1].isalnum()
        return None if between_quotations else Span(start, end)
    return None if _UNCLOSED.match(text, at) else _run(text, at)


def _run(text: str, at: int) -> Span | None:
    run = _RUN.match(text, at)
    if run is None:
        return None
    value = run.group().rstrip(_RUN_ENDS)
    if not value or (value == "$" and text.startswith(("{", "("), run.end())):
        return None  # Nothing, or a reference to a variable.
    return Span(at, at + len(value))
