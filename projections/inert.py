"""Make rendered text inert: no tag or marker, and no line of it, can be taken for ours or a host's (SPEC 11.3)."""

from __future__ import annotations

import re
from functools import lru_cache

from projections.headers import HOST_ELEMENTS
from projections.text.clean import clean, single_line
from projections.text.lazily import lazily
from projections.text.plain import is_plain

__all__ = ["inert", "inert_content", "inert_line", "inert_quote"]

_SHOWN = "\u2039"
_STRAIGHT = str.maketrans("“”", '""')
_TAGS = (
    *HOST_ELEMENTS,
    "system",
    "assistant",
    "user",
    "tool",
    "function",
    "instructions",
    "workspace_memory_candidates",
    "private",
    "start_of_turn",
    "end_of_turn",
)
# Names may go on with letters (`<userId>` is a generic, no tag), so a name has to end where the match ends. The others
# are the control words of chat templates, which a server for local models may read wherever they stand.
_MARKER = lazily(
    rf"<(?=/?(?:{'|'.join(_TAGS)})(?![\w-])|\|[^\s|<>]{{1,40}}\|>|</?SYS>>)|\[(?=/?(?-i:INST)\])",
    re.IGNORECASE | re.ASCII,
)


def inert(text: str) -> str:
    """The text as a prompt may show it: the bracket before a reserved name becomes ``‹`` (U+2039).

    Names count in any case, opening or closing, with or without attributes, and as they are seen: styled letters and
    characters that nobody sees hide none. Other brackets stay, and so does the length. Idempotent; linear in the
    length (SPEC 11.3).
    """
    if "<" not in text and "[" not in text and is_plain(text):
        return text
    from projections.text.views import Span, as_seen, splice

    seen = as_seen(text)
    found = [seen.origin(Span(*match.span())).start for match in _MARKER().finditer(seen.text)]
    return splice(text, (Span(start, start + 1) for start in found), _SHOWN) if found else text


@lru_cache(maxsize=256)
def inert_line(text: str) -> str:
    """The text as one line of a block, whatever a foreign writer has left in the log: no control, no line break."""
    return inert(single_line(clean(text).text))


def inert_quote(text: str) -> str:
    """The text as one line that stands between “ and ”: no mark in it ends that quotation."""
    return inert_line(text).translate(_STRAIGHT)


def inert_content(text: str) -> str:
    """A text of many lines as a quotation: each begins with ``>``, so that none can be taken for a line of ours.

    Rules read no quoted line, in a message or in a summary (SPEC 4.1, 5.1): what a model repeats proposes nothing.
    """
    return "\n".join(f"> {line}".rstrip() for line in inert(clean(text).text).splitlines())
