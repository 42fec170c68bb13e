"""``memfold history``: every event of one memory, with its texts before and after."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping
from difflib import SequenceMatcher

from ledger.source import split_source
from ledger.times import format_time
from memfold.cli.console import Console
from memfold.cli.documents.changes import HistoryDocument, StepPart
from memfold.cli.parsing import at_option, json_option, ledger_options
from memfold.cli.place import View, open_view, short_session
from memfold.cli.show import missing_id
from memfold.errors import NotFoundError
from projections.histories import HistoryState, Words
from projections.memory.model import Ref
from projections.text.clean import decode
from replay.history import Worded, with_history, worded
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
    view, console, name = open_view(options), Console(options), decode(options.memory)
    document = with_history(view.log, view.at, lambda state: _document(view, state, _named(state, name)))
    if options.json:
        console.emit(document)
    else:
        _print(console, document)
    return 0


def _document(view: View, state: HistoryState, ref: Ref) -> HistoryDocument:
    entry, record, steps = state.memory.entries.get(ref), state.accounts.records[ref], state.steps[ref]
    offsets = {step.event: step.offset for step in steps}
    if undone := {step.undone for step in steps if step.undone} - offsets.keys():  # what it did was to other memories
        offsets |= {event.id: event.seq for event in view.events() if event.id in undone}
    return HistoryDocument(
        ledger=view.place.shown_directory,
        position=state.memory.offset,
        now=format_time(state.memory.now),
        id="" if entry is None else entry.id,
        state=record.state,
        text=(record.proposal if entry is None else entry.proposal).text,
        steps=tuple(_part(one, offsets) for one in worded(steps)),
    )


def _named(state: HistoryState, name: str) -> Ref:
    if parse_id(name) is not None:
        entry = entry_by_id(state.memory, name)
        if entry is None:
            raise missing_id(state.memory, name)
        return entry.ref
    refs = refs_by_text(state, name)
    if not refs:
        raise NotFoundError(f"no memory holds {name!r}", "memfold why, with that text")
    absorbed = state.memory.absorbed.get(refs[-1])
    return refs[-1] if absorbed is None else absorbed.into


def _part(one: Worded, offsets: Mapping[str, int]) -> StepPart:
    step = one.step
    _, session = split_source(step.source)
    return StepPart(
        offset=step.offset,
        event=step.type,
        time=format_time(step.now),
        session=session,
        actor=_ACTORS.get(step.origin, "") or step.file,
        undoes=offsets.get(step.undone) if step.undone else None,
        reason=step.reason,
        states=step.states,
        reasons=step.reasons,
        before=_text(one.before),
        after=_text(one.after),
        tags=() if one.after is None else one.after.tags,
        reinforcements=step.reinforcements,
    )


def _text(words: Words | None) -> str:
    """Title and content, as a person wrote them."""
    if words is None:
        return ""
    return f"{words.title}\n{words.content}" if words.content else words.title or words.text


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
