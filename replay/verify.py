"""Whether a log still is what its heads say: those that stand in it, and one that was kept elsewhere (RFC 6962).

A head covers the lines before it. The first that doesn't hold says that one of the lines since the head before it was
changed, taken away or put in. A purge begins a new history, and its event holds the old root and the new one: heads
from before it speak of lines that are gone, and aren't compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import islice

from msgspec import Struct

from ledger.events import AnyEvent, LedgerCreated, LedgerErased, LedgerRepaired, LedgerSealed
from ledger.leaves import Leaf, Leaves
from ledger.log import FileLog
from ledger.reader import reading
from ledger.recovery import recover
from projections.merkle import (
    EMPTY,
    Frontier,
    MerkleTree,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    proves_inclusion,
)
from replay.tlog import Head, Proof, origin_of

__all__ = ["Break", "Verification", "prove", "proven_event", "verify"]

_STEP = 1000
_SEALED = b'"ledger.sealed"'


class Break(Struct, frozen=True):
    """A head that doesn't hold.

    Attributes:
        offset: of the event that holds it; None for one that was given.
        size: the number of lines that it covers.
        expected: its root, in hex.
        found: the root of as many lines now; empty where there aren't so many.
        after: the size of the last head before it that holds; 0 without one.
        first_line: the first line of the file that may be wrong.
        last_line: the last one.
        repaired: offset of a repair behind it; None without one.
    """

    offset: int | None
    size: int
    expected: str
    found: str
    after: int
    first_line: int
    last_line: int
    repaired: int | None = None


class Verification(Struct, frozen=True):
    """What a verification found.

    Attributes:
        head: the tree as it is now.
        heads: how many heads in the log hold.
        unchecked: how many stand before a purge.
        breaks: those that don't hold, in file order; the first tells where.
        sealed: how many lines the largest head covers that holds.
        purged: offset of the last purge; None without one.
        since: the head that was given, if it holds.
        proof: hashes that lead from it to ``head``, in hex (RFC 6962, 2.1.2).
    """

    head: Head
    heads: int = 0
    unchecked: int = 0
    breaks: tuple[Break, ...] = ()
    sealed: int = 0
    purged: int | None = None
    since: Head | None = None
    proof: tuple[str, ...] = ()


class _Claim(Struct, frozen=True):
    """A head that somebody has written down: the leaf behind it, its event, what it covers."""

    index: int
    offset: int | None
    size: int
    root: str


class _Pass:
    """One reading of all lines: roots and places at the sizes that are asked for, and the heads that stand there."""

    def __init__(self, wanted: AbstractSet[int], *, keep: bool) -> None:
        self.wanted = wanted
        self.hashes: list[bytes] | None = [] if keep else None
        self.roots: dict[int, str] = {}
        self.lines: dict[int, int] = {}
        self.claims: list[_Claim] = []
        self.unchecked = 0
        self.purged: int | None = None
        self.repairs: list[tuple[int, int]] = []
        self.ledger = ""

    def run(self, leaves: Iterable[Leaf]) -> Frontier:
        """Take the lines in; memory doesn't grow with them unless their hashes are kept."""
        tree, state, waiting = MerkleTree(), EMPTY, list[bytes]()
        line = 0
        for index, leaf in enumerate(leaves):
            if len(waiting) == _STEP or index in self.wanted or isinstance(leaf.event, LedgerErased):
                state, waiting = tree.run(state, waiting), []
                self._note(state, line)
            waiting.append(leaf.data)
            line = leaf.line
            self._look(leaf.event, index)
            if self.hashes is not None:
                self.hashes.append(leaf_hash(leaf.data))
        state = tree.run(state, waiting)
        self._note(state, line)
        return state

    def holds(self, claim: _Claim) -> bool:
        """Whether the lines are those that a head covers."""
        return claim.size <= claim.index and self.roots.get(claim.size) == claim.root

    def _note(self, state: Frontier, line: int) -> None:
        self.roots[state.size] = state.root.hex()
        self.lines[state.size] = line

    def _look(self, event: AnyEvent, index: int) -> None:
        if isinstance(event, LedgerCreated) and not index:
            self.ledger = event.data.ledger
        elif isinstance(event, LedgerSealed):
            self.claims.append(_Claim(index, event.seq, event.data.size, event.data.root))
        elif isinstance(event, LedgerErased) and event.data.new_root:
            # A new history: what was said of the old lines says nothing of these.
            self.unchecked += len(self.claims)
            self.claims = [_Claim(index, event.seq, index, event.data.new_root)]
            self.purged = event.seq
        elif isinstance(event, LedgerRepaired) and event.data.pieces:
            self.repairs.append((index, event.seq))


