"""The words before a secret, as patterns: those of SPEC 7.4 and more of their kinds."""

from __future__ import annotations

import re

from projections.text.more_labels import MORE_KEYS, MORE_PASSWORDS, VAGUE
from projections.text.views import JOINT

__all__ = ["ANY_LABELLED_WORD", "LABELLED_WORD", "LABELS", "MORE_LABELS", "PASSWORD_LABEL", "SCHEMES"]

_GLUE = f"[ {JOINT}]"
_PHRASES = rf"pass[ _{JOINT}-]?phrase"
_PASSWORDS = (
    rf"password|passwd|pwd|{_PHRASES}|密碼|密码|パスワード|비밀번호|contrase(?:ñ|n\u0303)a|passwort"
    rf"|mot{_GLUE}de{_GLUE}passe"
)
_KEYS = rf"(?:api|auth|private|access|secret)[ _{JOINT}-]?key|token|bearer|secret|credentials?|auth"
_USERS = rf"user[ _{JOINT}-]?name|用戶名|用户名|ユーザー名|사용자명|usuario|utilisateur|benutzer"
_FLAGS = r"(?<![\w-])--(?:password|token|secret|api-key|auth)(?=\s)"
SCHEMES = r"basic|digest|token|api-?key|negotiate|ntlm|hawk|hoba|dpop|aws"

# Each kind is a group, whose name is that of its rule.
LABELS = re.compile(
    rf"(?:(?P<flag>{_FLAGS})|(?P<user>{_USERS})|(?P<phrase>{_PHRASES})|(?P<password>{_PASSWORDS})|(?P<bearer>bearer)"
    rf"|(?P<header>authorization)|(?P<key>{_KEYS})|(?P<pin>pin)|(?P<pass>pass))(?![A-Za-z0-9])"
    rf"|(?P<azure>(?-i:AccountKey)(?==))"
    r"|(?<![\w-])(?:(?P<login>-u|--(?:proxy-)?user(?=[\s=]))|(?P<glued>-p))",
    re.IGNORECASE,
)
MORE_LABELS = re.compile(
    rf"(?:(?P<told>{MORE_PASSWORDS})|(?P<vague>{MORE_KEYS}|{VAGUE}))(?![A-Za-z0-9])", re.IGNORECASE
)
PASSWORD_LABEL = re.compile(rf"\w{{0,32}}?(?:{_PASSWORDS}|{MORE_PASSWORDS}|pass)", re.IGNORECASE)


def _word_with(labels: str) -> re.Pattern[str]:
    """A word that ends with one of the labels, and what may lead to its value."""
    return re.compile(rf"[\w-]{{0,32}}?(?:{labels})(?![A-Za-z0-9])(?:\s+is\b|\s*是)?", re.IGNORECASE)


_WORDS = f"{_USERS}|{_PASSWORDS}|authorization(?:\\W{{1,4}}(?:{SCHEMES})(?=\\s))?|{_KEYS}|pin"
LABELLED_WORD = _word_with(_WORDS)
ANY_LABELLED_WORD = _word_with(
    f"{_WORDS}|{MORE_PASSWORDS}|{MORE_KEYS}|{VAGUE}|AccountKey|pass(?=\\W{{1,4}}\\[REDACTED)"
)
