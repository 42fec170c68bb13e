"""Texts that redaction is measured with: as long as they are said to be, and the same ones each time."""

from __future__ import annotations

import pytest

from bench.redaction import TEXTS, text_of, whole


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_has_the_length_that_is_asked_for(name: str) -> None:
    """A hundred times the length is a hundred times the same pieces; redacted texts are redacted for good."""
    short, long = text_of(name, 1_000), text_of(name, 10_000)
    assert (len(short), len(long)) == (1_000, 10_000)
    assert long.startswith(short[:-1])
    assert whole(whole(short)) == whole(short)
