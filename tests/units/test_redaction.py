"""Withholding and redaction (SPEC 7)."""

from __future__ import annotations

from typing import Literal
from unicodedata import normalize

import pytest

from projections.policy import RedactionExtra
from projections.text.more_labels import stands_as_key
from projections.text.provider_tokens import BEYOND
from projections.text.redact import is_secret_only, redact, redact_lines, withhold
from projections.text.shapes import MARK
from projections.text.values import any_value
from projections.text.views import JOINT

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
TOKENS = [
    *(f"gh{kind}_" + LETTERS[:16] for kind in "pousr"),
    "github_pat_" + LETTERS[:16],
    "glpat-" + LETTERS[:16],
    *(f"xox{kind}-" + LETTERS[:10] for kind in "bpas"),
    "sk-" + LETTERS[:16],
    "sk-ant-" + LETTERS[:16],
    *(f"{kind}k_live_" + LETTERS[:16] for kind in "spr"),
    "AIza" + LETTERS[:30],
    "npm_" + LETTERS[:20],
    "hf_" + LETTERS[:20],
    "pypi-" + LETTERS[:16],
    "AKIA" + LETTERS[:16].upper(),
    "ASIA" + LETTERS[:16].upper(),
    "eyJ" + LETTERS + "." + LETTERS + "." + LETTERS,
]
KEY_HEAD, KEY_TAIL = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <private>b</private> c", "a  c"),
        ("a <PRIVATE>b</Private> c", "a  c"),
        ("a <private>b<private>c</private>d</private>e", "a e"),
        ("a <private>b<private>c</private>d", "a "),
        ("a </private> b", "a </private> b"),
        ("<pri<private>x</private>vate>y", ""),
        ("no span", "no span"),
    ],
)
def test_private_spans_are_removed(text: str, expected: str) -> None:
    """Spans go with their tags, nesting counted; an unclosed one runs to the end (SPEC 7.2)."""
    assert withhold(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n<private>\nb\n</private>\nc", "a\n\n\n\nc"),
        ("a <private>b</private>\nc", "a \nc"),
        ("<private>\n<private>\n</private>\nx</private> y\n", "\n\n\n y\n"),
        ("a\n<private>\nb", "a\n"),
    ],
)
def test_a_span_may_leave_its_line_feeds(text: str, expected: str) -> None:
    """What stands behind it is in the same line as before."""
    assert withhold(text, keep_lines=True) == expected


def test_spans_built_to_be_laid_open_one_by_one_are_withheld() -> None:
    """A text that needs more rounds than anyone honest would is cut off at its first tag."""
    depth = 50
    text = "a " + "<pri" * depth + "<private></private>" + "vate>secret</private>" * depth
    left = withhold(text)
    assert left.startswith("a <pri")
    assert "secret" not in left
    assert withhold(left) == left


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("frame", ["use {} now", "({})", "使用{}吧", "a\\n{}", "x%3D{}", "{}"])
def test_provider_tokens(token: str, frame: str) -> None:
    """Tokens of known providers need no label (SPEC 7.3)."""
    assert redact(frame.format(token)) == frame.format("[REDACTED]")


def test_an_underscore_belongs_to_a_token_that_may_hold_hyphens() -> None:
    """A token that begins again in itself is one word up to its end, whatever sign is its last."""
    assert redact("xoxb-" * 3 + LETTERS[:10] + "_x end") == "[REDACTED] end"


