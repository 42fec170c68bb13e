"""Which texts a purge takes: all wordings of the named memories, whatever says the same, and named texts (SPEC 15.4).

A wording that isn't taken keeps all that it has met: so what a taken one has met has to be taken as well, by text or as
the same fact. A memory whose present wording is taken leaves; one that had such a wording once, and has another one
now, loses that one alone. A text that is named as such goes from wherever it stands, also where it is no memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from ledger.events import AnyEvent, ErasedText, MemoryUndone, MemoryUpdated
from projections.erasure.fields import MEANING_TAGS
from projections.erasure.needles import Needles, named_needles, needles_of
from projections.facts import Known, LineFacts
from projections.memory.model import MemoryState, Proposal, Ref
from projections.memory.sameness import same_fact
from projections.text.canonical import text_key
from projections.text.erased import erased_key, keyed_digest
from projections.text.identity import fact_key
from projections.world import World, WorldState

__all__ = ["Choice", "Containing", "History", "Wording", "choose", "history_of"]

Containing = Literal["ask", "keep", "purge"]
"""What to do about other memories that hold a purged text in theirs: nothing yet, leave it there, purge them too."""


class Wording(Struct, frozen=True, gc=False):
    """A text that a candidate was proposed with, or that a memory got by an update or undo; ``ref`` names either."""

    ref: Ref
    proposal: Proposal


class History(Struct, frozen=True):
    """All wordings that a log has held, in its order.

    Attributes:
        world: the state at its end.
        wordings: those of candidates first.
        absorbed: per memory, all candidates that ever went into it.
        events: how many there were.
    """

    world: WorldState
    wordings: tuple[Wording, ...]
    absorbed: dict[Ref, dict[Ref, None]]
    events: int = 0


class Choice(Struct, frozen=True):
    """The texts to purge.

    Attributes:
        keys: their text keys.
        going: all wordings that have one of these, in ledger order.
        targets: the candidates that lose their text, and the memories whose present wording does; in ledger order.
        leaving: those of them that are active or pending, and leave.
        also_in: other wordings that hold one of the texts; to be asked about.
        kept: text keys of wordings that keep what they hold of it.
        needles: what to look for elsewhere.
        agreeing: per fact that a text states (``fact_key``), the others that agree with it.
        root: the workspace root.
        position: the end of the log.
        texts: those that were named as such; they go from all events, whether they are a memory's or not.
        messages: the messages that proposed a target: why they were to be deleted goes too.
    """

    keys: frozenset[str]
    going: tuple[Wording, ...]
    targets: tuple[Ref, ...]
    leaving: tuple[Ref, ...]
    also_in: tuple[Wording, ...]
    kept: frozenset[str]
    needles: Needles
    agreeing: dict[str, tuple[str, ...]]
    root: str
    position: int
    texts: tuple[str, ...] = ()
    messages: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to purge."""
        return not self.keys and not self.texts

    @property
    def wordings(self) -> tuple[Proposal, ...]:
        """The wordings that go."""
        return tuple(one.proposal for one in self.going)

    def takes(self, line: Proposal | LineFacts) -> bool:
        """Whether a text goes; one that went before doesn't go again."""
        return line.erased is None and line.text != "" and line.key in self.keys

    def is_kept(self, line: Proposal | LineFacts) -> bool:
        """Whether a text stays, although it holds one that goes."""
        return line.key in self.kept

    def left_of(self, line: Proposal | LineFacts, key: str, reasons: tuple[str, ...] = ()) -> ErasedText:
        """What is left of a text: digests under a key, its length, and what stood against it."""
        fact = fact_key(line.type, line.text, self.root)
        return ErasedText(
            key=keyed_digest(key, "text", line.key),
            identity=keyed_digest(key, "identity", line.identity) if line.identity not in ("", line.exact) else "",
            fact=keyed_digest(key, "fact", fact) if fact else "",
            same=tuple(self._pair(key, fact, other) for other in self.agreeing.get(fact, ())),
            length=len(line.text),
            reasons=reasons,
        )

    def _pair(self, key: str, fact: str, other: str) -> str:
        """Names two facts that agree. The position parts purges: what an earlier one took hasn't met these since."""
        return keyed_digest(key, f"pair {self.position}", "\0".join(sorted((fact, other))))

    def digests(self, key: str) -> tuple[str, ...]:
        """What the log notes of the texts, so that they don't come back."""
        left = [self.left_of(wording, key) for wording in self.wordings]
        found = {digest for one in left for digest in (one.key, one.fact) if digest}
        return tuple(sorted(found.union(keyed_digest(key, "text", text_key(text, self.root)) for text in self.texts)))

    def erased_keys(self, key: str) -> dict[str, str]:
        """Text key → the key that stands for it."""
        return {one: erased_key(keyed_digest(key, "text", one)) for one in sorted(self.keys)}


