"""Laws of text: redaction and canonical form (SPEC 24: I8, I19), cutting, taking in."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.policy import DEFAULT_POLICY, RedactionExtra
from projections.text import clean as clean_module
from projections.text.canonical import bare, canonical
from projections.text.clean import clean
from projections.text.cut import cut
from projections.text.entry import entry_text
from projections.text.identity import same_identity
from projections.text.intake import take_in, take_in_block
from projections.text.paths import normal_path, path_words
from projections.text.plain import PLAIN, is_plain
from projections.text.redact import redact, redact_lines, withhold
from projections.text.views import as_seen

_SECRETS = [
    *("password", "token", "bearer ", "Bearer", "auth", "PIN", "--token ", "user name", "private key", "credentials: "),
    *(" ", "  ", "\n", "=", ":", "：", "是", " is ", "'", '"', "`", "\\", "“", "”", "«", ",", "，", ".", "…", "!"),
    *("a1b2c3", "8812", "abcdefGHIJKLMNOP", "[REDACTED]", "[", "]", "{", "(", "$", "*", "**", "b'", "-", "80"),
    *("://", "a://b", "@", "/", "?", "#", "ghp_0123456789abcdef", "sk-", "eyJa", ".b.c", "AKIA", "ABCDEFGHIJKLMNOP"),
    *("-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----", "Authorization: "),
    *(
        "\\\n",
        "\u200e",
        "\ufe0f",
        "ｐ",
        "﹕",
        "curl -u a:",
        "mysql -p",
        "- ",
        "\n- ",
        "Basic ",
        "api key ",
        " key ",
        "```",
        "\n```\n",
        "string = ",
        "--password ",
        "authorization=",
        "\x90",
        "\x9d",
    ),
    *("<private>", "</private>", "<pri", "vate>", "\u200b", "\x1b[", "\x1b]", "\U0001f3f4", "\U000e0061"),
]
_WORDS = [
    *("/", "./", "../", "src", "a.ts", "(", ")", "~", "-", "#", "%", "C", "字", "'", "’", "`", '"', " ", "@", ".", "_"),
    *(":", "://", "http", "/w/app", "/W/App", "é", "\u0301", "İ", "H\u0331", "ᄀ", "ᅡ", "\\", "…", "，", "x", "1", "Σ"),
]
_ROOTS = st.sampled_from(["", "/", "/w/app", "/W/App", "/w/用 户", "/w/o'neil"])


def _made_of(pieces: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces) | st.text(max_size=2), max_size=25).map("".join)


@given(_made_of(_SECRETS))
def test_cleaning_is_idempotent(text: str) -> None:
    """A cleaned text has nothing left to clean and carries no note again."""
    assert clean(clean(text).text) == (clean(text).text, ())


@settings(max_examples=200)
@given(_made_of(_SECRETS))
def test_i19_redaction_is_idempotent(text: str) -> None:
    """Redacting, withholding and taking a block in twice changes nothing."""
    assert redact(redact(text)) == redact(text)
    assert redact_lines(redact_lines(text)) == redact_lines(text)
    assert redact_lines(redact_lines(text, above="PIN"), above="PIN") == redact_lines(text, above="PIN")
    assert withhold(withhold(text)) == withhold(text)
    block = take_in_block(text, DEFAULT_POLICY).text
    assert take_in_block(block, DEFAULT_POLICY) == (block, ())


@given(_made_of(_SECRETS), st.lists(st.sampled_from(["pass", "to", "token", "is", "b'"]), max_size=2))
def test_i19_redaction_with_configured_labels_is_idempotent(text: str, labels: list[str]) -> None:
    """Whatever labels and prefixes are configured."""
    extra = RedactionExtra(labels=tuple(labels), prefixes=tuple(labels))
    assert redact(redact(text, extra), extra) == redact(text, extra)


@settings(max_examples=200)
@given(_made_of(_SECRETS), st.integers(min_value=0, max_value=80))
def test_a_stored_text_is_taken_in_as_it_is(text: str, limit: int) -> None:
    """What take_in made is within its limit, one line, and stays the same when it is taken in again."""
    taken = take_in(text, DEFAULT_POLICY, limit).text
    assert take_in(taken, DEFAULT_POLICY, limit) == (taken, ())
    assert len(taken) <= limit
    assert taken == " ".join(taken.split())


@settings(max_examples=200)
@given(_made_of(_WORDS), _ROOTS)
def test_i19_canonical_form_is_idempotent(text: str, root: str) -> None:
    """The canonical form of a canonical text, and of a normal path, is itself."""
    assert canonical(canonical(text, root), root) == canonical(text, root)
    assert normal_path(normal_path(text, root), root) == normal_path(text, root)


@given(st.text(max_size=30))
def test_canonical_text_ignores_case_spaces_and_final_punctuation(text: str) -> None:
    """Outer whitespace and sentence ends never tell two texts apart."""
    assert canonical(f"  {text} ") == canonical(text)
    assert canonical(f"{text} !!") == canonical(text)
    if text.isascii():  # elsewhere a capital may stand for two letters: ß
        assert canonical(text.upper()) == canonical(text)


@settings(max_examples=200)
@given(_made_of(_WORDS))
def test_a_bare_text_is_the_same_text(text: str) -> None:
    """It stands in the other one, is its own bare text, and says what that says.

    But a slash may tell a path, and what becomes a letter of another form may have a sign then.
    """
    found = bare(text)
    assert found in text
    assert bare(found) == found
    if not {"/", "\\"} & set(text):
        assert canonical(found).lstrip(".@#~-") == canonical(text).lstrip(".@#~-")
    assert bare(f"“{found} !). …”") in (found, text)


def test_i19_canonical_form_of_every_character_is_idempotent() -> None:
    """No character that case, form or punctuation rules touch has a canonical form that has another one."""
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in {"Cn", "Co", "Cs"} or (char.isalpha() and _is_plain(char)):
            continue
        once = canonical(f"a{char}b {char}")
        assert canonical(once) == once, hex(code)


def _is_plain(char: str) -> bool:
    return char == char.lower() == unicodedata.normalize("NFKC", char)


@given(_made_of(_WORDS), _made_of(_WORDS), st.sampled_from(["project", "reference", "decision"]))
def test_sameness_is_symmetric_and_reflexive(first: str, second: str, type_: str) -> None:
    """Which of two texts came first doesn't matter, and each is the same as itself."""
    assert same_identity(type_, first, second) == same_identity(type_, second, first)
    assert same_identity(type_, first, first) == "absorbed_exact"


