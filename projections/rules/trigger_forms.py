"""The remember forms of SPEC 4.3 and 4.4 as data: families A-I, language packs, negations, pointers."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["FORMS", "NEGATIONS", "OPENERS", "PACKS", "POINTERS", "REFUSING", "TRAILING", "Form"]


class Form(Struct, frozen=True):
    """One row of the table: a family, its pack, and pattern source in which a space stands for any short gap.

    Families ``request`` and A-F ask to remember; G-I state a preference and also count after a comma or colon.
    ``free_end``: anything may follow (Chinese has no spaces).
    """

    family: str
    pack: str
    source: str
    free_end: bool = False


_JA_SUFFIX = ("ください", "下さい", "ね", "")
_JA = ("覚えておいて", "覚えて", "忘れないで", "メモしておいて", "メモして", "記憶して")
_KO = (
    "기억해 주세요",
    "기억해주세요",
    "기억해줘",
    "기억해 둬",
    "기억해",
    "잊지 마세요",
    "잊지마세요",
    "잊지 마",
    "잊지마",
    "메모해 주세요",
    "메모해줘",
    "메모해",
)

TRAILING: dict[str, tuple[str, ...]] = {
    "ja": tuple(sorted((form + end for form in _JA for end in _JA_SUFFIX), key=len, reverse=True)),
    "ko": tuple(sorted(_KO, key=len, reverse=True)),
}
"""Forms that may also end a sentence (SPEC 4.3, trailing form), longest first."""

REFUSING: tuple[tuple[str, str], ...] = (
    ("ja", "(?:覚えないで|覚えなくていい|記憶しないで|メモしないで)"),
    # Stems: 마세요, 말아 주세요 and their like are as negated as 마 and 말.
    ("ko", "(?:기억|메모)하지 ?(?:마|말)[가-힣]{0,8}(?: 주세요)?"),
)
"""Pack and pattern source of forms that are negated requests by themselves (SPEC 4.4)."""


def _any_of(words: tuple[str, ...]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


_DONT = "(?:do not|don['’]?t)"
_ZH_ASK = "[请請]?(?:[帮幫]我)?"

FORMS: tuple[Form, ...] = (
    Form(
        "A",
        "zh",
        f"{_ZH_ASK}(?:记住|記住|记得|記得|记下来|記下來|记下|記下|牢记|牢記"
        "|别忘了|別忘了|不要忘记|不要忘記|别忘记|別忘記)",
        free_end=True,
    ),
    Form("B", "ja", _any_of(_JA) + "(?:ください|下さい|ね)?"),
    Form("C", "ko", _any_of(_KO)),
    Form("D", "en", f"(?:(?:please )?(?:always )?remember|(?:please )?(?:{_DONT}|never) forget)(?: (?:that|to))?"),
    Form(
        "E",
        "en",
        "(?:please )?(?:save|add|store|put|write)(?: (?:this|that|it))? (?:to|in|into)(?: the)? memory",
    ),
    Form(
        "F",
        "en",
        "(?:please )?(?:commit(?: (?:this|that|it))? to memory|make a note(?: (?:that|of))?)",
    ),
    Form("G", "zh", "(?:从现在开始|從現在開始|从今以后|從今以後)", free_end=True),
    Form("G", "en", r"(?:from now on|going forward(?! (?:with|to|into|on|as)(?!\w)))"),
    Form("H", "zh", "(?:我的偏好是|我偏好|以后请|以後請|以后都|以後都)", free_end=True),
    Form("I", "en", "(?:my preference is|i prefer)"),
    Form("request", "de", "(?:merke? dir|denk daran|vergiss nicht)"),
    Form("request", "es", "(?:recuerda(?: que)?|no olvides)"),
    Form("request", "fr", "(?:souviens-toi|retiens|n['’]oublie pas)"),
    Form("request", "pt", "(?:lembre-se|lembra|não esqueça)"),
    Form("request", "vi", "(?:ghi nhớ|hãy nhớ|đừng quên)"),
)

NEGATIONS: tuple[tuple[str, str], ...] = (
    (
        "en",
        (
            r"(?<![A-Za-z0-9_])(?:do not|don['’]?t have to|don['’]?t|never|not|no need to|need not|needn['’]t)"
            "(?: (?:please|ever))? "
        ),
    ),
    # 特别, 分别, 个别 and 区别 are words of their own, in which 别 negates nothing.
    ("zh", "(?:不要|(?<![特分个個区區])[別别]|不用|不需要|不必|勿|无需|無需)(?:帮我|幫我|再)?"),
)
"""Pack and pattern source of what, directly before a form, makes it a negated request (SPEC 4.4)."""

OPENERS = "(?:ok|okay|great|thanks|also|and|so|btw|by the way|hey|now|please)"
"""Words that may open the clause before a form (SPEC 4.2)."""

POINTERS = "(?:(?:this one|this|these|the following)(?!\\w)|这一点|這一點|这点|這點|这个|這個|这些|這些)"
"""Words that point at what follows; skipped only before a separator or the end of the line (SPEC 4.3)."""

PACKS: frozenset[str] = frozenset({form.pack for form in FORMS} | set(TRAILING))
"""All trigger packs that are shipped, by language (SPEC 4.3)."""
