"""Secrets of every kind and language of SPEC 7, as people, shells and programs write them; built when they are used."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle

from tests.corpus.model import Chance, Secret

__all__ = ["FORMS", "LIMITS", "OTHERS", "Form", "across", "secrets"]

Form = Callable[[Chance], tuple[str, tuple[str, ...]]]
"""Writes one secret: its text, and the values that must not be written."""

_SEED = 7


def _plain(template: str, length: int = 0) -> Form:
    """One value in a template."""

    def write(chance: Chance) -> tuple[str, tuple[str, ...]]:
        value = chance.value(length)
        return template.replace("{}", value), (value,)

    return write


def _capitals(prefix: str) -> Form:
    def write(chance: Chance) -> tuple[str, tuple[str, ...]]:
        value = chance.value(16).upper()
        return prefix + value, (value,)

    return write


def _key_file(name: str, line_end: str, *, ends: bool = True) -> Form:
    def write(chance: Chance) -> tuple[str, tuple[str, ...]]:
        body = chance.value(200)
        lines = [body[at : at + 64] for at in range(0, len(body), 64)]
        head = f"-----BEGIN {name}-----"
        tail = [f"-----END {name}-----"] if ends else []
        return line_end.join([head, *lines, *tail]), (body[:64], body[64:128], body[128:192], body[192:])

    return write


def _web_token(template: str) -> Form:
    def write(chance: Chance) -> tuple[str, tuple[str, ...]]:
        head = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
        body, signature = chance.value(), chance.value()
        return template.replace("{}", f"{head}.{body}.{signature}"), (body, signature)

    return write


def _pin(template: str) -> Form:
    def write(chance: Chance) -> tuple[str, tuple[str, ...]]:
        value = chance.digits(8)
        return template.replace("{}", value), (value,)

    return write


def _pair(template: str) -> Form:
    def write(chance: Chance) -> tuple[str, tuple[str, ...]]:
        user, value = chance.value(14), chance.value()
        return template.format(user, value), (user, value)

    return write


_PASSWORDS = "password passwd pwd passphrase 密碼 密码 パスワード 비밀번호 contraseña passwort DB_PASSWORD PGPASSWORD".split()
_KEYS = "api_key api-key apikey token bearer secret credential credentials auth auth_key private-key access_key".split()
_KEYS += ["secret_key", "api key", "private key", "access key", "client_secret", "GITHUB_TOKEN", "X-Api-Key", "authToken"]
_SEPARATORS = ("{}={{}}", "{}: {{}}", "{}：{{}}", "{} 是 {{}}", '"{}": "{{}}"', "{} is {{}}", "{} {{}}", "{}='{{}}'")
_FLAGS = ("--password", "--token", "--secret", "--api-key", "--auth")
_USERS = "username:password user_name:passwd 用戶名:密碼 用户名:密码 ユーザー名:パスワード 사용자명:비밀번호".split()
_USERS += ["usuario:contraseña", "utilisateur:mot de passe", "benutzer:passwort"]
_TOKENS = "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxb- xoxp- xoxa- xoxs- sk- sk-ant- sk-proj- sk_live_ pk_live_"
_TOKENS += " rk_live_ AIza npm_ hf_ pypi-"
_SCHEMES = "https http postgres postgresql mysql mongodb+srv redis amqp ftp ssh git+https".split()
_KEY_FILES = ("PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK")


def _labelled(labels: Sequence[str]) -> list[Form]:
    """Each label with three of the separators, in turn."""
    separators = cycle(_SEPARATORS)
    return [_plain(next(separators).format(label)) for label in labels for _ in range(3)]


FORMS: dict[str, list[Form]] = {
    "private keys": [
        *(_key_file(name, end) for name in _KEY_FILES for end in ("\n", "\\n", " ")),
        *(_key_file(name, "\n", ends=False) for name in _KEY_FILES),
    ],
    "credentials in URLs": [
        *(_plain(f"{scheme}://deploy:{{}}@db.example.com:5432/app?x=1") for scheme in _SCHEMES),
        *(_plain(f"{scheme}://deploy:p@{{}}#!@db.example.com") for scheme in _SCHEMES[:4]),
        _plain("redis://:{}@cache.example.com"),
    ],
    "provider tokens": [
        *(_plain(f"{prefix}{{}}", 36) for prefix in _TOKENS.split() for _ in range(2)),
        *(_capitals(prefix) for prefix in ("AKIA", "ASIA") for _ in range(2)),
    ],
    "web tokens": [_web_token("{}") for _ in range(6)] + [_web_token("cookie session={}"), _web_token("jwt {}")],
    "passwords": [*_labelled(_PASSWORDS), *(_plain(f"mot de passe{sign}{{}}") for sign in (" : ", ": ", "=", " "))],
    "keys": _labelled(_KEYS),
    "flags": [_plain(f"{flag} {value}") for flag in _FLAGS for value in ("{}", "'{}'", '"{}"')],
    "PINs": [_pin(text) for text in ("PIN {}", "PIN: {}", "PIN 是 {}", "pin={}", "PIN：{}")],
    "bearer": [
        *(_plain(f"{head}Bearer {{}}") for head in ("Authorization: ", "authorization=", "'", '"Authorization": "')),
        *(_plain(text) for text in ("Bearer {}", "bearer {}", "Bearer token: {}")),
    ],
    "user and password": [
        _pair(f"{{}}{between}{{{{}}}}{comma}{{}}{between}{{{{}}}}".format(*labels.split(":")))
        for labels in _USERS
        for between, comma in ((": ", ", "), ("：", "，"))
    ],
}
"""The kinds that SPEC 7.3 and 7.4 promise to find."""

OTHERS: dict[str, list[Form]] = {
    "base64 without a label": [
        lambda chance: _encoded("echo {} | base64 -d", chance),
        lambda chance: _encoded("data: {}", chance),
        lambda chance: _encoded("value {} in the manifest", chance),
    ],
    "connection strings": [
        *map(
            _plain,
            (
                "Server=db;User Id=sa;Password={};Encrypt=true",
                "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={}==",
                "SharedAccessKeyName=root;SharedAccessKey={}",
                "deploy:{}@tcp(db:3306)/app",
                "jdbc:oracle:thin:deploy/{}@db:1521/app",
                "host=db user=deploy password={} sslmode=require",
                "https://x.blob.example.com/a?sv=1&sig={}",
                "db.example.com:5432:app:deploy:{}",
            ),
        )
    ],
    "labels of other languages": [
        _plain(f"{label}: {{}}")
        for label in (
            *("пароль", "senha", "hasło", "wachtwoord", "mật khẩu", "şifre", "lösenord", "heslo", "clave", "clé d'API"),
            *("Kennwort", "Schlüssel", "口令", "密钥", "令牌", "暗証番号", "アクセスキー", "암호", "토큰", "parola", "كلمة المرور"),
        )
    ],
    "tokens of other providers": [
        *(
            _plain(f"{prefix}{{}}")
            for prefix in "SG. dop_v1_ shpat_ lin_api_ dckr_pat_ glsa_ xapp-1- ATATT3x AGE-SECRET-KEY-1 whsec_".split()
        ),
        _plain("https://hooks.example.com/services/T0/B0/{}"),
    ],
    "flags of single programs": [
        *map(
            _plain,
            (
                "curl -u deploy:{} https://h",
                "mysql -uroot -p{} app",
                "sshpass -p {} ssh h",
                "redis-cli -a {} ping",
                "docker login -u x -p {} h",
                "openssl rsa -passin pass:{}",
                "7z x -p{} a.7z",
            ),
        )
    ],
    "phrases": [
        _plain("the password for staging is {}"),
        _plain("log in as deploy / {}"),
        _plain("use {} as the password"),
        _plain("password → {}"),
        _plain("machine h login deploy password {}"),
        _plain("password (staging): {}"),
        _plain("密码 → {}"),
    ],
}
"""Kinds that SPEC 7 doesn't promise, or not in this form."""