_CLUSTERS = [
    "a",
    " ",
    "e\u0301",
    "\u2764\ufe0f",
    "\U0001f44d\U0001f3fd",
    "\U0001f468\u200d\U0001f469",
    "\u1112\u1161\u11ab",
]
_FLAGS = ["\U0001f1e9\U0001f1ea", "\U0001f3f4\U000e0067\U000e0062\U000e007f"]


@given(st.lists(st.sampled_from(_CLUSTERS + _FLAGS), max_size=12), st.integers(min_value=1, max_value=30))
def test_i5_a_cut_keeps_whole_characters(clusters: list[str], limit: int) -> None:
    """A cut text is a row of whole characters and the mark, and the next one would not fit."""
    text = "".join(clusters)
    if len(text) <= limit:
        assert cut(text, limit) == text
        return
    kept = max(n for n in range(len(clusters)) if len("".join(clusters[:n])) < limit)
    assert cut(text, limit) == "".join(clusters[:kept]).rstrip() + "…"


_ENTROPY = "BCDFGHJKLMNPQRSTVWXZ23456789"
_FRAMES = [
    *(
        "password={}",
        "the passphrase: {}.",
        "密码：{}，每周轮换",
        '{{"token": "{}", "host": "h"}}',
        "client_secret = '{}'",
    ),
    *('{{\\"api_key\\": \\"{}\\"}}', "run --token {} --region eu", "Authorization: Bearer {}", "curl -H 'auth: {}'"),
    *("db is postgres://app:{}@db/x", "redis://:{}@h", "username: {}, password: {}", "token is {}", "パスワード {}"),
    *(
        "ghp_{}",
        "github_pat_{}",
        "glpat-{}",
        "xoxb-{}",
        "sk-ant-{}",
        "rk_live_{}",
        "npm_{}",
        "hf_{}",
        "pypi-{}",
        "AKIA{}",
    ),
    *("-----BEGIN PRIVATE " + "KEY-----\n{}", "eyJ{}.{}.{}", "<private>{}</private>", "a <private>{}"),
]


