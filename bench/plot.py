"""``python -m bench.plot``: a picture of what ``python -m bench growth`` measured, the same bytes for the same data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import msgspec

from bench.growth import DATA, Growth, Line

__all__ = ["DRAWN", "KEPT", "picture"]

DRAWN = Path(__file__).parents[1] / "docs" / "explanation" / "growth.svg"
KEPT = DRAWN.with_suffix(".json")
"""The data that the picture was drawn from."""

_WIDTH, _HEIGHT = 980, 400
_TOP, _BOTTOM, _PANEL = 64, 340, 270
_COLOURS = {
    "memfold": "#0b62a4",
    "memfold, nothing kept": "#6aaed6",
    "memfold, one session": "#0b62a4",
    "memfold, all sessions": "#6aaed6",
    "eventsourcing": "#b3541e",
    "server-memory": "#6b6b6b",
}
_APART = 15.0
"""Pixels between two names, at least."""


class _Panel(NamedTuple):
    """Where a panel stands, and what its axes show, as powers of ten."""

    left: float
    first: int
    last: int
    low: float
    high: float

    def x(self, size: float) -> float:
        """The place of a size."""
        return self.left + _PANEL * (math.log10(size) - self.first) / max(1, self.last - self.first)

    def y(self, value: float) -> float:
        """The place of a ratio."""
        return _BOTTOM - (_BOTTOM - _TOP) * (math.log10(value) - self.low) / (self.high - self.low)


def picture(found: Growth) -> str:
    """The picture as SVG: both axes of both panels are logarithmic; bars are the middle half of rounds.

    Args:
        found: what was measured.
    """
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12" fill="#222222">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        *_panel(55, "Session start, beside python with msgspec (less is better)", found.start),
        *_panel(555, "Events a second, beside decoding alone (more is better)", found.rate),
        _text(_WIDTH / 2, _HEIGHT - 8, found.machine, 'text-anchor="middle" font-size="10" fill="#666666"'),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _panel(left: float, title: str, lines: Mapping[str, Line]) -> list[str]:
    sizes = sorted({size for line in lines.values() for size in line.points})
    values = [value for line in lines.values() for point in line.points.values() for value in point]
    panel = _Panel(
        left,
        round(math.log10(sizes[0])),
        round(math.log10(sizes[-1])),
        math.floor(math.log10(min(values))),
        math.ceil(math.log10(max(values))),
    )
    parts = [_text(left, _TOP - 26, title, 'font-size="13" font-weight="bold"')]
    marks = [digit * 10.0**power for power in range(int(panel.low), int(panel.high) + 1) for digit in (1, 2, 5)]
    for value in marks[:-2]:
        y = panel.y(value)
        parts += [_stroke(left, y, left + _PANEL, y, "#dddddd"), _text(left - 6, y + 4, f"{value:g}", _END)]
    for size in sizes:
        x = panel.x(size)
        parts += [_stroke(x, _BOTTOM, x, _BOTTOM + 4, "#222222"), _text(x, _BOTTOM + 18, f"{size:,}", _MIDDLE)]
    parts += [
        _stroke(left, _BOTTOM, left + _PANEL, _BOTTOM, "#222222"),
        _text(left + _PANEL / 2, _BOTTOM + 34, "events in the ledger", _MIDDLE),
    ]
    for name, line in lines.items():
        parts += _line(panel, line, _COLOURS[name])
    return parts + _names(panel, lines)


def _line(panel: _Panel, line: Line, colour: str) -> list[str]:
    points = sorted(line.points.items())
    path = " ".join(f"{panel.x(size):.1f},{panel.y(middle):.1f}" for size, (middle, _, _) in points)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
    for size, (middle, low, high) in points:
        x = panel.x(size)
        parts.append(_stroke(x, panel.y(low), x, panel.y(high), colour))
        parts.append(f'<circle cx="{x:.1f}" cy="{panel.y(middle):.1f}" r="3" fill="{colour}"/>')
    return parts


def _names(panel: _Panel, lines: Mapping[str, Line]) -> list[str]:
    """Each name at the end of its line, or below it where another one stands there."""
    ends = {name: max(line.points.items()) for name, line in lines.items()}
    parts: list[str] = []
    lowest = -_APART
    for name, (size, (middle, _, _)) in sorted(ends.items(), key=lambda pair: panel.y(pair[1][1][0])):
        y = max(panel.y(middle), lowest + _APART)
        lowest = y
        short = "" if size == 10**panel.last else f" (to {_power(size)})"
        parts.append(_text(panel.left + _PANEL + 10, y + 4, name + short, f'fill="{_COLOURS[name]}"'))
    return parts


def _power(size: int) -> str:
    return "10" + str(round(math.log10(size))).translate(_RAISED)


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_END, _MIDDLE = 'text-anchor="end"', 'text-anchor="middle"'


def _text(x: float, y: float, text: str, attributes: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escape(text)}</text>'


def _stroke(x: float, y: float, to_x: float, to_y: float, colour: str) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}"/>'


def main() -> None:
    """Draw what was measured last, and keep its data beside the picture; without a new one the kept data."""
    data = (DATA if DATA.exists() else KEPT).read_bytes()
    KEPT.write_bytes(data)
    DRAWN.write_text(picture(msgspec.json.decode(data, type=Growth)), encoding="utf-8")
    print(DRAWN)


if __name__ == "__main__":
    main()
