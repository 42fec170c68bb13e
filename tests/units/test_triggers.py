"""Unit tests of remember forms: every family and pack, boundaries, negations, configured words (SPEC 4.2-4.4)."""

from __future__ import annotations

import re

import pytest

from projections.policy import DEFAULT_POLICY, Context, GatePattern, Patterns, Policy
from projections.rules.explicit import Request, extract, is_off_the_record, reduce_message
from projections.rules.patterns import check_patterns, source_of
from projections.rules.triggers import triggers_of

DEFAULT = Context()
ALL_PACKS = Context(Policy(languages=("en", "zh", "ja", "ko", "de", "es", "fr", "pt", "vi")))
BODY = "builds run on bun"


def accepted(text: str, context: Context = DEFAULT) -> list[str]:
    """The texts that a message asks to keep and that nothing stands against."""
    return [request.text for request in extract(text, context) if not request.reasons]


def refused(text: str, context: Context = DEFAULT) -> list[str]:
    """The reason codes of a message, in order."""
    return [reason.code for request in extract(text, context) for reason in request.reasons]


def only(text: str, context: Context = DEFAULT) -> Request:
    """The one request of a message."""
    (request,) = extract(text, context)
    return request


@pytest.mark.parametrize(
    "form",
    [
        *("Remember", "please remember", "Always remember", "please always remember that", "remember to", "REMEMBER"),
        *(
            "do not forget",
            "Don't forget",
            "don’t forget that",
            "dont forget",
            "never forget to",
            "please never forget",
        ),
        *("save to memory", "add this to the memory", "store that in memory", "put it into memory", "write to memory"),
        *(
            "please save that into the memory",
            "commit to memory",
            "commit this to memory",
            "please commit it to memory",
        ),
        *("make a note", "make a note that", "please make a note of", "from now on", "going forward", "i prefer"),
        *("my preference is", "ok remember", "okay, remember", "great, also remember", "btw remember", "hey, remember"),
        *("by the way, remember", "and so now please remember", "also from now on"),
        *(
            "请记住",
            "請幫我記住",
            "帮我记得",
            "記得",
            "记下来",
            "記下來",
            "记下",
            "記下",
            "牢记",
            "牢記",
            "别忘了",
            "別忘了",
        ),
        *("不要忘记", "不要忘記", "别忘记", "別忘記", "从现在开始", "從現在開始", "从今以后", "從今以後", "我的偏好是"),
        *("我偏好", "以后请", "以後請", "以后都", "以後都"),
        *("覚えておいて", "覚えてください", "忘れないで", "メモしておいて下さい", "メモしてね", "記憶して"),
        *(
            "기억해 주세요",
            "기억해주세요",
            "기억해줘",
            "기억해 둬",
            "기억해",
            "잊지 마세요",
            "잊지마세요",
            "잊지 마",
            "잊지마",
        ),
        *("메모해 주세요", "메모해줘", "메모해"),
    ],
)
def test_every_form_takes_its_body(form: str) -> None:
    """Each form of the packs that are on asks for what stands behind it and a separator."""
    for separator in (": ", "：", ", ", "，", "、", " - ", " — ", " "):
        assert accepted(f"{form}{separator}{BODY}") == [BODY], separator


@pytest.mark.parametrize(
    ("form", "pack"),
    [
        *(("merke dir", "de"), ("merk dir", "de"), ("denk daran", "de"), ("vergiss nicht", "de")),
        *(("recuerda", "es"), ("recuerda que", "es"), ("no olvides", "es")),
        *(("souviens-toi", "fr"), ("retiens", "fr"), ("n'oublie pas", "fr"), ("n’oublie pas", "fr")),
        *(("lembre-se", "pt"), ("lembra", "pt"), ("não esqueça", "pt")),
        *(("ghi nhớ", "vi"), ("hãy nhớ", "vi"), ("đừng quên", "vi")),
    ],
)
def test_shipped_packs_are_off_until_switched_on(form: str, pack: str) -> None:
    """A form of the five further packs counts only when its pack is on."""
    assert accepted(f"{form}: {BODY}") == []
    assert accepted(f"{form}: {BODY}", Context(Policy(languages=(pack,)))) == [BODY]


@pytest.mark.parametrize(
    "text",
    [
        *("I will remember this: x is y today", "Remembering the layout", "RememberMe is broken", "The rememberer: x"),
        *("The team is going forward with plan B", "going forward to x and y", "Going forward on it", "remember."),
        *("Always use tabs", "important: use tabs", "He said to remember the port", "i preferred tabs", "memory: x"),
        *(
            "I add this to memory",
            "the 覚えている thing",
            "기억해요: x",
            "Remember—x",
            "Remember-x",
            "from now onwards x",
        ),
    ],
)
def test_what_only_looks_like_a_form_is_none(text: str) -> None:
    """Longer words, forms in mid-clause and emphasis leave no trace at all."""
    assert extract(text, DEFAULT) == ()


