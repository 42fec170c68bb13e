"""Texts without a secret in every language of SPEC 7, most of them close to what redaction looks for (SPEC 7.5)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from tests.corpus.model import Chance, Innocent

__all__ = ["innocents"]

_SEED = 8
_EACH = 4

_BUILT = {
    "hashes and ids": (
        "reverted in {40} last week",
        "commit {7} broke the nightly build",
        "the archive has SHA-256 {64}",
        "md5 {32}  dist/app.tar.gz",
        "image app@sha256:{64} is what runs",
        "request {uuid} timed out",
        "the ledger of {uuid} is read-only",
        "session ses_{16} was resumed",
        'etag W/"{32}" is sent back',
        "cherry-pick {12} onto release/2.4",
        "integrity sha512-{88} in package-lock.json",
        "trace {32}, span {16}",
    ),
    "versions and sizes": (
        "needs node >= {n}.{n}.{n} and pnpm {n}",
        "image postgres:{n}.{n}-alpine listens on 5432",
        "max token: {n}000 per call",
        "the token window is {n}00",
        "token=512 is the default batch",
        "pin {n} tests to the old parser",
        "bump from {n}.{n}.{n} to {n}.{n}.{n}-rc.{n}",
        "the limit is {n}00 tokens a minute",
        "docker run -p {n}080:80 web:{n}.{n}",
        "listen on 127.0.0.1:{n}432, not on 0.0.0.0",
    ),
}
_WRITTEN = {
    "names in code": """
rename camelCaseNameWithDIGITS1 to plainName
getUserTokenFromSession returns a promise
the class PasswordResetController moves to auth/
CACHE_ROOT_KEY is 'nightly-report'
MY_KEY is read once, at the start
const passwordField = useRef(null)
TokenBucketRateLimiter2 has a test of its own
function validatePasswordStrength(input) stays pure
import { AuthProvider } from './AuthProvider'
SecretManagerServiceClient is mocked in tests
the enum TokenKind lists IDENTIFIER, NUMBER and STRING
tokenizer.encode(text) gives a list of ids
csrfTokenMiddleware runs before the router
AUTH_TOKEN_TTL_SECONDS caps how long a session lives
the table user_credentials_audit has no index yet
KeyboardShortcutsHandlerV2 replaced the old one
PrimaryKeyConstraint fails on duplicates
useAuthContext must not be called in a loop
""",
    "prose about secrets": """
the password policy is strict
the password policy asks for twelve characters
token window is 900
secret rotation runs weekly
the token is required for uploads
password is required
never log a password or a token
secrets live in the vault, not in the repository
ask Kim for the API key of staging
the private key never leaves the HSM
credentials come from the environment
rotate the access key each quarter
Authorization: required for all routes
the bearer of bad news was the linter
bearer tokens expire after an hour
authentication happens at the gateway
auth is handled by the proxy
the secret manager caches for a minute
token refresh must be retried once
PIN entry is disabled on kiosks
a token is key to the cache
the token secret scanning found was a fixture
the secret api key rotation keeps is the schedule
password token secret auth are words of the glossary
pin 4 tests
the password field must have a label
two passwords are never equal by chance
keep the token out of the query string
the secret to fast builds is a warm cache
password managers fill this form wrongly
api key rotation has a runbook
passphrase prompts block the CI job
author: Jane
""",
    "pass and what is not a password": """
the first pass: abc2def renames, the second one moves
3 pass, 2 fail
passed: 12, failed: 0
bypass=cache2go is the switch
BYPASS=cache2go
two-pass=render2x
PASS: test_login2
PASS src/auth2.test.ts
--- PASS: TestLogin2 (0.00s)
pass 1: collect2 names, pass 2: write them
the parser makes one pass: tokens2ids
FIRST_PASS=1
RENDER_PASS: shadow2map
TWO_PASS=true
const second_pass = collect2(names)
compass: north2south
please pass: it is only2lines
they must pass = no exception
pass: yes
a pass phrase must have four words
the passphrase is asked for once
passphrases never go into a log
whsec_ and shpat_ are prefixes of tokens
SG.createProgram is called once
ya29.js and hvs.ts are generated
the field AccountKey is required
glc_config and gsk_level are names
""",
    "paths and addresses": """
the handler is in src/auth/token.ts
see docs/secrets/rotation.md for the steps
config/password-policy.yaml lists the rules
git clone ssh://git@host.example/team/app.git
https://docs.example.com/auth/token?page=2#refresh
http://localhost:8080/@scope/package
write to ops@example.com before a deploy
postgres://db.example.com:5432/app is read-only
file:///etc/passwd.d/readme is a fixture
s3://builds/nightly/app.tar.gz
token=${GITHUB_TOKEN} comes from the runner
git@github.example:team/app.git
mailto:security@example.com
secret://vault/path names the entry
../packages/tokens/src/index.css holds the design tokens
/var/run/secrets/kubernetes.io is mounted
-----BEGIN CERTIFICATE----- starts a public file
curl -u amy https://host.example asks for the rest
mysql -p db asks as well
""",
    "中文": """
