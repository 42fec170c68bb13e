"""A finished tool call becomes a line of the log as ``memfold.capture`` would have it; or it is left to that.

Takes the calls of which the log keeps a file, a command, or nothing: no output that would have to be read for errors
(SPEC 13), and no text in which anything could be cleaned, withheld or redacted (SPEC 7).
"""

import time
from _json import encode_basestring as quoted

from ledger.lean import TYPE, members, parse
from memfold.innocent import is_innocent

__all__ = ["AHEAD_MS", "Line", "Unfit", "as_line", "read_event"]

ID_LIMIT, TOOL_LIMIT, PATH_LIMIT, COMMAND_LIMIT = 200, 120, 1024, 4000
_STARTS = (TYPE.encode(), b'{"type": "tool.completed"')
_DEPTH = 64
_INTERRUPTED = 130
_KINDS = {
    **dict.fromkeys(("read", "edit", "write", "multiedit"), "file"),
    **dict.fromkeys(("bash", "shell"), "shell"),
    "grep": "grep",
    **dict.fromkeys(("apply_patch", "patch"), "patch"),
}
_PATHS = ("filePath", "file_path")
_WORD = "_-."
_OWN_LENGTH = len("2026-01-01T00:00:00.000Z")
_YEAR_3000 = 32_503_680_000
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

AHEAD_MS = 300_000
"""How far a host's clock may be ahead of ours."""

Line = tuple[str, bytes, bytes]
"""The id of an event, and what stands before and behind the seq in its line."""


class Unfit(Exception):  # noqa: N818 - no error: somebody else has to look
    """The event has to be read by ``memfold.capture``."""


def read_event(raw: bytes) -> dict[str, object]:
    """The event that stands in some bytes, if it is a tool call and ``type`` comes first.

    Raises:
        Unfit, ValueError, StopIteration, RecursionError: if it isn't, or if readers could differ about it.
    """
    if not raw.startswith(_STARTS) or b"\\ud" in raw or b"\\uD" in raw:  # half a character, maybe
        raise Unfit
    event = members(parse(raw.decode()))
    if event is None or event.get("type") != "tool.completed" or _is_deep(event):
        raise Unfit
    return event


def as_line(event: dict[str, object], event_id: str, ms: int) -> Line:
    """The line of a tool call.

    Args:
        event: from ``read_event``.
        event_id: the id of the event in the log.
        ms: the present time in milliseconds since the epoch; its own, if the host gave none.

    Raises:
        Unfit: if it keeps more than is simple to tell.
    """
    host, session, when = event.get("host"), event.get("session"), event.get("time")
    data = members(event.get("data"))
    if data is None or not _is_host(host) or not _is_word(session, "_-", ID_LIMIT):
        raise Unfit
    moment = now_text(ms) if when is None else _moment(when)
    if not _is_time(moment) or (when is not None and moment > now_text(ms + AHEAD_MS)):
        raise Unfit
    before = f'{TYPE},"specversion":"1.0","id":"{event_id}","source":"{host}/{session}","time":"{moment}","seq":'
    return event_id, before.encode(), f',"data":{_data(data)}}}\n'.encode()


