# ruff: noqa: PTH105, PTH110, PTH123 - pathlib costs more at start-up than the rest
"""A hook that keeps its entries in a JSON file: read all, add one, write all beside it, put it in place.

Without a lock and without a sync, as plugins of this kind are; two at once lose an entry.
"""

import json
import os
import sys

_ENTRIES = 200


def main() -> None:
    """Take the event on stdin into the file that the first argument names."""
    event = json.load(sys.stdin)
    store = sys.argv[1]
    entries = []
    if os.path.exists(store):
        with open(store, encoding="utf-8") as file:
            entries = json.load(file)
    data = event["data"]
    entries.append({"session": event["session"], "tool": data["tool"], "args": data["args"], "exit": data.get("exit")})
    beside = f"{store}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8") as file:
        file.write(json.dumps(entries[-_ENTRIES:]))  # the fast encoder: no indentation
    os.replace(beside, store)


if __name__ == "__main__":
    main()
