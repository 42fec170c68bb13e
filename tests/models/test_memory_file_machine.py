"""MEMORY.md and the log under any order of tool calls, hand edits, commands and kills, against a plain model."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from ledger.log import FileLog
from ledger.times import format_time
from memfold.clock import now_ms
from memfold.config import Config
from memfold.editing import add, delete, restore, update
from memfold.memory_file import disk, kept
from memfold.memory_file.keeper import MemoryFileKeeper
from memfold.workspace import Workspace
from projections.headers import FILE_END, FILE_TITLE
from projections.memory.model import MemoryState, Ref, shown_id
from projections.memory_file.entries import file_entries, file_entry, is_in_file
from projections.memory_file.lines import ACTIVE, ARCHIVED, escape
from projections.memory_file.model import FileEntry, Frame
from projections.memory_file.reading import decode_file, encode_file, read_file
from projections.memory_file.writing import write_file
from projections.policy import DEFAULT_POLICY
from replay.live import Live
from replay.state import state_at
from tests.support.effort import examples

WORDS = ("red", "blue", "black", "white")
TAILS = (
    "",
    "\n## Active",
    "\n\n- added: 2020-01-01",
    "\n### [MEM-001] no head",
    "\n\\## Archived\n```md\n# OpenCode Memory\n```",
    "\n<!-- nextSeq: 5000 -->\n  indented",
)
TAGS: tuple[tuple[str, ...], ...] = ((), ("docks",), ("docks", "night"))
STEPS = 9
"""Writes of a sync that a kill can part; one more, so that some syncs live."""
MARKER = "<<<<<<< ours\n"
BOM = "\ufeff"
_NAME = re.compile(r"[Bb]erth \d+")
_COUNTER = re.compile("<!-- nextSeq: [0-9]+ -->")
_EDITS = ("add", "title", "content", "tags", "remove", "move", "move")
_MASS = 5
_BLANK = "\n"


class Note(NamedTuple):
    """What file and log say of one memory, under whatever number."""

    title: str
    content: str
    tags: tuple[str, ...]
    archived: bool


Sheet = dict[str, Note]
"""Memories by the name that the title or content of each holds."""


def sheet_of(entries: Iterable[FileEntry]) -> Sheet:
    """Entries by name, each of which may stand there once."""
    sheet: Sheet = {}
    for entry in entries:
        found = _NAME.search(f"{entry.title}\n{entry.content}")
        assert found is not None, entry
        name = found[0].lower()
        assert name not in sheet, f"{name} stands there twice"
        sheet[name] = Note(entry.title, entry.content, entry.tags, entry.archived)
    return sheet


class Model:
    """What must come of it, told without ids, texts or files.

    Attributes:
        log: what the log must say.
        base: what the file said when it was written, or was last taken in.
        file: what the file says now.
    """

    def __init__(self) -> None:
        self.log: Sheet = {}
        self.base: Sheet = {}
        self.file: Sheet = {}

    def take(self) -> None:
        """The log takes in what a person changed; what the person left alone stays as others have made it."""
        vanished = {name for name, note in self.base.items() if not note.archived and name not in self.file}
        active = sum(not note.archived for note in self.base.values())
        if active >= _MASS and 2 * len(vanished) > active:
            vanished = set()
        for name in vanished:
            self.log[name] = self.log[name]._replace(archived=True)
        for name, after in self.file.items():
            before = self.base.get(name)
            if before is None:
                self.log[name] = after
            elif before != after:
                self.log[name] = merged(before, after, self.log[name])
        self.base = dict(self.file)

    def write(self) -> None:
        """The file says what the log says."""
        self.base, self.file = dict(self.log), dict(self.log)


def merged(before: Note, after: Note, now: Note) -> Note:
    """Three wordings of one memory: what the person changed wins, field by field."""
    if after.archived and now.archived:
        return now  # the text of an archived memory can't be changed
    both = Note(
        after.title if after.title != before.title else now.title,
        after.content if after.content != before.content else now.content,
        after.tags if after.tags != before.tags else now.tags,
        now.archived,
    )
    if after.archived and not before.archived:
        return both._replace(archived=True)
    if before.archived or both != now:
        return both._replace(archived=False)
    return both


class _KilledError(BaseException):
    """The process is gone, in the middle of whatever it did."""


@contextmanager
def killed(at: int, *, behind: bool) -> Iterator[None]:
    """End whoever writes something at one of the writes, before it or right behind it."""
    left = at

    def dying(original: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            left -= 1
            if left == -1 and not behind:
                raise _KilledError
            result = original(*args, **kwargs)
            if left == -1:
                raise _KilledError
            return result

        return step

    places = ((Workspace, "record"), (kept, "save"), (disk, "_write"), (disk, "sync_folder"))
    patches = [patch.object(owner, name, dying(getattr(owner, name))) for owner, name in places]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


class Person:
    """Edits the file as a text: in any order, with any line ends, and with notes beside our part.

    Attributes:
        path: the file.
        notes: what was noted, in the places of ``Frame``, with plain line ends.
        frame: the notes as they were saved.
        in_conflict: whether the file was saved with the markers of a merge.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.parent.mkdir(parents=True)
        self.notes = Frame()
        self.frame = Frame()
        self.in_conflict = False

    def read(self) -> tuple[FileEntry, ...]:
        """The entries that stand in the file."""
        return read_file(decode_file(self.path.read_bytes())).entries if self.path.exists() else ()

    def save(self, entries: Sequence[FileEntry], *, crlf: bool, bom: bool, conflict: bool, in_place: bool) -> None:
        """Save entries in the given order, Active and Archived in the order of what comes first."""
        notes = self.notes
        ours = decode_file(self.path.read_bytes()) if self.path.exists() else ""
        counter = _COUNTER.search(ours.partition("### ")[0])  # nobody touches it
        sections = [_section(ACTIVE, notes.active_note, [entry for entry in entries if not entry.archived])]
        sections.append(_section(ARCHIVED, notes.archived_note, [entry for entry in entries if entry.archived]))
        text = f"{notes.before}{FILE_TITLE}\n{counter[0] if counter else ''}\n{notes.intro}\n{''.join(sections)}"
        if notes.after:
            text += f"{FILE_END}\n{notes.after}"
        end = "\r\n" if crlf else "\n"
        first = BOM if bom else ""
        self.frame = Frame(*(getattr(notes, place).replace("\n", end) for place in notes.__struct_fields__))
        self.frame = replace(self.frame, before=f"{first}{self.frame.before}")
        self.in_conflict = conflict
        data = encode_file(f"{first}{MARKER if conflict else ''}{text}".replace("\n", end))
        if in_place:
            self.path.write_bytes(data)
        else:
            new = self.path.with_name("editor")
            new.write_bytes(data)
            new.replace(self.path)

    def drop(self) -> None:
        """Delete the file, and with it the notes."""
        self.path.unlink(missing_ok=True)
        self.notes = self.frame = Frame()
        self.in_conflict = False


