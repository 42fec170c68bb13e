"""Labels beyond those of SPEC 7.4: words of more languages, and ``pass`` where it can only mean a password."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from projections.text.views import JOINT

__all__ = [
    "MORE_KEYS",
    "MORE_PASSWORDS",
    "MORE_TAILS",
    "VAGUE",
    "begins_a_word",
    "is_of_an_account",
    "is_variable",
    "may_name_more",
    "stands_as_key",
]

_LETTER_BEFORE = r"(?<![^\W\d_])"
_BEGINS = rf"(?:{_LETTER_BEFORE}|(?<=\\[nrt]))"
"""Words of alphabets are labels as whole words: "desenha" is none. An escaped line break ends in a letter, too."""


def _spelled(*words: str) -> tuple[str, ...]:
    """The words with accents composed and decomposed."""
    forms = dict.fromkeys(unicodedata.normalize(form, word) for word in words for form in ("NFC", "NFD"))
    return tuple(sorted(forms, key=len, reverse=True))


_PASSWORDS = _spelled(
    *("kennwort", "wachtwoord", "lösenord", "passord", "adgangskode", "kodeord", "salasana", "lykilorð"),
    *("senha", "palavra-passe", "parola d'ordine", "parola d’ordine", "parolă", "clave de acceso"),
    *("пароль", "парола", "лозинка", "hasło", "heslo", "lozinka", "geslo", "slaptažodis", "parool", "jelszó"),
    *("şifre", "şi\u0307fre", "κωδικός πρόσβασης", "סיסמה", "كلمة المرور", "كلمة السر", "पासवर्ड", "รหัสผ่าน"),
    *("mật khẩu", "kata sandi"),
)
_WIDE_PASSWORDS = ("口令", "暗証番号", "암호")
_KEYS = _spelled(
    *("clé d'api", "clé d’api", "clé api", "api-schlüssel", "api-sleutel", "chave de api", "chave da api"),
    *("clave de api", "chiave api", "klucz api", "ключ api", "api-ключ", "токен", "api anahtarı"),
)
_WIDE_KEYS = ("密钥", "密鑰", "令牌", "アクセスキー", "apiキー", "トークン", "토큰", "api 키", "api키", "액세스 키")
_VAGUE = ("clave", "parola")
_ALL = tuple(dict.fromkeys(word.split()[0] for word in _PASSWORDS + _WIDE_PASSWORDS + _KEYS + _WIDE_KEYS + _VAGUE))
_ASCII = tuple(word for word in _ALL if word.isascii())


def _either(words: Sequence[str]) -> str:
    """The words as a pattern; a space may be a line break."""
    return "|".join(word.replace("i\u0307", "(?:i\u0307|İ)").replace(" ", f"[ {JOINT}]") for word in words)


MORE_PASSWORDS = f"{_BEGINS}(?:{_either(_PASSWORDS)})|{_either(_WIDE_PASSWORDS)}"
"""Passwords: with a separator any value."""
MORE_KEYS = f"{_BEGINS}(?:{_either(_KEYS)})|{_either(_WIDE_KEYS)}"
"""Keys: only a value that looks like one, since such words head sentences, too."""
MORE_TAILS = _either([word.partition(" ")[2] for word in _PASSWORDS + _KEYS + _WIDE_KEYS if " " in word])
"""What those of several words have behind the first."""
VAGUE = f"{_BEGINS}(?:{_either(_VAGUE)})"
"""Passwords in one language or sense, anything in another: only a value that looks like a secret."""


def may_name_more(text: str) -> bool:
    """Whether one of these words may stand in a text: a look for each costs less than a pattern of all. Linear."""
    folded = text.lower()
    return any(word in folded for word in (_ASCII if text.isascii() else _ALL))


_ACCOUNTS = (
    "db|database|(?:my|ms|postgre)?sql|mariadb|pg|postgres|mongo(?:db)?|redis|rabbit(?:mq)?|amqp|mqtt|kafka|elastic"
    "|oracle|ldap|bind|smtp|imap|pop3?|e?mail|s?ftp|ssh|vpn|http|proxy|registry|docker|git(?:hub|lab)?|jenkins|nexus"
    "|user|usr|admin|root|sudo|login|account|auth|basic|key|store|keystore|cert|wifi|wp|app|api|backup|service|svc"
)
_REACH = 24
_OF_AN_ACCOUNT = re.compile(rf"{_BEGINS}(?:{_ACCOUNTS})[_-]?\Z", re.IGNORECASE)
_IN_CAPITALS = re.compile(r"[A-Z0-9]_\Z")
_BEFORE_A_WORD = re.compile(r"(?:[^\w-]|[^\w-]--|\\[nrt])\Z")
_AT_A_KEY = re.compile(rf"(?:[\n{JOINT}{{\[(,;，；]|\\[nrt]|[\n{JOINT}][ \t]*[-*>][ \t])[ \t]*\\{{0,3}}[\"'`]?\Z")


def is_of_an_account(text: str, start: int) -> bool:
    """Whether ``pass`` at a place is joined to the name of an account or a service: ``DB_PASS``, ``smtpPass``."""
    return _OF_AN_ACCOUNT.search(text, max(0, start - _REACH), start) is not None


def is_variable(text: str, start: int, end: int) -> bool:
    """Whether it ends the name of a variable of the environment: ``ACME_PASS``."""
    return text[start:end] == "PASS" and _IN_CAPITALS.search(text, max(0, start - 2), start) is not None


def begins_a_word(text: str, start: int) -> bool:
    """Whether no word and no hyphen goes before it, but for those of a flag: ``bypass`` and ``two-pass`` don't."""
    before = text[max(0, start - 3) : start]
    return _BEFORE_A_WORD.search(" " + before if start <= len(before) else before) is not None


def stands_as_key(text: str, start: int) -> bool:
    """Whether it begins a line, an item or a member, as the key of a setting does; ``first pass:`` doesn't."""
    before = text[max(0, start - _REACH) : start]
    return _AT_A_KEY.search("\n" + before if start <= _REACH else before) is not None
