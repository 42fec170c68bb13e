"""Unit tests of compaction candidates: blocks, lines, commands, and what the log keeps (SPEC 5, 3.6)."""

from __future__ import annotations

import pytest

from projections.policy import Context, CustomType, Policy
from projections.rules.candidates import CandidateLine, parse_summary, reduce_summary, rule_digests_of
from projections.rules.limits import MAX_RECORD_BYTES

CONTEXT = Context()
LINE = "- [decision] Use event logs for storage"
TEXT = "Use event logs for storage"


def texts(summary: str, context: Context = CONTEXT) -> list[str]:
    """The texts of accepted candidates."""
    return [
        line.text for line in parse_summary(summary, context).lines if line.kind == "candidate" and not line.reasons
    ]


def line_of(line: str, context: Context = CONTEXT) -> CandidateLine:
    """The one line of a block that isn't noise."""
    (read,) = parse_summary(f"Memory candidates:\n{line}", context).lines
    return read


@pytest.mark.parametrize(
    "opening",
    [
        *(
            "Memory candidates:",
            "memory candidates:",
            "## Memory Candidates",
            "## MEMORY CANDIDATES:",
            "# Memory candidates",
        ),
        *("## Workspace Memory Candidates", "### workspace memory candidates:", "<workspace_memory_candidates>"),
    ],
)
def test_every_opening_begins_a_block(opening: str) -> None:
    """Label, headings and the XML form, in any case (SPEC 5.1)."""
    assert texts(f"prose\n{opening}\n{LINE}") == [TEXT]


@pytest.mark.parametrize(
    "text", ["Memory candidates", "Memory candidates: none of it", "See memory candidates:", "##Memory Candidates", "x"]
)
def test_what_is_no_opening_begins_nothing(text: str) -> None:
    """The label must stand alone with its colon (SPEC 5.1)."""
    assert texts(f"{text}\n{LINE}") == []


@pytest.mark.parametrize(
    "end", ["## Next", "# Goal", "###### x", "Next steps:", "Notes:", "Open todo items:", "**Next steps:**", "下一步："]
)
def test_a_block_ends_at_a_heading_or_section_label(end: str) -> None:
    """Any heading, and a line of one to three words with a colon (SPEC 5.1)."""
    assert texts(f"Memory candidates:\n{LINE}\n{end}\n- [project] The gateway speaks only gRPC") == [TEXT]


@pytest.mark.parametrize(
    "noise",
    ["", "plain words", "The list goes on here:", "- Notes:", "1. Notes:", "#hashtag", "Memory ref snapshot id: x"],
)
def test_other_lines_end_nothing(noise: str) -> None:
    """Noise, blank lines, bullets and the snapshot line stay within the block (SPEC 5.1, 5.2)."""
    assert texts(f"Memory candidates:\n{noise}\n{LINE}") == [TEXT]


def test_the_last_clean_block_is_used() -> None:
    """Earlier blocks and unclean later ones are ignored; "none" makes a block clean."""
    other = "- [project] The gateway speaks only gRPC"
    assert texts(f"Memory candidates:\n{other}\nMemory candidates:\n{LINE}") == [TEXT]
    assert texts(f"Memory candidates:\n{LINE}\n\nMemory candidates:\nwords\n- [note] x") == [TEXT]
    for none in ("none", "(none)", "- None", "* (NONE)"):
        assert texts(f"Memory candidates:\n{LINE}\nMemory candidates:\n{none}") == []
    assert texts(f"Memory candidates:\n{LINE}\nMemory candidates:\nREINFORCE [M1]") == []


def test_without_a_clean_block_the_malformed_lines_of_the_last_are_recorded() -> None:
    """A refusal must not get lost only because nothing else was said (SPEC 5.1)."""
    parsed = parse_summary("Memory candidates:\n- [a] b\nMemory candidates:\n- [note] x\nREINFORCE M1", CONTEXT)
    assert [line.reasons[0].code for line in parsed.lines] == ["invalid_memory_type", "invalid_memory_ref"]


def test_fences_and_quotes_are_not_read() -> None:
    """A block in a fence or quotation is somebody else's; indentation doesn't matter (SPEC 5.1)."""
    assert texts(f"```\nMemory candidates:\n{LINE}\n```") == []
    assert texts(f"> Memory candidates:\n> {LINE}") == []
    assert texts(f"Memory candidates:\n```\n{LINE}\n```\n      {LINE}") == [TEXT]


