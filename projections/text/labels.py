"""Secrets that show by the label before them: passwords, keys, flags, PINs, user and password (SPEC 7.4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from projections.text.characters import CLOSING_BRACKETS, OPENING_BRACKETS, PAIRED_QUOTES, QUOTES
from projections.text.shapes import MARK

__all__ = ["hide_labelled", "without_labels"]

_PASSWORDS = (
    r"password|passwd|pwd|passphrase|密碼|密码|パスワード|비밀번호|contrase(?:ñ|n\u0303)a|mot[ ]de[ ]passe|passwort"
)
_KEYS = r"(?:api|auth|private|access|secret)[ _-]?key|token|bearer|secret|credentials?|auth"
_USERS = r"user[ _-]?name|用戶名|用户名|ユーザー名|사용자명|usuario|utilisateur|benutzer"
_FLAGS = r"(?<![\w-])--(?:password|token|secret|api-key|auth)(?=\s)"

_SPACE = r"[^\S\n\v\f\r\x1c-\x1e\x85\u2028\u2029]"
"""Whitespace within a line: a label and what stands in the next line are no pair while lines are kept."""

_CLOSE = r"\\{0,3}+[\"'`”’」』»]?\]?(?:\*\*|__)?"
"""What may stand behind a label: a closing quote, escaped or not, and the ends of an index or of **emphasis**."""
_SEPARATOR = re.compile(
    rf"{_CLOSE}(?:{_SPACE}++is\b)?{_SPACE}*+(?:[=:：＝]{{1,3}}+(?!//)>?|是{_SPACE}*+[:：]?)"
    rf"(?:(?:\*\*|__)(?={_SPACE}))?{_SPACE}*+"
)
_GAP = re.compile(rf"{_CLOSE}{_SPACE}++(?:is{_SPACE}++)?")
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
            r"`([^`\n]*+)`",
            r"\\++[\"']((?:[^\"'\\\n]|\\++(?![\"']))*+)\\++[\"']",
            *(f"{opening}([^{opening}{closing}\n]*+){closing}" for opening, closing in PAIRED_QUOTES),
        )
    )
    + ")"
)
_UNCLOSED = re.compile(rf"(?:[bBrRuUfF]{{1,2}}|\$)?\\*+[{re.escape(QUOTES)}](?=\S)")

_DIGITS = re.compile(r"\d{4,}+(?![A-Za-z_])")
_SMALL_NUMBER = re.compile(r"\d+(?:\.\d+)?\Z")
_COMMA = re.compile(rf"\\{{0,3}}+[\"'`”’」』»]?{_SPACE}*+[,，]{_SPACE}*+\\{{0,3}}+[\"'`“‘「『«]?")
_AUTHORIZATION = re.compile(rf"authorization{_CLOSE}{_SPACE}*+[=:：＝]{_SPACE}*+[\"'`]?\Z", re.IGNORECASE)
_LONGEST_HEADER_BEFORE = 40


class _Span(NamedTuple):
    """Where a value stands, without its quotes."""

    start: int
    end: int


_LABELS = re.compile(
    rf"(?:(?P<flag>{_FLAGS})|(?P<user>{_USERS})|(?P<password>{_PASSWORDS})|(?P<bearer>bearer)|(?P<key>{_KEYS})"
    r"|(?P<pin>pin))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_PASSWORD_LABEL = re.compile(rf"\w{{0,32}}?(?:{_PASSWORDS})", re.IGNORECASE)
_LABELLED_WORD = re.compile(
    rf"[\w-]{{0,32}}?(?:{_USERS}|{_PASSWORDS}|authorization|{_KEYS}|pin)(?![A-Za-z0-9])(?:\s+is\b|\s*是)?",
    re.IGNORECASE,
)


def hide_labelled(text: str, extra: tuple[str, ...] = ()) -> str:
    """Replace the values of labels by the mark; labels, separators and quotes stay (SPEC 7.4).

    Args:
        text: a decoded text whose shapes (SPEC 7.3) are hidden already.
        extra: further labels, which count as passwords do (SPEC 20.3).

    Returns:
        The text with each secret value replaced. Linear in its length.
    """
    # Configured labels take their own turn, so that one which begins like a built-in label can't hide it.
    configured = _configured(extra)
    return _hide(_hide(text, configured) if configured else text, _LABELS)


def without_labels(text: str, extra: tuple[str, ...] = ()) -> str:
    """A redacted text without its labels, the words they end and the mark (SPEC 7.6)."""
    if configured := _configured(extra):
        text = configured.sub(" ", text)
    return _LABELLED_WORD.sub(" ", text).replace(MARK, " ")


def _hide(text: str, labels: re.Pattern[str]) -> str:
    pieces: list[str] = []
    done = at = 0
    while label := labels.search(text, at):
        at = label.end()
        for span in _RULES[label.lastgroup or ""](text, label):
            pieces += (text[done : span.start], MARK)
            done = at = span.end
    return "".join([*pieces, text[done:]])


@lru_cache(maxsize=16)
def _configured(extra: tuple[str, ...]) -> re.Pattern[str] | None:
    labels = "|".join(re.escape(label) for label in sorted(extra, key=len, reverse=True) if label.strip())
    return re.compile(f"(?P<password>{labels})(?![A-Za-z0-9])", re.IGNORECASE) if labels else None


def _password(text: str, label: re.Match[str]) -> list[_Span]:
    if separator := _SEPARATOR.match(text, label.end()):
        return _any_value(text, separator.end())
    return _loose_value(text, label.end(), _secret_like)


def _key(text: str, label: re.Match[str]) -> list[_Span]:
    if separator := _SEPARATOR.match(text, label.end()):
        scheme = _SCHEME.match(text, separator.end())
        spans = _any_value(text, scheme.end() if scheme else separator.end())
        return [span for span in spans if not _is_small_number(text[span.start : span.end])]
    return _loose_value(text, label.end(), _key_like)


def _bearer(text: str, label: re.Match[str]) -> list[_Span]:
    if _SEPARATOR.match(text, label.end()):
        return _key(text, label)
    start = label.start()
    header = text[max(0, start - _LONGEST_HEADER_BEFORE) : start]
    if header.endswith(tuple(QUOTES)) or _AUTHORIZATION.search(header):
        return _loose_value(text, label.end(), bool)
    return _loose_value(text, label.end(), lambda value: _has_digit(value) or _mixed_letters(value))


def _flag(text: str, label: re.Match[str]) -> list[_Span]:
    gap = _GAP.match(text, label.end())
    return [] if gap is None or text.startswith("-", gap.end()) else _any_value(text, gap.end())


def _pin(text: str, label: re.Match[str]) -> list[_Span]:
    before = _SEPARATOR.match(text, label.end())
    if before is None and label.group() == "PIN":
        before = _GAP.match(text, label.end())
    if before is None:
        return []
    quote = _UNCLOSED.match(text, before.end())
    digits = _DIGITS.match(text, quote.end() if quote else before.end())
    return [_Span(*digits.span())] if digits else []


def _user(text: str, label: re.Match[str]) -> list[_Span]:
    """A user name is a secret only together with the password that follows it after a comma."""
    separator = _SEPARATOR.match(text, label.end())
    name = _value(text, separator.end()) if separator else None
    comma = _COMMA.match(text, name.end) if name else None
    if name is None or comma is None:
        return []
    second = _PASSWORD_LABEL.match(text, comma.end())
    between = _SEPARATOR.match(text, second.end()) if second else None
    return [name, *_any_value(text, between.end())] if between else []


_RULES: dict[str, Callable[[str, re.Match[str]], list[_Span]]] = {
    "flag": _flag,
    "user": _user,
    "password": _password,
    "bearer": _bearer,
    "key": _key,
    "pin": _pin,
}


def _any_value(text: str, at: int) -> list[_Span]:
    """The value behind a separator, whatever it is; an opening quote without its end takes the rest of the line."""
    if value := _value(text, at):
        return _with_second_label(text, value) if value.start < value.end else []
    if opening := _UNCLOSED.match(text, at):
        end = text.find("\n", opening.end())
        rest = _Span(opening.end(), len(text) if end < 0 else end)
        # A mark that a cut has shortened is left as it is.
        return [] if MARK.startswith(text[rest.start : rest.end].rstrip("…")) else [rest]
    return []


def _with_second_label(text: str, value: _Span) -> list[_Span]:
    """``credentials: password: …`` and ``API key: token …``: what follows the first label is a second one."""
    found = text[value.start : value.end]
    label = found.rstrip("=:：＝")
    if not _LABELLED_WORD.fullmatch(label):
        return [value]
    return [value, *_loose_value(text, value.end, _key_like)] if label == found else []


def _loose_value(text: str, at: int, is_secret: Callable[[str], bool]) -> list[_Span]:
    """The value behind mere whitespace or "is", if it looks like a secret."""
    gap = _GAP.match(text, at)
    if gap is None:
        return []
    value = _value(text, gap.end())
    if value is None and (opening := _UNCLOSED.match(text, gap.end())):
        value = _run(text, opening.end())
    return [value] if value and is_secret(text[value.start : value.end].replace(MARK, "")) else []


def _value(text: str, at: int) -> _Span | None:
    """A quoted string without its quotes, maybe empty, or a run; None where neither stands."""
    if quoted := _QUOTED.match(text, at):
        start, end = quoted.span(quoted.lastindex or 0)
        # `"Token:" is the label of "Key"`: that quotation closed before the value and another opens after it.
        between_quotations = text[start : start + 1].isspace() and text[quoted.end() : quoted.end() + 1].isalnum()
        return None if between_quotations else _Span(start, end)
    return None if _UNCLOSED.match(text, at) else _run(text, at)


def _run(text: str, at: int) -> _Span | None:
    run = _RUN.match(text, at)
    if run is None:
        return None
    value = run.group().rstrip(_RUN_ENDS)
    if not value or (value == "$" and text.startswith(("{", "("), run.end())):
        return None  # Nothing, or a reference to a variable.
    return _Span(at, at + len(value))


def _is_small_number(value: str) -> bool:
    return _SMALL_NUMBER.match(value) is not None and sum(map(str.isdecimal, value)) <= 6


def _secret_like(value: str) -> bool:
    """A letter and a digit, six or more characters."""
    return len(value) >= 6 and _has_digit(value) and any(map(str.isalpha, value))


def _key_like(value: str) -> bool:
    return _secret_like(value) or _mixed_letters(value)


def _mixed_letters(value: str) -> bool:
    """16 or more letters with both a run of two capitals and a lower-case letter."""
    return (
        sum(map(str.isalpha, value)) >= 16 and re.search("[A-Z]{2}", value) is not None and any(map(str.islower, value))
    )


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))
