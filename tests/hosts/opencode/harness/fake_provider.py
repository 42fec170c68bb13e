"""A scripted model provider on 127.0.0.1: the real client runs without a network and always does the same.

It speaks streamed OpenAI chat completions and Anthropic messages and keeps no state of a conversation: the request
alone decides.

* A request without tools is a side call of the client. With several user texts it asks for a title; with one it
  asks for the summary of a compaction.
* Otherwise the newest user message picks a script: by its whole text (``learn``) or by a mark
  ``[[script:NAME]]`` in it. The step is the number of assistant messages that follow that message.

A script is a list of steps ``{"text": ..., "tools": [{"name": ..., "args": {...}}], "slow": N, "tokens": N}``.
``slow`` sends N chunks, 0.25 s apart; ``tokens`` is the usage to report: a number near the context limit makes the
client compact by itself. ``@WS@`` in a script stands for the path of the workspace.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, cast

__all__ = ["FakeProvider", "Json", "Request"]

Json = dict[str, Any]
"""A JSON object of the client or of a script."""

_SECRET = frozenset({"authorization", "x-api-key"})
_MARK = re.compile(r"\[\[script:([\w-]+)\]\]")
_WORD = re.compile(r"\s*\S+\s*")
_SUMMARY = "## Goal\n- A summary written by the fake provider.\n\n## Next Steps\n- (none)\n"


class Request(NamedTuple):
    """What the provider was asked.

    Attributes:
        arrived: seconds since the epoch.
        path: ``/v1/chat/completions`` or ``/v1/messages``.
        headers: with names in small letters, without keys.
        body: the decoded body.
    """

    arrived: float
    path: str
    headers: dict[str, str]
    body: Json

    @property
    def session(self) -> str:
        """The client's session, as its headers tell."""
        return self.headers.get("x-session-id") or self.headers.get("x-session-affinity") or ""

    @property
    def kind(self) -> str:
        """``main``, or a side call of the client: ``title`` or ``compaction``, which have no tools."""
        if self.body.get("tools"):
            return "main"
        return "title" if len(_user_texts(self.body)) > 1 else "compaction"


