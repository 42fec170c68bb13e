"""``why``: the verdict, its reasons and evidence, and what would flip it (SPEC 22)."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.events import Delivery
from ledger.memory import MemoryLog
from memfold.tools.tools import Tools
from memfold.workspace import Workspace
from projections.policy import DEFAULT_POLICY
from projections.prompts import current_epoch
from projections.reasons import rule_of
from projections.world import World
from replay.unseen import judge_unseen
from replay.why import Explanation, Story, why
from tests.support.harness import Harness

START = {"do": "session_start", "session": "A"}


def ask(steps: list[dict[str, Any]], query: str, config: dict[str, Any] | None = None) -> Explanation:
    """The explanation after some steps."""
    harness = Harness(None, config=config)
    harness.feed(steps)
    log = harness.workspace().log
    return why(log.read, query)


def story(steps: list[dict[str, Any]], query: str, config: dict[str, Any] | None = None) -> Story:
    """The only story a query has."""
    explanation = ask(steps, query, config)
    assert explanation.unseen is None
    assert len(explanation.stories) == 1
    return explanation.stories[0]


def remember(text: str, session: str = "A", message: str = "m1") -> dict[str, Any]:
    """A user's message."""
    return {"do": "user_message", "session": session, "message": message, "text": f"Remember: {text}"}


def summary(*lines: str, session: str = "A") -> dict[str, Any]:
    """A compaction with candidate lines."""
    return {"do": "compacted", "session": session, "summary": "\n".join(["Memory candidates:", *lines])}


def test_a_rejected_candidate_has_all_reasons_with_their_words() -> None:
    """Each with its rule, and the event that proposed and decided it."""
    told = story([START, summary("- [project] Fixed in commit 4e1a9c7, all 214 tests pass")], "Fixed in commit")
    assert told.state == "rejected"
    found = {reason.code: reason for reason in told.reasons}
    assert found["commit_or_ci_snapshot"].matched == "4e1a9c7"
    assert found["commit_or_ci_snapshot"].rule == "SPEC 6.2"
    assert "214 tests pass" in found["progress_snapshot"].matched
    assert told.proposed == told.decided
    assert told.proposed.type == "session.compacted"
    assert told.flip is not None
    assert set(told.flip.codes) == set(found)
    assert told.flip.key is None


def test_a_refused_request_is_told_with_its_words() -> None:
    """Evidence of messages too."""
    told = story([START, remember("tomorrow we ship the parser")], "ship the parser")
    assert [(one.code, one.matched) for one in told.reasons] == [("one_off", "tomorrow")]


def test_a_pinned_memory_is_found_in_a_block_beyond_the_limit_of_its_type() -> None:
    """It is exempt from that limit, however many are stronger (SPEC 11.1)."""
    names = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "jetty", "kelpy", "lotus"]
    tags: list[list[str]] = [["safety-critical", "importance-low"], *([["importance-high"]] * len(names))]
    adds: list[dict[str, Any]] = [
        {
            "do": "memory_add",
            "session": "A",
            "title": name,
            "content": f"Keep the {name} dry",
            "type": "feedback",
            "tags": tag,
        }
        for name, tag in zip(["pinned", *names], tags, strict=True)
    ]
    told = story([START, *adds, {"do": "session_start", "session": "B"}], "Keep the pinned dry")
    assert told.id == "MEM-001"
    assert len(told.prompts) == 1


def test_an_absorbed_candidate_names_what_it_went_into() -> None:
    """And what the absorption did there."""
    steps = [START, remember("use pnpm here"), summary(), summary("- [feedback] Use pnpm here, please keep it")]
    steps[-1]["summary"] = "Memory candidates:\n- [project] use pnpm here!!"
    explanation = ask([*steps[:3], remember("use pnpm here", message="m2"), summary()], "use pnpm here")
    newest, first = explanation.stories
    assert newest.state == "absorbed"
    assert newest.into is not None
    assert newest.into.id == first.id == "MEM-001"
    assert newest.outcome is not None
    assert newest.outcome.code == "same_session"
    assert newest.prompts == first.prompts


def test_an_active_memory_out_of_the_block_has_rank_cap_and_flip() -> None:
    """The smallest value of the one policy key that lets it in, tried on the log."""
    steps = [START, *(remember(f"rule number {n} of the house", message=f"m{n}") for n in range(4)), summary()]
    told = story(steps, "rule number 0 of the house", {"caps": {"feedback": 3}})
    assert told.state == "promoted"
    assert told.standing is not None
    assert (told.standing.rank, told.standing.of) == (4, 4)
    assert told.standing.omitted is not None
    assert told.standing.omitted.code == "type_cap"
    assert told.prompts == ()
    assert told.flip is not None
    assert (told.flip.codes, told.flip.key, told.flip.value) == (("type_cap",), "caps.feedback", "4")


