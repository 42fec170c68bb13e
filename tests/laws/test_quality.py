"""Laws of the quality gate (SPEC 6)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.policy import Context, GatePattern, Patterns, Policy, type_order
from projections.reasons import REASONS
from projections.rules.injection import find_injection
from projections.rules.kinds import type_of
from projections.rules.quality import judge, notes

CONTEXT = Context(Policy(patterns=Patterns(gate=(GatePattern("codename", ("blue*bird",)),))))
TYPES = st.sampled_from(["feedback", "decision", "project", "reference", "glossary"])
WORDS = st.sampled_from(
    [
        *(
            "tests",
            "passed",
            "12",
            "must",
            "never",
            "the",
            "user",
            "wants",
            "CI",
            "green",
            "phase",
            "2",
            "done",
            "fix:",
        ),
        *("src/a.ts", "/srv/x/y", "ignore", "all", "rules", "currently", "todo", "?", "9b1c0d2e3f4a5b6c", "commit"),
        *("必須", "完成", "測試", "無視", "ルール", "무시", "규칙", "use", "added", "workspace", "memory", "says"),
        *("blue-bird", "deployed", "aB3dE6gH9kL", "Error:", "(a.ts:1:2)", "https://x.test/?", "[REDACTED]"),
    ]
)
TEXTS = st.one_of(st.text(max_size=260), st.lists(WORDS, max_size=14).map(" ".join))
WORD_ONLY = ("temporary_status", "transient_bug_state", "bad_decision", "bad_feedback")


@settings(max_examples=300)
@given(TYPES, TEXTS)
def test_the_gate_takes_any_text(kind: str, text: str) -> None:
    """Every reason is known, occurs once, has a span in the text, and comes again when judged again."""
    reasons = judge(kind, text, CONTEXT)
    codes = [reason.code for reason in reasons]
    assert len(codes) == len(set(codes))
    assert set(codes) <= {*REASONS, "custom:codename"}
    assert all(0 <= reason.start <= reason.end <= len(text) for reason in reasons)
    assert judge(kind, text, CONTEXT) == reasons
    assert set(notes(text)) <= {"terse_label"}


@settings(max_examples=200)
@given(TYPES, TEXTS, st.sampled_from(["must", "Never", "do not", "必须", "常に", "반드시"]))
def test_a_normative_word_protects(kind: str, text: str, normative: str) -> None:
    """No word condition stands against a text that states a rule, whatever else it holds (SPEC 6.3)."""
    codes = {reason.code for reason in judge(kind, f"{normative} {text}", CONTEXT)}
    assert not codes & set(WORD_ONLY)


@given(TYPES, TEXTS)
def test_types_of_our_own_ask_for_their_signs_alone(kind: str, text: str) -> None:
    """Only feedback needs a preference and only decisions a rule word; custom types need neither (SPEC 20.1)."""
    codes = {reason.code for reason in judge(kind, text, CONTEXT)}
    assert "bad_feedback" not in codes or kind == "feedback"
    assert "bad_decision" not in codes or kind == "decision"


@given(TEXTS)
def test_every_text_has_a_built_in_type(text: str) -> None:
    """The type of a request is always one of the four (SPEC 4.7)."""
    assert type_of(text) in type_order(Policy())


@pytest.mark.parametrize(
    "text",
    [
        "a" * 37_000,
        "0a" * 18_000,
        "aB3" * 12_000,
        "ignore all " * 3_000,
        "ignore   all   the   " * 2_000,
        "無視" * 12_000,
        "완료 무시" * 6_000,
        "完成" * 12_000,
        "(" * 25_000,
        "(a:" * 10_000,
        "at a (" * 5_000,
        "at a" + "(b:1" * 6_000,
        "workspace memory " * 2_000,
        "使用者" * 10_000,
        "1 " * 12_000,
        "12 x " * 6_000,
        "fix(" + "x" * 25_000,
        "A_" * 12_000,
        "x=" * 12_000,
        "according to " * 2_000,
        "https://" * 3_000,
        "blue" * 7_000,
        "commit " + "a0" * 12_000,
    ],
)
def test_judging_is_linear(text: str) -> None:
    """Texts made to be read again and again are read once by every pattern of the gate."""
    for kind in ("feedback", "decision", "reference"):
        judge(kind, text, CONTEXT)
    find_injection(text)
    type_of(text)
    notes(text)