def history_of(events: Iterable[AnyEvent], known: Known | None = None) -> History:
    """Fold a log, and note all wordings that come by; O(length of the log)."""
    projection = World(frozenset(), known)
    world = projection.initial()
    reworded: list[Wording] = []
    absorbed: dict[Ref, dict[Ref, None]] = {}
    count = 0
    for count, event in enumerate(events, 1):  # noqa: B007 - the last one is the number of all
        projection.step(world, event)
        for move in world.memory.moves:
            if move.after == "absorbed" and move.into is not None:
                absorbed.setdefault(move.into, {})[move.proposal.ref] = None
        reworded += (Wording(ref, world.memory.entries[ref].proposal) for ref in _reworded(world.memory, event))
    proposed = (Wording(ref, record.proposal) for ref, record in world.accounts.records.items())
    return History(world, (*proposed, *reworded), absorbed, count)


def _reworded(memory: MemoryState, event: AnyEvent) -> Iterator[Ref]:
    """The memories that may have got another wording from an update or an undo."""
    if isinstance(event, MemoryUpdated):
        targets = [event.data.target]
    elif isinstance(event, MemoryUndone):
        targets = [outcome.target for outcome in event.data.outcomes]
    else:
        return
    if event.id in memory.changes:
        yield from (ref for ref in targets if ref in memory.entries)


def choose(
    history: History,
    named: Iterable[Ref],
    containing: Containing = "ask",
    keys: Iterable[str] = (),
    texts: Iterable[str] = (),
) -> Choice:
    """Which texts go if these memories or candidates are purged.

    Args:
        history: of the whole log.
        named: what is to be purged; an absorbed candidate means its own text alone.
        containing: what to do about other memories that hold one of the texts in theirs.
        keys: text keys of further texts that go, as in the copy of a log.
        texts: what goes from wherever it stands; a memory that holds one in its own text is another memory.

    Returns:
        The choice; its ``also_in`` is empty unless ``containing`` is ``ask``.
    """
    return _Chooser(history, tuple(texts)).choose(tuple(named), containing, tuple(keys))


