"""A bridge as its plugin sees it: the lines that are sent, the real process, and what its ledger holds afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from ledger.events import AnyEvent, PromptRendered
from ledger.log import FileLog
from memfold.bridge.bridge import Bridge
from memfold.paths import data_dir, ledger_dir, workspace_key
from replay.state import state_at

ROOT = str(Path(__file__).resolve().parents[2])
Record = dict[str, Any]

_CLIENT = 7
_FORWARDED = frozenset(
    {
        "init",
        "chat.message",
        "command.execute.before",
        "tool.execute.before",
        "tool.execute.after",
        "experimental.chat.system.transform",
        "experimental.session.compacting",
    }
)


def init(directory: object, *, instance: str = "one", **more: object) -> Record:
    """The first line of a child."""
    place = {"directory": str(directory), "worktree": str(directory), "instance": instance, **more}
    return {"t": 1000.0, "pid": _CLIENT, "hook": "init", "input": place}


def hook(name: str, session: str = "S", output: object = None, t: object = 1001.0, **input_: object) -> Record:
    """A hook of a session."""
    return {"t": t, "pid": _CLIENT, "hook": name, "input": {"sessionID": session, **input_}, "output": output}


def said(text: str, session: str = "S", message: str = "m1", t: object = 1001.0) -> Record:
    """The user sends a message."""
    output = {"message": {"id": message, "role": "user"}, "parts": [{"type": "text", "text": text}]}
    return hook("chat.message", session, output, t)


def system(session: str = "S", t: object = 1002.0) -> Record:
    """The client makes its system prompt."""
    return hook("experimental.chat.system.transform", session, t=t)


def compacting(session: str = "S", **input_: object) -> Record:
    """The client asks what else its compaction prompt shall hold."""
    return hook("experimental.session.compacting", session, t=1003.0, **input_)


def ran(command: str, exit_: int | None, output: str = "", session: str = "S", call: str = "c1") -> Record:
    """A shell command came to its end."""
    result = {"title": command, "output": output, "metadata": {"exit": exit_}}
    return hook("tool.execute.after", session, result, tool="bash", callID=call, args={"command": command})


def event(type_: str, session: str = "S", t: object = 1003.0, **properties: object) -> Record:
    """Something on the client's bus."""
    inside = {"id": f"evt_{type_}", "type": type_, "properties": {"sessionID": session, **properties}}
    return {"t": t, "pid": _CLIENT, "hook": "event", "event": inside}


def asks_for_tools() -> Record:
    """The client starts, and asks which tools it is to offer."""
    return {"t": 1000.0, "pid": _CLIENT, "hook": "tools", "input": {}}


def has_tools() -> Record:
    """The client has taken the tools."""
    return {**asks_for_tools(), "input": {"tools": True}}


def use(name: str, call: str = "c1", session: str = "S", **args: object) -> Record:
    """The model calls a tool of ours."""
    return hook("tool", session, tool=name, callID=call, args=args)


def compacted(summary: str, session: str = "S", message: str = "sum1") -> list[Record]:
    """A summary and the end of its compaction, as they are forwarded."""
    head = {"id": message, "role": "assistant", "summary": True}
    part = {"id": "p1", "messageID": message, "type": "text", "text": summary}
    return [
        event("message.updated", session, info=head),
        event("message.part.updated", session, part=part),
        event("session.compacted", session),
    ]


def line_of(record: Mapping[str, object], number: int) -> bytes:
    """A record as a request."""
    return json.dumps({"id": number, **record}).encode() + b"\n"


def as_forwarded(records: Iterable[Record]) -> Iterator[Record]:
    """What the plugin forwards of a recording: few events, and a summary together with the end of its compaction."""
    summary: list[Record] = []
    for record in records:
        if record["hook"] == "event":
            type_, properties = record["event"]["type"], record["event"]["properties"]
            if _begins_summary(record) and (not summary or _message(summary[0]) != _message(record)):
                summary = [record]
            elif type_ == "session.compacted":
                yield from [*summary, record]
                summary = []
            elif _is_part_of(properties.get("part", {}), summary):
                summary.append(record)
            elif _is_forwarded(type_, properties.get("part", {})):
                yield record
        elif record["hook"] in _FORWARDED:
            yield record


def _begins_summary(record: Record) -> bool:
    type_, info = record["event"]["type"], record["event"]["properties"].get("info", {})
    return type_ == "message.updated" and info.get("summary") is True


def _is_part_of(part: Record, summary: list[Record]) -> bool:
    return bool(summary) and part.get("type") == "text" and part["messageID"] == _message(summary[0])


def _is_forwarded(type_: str, part: Record) -> bool:
    if type_.startswith("session."):
        return type_ not in ("session.status", "session.diff")
    return part.get("type") == "step-finish" or part.get("state", {}).get("status") == "error"


