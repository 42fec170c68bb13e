"""What damage does to a ledger of many events, and what a fold of it takes beside one of the whole ledger.

Each kind says which lines it makes unreadable, so that tests can hold the same ledgers against what they must mean.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.ledgers import write_ledger
from bench.measure import Samples, in_turn, median, ratio
from ledger.log import LOG_NAME, FileLog
from projections.protocol import fold
from projections.world import World
from replay.kept import KeptFacts, keep_all

__all__ = ["KINDS", "Damaged", "measure_damage"]

Damaged = tuple[bytes, frozenset[int]]
"""The bytes of a damaged log, and the indexes of the lines that are lost."""

_EVENTS = 1000
_EACH = 20  # one line in so many is hit
_SEQ = re.compile(rb'"seq":\d+')


def _hit(lines: Sequence[bytes]) -> frozenset[int]:
    """The lines that are hit: the same for each kind, never the first, which says whose ledger it is."""
    chance = random.Random(len(lines))
    return frozenset(chance.sample(range(1, len(lines)), len(lines) // _EACH))


def _each(change: Callable[[bytes], bytes], lines: Sequence[bytes], *, lost: bool) -> Damaged:
    hit = _hit(lines)
    content = b"".join(change(line) if index in hit else line for index, line in enumerate(lines))
    return content, hit if lost else frozenset()


def _flip(line: bytes) -> bytes:
    """A bit of the key that tells the type: no reader finds an event there any more."""
    return line.replace(b'"type"', b'"tyxe"', 1)


def _too_high(lines: Sequence[bytes]) -> Damaged:
    """One flipped bit in a digit makes nine tenths of the numbers behind it old ones."""
    index = len(lines) // 10
    high = _SEQ.sub(b'"seq":%d' % (len(lines) - 1), lines[index])
    return b"".join([*lines[:index], high, *lines[index + 1 :]]), frozenset()


def _merged(lines: Sequence[bytes]) -> Damaged:
    """Two writers went on from the same line, and a merge kept both, with its markers."""
    half, last = len(lines) // 2, len(lines)
    markers = (b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> other\n")
    middle = (half + last) // 2
    parts = (*lines[:half], markers[0], *lines[half:middle], markers[1], *lines[middle:last], markers[2])
    return b"".join(parts), frozenset()


KINDS: dict[str, Callable[[Sequence[bytes]], Damaged]] = {
    "flipped bits": lambda lines: _each(_flip, lines, lost=True),
    "torn lines": lambda lines: _each(lambda line: line[: len(line) // 2] + b"\n", lines, lost=True),
    "torn lines with a record glued on": lambda lines: _each(lambda line: line[: len(line) // 2], lines, lost=True),
    "glued records": lambda lines: _each(lambda line: line.rstrip(b"\n"), lines, lost=False),
    "NUL blocks": lambda lines: _each(lambda line: b"\0" * (len(line) - 1) + b"\n", lines, lost=True),
    "NUL blocks before records": lambda lines: _each(lambda line: b"\0" * 512 + line, lines, lost=False),
    "bytes that are no UTF-8": lambda lines: _each(
        lambda line: line.replace(b'"id":"', b'"id":"\xff', 1), lines, lost=True
    ),
    "lone surrogates": lambda lines: _each(lambda line: line.replace(b'"id":"', b'"id":"\\ud800', 1), lines, lost=True),
    "merge markers": lambda lines: _each(
        lambda line: b"<<<<<<< HEAD\n" + line + b"=======\n>>>>>>> other\n", lines, lost=False
    ),
    "two sides of a merge": _merged,
    "blank lines": lambda lines: _each(lambda line: b"\n \t\n" + line, lines, lost=False),
    "CRLF": lambda lines: (b"".join(lines).replace(b"\n", b"\r\n"), frozenset()),
    "a byte order mark": lambda lines: (b"\xef\xbb\xbf" + b"".join(lines), frozenset()),
    "byte order marks within": lambda lines: _each(lambda line: b"\xef\xbb\xbf" + line, lines, lost=False),
    "copies of lines": lambda lines: _each(lambda line: line + line, lines, lost=False),
    "a number too high": _too_high,
    "a torn tail": lambda lines: (b"".join(lines)[: -len(lines[-1]) // 2], frozenset({len(lines) - 1})),
}
"""Kind of damage → what it makes of the lines of a ledger."""


def measure_damage(folder: Path, rounds: int) -> None:
    """Measure and print."""
    session = write_ledger(folder / "whole", _EVENTS)
    lines = (folder / "whole" / LOG_NAME).read_bytes().splitlines(keepends=True)
    logs = {"whole": folder / "whole"}
    for number, (name, damage) in enumerate(KINDS.items()):
        logs[name] = folder / str(number)
        logs[name].mkdir()
        (logs[name] / LOG_NAME).write_bytes(damage(lines)[0])
    for place in logs.values():
        keep_all(str(place), FileLog.open(place).read())
    heads: Samples = in_turn({name: partial(_head, place, session) for name, place in logs.items()}, rounds)
    wholes: Samples = in_turn({name: partial(_whole, place) for name, place in logs.items()}, rounds)
    print(f"\n(h) a fold of {_EVENTS:,} events, 5 % of its lines damaged; CPU; baseline: the same ledger, undamaged")
    head, full = median(heads, "whole") * 1e3, median(wholes, "whole") * 1e3
    print(f"    baseline: head refold {head:.1f} ms, full fold {full:.1f} ms")
    for name in KINDS:
        print(f"    {name:34} head {_shown(heads, name)}, full {_shown(wholes, name)}")


def _shown(samples: Samples, name: str) -> str:
    return "{:.2f}x ({:.2f} to {:.2f})".format(*ratio(samples, name, "whole", share=0.5))


def _head(place: Path, session: str) -> None:
    fold(World({session}, KeptFacts(str(place))), FileLog.open(place).read())


def _whole(place: Path) -> None:
    fold(World(known=KeptFacts(str(place))), FileLog.open(place).read())