class FakeProvider:
    """Answers model requests from scripts and remembers what it was asked.

    Attributes:
        url: base URL for the client's configuration.
        summary: the answer to a compaction call.
        requests: every request, in order.
    """

    def __init__(self, scripts: dict[str, list[Json]], workspace: Path) -> None:
        self._workspace = str(workspace)
        self._scripts = {name: self._at_home(steps) for name, steps in scripts.items()}
        self._cues: dict[str, list[Json]] = {}
        self.summary = _SUMMARY
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.fake = self  # type: ignore[attr-defined]  # the handler has no other way to its owner
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def learn(self, text: str, steps: list[Json]) -> None:
        """Answer the user text ``text`` with these steps, so that it needs no mark."""
        self._cues[text] = self._at_home(steps)

    def take(self, request: Request) -> int:
        """Remember a request; its number, from 1."""
        with self._lock:
            self.requests.append(request)
            return len(self.requests)

    def plan(self, request: Request) -> Json:
        """The step that answers a request."""
        if request.kind != "main":
            return {"text": "Demo title" if request.kind == "title" else self.summary}
        messages = _messages(request.body)
        newest = max((i for i, m in enumerate(messages) if _is_users(m)), default=-1)
        texts = _texts(messages[newest].get("content")) if newest >= 0 else []
        steps = self._script_for(texts)
        done = sum(m.get("role") == "assistant" for m in messages[newest + 1 :])
        step: Json = steps[min(done, len(steps) - 1)]
        return step

    def _script_for(self, texts: list[str]) -> list[Json]:
        for text in texts:
            if text.strip() in self._cues:
                return self._cues[text.strip()]
        marks = [name for text in texts for name in _MARK.findall(text)]
        name = marks[-1] if marks else "hello"
        return self._scripts.get(name, [{"text": f"There is no script {name!r}."}])

    def _at_home(self, steps: list[Json]) -> list[Json]:
        placed: list[Json] = json.loads(json.dumps(steps).replace("@WS@", self._workspace))
        return placed


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
        """Say nothing on stderr."""

    def do_POST(self) -> None:
        """Answer one request as a stream of events."""
        fake = cast("FakeProvider", self.server.fake)  # type: ignore[attr-defined]  # set by FakeProvider
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() not in _SECRET}
        request = Request(time.time(), self.path.partition("?")[0], headers, body)
        number = fake.take(request)
        answer = self._messages if request.path.endswith("/messages") else self._completions
        try:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            answer(number, body, fake.plan(request))
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client was aborted or killed in the middle of an answer: scenarios do that on purpose

    def _completions(self, number: int, body: Json, step: Json) -> None:
        base = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": body.get("model"),
        }

        def chunk(delta: Json, finish: str | None = None) -> None:
            self._send({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        chunk({"role": "assistant", "content": ""})
        for piece in _pieces(step):
            chunk({"content": piece})
        tools: list[Json] = step.get("tools", [])
        for i, tool in enumerate(tools):
            call = {"name": tool["name"], "arguments": json.dumps(tool["args"])}
            ident = f"call_{number}_{i}"
            chunk({"tool_calls": [{"index": i, "id": ident, "type": "function", "function": call}]})
        chunk({}, "tool_calls" if tools else "stop")
        tokens = _tokens(body, step)
        usage = {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}
        self._send({**base, "choices": [], "usage": usage})
        self._send("[DONE]")

    def _messages(self, number: int, body: Json, step: Json) -> None:
        def event(kind: str, **fields: Any) -> None:
            self._send({"type": kind, **fields}, kind)

        def block(index: int, start: Json, deltas: Iterator[Json]) -> None:
            event("content_block_start", index=index, content_block=start)
            for delta in deltas:
                event("content_block_delta", index=index, delta=delta)
            event("content_block_stop", index=index)

        usage = {"input_tokens": _tokens(body, step), "output_tokens": 1}
        cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        head: Json = {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [],
        }
        event("message_start", message={**head, "stop_reason": None, "stop_sequence": None, "usage": usage | cached})
        texts = [step["text"]] if step.get("text") else []
        if texts:
            deltas = ({"type": "text_delta", "text": piece} for piece in _pieces(step))
            block(0, {"type": "text", "text": ""}, deltas)
        tools: list[Json] = step.get("tools", [])
        for i, tool in enumerate(tools):
            start = {"type": "tool_use", "id": f"toolu_{number}_{i}", "name": tool["name"], "input": {}}
            block(len(texts) + i, start, iter([{"type": "input_json_delta", "partial_json": json.dumps(tool["args"])}]))
        delta = {"stop_reason": "tool_use" if tools else "end_turn", "stop_sequence": None}
        event("message_delta", delta=delta, usage={"output_tokens": 20})
        event("message_stop")

    def _send(self, item: Json | str, name: str = "") -> None:
        text = item if isinstance(item, str) else json.dumps(item)
        data = f"{f'event: {name}' + chr(10) if name else ''}data: {text}\n\n".encode()
        self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
        self.wfile.flush()


def _messages(body: Json) -> list[Json]:
    """The messages of a request in either form, without the system prompt."""
    return [m for m in body.get("messages", []) if m.get("role") != "system"]


def _is_users(message: Json) -> bool:
    """Whether a user wrote it: Anthropic's form also sends the results of tools in the user's name."""
    content = message.get("content")
    results = isinstance(content, list) and content and all(p.get("type") == "tool_result" for p in content)
    return message.get("role") == "user" and not results


def _user_texts(body: Json) -> list[str]:
    return [text for m in _messages(body) if m.get("role") == "user" for text in _texts(m.get("content"))]


def _tokens(body: Json, step: Json) -> int:
    return step.get("tokens") or max(1, len(json.dumps(body)) // 4)


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content] if content else []
    if not isinstance(content, list):
        return []
    return [p.get("text", "") for p in content if isinstance(p, dict) and p.get("type") == "text"]


def _pieces(step: Json) -> Iterator[str]:
    text = step.get("text", "")
    if "slow" not in step:
        yield from _WORD.findall(text)
        return
    for i in range(step["slow"]):
        yield f"{text} chunk {i}. "
        time.sleep(0.25)
