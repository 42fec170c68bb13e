"""An aggregate of the ``eventsourcing`` library, on SQLite: filled once, then replayed for each line on stdin.

Arguments: the events as lines of JSON, and the database. Each answer tells the CPU seconds of one ``repository.get``,
and how many events the aggregate has seen. No snapshots and no cache, as is the default.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from typing import Any

from eventsourcing.application import Application  # type: ignore[import-not-found]
from eventsourcing.domain import Aggregate, event  # type: ignore[import-not-found]

_BATCH = 500


class History(Aggregate):  # type: ignore[misc]
    """As little as an aggregate can make of its events: their number, and the last of each type."""

    @event("Begun")  # type: ignore[untyped-decorator]
    def __init__(self) -> None:
        self.count = 0
        self.last: dict[str, Any] = {}

    @event("Taken")  # type: ignore[untyped-decorator]
    def take(self, type: str, source: str, time: str, data: dict[str, Any]) -> None:  # noqa: A002
        """Take in one event."""
        self.count += 1
        self.last[type] = (source, time, data)


def main() -> None:
    """Fill, then answer."""
    lines, database = sys.argv[1:3]
    environ = {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": database}
    application = Application[Any](env=environ)
    history = History()
    with open(lines, encoding="utf-8") as file:  # noqa: PTH123
        for number, line in enumerate(file, 1):
            event_ = json.loads(line)
            history.take(event_["type"], event_["source"], event_["time"], event_["data"])
            if number % _BATCH == 0:
                application.save(history)
    application.save(history)
    for line in sys.stdin:
        gc.collect()
        begin = time.process_time()
        found = application.repository.get(history.id)
        seconds = time.process_time() - begin
        print(json.dumps({"id": json.loads(line)["id"], "seconds": seconds, "count": found.count}), flush=True)


if __name__ == "__main__":
    main()
