"""Texts in which nobody could find anything to clean, withhold or redact, told by plain string operations.

The other side of ``projections.text``: whatever that would change is not innocent, and most of what it wouldn't is.
``tests/laws/test_hook.py`` spells out the patterns of the rules there and finds each of their words here.
Imports nothing: patterns cost more than the start of a process. Linear in the length of a text.
"""

__all__ = ["is_innocent"]

_ANYWHERE = (
    # Of any case, since texts are looked at in lower case. What begins or parts a secret, whatever follows.
    "private>",
    "[redacted",
    "-----begin",
    "\\\n",
    "mysql",
    "mariadb",
    # The word of each foreign label that is the least likely elsewhere; of one of several words, that one alone.
    *("contrase", "kennwort", "wachtwoord", "passord", "adgangskode", "kodeord", "salasana"),
    *("senha", "parola", "clave", "heslo", "lozinka", "geslo", "parool", "sandi"),
    *("sleutel", "chave", "chiave", "klucz"),
)
_BEYOND_ASCII = (
    *("密碼", "密码", "口令", "暗証番号", "密钥", "密鑰", "令牌"),
    *("パスワード", "キー", "トークン", "비밀번호", "암호", "키", "토큰"),
    *("lösenord", "lykilorð", "jelszó", "clé", "schlüssel"),
)
_LABELS = (
    *("password", "passwd", "pwd", "phrase", "passwort", "pass"),
    *("key", "token", "bearer", "secret", "credential", "credentials", "auth", "authorization", "pin"),
)
_FRENCH = "passe"
"""Behind ``mot de``; nothing else tells it from what each test runner says, ``24 passed``, than what follows."""
_WORD = "abcdefghijklmnopqrstuvwxyz0123456789"
_BEHIND = _WORD + "./-()"
"""What stands behind a label that is a part of a word, of a path or of a call, and labels nothing."""
_TOKENS = {
    "": ("xox", "aiza", "akia", "asia", "eyj", "atatt3x"),
    "_": (
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "sk_", "pk_", "rk_", "npm_", "hf_", "dop_v1_"),
        *("doo_v1_", "dor_v1_", "shpat_", "shpca_", "shppa_", "shpss_", "whsec_", "lin_api_", "dckr_pat_", "glsa_"),
        *("glc_", "sntrys_", "sntryu_", "gsk_", "figd_", "rubygems_", "ntn_", "sbp_"),
    ),
    "-": (
        *("glpat-", "xapp-", "sk-", "pypi-", "glrt-", "gldt-", "glptt-", "glcbt-", "glft-", "glimt-", "glsoat-"),
        *("age-secret-key-1", "gocspx-", "nvapi-", "pmak-"),
    ),
    ".": ("sg.", "hvs.", "hvb.", "ya29."),
}
"""What tokens begin with, by a sign in it: most texts lack one, and need not be searched for those."""


def is_innocent(text: str) -> bool:
    """Whether a text stays as it is, whoever cleans, withholds and redacts it, its lines apart or as one.

    A text of several lines is innocent only if each of them is, so that many texts may be asked for at once. Costs
    some microseconds for a line.
    """
    plain = text.replace("\n", " ").replace("\t", " ")
    if not plain.isprintable():
        return False
    low = text.lower()
    for part in _ANYWHERE:  # no generator, which takes twice as long: this stands in the way of each hook
        if part in low:
            return False
    if not text.isascii() and not (all(map(_is_letter, text)) and all(part not in low for part in _BEYOND_ASCII)):
        return False
    return not (_may_hold_credentials(low) or _may_hold_a_label(low) or _may_hold_a_token(low))


def _may_hold_credentials(low: str) -> bool:
    return ("://" in low and "@" in low) or ("curl" in low and ("-u" in low or "user" in low))


def _may_hold_a_label(low: str) -> bool:
    if _FRENCH in low and _labels(low, _FRENCH, _WORD):
        return True
    return any(_labels(low, label) for label in _LABELS if label in low)


def _may_hold_a_token(low: str) -> bool:
    listed = (token for sign, tokens in _TOKENS.items() if sign in low for token in tokens if token in low)
    return any(_begins(low, token) for token in listed)


def _is_letter(char: str) -> bool:
    """ASCII, or a letter of the scripts that have no twins, no styles and no other case than their own."""
    return (
        char < "\x80"
        or "\u00c0" <= char <= "\u00ff"
        or "\u3041" <= char <= "\u3096"
        or "\u30a1" <= char <= "\u30fa"
        or char == "\u30fc"
        or "\u4e00" <= char <= "\u9fff"
        or "\uac00" <= char <= "\ud7a3"
    )


def _labels(low: str, label: str, behind: str = _BEHIND) -> bool:
    """Whether a value could stand behind a label, which it can't where it is followed by certain signs."""
    at = low.find(label)
    while at >= 0:
        at += len(label)
        if low[at : at + 1] not in behind:  # the empty text is in it: nothing follows
            return True
        at = low.find(label, at)
    return False


def _begins(low: str, token: str) -> bool:
    """Whether a token could begin: with a word, or behind what only looks like a letter of one."""
    at = low.find(token)
    while at >= 0:
        before = low[at - 1 : at] if at else ""
        if not (before == "_" or (before.isascii() and before.isalnum())) or "\\" in low or "%" in low:
            return True
        at = low.find(token, at + 1)
    return False
