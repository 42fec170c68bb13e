"""The form in which texts are compared, and the keys made from it (SPEC 8.1, 8.2)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from projections.text.characters import APOSTROPHES, QUOTES
from projections.text.paths import is_path, normal_path

__all__ = ["bare", "canonical", "exact_key", "text_key"]

_INNER_APOSTROPHE = re.compile(rf"(?<=[^\W_])[{APOSTROPHES}](?=[^\W_])")
_TO_SPACES = str.maketrans(dict.fromkeys(QUOTES, " "))
_LEADING_SIGNS = ".@#/~-"


@lru_cache(maxsize=64)  # one candidate asks for it several times over: for its keys, its type, its repetitions
def canonical(text: str, root: str = "") -> str:
    """A text reduced to what makes it differ from another (SPEC 8.1).

    Args:
        text: a text in stored form.
        root: the workspace root, to which paths below it become relative.

    Returns:
        Lower-case words joined by single spaces. Idempotent and linear; equal in every Python version for
        characters that Unicode 14 knows.
    """
    folded_root = _fold(root)
    words: list[str] = []
    for word in _fold(text).split():
        if word.isalnum():  # most words: they hold no sign of a path and none to take off
            words.append(word)
            continue
        # Once before the word is taken apart, as a root may hold any character, and once for its parts.
        words += (_as_path(piece, folded_root) for piece in _pieces(_as_path(word, folded_root)))
    return " ".join(words)


def bare(text: str) -> str:
    """A text as it is written, without the punctuation and quotes at its ends, which its canonical form hasn't either.

    Signs that belong to its first or last word stay: ``.env``, ``C#``. Linear.
    """
    end = len(text)
    while end > 0 and _says_nothing(text[end - 1]):
        end -= 1
    start = next((i for i in range(end) if not _says_nothing(text[i])), end)
    return _leading_signs(text, start) + text[start : _with_sign(text, end)]


def exact_key(type_: str, text: str, root: str = "") -> str:
    """``type:canonical``; equal for exact duplicates (SPEC 8.2)."""
    return f"{type_}:{canonical(text, root)}"


def text_key(text: str, root: str = "") -> str:
    """The canonical text without a type, for tombstones and echoes across types (SPEC 8.2)."""
    return canonical(text, root)


def _fold(text: str) -> str:
    """Compatibility forms, case and quotes evened out.

    Lower case and a dropped apostrophe can make characters composable that were not, so the normal form is
    taken again after each.
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    return unicodedata.normalize("NFKC", _INNER_APOSTROPHE.sub("", text).translate(_TO_SPACES))


def _as_path(word: str, root: str) -> str:
    return normal_path(word, root) if is_path(word) else word


def _pieces(word: str) -> Iterator[str]:
    """Strip punctuation from both ends of a word and part it where punctuation inside does not join ASCII."""
    start, end = _start(word), _end(word)
    piece, word = _leading_signs(word, start), word[start:end]
    at = 0
    for punctuation, group in groupby(word, _is_punctuation):
        run = "".join(group)
        end = at + len(run)
        if punctuation and end < len(word) and not (_is_ascii_alnum(word[at - 1]) and _is_ascii_alnum(word[end])):
            yield piece
            piece = ""
        else:
            piece += run
        at = end
    if piece:
        yield piece


def _start(word: str) -> int:
    """Where a word begins, its leading signs aside."""
    first = next((i for i, char in enumerate(word) if char != "~" and not _is_punctuation(char)), len(word))
    if first < len(word) and _is_ascii_alnum(word[first]):
        return first
    return next((i for i, char in enumerate(word) if not _is_punctuation(char)), len(word))


def _leading_signs(word: str, start: int) -> str:
    """``.env``, ``@scope``, ``#260``, ``/api``, ``~/x`` and ``--flag`` keep their signs; other words have none."""
    if not (start < len(word) and _is_ascii_alnum(word[start])):
        return ""
    return word[len(word[:start].rstrip(_LEADING_SIGNS)) : start]


def _end(word: str) -> int:
    """Where a word ends: ``C#`` and ``85%`` keep their sign."""
    end = len(word)
    while end > 0 and _is_punctuation(word[end - 1]):
        end -= 1
    return _with_sign(word, end)


def _with_sign(text: str, end: int) -> int:
    """Behind the sign that belongs to the word before it."""
    if 0 < end < len(text):
        last, sign = text[end - 1], text[end]
        if (sign == "#" and last.isascii() and last.isalpha()) or (sign == "%" and last.isdecimal()):
            return end + 1
    return end


def _says_nothing(char: str) -> bool:
    return char.isspace() or char in QUOTES or _is_punctuation(char)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char)[0] == "P"


def _is_ascii_alnum(char: str) -> bool:
    return char.isascii() and char.isalnum()
