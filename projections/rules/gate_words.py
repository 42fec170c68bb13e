"""The word tables of the quality gate, compiled (SPEC 6.2, 6.3): data that ``quality`` reads."""

from __future__ import annotations

import re

from projections.rules.patterns import anywhere, at_start

_I = re.IGNORECASE
_W = r"(?<![A-Za-z0-9_])"
_E = r"(?![A-Za-z0-9_])"
_S = r"\s{1,4}"

# Normative words: they state a rule (SPEC 6.3).
NORMATIVE = re.compile(
    rf"{_W}(?:must|shall|always|never|do{_S}not|don['’]t|should(?!{_S}(?:we|i){_E})){_E}"
    "|必须|必須|应该|應該|一律|务必|務必|禁止|不得|总是|總是|从不|從不|不要"
    "|必ず|常に|決して|べき|반드시|항상|절대",
    _I,
)

# progress_snapshot
TEST_COUNT = re.compile(
    rf"{_W}\d{{1,9}}{_S}(?:[\w-]{{1,40}}{_S})?(?:tests?|specs?|suites?|checks?){_S}(?:(?:are|have){_S})?"
    rf"(?:pass\w{{0,10}}|fail\w{{0,10}}|green|red){_E}",
    _I,
)
FILE_COUNT = re.compile(rf"(?<!\d)\d{{1,9}}\s{{0,4}}(?:個|个)?\s{{0,4}}(?:files?{_E}|文件)", _I)
FILE_ACTIVITY = anywhere(
    *("synced", "uploaded", "downloaded", "completed", "generated", "created", "modified", "processed"),
    *("同步", "完成"),
)
FILE_LIMIT = re.compile(
    # "min…" stands for minimum and its like; "minutes" limit nothing.
    rf"{_W}(?:limit\w{{0,8}}|max\w{{0,10}}|min(?:\.|imum|imal|imally|ima)?(?!\w)|supports?|allow(?:s|ed)?|at{_S}most"
    rf"|per{_S}(?:batch|request|upload)){_E}",
    _I,
)
NEXT_STEP = re.compile(r"\s{0,4}next\s{1,4}step", _I)
COMPLETION = anywhere(
    *("completed", "done", "finished", "implemented", "added", "updated", "fixed", "reviewed", "passed", "modified")
)
WORK = anywhere(
    *("wave", "phase", "task", "plan", "pr", "commit", "ci", "test", "tests", "suite", "implementation", "session"),
    *("change", "fix", "review", "file", "files"),
)
NUMBERED_PHASE = re.compile(rf"{_W}(?:phase|wave|sprint|milestone|task)\s{{0,4}}#?\d", _I)
PHASE_DONE = anywhere("completed", "done", "finished", "完成")
CJK_PROGRESS = re.compile(
    rf"(?:已?完成|修復|修复|实现|實作).{{0,40}}?(?:{_W}(?:wave|phase|task|plan|PR){_E}|測試|测试)", _I
)
CURRENCY = anywhere("currently", "right now", "latest change", "previous session", "last wave", "next step")

# temporary_status, transient_bug_state
STATUS_START = at_start("currently", "now", "pending", "in progress", "todo", "wip")
_TESTS_ARE = ("test is", "test are", "tests is", "tests are")
STATUS = anywhere(
    "run npm test",
    *(f"{tests} {state}" for tests in _TESTS_ARE for state in ("running", "green", "passing")),
    *("next reply", "before continuing"),
)
BUG_STATE = anywhere(
    *("currently debugging", "still failing", "unresolved bug", "temporary workaround", "next step is to fix"),
    *(f"{tests} {state}" for tests in _TESTS_ARE for state in ("failing", "red")),
    *("待修", "暫時", "暂时", "目前正在"),
)

# unresolved_question
URL = re.compile(r"https?://\S+", _I)
QUESTION = anywhere("whether to", "should we", "do we need", "是否要", "要不要")
OPEN_START = at_start(
    *("question:", "open question", "unresolved", "pending question", "todo", "tbd"),
    *("待確認", "待确认", "未決", "未决", "待決定", "待决定"),
)
UNDECIDED = anywhere(
    *("need to decide", "needs decision", "not decided"),
    *("尚未決定", "尚未决定", "需要決定", "需要决定"),
)