@pytest.mark.parametrize(
    "token", [*(token[:-1] for token in TOKENS[:-1] if "ant" not in token), "x" + TOKENS[0], "eyJabc.def", "AKIAnot"]
)
def test_what_is_shorter_or_part_of_a_word_is_no_token(token: str) -> None:
    """The lengths of SPEC 7.3 are least lengths, and a token is a whole word."""
    assert redact(token) == token


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"a {KEY_HEAD}\nQUJD\n{KEY_TAIL} b", "a [REDACTED] b"),
        (f"a {KEY_HEAD}\\nQUJD\\n{KEY_TAIL}\\n", "a [REDACTED]\\n"),
        (f"a {KEY_HEAD} QUJD {KEY_TAIL}{KEY_HEAD}x", "a [REDACTED][REDACTED]"),
        (f"a {KEY_HEAD} QUJD -----END PRIVATE KEY----- b", "a [REDACTED]"),
        ("-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----"),
    ],
)
def test_private_keys(text: str, expected: str) -> None:
    """From BEGIN to the matching END, with any line breaks; without it, to the end of the text."""
    assert redact(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://app:s3cret@db/x", "postgres://[REDACTED]@db/x"),
        ("redis://:s3cret@db", "redis://[REDACTED]@db"),
        ("git+ssh://a:b@c@d", "git+ssh://[REDACTED]@d"),
        ("postgres://app:s3/c#r?t@db/x?y=@z", "postgres://[REDACTED]@db/x?y=@z"),
        ("from=http://a:b@c,to=http://d:e@f", "from=http://[REDACTED]@c,to=http://[REDACTED]@f"),
        ("a http://b:c@d http://e:f@g", "a http://[REDACTED]@d http://[REDACTED]@g"),
        ("https://u:_W6rb|$?n|@i-Rs$cc3x7@h/x", "https://[REDACTED]@h/x"),
        ("https://u:p@host/x@y/z", "https://[REDACTED]@host/x@y/z"),
        ("https://u:a#b@c?d@h", "https://[REDACTED]@h"),
        ("https://u:a@b?c@h/x", "https://[REDACTED]@h/x"),
        ("https://u:pw@host?mail=a@b", "https://[REDACTED]@host?mail=a@b"),
        ("https://u:p@s=s@host/x", "https://[REDACTED]@host/x"),
        ("https://bob@host/?next=https://u:se/cret@h", "https://bob@host/?next=https://[REDACTED]@h"),
    ],
)
def test_credentials_in_urls(text: str, expected: str) -> None:
    """User and secret go, host and path stay, even if the secret holds signs it should not."""
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "ssh://git@host.test/x",
        "http://host:8080/@scope/x",
        "http://host:8080?mail=a@b",
        "http://[::1]:80/@x",
        "http://host:80",
        "http://user:@host",
        "a://b:c and d@e",
        "://a:b@c",
    ],
)
def test_urls_without_credentials_stay(text: str) -> None:
    """A user alone, a port, a sign in the path or an empty secret are none."""
    assert redact(text) == text


PASSWORD_LABELS = ["password", "passwd", "pwd", "passphrase", "密碼", "密码", "パスワード", "비밀번호", "contraseña"]
PASSWORD_LABELS += ["passwort", "mot de passe", "PGPASSWORD", "db_password", "Password"]
KEY_LABELS = ["api_key", "api-key", "apikey", "api key", "token", "bearer", "secret", "credential", "credentials"]
KEY_LABELS += ["auth", "auth_key", "private-key", "private key", "access_key", "secret-key", "client_secret", "TOKEN"]


