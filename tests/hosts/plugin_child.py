"""A stand-in for ``memfold bridge``: ``plugin_child.py LOG MODE...``, one mode for each time it is started.

It writes to LOG, one JSON object a line, how it was started and every line it gets. The last mode is also that of all
later starts:

* ``well``: answers everything.
* ``after N MODE``: answers N lines well, then MODE.
* ``dies``: exits instead of answering.
* ``garbage``, ``stranger``, ``endless``: writes no JSON, an id it was never given, a line that has no end.
* ``mute``: reads and never answers.
* ``deaf``: doesn't even read.
* ``bare``: answers, but has nothing to say.
* ``lingers``: answers everything, and has still something to do when its input ends.

A call of a tool is answered with the variable ``RESULT`` (JSON), if it is set. A line that asks for tools is answered
with those of the variable ``OFFERED`` (JSON), if that is set, and then logged;
without it the line is answered, too, and neither logged nor counted: most tests aren't about tools.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

SAYS: dict[str, dict[str, object]] = {
    "chat.message": {"part": "<hot>"},
    "experimental.chat.system.transform": {"system": ["<frozen>", 7]},
    "experimental.session.compacting": {"context": ["<keep>"]},
}
WORDS: dict[str, dict[str, object]] = {
    "Remember": {"part": "<hot>", "notice": "<noted>"},
    "off the record": {"private": True},
}
"""Answers to messages that begin so."""
NONSENSE = {"garbage": "this is no JSON\n", "stranger": '{"id": 999999}\n', "endless": "x" * (5 << 20)}


def said_to(record: dict[str, Any]) -> dict[str, object]:
    """What is said to a line."""
    if record["hook"] == "tools" and "OFFERED" in os.environ:
        return {"tools": json.loads(os.environ["OFFERED"])}
    if record["hook"] == "tool":
        return json.loads(os.environ.get("RESULT", "null")) or {"result": f"<result of {record['input']['tool']}>"}
    text = record["output"]["parts"][0]["text"] if record["hook"] == "chat.message" else ""
    return next((said for word, said in WORDS.items() if text.startswith(word)), SAYS.get(record["hook"], {}))


def main() -> None:
    """Answer until the end of the input, or as the mode says."""
    log, modes = Path(sys.argv[1]), sys.argv[2:]
    starts = log.read_text().count('"started"') if log.exists() else 0
    mode = modes[min(starts, len(modes) - 1)]
    with log.open("a", buffering=1) as out:
        environ = {name: value for name, value in os.environ.items() if name.startswith(("MEMFOLD", "PYTHON"))}
        print(json.dumps({"started": os.getpid(), "cwd": str(Path.cwd()), "environ": environ}), file=out)
        while mode == "deaf":
            time.sleep(1)
        count = -1
        for line in sys.stdin:
            record = json.loads(line)
            is_asked = record["hook"] == "tools" and "OFFERED" not in os.environ
            if not is_asked:
                count += 1
                out.write(line)
            words = mode.split()
            now = words[0] if words[0] != "after" else ("well" if count < int(words[1]) else words[2])
            if is_asked and now in {"dies", *NONSENSE}:
                now = "bare"
            if now == "dies":
                os._exit(3)
            if now == "mute":
                continue
            said = {} if now == "bare" else said_to(record)
            sys.stdout.write(NONSENSE.get(now) or json.dumps({"id": record["id"], **said}) + "\n")
            sys.stdout.flush()
        if mode == "lingers":
            time.sleep(1.5)
        print('{"ended": true}', file=out)


if __name__ == "__main__":
    main()
