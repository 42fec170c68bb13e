"""The plain way: whatever a host sends, through the same capture, ledger and spool as every other way in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

from msgspec import DecodeError, MsgspecError, ValidationError
from msgspec.structs import replace

from ledger.errors import LedgerError, LedgerNotFound
from ledger.events import Draft
from ledger.log import FileLog
from ledger.times import format_time
from memfold.bridge.ledger import Ledger
from memfold.bridge.private_log import PrivateLog
from memfold.bridge.settings import Settings
from memfold.capture import Capture
from memfold.clock import host_time
from memfold.config import HOOK_MARKER, Config
from memfold.errors import MemfoldError
from memfold.hook import events, known
from memfold.hook.off_the_record import OffTheRecord
from memfold.hook.place import Unclear, find
from memfold.hook.reduce import AHEAD_MS
from memfold.hook.run import INPUT_LIMIT
from memfold.paths import data_dir, is_project
from projections.policy import policy_digest

__all__ = ["drafts_of", "note_overtime", "record"]

_SUBJECT = "hook"
_SEE = "docs/reference/hook.md tells what an event is"
_HASHED_AT_ONCE = 8 << 20
"""Bytes of the log that are hashed for a head: a tenth of a second."""


class Refused(Exception):  # noqa: N818 - its words are for a person
    """The event can't be used; the message names the place and the fix."""