@pytest.mark.parametrize("label", [*PASSWORD_LABELS, *KEY_LABELS])
@pytest.mark.parametrize(
    ("frame", "hidden"),
    [
        ("{}=xy", "{}=[REDACTED]"),
        ("{} = xy.", "{} = [REDACTED]."),
        ("{}: xy, more", "{}: [REDACTED], more"),
        ("{}：xy，more", "{}：[REDACTED]，more"),
        ("{}是xy。", "{}是[REDACTED]。"),
        ("{} is: xy", "{} is: [REDACTED]"),
        ('"{}": "x y"', '"{}": "[REDACTED]"'),
        ('{{\\"{}\\": \\"x y\\"}}', '{{\\"{}\\": \\"[REDACTED]\\"}}'),
        ("{}: 'x\\'y'z", "{}: '[REDACTED]'z"),
        ("{}=`x y`", "{}=`[REDACTED]`"),
        ("{}：「x y」", "{}：「[REDACTED]」"),
        ("{}=b'x y'", "{}=b'[REDACTED]'"),
        ('{}="""x y"""', '{}="""[REDACTED]"""'),
        ('{}: "x y\nz', '{}: "[REDACTED]\nz'),
        ("['{}'] = 'xy'", "['{}'] = '[REDACTED]'"),
        ("**{}:** xy", "**{}:** [REDACTED]"),
        ("{} := xy", "{} := [REDACTED]"),
        ("{} => xy", "{} => [REDACTED]"),
        ("{} ab1234", "{} [REDACTED]"),
        ("{} is ab1234.", "{} is [REDACTED]."),
        ("{} 'ab1234'", "{} '[REDACTED]'"),
        ("{} 'ab1234", "{} '[REDACTED]"),
    ],
)
def test_labelled_values(label: str, frame: str, hidden: str) -> None:
    """With a separator any value goes, with whitespace or "is" a secret-like one (SPEC 7.4)."""
    assert redact(frame.format(label)) == hidden.format(label)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("token: 123456 and token: 1234567", "token: 123456 and token: [REDACTED]"),
        ('token: "8000" or 0.5', 'token: "8000" or 0.5'),
        ("password: 1234", "password: [REDACTED]"),
        ("token AbcdefGHIJKLmnop", "token [REDACTED]"),
        ("password AbcdefGHIJKLmnop", "password AbcdefGHIJKLmnop"),
        ("--password x --token 'a b' --auth -y", "--password [REDACTED] --token '[REDACTED]' --auth -y"),
        ("--api-key=x --secret 1", "--api-key=[REDACTED] --secret [REDACTED]"),
        ("PIN 8812, PIN: '8812', pin=8812", "PIN [REDACTED], PIN: '[REDACTED]', pin=[REDACTED]"),
        ("PIN 881 and PIN 8812x", "PIN 881 and PIN 8812x"),
        ("Authorization: Bearer xyz", "Authorization: Bearer [REDACTED]"),
        ("say 'Bearer xyz'", "say 'Bearer [REDACTED]'"),
        ("Bearer xyz1 but bearer xyz", "Bearer [REDACTED] but bearer xyz"),
        ("auth: Bearer xyz", "auth: Bearer [REDACTED]"),
        ("username: amy, password: x", "username: [REDACTED], password: [REDACTED]"),
        ("{'user_name': 'amy', 'db_passwd': 'x y'}", "{'user_name': '[REDACTED]', 'db_passwd': '[REDACTED]'}"),
        ("benutzer=amy ， passwort = x", "benutzer=[REDACTED] ， passwort = [REDACTED]"),
        ("username: amy, password reset", "username: amy, password reset"),
        ("username: amy, token: x", "username: amy, token: [REDACTED]"),
        ("credentials: password: x", "credentials: password: [REDACTED]"),
        ("password: api key a1b2c3", "password: [REDACTED] key [REDACTED]"),
        ("password: is x", "password: is [REDACTED]"),
        ("数据库密码：是 x", "数据库密码：是 [REDACTED]"),
        ("auth: key x", "auth: key [REDACTED]"),
        ("Credentials: PIN 4711", "Credentials: [REDACTED] [REDACTED]"),
        ("Credentials: pin 4711 or pin 4712", "Credentials: [REDACTED] [REDACTED] or pin 4712"),
        ("password: Basic a1b2c3", "password: [REDACTED] [REDACTED]"),
        ("password: token secret a1b2c3", "password: [REDACTED] [REDACTED] [REDACTED]"),
        ("password: token secret scanning", "password: [REDACTED] secret scanning"),
        ("secret: --password x", "secret: [REDACTED] [REDACTED]"),
        ('password: string = "x y"', 'password: [REDACTED] = "[REDACTED]"'),
        ("credentials: login: a1b2c3 login: b", "credentials: [REDACTED] [REDACTED] login: b"),
        ("token ```a1b2c3``` and key: ```x y```", "token ```[REDACTED]``` and key: ```x y```"),
        ("credentials: user name: amy, password: x", "credentials: user name: [REDACTED], password: [REDACTED]"),
        ("senha: is x", "senha: is [REDACTED]"),
        ("口令：是 x", "口令：是 [REDACTED]"),
        ("password: senha: x", "password: senha: [REDACTED]"),
        ("password: clave: a1b2c3d4", "password: [REDACTED] [REDACTED]"),
        ("password: clave de acceso a1b2c3", "password: [REDACTED] de acceso [REDACTED]"),
        ("credentials: DB_PASS: x", "credentials: [REDACTED] [REDACTED]"),
        ("DB_PASS: api key a1b2c3", "DB_PASS: [REDACTED] key [REDACTED]"),
        ("токен: key a1b2c3d4", "токен: key [REDACTED]"),
        ("токен: Basic a1b2c3d4", "токен: [REDACTED] [REDACTED]"),
        ("токен: Basic auth is off", "токен: Basic auth is off"),
        ("passphrase: token horse battery", "passphrase: [REDACTED]"),
        ("secret: --password = x", "secret: --password = [REDACTED]"),
        ("auth: Basic = a1b2c3", "auth: Basic = [REDACTED]"),
        ("API key: token abc123", "API key: [REDACTED] [REDACTED]"),
        ("API key: token = abc1234", "API key: token = [REDACTED]"),
        ("'Bearer token: xyz'", "'Bearer token: [REDACTED]'"),
        ("the secret db2_password: x y", "the secret db2_password: [REDACTED] y"),
        ("the secret db2_password = x y", "the secret db2_password = [REDACTED] y"),
        ("the secret db2_password ab1234", "the secret [REDACTED] [REDACTED]"),
        (f"username: {'a' * 256}, password: x", f"username: {'a' * 256}, password: [REDACTED]"),
        ("password: tokenX", "password: [REDACTED]"),
        (f"Authorization: {'a' * 98}=", "Authorization: [REDACTED]"),
        (f"Authorization: {'a' * 99}=b c", f"Authorization: {'a' * 99}=b c"),
    ],
)
def test_kinds_of_labels(text: str, expected: str) -> None:
    """Numbers, flags, PINs, Bearer, pairs and labels behind labels have their own rules (SPEC 7.4)."""
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the password policy is strict",
        "token window is 900",
        "secret rotation runs weekly",
        "author: Jane",
        "pin 4 tests",
        "Pin 8812",
        "password is required",
        "commit 9b1c0d2e3f4a5b6c7d8e9f0a1b2c3d4e5f60718a",
        "id 0b7e8a52-4a10-4d0e-9f1b-2c3d4e5f6071",
        "rename camelCaseNameWithDIGITS1",
        "MY_KEY is here, MY_KEY=value",
        "username: amy",
        'api_key="" other=1',
        "password: ...",
        "token=${TOKEN}",
        "secret://vault/x",
        "password",
        "password:\nnext line",
        '"Token:" is the label of "Key"',
        'print("password: " + ask("it"))',
        'token: "[REDA…',
        "password: [REDACTED]",
        "Bearer",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    """Prose, sizes, names, references and redacted text are left as they are (SPEC 7.5)."""
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [REDACTED]"),
        ('{"authorization": "Basic abc="}', '{"authorization": "Basic [REDACTED]"}'),
        ("curl -H 'Authorization: ApiKey xyz' h", "curl -H 'Authorization: ApiKey [REDACTED]' h"),
        ("Proxy-Authorization: Foo a1b2c3", "Proxy-Authorization: Foo [REDACTED]"),
        ("authorization=ZHVtbXk=", "authorization=[REDACTED]"),
        ("Authorization: K7wzLm9", "Authorization: [REDACTED]"),
        ("curl -u amy:s3cret https://h/x", "curl -u amy:[REDACTED] https://h/x"),
        ('curl --user "amy:s3c ret" h', 'curl --user "amy:[REDACTED]" h'),
        ("curl -sS x?a=1&b=2 --user=amy:pw h", "curl -sS x?a=1&b=2 --user=amy:[REDACTED] h"),
        ("curl -uamy:pw", "curl -uamy:[REDACTED]"),
        ("mysql -uroot -psecret db", "mysql -uroot -p[REDACTED] db"),
        ("mysqldump -p'a b' db", "mysqldump -p'[REDACTED]' db"),
        ("mariadb-admin -px1 ping", "mariadb-admin -p[REDACTED] ping"),
    ],
)
def test_headers_and_flags_of_programs(text: str, expected: str) -> None:
    """More than SPEC 7.4 names: any scheme of Authorization, curl's user, the glued password of MySQL clients."""
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: required for admins",
        "authorization: handled by the gateway",
        "Authorization",
        "Authorization: ",
        "docker run -u app:app x",
        "curl h && docker run -u app:app x",
        "curl h | docker run --user 1000:staff x",
        "curl --user-agent=foo:bar h",
        "curl -u amy h",
        "curl -U proxy:x h",
        "docker run -p 8080:80 x",
        "docker run --name mysql -p3306:3306 x",
        "mysql -P3306 -p",
        "mysql -p db",
        "pip install -pfoo",
        "mysql x | grep -pfoo",
    ],
)
def test_flags_of_other_programs_stay(text: str) -> None:
    """A user to run as, a port, a flag that only looks alike and prose about authorization are no secrets."""
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DB_PASS=hunter", "DB_PASS=[REDACTED]"),
        ("export MYSQLPASS='a b' x", "export MYSQLPASS='[REDACTED]' x"),
        ('smtpPass: "hunter"', 'smtpPass: "[REDACTED]"'),
        ("a\\nuser_pass: hunter", "a\\nuser_pass: [REDACTED]"),
        ("ACME_PASS = hunter22", "ACME_PASS = [REDACTED]"),
        ("ACME_PASS=[REDACTED]", "ACME_PASS=[REDACTED]"),
        ("host: db\npass: hunter22\nport: 1", "host: db\npass: [REDACTED]\nport: 1"),
        ('{"user": "x", "pass": "hunter22"}', '{"user": "x", "pass": "[REDACTED]"}'),
        ("- pass: 'hunter22'", "- pass: '[REDACTED]'"),
        ("a\\npass: hunter22\\nb c", "a\\npass: [REDACTED] c"),
        ("login?pass=hunter22", "login?pass=[REDACTED]"),
        ("deploy --pass=hunter22 x", "deploy --pass=[REDACTED] x"),
        ("username: amy, pass: hunter", "username: [REDACTED], pass: [REDACTED]"),
        ("ACME_PASS=fast", "ACME_PASS=fast"),
        ("FIRST_PASS=1", "FIRST_PASS=1"),
        ("BYPASS=hunter22 bypass=hunter22", "BYPASS=hunter22 bypass=hunter22"),
        ("two-pass=hunter22 a_pass=hunter22", "two-pass=hunter22 a_pass=hunter22"),
        ("first pass: hunter22", "first pass: hunter22"),
        ("pass: hunter22 is gone", "pass: hunter22 is gone"),
        ("pass: {", "pass: {"),
        ("pass 是 hunter22", "pass 是 hunter22"),
        ("PASS: test_login2", "PASS: test_login2"),
        ("3 pass, 2 fail; passed: hunter22", "3 pass, 2 fail; passed: hunter22"),
    ],
)
def test_pass_is_a_label_where_it_can_mean_nothing_else(text: str, expected: str) -> None:
    """Beyond SPEC 7.4: joined to an account any value; as a variable or the key of a setting one like a secret."""
    assert redact(text) == expected
    assert redact(expected) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pass phrase is: open sesame", "pass phrase is: [REDACTED]"),
        ("passphrase: correct horse battery. Ask Kim", "passphrase: [REDACTED]. Ask Kim"),
        ("passphrase: open sesame\nand more", "passphrase: [REDACTED]\nand more"),
        ("passphrase: hunter22 for staging", "passphrase: [REDACTED] for staging"),
        ("passphrase: 'open sesame' for staging", "passphrase: '[REDACTED]' for staging"),
        ("passphrase: [REDACTED] for staging", "passphrase: [REDACTED] for staging"),
        ("passphrase: see its password: x", "passphrase: [REDACTED] password: [REDACTED]"),
        ("passphrase: see its senha: x", "passphrase: [REDACTED] senha: [REDACTED]"),
        ("passphrase: " + "a " * 14, "passphrase: [REDACTED] a a "),
        ("a pass phrase must be long", "a pass phrase must be long"),
    ],
)
def test_a_pass_phrase_has_several_words(text: str, expected: str) -> None:
    """One of words goes on to the end of its line or sentence, or to the next label."""
    assert redact(text) == expected
    assert redact(expected) == expected


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ПАРОЛЬ: x", "ПАРОЛЬ: [REDACTED]"),
        ("a\\nsenha=x", "a\\nsenha=[REDACTED]"),
        ("ŞİFRE: x; şifre = y", "ŞİFRE: [REDACTED]; şifre = [REDACTED]"),
        ("mật khẩu: x", "mật khẩu: [REDACTED]"),
        ("wachtwoord hunter22", "wachtwoord [REDACTED]"),
        ("口令是 hunter22", "口令是 [REDACTED]"),
        ("口令是必需的", "口令是必需的"),
        ("ele desenha: x1y2z3", "ele desenha: x1y2z3"),
        ("密钥: 每周轮换", "密钥: 每周轮换"),
        ("密钥: hunter22 或 令牌 hunter22", "密钥: [REDACTED] 或 令牌 [REDACTED]"),
        ("clave: valor, clave: hunter22", "clave: valor, clave: [REDACTED]"),
        ("AccountName=x;AccountKey=ab/c==;y", "AccountName=x;AccountKey=[REDACTED];y"),
        ("accountKey: id", "accountKey: id"),
    ],
)
def test_labels_of_more_languages(text: str, expected: str, form: Literal["NFC", "NFD"]) -> None:
    """Beyond SPEC 7.4: passwords as its own; keys and words of several senses take a value like a secret."""
    assert redact(normalize(form, text)) == normalize(form, expected)


