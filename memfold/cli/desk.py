"""What the commands that change the memory share: the ledger they write, MEMORY.md beside it, and how they tell."""

from __future__ import annotations

import os
from argparse import Namespace
from types import TracebackType
from typing import Self

from ledger.log import FileLog
from ledger.source import OWN_SOURCE
from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents.changes import ChangeDocument, ReasonPart
from memfold.cli.place import Place, find_place, has_empty_log, has_ledger, open_view, watch_damage
from memfold.clock import now_ms
from memfold.editing import Done, find
from memfold.errors import OK, ConfigError, MemfoldError, NotFoundError
from memfold.memory_file.keeper import MemoryFileKeeper
from memfold.paths import is_project, workspace_key
from memfold.terminal import clean
from memfold.workspace import Workspace
from projections.memory.model import Entry, Proposal, Ref
from projections.reasons import explain, rule_of
from projections.text.clean import decode
from replay.live import Live

__all__ = ["REFUSED", "Desk", "refusal", "require_project", "tell"]

REFUSED = 1
"""Exit code where a change was refused: nothing was done, and the output says why."""


class Desk:
    """A ledger that a command changes; hand edits in MEMORY.md are taken in first, and the file is written at the end.

    Args:
        options: the arguments.
        make: make the ledger if there is none.

    Raises:
        ConfigError: if memory is switched off.
        NotFoundError: if there is no ledger to change.
        LedgerError: if it can't be opened.
        MemfoldError: if something is to be stored where nothing becomes memory.
    """

    def __init__(self, options: Namespace, *, make: bool = False) -> None:
        place = find_place(options)
        config = place.resolved.config
        if not config.enabled:
            raise ConfigError("memory is switched off, so nothing was changed", "MEMFOLD=on, or enabled = true")
        if not has_ledger(place) or has_empty_log(place):
            if not make:
                open_view(options)  # says whose ledger it would be, and how to begin one
            from memfold.cli.lost import require_no_loss

            require_no_loss(options, place)
        if make:
            require_project(place)
        root = place.root or place.directory
        project = is_project(root, os.environ)
        key = workspace_key(root)
        self.place = place
        self.console = Console(options)
        self.log = FileLog.create(place.directory, root=root, key=key, project=project)
        watch_damage(options, self.log)
        self._live = Live(self.log)
        self.store = Workspace(self.log, root, config.policy, host=OWN_SOURCE, live=self._live)
        self.keeper = MemoryFileKeeper(
            root, place.directory, project=project, config=config, report=lambda text: self.console.note(decode(text))
        )
        self.time = format_time(now_ms())

    def __enter__(self) -> Self:
        """Take in what a person has changed in MEMORY.md before a command changes more."""
        try:
            self.keeper.sync()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the file, if the command went well."""
        try:
            if kind is None:
                self.keeper.sync()
                self.store.seal()
                self._live.keep()
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the files."""
        self.keeper.close()
        self.log.close()

    def named(self, name: str, *, gone: bool = False) -> Ref:
        """The memory that a person means.

        Raises:
            NotFoundError: if there is none, or several that a text may mean; they are listed.
        """
        found = find(self.store.world().memory, decode(name), gone=gone)
        if not isinstance(found, Done):
            return found
        shown = decode(name).strip()
        if found.kind == "ambiguous":
            for one in found.choices:
                self.console.note(self._line(one))
            count = len(found.choices)
            raise NotFoundError(f"{count} memories hold {shown!r}, so nothing was changed", "name one by its id")
        state = "" if found.entry is None else f"; {found.entry.id} is {_state(found.entry)}"
        kind = "memory that left" if gone else "active memory"
        raise NotFoundError(f"no {kind} is named {shown!r}{state}", "memfold list --state all")

    def _line(self, wording: Proposal) -> str:
        """A memory in one line: its id, or that it is pending."""
        entry = self.store.world().memory.entries.get(wording.ref)
        return f"{entry.id if entry else 'pending'}  {wording.type}  {clean(wording.text)}"

    def wording(self, ref: Ref) -> Proposal:
        """The wording of an active memory or a candidate."""
        memory = self.store.world().memory
        entry = memory.entries.get(ref)
        return memory.pending[ref] if entry is None else entry.proposal


def tell(desk: Desk, options: Namespace, done: Done, *, as_: str = "", also: str = "") -> int:
    """Print what came of a change; the exit code says whether anything went wrong.

    Args:
        desk: where it was made.
        options: the arguments.
        done: what came of it.
        as_: the word for an update, where the command has a better one.
        also: a line more.
    """
    document = _document(desk, done)
    if options.json:
        desk.console.emit(document)
    else:
        _print(desk.console, done, document, as_, also)
    return REFUSED if done.kind == "refused" else OK


def require_project(place: Place) -> None:
    """Refuse to store what a person gives where nothing becomes memory (SPEC 1.6), before a byte of it is written.

    Raises:
        MemfoldError: if the workspace is no project.
    """
    root = place.root or place.directory
    if not is_project(root, os.environ):
        message = f"{decode(root)} is no project, and nothing becomes memory there: nothing was stored"
        raise refusal(message, "cd to the folder of a project, or --workspace PATH")


def refusal(message: str, fix: str) -> MemfoldError:
    """A change that needs a word of the person first: nothing was done."""
    return MemfoldError(message, fix)


def _document(desk: Desk, done: Done) -> ChangeDocument:
    entry = done.entry
    wording = None if entry is None else entry.proposal
    return ChangeDocument(
        ledger=desk.place.shown_directory,
        done=done.kind,
        id=done.id,
        state="" if entry is None else entry.state,
        type="" if wording is None else wording.type,
        text="" if wording is None else wording.text,
        tags=() if wording is None else wording.tags,
        reasons=tuple(ReasonPart(code, rule_of(code), explain(code)) for code in done.reasons),
        event=done.event,
        position=desk.store.world().memory.offset,
    )


_WORDS = {
    "saved": "saved",
    "duplicate": "already there",
    "updated": "updated",
    "unchanged": "unchanged",
    "archived": "forgotten",
    "restored": "restored",
}


def _print(console: Console, done: Done, document: ChangeDocument, as_: str, also: str) -> None:
    if done.kind == "refused":
        taken = done.entry is not None and "absorbed_exact" in done.reasons
        console.out(console.style.red("refused") + (f": {done.id} has this text" if taken else ""))
        for reason in document.reasons:
            console.out(f"  {reason.code} ({reason.rule}): {reason.text}")
        return
    name = console.style.cyan(done.id) if done.id else "a pending request"
    word = {"updated": as_, "unchanged": f"already {as_}"}.get(done.kind) if as_ else None
    console.out(f"{word or _WORDS.get(done.kind, done.kind)}  {name}  {document.type}")
    if document.text:
        console.wrapped(document.text)
    if also:
        console.out(console.style.dim(f"  {also}"))


def _state(entry: Entry) -> str:
    return "active" if entry.state == "promoted" else entry.state
