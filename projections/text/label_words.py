"""The words before a secret, as patterns: those of SPEC 7.4 and more of their kinds."""

from __future__ import annotations

import re

from projections.text.more_labels import MORE_KEYS, MORE_PASSWORDS, MORE_TAILS, VAGUE
from projections.text.shapes import MARK
from projections.text.views import JOINT

__all__ = ["LABELLED_WORD", "LABELS", "MORE_LABELS", "PASSWORD_LABEL", "SCHEMES", "SECOND_LABEL", "TAIL"]

_GLUE = f"[ {JOINT}]"
_PHRASES = rf"pass[ _{JOINT}-]?phrase"
_PASSWORDS = (
    rf"password|passwd|pwd|{_PHRASES}|密碼|密码|パスワード|비밀번호|contrase(?:ñ|n\u0303)a|passwort"
    rf"|mot{_GLUE}de{_GLUE}passe"
)
# The first word of a label may have been hidden, as the value of another one.
_KEYS = (
    rf"(?:(?:api|auth|private|access|secret)[ _{JOINT}-]?|{re.escape(MARK)}[ {JOINT}])key"
    r"|token|bearer|secret|credentials?|auth"
)
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
LABELLED_WORD = re.compile(
    rf"[\w-]{{0,32}}?(?:{_USERS}|{_PASSWORDS}|authorization(?:\W{{1,4}}(?:{SCHEMES})(?=\s))?|{_KEYS}|pin"
    rf"|{MORE_PASSWORDS}|{MORE_KEYS}|{VAGUE}|AccountKey|pass(?=\W{{1,4}}\[REDACTED))"
    r"(?![A-Za-z0-9])(?:[\s=:：＝]*+(?:(?:is|key)\b|是))*+",
    re.IGNORECASE,
)
"""A word that ends with a label, and what may lead to its value."""
SECOND_LABEL = re.compile(
    rf"(?:{_FLAGS}|[\w-]{{0,32}}?(?:{_USERS}|{_PASSWORDS}|{MORE_PASSWORDS}|authorization|{_KEYS}"
    rf"|(?P<choosy>{SCHEMES}|{MORE_KEYS}|{VAGUE}|AccountKey|pass)|(?P<pin>pin)))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
"""A label where a value stands; a choosy one doesn't take any value that follows a sign."""
TAIL = re.compile(rf"(?:{_GLUE}(?:phrase|name|de{_GLUE}passe|{MORE_TAILS})(?!\w))?", re.IGNORECASE)
"""What is left of a label of several words whose first one was hidden as a value, or nothing."""
