"""One log without the texts of a choice: the ledger's own, or a copy of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ledger.codec import decode, encode
from ledger.events import AnyEvent, Draft, LedgerErasedData, type_name
from ledger.leaves import Leaves
from ledger.problems import Kind, Problem
from ledger.reader import Reader
from ledger.recovery import Record
from ledger.rewrite import pieces
from ledger.source import OWN_SOURCE
from memfold.errors import MemfoldError
from projections.erasure.agreement import differences
from projections.erasure.events import EventEraser
from projections.erasure.fields import may_stay, staying
from projections.erasure.lines import erased_line, erased_piece
from projections.erasure.texts import Choice
from projections.facts import Known
from projections.merkle import EMPTY, MerkleTree
from projections.protocol import fold
from projections.world import World, WorldState

__all__ = ["LogEraser"]

_DIFFERENCES = 3


class LogEraser:
    """What a purge makes of a log (``ledger.rewrite.Change``); serves once.

    Args:
        choice: the texts.
        key: the key of their digests.
        reason: why, for the record; empty if nobody said.
        time: when.
        known: facts at hand for the log as it is.
        digests: of further texts that must not come back, as in a copy that hasn't had them yet.

    Attributes:
        changed: number of events that change, by type; damaged pieces as ``damage``.
        left: number of lines that hold one of the texts all the same: where it stays, or in an id.
        stays: the fields that hold it there, such as ``tool.completed data.call``, and in how many lines.
        maybe: the fields that hold a short text among other words, likewise.
    """

    def __init__(
        self,
        choice: Choice,
        key: str,
        *,
        reason: str = "",
        time: str | None = None,
        known: Known | None = None,
        digests: Iterable[str] = (),
    ) -> None:
        self._choice, self._key, self._reason, self._time = choice, key, reason, time
        self._digests = frozenset(digests)
        self._events = EventEraser(choice, key, known)
        self._count = 0
        self._most: int | None = None
        self._is_over = False
        self._path = ""
        self.changed: Counter[str] = Counter()
        self.left = 0
        self.stays: Counter[str] = Counter()
        self.maybe: Counter[str] = Counter()

    def rehearse(self, path: str, most: int | None = None, waiting: Iterable[AnyEvent] = ()) -> None:
        """Do all but write: afterwards ``changed`` and ``left`` tell what a rewrite would do.

        Args:
            path: the log.
            most: how many events there were when the texts were chosen; what others append meanwhile stays unseen.
            waiting: events that will stand behind them.

        Raises:
            MemfoldError: if something else would change, so that it can't be done.
            LedgerError: if the log can't be read.
        """
        self._most = most
        for _ in self.content(path):
            pass
        for event in waiting:
            self._line(event, self._events.take(event), encode(event).rstrip(b"\n"))
        self._require_same(self._events.new)

    def begin(self) -> None:
        """See ``Change``."""

    def content(self, path: str) -> Iterator[bytes]:
        """See ``Change``."""
        self._path = path
        return pieces(path, self._piece)

    def _piece(self, record: Record, data: bytes) -> bytes:
        item = record.item
        self._is_over = self._is_over or (self._count == self._most and not isinstance(item, Problem))
        if self._is_over:
            return data
        if not isinstance(item, Problem):
            self._count += 1
            return self._line(item, self._events.take(item), data)
        if item.kind is Kind.DUPLICATE_ID:
            found = decode(data)
            if not isinstance(found, Problem):
                return self._line(found, self._events.erased(found), data)
        return self._noted("damage", data, erased_piece(data, self._choice.needles))

    def drafts(self, path: str) -> Sequence[Draft]:
        """See ``Change``: the record that is left, without content; it says which history ends and which begins."""
        data = LedgerErasedData(
            targets=self._choice.targets,
            old_root=_root(self._path),
            new_root=_root(path),
            key=self._key,
            digests=tuple(sorted(self._digests.union(self._choice.digests(self._key)))),
            reason=self._choice.needles.erased(self._reason),
        )
        return [Draft(source=OWN_SOURCE, time=self._time, data=data)]

    def approve(self, path: str) -> None:
        """Fold what was written, and refuse it if anything differs that must not; see ``Change``.

        Raises:
            MemfoldError: if something does.
        """
        events = iter(Reader(path))
        world = fold(World(), islice(events, self._count))
        self._require_same(world)
        memory = fold(World(), events, world).memory
        there = [ref for ref in self._choice.leaving if ref in memory.pending or _is_active(memory.entries.get(ref))]
        if there:
            raise _refused([f"{len(there)} of the memories would stay"])

    def _line(self, event: AnyEvent, changed: AnyEvent, data: bytes) -> bytes:
        return self._noted(type_name(event), data, erased_line(event, changed, data, self._choice.needles))

    def _noted(self, kind: str, before: bytes, after: bytes) -> bytes:
        self.changed[kind] += before != after
        needles = self._choice.needles
        fields = staying(after, needles)
        self.left += bool(fields)
        for counter, found in ((self.stays, fields), (self.maybe, may_stay(after, needles))):
            counter.update(f"{kind} {field}" if field != kind else kind for field in found)
        return after

    def _require_same(self, new: WorldState) -> None:
        found = list(islice(differences(self._events.old, new, self._choice), _DIFFERENCES))
        if found:
            raise _refused(found)


def _root(path: str) -> str:
    """The root of the hash tree over a log's lines."""
    return MerkleTree().run(EMPTY, (leaf.data for leaf in Leaves(path))).root.hex()


def _is_active(entry: object) -> bool:
    return getattr(entry, "state", "") == "promoted"


def _refused(found: Sequence[str]) -> MemfoldError:
    return MemfoldError(
        f"nothing was purged, since more than the text would change: {'; '.join(found)}",
        "report it with the kind of memory that you wanted to purge, without its text",
    )
