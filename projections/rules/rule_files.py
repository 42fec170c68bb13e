"""What instruction files say, as digests of their canonical lines and sentences (SPEC 3.6)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from projections.policy import Context
from projections.rules.triggers import sentence_end, skip_spaces
from projections.rules.zones import LIST_MARKER
from projections.text.canonical import canonical
from projections.text.intake import take_in, take_in_block
from projections.text.limits import TEXT_LIMIT

__all__ = ["digest_of", "rule_digests_of"]

_DIGEST_LENGTH = 16
_LEAD = re.compile(rf"\s*(?:{LIST_MARKER}|#{{1,6}}\s+|>\s*)?")


def rule_digests_of(text: str, context: Context) -> tuple[str, ...]:
    """The distinct digests of an instruction file, in its order: lines, and sentences of wrapped paragraphs.

    Each is taken in like the text of a candidate, so that equal words have equal digests. O(length).
    """
    block = take_in_block(text, context.policy).text
    digests: dict[str, None] = {}
    for statement in _statements(block):
        words = canonical(take_in(statement, context.policy, TEXT_LIMIT).text, context.root)
        if words:
            digests[_digest(words)] = None
    return tuple(digests)


def digest_of(text: str, context: Context) -> str:
    """The digest of one text: the first 16 hex digits of SHA-256 of its canonical form (SPEC 8.1)."""
    return _digest(canonical(text, context.root))


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()[:_DIGEST_LENGTH]


def _statements(text: str) -> Iterator[str]:
    """Every line without its list or heading mark, then every sentence of the paragraphs that lines make up."""
    paragraph: list[str] = []
    for line in [*text.split("\n"), ""]:
        lead = _LEAD.match(line)
        words = line[lead.end() if lead else 0 :].strip()
        if not words or (lead and lead.group().strip()):
            yield from _sentences(" ".join(paragraph))
            paragraph = []
        if words:
            yield words
            paragraph.append(words)


def _sentences(paragraph: str) -> Iterator[str]:
    position = 0
    while position < len(paragraph):
        end = sentence_end(paragraph, position)
        yield paragraph[position:end]
        position = skip_spaces(paragraph, end)
