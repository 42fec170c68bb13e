"""What a host reports, in neutral words, becomes drafts: cleaned, redacted and reduced before anything is written.

Every host adapter speaks to this one module, so that redaction has one place (SPEC 7.1) and a fact has one form. So
have the bounds of what is read of a host's text (``memfold.bounds``): they come before all else.
Methods return the drafts to append, in order; an empty list where nothing may or need be recorded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from msgspec.structs import replace

from ledger.events import (
    CompactionPreparedData,
    Data,
    Delivery,
    Draft,
    MemoryAddedData,
    MemoryDeletedData,
    MemoryRequestedData,
    MemoryRestoredData,
    MemoryUndoneData,
    MemoryUpdatedData,
    NumberedTarget,
    Outcome,
    PromptRenderedData,
    RulesLoadedData,
    SessionCompactedData,
    SessionDeletedData,
    SessionLinkedData,
    SessionMeasuredData,
    SessionStartedData,
    Target,
    ToolCompletedData,
)
from ledger.source import make_source
from memfold import __version__
from memfold.bounds import READ_LIMIT, whole_lines
from memfold.innocent import is_innocent
from projections.hot.excerpt import excerpt, is_output_read, read_arguments
from projections.memory.commands import call_key
from projections.memory.intake import key_digest
from projections.memory.model import Entry
from projections.policy import Context, RedactionExtra
from projections.text.clean import decode, single_line
from projections.text.fields import take_in_content, take_in_tags, take_in_title
from projections.text.intake import take_in, take_in_block
from projections.text.limits import TITLE_LIMIT
from projections.text.redact import redact, redact_lines, withhold

__all__ = ["ID_LIMIT", "Capture"]

Origin = Literal["tool", "cli", "hand_edit"]
Status = Literal["completed", "failed", "aborted"]

_NEVER_RAN = re.compile(r"\b(?:abort(?:ed)?|cancell?ed|denied|rejected|timed out|timeout|interrupted)\b", re.IGNORECASE)
# A program that speaks by its own name ("bash: ./x: Permission denied") has run.
_PROGRAM_SPEAKS = re.compile(r"[a-z][\w.+/-]{0,80}(?::\s|\sERR!)")
_FIRST_LINE = 200
_QUOTE = 40
_ID_DIGEST = 16

ID_LIMIT = 200
"""Characters of an id of the host; of a longer one its beginning is written, with a digest."""
_ID_HEAD = 64


class Capture:
    """Turns what one host reports into drafts.

    The only thing it remembers is which sessions are off the record, and whom sub-agents work for: nothing about them
    may be written, so no fold could know (SPEC 3.7).

    Args:
        host: name of the host, first part of every source.
        context: policy and workspace root in force.
        enabled: False while memory is switched off: then nothing is recorded at all.
        delivery: how sessions that start now are given their blocks.
    """

    def __init__(
        self,
        host: str,
        context: Context,
        *,
        enabled: bool = True,
        delivery: Delivery = Delivery(),  # noqa: B008 - a frozen value
    ) -> None:
        self._host = host
        self._off_the_record: set[str] = set()
        self._parents: dict[str, str] = {}
        self.configure(context, enabled=enabled, delivery=delivery)

    def configure(self, context: Context, *, enabled: bool, delivery: Delivery) -> None:
        """Go on under other settings; what is off the record stays so."""
        self._context = context
        self._has_own_rules = context.policy.redaction != RedactionExtra()
        self._enabled = enabled
        self._delivery = delivery

    @property
    def enabled(self) -> bool:
        """Whether anything is recorded at all."""
        return self._enabled

    def source_of(self, session: str) -> str:
        """The source of what a session does."""
        return _source_of(self._host, session, self._context.policy.redaction)

    def call_of(self, session: str, call: str) -> str:
        """The key under which the state knows a call of one of our tools."""
        return call_key(self.source_of(session), self.id_of(call))

    def quoted(self, text: str) -> str:
        """The beginning of a text as a sentence may quote it: redacted before it is cut, as all that is logged."""
        return take_in(text, self._context.policy, _QUOTE).text

    def is_off_the_record(self, session: str) -> bool:
        """Whether what the session does now is off the record, and no hot part goes with it (SPEC 3.7).

        It is if its newest message is, or that of a session that it works for as a sub-agent, at any depth.
        """
        seen: set[str] = set()  # a host may name parents in a circle
        here: str | None = session
        while here is not None and here not in seen:
            if here in self._off_the_record:
                return True
            seen.add(here)
            here = self._parents.get(here)
        return False

    def spoke_off_the_record(self, session: str) -> bool:
        """Whether the session's own newest message is off the record: what another process must be told."""
        return session in self._off_the_record

    def keep_off_the_record(self, session: str) -> None:
        """Go on with what another process was told: the session's newest message is off the record."""
        self._off_the_record.add(session)

    def note_parent(self, session: str, parent: str) -> None:
        """The session is a sub-agent's: it is off the record when its parent is. A start or a link says so too."""
        self._parents[session] = parent

    def session_started(
        self,
        session: str,
        *,
        time: str | None,
        parent: str | None = None,
        reason: Literal["new", "resume", "restart"] = "new",
        host_version: str = "",
        instance: str = "",
    ) -> list[Draft]:
        """The first hook of a session that can lead to a prompt; again on resume or restart (DESIGN 3)."""
        if parent is not None:
            self.note_parent(session, parent)
        data = SessionStartedData(
            session=self.id_of(session),
            parent=None if parent is None else self.id_of(parent),
            host=self._host,
            host_version=self.id_of(host_version),
            instance=self.id_of(instance),
            reason=reason,
            delivery=self._delivery,
        )
        return self._drafts(session, time, data)

    def session_linked(self, session: str, parent: str, *, time: str | None) -> list[Draft]:
        """The parent of a session became known (SPEC 3.4)."""
        self.note_parent(session, parent)
        return self._drafts(session, time, SessionLinkedData(self.id_of(session), self.id_of(parent)))

    def user_message(self, session: str, message: str, text: str, *, time: str | None) -> list[Draft]:
        """A message the user wrote; recorded only if it holds a remember form, and only what extraction reads."""
        # Rules compile patterns by the hundred: a hook that records a tool call doesn't wait for them.
        from projections.rules.explicit import is_off_the_record, reduce_message

        if is_off_the_record(text[:READ_LIMIT]):
            self._off_the_record.add(session)
            return []
        self._off_the_record.discard(session)
        if self.is_off_the_record(session):
            return []
        taken = take_in_block(whole_lines(text), self._context.policy)
        reduced = reduce_message(taken.text, self._context)
        if not reduced:
            return []
        # A form asks for what stands in the next line or in a list, whose label stays behind (SPEC 4.5). Reduced
        # again, as a mark may be longer than what it hides.
        reduced = reduce_message(self._lines(reduced), self._context)
        return self._drafts(session, time, MemoryRequestedData(self.id_of(message), reduced, taken.notes))

    def tool_completed(
        self,
        session: str,
        call: str,
        tool: str,
        args: Mapping[str, object],
        *,
        exit: int | None,  # noqa: A002 - the host's own word
        output: str,
        time: str | None,
        ran: bool = True,
    ) -> list[Draft]:
        """A tool call that ended; ``ran`` is False where it was cut off before an exit (SPEC 13.2)."""
        status: Status = "completed" if ran else "aborted"
        return self._tool(session, call, tool, args, exit_code=exit, status=status, output=output, time=time)

    def tool_failed(
        self,
        session: str,
        call: str,
        tool: str,
        args: Mapping[str, object],
        error: str,
        *,
        time: str | None,
        ran: bool | None = None,
    ) -> list[Draft]:
        """A tool call that the host reports as a failure instead of a result.

        ``ran`` is False for a call that was denied, cancelled or timed out; where the host doesn't say, the first
        line of its message does (SPEC 13.2).
        """
        if ran is None:
            line = error.strip().partition("\n")[0][:_FIRST_LINE]
            ran = _NEVER_RAN.search(line) is None or _PROGRAM_SPEAKS.match(line) is not None
        status: Status = "failed" if ran else "aborted"
        return self._tool(session, call, tool, args, exit_code=None, status=status, output=error, time=time)

    def compaction_prepared(
        self, session: str, position: int, entries: Sequence[Entry], *, time: str | None
    ) -> list[Draft]:
        """A numbered list is given to the host: ``entries[n - 1]`` is what ``[Mn]`` means (SPEC 5.4)."""
        targets = tuple(
            NumberedTarget(entry.ref.event, entry.ref.index, key_digest(entry.proposal.exact), entry.proposal.source)
            for entry in entries
        )
        return self._drafts(session, time, CompactionPreparedData(position, targets))

    def compacted(self, session: str, message: str, summary: str | None, *, time: str | None) -> list[Draft]:
        """A compaction summary exists, possibly an empty one (SPEC 5.3).

        It covers a session and not a message, so that off the record only a sub-agent's is left out.
        """
        from projections.rules.candidates import reduce_summary

        if session in self._parents and self.is_off_the_record(session):
            return []
        taken = take_in_block(whole_lines(summary or ""), self._context.policy)
        digest = hashlib.sha256(taken.text.encode()).hexdigest() if taken.text.strip() else ""
        section = reduce_summary(taken.text, self._context)
        return self._drafts(session, time, SessionCompactedData(self.id_of(message), section, digest, taken.notes))

    def prompt_rendered(self, session: str, data: PromptRenderedData, *, time: str | None) -> list[Draft]:
        """A block was handed to the host, by this version of memfold (DESIGN 3)."""
        return self._drafts(session, time, replace(data, program=__version__))

    def session_deleted(self, session: str, *, time: str | None) -> list[Draft]:
        """The host deleted the session."""
        return self._drafts(session, time, SessionDeletedData())

    def measured(
        self,
        session: str,
        *,
        requests: int,
        input: int,  # noqa: A002 - the host's own word
        cache_read: int,
        cache_write: int,
        time: str | None,
    ) -> list[Draft]:
        """End of a turn: requests and tokens as the host reported them; nothing of one off the record (SPEC 3.7)."""
        if self.is_off_the_record(session):
            return []
        return self._drafts(session, time, SessionMeasuredData(requests, input, cache_read, cache_write))

    def rules_file(self, path: str, text: str, *, time: str | None, session: str | None = None) -> list[Draft]:
        """The host has loaded an instruction file; only digests of its lines are kept (SPEC 3.6)."""
        from projections.rules.candidates import rule_digests_of

        return self._drafts(session, time, RulesLoadedData(self._block(path), rule_digests_of(text, self._context)))

    def memory_added(
        self,
        session: str | None,
        *,
        title: str,
        content: str,
        tags: Sequence[str] = (),
        type: str | None = None,  # noqa: A002 - the tool's own word
        origin: Origin = "tool",
        reason: str = "",
        call: str = "",
        number: int | None = None,
        time: str | None,
    ) -> list[Draft]:
        """A memory that a tool, a command or a hand edit adds (SPEC 14.6), with the number that a person gave it."""
        if self._is_unheard(session, origin):
            return []
        line = self._line(title)
        data = MemoryAddedData(
            title=line,
            content=take_in_content(content, self._context.policy, above=line),
            tags=take_in_tags(tags, self._context.policy),
            type=None if type is None else self._line(type),
            origin=origin,
            reason=self._line(reason),
            call=self.id_of(call),
            number=number,
        )
        return self._drafts(session, time, data)

    def memory_updated(
        self,
        session: str | None,
        target: Target,
        *,
        title: str | None = None,
        content: str | None = None,
        tags: Sequence[str] | None = None,
        type: str | None = None,  # noqa: A002 - the command's own word
        origin: Origin = "tool",
        reason: str = "",
        call: str = "",
        time: str | None,
    ) -> list[Draft]:
        """New fields of a memory; None leaves a field as it is."""
        if self._is_unheard(session, origin):
            return []
        line = None if title is None else self._line(title)
        data = MemoryUpdatedData(
            target=target,
            title=line,
            content=None if content is None else take_in_content(content, self._context.policy, above=line or ""),
            tags=None if tags is None else take_in_tags(tags, self._context.policy),
            type=None if type is None else self._line(type),
            origin=origin,
            reason=self._line(reason),
            call=self.id_of(call),
        )
        return self._drafts(session, time, data)

    def memory_deleted(
        self,
        session: str | None,
        *,
        target: Target | None = None,
        message: str | None = None,
        origin: Origin = "tool",
        reason: str = "",
        call: str = "",
        time: str | None,
    ) -> list[Draft]:
        """A delete of one target, or of all that a message proposed (SPEC 15.1)."""
        if self._is_unheard(session, origin):
            return []
        of_message = None if message is None else self.id_of(message)
        data = MemoryDeletedData(target, of_message, origin, self._line(reason), self.id_of(call))
        return self._drafts(session, time, data)

    def memory_restored(
        self, session: str | None, target: Target, *, origin: Origin = "cli", reason: str = "", time: str | None
    ) -> list[Draft]:
        """A memory that left comes back under its id (SPEC 15.3)."""
        return self._drafts(session, time, MemoryRestoredData(target, origin, self._line(reason)))

    def memory_undone(
        self, undone: str, outcomes: Sequence[Outcome], *, origin: Origin = "cli", reason: str = "", time: str | None
    ) -> list[Draft]:
        """A change is reverted, with what that leads to (SPEC 15.3)."""
        return self._drafts(None, time, MemoryUndoneData(undone, tuple(outcomes), origin, self._line(reason)))

    def _is_unheard(self, session: str | None, origin: Origin) -> bool:
        """Whether a memory call belongs to a message off the record; a command of a person never does."""
        return origin == "tool" and session is not None and self.is_off_the_record(session)

    def _tool(
        self,
        session: str,
        call: str,
        tool: str,
        args: Mapping[str, object],
        *,
        exit_code: int | None,
        status: Status,
        output: str,
        time: str | None,
    ) -> list[Draft]:
        if self.is_off_the_record(session):
            return []
        values = ((name, args.get(name)) for name in read_arguments(tool))
        given = {name: whole_lines(value) for name, value in values if isinstance(value, str)}
        text = whole_lines(output) if is_output_read(tool) else ""
        # Asked for all that is read at once: a hook waits for this, and most calls hold nothing to hide.
        plain = len(call) <= ID_LIMIT and len(tool) <= TITLE_LIMIT
        plain = plain and self._is_innocent("\n".join((call, tool, text, *given.values())))
        if not plain:
            given = {name: self._argument(name, value) for name, value in given.items()}
            text = self._block(text)
        kept, lines = excerpt(tool, given, exit_code, status, text, policy=self._context.policy)
        data = ToolCompletedData(
            call=call if plain else self.id_of(call),
            tool=single_line(tool) if plain else self._line(tool[:READ_LIMIT]),
            args=kept,
            exit=exit_code,
            status=status,
            # The lines that are kept become one line in a summary (SPEC 13.4), wherever they had stood.
            output=self._lines(lines) if lines else "",
        )
        return self._drafts(session, time, data)

    def _drafts(self, session: str | None, time: str | None, data: Data) -> list[Draft]:
        if not self._enabled:
            return []
        source = self._host if session is None else self.source_of(session)
        return [Draft(source=source, time=time, data=data)]

    # Most texts are innocent, and the rules take a hundred times as long to say so.

    def _line(self, text: str) -> str:
        if len(text) <= TITLE_LIMIT and self._is_innocent(text):
            return single_line(text)
        return take_in_title(text, self._context.policy)

    def _block(self, text: str) -> str:
        return text if self._is_innocent(text) else take_in_block(text, self._context.policy).text

    def _lines(self, text: str) -> str:
        """A block whose lines will be one line: a label and its value may be neighbours then."""
        if self._is_innocent(text):
            return text
        return redact_lines(take_in_block(text, self._context.policy).text, self._context.policy.redaction)

    def _is_innocent(self, text: str) -> bool:
        """Whether no rule would change a text; not to be told at a glance where a policy has rules of its own."""
        return not self._has_own_rules and is_innocent(text)

    def _argument(self, name: str, value: str) -> str:
        """An argument of a tool; a command line stands for its error where the output says nothing (SPEC 13.4)."""
        return self._lines(value) if name == "command" else self._block(value)

    def id_of(self, name: str) -> str:
        """An opaque id of the host as it is written.

        One that holds a secret or half a character, or is too long, gets a digest for it: different ids stay different.
        """
        return _written_id(name, self._context.policy.redaction)


@lru_cache(maxsize=64)  # a hook asks several times for its session
def _source_of(host: str, session: str, extra: RedactionExtra) -> str:
    return make_source(host, _written_id(session, extra))


@lru_cache(maxsize=64)
def _written_id(name: str, extra: RedactionExtra) -> str:
    if len(name) <= ID_LIMIT and extra == RedactionExtra() and is_innocent(name):
        return name
    shown = redact(withhold(decode(name)), extra) if len(name) <= READ_LIMIT else ""
    if len(shown) > ID_LIMIT:
        shown = shown[:_ID_HEAD]
    if shown == name:
        return name
    return f"{shown}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:_ID_DIGEST]}"
