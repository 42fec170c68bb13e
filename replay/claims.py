"""One reading of a log's lines: the roots at the sizes that matter, and the heads and purges that stand there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from msgspec import Struct

from ledger.events import AnyEvent, LedgerCreated, LedgerErased, LedgerRepaired, LedgerSealed
from ledger.leaves import Leaf, Leaves
from ledger.log import FileLog
from ledger.reader import reading
from ledger.recovery import recover
from projections.merkle import EMPTY, Frontier, MerkleTree, leaf_hash
from replay.tlog import origin_of

__all__ = ["Claim", "ClaimPass", "Purge", "origin_in", "sizes_in"]

_STEP = 1000
_SEALED = b'"ledger.sealed"'


class Claim(Struct, frozen=True):
    """A head that stands in the log.

    Attributes:
        index: the leaf that holds it, from 0.
        line: the line of the file that holds it.
        offset: of its event.
        size: the number of leaves that it covers.
        root: their root, in hex.
    """

    index: int
    line: int
    offset: int
    size: int
    root: str


class Purge(Struct, frozen=True):
    """A purge: which history it ended.

    Attributes:
        offset: of its event.
        size: the number of leaves before it. A purge keeps it, so heads from before it cover no more.
        old_root: the root over them before it, in hex.
    """

    offset: int
    size: int
    old_root: str


class ClaimPass:
    """What one reading of all lines finds.

    Args:
        wanted: sizes at which root and line are kept.
        keep: keep the hashes of all leaves, for proofs.

    Attributes:
        hashes: those of all leaves; None unless they are kept.
        roots: size → root over so many leaves, in hex.
        lines: size → the line of the file that holds the last of them; 0 for none.
        claims: the heads since the last purge, which is one itself, in file order.
        ended: those before it.
        purges: in file order.
        repairs: the leaf and the offset of each repair.
        ledger: id of the ledger; empty if the line that names it is lost.
        last_line: the last line that holds an event; 0 without one.
    """

    def __init__(self, wanted: AbstractSet[int], *, keep: bool) -> None:
        self.wanted = wanted
        self.hashes: list[bytes] | None = [] if keep else None
        self.roots: dict[int, str] = {}
        self.lines: dict[int, int] = {}
        self.claims: list[Claim] = []
        self.ended: list[Claim] = []
        self.purges: list[Purge] = []
        self.repairs: list[tuple[int, int]] = []
        self.ledger = ""
        self.last_line = 0

    @property
    def origin(self) -> str:
        """The name of the tree."""
        return origin_of(self.ledger)

    def run(self, leaves: Iterable[Leaf]) -> Frontier:
        """Take the lines in; memory doesn't grow with them unless their hashes are kept."""
        tree, state, waiting = MerkleTree(), EMPTY, list[bytes]()
        for index, leaf in enumerate(leaves):
            if len(waiting) == _STEP or index in self.wanted or isinstance(leaf.event, LedgerErased):
                state, waiting = tree.run(state, waiting), []
                self._note(state)
            waiting.append(leaf.data)
            self.last_line = leaf.line
            self._look(leaf.event, index)
            if self.hashes is not None:
                self.hashes.append(leaf_hash(leaf.data))
        state = tree.run(state, waiting)
        self._note(state)
        return state

    def holds(self, claim: Claim) -> bool:
        """Whether the lines are those that a head in the log covers: all of them stand before it."""
        return claim.size <= claim.index and self.roots.get(claim.size) == claim.root

    def _note(self, state: Frontier) -> None:
        self.roots[state.size] = state.root.hex()
        self.lines[state.size] = self.last_line

    def _look(self, event: AnyEvent, index: int) -> None:
        if isinstance(event, LedgerCreated) and not index:
            self.ledger = event.data.ledger
        elif isinstance(event, LedgerSealed):
            self.claims.append(Claim(index, self.last_line, event.seq, event.data.size, event.data.root))
        elif isinstance(event, LedgerErased) and event.data.new_root:
            # A new history: what was said of the old lines says nothing of these.
            self.ended += self.claims
            self.claims = [Claim(index, self.last_line, event.seq, index, event.data.new_root)]
            self.purges.append(Purge(event.seq, index, event.data.old_root))
        elif isinstance(event, LedgerRepaired) and event.data.pieces:
            self.repairs.append((index, event.seq))


def sizes_in(path: str) -> Iterator[int]:
    """The sizes that the heads of a log name. They are asked for before the lines are hashed; few lines are decoded."""
    with reading(path) as file:
        for line in file:
            if _SEALED in line:
                events = (record.item for record in recover(line))
                yield from (event.data.size for event in events if isinstance(event, LedgerSealed))


def origin_in(log: FileLog) -> str:
    """The name of a log's tree; empty if the line that names it is lost. It reads no further.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    first = next(iter(Leaves(log.path)), None)
    return origin_of(first.event.data.ledger) if first and isinstance(first.event, LedgerCreated) else ""
