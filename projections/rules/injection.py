"""Finds a text that tells the model to set its instructions aside, in four languages (SPEC 6.4)."""

from __future__ import annotations

import re

from projections.text.views import Span, as_seen

__all__ = ["find_injection"]

_VERB = (
    "ignor(?:es?|ing)|disregard(?:s|ing)?|forget(?:s|ting)?|overwrit(?:es?|ing)|overrid(?:es?|ing)|bypass(?:es|ing)?"
)
_BETWEEN = (
    "all|any|the|your|my|these|those|every|of|previous|prior|earlier|above|preceding|other|existing|current|system"
    "|safety|security"
)
_NOUN = "instructions?|prompts?|rules?|guidelines?|guidance|directives?|constraints?"
# Emphasis and punctuation are no words: what stands between two of these words is read as space. A sentence end parts
# them, and so does what makes a path or a name of them; a name with a hyphen counts if it has more than two words.
_MARKS = r"\s,:;*~`\"'“”‘’()\[\]–—"
_GAP = rf"(?:[{_MARKS}]|_(?![A-Za-z0-9])|(?<![A-Za-z0-9])_(?=[A-Za-z0-9])){{1,6}}"
_HYPHENS = rf"(?:{_GAP}|-)"
_ENGLISH = re.compile(
    rf"(?<![A-Za-z0-9])(?<![A-Za-z0-9]_)(?:{_VERB})"
    rf"(?:(?:{_HYPHENS}(?:{_BETWEEN})){{1,4}}{_HYPHENS}|{_GAP})(?:{_NOUN})(?![A-Za-z0-9])(?!_[A-Za-z0-9])",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    rf"(?<![A-Za-z0-9_])(?:never|do\s{{1,4}}not|don['’]?t|must\s{{1,4}}not|should\s{{1,4}}not|cannot|without){_HYPHENS}\Z",
    re.IGNORECASE,
)
_NEGATION_REACH = 24

# A negation directly at the verb makes it a rule against ignoring rules, as in English.
_CHINESE = re.compile(
    r"(?<![不勿])(?<!不[要得能可会會应應])(?<!禁止)(?:(?<![別别])|(?<=[特分個个][別别]))"
    r"(?:忽略|無視|无视|忘記|忘记|覆蓋|覆盖).{0,12}?(?:指示|指令|規則|规则|提示詞|提示词)"
)
_JAPANESE_VERB = r"(?:(?:無視|上書き)(?!し(?:ない|ては|ません))|忘れ(?!ない|ません|ては))"
_JAPANESE_NOUN = "(?:指示|命令|ルール|プロンプト)"
_KOREAN_VERB = "(?:무시(?!하지)|잊어(?!서는))"
_KOREAN_NOUN = "(?:지시|명령|규칙|프롬프트)"
_EITHER_ORDER = re.compile(
    "|".join(
        f"{first}.{{0,12}}?{second}"
        for verb, noun in ((_JAPANESE_VERB, _JAPANESE_NOUN), (_KOREAN_VERB, _KOREAN_NOUN))
        for first, second in ((verb, noun), (noun, verb))
    )
)


def find_injection(text: str) -> tuple[int, int] | None:
    """The span of the first instruction-overriding phrase, or None; O(length).

    The text is read as it is seen: characters that nobody sees and styled letters hide nothing.
    """
    seen = as_seen(text)
    found = _first(seen.text)
    return None if found is None else seen.origin(Span(*found))


def _first(text: str) -> tuple[int, int] | None:
    for match in _ENGLISH.finditer(text):
        before = text[max(0, match.start() - _NEGATION_REACH) : match.start()]
        if not _NEGATED.search(before):
            return match.span()
    found = _CHINESE.search(text) or _EITHER_ORDER.search(text)
    return found.span() if found else None