def now_text(ms: int) -> str:
    """The time in the form of ``ledger.times.format_time``."""
    year, month, day, hour, minute, second = time.gmtime(ms // 1000)[:6]
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{ms % 1000:03d}Z"


def _moment(when: object) -> str:
    """A host's time in our form, if it is one of those that ``memfold.clock.host_time`` reads without looking twice."""
    if type(when) is int and 0 <= when < _YEAR_3000:
        return now_text(when * 1000)
    if not isinstance(when, str):
        raise Unfit
    bare = when[:-1] if when.endswith("Z") else when.removesuffix("+00:00")
    second, _, parts = bare.partition(".")
    if bare == when or (parts and not parts.isdigit()) or bare.endswith("."):
        raise Unfit  # no zone is another's to judge
    return f"{second}.{parts[:3]:0<3}Z"


def _data(data: dict[str, object]) -> str:
    call, tool, args = data.get("call"), data.get("tool"), members(data.get("args", {}))
    code, status, output = data.get("exit"), data.get("status", "completed"), data.get("output", "")
    if not (isinstance(call, str) and len(call) <= ID_LIMIT and call.isascii() and call.isprintable()):
        raise Unfit
    if not (_is_word(tool, _WORD, TOOL_LIMIT) and is_innocent(call) and args is not None):
        raise Unfit
    if not isinstance(output, str) or not (code is None or (type(code) is int and 0 <= code <= 255)):
        raise Unfit
    if status not in ("completed", "aborted"):
        raise Unfit
    kept = _arguments(str(tool), args, code if status == "completed" else None, output)
    parts = [f'{{"call":{quoted(call)},"tool":"{tool}","args":{{{kept}}}']
    if code is not None:
        parts.append(f'"exit":{code}')
    if status != "completed":
        parts.append(f'"status":"{status}"')
    return ",".join(parts) + "}"


def _arguments(tool: str, args: dict[str, object], code: int | None, output: str) -> str:
    """The arguments that are kept, if no more than they is kept."""
    if "memory_" in tool or "memfold" in tool:  # one of our own, maybe (SPEC 3.3)
        raise Unfit
    kind = _KINDS.get(tool.lower())
    if kind == "patch" or (kind == "grep" and ":" in output):
        raise Unfit
    if kind == "file":
        return _kept("path", args, _PATHS, PATH_LIMIT)
    if kind == "shell":
        text = _kept("command", args, ("command",), COMMAND_LIMIT)
        if not (code in (None, _INTERRUPTED) or (code == 0 and _decides(text))):
            raise Unfit
        return text
    return ""


def _kept(name: str, args: dict[str, object], given: tuple[str, ...], limit: int) -> str:
    text = next((value for one in given if isinstance(value := args.get(one), str)), "")
    if len(text) > limit or not is_innocent(text):
        raise Unfit
    return f'"{name}":{quoted(text)}' if text else ""


def _decides(command: str) -> bool:
    """Whether an exit of 0 is surely that of all commands in a (quoted) line, so that no output is read (SPEC 13.4)."""
    bare = command.replace(" && ", " ").replace(" 2>&1", " ")
    return not any(sign in bare for sign in ("|", ";", "&", "\\n"))


def _is_host(name: object) -> bool:
    if not isinstance(name, str) or name == "memfold" or len(name) > 40:
        return False
    return _is_word(name, "-", 40) and name.islower() and name[0].isalpha()


def _is_word(text: object, signs: str, limit: int) -> bool:
    """Whether a text is one innocent word of ASCII letters, digits and some signs."""
    if not isinstance(text, str) or not text.isascii() or len(text) > limit:
        return False
    bare = text
    for sign in signs:
        bare = bare.replace(sign, "")
    return bare.isalnum() and is_innocent(text)


def _is_time(text: object) -> bool:
    """Whether a text is a time in the form that we write ourselves, from 2000 to 2999."""
    if not isinstance(text, str) or len(text) != _OWN_LENGTH or not text.isascii():
        return False
    digits = text[:4] + text[5:7] + text[8:10] + text[11:13] + text[14:16] + text[17:19] + text[20:23]
    if text[4:20:3] != "--T::." or text[-1] != "Z" or not digits.isdigit() or text[0] != "2":
        return False
    month, day = int(text[5:7]), int(text[8:10])
    return (
        1 <= month <= 12 and 1 <= day <= _DAYS[month - 1] and text[11:13] < "24" and text[14] < "6" and text[17] < "6"
    )


def _is_deep(value: object) -> bool:
    """Whether values are nested deeper than any reader's patience."""
    level = [value]
    for _ in range(_DEPTH):
        level = [item for one in level for item in _items(one) if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def _items(value: object) -> list[object]:
    """What stands in an object or in a list."""
    if isinstance(value, list):
        return value  # pyright: ignore[reportUnknownVariableType] - from ``parse``
    return list((members(value) or {}).values())
