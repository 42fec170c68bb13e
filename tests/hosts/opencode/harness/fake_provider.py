"""A scripted model provider on 127.0.0.1: the real client runs without a network and always does the same.

It speaks streamed OpenAI chat completions and keeps no state of a conversation: the request alone decides.

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
from typing import Any, cast

__all__ = ["FakeProvider", "Json"]

Json = dict[str, Any]
"""A JSON object of the client or of a script."""

_MARK = re.compile(r"\[\[script:([\w-]+)\]\]")
_WORD = re.compile(r"\s*\S+\s*")
_SUMMARY = "## Goal\n- A summary written by the fake provider.\n\n## Next Steps\n- (none)\n"


class FakeProvider:
    """Answers model requests from scripts and remembers what it was asked.

    Attributes:
        url: base URL for the client's configuration.
        summary: the answer to a compaction call.
        requests: every request body, in order.
    """

    def __init__(self, scripts: dict[str, list[Json]], workspace: Path) -> None:
        self._workspace = str(workspace)
        self._scripts = {name: self._at_home(steps) for name, steps in scripts.items()}
        self._cues: dict[str, list[Json]] = {}
        self.summary = _SUMMARY
        self.requests: list[Json] = []
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

    def take(self, body: Json) -> int:
        """Remember a request; its number, from 1."""
        with self._lock:
            self.requests.append(body)
            return len(self.requests)

    def plan(self, body: Json) -> Json:
        """The step that answers a request."""
        messages: list[Json] = [m for m in body.get("messages", []) if m.get("role") != "system"]
        if not body.get("tools"):
            texts = [text for m in messages if m.get("role") == "user" for text in _texts(m.get("content"))]
            return {"text": "Demo title" if len(texts) > 1 else self.summary}
        newest = max((i for i, m in enumerate(messages) if m.get("role") == "user"), default=-1)
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
        """Answer one chat completion as a stream of events."""
        fake = cast("FakeProvider", self.server.fake)  # type: ignore[attr-defined]  # set by FakeProvider
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        number = fake.take(body)
        try:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self._answer(number, body, fake.plan(body))
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client was aborted or killed in the middle of an answer: scenarios do that on purpose

    def _answer(self, number: int, body: Json, step: Json) -> None:
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
        tokens = step.get("tokens") or max(1, len(json.dumps(body)) // 4)
        usage = {"prompt_tokens": tokens, "completion_tokens": 20, "total_tokens": tokens + 20}
        self._send({**base, "choices": [], "usage": usage})
        self._send("[DONE]")

    def _send(self, item: Json | str) -> None:
        data = f"data: {item if isinstance(item, str) else json.dumps(item)}\n\n".encode()
        self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
        self.wfile.flush()


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
