"""Texts that hold secrets, nearly do, or don't: labels, separators, values and odd signs in any order."""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ["ANY", "LABELS", "SEPARATORS", "VALUES"]

LABELS = (
    *("password", "passwd", "PWD", "passphrase", "密碼", "密码", "パスワード", "비밀번호", "contraseña", "passwort"),
    *("api", "auth", "private", "access", "secret", "key", "token", "bearer", "credential", "credentials", "oauth"),
    *("authorization", "Authorization: Basic", "pin", "PIN", "username", "用户名", "--password", "--api-key", "--auth"),
    *("curl", "-u", "--user", "mysql", "-p", "mot", "de", "passe", "mot de passe", "is", "是", "pass", "word"),
    *(
        "DB_PASS",
        "smtpPass",
        "phrase",
        "口令",
        "トークン",
        "api 키",
        "senha",
        "kata sandi",
        "clé d'api",
        "клуч",
        "şifre",
    ),
)
SEPARATORS = (
    *("=", ":", ": ", " ", "：", " is ", "-", "_", ",", ", ", "**"),
    *"\n\t'\"]/",
    "\n- ",
    "\n\n",
    "\\\n",
    "\n```sh\n",
)
VALUES = (
    *("abc123xyz", "Zq7Kd93mfPQ", "7777", "120417", "hunter2", "deploy:k3y@db", "https://", "http://a:b@c", "@", "%3A"),
    *("ghp_" + "a1" * 9, "sk-" + "b2" * 9, "xoxb-" + "c3" * 6, "npm_" + "d4" * 11, "AKIA" + "Q7" * 9, "eyJhbG.aa.bb"),
    *("xapp-" + "a1" * 9, "SG." + "b2" * 9 + "." + "c3" * 9, "hvs." + "d4" * 11, "figd_" + "e5" * 11),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "<private>", "</private>", "[REDACTED]", "[REDAC…"),
)
_ODD = ("\x1b[31m", *"\u200b\u0441\uff50\r\x00\u202e\ufeffé界ア😀\u0301\u017f\u212a")
_PLAIN = (
    *("npm", "test", "src/auth/login.ts", "task-runner", "git", "a.py", "keyboard", "spin", "tsc"),
    *("x", "|", ";", "&", " && ", " 2>&1"),
)
_TEXTS = st.lists(st.sampled_from((*LABELS, *SEPARATORS, *VALUES, *_ODD, *_PLAIN)), max_size=8).map("".join)
ANY = _TEXTS | st.text(max_size=20) | st.sampled_from([*_PLAIN, "src/a.py", "ls -la", "cargo check"])
