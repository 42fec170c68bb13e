"""``python -m tests.corpus``: precision and recall of redaction; with ``--entries``, what is written of each secret.

``--wrong`` prints the texts behind the figures.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.corpus.entries import ENTRIES
from tests.corpus.innocents import innocents
from tests.corpus.score import GOAL, score, shown
from tests.corpus.secrets import secrets
from tests.corpus.table import row_of


def main() -> int:
    """Print the tables; 1 if a goal is missed or a secret was written."""
    found = score(secrets(), innocents())
    print(shown(found))
    if "--wrong" in sys.argv[1:]:
        for rows in (found.secrets, found.innocents, found.other_secrets, found.other_innocents):
            for row in rows:
                for text in row.wrong:
                    print(f"\n{row.kind}: {text[-200:]!r}")
    leaks = _print_entries() if "--entries" in sys.argv[1:] else 0
    return 0 if min(found.precision, found.recall) >= GOAL and not leaks else 1


def _print_entries() -> int:
    """Send one text of each form through every entry, each in a process of its own; how many secrets were written."""
    total = 0
    print("\n| entry | secrets | bytes written | secrets in them |\n|---|--:|--:|--:|")
    # Started anew rather than forked: each sets its environment and goes to a folder of its own.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for row in pool.map(row_of, ENTRIES):
            print(f"| {row.name} | {row.texts} | {row.size:,} | {row.leaks} |", flush=True)
            for leak in row.shown:
                print(f"    {leak}", file=sys.stderr)
            total += row.leaks
    return total


if __name__ == "__main__":
    sys.exit(main())
