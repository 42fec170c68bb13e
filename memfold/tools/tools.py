"""A call of one of the four tools: arguments in, an event if it changes anything, an answer out (SPEC 16.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ledger.errors import LedgerError
from memfold.editing import Done, Store, add, delete, find, update
from memfold.tools import answers
from memfold.tools.answers import Result
from memfold.tools.arguments import Arguments, BadArgument
from memfold.tools.operation_log import OperationLog
from memfold.tools.similar import SimilarTexts
from projections.memory.model import Entry, MemoryState
from projections.prompts import current_epoch
from projections.text.clean import clean, single_line
from projections.world import WorldState
from replay.names import parse_id

__all__ = ["Tools"]

_LIMIT = 20


class _Call:
    """Who calls, with what."""

    def __init__(self, arguments: Arguments, session: str | None, call: str, time: str | None) -> None:
        self.arguments = arguments
        self.session = session
        self.call = call
        self.time = time


class Tools:
    """The four tools over one ledger. A "no" is a normal answer, and nothing raises.

    Args:
        store: the ledger.
        log: the log of operations; None where none is kept.
        texts: finds what a new memory resembles, sooner if it was asked before.
    """

    def __init__(self, store: Store, log: OperationLog | None = None, texts: SimilarTexts | None = None) -> None:
        self._texts = texts or SimilarTexts()
        self._store = store
        self._log = log
        self._tools: dict[str, Callable[[_Call], Result]] = {
            "memory_add": self._add,
            "memory_read": self._read,
            "memory_update": self._update,
            "memory_delete": self._delete,
        }

    def call(self, tool: str, args: object, *, session: str | None, call: str = "", time: str | None) -> Result:
        """Answer one call.

        Args:
            tool: name of the tool.
            args: whatever the model sent.
            session: the session that calls.
            call: the host's id of the call; the same call again is answered as the first time.
            time: RFC 3339.
        """
        operation = self._tools.get(tool)
        if operation is None:
            return answers.refused(f"there is no tool {single_line(tool)[:40]!r}")
        try:
            result = operation(_Call(Arguments(args, self._store.capture.quoted), session, call, time))
        except BadArgument as problem:
            result = answers.refused(str(problem))
        except LedgerError as error:
            result = answers.unstored(str(error), waits=self._store.keeps)
        if self._log is not None and tool != "memory_read" and not self._is_silent(session):
            self._log.note(tool, result, time)
        return result

    def _is_silent(self, session: str | None) -> bool:
        """Whether nothing may be written, not even that something was asked for (SPEC 3.7)."""
        capture = self._store.capture
        return not capture.enabled or (session is not None and capture.is_off_the_record(session))

    def _add(self, call: _Call) -> Result:
        given = call.arguments
        title, content = given.needed("title"), given.needed("content")
        done = add(
            self._store,
            session=call.session,
            title=title,
            content=content,
            tags=given.tags() or (),
            type=given.text("type"),
            origin="tool",
            call=call.call,
            time=call.time,
        )
        return answers.of_add(done, self._world(call).memory, self._texts)

    def _update(self, call: _Call) -> Result:
        given = call.arguments
        name, title, content, tags = given.id(), given.title(), given.text("content"), given.tags()
        target = find(self._world(call).memory, name)
        if isinstance(target, Done):
            return answers.of_update(target)
        return answers.of_update(
            update(
                self._store,
                target,
                session=call.session,
                title=title,
                content=content,
                tags=tags,
                origin="tool",
                call=call.call,
                time=call.time,
            )
        )

    def _delete(self, call: _Call) -> Result:
        given = call.arguments
        name, reason = given.id(), given.text("reason") or ""
        world = self._world(call)
        target = find(world.memory, name)
        if isinstance(target, Done):
            # A call that comes again, since nobody heard its answer, finds the memory gone: by itself.
            return answers.of_delete(self._deleted_before(world, target, call) or target)
        done = delete(
            self._store,
            target,
            session=call.session,
            origin="tool",
            reason=reason,
            call=call.call,
            time=call.time,
        )
        return answers.of_delete(done)

    def _deleted_before(self, world: WorldState, gone: Done, call: _Call) -> Done | None:
        if not call.call or call.session is None or gone.entry is None:
            return None
        event = world.memory.calls.get(self._store.capture.call_of(call.session, call.call))
        record = world.accounts.records[gone.entry.ref]
        is_ours = event is not None and record.decided == event
        return Done(kind="archived", id=gone.id, entry=gone.entry) if is_ours else None

    def _read(self, call: _Call) -> Result:
        given = call.arguments
        query = single_line(clean(given.text("query") or "").text)
        limit, offset = given.number("limit", _LIMIT, 1), given.number("offset", 0, 0)
        if not self._store.capture.enabled:
            return answers.refused("memory is switched off")
        world = self._world(call)
        active = sorted(_active(world.memory), key=lambda entry: entry.number)
        if not active:
            return answers.empty()
        found = [entry for entry in active if _matches(entry, query)]
        if not found:
            return answers.no_match(query)
        return answers.listing(found, query, limit=limit, offset=offset, is_newer=self._is_newer(world, call))

    def _is_newer(self, world: WorldState, call: _Call) -> bool:
        """Whether a memory came, changed or went after the block of the session was frozen (SPEC 14.6)."""
        source = None if call.session is None else self._store.capture.source_of(call.session)
        epoch = None if source is None else current_epoch(world.prompts, source)
        if epoch is None:
            return False
        entries = world.memory.entries.values()
        is_new = any(entry.order[0] > epoch.offset for entry in entries)
        return is_new or any(entry.updated is not None and entry.updated > epoch.now for entry in entries)

    def _world(self, call: _Call) -> WorldState:
        return self._store.world(None if call.session is None else self._store.capture.source_of(call.session))


def _active(memory: MemoryState) -> Iterator[Entry]:
    return (entry for entry in memory.entries.values() if entry.state == "promoted")


def _matches(entry: Entry, query: str) -> bool:
    """Whether every word of a query stands in title, content, a tag or the id, in any case."""
    wording = entry.proposal
    text = "\n".join((wording.title, wording.content, wording.text, *wording.tags, entry.id)).casefold()
    return all(word in text or parse_id(word) == entry.number for word in query.casefold().split())