def verify(log: FileLog, since: Head | None = None) -> Verification:
    """Compute the tree anew, and compare it with the heads in the log and with one that was kept elsewhere.

    Args:
        log: the log.
        since: a head of it that a person or another machine has kept.

    Returns:
        What was found. Two passes over the file; with ``since`` memory grows by some 70 bytes a line.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    given = () if since is None else (since.size,)
    one = _Pass({*_sizes(log.path), *given}, keep=since is not None)
    tree = one.run(Leaves(log.path))
    head = Head(origin_of(one.ledger), tree.size, tree.root)
    claims = [*one.claims]
    if since is not None:
        index = tree.size if since.origin == head.origin else -1
        claims.append(_Claim(index, None, since.size, since.root.hex()))
    holds = [one.holds(claim) for claim in claims]
    known = since if since is not None and holds[-1] else None
    proof: tuple[bytes, ...] = ()
    if known is not None and one.hashes is not None and 0 < known.size < tree.size:
        proof = consistency_proof(one.hashes, known.size)
    return Verification(
        head=head,
        heads=sum(holds[: len(one.claims)]),
        unchecked=one.unchecked,
        breaks=tuple(_breaks(one, claims)),
        sealed=max((claim.size for claim in one.claims if one.holds(claim)), default=0),
        purged=one.purged,
        since=known,
        proof=tuple(node.hex() for node in proof),
    )


def prove(log: FileLog, event: str) -> tuple[Proof, bytes] | None:
    """Prove that an event stands in the log as it is now.

    Args:
        log: the log.
        event: its id.

    Returns:
        The proof, and the line that it is about; None if there is no such event. O(n) hashes.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    one = _Pass(frozenset(), keep=True)
    found: list[tuple[int, bytes]] = []
    tree = one.run(_noting(Leaves(log.path), event, found))
    if not found or one.hashes is None:
        return None
    index, line = found[0]
    head = Head(origin_of(one.ledger), tree.size, tree.root)
    return Proof(index, inclusion_proof(one.hashes, index), head), line


def proven_event(log: FileLog, proof: Proof) -> str:
    """The id of the event that a proof is about, if the line that stands there now is the one that was proven.

    The head must have been verified before.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    leaf = next(islice(Leaves(log.path), proof.index, None), None)
    head = proof.head
    if leaf is None or not proves_inclusion(proof.hashes, leaf_hash(leaf.data), proof.index, head.size, head.root):
        return ""
    return leaf.event.id


def _noting(leaves: Iterable[Leaf], event: str, found: list[tuple[int, bytes]]) -> Iterator[Leaf]:
    for index, leaf in enumerate(leaves):
        if leaf.event.id == event:
            found.append((index, leaf.data))
        yield leaf


def _sizes(path: str) -> Iterator[int]:
    """The sizes that the heads of a log name. They are asked for before the lines are hashed; few lines are decoded."""
    with reading(path) as file:
        for line in file:
            if _SEALED in line:
                events = (record.item for record in recover(line))
                yield from (event.data.size for event in events if isinstance(event, LedgerSealed))


def _breaks(one: _Pass, claims: Iterable[_Claim]) -> Iterator[Break]:
    """The heads that don't hold, and between which lines the reason lies."""
    good = 0
    for claim in claims:
        if one.holds(claim):
            good = max(good, claim.size)
            continue
        after = min(good, claim.size)
        yield Break(
            offset=claim.offset,
            size=claim.size,
            expected=claim.root,
            found=one.roots.get(claim.size, ""),
            after=after,
            first_line=one.lines.get(after, 0) + 1,
            last_line=one.lines.get(claim.size, max(one.lines.values(), default=0)),
            repaired=next((seq for index, seq in one.repairs if index > claim.index), None),
        )
