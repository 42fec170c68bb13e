"""Numbers and times in words, the same in every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.times import DAY_MS, HOUR_MS

if TYPE_CHECKING:
    from replay.wording import Wording

__all__ = ["WHEN_DECIDED", "age", "marked", "of_the_last", "plural", "tokens", "wording_words"]

WHEN_DECIDED = "when the next session starts or the asking one is compacted"
"""When what is pending becomes a memory or is refused (SPEC 14.2, 14.3)."""

_CHARS_PER_TOKEN = 4
_MINUTE_MS = 60_000


def tokens(characters: int) -> int:
    """Estimated tokens of a text: a quarter of its characters, rounded up."""
    return -(-characters // _CHARS_PER_TOKEN)


def plural(number: int, noun: str, many: str = "") -> str:
    """``1 event``, ``2 events``; ``many`` where the plural isn't the noun with an s."""
    return f"{number:,} {noun if number == 1 else many or f'{noun}s'}"


def of_the_last(looked: int, sessions: int) -> str:
    """`` of the last 10 of 25 sessions``; empty where all of them were looked at."""
    return f" of the last {looked:,} of {sessions:,} sessions" if looked < sessions else ""


def age(ms: int) -> str:
    """A span of time in its largest whole unit: ``10 days``, ``3 hours``, ``5 minutes``, ``0 minutes``."""
    for unit, noun in ((DAY_MS, "day"), (HOUR_MS, "hour")):
        if ms >= unit:
            return plural(ms // unit, noun)
    return plural(max(0, ms) // _MINUTE_MS, "minute")


def wording_words(wording: Wording | None) -> str:
    """Whose words a memory shows: ``from #17 (absorbed), since #19; first: …``; empty for its own."""
    if wording is None:
        return ""
    changed = f"changed {wording.changed}"
    origin = changed if wording.offset is None else f"from #{wording.offset} ({wording.state}), since #{wording.since}"
    return f"{origin}; first: {wording.first}"


def marked(text: str, words: list[str]) -> list[tuple[str, bool]]:
    """Cut a text into runs, each with whether it stands inside one of the words (their first occurrence)."""
    marks = bytearray(len(text))
    for word in words:
        at = text.find(word) if word else -1
        if at >= 0:
            marks[at : at + len(word)] = b"\1" * len(word)
    runs: list[tuple[str, bool]] = []
    begin = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or marks[end] != marks[begin]:
            runs.append((text[begin:end], bool(marks[begin])))
            begin = end
    return runs
