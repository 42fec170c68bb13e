"""The capture calls that a recording leads to; ``python -m tests.hosts.calls`` rewrites the expected ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from ledger.events import Draft
from memfold.capture import Capture
from memfold.hosts.opencode import OpenCodeTranslator
from memfold.hosts.recording import read_recording

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "fixtures" / "recordings"
EXPECTED = ROOT / "fixtures" / "expected" / "translate"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))

Call = dict[str, Any]
_SHOWN = 100


class CallLog:
    """A stand-in for ``Capture`` that writes down what it is asked, with the arguments under their names."""

    _POSITIONAL = ("session", "call", "tool", "args", "error")
    _NAMES: Mapping[str, tuple[str, ...]] = {
        "session_linked": ("session", "parent"),
        "user_message": ("session", "message", "text"),
        "compacted": ("session", "message", "summary"),
    }

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def is_off_the_record(self, _session: str) -> bool:
        """Nothing is; a question is no call."""
        return False

    def note_parent(self, _session: str, _parent: str) -> None:
        """Nothing hangs on it here; the call that tells of the parent is written down."""

    def __getattr__(self, name: str) -> Callable[..., list[Draft]]:
        """Any method of ``Capture``."""

        def method(*args: object, **keywords: object) -> list[Draft]:
            given = dict(zip(self._NAMES.get(name, self._POSITIONAL), args, strict=False))
            self.calls.append({"do": name, **given, **keywords})
            return []

        return method


def translate(records: Iterable[Mapping[str, object]]) -> tuple[list[Call], OpenCodeTranslator]:
    """The calls that records lead to, and the translator after them."""
    log = CallLog()
    translator = OpenCodeTranslator(cast("Capture", log))
    for record in records:
        translator.feed(record)
    return log.calls, translator


def recorded(name: str) -> list[dict[str, object]]:
    """The records of a recording."""
    return list(read_recording(RECORDINGS / f"{name}.jsonl"))


def as_text(calls: Iterable[Call]) -> str:
    """Calls as JSON Lines; long strings are cut and say how long they were."""
    return "".join(json.dumps(_short(call), ensure_ascii=False) + "\n" for call in calls)


def _short(value: object) -> object:
    if isinstance(value, str) and len(value) > _SHOWN:
        return f"{value[:_SHOWN]}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    """Rewrite the expected calls of all recordings."""
    EXPECTED.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (EXPECTED / f"{name}.jsonl").write_text(as_text(translate(recorded(name))[0]))


if __name__ == "__main__":
    main()
