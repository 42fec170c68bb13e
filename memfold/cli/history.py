"""``memfold history``: every event of one memory, with its texts before and after."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping
from difflib import SequenceMatcher

from ledger.events import AnyEvent, MemoryImported, MemoryUndone, type_name
from ledger.source import split_source
from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents.changes import HistoryDocument, StepPart
from memfold.cli.parsing import at_option, json_option, ledger_options
from memfold.cli.place import open_view, short_session
from memfold.cli.show import missing_id
from memfold.errors import NotFoundError
from projections.memory.model import Proposal, Ref
from projections.text.clean import decode
from projections.world import WorldState
from replay.history import Step, history_of
from replay.kept import KeptFacts
from replay.names import entry_by_id, parse_id, refs_by_text

__all__ = ["configure", "run"]

_ACTORS = {"tool": "the model", "cli": "a command", "hand_edit": "a hand edit of MEMORY.md"}


def configure(parser: ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("memory", metavar="ID|TEXT", help="an id such as MEM-003, or a text, whole or in part")
    ledger_options(parser)
    at_option(parser)
    json_option(parser)


def run(options: Namespace) -> int:
    """Print the steps, oldest first."""
    view, console = open_view(options), Console(options)
    world = view.world(only=frozenset())
    ref = _named(world, decode(options.memory))
    entry, record = world.memory.entries.get(ref), world.accounts.records[ref]
    steps = history_of(view.events(), ref, KeptFacts(view.log.directory))
    undone = {step.event.data.undone for step in steps if isinstance(step.event, MemoryUndone)}
    offsets = {event.id: event.seq for event in view.events() if event.id in undone} if undone else {}
    document = HistoryDocument(
        ledger=view.place.shown_directory,
        position=world.memory.offset,
        now=format_time(world.memory.now),
        id="" if entry is None else entry.id,
        state=record.state,
        text=(record.proposal if entry is None else entry.proposal).text,
        steps=tuple(_part(step, offsets) for step in steps),
    )
    if options.json:
        console.emit(document)
    else:
        _print(console, document)
    return 0


def _named(world: WorldState, name: str) -> Ref:
    if parse_id(name) is not None:
        entry = entry_by_id(world.memory, name)
        if entry is None:
            raise missing_id(world.memory, name)
        return entry.ref
    refs = refs_by_text(world, name)
    if not refs:
        raise NotFoundError(f"no memory holds {name!r}", "memfold why, with that text")
    absorbed = world.memory.absorbed.get(refs[-1])
    return refs[-1] if absorbed is None else absorbed.into


def _part(step: Step, offsets: Mapping[str, int]) -> StepPart:
    data = getattr(step.event, "data", None)
    origin = getattr(data, "origin", "")
    _, session = split_source(step.event.source)
    return StepPart(
        offset=step.event.seq,
        event=type_name(step.event),
        time=format_time(step.now),
        session=session,
        actor=_ACTORS.get(origin, "") or _imported_from(step.event),
        undoes=offsets.get(step.event.data.undone) if isinstance(step.event, MemoryUndone) else None,
        reason=getattr(data, "reason", ""),
        states=tuple(move.after for move in step.moves),
        reasons=tuple(dict.fromkeys(code for move in step.moves for code in (*move.reasons, move.outcome) if code)),
        before=_text(step.before),
        after=_text(step.after),
        tags=() if step.after is None else step.after.tags,
        reinforcements=step.reinforcements,
    )


def _imported_from(event: AnyEvent) -> str:
    return f"{event.data.file}, line {event.data.line}" if isinstance(event, MemoryImported) else ""


def _text(wording: Proposal | None) -> str:
    """Title and content, as a person wrote them."""
    if wording is None:
        return ""
    return f"{wording.title}\n{wording.content}" if wording.content else wording.title or wording.text


def _print(console: Console, document: HistoryDocument) -> None:
    state = "active" if document.state == "promoted" else document.state
    console.out(f"{console.style.cyan(document.id or 'candidate without id')}  {state}")
    console.wrapped(document.text)
    tags: tuple[str, ...] = ()
    for step in document.steps:
        console.out()
        who = step.actor or (f"session {short_session(step.session)}" if step.session else "")
        decided = ", ".join(dict.fromkeys(step.states))
        codes = f" ({', '.join(step.reasons)})" if step.reasons else ""
        event = step.event if step.undoes is None else f"{step.event} #{step.undoes}"
        for line in console.prose(f"#{step.offset}  {step.time}  {event}  {decided}{codes}".rstrip()):
            console.out(line)
        for text in (who, step.reason and f"why: {step.reason}"):
            for line in console.prose(text, "  ") if text else ():
                console.out(console.style.dim(line))
        if step.before != step.after:
            _changed(console, step)
        if step.tags != tags:
            console.wrapped(f"tags: {', '.join(step.tags) or 'none'}")
        tags = step.tags


def _changed(console: Console, step: StepPart) -> None:
    """The lines that went, and those that came."""
    before, after = (text.split("\n") if text else [] for text in (step.before, step.after))
    for kind, *ends in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            _marked(console, "-", before[ends[0] : ends[1]], console.style.red)
            _marked(console, "+", after[ends[2] : ends[3]], console.style.green)


def _marked(console: Console, mark: str, lines: Iterable[str], style: Callable[[str], str]) -> None:
    for line in lines:
        for shown in console.lines(line, f"  {mark} "):
            console.out(style(shown))
