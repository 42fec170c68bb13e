"""Secrets in flags that mean one only to their program: curl and the clients of MySQL; more than SPEC 7.4 asks."""

from __future__ import annotations

import re

from projections.text.views import Span

__all__ = ["glued_password", "login_secret"]

_REACH = 400
"""How far before a flag its program is looked for, in characters: a bound that keeps reading linear."""

_CURL = re.compile(r"(?<![\w.-])curl(?=\s)")
_MYSQL = re.compile(r"(?<![\w.-])(?:mysql|mariadb)(?:-?(?:dump|admin|check|import|show|slap))?(?=\s)")
_NEXT_COMMAND = ("\n", "&&", " | ")

_LOGIN = re.compile(r"[\s=]{0,8}(?:\\{0,3}(?P<quote>[\"']))?[^\s:\"']{1,200}+:")
_GLUED = re.compile(r"(?P<quote>[\"'])?")
_PORTS = re.compile(r"\d{1,5}:\d{1,5}\Z")
_WORD = re.compile(r"[^\s\"']++")
_QUOTED = {sign: re.compile(rf"[^{sign}\\\n]++") for sign in "\"'"}


def login_secret(text: str, start: int, end: int) -> list[Span]:
    """The secret of ``-u user:secret`` and ``--user user:secret`` of curl; the user stays."""
    login = _LOGIN.match(text, end)
    if login is None or "U" in text[start:end] or not _is_run_by(_CURL, text, start):
        return []
    return _word(text, login)


def glued_password(text: str, start: int, end: int) -> list[Span]:
    """The secret of ``-psecret`` of a MySQL client; ``-p 3306`` and ``-p8080:80`` are none."""
    if not text.startswith("-p", start) or not _is_run_by(_MYSQL, text, start):
        return []
    opening = _GLUED.match(text, end)
    return [span for span in _word(text, opening) if not _PORTS.match(text, *span)] if opening else []


def _is_run_by(program: re.Pattern[str], text: str, flag: int) -> bool:
    before = text[max(0, flag - _REACH) : flag]
    for sign in _NEXT_COMMAND:
        before = before.rpartition(sign)[2]
    return program.search(before) is not None


def _word(text: str, opening: re.Match[str]) -> list[Span]:
    """What stands behind an opening, up to the end of its quotation or of the word."""
    word = _QUOTED.get(opening["quote"], _WORD).match(text, opening.end())
    return [Span(*word.span())] if word else []