def test_labels_of_more_languages_above_a_value() -> None:
    """What stands in the next line belongs to them as to others."""
    assert redact_lines("Heslo:\n- x1\nнастройки") == "Heslo:\n- [REDACTED]\nнастройки"


@pytest.mark.parametrize("prefix", BEYOND)
def test_tokens_of_more_providers(prefix: str) -> None:
    """Beyond SPEC 7.3: each with its prefix and a length; shorter ones, and parts of words, are none."""
    token = prefix + LETTERS[:24] + ("." + LETTERS[:24] if prefix == "SG." else "")
    assert redact(f"use {token} now") == "use [REDACTED] now"
    assert redact(f"x{token}") == f"x{token}"
    short = prefix + LETTERS[:9]
    assert redact(short) == short


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password\u200e: x9", "password\u200e: [REDACTED]"),
        ("pass\u200eword: x9 y", "pass\u200eword: [REDACTED] y"),
        ("to\u034fken\ufe0f=x9", "to\u034fken\ufe0f=[REDACTED]"),
        ("gh\u200ep_abcdefghijklmnop0 x", "[REDACTED] x"),
        ("ｐａｓｓｗｏｒｄ: x9", "ｐａｓｓｗｏｒｄ: [REDACTED]"),
        ("password﹕ x9", "password﹕ [REDACTED]"),
        ("https：//x https://a:\u200eb@h", "https：//x https://[REDACTED]@h"),
    ],
)
def test_characters_that_stay_hide_no_label(text: str, expected: str) -> None:
    """Marks that SPEC 1.3 keeps and styled letters are read as a person reads them; the rest of the text stays."""
    assert redact(text) == expected
    assert redact(expected) == expected