@pytest.mark.parametrize(
    "start", ["Fine. ", "Done! ", "Sure? ", "Well; ", "好。", "好！", "好？", "好；", "Right. ok, and "]
)
def test_a_form_counts_after_a_sentence_end(start: str) -> None:
    """A later sentence of the line may hold the request (SPEC 4.2)."""
    assert accepted(f"{start}remember: {BODY}") == [BODY]


@pytest.mark.parametrize("mark", [", ", "，", "、", ": ", "："])
def test_only_preferences_count_after_a_comma(mark: str) -> None:
    """Families G to I also count behind a comma or colon, A to F don't (SPEC 4.2)."""
    assert accepted(f"For builds{mark}from now on {BODY}") == [BODY]
    assert accepted(f"构建{mark}我偏好使用更快的工具链") == ["使用更快的工具链"]
    assert extract(f"For builds{mark}remember {BODY}", DEFAULT) == ()


@pytest.mark.parametrize("marker", ["- ", "* ", "+ ", "• ", "1. ", "1) ", "   ", "  - "])
def test_one_list_marker_may_stand_before_a_form(marker: str) -> None:
    """Up to three spaces and one list marker are no words (SPEC 4.2)."""
    assert accepted(f"{marker}remember: {BODY}") == [BODY]


@pytest.mark.parametrize(
    "form",
    [
        *("do not remember", "don't remember", "don’t remember", "dont remember", "never remember", "not remember"),
        *("no need to remember", "you need not remember", "needn't remember", "we don't have to remember"),
        *("do not please remember", "don't ever save this to memory", "please do not commit it to memory"),
        *("不要记住", "別記住", "别记得", "不用记住", "不需要记住", "不必記住", "勿记住", "无需记住", "無需記住"),
        *("不要帮我记住", "不用幫我記住", "不要再记住", "覚えないで", "覚えなくていい", "記憶しないで", "メモしないで"),
        *("기억하지 마", "기억하지마", "기억하지 말", "기억하지 말아 주세요", "메모하지 마", "메모하지마"),
    ],
)
def test_every_negation_refuses_and_keeps_nothing(form: str) -> None:
    """A negation directly before a form refuses its sentence; the words reach neither result nor log (SPEC 4.4)."""
    message = f"{form}: host saturn is temporary. Remember: {BODY}"
    assert refused(message) == ["negated_request"]
    assert accepted(message) == [BODY]
    assert only(f"{form}: host saturn").text == ""
    assert "saturn" not in reduce_message(message, DEFAULT)


def test_a_word_that_holds_a_negation_negates_nothing() -> None:
    """In 特别 the character 别 is no negation, nor is one inside a body (SPEC 4.4)."""
    assert refused("请特别记住：使用更快的工具链") == []
    assert accepted("记住：不过缓存目录是 /var/c") == ["不过缓存目录是 /var/c"]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("テストは並列で実行することを覚えて。", "テストは並列で実行する"),
        ("テストは並列で実行するのを、忘れないで！", "テストは並列で実行する"),
        ("ビルドはbunで行うってメモして", "ビルドはbunで行う"),
        ("ビルドはbunで行う、覚えておいてください", "ビルドはbunで行う"),
        ("배포는 금요일에 하지 않는다고 기억해줘.", "배포는 금요일에 하지 않는다"),
        ("릴리스 브랜치는 stable라고 메모해", "릴리스 브랜치는 stable"),
        ("릴리스 브랜치를 기억해 주세요!", "릴리스 브랜치"),
        ("배포 전에 로그를 확인하는 것을 잊지 마", "배포 전에 로그를 확인하"),
        ("배포 전에 로그를 확인하는 걸 잊지 마세요", "배포 전에 로그를 확인하"),
    ],
)
def test_a_trailing_form_takes_what_stands_before_it(text: str, body: str) -> None:
    """In Japanese and Korean the form may end the sentence; a final particle is not part of the body (SPEC 4.3)."""
    assert accepted(text) == [body]


def test_each_sentence_may_end_in_a_trailing_form() -> None:
    """Trailing forms belong to their own sentences, negated ones included."""
    text = "テストは並列で実行すると覚えて。ポートは一時的な値だと覚えないで。ビルドはbunで行うと覚えて。"
    assert accepted(text) == ["テストは並列で実行する", "ビルドはbunで行う"]
    assert refused(text) == ["negated_request"]
    assert accepted("ビルドはbunで行うと覚えて。不要记住旧的端口") == ["ビルドはbunで行う"]


def test_a_quotation_before_hides_no_trailing_form() -> None:
    """A quoted form is recorded, and a later sentence still ends in its own."""
    text = "「記住：x」と書く。テストは並列で実行すると覚えて。"
    assert (refused(text), accepted(text)) == (["quoted"], ["テストは並列で実行する"])


def test_a_trailing_form_alone_takes_what_follows() -> None:
    """Without words before it the form leads: the rest of its line, else the next line, is the body."""
    assert accepted("覚えておいて。テストは並列で実行する") == ["テストは並列で実行する"]
    assert accepted("覚えておいて。\nテストは並列で実行する") == ["テストは並列で実行する"]
    for mark in ("。", ".", "!", "！", "!!"):
        assert accepted(f"覚えて{mark} テストは並列で実行する") == ["テストは並列で実行する"]


