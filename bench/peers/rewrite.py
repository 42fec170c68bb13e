"""A hook that keeps its entries in a JSON file: read all, add one, write all beside it, put it in place.

Without a lock and without a sync, as plugins of this kind are; two at once lose an entry.
"""

import json
import os
import sys
from pathlib import Path

_ENTRIES = 200


def main() -> None:
    """Take the event on stdin into the file that the first argument names."""
    event = json.load(sys.stdin)
    store = Path(sys.argv[1])
    entries = json.loads(store.read_text(encoding="utf-8")) if store.exists() else []
    data = event["data"]
    entries.append({"session": event["session"], "tool": data["tool"], "args": data["args"], "exit": data.get("exit")})
    beside = store.with_name(f"{store.name}.{os.getpid()}")
    beside.write_text(json.dumps(entries[-_ENTRIES:], indent=2), encoding="utf-8")
    beside.replace(store)


if __name__ == "__main__":
    main()