密码策略很严格
密码不能写进日志
令牌窗口是900
密钥每周轮换一次
部署只从主分支进行
接口返回的令牌不要缓存
登录页面不保存密码
用户名必须唯一
用戶名：amy
密碼強度由後端檢查
请把超时设为30秒
版本2.4.1之后不再支持旧接口
提交9f8e7d6引入了这个问题
金额一律用整数分存储
所有密钥都放在保险库里
""",
    "日本語": """
パスワードの規則は厳しい
パスワードはログに書かない
トークンの上限は8000です
秘密鍵はサーバーの外に出さない
ユーザー名は一意でなければならない
コミット9f8e7d6で直りました
バージョン2.4.1から対応しています
テストは並列に実行する
設定は src/config.ts にあります
認証はゲートウェイが行います
""",
    "한국어": """
비밀번호 정책은 엄격하다
비밀번호를 로그에 남기지 않는다
토큰 한도는 8000이다
사용자명은 중복될 수 없다
커밋 9f8e7d6에서 고쳤다
버전 2.4.1부터 지원한다
인증은 게이트웨이가 처리한다
비밀 키는 금고에 보관한다
테스트는 병렬로 돌린다
설정 파일은 config/app.yaml 이다
""",
    "español, français, deutsch": """
la contraseña debe tener doce caracteres
la contraseña caduca cada tres meses
nunca guardes la contraseña en el repositorio
el usuario elige su contraseña al entrar
el token de acceso dura una hora
le mot de passe doit rester secret
le mot de passe expire tous les trois mois
un mot de passe ne va jamais dans les journaux
l'utilisateur choisit son mot de passe
la clé privée reste dans le coffre
das Passwort muss zwölf Zeichen haben
das Passwort läuft nach drei Monaten ab
der Benutzer wählt sein Passwort selbst
ein Passwort gehört nie ins Log
Passwort vergessen führt zur Startseite
der Token gilt eine Stunde
die Version 2.4.1 bleibt im Archiv
Benutzer: Amy
utilisateur : amy
usuario: amy
""",
    "more languages": """
a senha expira em trinta dias
a senha deve ter doze caracteres
ele desenha: primeiro o fundo
пароль должен быть длинным
никогда не пиши пароль в журнал
токен живёт один час
токен: действует один час
ключ: имя поля
hasło musi mieć dwanaście znaków
het wachtwoord verloopt elk kwartaal
şifre en az on iki karakter olmalı
lösenordet får inte loggas
heslo musí být dlouhé
la parola chiave è unica
la parola: semplice
clave: usar pnpm siempre
la clave primaria es compuesta
la clé d'API vient du coffre
das Kennwort darf nicht ins Log
密钥: 每周轮换一次
令牌是必需的
口令是必需的
口令不能写进日志
トークン: 毎週更新する
암호 정책은 엄격하다
mật khẩu phải dài
كلمة المرور مطلوبة
पासवर्ड लंबा होना चाहिए
""",
}
_HIDDEN_BY_RULE = """
password: string;
password: $DB_PASSWORD_FILE
--password is read from a file
interface Login { token: string }
auth: basic
secret: true
token := nextToken()
password = getpass.getpass()
apiKey: process.env.API_KEY
credentials: include
"""
"""A label, a separator and any value: SPEC 7.4 asks for no more, and a reader of code sees that it is no secret."""


def innocents(seed: int = _SEED) -> Iterator[Innocent]:
    """All texts; those with ids and numbers several times, each time with others."""
    chance = Chance(seed)
    for kind, templates in _BUILT.items():
        for template in templates:
            for _ in range(_EACH):
                yield Innocent(kind, _filled(template, chance))
    for kind, lines in _WRITTEN.items():
        for line in lines.strip().split("\n"):
            yield Innocent(kind, line)
    for line in _HIDDEN_BY_RULE.strip().split("\n"):
        yield Innocent("types, calls and words behind a label", line, counted=False)


def _filled(template: str, chance: Chance) -> str:
    """A template with ids: ``{40}`` is so many hex digits, ``{n}`` a digit."""
    text = template.replace("{uuid}", str(UUID(int=chance.getrandbits(128), version=4)))
    while "{n}" in text:
        text = text.replace("{n}", str(chance.randrange(1, 10)), 1)
    for length in (7, 12, 16, 32, 40, 64, 88):
        text = text.replace(f"{{{length}}}", chance.hex(length))
    return text