@pytest.mark.parametrize(
    ("config", "code", "key", "value"),
    [
        ({"prompt": {"maxEntries": 2}}, "global_cap", "prompt.maxEntries", "3"),
        ({"prompt": {"workspaceChars": 100}}, "char_budget", "prompt.workspaceChars", "3600"),
    ],
)
def test_other_limits_of_the_block(config: dict[str, Any], code: str, key: str, value: str) -> None:
    """Each names its own key."""
    steps = [START, *(remember(f"rule number {n} of the house", message=f"m{n}") for n in range(3)), summary()]
    told = story(steps, "rule number 0 of the house", config)
    assert told.standing is not None
    assert told.standing.omitted is not None
    assert told.standing.omitted.code == code
    assert told.flip is not None
    assert (told.flip.key, told.flip.value) == (key, value)


def test_capacity_flips_with_the_cap() -> None:
    """A candidate turned down for want of room is let in by a higher cap."""
    steps = [
        START,
        *(remember(f"rule number {n} of the house", message=f"m{n}") for n in range(2)),
        summary("- [feedback] User prefers brief recaps after each change"),
    ]
    told = story(steps, "brief recaps", {"caps": {"feedback": 2}})
    assert [one.code for one in told.reasons] == ["rejected_capacity"]
    assert told.flip is not None
    assert (told.flip.key, told.flip.value) == ("caps.feedback", "3")


def test_a_configured_pattern_flips_by_its_key() -> None:
    """Without it the text passes."""
    config = {"patterns": {"gate": {"names": ["pluto"]}}}
    told = story([START, summary("- [project] The proxy in front of everything is pluto")], "pluto", config)
    assert [one.code for one in told.reasons] == ["custom:names"]
    assert told.reasons[0].matched == "pluto"
    assert told.flip is not None
    assert told.flip.key == "patterns.gate"


def test_a_shown_memory_names_its_prompts() -> None:
    """By session and offset of the epoch."""
    steps = [START, remember("use pnpm here"), summary(), {"do": "session_start", "session": "B"}]
    told = story(steps, "mem-1")
    assert [shown.session for shown in told.prompts] == ["A", "B"]
    assert told.standing is not None
    assert told.standing.omitted is None
    assert told.flip is not None
    assert told.flip.key == "triggers.languages"


@pytest.mark.parametrize("chars", [2000, 150])
def test_a_summary_in_place_of_the_block_is_a_prompt_too(chars: int) -> None:
    """Each memory with a line in it names it, beyond the limit of its type; one without doesn't (SPEC 12)."""
    ws = Workspace(MemoryLog(), "/w/app", DEFAULT_POLICY, host="test")
    given = Delivery(injection="summary", summary_chars=chars)
    ws.configure(DEFAULT_POLICY, enabled=True, delivery=given)
    titles = [f"Service {number} keeps its amounts in cents" for number in range(12)]
    for title in titles:
        added = {"title": title, "content": title, "type": "decision"}
        assert Tools(ws).call("memory_add", added, session="A", time="2026-03-01T12:00:00Z").kind == "saved"
    ws.record(ws.capture.session_started("S", time="2026-03-01T12:00:00Z"))
    epoch = current_epoch(ws.state().prompts, "test/S")
    assert epoch is not None
    held = {title for title in titles if title in epoch.text}
    assert len(held) > 10 if chars == 2000 else 0 < len(held) < 10
    for title in titles:
        (told,) = why(ws.log.read, title).stories
        assert [shown.session for shown in told.prompts] == (["S"] if title in held else [])


def test_a_pending_request_has_no_flip() -> None:
    """Nothing is decided yet."""
    told = story([START, remember("use pnpm here")], "use pnpm here")
    assert told.state == "pending"
    assert told.flip is None
    assert told.id is None


def test_a_replaced_memory_names_its_replacement() -> None:
    """Superseded by number."""
    replace = "Memory ref snapshot id: {snapshot}\nREPLACE [M1] [project] Specs run on the remote harness now"
    steps = [
        START,
        summary("- [project] Specs run on the native harness"),
        {"do": "compaction_started", "session": "A"},
        summary(replace),
    ]
    told = story(steps, "native harness")
    assert told.state == "superseded"
    assert told.replaced_by is not None
    assert told.replaced_by.text == "Specs run on the remote harness now"


def test_a_deleted_memory_says_so() -> None:
    """With the event that deleted it, and why its echo is refused."""
    steps = [
        START,
        remember("use yarn in every package"),
        summary(),
        {"do": "memory_delete", "id": "MEM-001"},
        summary("- [project] Use yarn in every package."),
    ]
    deleted = story(steps, "use yarn in every package")
    assert deleted.state == "deleted"
    assert deleted.decided.type == "memory.deleted"
    echo = story(steps, "Use yarn in every package.")
    assert [one.code for one in echo.reasons] == ["deleted_before"]