def _message(record: Record) -> object:
    return record["event"]["properties"]["info"]["id"]


def replaced(lines: list[Record], answered: int) -> list[Record]:
    """What a successor is sent: the last ``init`` that the dead child was sent, and all that it had not answered."""
    begin = [record for record in lines[:answered] if record["hook"] == "init"][-1:]
    return [*begin, *lines[answered:]]


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment in which nothing of this machine counts."""
    home.mkdir(exist_ok=True)
    return {"HOME": str(home), "PATH": os.environ.get("PATH", ""), **more}


def folder_of(home: Path, root: object) -> Path:
    """Where the ledger of a workspace is."""
    return Path(ledger_dir(data_dir({"HOME": str(home)}), workspace_key(str(root))))


def events_of(home: Path, root: object) -> list[AnyEvent]:
    """All events of a workspace; none where there is no ledger."""
    folder = folder_of(home, root)
    return list(FileLog.open(folder).read()) if (folder / "events.jsonl").exists() else []


Remembered = tuple[list[object], list[str], list[object]]


def remembered(events: Iterable[AnyEvent]) -> Remembered:
    """Memories, pending texts, and all candidates, without ids of events, which differ from run to run."""
    world = state_at(events)
    entries: list[object] = [
        (one.number, one.state, one.proposal.type, one.proposal.text, one.reinforcements)
        for one in world.memory.entries.values()
    ]
    pending = [one.text for one in world.memory.pending.values()]
    accounts: list[object] = [(one.proposal.text, one.state, one.reasons) for one in world.accounts.records.values()]
    return entries, pending, accounts


class Client:
    """A client that speaks with a bridge in this process."""

    def __init__(self, folder: Path, root: Path, **variables: str) -> None:
        self.folder, self.root = folder, root
        self.environ = environment(folder / "home", **variables)
        self.bridge = Bridge(self.environ)
        self.number = 0

    def begin(self, directory: Path | None = None, instance: str = "one", **more: object) -> Record:
        """The first line."""
        return self.ask(init(directory or self.root, instance=instance, **more))

    def respawn(self, instance: str = "one") -> None:
        """The child died; another takes its place."""
        self.bridge = Bridge(self.environ)
        self.begin(instance=instance)

    def ask(self, record: Record) -> Record:
        """Send a line, and let the bridge do what comes after its answer."""
        self.number += 1
        answer = self.bridge.answer(line_of(record, self.number))
        assert answer.id == self.number
        self.bridge.settle()
        fields: Record = msgspec.to_builtins(answer)
        del fields["id"]
        return fields

    def events(self, *kinds: type) -> list[AnyEvent]:
        """The ledger, or some kinds of events of it."""
        events = events_of(self.folder / "home", self.root)
        return [one for one in events if not kinds or type(one) in kinds]

    def receipts(self) -> list[tuple[str, str, int]]:
        """Kind, instance and size of each receipt."""
        found = self.events(PromptRendered)
        return [(one.data.kind, one.data.instance, one.data.size) for one in found if isinstance(one, PromptRendered)]

    def configure(self, text: str) -> None:
        """Write the workspace's configuration."""
        (self.root / ".memfold.toml").write_text(text)


class Child:
    """A real ``memfold bridge``; a plugin's map of what isn't answered belongs to it."""

    def __init__(self, home: Path, *, command: list[str] | None = None, **more: str) -> None:
        self.process = subprocess.Popen(
            command or [sys.executable, "-E", "-m", "memfold", "bridge"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env=environment(home, **more),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self.sent = 0
        self.open: dict[int, Record] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()

    def send(self, record: Record) -> None:
        """Write a line."""
        self.sent += 1
        self.open[self.sent] = record
        self.stdin.write(line_of(record, self.sent))
        self.stdin.flush()

    def receive(self) -> Record:
        """The next answer."""
        answer: Record = json.loads(self.stdout.readline())
        self.open.pop(answer["id"], None)
        return answer

    def ask(self, record: Record) -> Record:
        """Write a line that somebody waits for, and wait; answers of earlier lines come before it."""
        self.send(record)
        while (answer := self.receive())["id"] != self.sent:
            pass
        return answer

    def feed(self, records: Iterable[Record]) -> list[Record]:
        """Write many lines, end the input, and read all answers."""
        for record in records:
            self.send(record)
        return [json.loads(line) for line in self.end().splitlines()]

    def end(self) -> bytes:
        """End the input: the process must end well and say nothing on stderr; what it still wrote on stdout."""
        self.stdin.close()
        rest = self.stdout.read()
        assert self.stderr.read() == b""
        assert self.process.wait(20) == 0
        return rest
