"""Which words of a text are paths, and the one form in which paths are compared (SPEC 8.3)."""

from __future__ import annotations

import re

from projections.text.characters import CLOSING_BRACKETS, OPENING_BRACKETS, QUOTES, SENTENCE_ENDS, word_set

__all__ = ["is_path", "normal_path", "path_words", "relative_to"]

_BEFORE = QUOTES + OPENING_BRACKETS
_AFTER = QUOTES + CLOSING_BRACKETS + SENTENCE_ENDS
_SLASHES = re.compile("/{2,}+")
_NO_PART_OF_A_PATH = re.compile(rf"(?:[{re.escape(_BEFORE)}]|\./)++")
_DRIVE = re.compile(r"[A-Za-z]:/")
_FILE_NAME = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}\Z")
_MIME_TREE = re.compile(
    r"(?:application|audio|font|image|message|model|multipart|text|video)/(?:vnd|prs|x)\.", re.IGNORECASE
)

_TOP_FOLDERS = word_set("src lib app apps packages test tests docs scripts bin cmd internal pkg config tools examples")
_BARE_EXTENSIONS = word_set("json jsonc ts tsx js jsx mjs cjs md yaml yml toml lock config py go rs sh sql")
_PRODUCTS = frozenset(
    name + ending
    for name in word_set(
        "node next nuxt vue react angular ember backbone express three d3 p5 chart discord moment alpine solid"
        " svelte electron nest socket"
    )
    for ending in (".js", ".io")
)


def is_path(word: str) -> bool:
    """Whether a word, with or without quotes and end punctuation, is a path (SPEC 8.3). Linear.

    Names with a slash such as CI/CD, TCP/IP, and/or, HTTP/2 and application/json meet no condition of a path;
    URLs and product names (Next.js) would, and are taken out.
    """
    if "/" not in word and "." not in word and "\\" not in word:
        return False  # most words: every condition below asks for one of these signs
    path = _bare(word)
    if not path or "://" in path or any(char.isspace() for char in path):
        return False
    if path.startswith(("./", "../", "~/")):
        return True
    segments = [segment for segment in path.split("/") if segment]
    if path.startswith("/"):
        return len(segments) >= 2
    if _DRIVE.match(path) and len(segments) > 2:
        return True
    if _MIME_TREE.match(path) or all(segment.lower() in _PRODUCTS for segment in segments):
        return False
    if "/" in path:
        return _is_relative_path(path, segments)
    stem, _, extension = path.rpartition(".")
    return bool(stem.strip(".")) and extension.lower() in _BARE_EXTENSIONS


def normal_path(word: str, root: str = "") -> str:
    """The form in which a path word is compared (SPEC 8.3): single slashes, no leading ``./`` or trailing ``/``.

    A path under the workspace root becomes relative to it. Case stays. Idempotent and linear.
    """
    path = relative_to(_SLASHES.sub("/", _bare(word)), root)
    if prefix := _NO_PART_OF_A_PATH.match(path):
        path = path[prefix.end() :]
    return path.rstrip(_AFTER + "/") or "."


def relative_to(path: str, root: str) -> str:
    """A path under the workspace root as seen from there, any other path as it is."""
    folder = root.rstrip("/") + "/"
    return path.removeprefix(folder) if folder not in ("/", path) else path


def path_words(text: str, root: str = "") -> tuple[str, ...]:
    """The paths among the words of a text, in order, in their normal form (SPEC 8.3). Linear."""
    return tuple(normal_path(word, root) for word in text.split() if is_path(word))


def _bare(word: str) -> str:
    """A word without quotes, brackets and end punctuation around it, and with ``/`` for a backslash."""
    return word.replace("\\", "/").lstrip(_BEFORE).rstrip(_AFTER)


def _is_relative_path(path: str, segments: list[str]) -> bool:
    return (
        path.endswith("/")
        or segments[0].startswith(".")
        or segments[0] in _TOP_FOLDERS
        or _FILE_NAME.search(segments[-1]) is not None
    )