def record(raw: bytes | None, ms: int, event_id: str | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Record an event, or say in the private log why not; nothing is raised.

    Args:
        raw: the event as it came; None if it was too long.
        ms: the present time in milliseconds since the epoch.
        event_id: its id in the log, where it may stand there already.
        environ: the environment.
    """
    if environ.get(HOOK_MARKER):  # of a process that a hook has started (SPEC 3.3)
        return
    log: PrivateLog | None = None
    try:
        log = PrivateLog(data_dir(environ))
        event = _event(raw)
        place = _Place(event, environ)
        log = place.log
        if place.config.enabled:
            place.record(event, ms, event_id)
    except (Refused, LedgerError) as refused:
        _note(log, str(refused))
    except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the host anything
        _note(log, f"unexpected {type(error).__name__} at {_place_of(error)}")


def note_overtime(environ: Mapping[str, str] = os.environ) -> None:
    """Say in the private log that nothing came in time."""
    with suppress(MemfoldError):
        log = PrivateLog(data_dir(environ))
        _note(log, "no event within two seconds: close stdin behind the event")


def drafts_of(event: events.HookEvent, capture: Capture, time: str | None) -> list[Draft]:
    """What an event becomes in the log."""
    session = event.session
    match event:
        case events.SessionStarted(data=data):
            return capture.session_started(
                session,
                time=time,
                parent=data.parent,
                reason=data.reason,
                host_version=data.version,
                instance=data.instance,
            )
        case events.SessionLinked(data=data):
            return capture.session_linked(session, data.parent, time=time)
        case events.MemoryRequested(data=data):
            return capture.user_message(session, data.message, data.text, time=time)
        case events.ToolCompleted(data=data):
            return _of_tool(session, data, capture, time)
        case events.SessionCompacted(data=data):
            return capture.compacted(session, data.message, data.summary, time=time)
        case events.SessionDeleted():
            return capture.session_deleted(session, time=time)
        case events.SessionMeasured(data=data):
            return capture.measured(
                session,
                requests=data.requests,
                input=data.input,
                cache_read=data.cache_read,
                cache_write=data.cache_write,
                time=time,
            )
        case events.RulesLoaded(data=data):
            return capture.rules_file(data.path, data.text, time=time, session=session)


def _of_tool(session: str, data: events.ToolCompletedData, capture: Capture, time: str | None) -> list[Draft]:
    if data.status == "failed":
        return capture.tool_failed(session, data.call, data.tool, data.args, data.output, time=time)
    return capture.tool_completed(
        session,
        data.call,
        data.tool,
        data.args,
        exit=data.exit,
        output=data.output,
        time=time,
        ran=data.status == "completed",
    )


class _Place:
    """The ledger of an event's folder, and what is configured there.

    Raises:
        Refused: if the folder or the data folder can't be named.
    """

    def __init__(self, event: events.HookEvent, environ: Mapping[str, str]) -> None:
        if not os.path.isabs(event.cwd) or "\0" in event.cwd:  # noqa: PTH117 - a text
            raise Refused(f"the event's cwd is no absolute path: send the folder that the session works in; {_SEE}")
        self._lean = _lean_place(event.cwd, environ)
        # Looked at before they are read: a change while we read is then found by the next hook.
        self._files = None if self._lean is None else known.signatures(self._lean[1])
        try:
            self._settings = settings = Settings(event.cwd, environ)
        except MemfoldError as error:
            raise Refused(str(error)) from error
        self.config: Config = settings.config
        self.log = PrivateLog(settings.data)
        self._project = is_project(settings.root, environ)
        self._log = FileLog(settings.ledger)

    def record(self, event: events.HookEvent, ms: int, event_id: str | None) -> None:
        """Record an event, and leave a note for the lean way."""
        settings = self._settings
        note = known.load(settings.ledger)
        before = self._in_force(note)
        ledger = Ledger(
            settings.ledger,
            settings.root,
            project=self._project,
            host=event.host,
            config=self.config,
            log=self.log,
            subject=_SUBJECT,
            live=False,
            in_force=None if before is None else before.policy,
        )
        if isinstance(event, events.SessionStarted) and event.data.tools:
            ledger.note_tools()
        off_the_record = OffTheRecord(self._log)
        off_the_record.tell(ledger.capture, event.session)
        drafts = drafts_of(event, ledger.capture, self._time_of(event, ms))
        if isinstance(event, events.MemoryRequested | events.SessionDeleted):
            off_the_record.keep(ledger.capture, event.session)
        if event_id is not None:
            drafts = [replace(draft, id=event_id) for draft in drafts]
        if drafts:
            ledger.record(drafts)
            if ledger.error is None:
                ledger.seal(_HASHED_AT_ONCE)
                self._leave_note(before or known.NOTHING, note)
        ledger.close()

    def _time_of(self, event: events.HookEvent, ms: int) -> str:
        """When an event happened: as the host says, or now.

        A time to come would stop the ageing of all memories until then, and one that can't be read is that of the event
        before it in the log, which may be days old. Both are mistakes of an adapter, and the event itself is none.
        """
        now = format_time(ms)
        told = now if event.time is None else host_time(event.time)
        if told is None:
            _note(self.log, f"an event's time can't be read, so it counts as now: send RFC 3339 or seconds; {_SEE}")
        elif told > format_time(ms + AHEAD_MS):
            _note(self.log, f"an event's time is still to come, so it counts as now: is it in milliseconds? {_SEE}")
        else:
            return told
        return now

    def _in_force(self, note: known.Known | None) -> known.InForce | None:
        try:
            return known.policy_in_force(self._log, note)
        except LedgerNotFound:
            return known.NOTHING
        except LedgerError:  # whoever appends meets it again, and says so
            return None

    def _leave_note(self, before: known.InForce, old: known.Known | None) -> None:
        """Leave a note: up to where the log is known, and the settings if the lean way judges as we do under them."""
        policy = self.config.policy
        digest = policy_digest(policy)
        extra = policy.redaction.labels or policy.redaction.prefixes or policy.error_categories
        files = None
        if self._lean is None and old is not None and old.policy == digest:
            files = old.files  # this folder isn't plain to see; what holds for others still holds
        elif self._lean is not None and self._lean[0] == self._settings.ledger and not extra:
            files = self._files if self.config.worktrees == "shared" else None
        known.save(self._log, before, digest, files)


def _event(raw: bytes | None) -> events.HookEvent:
    if raw is None:
        raise Refused(f"the event is longer than {INPUT_LIMIT} bytes: send less of an output; {_SEE}")
    if not raw.strip():
        raise Refused(f"stdin was empty: send one event as a JSON object; {_SEE}")
    try:
        return events.decode(raw)
    except ValidationError as error:
        raise Refused(f"the event can't be used: {error}; {_SEE}") from error
    except (DecodeError, MsgspecError, RecursionError, UnicodeError) as error:
        raise Refused(f"stdin holds no JSON object: {error}; {_SEE}") from error


def _lean_place(directory: str, environ: Mapping[str, str]) -> tuple[str, tuple[str, str]] | None:
    """What the lean way finds for a folder; None where it leaves that to us."""
    with suppress(Unclear, OSError, ValueError):
        return find(directory, {os.fsencode(name): os.fsencode(text) for name, text in environ.items()})
    return None


def _note(log: PrivateLog | None, sentence: str) -> None:
    if log is not None:
        log.note(_SUBJECT, sentence)


def _place_of(error: Exception) -> str:
    """Where an error was raised: its words may quote anything."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return "" if frame is None else f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"  # noqa: PTH119