def test_the_xml_form_ends_at_its_closing_tag() -> None:
    """Also on the line of a candidate; the tag is no part of the text."""
    closing = "</Workspace_Memory_Candidates>"
    assert texts(f"<workspace_memory_candidates>\n{LINE}{closing} x\n- [project] The gateway speaks gRPC") == [TEXT]


@pytest.mark.parametrize("bullet", ["", "- ", "* ", "+ ", "• ", "1. ", "12) ", "   - ", "\t"])
@pytest.mark.parametrize(
    "tag", ["[decision]", "[DECISION]:", "**[decision]**", "__[Decision]__:", "`[decision]`", "**[decision]:**"]
)
def test_bullets_and_tags_vary(bullet: str, tag: str) -> None:
    """Models write the same line in many ways (SPEC 5.2)."""
    read = line_of(f"{bullet}{tag} {TEXT}")
    assert (read.kind, read.type, read.text, read.reasons) == ("candidate", "decision", TEXT, ())


def test_configured_types_are_types() -> None:
    """A custom type is written in any case and stored by its name; the gate asks for no sign of it (SPEC 20.1)."""
    context = Context(Policy(types=(CustomType("Glossary"),)))
    text = "A fold is a left reduction of events"
    assert line_of(f"- [glossary] {text}", context).type == "Glossary"
    assert line_of(f"- [glossary] {text}", context).reasons == ()
    assert line_of(f"- [glossary] {text}").reasons[0].code == "invalid_memory_type"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        *(
            ("- decision Use event logs", "unsupported_candidate_syntax"),
            ("* Decision: Use logs", "unsupported_candidate_syntax"),
        ),
        *(("- **decision**: Use logs", "unsupported_candidate_syntax"), ("- [todo] x", "invalid_memory_type")),
        *(
            ("REINFORCE M5", "invalid_memory_ref"),
            ("REINFORCE 5", "invalid_memory_ref"),
            ("REINFORCE [5]", "invalid_memory_ref"),
        ),
        *(("REINFORCE [M0]", "invalid_memory_ref"), ("REINFORCE [M2] because", "invalid_memory_ref")),
        *(("REINFORCE [M2].", "invalid_memory_ref"), ("REPLACE M1 [project] x", "invalid_memory_ref")),
        *(("REPLACE [M0] [project] x", "invalid_memory_ref"), ("REPLACE [M1]", "empty_replacement_text")),
        *(("REPLACE [M1] [project]", "empty_replacement_text"), ("REPLACE [M1] [note] x", "invalid_memory_type")),
        *(("REPLACE [M1] text only", "invalid_memory_command"), ("REINFORCE", "invalid_memory_command")),
        *(("- Reinforce the gate", "invalid_memory_command"), ("replace: x", "invalid_memory_command")),
        ("REINFORCE [M99999999999]", "invalid_memory_ref"),
    ],
)
def test_malformed_lines_are_rejected_candidates(line: str, code: str) -> None:
    """A line that only looks like a form is named, with its text (SPEC 5.2)."""
    read = line_of(line)
    assert (read.kind, [reason.code for reason in read.reasons], read.text) == ("malformed", [code], line)


@pytest.mark.parametrize(
    "line",
    [
        "plain",
        "- plain bullet",
        "decision Use logs",
        "[project]",
        "- [project]:",
        "[project]text",
        "REPLACEMENT x",
        "[a](b) c",
    ],
)
def test_other_lines_are_noise(line: str) -> None:
    """Everything else is ignored (SPEC 5.2)."""
    assert parse_summary(f"Memory candidates:\n{line}\n(none)", CONTEXT).lines == ()


def test_commands_carry_their_number_and_text() -> None:
    """Commands are read in any case; a replacement is judged like a candidate (SPEC 5.2, 6.1)."""
    reinforce = line_of("- reinforce [m12]")
    assert (reinforce.ref, reinforce.type, reinforce.text) == (12, "", "")
    replace = line_of("REPLACE [M3] [project]: The parser supports 4 formats")
    assert (replace.kind, replace.ref, replace.type, replace.text) == (
        "replace",
        3,
        "project",
        "The parser supports 4 formats",
    )
    assert replace.reasons == ()
    assert [reason.code for reason in line_of("REPLACE [M3] [project] too short").reasons] == ["too_short"]


