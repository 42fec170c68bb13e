"""That one event stands in a log: the proof is made, found again in the log, or checked by the event's line alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ledger.codec import decode
from ledger.leaves import Leaf, Leaves
from ledger.log import FileLog
from ledger.problems import Problem
from projections.merkle import inclusion_proof, leaf_hash, proves_inclusion
from replay.claims import ClaimPass
from replay.tlog import Head, Proof

__all__ = ["prove", "proven_event", "proven_line"]


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
    one = ClaimPass(frozenset(), keep=True)
    found: list[tuple[int, bytes]] = []
    tree = one.run(_noting(Leaves(log.path), event, found))
    if not found or one.hashes is None:
        return None
    index, line = found[0]
    head = Head(one.origin, tree.size, tree.root)
    return Proof(index, inclusion_proof(one.hashes, index), head), line


def proven_event(log: FileLog, proof: Proof) -> str:
    """The id of the event that a proof is about, if the line that stands there now is the one that was proven.

    The head must have been verified before.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    leaf = next(islice(Leaves(log.path), proof.index, None), None)
    return "" if leaf is None else proven_line(leaf.data, proof)


def proven_line(line: bytes, proof: Proof) -> str:
    """The id of the event in a line, if the proof leads from that line to its head; else empty. O(log n) hashes.

    It shows that the line is one of those that the head covers, and nothing of the head (RFC 9162, 2.1.3.2).
    """
    head, event = proof.head, decode(line)
    if isinstance(event, Problem):
        return ""
    is_proven = proves_inclusion(proof.hashes, leaf_hash(line), proof.index, head.size, head.root)
    return event.id if is_proven else ""


def _noting(leaves: Iterable[Leaf], event: str, found: list[tuple[int, bytes]]) -> Iterator[Leaf]:
    for index, leaf in enumerate(leaves):
        if leaf.event.id == event:
            found.append((index, leaf.data))
        yield leaf