def test_configured_labels_and_prefixes() -> None:
    """Further labels count as passwords do; one that begins like a built-in label hides nothing (SPEC 20.3)."""
    extra = RedactionExtra(labels=("pass", "door code", "password hint", " "), prefixes=("acme.", ""))
    text = "pass: a password: b door code=1 password hint: c acme.0123456789 acme.012"
    assert redact(text, extra) == (
        "pass: [REDACTED] password: [REDACTED] door code=[REDACTED] password hint: [REDACTED] [REDACTED] acme.012"
    )


def test_a_configured_label_hides_no_other_one() -> None:
    """All labels are looked for in one text, so that the value of one is still there when it is another's label."""
    extra = RedactionExtra(labels=("door code", "db password"))
    assert redact("door code: api key a1b2c3", extra) == "door code: [REDACTED] key [REDACTED]"
    assert redact("door code: curl -u amy:x", extra) == "door code: [REDACTED] -u amy:[REDACTED]"
    assert redact("db password: x", extra) == "db password: [REDACTED]"


def test_a_text_built_to_be_redacted_bit_by_bit_is_hidden_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds are bounded; what still changes after them is not worth showing."""
    monkeypatch.setattr("projections.text.redact._PASSES", 1)
    assert redact("token=abc") == "[REDACTED]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("token=[REDACTED]", True),
        ("用戶名：[REDACTED]，密碼：[REDACTED]", True),
        ("密码是[REDACTED]。", True),
        ("client_secret: '[REDACTED]'", True),
        ("Authorization: Bearer [REDACTED]", True),
        ("Authorization: Basic [REDACTED]", True),
        ("pass\u200eword: [REDACTED]", True),
        ("password is [REDACTED]", True),
        ("password: is [REDACTED]", True),
        ("auth: key [REDACTED]", True),
        ("password: [REDACTED] key [REDACTED]", True),
        ("DB_PASS=[REDACTED]", True),
        ("pass: [REDACTED]", True),
        ("senha: [REDACTED]", True),
        ("mật khẩu: [REDACTED]", True),
        ("pass [REDACTED] on", False),
        ("[REDACTED]", True),
        ("the password is [REDACTED]", False),
        ("author [REDACTED]", False),
        ("...", False),
        ("password", False),
    ],
)
def test_nothing_left(text: str, *, expected: bool) -> None:
    """A redacted text is refused if nothing but marks, labels and signs remains (SPEC 7.6)."""
    assert is_secret_only(text) == expected


def test_configured_labels_leave_nothing_either() -> None:
    """A configured label is no content."""
    assert is_secret_only("door code: [REDACTED]", RedactionExtra(labels=("door code",)))


def test_the_value_behind_a_separator() -> None:
    """A fence stands at the separator or not at all; a type before the value is one of it whatever it ends in."""
    fenced = "```\npassword: hunter2"
    assert [fenced[one.start : one.end] for one in any_value(fenced, len("```\npassword: "))] == ["hunter2"]
    assert any_value("password: ```\nhunter2", len("password: ")) == []
    typed = "password: boX = hunter2"
    assert [typed[one.start : one.end] for one in any_value(typed, len("password: "))] == ["boX", "hunter2"]


def test_below_a_mark_only_what_looks_like_a_key_is_hidden() -> None:
    """Another mark in it says nothing about the rest."""
    for below, hidden in ((f"abc1{MARK}", []), ("hunter2s3cret", ["hunter2s3cret"])):
        text = f"auth: {MARK}{JOINT}{below}"
        assert [text[one.start : one.end] for one in any_value(text, len("auth: "))] == [MARK, *hidden]


def test_a_key_may_stand_far_in() -> None:
    """Only blanks before it make it the key of a setting, to the last one that is looked at."""
    assert stands_as_key(" " * 24 + "pass", 24)
    assert not stands_as_key("x" + " " * 23 + "pass", 24)