# commit_or_ci_snapshot
COMMIT_PREFIX = re.compile(
    r"(?:fix|feat|chore|docs|refactor|test|perf|build|ci|style)(?:\([^()\n]{0,80}\))?!?:(?!\s{0,4}https?://)"
)
HEX_WORD = re.compile(r"(?<![\w/.@=-])[0-9a-f]{7,40}(?![\w-])(?!\.\w)")
HASH_LABEL = re.compile(rf"{_W}(?:commit|sha|revision|rev|merge|revert|cherry-pick)[\s:#`'\"(]{{1,4}}\Z", _I)
CI = anywhere("ci")
CI_STATE = anywhere("passed", "failed", "failing", "flaky", "green", "red", "run", "compatibility")

# raw_error
ERROR_NAME = re.compile(r"[\w.$]{0,120}(?:Error|Exception):")
STACK_FRAME = re.compile(rf"{_W}at{_S}[\w.$<>]{{1,120}}\s{{0,4}}\([^()\s]{{1,300}}:\d{{1,7}}\)")
STACK_PLACE = re.compile(r"\(([^()\s]{1,300}):\d{1,7}:\d{1,7}\)")
TRACEBACK = "Traceback (most recent call last)"
PANIC = "panic:"

# active_file_snapshot, code_or_api_signature, deployment_snapshot
FILE_TOUCH = re.compile(r"(?:modified|created|deleted|renamed|updated|edited)\s{1,4}(\S+)", _I)
SIGNATURE = re.compile(
    r"(?:function|class|interface|type|const|let|var|def|func|fn)\s{1,4}[\w$]{1,200}\s{0,8}[({=<:]"
    r"|(?:GET|POST|PUT|DELETE|PATCH) {1,4}/"
)
DEPLOYMENT = anywhere(
    *("deployed", "deployment", "current", "latest", "active", "revision", "build", "release"),
    *("部署", "版本", "修訂", "修订"),
)
ENTROPY_ID = re.compile(r"(?<![\w-])(?:(?:revision|rev|build|release)[-_])?([A-Za-z0-9]{10,260})(?![\w-])")

# bad_feedback, bad_decision
PREFERENCE = re.compile(
    rf"{_W}user{_S}(?:prefers|wants|asked|expects|requires|likes|dislikes|needs){_E}|{_W}prefer"
    rf"|{_W}(?:going{_S}forward|from{_S}now{_S}on|keep|use|avoid){_E}"
    "|(?:使用者|用戶|用户).{0,12}?(?:偏好|希望|要求|想要)"
    "|偏好|希望|以後請|以后请|好む|してほしい|선호|원한다",
    _I,
)
RULE = anywhere(
    *("use", "keep", "prefer", "avoid", "require", "requires", "choose", "chose", "chosen", "adopt", "adopted"),
    *("reject", "rejects", "only"),
    *("使用", "保持", "避免", "採用", "采用", "選擇", "选择", "決定", "决定", "必須走"),
)
ARCHITECTURE_NAME = re.compile(rf"{_W}(?:[A-Z][A-Z0-9]{{0,80}}_[A-Z0-9_]{{1,80}}|[A-Z]{{4,80}}){_E}")
ARCHITECTURE = anywhere(
    *("schema", "model", "scoring", "retention", "cap", "evidence", "normalization", "architecture", "boundary"),
    *("root cause", "memory system"),
    *("模型", "架構", "架构", "邊界", "边界"),
)
IMPLEMENTED = anywhere("implemented", "added", "updated", "fixed", "completed", "reviewed")
PAST = anywhere("was", "were", "has been", "had been", "moved")
RECENT = anywhere("previous", "last", "latest", "this session", "this wave", "already")
WORK_CONTEXT = anywhere("session", "wave", "task", "test", "ci", "commit")

# memory_echo
_REACH = r"(?:\s{1,4}\S{1,40}){0,3}?\s{1,4}"
"""Within three words: at most three others stand between."""

ECHO = re.compile(
    rf"{_W}(?:workspace|project|saved|stored|existing|long-term){_S}"
    rf"(?:memory{_E}{_REACH}(?:says|states|notes|lists|contains|indicates|tells)"
    # The plural takes the plain verbs as well: "saved memories say".
    rf"|memories{_E}{_REACH}(?:says?|states?|notes?|lists?|contains?|indicates?|tells?)){_E}",
    _I,
)
ACCORDING = re.compile(rf"\s{{0,4}}according{_S}to{_REACH}memor(?:y|ies){_E}", _I)

# too_short, terse_label
NAMED_VALUE = re.compile(r"(?<![\w.-])[\w.-]{1,80}=\S")
LINKING = anywhere(
    *("is", "are", "was", "were", "has", "have", "use", "uses", "keep", "keeps", "require", "requires", "prefer"),
    *("prefers", "want", "wants", "support", "supports", "must", "should", "always", "never", "not", "because"),
    *("for", "with", "when", "after", "before", "in", "at", "on"),
)
