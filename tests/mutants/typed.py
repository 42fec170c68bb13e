"""Mutants that mypy refuses: ``make test`` types the code before it runs it, so these are dead before any test."""

from __future__ import annotations

import json
import subprocess
import sys
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING

from mutmut.mutation.data import MutantLineSpans, SourceFileMutationData
from mutmut.utils.format_utils import get_mutant_name

if TYPE_CHECKING:
    from pathlib import Path

CAUGHT = 37
"""mutmut's code for "caught by type check"."""

_OF_THE_COPY = {"unused-ignore", "ignore-without-code", "no-redef", "name-defined", "valid-type", "no-untyped-def"}
"""What mypy says of the way mutants are written down, not of what they do."""


def refuse(place: Path) -> int:
    """Mark each mutant that mypy refuses and its original doesn't; how many."""
    command = [sys.executable, "-m", "mypy", "--output", "json", "-p", "ledger", "-p", "projections"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1}:
        raise SystemExit(f"mypy ended with {done.returncode}: {done.stderr.strip()[:2000]}")
    complaints: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in done.stdout.splitlines():
        told = json.loads(line)
        if told["severity"] == "error" and told["code"] not in _OF_THE_COPY:
            complaints[told["file"]].append((told["line"], told["message"]))
    return sum(_mark(place, path, told) for path, told in complaints.items())


def _mark(place: Path, path: str, told: list[tuple[int, str]]) -> int:
    source = (place / path).relative_to(place)
    data, spans = SourceFileMutationData(path=source), MutantLineSpans.load(source)
    data.load()
    if spans is None or not data.exit_code_by_key:
        return 0
    ordered = sorted((span.start, span.end, name) for name, span in spans.span_by_function_name.items())
    found: dict[str, str] = {}
    for line, message in told:
        place_of = bisect_right(ordered, (line, 1 << 60, "")) - 1
        if place_of >= 0 and line <= ordered[place_of][1]:
            found.setdefault(ordered[place_of][2], message)
    marked = 0
    for function, message in found.items():
        name = get_mutant_name(source, function)
        original = f"{function.partition('__mutmut_')[0]}__mutmut_orig"
        if name in data.exit_code_by_key and found.get(original) != message:
            data.exit_code_by_key[name] = CAUGHT
            data.type_check_error_by_key[name] = message
            marked += 1
    data.save()
    return marked
