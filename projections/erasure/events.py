"""What each event says once the texts of a choice are gone: same seq, id, number and order of candidates (SPEC 15.4).

An eraser walks through a log with two states, that of the log as it is and that of the log as it will be: what a
candidate has met, and what a host was given, follows from the one and has to follow from the other. Free text is erased
wherever it stands; ``projections.erasure.fields`` has the fields that keep theirs, since they name or decide something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from ledger.events import (
    AnyEvent,
    CompactionPrepared,
    Event,
    FileImported,
    FileWritten,
    JudgedLine,
    LedgerErased,
    LedgerRepaired,
    MemoryAdded,
    MemoryDeleted,
    MemoryImported,
    MemoryRequested,
    MemoryRestored,
    MemoryUndone,
    MemoryUpdated,
    MemoryUpdatedData,
    Outcome,
    PromptRendered,
    RulesLoaded,
    SessionCompacted,
    SessionStarted,
    ToolCompleted,
    UnknownEvent,
)
from projections.erasure.fields import MEANING_TAGS
from projections.erasure.receipts import ReceiptEraser
from projections.erasure.texts import Choice
from projections.facts import Facts, Known, LineFacts, facts_for
from projections.memory.intake import key_digest
from projections.memory.model import Proposal, Ref
from projections.memory.proposals import reworded
from projections.memory_file.projection import file_text
from projections.memory_file.writing import part_digest
from projections.rules.refusals import text_refusals
from projections.text.erased import ERASED, keyed_digest
from projections.world import World, WorldState

__all__ = ["EventEraser"]

_Given = TypeVar("_Given", MemoryUpdatedData, Outcome)
_PLAIN: dict[type, tuple[str, ...]] = {
    SessionStarted: ("host", "host_version"),
    LedgerErased: ("reason",),
    LedgerRepaired: ("quarantine",),
}
"""Events whose free text no rule reads, and where it stands."""


class EventEraser:
    """Takes the events of a log in their order, and gives them as they are without the texts.

    Args:
        choice: the texts.
        key: the key of their digests.
        known: facts at hand for the log as it is.

    Attributes:
        old: the state of the log as it is, behind the last event that was taken.
        new: the state of the log as it will be.
    """

    def __init__(self, choice: Choice, key: str, known: Known | None = None) -> None:
        self._choice, self._key, self._known = choice, key, known
        self._needles, self._targets = choice.needles, frozenset(choice.targets)
        self._before, self._after = World(known=known), World()
        self.old: WorldState = self._before.initial()
        self.new: WorldState = self._after.initial()
        self._receipts = ReceiptEraser(choice, key)
        keys = choice.erased_keys(key)
        self._key_digests = {key_digest(one): key_digest(left) for one, left in keys.items()} | {
            key_digest(one.exact): key_digest(f"{one.type}:{keys[one.key]}") for one in choice.wordings
        }

        self._rewrites: dict[type, Callable[[Any], Event]] = {
            MemoryRequested: self._requested,
            SessionCompacted: self._compacted,
            MemoryAdded: self._added,
            MemoryImported: self._imported,
            MemoryUpdated: self._updated,
            MemoryUndone: self._undone,
            ToolCompleted: self._called,
            MemoryDeleted: self._explained,
            MemoryRestored: self._explained,
            LedgerErased: self._plain,
            LedgerRepaired: self._plain,
            SessionStarted: self._plain,
            CompactionPrepared: self._prepared,
            RulesLoaded: self._loaded,
            FileImported: self._file_imported,
            FileWritten: self._file_written,
            PromptRendered: self._rendered,
        }

    def take(self, event: AnyEvent) -> AnyEvent:
        """The next event that counts, as it will be."""
        changed = self.erased(event)
        self._before.step(self.old, event)
        self._after.step(self.new, changed)
        return changed

    def erased(self, event: AnyEvent) -> AnyEvent:
        """An event as it will be, the very same if nothing goes; one that doesn't count can be asked for too."""
        if isinstance(event, UnknownEvent):
            return event
        rewrite = self._rewrites.get(type(event))
        changed: Event = event if rewrite is None else rewrite(event)
        if changed.subject is not None and self._needles.are_in(changed.subject):
            changed = replace(changed, subject=self._needles.erased(changed.subject))
        return changed if changed != event else event

    # -- messages and summaries -----------------------------------------------------------------------------------

    def _requested(self, event: MemoryRequested) -> MemoryRequested:
        lines = self._judged(self._facts(event), event.data.text)
        return event if lines is None else replace(event, data=replace(event.data, text="", judged=lines))

    def _compacted(self, event: SessionCompacted) -> SessionCompacted:
        facts, data = self._facts(event), event.data
        lines = self._judged(facts, data.section)
        if lines is None:
            return event
        # The whole summary can be told from its digest by whoever knows the rest of it.
        digest = keyed_digest(self._key, "summary", data.digest) if data.digest else ""
        return replace(event, data=replace(data, section="", digest=digest, judged=lines, snapshot=facts.snapshot))

    def _judged(self, facts: Facts, text: str) -> tuple[JudgedLine, ...] | None:
        """The lines to keep in the place of a text that has to go; None if it stays."""
        lines = facts.lines
        held = map(self._needles.are_in, (text, *(line.text for line in lines)))
        is_held = any(held) and not any(map(self._choice.is_kept, lines))
        if not is_held and not any(map(self._choice.takes, lines)):
            return None
        return tuple(map(self._line, lines))

    def _line(self, line: LineFacts) -> JudgedLine:
        erased = self._choice.left_of(line, self._key) if self._goes(line, line.text) else line.erased
        assert line.kind != "written"  # noqa: S101 - no line of a message or summary is
        return JudgedLine(line.kind, line.type, line.text if erased is None else "", line.reasons, line.ref, erased)

    # -- what writes memories -------------------------------------------------------------------------------------

    def _added(self, event: MemoryAdded) -> MemoryAdded:
        data = replace(event.data, reason=self._reason(event.data.reason, Ref(event.id, 0)))
        (line,) = self._facts(event).lines
        if self._goes(line, data.title, data.content):
            left = self._choice.left_of(line, self._key, line.reasons)
            data = replace(data, title=ERASED, content="", tags=_tags(data.tags), type=line.type, erased=left)
        return replace(event, data=data)

    def _imported(self, event: MemoryImported) -> MemoryImported:
        data = replace(event.data, file=self._text(event.data.file))
        (line,) = self._facts(event).lines
        if self._goes(line, data.text, data.title, data.content, data.rationale):
            left = self._choice.left_of(line, self._key, line.reasons)
            data = replace(
                data,
                text=ERASED,
                title=ERASED,
                content="",
                rationale="",
                tags=_tags(data.tags),
                type=line.type,
                erased=left,
            )
        return replace(event, data=data)

    def _goes(self, line: LineFacts, *fields: str) -> bool:
        """Whether a text goes; also where it is no candidate, as a second delivery under the same id (SPEC 3.5)."""
        if line.erased is not None or self._choice.is_kept(line):
            return False
        return self._choice.takes(line) or any(map(self._needles.are_in, fields))

    def _updated(self, event: MemoryUpdated) -> MemoryUpdated:
        data = replace(event.data, reason=self._reason(event.data.reason, event.data.target))
        entry = self.old.memory.entries.get(data.target)
        if entry is None:
            return replace(event, data=self._fields(data))
        fields = self._wording(entry.proposal, data)
        if fields is not None:  # one of its wordings goes, and with it why it came or went
            data = replace(data, **fields, reason=data.reason and ERASED)
        return replace(event, data=data)

    def _undone(self, event: MemoryUndone) -> MemoryUndone:
        outcomes = tuple(map(self._outcome, event.data.outcomes))
        reason = self._reason(event.data.reason, *(one.target for one in outcomes))
        if outcomes != event.data.outcomes:
            reason = reason and ERASED
        return replace(event, data=replace(event.data, outcomes=outcomes, reason=reason))

    def _outcome(self, outcome: Outcome) -> Outcome:
        present = self._present(outcome.target)
        if present is None:
            return self._fields(outcome)
        given = (outcome.type, outcome.title, outcome.content, outcome.tags, outcome.erased)
        fields = None if given == (None,) * len(given) else self._wording(present, outcome)
        return outcome if fields is None else replace(outcome, **fields)

    def _present(self, ref: Ref) -> Proposal | None:
        """The wording that an undo finds: of a memory, or of a candidate that became none."""
        entry = self.old.memory.entries.get(ref)
        record = self.old.accounts.records.get(ref)
        return entry.proposal if entry is not None else None if record is None else record.proposal

    def _wording(self, old: Proposal, given: MemoryUpdatedData | Outcome) -> dict[str, Any] | None:
        """The fields of an update or outcome as they will be; None if they stay.

        A field that isn't given is that of the wording before. Where that goes and the new one stays, all are given.
        """
        if given.erased is not None:
            return None
        context = self.old.memory.context
        wording = reworded(context, old, given)
        fields = (given.title or "", given.content or "", *(given.tags or ()))
        is_held = any(map(self._needles.are_in, fields)) and not self._choice.is_kept(wording)
        if self._choice.takes(wording) or (is_held and wording.erased is None):
            refusals = text_refusals(wording.text, context.policy, wording.beside)
            return {
                "title": None if given.title is None else ERASED,
                "content": None if given.content is None else "",
                "tags": _tags(wording.tags),
                "erased": self._choice.left_of(wording, self._key, refusals),
            }
        if self._choice.takes(old):
            return {"title": wording.title, "content": wording.content, "tags": wording.tags}
        return None

    def _fields(self, given: _Given) -> _Given:
        """An update or outcome of a candidate that nobody knows, without the texts."""
        return replace(
            given,
            title=None if given.title is None else self._text(given.title),
            content=None if given.content is None else self._text(given.content),
            tags=None if given.tags is None else tuple(map(self._text, given.tags)),
        )

    # -- all others -----------------------------------------------------------------------------------------------

    def _called(self, event: ToolCompleted) -> ToolCompleted:
        data = event.data
        args = replace(data.args, path=self._text(data.args.path), command=self._text(data.args.command))
        return replace(event, data=replace(data, args=args, output=self._text(data.output)))

    def _explained(self, event: MemoryDeleted | MemoryRestored) -> Event:
        target, message = event.data.target, getattr(event.data, "message", None)
        is_about = message is not None and message in self._choice.messages
        reason = self._reason(event.data.reason, *(() if target is None else (target,)))
        changed: Event = replace(event, data=replace(event.data, reason=reason and (ERASED if is_about else reason)))
        return changed

    def _reason(self, reason: str, *about: Ref) -> str:
        """Why something was done; all of it goes where it is about a memory that goes: it may say the same again."""
        return reason and (self._text(reason) if self._targets.isdisjoint(about) else ERASED)

    def _plain(self, event: SessionStarted | LedgerErased | LedgerRepaired) -> Event:
        fields = {name: self._text(getattr(event.data, name)) for name in _PLAIN[type(event)]}
        changed: Event = replace(event, data=replace(event.data, **fields))
        return changed

    def _prepared(self, event: CompactionPrepared) -> CompactionPrepared:
        """A number means what it meant, so its key must be what the memory's will be."""
        targets = tuple(replace(one, key=self._key_digests.get(one.key, one.key)) for one in event.data.targets)
        return replace(event, data=replace(event.data, targets=targets))

    def _loaded(self, event: RulesLoaded) -> RulesLoaded:
        digests = tuple(self._key_digests.get(one, one) for one in event.data.digests)
        return replace(event, data=replace(event.data, path=self._text(event.data.path), digests=digests))

    def _file_imported(self, event: FileImported) -> FileImported:
        data = event.data
        skipped = tuple(replace(one, reason=self._text(one.reason)) for one in data.skipped)
        data = replace(data, file=self._text(data.file), damaged=self._text(data.damaged), skipped=skipped)
        return replace(event, data=data)

    def _file_written(self, event: FileWritten) -> FileWritten:
        """The digest of what the log will say; of a file that the log can't tell, one that tells nobody."""
        before, after = (part_digest(file_text(one.memory)) for one in (self.old, self.new))
        if before == after:
            return event
        digest = after if event.data.digest == before else keyed_digest(self._key, "file", event.data.digest)
        return replace(event, data=replace(event.data, digest=digest))

    def _rendered(self, event: PromptRendered) -> PromptRendered:
        return self._receipts.erased(event, self.old, self.new)

    def _text(self, text: str) -> str:
        return self._needles.erased(text)

    def _facts(self, event: MemoryRequested | SessionCompacted | MemoryAdded | MemoryImported) -> Facts:
        return facts_for(event, self.old.memory.context, self._known)


def _tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Tags of a memory whose text goes; as long as one is left, there is one: a merge looks for that (SPEC 9.2)."""
    return tuple(dict.fromkeys(tag if tag in MEANING_TAGS else ERASED for tag in tags))