def test_a_text_never_seen_is_judged_by_the_rules_of_now() -> None:
    """As a message, as a candidate, and with what comes nearest."""
    explanation = ask([START, remember("use pnpm in every package")], "use pnpm in all packages")
    assert explanation.stories == ()
    unseen = explanation.unseen
    assert unseen is not None
    assert unseen.as_message == ()
    assert unseen.as_candidate.accepted
    assert unseen.nearest is not None
    assert unseen.nearest.text == "use pnpm in every package"
    assert any("no trace" in line for line in unseen.limits)


def test_an_unseen_request_is_judged_as_a_message() -> None:
    """With the refusal it would meet."""
    unseen = ask([START], "Remember: tomorrow we ship").unseen
    assert unseen is not None
    assert [(one.accepted, [why_.code for why_ in one.reasons]) for one in unseen.as_message] == [(False, ["one_off"])]


def test_an_unseen_request_of_a_silent_language_names_its_pack() -> None:
    """One policy key away."""
    unseen = ask([START], "Recuerda: usamos pnpm en todos los paquetes").unseen
    assert unseen is not None
    assert unseen.language == "es"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Use yarn in every package!!", "deleted_before"),
        ("Use pnpm in every workspace!!", "absorbed_exact"),
        ("User prefers brief recaps after each change", "rejected_capacity"),
    ],
)
def test_an_unseen_candidate_meets_what_the_log_holds(text: str, code: str) -> None:
    """Tombstones, duplicates and caps of the position count."""
    steps = [
        START,
        remember("keep using yarn in every package"),
        {"do": "memory_add", "session": "A", "title": "use yarn in every package", "content": ""},
        {"do": "memory_delete", "id": "MEM-001"},
        remember("please keep: use pnpm in every workspace", message="m2"),
        {"do": "memory_add", "session": "A", "title": "use pnpm in every workspace", "content": ""},
        summary(),
    ]
    unseen = ask(steps, text, {"caps": {"feedback": 1}}).unseen
    assert unseen is not None
    assert [one.code for one in unseen.as_candidate.reasons] == [code]


def test_nothing_unseen_would_be_kept_where_there_is_no_project() -> None:
    """A verdict of the gate comes before the place, as in a decision; a request is refused as well (SPEC 1.6)."""
    world = World().initial()
    world.memory.project = False
    unseen = judge_unseen(world, "Remember: use tabs in every file of the service")
    assert [[one.code for one in verdict.reasons] for verdict in unseen.as_message] == [["not_a_project"]]
    assert [one.code for one in unseen.as_candidate.reasons] == ["not_a_project"]
    assert [one.code for one in judge_unseen(world, "Remember: vi").as_message[0].reasons] == ["too_short"]
    assert "not_a_project" not in [one.code for one in judge_unseen(world, "Use cents").as_candidate.reasons]


def test_an_id_that_was_never_given_is_unseen() -> None:
    """It is no text either."""
    explanation = ask([START], "MEM-099")
    assert explanation.stories == ()
    assert explanation.unseen is not None


def test_many_matches_are_counted() -> None:
    """The newest twenty are told, the others counted."""
    steps = [START, *(remember(f"rule number {n} of the house", message=f"m{n}") for n in range(23))]
    explanation = ask(steps, "of the house")
    assert len(explanation.stories) == 20
    assert explanation.more == 3
    assert explanation.stories[0].text == "rule number 22 of the house"


def test_the_answer_is_the_same_every_time_and_at_every_later_length() -> None:
    """Same log, same answer; a position doesn't see what comes after it."""
    harness = Harness(None)
    harness.feed([START, remember("use pnpm here"), summary()])
    log = harness.workspace().log
    at = log.size() - 1
    before = why(log.read, "use pnpm here")
    harness.feed([{"do": "memory_delete", "id": "MEM-001"}])
    assert why(log.read, "use pnpm here", at) == before
    assert why(log.read, "use pnpm here") != before


def test_a_text_with_invisible_characters_carries_a_note() -> None:
    """What was removed when it was taken in is said (SPEC 1.3)."""
    told = story([START, remember("use pn\u200bpm here")], "use pnpm here")
    assert [one.code for one in told.notes] == ["invisible_removed"]


def test_each_reason_names_its_section() -> None:
    """Configured patterns have the section on configuration."""
    assert rule_of("custom:mine") == "SPEC 20.3"
    assert rule_of("commit_or_ci_snapshot") == "SPEC 6.2"