class _Chooser:
    """Finds what goes, step by step, until nothing more has to."""

    def __init__(self, history: History, texts: tuple[str, ...]) -> None:
        self._history, self._texts = history, texts
        self._root = history.world.memory.context.root
        self._wordings = [one for one in history.wordings if one.proposal.text and one.proposal.erased is None]
        self._by_ref: dict[Ref, list[Proposal]] = {}
        self._by_key: dict[str, list[Wording]] = {}
        self._by_identity: dict[str, dict[str, Proposal]] = {}
        for one in self._wordings:
            self._by_ref.setdefault(one.ref, []).append(one.proposal)
            self._by_key.setdefault(one.proposal.key, []).append(one)
            if one.proposal.identity != one.proposal.exact:
                self._by_identity.setdefault(one.proposal.identity, {}).setdefault(one.proposal.text, one.proposal)
        self._keys: set[str] = set()

    def choose(self, named: tuple[Ref, ...], containing: Containing, keys: tuple[str, ...]) -> Choice:
        for ref in named:
            self._take_memory(ref)
        for key in keys:
            if key in self._by_key:
                self._take(key)
        while True:
            needles = needles_of(one.proposal for one in self._taken()).joined(named_needles(self._texts))
            holders = [one for one in self._wordings if one.proposal.key not in self._keys and _holds(one, needles)]
            # A refused text is nobody's memory: nothing is lost with it but the words that are to go.
            more = [one for one in holders if containing == "purge" or self._is_refused(one.proposal.key)]
            if not more:
                break
            for one in more:
                self._take_memory(one.ref)
                self._take(one.proposal.key)
        return self._choice(needles, holders, containing)

    def _take_memory(self, ref: Ref) -> None:
        """All wordings of a memory, and those of the candidates that went into it."""
        for one in (ref, *self._history.absorbed.get(ref, ())):
            for wording in self._by_ref.get(one, ()):
                self._take(wording.key)

    def _take(self, key: str) -> None:
        self._keys |= self._reach(key)

    def _reach(self, key: str) -> set[str]:
        """A text, and whatever states the same fact as it, but for what is taken already."""
        found: set[str] = set()
        waiting = [key]
        while waiting:
            key = waiting.pop()
            if key in self._keys or key in found:
                continue
            found.add(key)
            for one in self._by_key.get(key, ()):
                others = self._by_identity.get(one.proposal.identity, {}).values()
                waiting += (other.key for other in others if same_fact(one.proposal, other, self._root))
        return found

    def _taken(self) -> list[Wording]:
        return [one for one in self._wordings if one.proposal.key in self._keys]

    def _is_refused(self, key: str) -> bool:
        """Whether all that goes with a text was refused."""
        records = self._history.world.accounts.records
        going = (one.ref for reached in self._reach(key) for one in self._by_key[reached])
        return all(ref in records and records[ref].state == "rejected" for ref in going)

    def _choice(self, needles: Needles, holders: list[Wording], containing: Containing) -> Choice:
        entries, records = self._history.world.memory.entries, self._history.world.accounts.records
        present = {ref: entries[ref].proposal.key if ref in entries else records[ref].proposal.key for ref in records}
        targets = tuple(ref for ref in records if not {present[ref], records[ref].proposal.key}.isdisjoint(self._keys))
        return Choice(
            keys=frozenset(self._keys),
            going=tuple(self._taken()),
            targets=targets,
            leaving=tuple(
                ref for ref in targets if records[ref].state in ("promoted", "pending") and present[ref] in self._keys
            ),
            also_in=tuple(holders) if containing == "ask" else (),
            kept=frozenset(one.proposal.key for one in holders) if containing == "keep" else frozenset(),
            needles=needles,
            agreeing=self._agreeing(),
            root=self._root,
            position=self._history.world.memory.offset,
            texts=self._texts,
            messages=frozenset(records[ref].proposal.message for ref in targets) - {""},
        )

    def _agreeing(self) -> dict[str, tuple[str, ...]]:
        """Which facts of the texts that go agree without being equal: containment isn't transitive (SPEC 8.5)."""
        found: dict[str, tuple[str, ...]] = {}
        for group in self._by_identity.values():
            stated = {fact_key(one.type, one.text, self._root): one for one in group.values() if one.key in self._keys}
            for fact, one in stated.items():
                agreeing = (other for other in stated if other != fact and same_fact(one, stated[other], self._root))
                if others := tuple(sorted(agreeing)):
                    found[fact] = others
        return found


def _holds(one: Wording, needles: Needles) -> bool:
    """Whether a wording holds one of the texts, in any of its fields."""
    wording = one.proposal
    tags = (tag for tag in wording.tags if tag not in MEANING_TAGS)
    fields = (wording.text, wording.title, wording.content, wording.rationale, *tags)
    return any(map(needles.are_in, fields))
