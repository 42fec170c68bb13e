"""An aggregate of the ``eventsourcing`` library, on SQLite: filled once, then replayed for each line on stdin.

Arguments: the events as lines of JSON, the database, and ``again`` where it was filled before; then the aggregate is
replayed once in any case. Each answer tells the CPU seconds of one ``repository.get``,
and how many events the aggregate has seen. No snapshots and no cache, as is the default.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID

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


def _fill(application: Any, lines: str) -> UUID:
    history = History()
    with Path(lines).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            event_ = json.loads(line)
            history.take(event_["type"], event_["source"], event_["time"], event_["data"])
            if number % _BATCH == 0:
                application.save(history)
    application.save(history)
    return UUID(str(history.id))


def main() -> None:
    """Fill, then answer."""
    lines, database = sys.argv[1:3]
    environ = {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": database}
    application = Application[Any](env=environ)
    place = Path(f"{database}.id")
    if sys.argv[3:] == ["again"]:
        application.repository.get(UUID(place.read_text(encoding="ascii")))
    else:
        place.write_text(str(_fill(application, lines)), encoding="ascii")
    history = UUID(place.read_text(encoding="ascii"))
    for line in sys.stdin:
        gc.collect()
        begin = time.process_time()
        found = application.repository.get(history)
        seconds = time.process_time() - begin
        print(json.dumps({"id": json.loads(line)["id"], "seconds": seconds, "count": found.count}), flush=True)


if __name__ == "__main__":
    main()
