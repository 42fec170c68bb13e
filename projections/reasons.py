"""The closed table of reason codes: what each means and where its rule stands."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["REASONS", "Evidence", "Reason", "explain", "rule_of"]


class Evidence(Struct, frozen=True):
    """One reason found in a text: its code and the span ``[start, end)`` in characters that matched.

    A span ``(0, 0)`` means that the text as a whole is the evidence (too short, a missing sign).
    """

    code: str
    start: int = 0
    end: int = 0


class Reason(Struct, frozen=True):
    """A reason code's section of SPEC and a sentence for people."""

    rule: str
    text: str


REASONS: dict[str, Reason] = {
    # Why a remember form was not taken (SPEC 4.6).
    "code_block": Reason("4.1", "the line stands in a code block"),
    "quoted": Reason("4.1", "the words stand in a quotation"),
    "log_line": Reason("4.1", "the line looks like log output"),
    "negated_request": Reason("4.4", "the request is negated"),
    "deferral": Reason("4.6", "the request only puts something off"),
    "question": Reason("4.6", "the text is a question"),
    "one_off": Reason("4.6", "the text is about one day or moment"),
    "duplicate_in_message": Reason("4.6", "the same message says it twice"),
    # Candidate lines (SPEC 5.2) and commands (SPEC 5.4).
    "unsupported_candidate_syntax": Reason("5.2", "a bare type word instead of [type]"),
    "invalid_memory_type": Reason("5.2", "the bracketed word is no memory type"),
    "invalid_memory_ref": Reason("5.2", "the reference names no line of the numbered list"),
    "empty_replacement_text": Reason("5.2", "REPLACE without a text"),
    "invalid_memory_command": Reason("5.2", "a command that can't be read"),
    "missing_memory_ref_snapshot": Reason("5.4", "no numbered list is open in this session"),
    "missing_compaction_snapshot_id": Reason("5.4", "the summary names no snapshot id"),
    "compaction_snapshot_mismatch": Reason("5.4", "the summary names another snapshot"),
    "memory_ref_target_unavailable": Reason("5.4", "the memory is no longer active"),
    "memory_ref_target_changed": Reason("5.4", "the memory was changed meanwhile"),
    "protected_memory_source": Reason("5.4", "only memories from summaries can be replaced by one"),
    "protected_reinforced_target": Reason("5.4", "a reinforced memory can't be replaced"),
    # The quality gate (SPEC 6.2).
    "too_short": Reason(
        "6.2",
        "the text is too short to stand alone: under 20 characters, in a request under 8 (SPEC 4.6); CJK ones count 3",
    ),
    "progress_snapshot": Reason("6.2", "it reports progress, not a lasting fact"),
    "temporary_status": Reason("6.2", "it describes a passing status"),
    "transient_bug_state": Reason("6.2", "it describes a bug being worked on"),
    "unresolved_question": Reason("6.2", "it is an open question"),
    "commit_or_ci_snapshot": Reason("6.2", "it reports a commit or a CI run"),
    "raw_error": Reason("6.2", "it is a raw error message"),
    "path_heavy": Reason("6.2", "more than half of its words are paths"),
    "active_file_snapshot": Reason("6.2", "it only says that a file was touched"),
    "code_or_api_signature": Reason("6.2", "it is a code or API signature"),
    "deployment_snapshot": Reason("6.2", "it reports one deployment"),
    "bad_feedback": Reason("6.2", "feedback without a sign of a preference"),
    "bad_decision": Reason("6.2", "a decision without a rule or an architecture word"),
    "memory_echo": Reason("6.2", "it only repeats what the memory says"),
    "in_rules_file": Reason("3.6", "an instruction file of the project already says it"),
    "prompt_injection": Reason("6.4", "it tells the model to set its instructions aside"),
    "secret_only": Reason("7.6", "nothing is left after redaction"),
    # Decisions (SPEC 9.4 and after).
    "subagent_session": Reason("3.4", "a sub-agent session proposes nothing"),
    "deleted_before": Reason("15.2", "the same text was deleted before"),
    "superseded_before": Reason("15.2", "the same text was replaced before"),
    "rejected_capacity": Reason("9.4", "the block is full and its rank is too low"),
    "not_a_project": Reason("1.6", "this folder is no project"),
    "absorbed_exact": Reason("9.1", "an active memory has the same text"),
    "absorbed_identity": Reason("9.1", "an active memory states the same fact"),
    "absorbed_cross_type": Reason("9.3", "an active memory of another type has the same text"),
    "new_entry": Reason("9.4", "nothing stands against it"),
    "numbered_ref_replace": Reason("5.4", "a summary replaced it by number"),
    "numbered_ref_reinforce": Reason("5.4", "a summary reinforced it by number"),
    "store_cap": Reason("9.5", "over 200 memories from summaries are active and this is the weakest"),
    "pending_expired": Reason("9.5", "it was pending for more than 30 days"),
    "deleted": Reason("15.1", "it was deleted on request"),
    "erased": Reason("15.4", "its text was purged"),
    "updated": Reason("16.6", "its text was changed"),
    "restored": Reason("15.3", "it was restored"),
    "undone": Reason("15.3", "the change was undone"),
    "superseded_by_restore": Reason("15.3", "what it had replaced was restored"),
    "imported": Reason("17", "it was retired where it was imported from"),
    "imported_before": Reason("17", "an import has brought the same text before, and it was changed or retired since"),
    "linked_absorber": Reason("3.4", "what had absorbed it came from a sub-agent"),
    # Why an active memory is not shown (SPEC 11.1), and reinforcement outcomes (SPEC 10.3).
    "type_cap": Reason("11.1", "enough stronger memories of its type are shown"),
    "global_cap": Reason("11.1", "enough stronger memories are shown"),
    "char_budget": Reason("11.1", "its line does not fit the block's characters"),
    "increment": Reason("10.3", "it counts as a reinforcement"),
    "refresh_only": Reason("10.3", "it renews the clock; the count is at its maximum"),
    "same_session": Reason("10.3", "this session has stated it before"),
    "min_interval": Reason("10.3", "less than an hour has passed"),
    # Why a command or a tool call did nothing.
    "memory_off": Reason("3.7", "memory is switched off"),
    "empty_text": Reason("16.6", "a memory needs a title or a content that can be seen"),
    "off_the_record": Reason("3.7", "the message is off the record"),
    # Notes and warnings.
    "invisible_removed": Reason("1.3", "invisible characters were removed"),
    "terse_label": Reason("6.2", "a bare label; it is kept"),
    "empty_summary": Reason("5.3", "the summary was empty"),
    "duplicate_delivery": Reason("3.5", "a host event was delivered again"),
    "import_damaged": Reason("17", "an imported file could not be read"),
    "import_skipped": Reason("17", "something in an imported file is no memory"),
    "id_conflict": Reason("3.5", "a host id came again with other content"),
}


def explain(code: str) -> str:
    """A sentence for a reason code; a code of a configured pattern explains itself (SPEC 20.3)."""
    if code.startswith("custom:"):
        return f"it matches the configured pattern {code.removeprefix('custom:')!r}"
    return REASONS[code].text


def rule_of(code: str) -> str:
    """The section of SPEC that a reason code comes from, as ``SPEC 6.2``."""
    if code.startswith("custom:"):
        return "SPEC 20.3"
    return f"SPEC {REASONS[code].rule}"
