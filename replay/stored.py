"""A state as JSON and back: what is small as it is, and the tables that grow with the log as an archive and changes.

A start decodes the small part. What a table holds is looked up when it is asked for (``replay.tables``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from types import GenericAlias as _Alias
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from ledger.events import AnyEvent, SessionStarted, UnknownEvent
from ledger.runs import Run
from projections.memory.model import Cohort, Entry, MemoryState, Proposal, Ref
from projections.memory.selection import strongest
from projections.prompts import Prompts
from replay.archive import Archive, Record
from replay.positions import note_session, note_source
from replay.rows import Older, Place, Row, older_of
from replay.tables import Codec, Table, changes_of, records_of

if TYPE_CHECKING:
    from projections.accounting import Accounts
    from projections.histories import Steps
    from projections.hot.delivery import Given
    from projections.hot.state import States
    from projections.world import World, WorldState

__all__ = [
    "SCHEMA",
    "Body",
    "Held",
    "Parts",
    "Tables",
    "changes_since",
    "only_of",
    "parts_of",
    "prompts_of",
    "records",
    "tables_of",
    "take_in",
    "track",
]

T = TypeVar("T")

SCHEMA = "c1bbca1be80faead"
"""Digest of all types that are stored; a test holds it. States of other types are never read by mistake."""

_SMALL = frozenset(["pending", "cohorts", "rules", "erasures", "warnings", "snapshots"])
"""The dictionaries of workspace memory that are bounded by what is alive, or by what is configured."""
_NEW = MemoryState()
_GROWING = tuple(
    name for name in MemoryState.__struct_fields__ if isinstance(getattr(_NEW, name), dict) and name not in _SMALL
)
_BESIDE = ("seen", "names", "steps")
"""Tables that stand beside the state."""
_PAIRS: dict[str, Any] = {
    # JSON has no keys but texts.
    "pending": list[tuple[Ref, Proposal]],
    "cohorts": dict[str, list[tuple[Cohort, list[Place], Older]]],
}

Tables = dict[str, dict[Any, Any]]
"""Tables by name."""


class Held(Struct):
    """What a checkpoint holds beside its place: the state, whose sessions are in it, and which there were.

    Attributes:
        world: the state.
        asked: sources of the sessions whose blocks, deliveries and hot state are in it.
        seen: the sources of all events before it.
        names: session ids and the source of each (``replay.positions.session_sources``).
        steps: the histories of all candidates (``projections.histories``).
    """

    world: WorldState
    asked: tuple[str, ...]
    seen: dict[str, None]
    names: dict[str, str]
    steps: Steps


class Changes(Struct, array_like=True):
    """What a table has that the archive hasn't, and the keys that it hasn't any more; read when it is asked for."""

    changed: Raw
    gone: Raw


_UNCHANGED = Changes(Raw(b"[]"), Raw(b"[]"))


class Body(Struct):
    """The parts of a checkpoint, each decoded when it is asked for.

    ``shown`` are the entries of a block of now, beside those in the tables: a start would else read a bucket of the
    archive for each of them.
    """

    memory: Raw
    shown: Raw
    prompts: Raw
    accounts: Raw
    sessions: Raw
    given: Raw
    asked: tuple[str, ...]
    tables: dict[str, Changes]


def changes_since(held: Held, archive: Archive, most: int) -> dict[str, Changes] | None:
    """What has changed in the tables of a state since an archive was written.

    Args:
        held: the state.
        archive: the archive.
        most: how many changes there may be.

    Returns:
        The changes by table; None if there are more, or nobody has kept count.
    """
    found: dict[str, Changes] = {}
    for name, table in tables_of(held).items():
        changes = changes_of(table, archive)
        if changes is None:
            return None
        changed, gone = changes
        most -= len(changed) + len(gone)
        found[name] = Changes(_raw(changed), _raw(gone))
    return found if most >= 0 else None


def parts_of(held: Held, changes: dict[str, Changes] | None = None) -> tuple[Body, bytes]:
    """A state in parts.

    Args:
        held: the state.
        changes: of its tables; None if an archive was just written of them.

    Returns:
        The parts, and the bytes that lie behind them (``replay.rows``).
    """
    world = held.world
    older: list[bytes] = []
    body = Body(
        memory=_raw(_memory_part(world.memory, older)),
        shown=_raw(strongest(world.memory)),
        prompts=_raw(world.prompts),
        accounts=_raw(world.accounts.totals),
        sessions=_raw(world.sessions),
        given=_raw(world.given),
        asked=held.asked,
        tables=dict.fromkeys(tables_of(held), _UNCHANGED) if changes is None else changes,
    )
    return body, b"".join(older)


def track(held: Held, archive: Archive) -> None:
    """Keep count, from now on, of what changes in the tables of a state, which an archive was just written of."""
    for name, table in tables_of(held).items():
        tracked: Table[Any, Any] = Table(archive, codec_of(name), table.items())
        tracked.start_counting()
        _set_table(held, name, tracked)


def only_of(held: Held, sources: tuple[str, ...]) -> Held:
    """The same with some of its sessions alone; it shares everything else."""
    world, wanted = held.world, frozenset(sources)
    prompts = prompts_of(world.prompts, wanted)
    states = world.sessions
    states = replace(states, sessions=_some(states.sessions, wanted), subagents=_some(states.subagents, wanted))
    world = replace(world, prompts=prompts, sessions=states, given=_some(world.given, wanted))
    return replace(held, world=world, asked=sources)


def prompts_of(prompts: Prompts, sources: AbstractSet[str]) -> Prompts:
    """Those of some sessions alone."""
    epochs, receipts = _some(prompts.epochs, sources), _some(prompts.receipts, sources)
    return Prompts(epochs, receipts, _some(prompts.deliveries, sources))


def _some(table: dict[str, T], wanted: AbstractSet[str]) -> dict[str, T]:
    return {source: one for source, one in table.items() if source in wanted}


def _set_table(held: Held, name: str, table: Table[Any, Any]) -> None:
    if name == "accounts":
        held.world.accounts.records = table
    else:
        setattr(held if name in _BESIDE else held.world.memory, name, table)


def take_in(held: Held, world: World, events: Iterable[AnyEvent | Run]) -> None:
    """Fold events onto what is held: the state, the histories, and which sessions there were."""
    from projections.histories import note_steps

    world.run(held.world, _noted(events, held), partial(note_steps, held.steps))


def _noted(events: Iterable[AnyEvent | Run], held: Held) -> Iterator[AnyEvent | Run]:
    """The events; their sources and sessions are known from now on."""
    seen, names, source = held.seen, held.names, ""
    for event in events:
        if type(event) is Run:
            for source in event.stretch.sources:
                if source not in seen:
                    seen[source] = None
                note_source(names, source)
            source = ""
        elif event.source != source or type(event) is SessionStarted:
            if event.source not in seen:
                seen[event.source] = None
            note_session(names, event)
            source = "" if isinstance(event, UnknownEvent) else event.source
        yield event


def tables_of(held: Held) -> Tables:
    """The tables of a state that grow with the log."""
    memory = {name: getattr(held.world.memory, name) for name in _GROWING}
    return {**memory, "accounts": held.world.accounts.records, **{name: getattr(held, name) for name in _BESIDE}}


def records(held: Held) -> Iterator[Record]:
    """All that the tables hold, for an archive."""
    for name, table in tables_of(held).items():
        yield from records_of(name, table)


class Parts:
    """Reads the parts of a checkpoint.

    Args:
        body: the parts.
        archive: what its tables lie over.
        older: reads what lies behind the parts.
    """

    def __init__(self, body: Body, archive: Archive, older: Callable[[Older], Sequence[Place]]) -> None:
        self._body = body
        self._archive = archive
        self._older = older
        self._shown: list[Entry] | None = None

    def memory(self) -> MemoryState:
        """Workspace memory."""
        part = _read(_Memory, self._body.memory)
        fields = {name: getattr(part, name) for name in part.__struct_fields__}
        state = MemoryState(**fields)
        state.pending = dict(fields["pending"])
        state.cohorts = {
            type_: {cohort: Row(newest, older, self._older) for cohort, newest, older in cohorts}
            for type_, cohorts in fields["cohorts"].items()
        }
        for name in _GROWING:
            setattr(state, name, self.table(name))
        return state

    def prompts(self) -> Prompts:
        """Blocks of the sessions that were asked for."""
        return _read(Prompts, self._body.prompts)

    def accounts(self) -> Accounts:
        """Accounts of all candidates."""
        from projections.accounting import Accounts

        return Accounts(self.table("accounts"), _read(dict[str, int], self._body.accounts))

    def sessions(self) -> States:
        """Hot state of the sessions that were asked for."""
        from projections.hot.state import States

        return _read(States, self._body.sessions)

    def given(self) -> dict[str, Given]:
        """What these sessions were given."""
        from projections.hot.delivery import Given

        return _read(dict[str, Given], self._body.given)

    def table(self, name: str) -> Table[Any, Any]:
        """One of the tables."""
        changes, (key, value) = self._body.tables[name], _types(name)
        changed: list[tuple[Any, Any]] = _read_list(_Alias(tuple, (key, value)), changes.changed)
        return Table(self._archive, codec_of(name), changed, _read_list(key, changes.gone), self._near(name))

    def _near(self, name: str) -> dict[Any, Any] | None:
        """What a table has of the entries that a block looks at."""
        if name not in ("entries", "numbers"):
            return None
        if self._shown is None:
            self._shown = _read(list[Entry], self._body.shown)
        if name == "entries":
            return {entry.ref: entry for entry in self._shown}
        return {entry.number: entry.ref for entry in self._shown}


def codec_of(name: str) -> Codec:
    """How a table is read."""
    key, value = _types(name)
    return Codec(name, _reader(key), _reader(value))


def _reader(type_: Any) -> Callable[[Raw], Any]:
    """Reads one kind of value; its decoder is made with the first of them."""
    decode: Callable[[Raw], Any] | None = None

    def read(raw: Raw) -> Any:
        nonlocal decode
        if decode is None:
            decode = msgspec.json.Decoder(type_).decode
        return decode(raw)

    return read


def _types(name: str) -> tuple[Any, Any]:
    """Of what type the keys and values of a table are."""
    if name == "accounts":
        from projections.accounting import Record as Account

        return Ref, Account
    if name == "steps":
        from projections.histories import Step

        return Ref, tuple[Step, ...]
    if name in ("seen", "names"):
        return str, None if name == "seen" else str
    key, value = get_args(_HINTS[name])
    return key, value


def _memory_part(memory: MemoryState, older: list[bytes]) -> Struct:
    fields = {name: getattr(memory, name) for name in _Memory.__struct_fields__}
    fields["pending"] = list(memory.pending.items())
    fields["cohorts"] = {
        type_: [(cohort, *older_of(members, older)) for cohort, members in cohorts.items()]
        for type_, cohorts in memory.cohorts.items()
    }
    return _Memory(**fields)


def _read(type_: type[T], raw: Raw) -> T:
    return msgspec.json.decode(raw, type=type_)


def _read_list(item: Any, raw: Raw) -> list[Any]:
    """Most are empty, and what reads a list of something takes longer to make than such a list to read."""
    return [] if bytes(raw) == b"[]" else msgspec.json.decode(raw, type=_Alias(list, (item,)))


def _raw(value: object) -> Raw:
    return Raw(msgspec.json.encode(value))


_HINTS: dict[str, Any] = MemoryState.__annotations__  # types, not texts: that module's annotations aren't postponed
_Memory = msgspec.defstruct(
    "_Memory", [(name, _PAIRS.get(name, hint)) for name, hint in _HINTS.items() if name not in _GROWING]
)
"""Workspace memory without its tables."""
