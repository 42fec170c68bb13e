"""Times and sources of events."""

from __future__ import annotations

import pytest

from ledger.source import make_source, split_source
from ledger.times import DAY_MS, format_time, parse_time, utc_day


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1970-01-01T00:00:00.0019Z", 1),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-02", DAY_MS),
        ("1969-12-31T23:59:59.999Z", -1),
        ("", None),
        (None, None),
        ("yesterday", None),
        ("2026-13-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+23:59", -62_135_683_140_000),
        ("1970-01-01 00:01", 60_000),
        ("1970-01-01t00:00:01z", 1000),
        ("1970-01-01T00:00:00." + "9" * 5000 + "Z", 999),
        ("1970-01-01T00:00:60Z", None),
        ("1970-01-01T24:00:00.000Z", None),
        ("1970-01-01T24:00:00Z", None),
        ("1970-W01-4", None),
        ("1970-W01-4T00:00:00.000Z", None),
        ("19700101", None),
        ("19700101T000000Z", None),
        ("1970-01-01T00", None),
        ("1970-01-01T00:00:00,5Z", None),
        ("1970-01-01T00:00:00+0100", None),
        ("1970-01-01T00:00:00+01:00:01", None),
        ("1970-01-01x00:00:00Z", None),
        ("1970-01-01T00:00:00.0+1Z", None),
        ("1970-01-01T00:00:00Z ", None),
        ("１９７０-01-01T00:00:00Z", None),
        ("１970-01-01T00:00:00.000Z", None),
    ],
)
def test_parse_time(text: str | None, ms: int | None) -> None:
    """RFC 3339 to milliseconds; without a zone it is UTC; what can't be read is None (SPEC 1.2)."""
    assert parse_time(text) == ms


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_767_225_600_001, "2026-01-01T00:00:00.001Z"),
        (-5, "1970-01-01T00:00:00.000Z"),
        (10**18, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_format_time(ms: int, text: str) -> None:
    """Milliseconds to RFC 3339 in UTC, clamped to what can be said."""
    assert format_time(ms) == text
    assert utc_day(ms) == text[:10]


@pytest.mark.parametrize("session", ["ses_1", "", "../../evil", "a:b/c?d", "é 記", "%2F"])
def test_sources(session: str) -> None:
    """A session id of any shape survives in a source, which holds a single slash."""
    source = make_source("opencode", session)
    assert source.count("/") == 1
    assert split_source(source) == ("opencode", session)


def test_a_half_character_of_a_session_becomes_a_question_mark() -> None:
    """A source is UTF-8 in the log, which can't hold one."""
    assert split_source(make_source("opencode", "a\ud800/")) == ("opencode", "a?/")


def test_source_without_session() -> None:
    """A host alone has no session, which is not the empty session."""
    assert split_source(make_source("memfold", None)) == ("memfold", None)
    assert make_source("memfold", "") != make_source("memfold", None)