def _section(heading: str, note: str, entries: Sequence[FileEntry]) -> str:
    lines: list[str] = []
    for entry in entries:
        lines.append(f"### [{shown_id(entry.number)}] {entry.title}")
        lines += [f"- added: {entry.added}"] if entry.added else []
        lines += [f"- updated: {entry.updated}"] if entry.updated else []
        lines += [f"- tags: {','.join(entry.tags)}"] if entry.tags else []
        content = entry.content.split("\n") if entry.content else []
        lines += [escape(line, first=index == 0) for index, line in enumerate(content)]
        lines.append("")
    body = "".join(f"{line}\n" for line in lines)
    return f"{heading}\n{note or _BLANK[: len(entries)]}{body}"


class MemoryFileMachine(RuleBasedStateMachine):
    """Models that call tools, a person at the file, commands, and two processes that keep it and may be killed."""

    @initialize(data=st.data(), count=st.integers(0, 3))
    def begin(self, data: st.DataObject, count: int) -> None:
        """An empty ledger beside a file that isn't there, holds notes alone, or comes from another program."""
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "app"
        self.root.mkdir()
        self.log = FileLog.create(self.folder / "ledger", root=str(self.root), key="k", durability="never")
        self.tools = Workspace(self.log, str(self.root), DEFAULT_POLICY, host="test", live=Live(self.log))
        self.keepers = [self._keeper(), self._keeper()]
        self.model = Model()
        self.person = Person(Path(self.keepers[0].path))
        self.asked: set[str] = set()
        self.count = 0
        if count:
            self.edit(data, count - 1)
        self.sync(0)

    def teardown(self) -> None:
        """In the end file and log agree, and nothing stays behind."""
        try:
            if hasattr(self, "model"):
                if self.person.in_conflict:
                    self.person.save(self.person.read(), crlf=False, bom=False, conflict=False, in_place=True)
                self.sync(0)
                self.agree()
        finally:
            if hasattr(self, "keepers"):
                for keeper in self.keepers:
                    keeper.close()
            if hasattr(self, "folder"):
                shutil.rmtree(self.folder)

    # -- tools and commands ---------------------------------------------------------------------------------------

    @rule(word=st.sampled_from(WORDS), tail=st.sampled_from(TAILS), tags=st.sampled_from(TAGS))
    def tool_adds(self, word: str, tail: str, tags: tuple[str, ...]) -> None:
        """A model stores a memory."""
        name = self._next_name()
        note = Note(f"{name} {word}", f"The crane at {name} is {word}{tail}", tags, archived=False)
        done = add(
            self.tools, session="A", title=note.title, content=note.content, tags=tags, origin="tool", time=_now()
        )
        assert done.kind == "saved"
        self.model.log[name.lower()] = note

    @precondition(lambda self: self._names(archived=False))
    @rule(data=st.data(), word=st.sampled_from(WORDS), field=st.sampled_from(("title", "content", "tags")))
    def tool_updates(self, data: st.DataObject, word: str, field: str) -> None:
        """A model changes a field of a memory."""
        name = data.draw(st.sampled_from(self._names(archived=False)))
        tags = data.draw(st.sampled_from(TAGS))
        changes: dict[str, dict[str, Any]] = {
            "title": {"title": f"{name.capitalize()} {word}"},
            "content": {"content": f"The crane at {name} was {word}"},
            "tags": {"tags": tags},
        }
        new = changes[field]
        update(self.tools, self._ref(name), session="A", origin="tool", time=_now(), **new)
        self.model.log[name] = self.model.log[name]._replace(**new)

    @precondition(lambda self: self._names(archived=False))
    @rule(data=st.data())
    def tool_deletes(self, data: st.DataObject) -> None:
        """A model deletes a memory."""
        name = data.draw(st.sampled_from(self._names(archived=False)))
        assert delete(self.tools, self._ref(name), session="A", origin="tool", time=_now()).kind == "archived"
        self.model.log[name] = self.model.log[name]._replace(archived=True)

    @precondition(lambda self: self._names(archived=True))
    @rule(data=st.data())
    def command_restores(self, data: st.DataObject) -> None:
        """A person brings a memory back by a command."""
        name = data.draw(st.sampled_from(self._names(archived=True)))
        assert restore(self.tools, self._ref(name), time=_now()).kind == "restored"
        self.model.log[name] = self.model.log[name]._replace(archived=False)

    @rule()
    def command_undoes(self) -> None:
        """A person undoes the latest change; what that leads to is the matter of other tests."""
        plan = self.tools.plan_undo()
        if plan is not None:
            self.tools.undo(plan, time=_now())
            self.model.log = self._said()

    @rule(session=st.sampled_from(("A", "B")))
    def ask(self, session: str) -> None:
        """A user asks to remember something; it waits."""
        name = self._next_name()
        self.asked.add(name.lower())
        text = f"Remember: the pilot of {name} sleeps"
        self.tools.record(self.tools.capture.user_message(session, name, text, time=_now()))
        self._admit()

    @rule(session=st.sampled_from(("A", "B")), ends=st.booleans())
    def go_on(self, session: str, *, ends: bool) -> None:
        """A session starts or ends, and what waited is decided."""
        capture = self.tools.capture
        drafts = (
            capture.session_deleted(session, time=_now()) if ends else capture.session_started(session, time=_now())
        )
        self.tools.record(drafts)
        self._admit()

    # -- the person at the file -----------------------------------------------------------------------------------

    @rule(data=st.data(), count=st.integers(0, 3))
    def edit(self, data: st.DataObject, count: int) -> None:
        """A person changes some of the file, and saves it in the way of some editor."""
        entries = list(self.person.read())
        for _ in range(count):
            self._edit_once(data, entries)
        place = data.draw(st.sampled_from(("", *Frame.__struct_fields__)))
        if place:
            self.count += 1
            note = f"note {self.count} \udcff\n" + ("" if place == "intro" else "\n")  # blank lines there are ours
            self.person.notes = replace(self.person.notes, **{place: note})
        if data.draw(st.booleans()):
            entries = data.draw(st.permutations(entries))
        self.person.save(
            entries,
            crlf=data.draw(st.booleans()),
            bom=data.draw(st.booleans()),
            conflict=self.log.size() > 1 and data.draw(st.integers(0, 4)) == 4,
            in_place=data.draw(st.booleans()),
        )
        self.model.file = sheet_of(entries)

    def _edit_once(self, data: st.DataObject, entries: list[FileEntry]) -> None:
        what = data.draw(st.sampled_from(_EDITS if entries else ("add",)))
        word = data.draw(st.sampled_from(WORDS))
        if what == "add":
            name = self._next_name()
            next_number = max([self._memory().next_number, *(entry.number + 1 for entry in entries)])
            number = data.draw(st.sampled_from((0, next_number, 900 + self.count)))
            content = f"The gate at {name} is {word}{data.draw(st.sampled_from(TAILS))}"
            tags = data.draw(st.sampled_from(TAGS))
            archived = data.draw(st.booleans())
            entries.append(FileEntry(number, f"{name} {word}", content, tags=tags, archived=archived))
            return
        index = data.draw(st.integers(0, len(entries) - 1))
        entry = entries[index]
        name = next(iter(sheet_of([entry])))
        if what == "remove":
            del entries[index]
        elif what == "move":
            entries[index] = replace(entry, archived=not entry.archived)
        elif what == "title":
            moved = data.draw(st.booleans())  # in one save
            title = f"{name.capitalize()} {word} by hand"
            entries[index] = replace(entry, title=title, archived=entry.archived != moved)
        elif what == "content":
            tail = data.draw(st.sampled_from(TAILS))
            entries[index] = replace(entry, content=f"The gate at {name} was {word}{tail}")
        else:
            entries[index] = replace(entry, tags=data.draw(st.sampled_from(TAGS)))

    @rule()
    def drop(self) -> None:
        """A person deletes the file, which deletes no memory."""
        self.person.drop()
        self.model.file = dict(self.model.base)

    # -- the keepers ----------------------------------------------------------------------------------------------

    @rule(keeper=st.integers(0, 1))
    def sync(self, keeper: int) -> None:
        """A process brings file and log together; another finds nothing left to do."""
        self.keepers[keeper].sync()
        self._synced()
        if not self.person.in_conflict:
            size = self.log.size()
            assert not self.keepers[keeper].sync().wrote
            assert not self.keepers[1 - keeper].sync().wrote
            assert self.log.size() == size

    @rule(keeper=st.integers(0, 1))
    def follow(self, keeper: int) -> None:
        """A bridge looks at the file when an answer is given."""
        keeps = self.keepers[keeper]
        keeps.follow(self.tools.world().memory.revision)
        if self.person.path.exists():
            self._synced()

    @rule(
        data=st.data(),
        edits=st.integers(0, 2),
        keeper=st.integers(0, 1),
        at=st.integers(0, STEPS),
        behind=st.booleans(),
    )
    def die(self, data: st.DataObject, edits: int, keeper: int, at: int, *, behind: bool) -> None:
        """A process is killed at any of its writes; another takes its place and finishes what it had begun."""
        if edits:
            self.edit(data, edits)
        size, before = self.log.size(), self._bytes()
        try:
            with killed(at, behind=behind):
                self.keepers[keeper].sync()
        except _KilledError:
            recorded = [getattr(event, "data", None) for event in self.log.read(size)]
            if any(getattr(data, "origin", "") == "hand_edit" for data in recorded):
                self.model.take()
            if self._bytes() != before:
                self.model.write()
        else:
            self._synced()
        self.keepers[keeper].close()
        self.keepers[keeper] = self._keeper()
        self.sync(keeper)

    # -- what must hold -------------------------------------------------------------------------------------------

    @invariant()
    def every_change_is_accounted_for(self) -> None:
        """The log says what tools, commands and taken-in edits have made of it, no more and no less."""
        assert self._said() == self.model.log

    def agree(self) -> None:
        """The file is what a rebuild from the log gives, within other people's text."""
        memory = state_at(FileLog.open(self.folder / "ledger").read()).memory
        text = write_file(file_entries(memory), memory.next_number, self.person.frame)
        assert decode_file(self._bytes()) == text

    def _synced(self) -> None:
        """A sync is over: the edits are in the log, and the file follows it; one in conflict is left as it is."""
        if self.person.in_conflict:
            assert MARKER.strip().encode() in self._bytes()
            return
        self.model.take()
        self.model.write()
        self.agree()

    # -- helpers --------------------------------------------------------------------------------------------------

    def _keeper(self) -> MemoryFileKeeper:
        return MemoryFileKeeper(
            str(self.root), str(self.folder / "ledger"), project=True, config=Config(memory_file="on")
        )

    def _bytes(self) -> bytes:
        return self.person.path.read_bytes() if self.person.path.exists() else b""

    def _memory(self) -> MemoryState:
        return self.tools.world().memory

    def _said(self) -> Sheet:
        return sheet_of(file_entries(self._memory()))

    def _admit(self) -> None:
        """Requests that were waiting are memories now, if the log says so."""
        for name, note in self._said().items():
            if name in self.asked:
                self.asked.discard(name)
                self.model.log[name] = note

    def _names(self, *, archived: bool) -> list[str]:
        return sorted(name for name, note in self.model.log.items() if note.archived == archived)

    def _ref(self, name: str) -> Ref:
        entries = (entry for entry in self._memory().entries.values() if is_in_file(entry))
        return next(entry.ref for entry in entries if name in sheet_of([file_entry(entry)]))

    def _next_name(self) -> str:
        self.count += 1
        return f"Berth {self.count}"


def _now() -> str:
    return format_time(now_ms())


TestMemoryFileMachine = MemoryFileMachine.TestCase
TestMemoryFileMachine.settings = settings(max_examples=examples(40), stateful_step_count=25)
