"""What redaction costs by the length of a text: a megabyte beside ten kilobytes, honest texts and hostile ones."""

from __future__ import annotations

from functools import partial

from bench.measure import in_turn, median, ratio
from projections.policy import DEFAULT_POLICY
from projections.text.intake import take_in_block
from projections.text.redact import redact_lines

__all__ = ["LARGE", "SMALL", "TEXTS", "measure_redaction", "text_of", "whole"]

SMALL, LARGE = 10_000, 1_000_000
_REPEATS = 10
"""How often the short text is read in a round, so that the clock has something to tell."""

_KEY = "PRIVATE" + " KEY"
_TOKEN = "gh" + "p_"
_WEB = "ey" + "J"

TEXTS: dict[str, tuple[str, ...]] = {
    "prose": (
        "The parser keeps a table of names, small enough to be read at each start. ",
        "It is sorted by length.\n",
    ),
    "prose with secrets": ("The box takes password: K7wLm9 ", "and the rest is told elsewhere in the handbook. ") * 3,
    "log of a build": ("2026-01-02T03:04:05Z INFO src/app.ts:31 built in 31 ms\n", "WARN 3 hints in src/b.ts\n"),
    "JSON": ('{"host": "db", "token": "K7wLm9", "tags": ["a", "b"], "port": 5432}, ',),
    "Chinese prose": ("金额一律用整数分存储，不要用浮点数。部署只从主分支进行，密码不能写进日志。",),
    "labels": ("password ", "token ", "secret ", "auth "),
    "labels with separators": ("password:", "token=", "密码是"),
    "label behind label": ("username:",),
    "labels where values stand": ("password: api key ", "secret: PIN ", "auth: ", "token: --token "),
    "words before values": ("password: is ", "token: key: ", "密码：是", "= ", "secret: string = "),
    "fences": ("token:\n```text\n", "```", "password ```"),
    "names without passwords": ("username: amy, user name: bob, ",),
    "open quotes": ('password: "', "token: '", "secret: `", "auth: «"),
    "quotes alone": ('"', "'", "`", "“"),
    "escaped quotes": ('password: \\"a\\\\" ',),
    "backslashes": ("\\",),
    "one long word": ("a",),
    "a.a.a": ("a.",),
    "web tokens begun": (_WEB,),
    "web tokens of two parts": (_WEB + "a.b ",),
    "web tokens of many parts": (_WEB + "a.b.c.d.e.f",),
    "nested private spans": ("<private>",),
    "private spans, one laid open by the next": ("<pri", "<private></private>", "vate>x"),
    "private tags closed": ("a</private> <private>b</private> ",),
    "keys begun": (f"-----BEGIN {_KEY}-----\n",),
    "keys hardly begun": ("-----BEGIN ",),
    "keys begun and ended": (f"-----BEGIN {_KEY}-----a-----END {_KEY}----- ",),
    "schemes": ("://",),
    "credentials begun": ("a://b:c", "/d?", "#"),
    "credentials": ("a://b:c@d ",),
    "at signs": ("a://b:c@?", "@"),
    "tokens begun": (_TOKEN, "xoxb-", "sk-_ ", "AKIA"),
    "tokens denied at their end": ("xoxb-",),
    "tokens of dots begun": ("SG.", "SG.abcdefghijklmnop-"),
    "pass as a variable": ("ACME_PASS=", "pass=", "db_pass "),
    "pass as a key": ("\\npass:a1b2c3",),
    "pass in lines": ("\npass: a1b2c3 x", "{pass: "),
    "pass phrases": ("passphrase: a b c ", "pass phrase: a passphrase "),
    "labels of more languages": ("пароль ", "пароль: x ", "mật khẩu是", "密钥是", "clave=clave="),
    "flags": ("--token ", "--password -x "),
    "logins": ("curl -u ", "-u a:b ", "mysql -p "),
    "headers": ("Authorization: ", "Authorization: Basic ", "'Bearer a "),
    "PINs": ("PIN 1111111 ", "PIN "),
    "continued lines": ("password \\\n",),
    "labels above values": ("password:\n- ", "a1b2c3\n"),
    "blank lines": ("\n", "\n> "),
    "spaces": ("password    ", " "),
    "marks": ("password: [REDACTED] ", "[REDACTED]"),
    "invisible characters": ("pass\u200eword: x\u200b ",),
    "styled letters": ("ｐａｓｓｗｏｒｄ: x ",),
}
"""Name → pieces, which are repeated up to the length that is asked for."""
_ENDS = {"tokens denied at their end": "_"}


def text_of(name: str, length: int) -> str:
    """A text of so many characters."""
    pieces, end = "".join(TEXTS[name]), _ENDS.get(name, "")
    return (pieces * (length // len(pieces) + 1))[: length - len(end)] + end


def whole(text: str) -> str:
    """All that a text goes through whose lines will be one: cleaned, withheld, redacted, and once more across lines."""
    return redact_lines(take_in_block(text, DEFAULT_POLICY).text)


def measure_redaction(rounds: int) -> None:
    """Measure and print."""
    print(f"\n(h) redaction, CPU; per byte of {LARGE:,} characters beside the same of {SMALL:,}")
    for name in TEXTS:
        small, large = text_of(name, SMALL), text_of(name, LARGE)
        part = len(small.encode()) * _REPEATS / len(large.encode())
        samples = in_turn({"small": partial(_often, small), "large": partial(whole, large)}, rounds)
        middle, low, high = (part * value for value in ratio(samples, "large", "small"))
        speed = median(samples, "large") / len(large.encode()) * 1e9
        print(f"    {name}: {middle:.2f}x ({low:.2f} to {high:.2f}), {speed:,.0f} ns a byte")


def _often(text: str) -> None:
    for _ in range(_REPEATS):
        whole(text)
