"""The kinds of secrets: those that SPEC 7.2 to 7.4 promise to find, and others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from tests.corpus.forms import Form, capitals, encoded, key_file, pair, pin, plain, web_token, words

__all__ = ["OTHERS", "PROMISED"]

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
"""Kinds with a threshold: name → forms."""

_OTHER_TOKENS = words("SG. dop_v1_ shpat_ lin_api_ dckr_pat_ glsa_ xapp-1- ATATT3x AGE-SECRET-KEY-1 whsec_")
_OTHER_LABELS = words("пароль senha hasło wachtwoord şifre lösenord heslo clave parola Kennwort Schlüssel")
_OTHER_LABELS += words("口令 密钥 令牌 暗証番号 アクセスキー 암호 토큰")
_OTHER_LABELS += ("mật khẩu", "clé d'API", "كلمة المرور")

OTHERS: dict[str, list[Form]] = {
    "base64 without a label": [
        encoded(text) for text in ("echo {} | base64 -d", "data: {}", "value {} in the manifest")
    ],
    "connection strings": [
        plain("Server=db;User Id=sa;Password={};Encrypt=true"),
        plain("host=db user=deploy password={} sslmode=require"),
        plain("DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}=="),
        plain("SharedAccessKeyName=root;SharedAccessKey={}"),
        plain("deploy:{}@tcp(db:3306)/app"),
        plain("jdbc:oracle:thin:deploy/{}@db:1521/app"),
        plain("https://x.blob.example.com/a?sv=1&sig={}"),
        plain("db.example.com:5432:app:deploy:{}"),
    ],
    "labels of other languages": [plain(f"{label}: {{}}") for label in _OTHER_LABELS],
    "tokens of other providers": [
        *(plain(f"{prefix}{{}}") for prefix in _OTHER_TOKENS),
        plain("https://hooks.example.com/services/T0/B0/{}"),
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
