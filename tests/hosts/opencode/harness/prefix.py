"""How stable is the beginning of the model's prompts?

A provider caches a prompt from its beginning: tools, then the system blocks, then the messages. Within an epoch (from
the start of a session, or a compaction, to the next) each main request must extend the one before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

from tests.hosts.opencode.harness.fake_provider import Json, Request

__all__ = ["Epoch", "Prompt", "epochs"]


class Prompt(NamedTuple):
    """The parts of a main request, without the marks of the provider's cache.

    Attributes:
        marked: the system blocks that carry a mark, by index.
        marked_messages: the messages in which something carries one, by index.
    """

    system: list[str]
    tools: list[Json]
    messages: list[Json]
    marked: list[int]
    marked_messages: list[int]


class Epoch(NamedTuple):
    """The main requests of one epoch of a session."""

    session: str
    prompts: list[Prompt]

    @property
    def differences(self) -> list[str]:
        """What keeps a request from extending the one before it, one line each; none is what we want."""
        pairs = zip(self.prompts, self.prompts[1:], strict=False)
        return [line for number, (was, now) in enumerate(pairs, 2) for line in _differences(number, was, now)]


def epochs(requests: Iterable[Request]) -> list[Epoch]:
    """Epochs in the order in which they began; a compaction's own request ends one. Titles don't count."""
    found: list[Epoch] = []
    current: dict[str, Epoch] = {}
    for request in requests:
        if request.kind == "compaction":
            current.pop(request.session, None)
        elif request.kind == "main":
            if request.session not in current:
                found.append(Epoch(request.session, []))
                current[request.session] = found[-1]
            current[request.session].prompts.append(_prompt(request.body))
    return found


def _prompt(body: Json) -> Prompt:
    system = body.get("system") or [m for m in body["messages"] if m["role"] == "system"]
    messages = [m for m in body["messages"] if m["role"] != "system"]
    return Prompt(
        [block["content"] if "content" in block else block["text"] for block in system],
        _bare(body["tools"]),
        _bare(messages),
        [i for i, block in enumerate(system) if "cache_control" in json.dumps(block)],
        [i for i, message in enumerate(messages) if "cache_control" in json.dumps(message)],
    )


def _bare(value: object) -> list[Json]:
    """Without the marks, which move along with the end of the conversation."""

    def strip(pairs: list[tuple[str, object]]) -> Json:
        return {name: item for name, item in pairs if name != "cache_control"}

    bare: list[Json] = json.loads(json.dumps(value), object_pairs_hook=strip)
    return bare


def _differences(number: int, was: Prompt, now: Prompt) -> list[str]:
    """The first difference in each of system, tools and messages."""
    kept = len(was.messages)
    parts = (
        ("system", was.system, now.system),
        ("tools", was.tools, now.tools),
        ("messages", was.messages, now.messages[:kept]),
    )
    return [f"request {number}, {name}: {_first(a, b)}" for name, a, b in parts if a != b]


def _first(was: object, now: object) -> str:
    a, b = json.dumps(was, ensure_ascii=False), json.dumps(now, ensure_ascii=False)
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return f"{a[max(0, at - 40) : at + 80]!r} became {b[max(0, at - 40) : at + 80]!r}"