@settings(max_examples=200)
@given(
    st.text(alphabet=_ENTROPY, min_size=24, max_size=40).filter(lambda s: len(set(s)) > 8 and any(map(str.isdigit, s))),
    st.sampled_from(_FRAMES),
    st.integers(min_value=0, max_value=60),
)
def test_i8_no_secret_is_taken_in(secret: str, frame: str, limit: int) -> None:
    """Nowhere, and at no cut, do more than four characters of a secret in a row remain."""
    text = frame.replace("{{", "{").replace("}}", "}").replace("{}", secret)
    for taken in (take_in_block(f"so {text} end", DEFAULT_POLICY).text, take_in(text, DEFAULT_POLICY, limit).text):
        assert not any(secret[at : at + 5] in taken for at in range(len(secret) - 4))


_PAIRS = [
    "password:{}",
    "API_KEY:{}",
    "the token is{}",
    "run --token{}",
    "auth ={}",
    "密码：{}",
    "passphrase{}",
    "Bearer{}",
]
_BETWEEN = st.sampled_from(
    [
        *(" ", "\n", "\n\n  ", "  \n- ", " \\\n ", "\n> ", "\u2028", "\n1. ", "\u200e\n"),
        *("\n```\n", "\n\n```text\n", " ```\n", "\n~~~\n", "\n- ```sh\n  ", " ``` ", "\n```\n\n"),
    ]
)


@settings(max_examples=200)
@given(
    st.text(alphabet=_ENTROPY, min_size=24, max_size=40).filter(lambda s: any(map(str.isdigit, s)) and not s.isdigit()),
    st.sampled_from(_PAIRS),
    _BETWEEN,
    st.sampled_from(["", " and more words", "\nand a line", ".", "\n\n- item"]),
)
def test_i8_no_secret_in_a_line_below_its_label_is_shown(secret: str, pair: str, between: str, after: str) -> None:
    """Neither in the lines that are kept nor in the line they become."""
    content = clean(pair.format(between + secret) + after).text
    for shown in (redact_lines(content), entry_text("Deploy", content, DEFAULT_POLICY)):
        assert not any(secret[at : at + 5] in shown for at in range(len(secret) - 4))


_HEADS = st.sampled_from(
    [
        *("password:", "secret =", "密码：", "auth:", "Credentials:", "DB_PASSWORD=", "token is:"),
        *("senha:", "пароль =", "口令：", "DB_PASS=", "pass phrase:", "токен:"),
    ]
)
_BEFORE_VALUES = st.sampled_from(
    [
        *("", "is", "是", "=", "key", "key:", "api key", "api_key is", "token secret", "private key:", "bearer"),
        *("Basic", "--password", "mot de passe", "token key", "pwd is: is", "api\nkey"),
        *("senha", "пароль:", "clave de acceso", "令牌 是", "pass phrase", "DB_PASS:"),
    ]
)


@settings(max_examples=200)
@given(
    st.text(alphabet=_ENTROPY, min_size=24, max_size=40).filter(lambda s: any(map(str.isdigit, s)) and not s.isdigit()),
    _HEADS,
    st.lists(_BEFORE_VALUES, max_size=2).map(tuple),
    st.tuples(st.sampled_from([" ", "  ", "\n", "\n- ", "\n\n> "]), _BETWEEN.filter(lambda gap: gap != " ``` ")),
)
def test_i8_no_word_where_a_value_stands_takes_a_label_from_the_secret(
    secret: str, head: str, words: tuple[str, ...], between: tuple[str, str]
) -> None:
    """Labels and verbs behind a label, in its line or below: in a text, and in a content below its title."""
    content = between[0].join([*words, ""]) + secret
    for title, text in (("", f"so {head}{between[1]}{content}"), (head.rstrip(" :=："), content)):
        block = clean(f"{text}\nend").text
        for shown in (redact_lines(redact(block), above=title), entry_text(title, redact(block), DEFAULT_POLICY)):
            assert not any(secret[at : at + 5] in shown for at in range(len(secret) - 4)), shown


