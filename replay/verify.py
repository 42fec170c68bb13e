"""Whether a log still is what its heads say: those that stand in it, and some that were kept elsewhere (RFC 6962).

A head covers the lines before it. The first that doesn't hold says that one of the lines since the head before it was
changed, taken away or put in. A purge begins a new history, and its event holds the old root and the new one: heads
from before it speak of lines that are gone, and aren't compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from ledger.leaves import Leaves
from ledger.log import FileLog
from projections.merkle import Frontier, consistency_proof
from replay.claims import Claim, ClaimPass, Purge, sizes_in
from replay.tlog import Head

__all__ = ["Break", "Given", "Standing", "Verification", "verify"]

Standing = Literal["holds", "broken", "purged", "other"]


class Break(Struct, frozen=True):
    """A head that doesn't hold.

    Attributes:
        offset: of the event that holds it; null for one that was given.
        size: the number of lines that it covers.
        expected: its root, in hex.
        found: the root of as many lines now; empty where there aren't so many.
        after: the size of the largest head in the ledger that holds, of those before it; 0 without one. Where it covers
            as many lines or more, what isn't right is the head itself.
        first_line: the first line of the file that may be wrong; 1 for a head that was given, since whoever changes
            lines on purpose makes the heads in the ledger anew.
        last_line: the last one, never before the first.
        repaired: offset of a repair behind it; null without one.
    """

    offset: int | None
    size: int
    expected: str
    found: str
    after: int
    first_line: int
    last_line: int
    repaired: int | None = None


class Given(Struct, frozen=True):
    """A head that was kept elsewhere, and what the log says of it.

    Attributes:
        head: the head.
        standing: ``holds``; ``broken``: the lines are others now; ``purged``: it is from before a purge, so nothing
            that stands there now can be compared with it; ``other``: it is of another ledger.
        purge: offset of the purge that ended it; None unless it is ``purged``.
        matched: whether the log says that it was so before that purge: its event, or a head from before it.
        proof: hashes that lead from it to the present head (RFC 6962, 2.1.2).
    """

    head: Head
    standing: Standing
    purge: int | None = None
    matched: bool = False
    proof: tuple[bytes, ...] = ()


class Verification(Struct, frozen=True):
    """What a verification found.

    Attributes:
        head: the tree as it is now.
        heads: how many heads in the log hold.
        unchecked: how many stand before a purge.
        breaks: those that don't hold, in file order, then those that were given; the first tells where.
        sealed: how many lines the largest head covers that holds.
        purged: offset of the last purge; None without one.
        given: the heads that were given.
    """

    head: Head
    heads: int = 0
    unchecked: int = 0
    breaks: tuple[Break, ...] = ()
    sealed: int = 0
    purged: int | None = None
    given: tuple[Given, ...] = ()


def verify(log: FileLog, *given: Head) -> Verification:
    """Compute the tree anew, and compare it with the heads in the log and with some that were kept elsewhere.

    Args:
        log: the log.
        given: heads of it that a person or another machine has kept.

    Returns:
        What was found. Two passes over the file; with ``given`` memory grows by some 70 bytes a line.

    Raises:
        LedgerNotFound: if there is no log.
        StorageError: if the system can't read it.
    """
    one = ClaimPass({*sizes_in(log.path), *(head.size for head in given)}, keep=bool(given))
    tree = one.run(Leaves(log.path))
    good = [claim.size for claim in one.claims if one.holds(claim)]
    stands = tuple(_given(one, head, tree) for head in given)
    broken = (_given_break(one, stand.head, good) for stand in stands if stand.standing == "broken")
    return Verification(
        head=Head(one.origin, tree.size, tree.root),
        heads=len(good),
        unchecked=len(one.ended),
        breaks=(*_breaks(one), *broken),
        sealed=max(good, default=0),
        purged=one.purges[-1].offset if one.purges else None,
        given=stands,
    )


def _given(one: ClaimPass, head: Head, tree: Frontier) -> Given:
    """How the log stands to a head that was kept elsewhere."""
    if one.ledger and head.origin != one.origin:
        return Given(head, "other")
    if one.roots.get(head.size) == head.root.hex():
        is_earlier = 0 < head.size < tree.size
        return Given(head, "holds", proof=consistency_proof(one.hashes or (), head.size) if is_earlier else ())
    # A purge and its event come at once: no head that was taken later covers so few lines.
    purge = next((purge for purge in one.purges if head.size <= purge.size), None)
    if purge is None:
        return Given(head, "broken")
    return Given(head, "purged", purge.offset, _was_so(one, head, purge))


def _was_so(one: ClaimPass, head: Head, purge: Purge) -> bool:
    """Whether a purge, or a head in the log from before it, says the same of the lines that are gone."""
    said = {(claim.size, claim.root) for claim in one.ended if claim.index < purge.size}
    return (head.size, head.root.hex()) in said | {(purge.size, purge.old_root)}


def _breaks(one: ClaimPass) -> Iterator[Break]:
    """The heads in the log that don't hold, and between which lines the reason lies."""
    good = 0
    for claim in one.claims:
        if one.holds(claim):
            good = max(good, claim.size)
        else:
            yield _break(one, claim, good)


def _break(one: ClaimPass, claim: Claim, good: int) -> Break:
    if claim.size <= good:  # an earlier head holds over all of its lines: it is its own line that isn't right
        first = last = claim.line
    else:
        last = one.lines.get(claim.size, one.last_line)
        first = min(one.lines[good] + 1 if good else 1, last)  # one line may hold several events
    return Break(
        offset=claim.offset,
        size=claim.size,
        expected=claim.root,
        found=one.roots.get(claim.size, ""),
        after=good,
        first_line=first,
        last_line=last,
        repaired=next((seq for index, seq in one.repairs if index > claim.index), None),
    )


def _given_break(one: ClaimPass, head: Head, good: list[int]) -> Break:
    return Break(
        offset=None,
        size=head.size,
        expected=head.root.hex(),
        found=one.roots.get(head.size, ""),
        after=max((size for size in good if size < head.size), default=0),
        first_line=1,
        last_line=max(1, one.lines.get(head.size, one.last_line)),
        repaired=next((seq for index, seq in one.repairs if index >= head.size), None),
    )
