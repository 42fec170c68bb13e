"""Digests without the library that ``hashlib`` loads are the same digests."""

from __future__ import annotations

import hashlib

import pytest

from ledger import digests


@pytest.mark.parametrize("data", [b"", b"memfold", "部署".encode() * 1000])
def test_digests_are_those_of_hashlib(data: bytes) -> None:
    """Of any length, with a key, a size and a person."""
    assert digests.sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()
    ours, theirs = (made(data, digest_size=16, key=b"k", person=b"p") for made in (digests.blake2b, hashlib.blake2b))
    assert ours.digest() == theirs.digest()