@pytest.mark.parametrize(
    "piece",
    [
        *("password ", "password", 'password: "', "password “", "password 'a “", "token is ", "token是", "token: 1 "),
        *("-----BEGIN ", "-----BEGIN PRIVATE " + "KEY-----", "eyJ", "eyJ-", "eyJa.", "a://b:", "a://b:c", "a://b:1/"),
        *("x", " ", "\\", 'password\\\\"', "'", "`", "sk- ", "username: a, ", "bearer ", "PIN 1", "--password ", "**"),
        *(
            "\x90",
            "\x98",
            "\x9b",
            "\x9d",
            "\x9e",
            "\x9f",
            "\x1bP",
            "\x1bX",
            "\x1b^",
            "\x1b_",
            "\x1b",
            "\U0001f3f4",
            "\x90\x9b",
        ),
        *(
            "\u200e",
            "password\u200e",
            "\\\n",
            "password \\\n",
            "\n",
            "  \n",
            "\n- ",
            "\n>",
            "password:\n",
            "token:\n- a1b2c3\n",
        ),
        *("curl -u a:", "mysql -p", "-u ", "authorization:", "authorization: a ", "a://b:c?", "a://b:c?@", "a://b:c@?"),
        *(
            "password: api key ",
            "token: secret ",
            "password: is ",
            "is ",
            "auth: key ",
            "password: a = ",
            "PIN: user name ",
        ),
        *(
            "password: x: ",
            "secret: [REDACTED] key ",
            "--password bearer ",
            "```",
            "token:\n```\n",
            "password ``` ",
            "~~~\n",
        ),
        *("username:", "username: a,b", "user name: 'a' ", "xoxb-", "secret db2_token: ", "'Bearer token "),
        *("<private>", "</private>", "<pri", "\x1b]", "\x1b[", "\u200d", "./", "(", "é.", "a.字", "https://a/b@"),
    ],
)
def test_i19_adversarial_texts_end(piece: str) -> None:
    """A long row of what begins like something is read once: a quadratic rule would not come back in time."""
    text = piece * (100_000 // len(piece))
    redact_lines(take_in_block(text, DEFAULT_POLICY).text)
    redact(text + "_")  # no word ends before an underscore
    assert canonical(text) == " ".join(canonical(text).split())
    path_words(text, "/w/app")


def test_withholding_counts_any_depth() -> None:
    """Nesting is counted, not recursed into."""
    depth = 100_000
    assert withhold("a" + "<private>" * depth + "x" + "</private>" * depth + "b") == "ab"


def test_i1_wide_letters_are_the_same_in_every_python() -> None:
    """The table of wide letters agrees with the names of the characters that this Python knows."""
    from projections.text.characters import is_wide_letter

    scripts = ("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA LETTER", "KATAKANA LETTER", "HANGUL")
    for code in range(0x1100, 0x31350):
        char = chr(code)
        if unicodedata.name(char, "").startswith(scripts) and unicodedata.category(char) == "Lo":
            assert is_wide_letter(char), hex(code)
        if not unicodedata.category(char).startswith(("L", "C", "N")):
            assert not is_wide_letter(char), hex(code)


def test_plain_letters_are_what_the_patterns_leave_alone() -> None:
    """Each one, alone and among others: cleaning and the reader's view change none, nor does a brief look miss one."""
    for first, last in PLAIN:
        for code in range(first, last + 1):
            text = f"a{chr(code)}b {chr(code)}"
            assert is_plain(text)
            assert clean_module._UNSEEN().sub(r"\1", text) == text
            assert as_seen(text).text == text
            assert clean_module._FURTHER_SELECTORS().sub("", text) == text
            assert clean_module._JOINERS_IN_ASCII().sub("", text) == text
    assert not any(is_plain(f"a{char}b") for char in "\x00\n\t\r\x7f\xad\u200b\u200d\ufe0f\u0430\uff1c\U000e0041\ud800")