def test_the_snapshot_id_is_that_of_the_block() -> None:
    """The first id line of the used block counts (SPEC 5.4)."""
    parsed = parse_summary(
        f"Memory ref snapshot id: x\nMemory candidates:\n- memory REF snapshot id:  y1\n{LINE}", CONTEXT
    )
    assert parsed.snapshot_id == "y1"
    assert parse_summary(f"Memory candidates:\n{LINE}", CONTEXT).snapshot_id is None


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("Remember: the build always runs on bun", "the build always runs on bun"),
        ("Please remember this: the build runs on bun", "the build runs on bun"),
        ("Remember that remember: the build runs on bun", "the build runs on bun"),
        ("Don't forget to always run the linter", "always run the linter"),
        ("From now on the build runs on bun only", "From now on the build runs on bun only"),
        ("The build must remember: its last exit", "The build must remember: its last exit"),
    ],
)
def test_a_form_is_stripped_at_the_very_start_only(text: str, stored: str) -> None:
    """Families A to F at the start go, elsewhere such words are the text's own (SPEC 5.3)."""
    assert line_of(f"- [project] {text}").text == stored


def test_a_negated_form_at_the_start_is_refused_and_not_kept() -> None:
    """Its text reaches neither the result nor the log (SPEC 4.4, 5.3)."""
    for line in ("- [project] Don't remember the host saturn", "REPLACE [M1] [project] 覚えないで: saturn の値"):
        read = line_of(line)
        assert (read.text, [reason.code for reason in read.reasons]) == ("", ["negated_request"])
        assert "saturn" not in reduce_summary(f"Memory candidates:\n{line}", CONTEXT)


def test_the_log_keeps_the_used_block_without_noise() -> None:
    """Prose, other blocks and noise are not recorded; a summary without a block leaves nothing."""
    summary = f"## Goal\nprivate\n## Memory Candidates\nnoise\n  {LINE}\n(none)\n## Next\nmore"
    assert reduce_summary(summary, CONTEXT) == f"Memory candidates:\n{LINE}\n(none)"
    assert reduce_summary("## Goal\nprivate", CONTEXT) == ""
    assert reduce_summary("Memory candidates:\nnoise", CONTEXT) == ""
    assert len(reduce_summary("Memory candidates:\n" + f"{LINE}\n" * 5000, CONTEXT).encode()) <= MAX_RECORD_BYTES


def test_spans_and_notes_point_into_the_summary() -> None:
    """A line's span covers it in the cleaned summary; cleaning that changed something is noted (SPEC 1.3)."""
    summary = f"x\nMemory candidates:\n{LINE}"
    (line,) = parse_summary(summary + "\u200b", CONTEXT).lines
    assert summary[line.start : line.end] == LINE
    assert line.notes == ("invisible_removed",)


def test_rule_digests_cover_lines_and_wrapped_sentences() -> None:
    """Lines lose their marks, sentences may wrap, digests are 16 hex digits without repeats (SPEC 3.6)."""
    text = "# Use tabs\n\n1. Run the tests\n   before a commit. Then push.\n\n- Use tabs\n> Be kind!\n\n---\n"
    digests = rule_digests_of(text, CONTEXT)
    assert all(len(digest) == 16 and int(digest, 16) >= 0 for digest in digests)
    assert len(digests) == len(set(digests))
    for said in ("use tabs", "Run the tests before a commit", "then push!", "Be kind", "before a commit. Then push."):
        assert rule_digests_of(said, CONTEXT)[0] in digests
    assert rule_digests_of("push then", CONTEXT)[0] not in digests
    assert rule_digests_of("", CONTEXT) == ()


@pytest.mark.parametrize(
    "before", ["- [project]", "1. **[project]:**", "REPLACE [M12] [project]", "* REPLACE [m2] [project]:"]
)
def test_of_a_negated_line_the_log_keeps_all_but_what_it_is_about(before: str) -> None:
    """The text behind the form goes; what the line is and its neighbours stay (SPEC 5.3)."""
    summary = f"## Goal\nMemory candidates:\n{LINE}\n{before} Don't remember: the old ports are gone\n{LINE}"
    kept = reduce_summary(summary, CONTEXT)
    assert kept == f"Memory candidates:\n{LINE}\n{before} Don't remember\n{LINE}"
    assert [line.reasons for line in parse_summary(kept, CONTEXT).lines] == [
        line.reasons for line in parse_summary(summary, CONTEXT).lines
    ]
