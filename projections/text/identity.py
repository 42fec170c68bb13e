"""When two texts state the same fact (SPEC 8.4, 8.5, 9.1)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from projections.text.canonical import canonical, exact_key
from projections.text.characters import PAIRED_QUOTES, QUOTES, word_set
from projections.text.paths import is_path, normal_path

__all__ = ["Sameness", "fact_key", "identity_key", "same_identity"]

Sameness = Literal["absorbed_exact", "absorbed_identity"]
"""Why one text is absorbed by another (SPEC 9.1)."""

_TYPES_WITH_IDENTITY = frozenset({"project", "reference"})

_URL = re.compile(rf"https?://[^\s{re.escape(QUOTES)}<>，。、；]++", re.IGNORECASE)
_URL_ENDS = "),.;:!?"

# A single quote counts only where a word can begin and end, else every apostrophe would. No body holds the sign
# that opens it, so that unclosed ones are not read again and again.
_QUOTED_WORD = re.compile(
    "|".join(
        (
            r"`([^`\s]++)`",
            r"\"([^\"\s]++)\"",
            r"(?<!\w)'([^'\s]++)'(?!\w)",
            *(rf"{opening}([^{opening}{closing}\s]++){closing}" for opening, closing in PAIRED_QUOTES),
        )
    )
)
_WORD = re.compile(r"\S+")

_STOP_WORDS = word_set(
    "a an the is are was were be in at on of to for from under see this that it its and or by with as our we"
)
_PROTECTED_WORDS = word_set(
    "not no never none without dont only except"
    # SPEC names "dont" for "do not"; the other contractions deny as much, and two rules must stay two.
    " cannot cant isnt arent wasnt werent doesnt didnt wont shouldnt mustnt neednt hasnt havent couldnt wouldnt"
)
_PROTECTED_SIGNS = frozenset("不非無无")


class _Anchor(NamedTuple):
    """The URL or path that identifies a text: its kind, its normal form, and where it stands."""

    kind: str
    name: str
    start: int
    end: int


def identity_key(type_: str, text: str, root: str = "") -> str:
    """The key by which facts about one thing find each other (SPEC 8.4).

    Args:
        type_: the memory type; only ``project`` and ``reference`` have more than their exact key.
        text: a text in stored form.
        root: the workspace root, to which paths below it become relative.

    Returns:
        ``type:url:<url>``, ``type:path:<path>``, or the exact key. Linear in the length of the text.
    """
    anchor = _anchor(type_, text, root)
    return f"{type_}:{anchor.kind}:{anchor.name}" if anchor else exact_key(type_, text, root)


def same_identity(type_: str, a: str, b: str, root: str = "") -> Sameness | None:
    """Whether two texts of one type are the same: exactly, by identity (SPEC 8.5), or not. Symmetric; linear."""
    first, second = _statement(type_, a, root), _statement(type_, b, root)
    if first.canonical == second.canonical:
        return "absorbed_exact"
    if first.anchor is None or first.anchor != second.anchor or first.protected != second.protected:
        return None
    agree = first.words <= second.words or second.words <= first.words
    return "absorbed_identity" if agree else None


def fact_key(type_: str, text: str, root: str = "") -> str:
    """Names what a text says of the URL or path that identifies it; empty where only its words do. Linear.

    Equal for texts that say the same with other stop words or in another order.
    """
    stated = _statement(type_, text, root)
    if stated.anchor is None:
        return ""
    return "\0".join((type_, *stated.anchor, *sorted(stated.words)))


class _Statement(NamedTuple):
    """A text as it is compared: what identifies it, and what it says of that."""

    canonical: str
    anchor: tuple[str, str] | None
    words: frozenset[str]
    protected: frozenset[str]


@lru_cache(maxsize=4096)
def _statement(type_: str, text: str, root: str) -> _Statement:
    # Kept, since a new fact about a file is compared with every fact about it.
    anchor = _anchor(type_, text, root)
    if anchor is None:
        return _Statement(canonical(text, root), None, frozenset(), frozenset())
    words = _remaining_words(text, anchor, root)
    return _Statement(canonical(text, root), (anchor.kind, anchor.name), words, _protected(words))


def _anchor(type_: str, text: str, root: str) -> _Anchor | None:
    """The first URL, else the first quoted path, else the first path word."""
    if type_ not in _TYPES_WITH_IDENTITY:
        return None
    if url := _URL.search(text):
        return _Anchor("url", _normal_url(url.group()), *url.span())
    for quoted in _QUOTED_WORD.finditer(text):
        word = quoted[quoted.lastindex or 0]
        if is_path(word):
            return _Anchor("path", normal_path(word, root), *quoted.span())
    for match in _WORD.finditer(text):
        if is_path(match.group()):
            return _Anchor("path", normal_path(match.group(), root), *match.span())
    return None


def _normal_url(url: str) -> str:
    """Scheme and host in lower case, no fragment, no trailing slashes but the root's; query and path keep case."""
    scheme, _, rest = url.rstrip(_URL_ENDS).partition("#")[0].partition("://")
    resource, mark, query = rest.partition("?")
    host, slash, path = resource.partition("/")
    user, at, name = host.rpartition("@")
    path = (slash + path).rstrip("/") or slash
    return f"{scheme.lower()}://{user}{at}{name.lower()}{path}{mark}{query}"


def _remaining_words(text: str, anchor: _Anchor, root: str) -> frozenset[str]:
    """Canonical words without stop words and without the URL or path, however often it is named."""
    rest = canonical(f"{text[: anchor.start]} {text[anchor.end :]}", root).split()
    return frozenset(rest) - _STOP_WORDS - {canonical(anchor.name, root)}


def _protected(words: frozenset[str]) -> frozenset[str]:
    """Words that turn or number a statement: they must be the same in both."""
    return frozenset(
        word
        for word in words
        if word in _PROTECTED_WORDS or not _PROTECTED_SIGNS.isdisjoint(word) or any(map(str.isdigit, word))
    )
