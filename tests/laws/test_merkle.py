"""The hash tree is that of RFC 6962, grows leaf by leaf, and its proofs hold for what they prove and nothing else."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.merkle import (
    EMPTY,
    MerkleTree,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    proves_consistency,
    proves_inclusion,
    root_over,
)

# Leaves and roots with which implementations of RFC 6962 are commonly tested; the roots follow from its definition.
_LEAVES = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
_ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
_lines = st.lists(st.binary(max_size=4), max_size=70)


def _by_definition(hashes: list[bytes]) -> bytes:
    """RFC 6962, 2.1, word for word."""
    if len(hashes) < 2:
        return hashes[0] if hashes else hashlib.sha256().digest()
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return hashlib.sha256(b"\x01" + _by_definition(hashes[:split]) + _by_definition(hashes[split:])).digest()


@pytest.mark.parametrize("size", range(len(_ROOTS)))
def test_known_roots(size: int) -> None:
    """The roots that other implementations have."""
    assert MerkleTree().run(EMPTY, map(bytes.fromhex, _LEAVES[:size])).root.hex() == _ROOTS[size]


@given(_lines, st.integers(0, 70))
def test_a_tree_grows_as_it_is_defined(lines: list[bytes], cut: int) -> None:
    """In one piece, in two, leaf by leaf: one tree, and that of the definition."""
    tree, hashes = MerkleTree(), [leaf_hash(line) for line in lines]
    whole = tree.run(tree.initial(), lines)
    assert whole.root == root_over(hashes) == _by_definition(hashes)
    assert tree.run(tree.run(EMPTY, lines[:cut]), lines[cut:]) == whole
    state = tree.initial()
    for line in lines:
        state = tree.apply(state, line)
    assert state == whole
    assert len(whole.roots) == whole.size.bit_count()


@given(_lines.filter(bool), st.data())
def test_a_proof_holds_for_its_leaf_alone(lines: list[bytes], data: st.DataObject) -> None:
    """Another leaf, another place, another root, one hash more or less: nothing is proven."""
    hashes = [leaf_hash(line) for line in lines]
    index = data.draw(st.integers(0, len(lines) - 1))
    proof, root, size = inclusion_proof(hashes, index), root_over(hashes), len(lines)
    assert proves_inclusion(proof, hashes[index], index, size, root)
    assert not proves_inclusion(proof, leaf_hash(lines[index] + b"!"), index, size, root)
    assert not proves_inclusion(proof, hashes[index], index, size, leaf_hash(root))
    assert not proves_inclusion((*proof, root), hashes[index], index, size, root)
    assert not any(proves_inclusion(proof[:cut], hashes[index], index, size, root) for cut in range(len(proof)))
    assert not any(proves_inclusion(proof, hashes[index], outside, size, root) for outside in (-1, size))
    other = data.draw(st.integers(0, size - 1))
    if hashes[other] != hashes[index]:
        assert not proves_inclusion(proof, hashes[other], other, size, root) or other == index
    for outside in (-1, size):
        with pytest.raises(IndexError):
            inclusion_proof(hashes, outside)


@given(_lines.filter(lambda lines: len(lines) > 1), st.data())
def test_a_proof_leads_from_a_head_to_a_later_one(lines: list[bytes], data: st.DataObject) -> None:
    """Of a prefix alone: a leaf that changed below the old size is found."""
    hashes = [leaf_hash(line) for line in lines]
    size, root = len(lines), root_over(hashes)
    old = data.draw(st.integers(1, size - 1))
    before, proof = root_over(hashes[:old]), consistency_proof(hashes, old)
    assert proves_consistency(proof, old, before, size, root)
    assert proves_consistency((), size, root, size, root)
    assert not proves_consistency(proof, old, leaf_hash(before), size, root)
    assert not proves_consistency(proof, old, before, size, leaf_hash(root))
    assert not proves_consistency((*proof, root), old, before, size, root)
    assert not any(proves_consistency(proof[:cut], old, before, size, root) for cut in range(len(proof)))
    changed = data.draw(st.integers(0, old - 1))
    other = [*hashes[:changed], leaf_hash(b"another"), *hashes[changed + 1 :]]
    assert not proves_consistency(consistency_proof(other, old), old, before, size, root_over(other))
    for nothing_to_prove in (-1, 0, size, size + 1):
        with pytest.raises(IndexError):
            consistency_proof(hashes, nothing_to_prove)
        assert not proves_consistency(proof, nothing_to_prove, before, size, root)
