"""The hash tree over the lines of a log (RFC 6962): a fold whose state is its frontier; heads and proofs of it.

A *leaf* is a valid event line, as exact bytes. The *frontier* holds the roots of the largest whole subtrees, from left
to right: one for each bit that is set in the number of leaves. It is all that a further leaf and the root need.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from msgspec import Struct

__all__ = [
    "EMPTY",
    "Frontier",
    "MerkleTree",
    "consistency_proof",
    "inclusion_proof",
    "leaf_hash",
    "proves_consistency",
    "proves_inclusion",
    "root_of",
    "root_over",
]


class Frontier(Struct, frozen=True):
    """A tree as far as its growth needs it: ``size`` leaves, and the roots of its whole subtrees."""

    size: int = 0
    roots: tuple[bytes, ...] = ()

    @property
    def root(self) -> bytes:
        """The tree's root, 32 bytes; that of no leaf is the hash of nothing (RFC 6962, 2.1)."""
        return root_of(self.roots)


EMPTY = Frontier()


class MerkleTree:
    """The tree as a projection of lines; ``run`` takes in many at once (``projections.protocol``)."""

    name = "merkle"
    version = 1

    def initial(self) -> Frontier:
        """The tree without leaves."""
        return EMPTY

    def apply(self, state: Frontier, line: bytes) -> Frontier:
        """The tree with one leaf more; O(log n)."""
        return self.run(state, (line,))

    def run(self, state: Frontier, lines: Iterable[bytes]) -> Frontier:
        """The tree with all these leaves more; O(1) hashes a leaf on average."""
        size, roots = state.size, list(state.roots)
        for line in lines:
            _push(size, roots, leaf_hash(line))
            size += 1
        return Frontier(size, tuple(roots))


def leaf_hash(line: bytes) -> bytes:
    """The hash of one leaf (RFC 6962, 2.1)."""
    return sha256(b"\x00" + line).digest()


def root_of(roots: Sequence[bytes]) -> bytes:
    """The root over the roots of whole subtrees, from the smallest to the largest."""
    if not roots:
        return sha256().digest()
    *rest, node = roots
    for left in reversed(rest):
        node = _node(left, node)
    return node


def inclusion_proof(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """What proves that a leaf is in the tree (RFC 6962, 2.1.1).

    Args:
        leaves: the hashes of all leaves.
        index: the leaf, from 0.

    Returns:
        The roots beside its way to the top, from below. O(n) hashes.

    Raises:
        IndexError: if there is no such leaf.
    """
    if not 0 <= index < len(leaves):
        raise IndexError(index)
    return tuple(root_over(leaves[slice(*span)]) for span in _beside(index, 0, len(leaves)))


def consistency_proof(leaves: Sequence[bytes], old: int) -> tuple[bytes, ...]:
    """What proves that the tree of the first ``old`` leaves is a prefix of this one (RFC 6962, 2.1.2).

    Raises:
        IndexError: if it isn't smaller, or empty: then there is nothing to prove.
    """
    if not 0 < old < len(leaves):
        raise IndexError(old)
    # The largest subtree that is whole in both trees and ends where the old one does.
    whole = old & -old
    spans = list(_beside((old - 1) // whole, 0, -(-len(leaves) // whole)))
    path = [(begin * whole, min(end * whole, len(leaves))) for begin, end in spans]
    own = [] if whole == old else [(old - whole, old)]
    return tuple(root_over(leaves[slice(*span)]) for span in (*own, *path))


def proves_inclusion(proof: Sequence[bytes], leaf: bytes, index: int, size: int, root: bytes) -> bool:
    """Whether a proof leads from a leaf's hash to a root (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    node, last, path = leaf, size - 1, iter(proof)
    while last:
        if index & 1 or index < last:
            beside = next(path, None)
            if beside is None:
                return False
            node = _node(beside, node) if index & 1 else _node(node, beside)
        index >>= 1
        last >>= 1
    return next(path, None) is None and node == root


def proves_consistency(proof: Sequence[bytes], old: int, old_root: bytes, size: int, root: bytes) -> bool:
    """Whether a proof leads from a head to a later one (RFC 9162, 2.1.4.2)."""
    if not 0 < old < size:
        return (old, old_root) == (size, root) and not proof
    index, last, path = old - 1, size - 1, iter(proof)
    while index & 1:
        index >>= 1
        last >>= 1
    first = next(path, None) if index else old_root
    if first is None:
        return False
    before = after = first
    while last:
        if index & 1 or index < last:
            beside = next(path, None)
            if beside is None:
                return False
            if index & 1:
                before = _node(beside, before)
                after = _node(beside, after)
            else:
                after = _node(after, beside)
        index >>= 1
        last >>= 1
    return next(path, None) is None and (before, after) == (old_root, root)


def _beside(index: int, begin: int, end: int) -> list[tuple[int, int]]:
    """The spans of leaves beside the way from one to the top, from below."""
    spans: list[tuple[int, int]] = []
    while end - begin > 1:
        middle = begin + _split(end - begin)
        if index < middle:
            spans.append((middle, end))
            end = middle
        else:
            spans.append((begin, middle))
            begin = middle
    return spans[::-1]


def _split(count: int) -> int:
    """The largest power of two below a number of leaves."""
    return 1 << (count - 1).bit_length() - 1


def root_over(leaves: Sequence[bytes]) -> bytes:
    """The root of the tree over leaves' hashes; O(n)."""
    roots: list[bytes] = []
    for size, leaf in enumerate(leaves):
        _push(size, roots, leaf)
    return root_of(roots)


def _push(size: int, roots: list[bytes], node: bytes) -> None:
    """Add a leaf's hash to the roots of a tree of ``size`` leaves: two subtrees of one size become one."""
    while size & 1:
        node = _node(roots.pop(), node)
        size >>= 1
    roots.append(node)


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()
