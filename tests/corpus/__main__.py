"""``python -m tests.corpus``: precision and recall of redaction; with ``--entries``, what is written of each secret.

``--wrong`` prints the texts behind the figures.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.corpus.entries import ENTRIES
from tests.corpus.innocents import innocents
from tests.corpus.project import leaking, sent, written
from tests.corpus.score import GOAL, score, shown
from tests.corpus.secrets import one_of_each_form, secrets


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
    """Send one text of each form through every entry; how many secrets were written."""
    used = list(one_of_each_form())
    total = 0
    print("\n| entry | secrets | bytes written | secrets in them |\n|---|--:|--:|--:|")
    for name, entry in ENTRIES.items():
        with tempfile.TemporaryDirectory() as folder, sent(entry, [one.text for one in used], Path(folder)) as project:
            files = written(project)
        found = leaking(used, files)
        leaks = len({secret for secret, _, _ in found})
        total += leaks
        size = sum(len(text.encode()) for text in files.values())
        print(f"| {name} | {len(used)} | {size:,} | {leaks} |", flush=True)
        for secret, file, piece in found[:3]:
            print(f"    {secret.kind}: {piece!r} of {secret.text[-120:]!r} in {file}", file=sys.stderr)
    return total


if __name__ == "__main__":
    sys.exit(main())