def _encoded(template: str, chance: Chance) -> tuple[str, tuple[str, ...]]:
    encoded = base64.b64encode(chance.value(30).encode()).decode()
    return template.replace("{}", encoded), (encoded,)


def _in_json(text: str) -> str:
    return json.dumps({"host": "h", "note": text, "port": 1}, ensure_ascii=False)


_FRAMES = (
    "{}",
    "the staging box takes {} for the deploy",
    "- {}\n- use tabs in Makefiles",
    "部署时使用 {} 就可以",
    'export NOTE="x" && {} && ./deploy.sh',
    "ステージングは {} です",
    "> quoted: {}",
    "배포에는 {} 를 씁니다",
    "# deploy\n{}\nrest",
    "para el despliegue usa {} siempre",
    "2026-01-02 ERROR call failed ({}) at src/a.ts:3",
    "utilise {} pour le déploiement",
    "nimm {} für das Deployment",
)
LIMITS = (120, 180, 260, 280, 300, 2000, 16_384)
"""Where texts of ours are cut: titles, rationales, entries, errors, log lines, summaries, command lines."""
_BEFORE = 12
"""Characters of a text that still stand before a limit."""


def secrets(seed: int = _SEED) -> Iterator[Secret]:
    """Each form of each kind three times: in a sentence or a line, inside JSON, and across a limit of ours."""
    chance = Chance(seed)
    frames, limits = cycle(_FRAMES), cycle(LIMITS)
    for counted, kinds in ((True, FORMS), (False, OTHERS)):
        for kind, forms in kinds.items():
            for form in forms:
                text, values = form(chance)
                yield Secret(kind, next(frames).replace("{}", text), values, counted)
                text, values = form(chance)
                yield Secret(kind, _in_json(text), values, counted)
                text, values = form(chance)
                yield Secret(kind, across(next(limits), text), values, counted)


def across(limit: int, text: str) -> str:
    """A text behind so many words that a cut at a limit falls into it."""
    words = "words that stand before it " * (limit // 10)
    return f"{words[: limit - _BEFORE - 1]} {text} and more behind"
