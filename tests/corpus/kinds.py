"""The kinds of secrets: those that SPEC 7.2 to 7.4 promise to find, those of rules beyond it, and others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from tests.corpus.forms import Form, capitals, encoded, key_file, pair, pin, plain, web_token, words

__all__ = ["BEYOND", "OTHERS", "PROMISED"]

_KEY_FILES = ("PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK")
_SCHEMES = words("https http postgres postgresql mysql mongodb+srv redis amqp ftp ssh git+https")
_TOKENS = words("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxb- xoxp- xoxa- xoxs- sk- sk-ant- sk-proj- AIza")
_TOKENS += words("sk_live_ pk_live_ rk_live_ npm_ hf_ pypi-")
_PASSWORDS = words(
    "password passwd pwd passphrase 密碼 密码 パスワード 비밀번호 contraseña passwort DB_PASSWORD PGPASSWORD"
)
_KEYS = words("api_key api-key apikey token bearer secret credential credentials auth auth_key private-key access_key")
_KEYS += words("secret_key client_secret GITHUB_TOKEN X-Api-Key authToken")
_KEYS += ("api key", "private key", "access key")
_SEPARATORS = ("@={}", "@: {}", "@：{}", "@ 是 {}", '"@": "{}"', "@ is {}", "@ {}", "@='{}'")
_FLAGS = words("--password --token --secret --api-key --auth")
_USERS = words("username:password user_name:passwd 用戶名:密碼 用户名:密码 ユーザー名:パスワード 사용자명:비밀번호")
_FIRST = ("password: ", "secret = ", "密码：", "auth: ", "Credentials: ", "DB_PASSWORD=", "パスワード : ", "token: ")
"""A label with its sign."""
_NO_VALUE = (
    *("api key {}", "api_key: {}", "token {}", "secret {}", "key {}", "key: {}", "private key {}", "access key is {}"),
    *("is {}", "is: {}", "是 {}", "是{}", "= {}", "is the_token {}", "bearer {}", "Basic {}", "--password {}"),
    *("mot de passe {}", "密碼 {}", "token key {}", "api key is {}", "string = '{}'", "login: {}", "`{}`", "```{}```"),
)
"""What stands behind the sign and is no value, or not all of it, and the value behind that."""
_USERS += ("user name:pwd", "usuario:contraseña", "utilisateur:mot de passe", "benutzer:passwort")


def _labelled(labels: Sequence[str]) -> list[Form]:
    """Each label with three of the separators, in turn."""
    separators = cycle(_SEPARATORS)
    return [plain(next(separators).replace("@", label)) for label in labels for _ in range(3)]


def _behind(texts: Sequence[str]) -> list[str]:
    """Each text behind three of the first labels, in turn."""
    first = cycle(_FIRST)
    return [next(first) + text for text in texts for _ in range(3)]


PROMISED: dict[str, list[Form]] = {
    "private spans": [
        plain("<private>{}</private>"),
        plain("<Private>the client is {}</PRIVATE>"),
        plain("<private>a <private>{}</private> b</private>"),
        plain("<private>\n{}\n</private>"),
        plain("<private>{} and the rest"),
    ],
    "private keys": [
        *(key_file(name, end) for name in _KEY_FILES for end in ("\n", "\\n", " ")),
        *(key_file(name, "\n", ends=False) for name in _KEY_FILES),
    ],
    "credentials in URLs": [
        *(plain(f"{scheme}://deploy:{{}}@db.example.com:5432/app?x=1") for scheme in _SCHEMES),
        *(plain(f"{scheme}://deploy:p@{{}}#!@db.example.com") for scheme in _SCHEMES[:4]),
        plain("redis://:{}@cache.example.com"),
    ],
    "provider tokens": [
        *(plain(f"{prefix}{{}}", 36) for prefix in _TOKENS for _ in range(2)),
        *(capitals(prefix) for prefix in ("AKIA", "ASIA") for _ in range(2)),
    ],
    "web tokens": [web_token(text) for text in ("{}", "cookie session={}", "jwt {}", "id_token {}", "({})", "'{}'")],
    "passwords": [*_labelled(_PASSWORDS), *(plain(f"mot de passe{sign}{{}}") for sign in (" : ", ": ", "=", " "))],
    "keys": _labelled(_KEYS),
    "labels behind labels": [
        *map(plain, _behind(_NO_VALUE)),
        *map(pin, _behind(("PIN {}", "PIN: {}", "pin {}"))),
        *map(pair, _behind(("user name: {}, password: {}",))),
    ],
    "flags": [plain(f"{flag} {value}") for flag in _FLAGS for value in ("{}", "'{}'", '"{}"')],
    "PINs": [pin(text) for text in ("PIN {}", "PIN: {}", "PIN 是 {}", "pin={}", "PIN：{}")],
    "bearer": [
        *(plain(f"{head}Bearer {{}}") for head in ("Authorization: ", "authorization=", "'", '"Authorization": "')),
        *(plain(text) for text in ("Bearer {}", "bearer {}", "Bearer token: {}", "the secret db2_token: {}")),
    ],
    "user and password": [
        pair(labels.replace(":", f"{between}{{}}{comma}") + between + "{}")
        for labels in _USERS
        for between, comma in ((": ", ", "), ("：", "，"))
    ],
}
"""Kinds that SPEC 7 promises: name → forms."""

_MORE_TOKENS = words("xapp-1- xoxe- glrt- gldt- dop_v1_ shpat_ sk_test_ whsec_ lin_api_ dckr_pat_ glsa_ glc_ ATATT3x")
_MORE_TOKENS += words("AGE-SECRET-KEY-1 hvs. ya29. GOCSPX- sntrys_ gsk_ nvapi- PMAK- figd_ rubygems_ ntn_ sbp_")
_MORE_PASSWORDS = words(
    "пароль senha hasło wachtwoord şifre lösenord heslo Kennwort passord adgangskode salasana jelszó"
)
_MORE_PASSWORDS += words("парола geslo lozinka סיסמה पासवर्ड รหัสผ่าน 口令 暗証番号 암호")
_MORE_PASSWORDS += ("mật khẩu", "كلمة المرور", "kata sandi", "parola d'ordine", "palavra-passe", "κωδικός πρόσβασης")
_MORE_KEYS = words("密钥 令牌 アクセスキー トークン 토큰 токен clave parola API-Schlüssel API-ключ")
_MORE_KEYS += ("clé d'API", "chave de API", "API 키")
_MORE_FIRST = ("senha", "口令", "токен")
_MORE_SECOND = ("senha", "clave de acceso:", "mật khẩu", "密钥", "令牌 是", "clave", "pass phrase", "DB_PASS:")
_PASS = words("DB_PASS DBPASS MYSQL_PASS SMTP_PASS smtpPass user_pass WORDPRESS_DB_PASS ACME_PASS")

BEYOND: dict[str, list[Form]] = {
    "pass as a label": [
        *(plain(f"{label}={{}}") for label in _PASS),
        *(plain(f"{label}: '{{}}'") for label in _PASS[:-1]),
        plain("\nhost: db\npass: {}\nport: 1"),
        plain('{"user": "x", "pass": "{}"}'),
        plain("deploy --pass={}"),
        plain("/login?user=x&pass={}"),
    ],
    "pass phrases": [
        *(plain(f"{label}: {{}}") for label in ("pass phrase", "pass-phrase", "pass phrase is")),
        *(plain(f"{label}: open {{}}") for label in ("passphrase", "pass phrase is")),
        plain("passphrase = correct horse battery {}. Ask Kim"),
    ],
    "labels of more languages": [
        *(plain(f"{label}{sign}{{}}") for label in (*_MORE_PASSWORDS, *_MORE_KEYS) for sign in (": ", "="))
    ],
    "more labels behind labels": [
        *(plain(f"{label}: {text}") for label in _MORE_FIRST for text in _NO_VALUE[:-5]),
        *(plain(text) for text in _behind([f"{label} {{}}" for label in _MORE_SECOND])),
    ],
    "tokens of more providers": [
        *(plain(f"{prefix}{{}}") for prefix in _MORE_TOKENS),
        pair("SG.{}K7wK7w.{}"),
    ],
    "account keys": [plain("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}==")],
}
"""Kinds of rules beyond SPEC 7; they have the same threshold."""

OTHERS: dict[str, list[Form]] = {
    "base64 without a label": [
        encoded(text) for text in ("echo {} | base64 -d", "data: {}", "value {} in the manifest")
    ],
    "connection strings": [
        plain("Server=db;User Id=sa;Password={};Encrypt=true"),
        plain("host=db user=deploy password={} sslmode=require"),
        plain("SharedAccessKeyName=root;SharedAccessKey={}"),
        plain("deploy:{}@tcp(db:3306)/app"),
        plain("jdbc:oracle:thin:deploy/{}@db:1521/app"),
        plain("db.example.com:5432:app:deploy:{}"),
    ],
    "labels that mean something else, too": [
        plain(f"{label}: {{}}") for label in words("Schlüssel ключ klucz chave key")
    ],
    "addresses that are a secret": [
        plain("https://hooks.example.com/services/T0/B0/{}"),
        plain("https://x.blob.example.com/a?sv=1&sig={}"),
    ],
    "flags of single programs": [
        plain("curl -u deploy:{} https://h"),
        plain("mysql -uroot -p{} app"),
        plain("sshpass -p {} ssh h"),
        plain("redis-cli -a {} ping"),
        plain("docker login -u x -p {} h"),
        plain("openssl rsa -passin pass:{}"),
        plain("7z x -p{} a.7z"),
    ],
    "phrases": [
        plain("machine h login deploy password {}"),
        plain("the password for staging is {}"),
        plain("log in as deploy / {}"),
        plain("use {} as the password"),
        plain("password → {}"),
        plain("password (staging): {}"),
        plain("密码 → {}"),
    ],
}
"""Kinds that SPEC 7 doesn't promise, or not in this form."""