def test_pointers_are_skipped_only_before_a_separator() -> None:
    """A pointer like "this:" points at what follows, "this repo" belongs to the text (SPEC 4.3)."""
    for pointer in ("this", "this one", "these", "the following"):
        assert accepted(f"Remember {pointer}: {BODY}") == [BODY]
        assert accepted(f"Remember {pointer} - {BODY}") == [BODY]
        assert accepted(f"Remember {pointer}\n{BODY}") == [BODY]
        assert accepted(f"Remember {pointer} {BODY}") == [f"{pointer} {BODY}"]
    for pointer in ("这一点", "這一點", "这点", "這點", "这个", "這個", "这些", "這些"):
        assert accepted(f"记住{pointer}：{BODY}") == [BODY]
        assert accepted(f"记住{pointer}{BODY}") == [f"{pointer}{BODY}"]


def test_configured_triggers_negations_and_time_words_count() -> None:
    """Words of the policy work like built-in ones; a star stands for up to 40 non-space characters (SPEC 20.3)."""
    patterns = Patterns(triggers=("jot*down", "備忘"), negations=("kindly no",), time_words=("next sprint",))
    context = Context(Policy(patterns=patterns))
    assert accepted(f"jotted-it-down: {BODY}", context) == [BODY]
    assert accepted("備忘使用更快的工具链", context) == ["使用更快的工具链"]
    assert extract(f"jot {'x' * 41} down: {BODY}", context) == ()
    assert extract(f"jotdowns {BODY}", context) == ()
    assert refused(f"kindly no jot-down: {BODY}", context) == ["negated_request"]
    assert refused("remember to tidy up next sprint", context) == ["one_off"]
    assert refused("> jotdown: x", context) == ["quoted"]
    spaced = Context(Policy(patterns=Patterns(triggers=("jot *down", "nb"))))
    assert accepted(f"jot  it-down: {BODY}", spaced) == [BODY]
    assert extract(f"jotdown: {BODY}", spaced) == ()


def test_a_pattern_that_matches_everything_is_refused_and_ignored() -> None:
    """Words that are empty or only stars are named when configuration is loaded, and never match (SPEC 20.3)."""
    gate = (GatePattern("codename", ("*", "ok")),)
    policy = Policy(patterns=Patterns(triggers=("", "note"), negations=("* *",), time_words=("***",), gate=gate))
    assert [problem.partition(":")[0] for problem in check_patterns(policy)] == [
        "patterns.triggers",
        "patterns.negations",
        "patterns.time_words",
        "patterns.gate.codename",
    ]
    assert check_patterns(DEFAULT_POLICY) == []
    assert accepted(f"{BODY}\nRemember: {BODY}", Context(policy)) == [BODY]


def test_off_the_record_is_told_by_the_first_line() -> None:
    """A message that starts "off the record", in any case, is for nobody's memory (SPEC 3.7)."""
    assert is_off_the_record("Off the Record: remember x")
    assert is_off_the_record("<system-reminder>x</system-reminder>\n off\u200b the record, remember x")
    assert not is_off_the_record("Remember:\noff the record notes go to the wiki")


def test_a_negated_form_behind_opening_words_of_a_body_refuses() -> None:
    """What a body begins with decides, opening words and forms of their own language included (SPEC 4.4, 4.5)."""
    assert refused("Remember: please 覚えないで：使わない値") == ["negated_request"]


def test_all_packs_live_together() -> None:
    """With every pack on, each still finds its own form."""
    text = "Merke dir: wir bauen mit Bazel\nGhi nhớ: dùng pnpm cho dự án\n記住：使用更快的工具链"
    assert accepted(text, ALL_PACKS) == ["wir bauen mit Bazel", "dùng pnpm cho dự án", "使用更快的工具链"]


def test_an_alternative_is_the_longest_whole_word() -> None:
    """Longest first; an edge counts where the word has a letter at it; a star takes the fewest signs."""
    assert re.findall(source_of(["a b", "a"]), "a b a") == ["a b", "a"]
    assert re.findall(source_of(["ab:", "ab"]), "ab: xab: ab") == ["ab:", "ab"]
    assert re.findall(source_of(["ab:"]), "xab: ab:") == ["ab:"]
    assert re.findall(source_of([":ab"]), ":abx :ab") == [":ab"]
    assert re.findall(source_of(["a*b*c"]), "a1b2c ac abc") == ["a1b2c", "abc"]


def test_commas_behind_the_end_are_not_looked_at() -> None:
    """A sentence is searched for preferences up to its own end."""
    line = "Well, from now on use tabs. Then, from now on use bun"
    triggers = triggers_of(DEFAULT_POLICY)
    assert [found.start for found in triggers.after_comma(line, 0, line.index("."))] == [6]
    assert len(list(triggers.after_comma(line, 0, len(line)))) == 2
