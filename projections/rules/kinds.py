"""Which type of memory a request states, told by its words (SPEC 4.7)."""

from __future__ import annotations

import re

from projections.rules.patterns import source_of

__all__ = ["type_of"]

_REFERENCE = ("linear", "slack", "notion", "dashboard", "dashboards", "grafana")
_DECISION = (
    *("decide", "decided", "decides", "decision", "decisions", "choose", "chooses", "chose", "chosen"),
    *("决定", "決定", "选择", "選擇", "決めた", "결정"),
)
_PROJECT = (
    *("project", "projects", "repo", "repos", "repository", "repositories", "monorepo", "codebase"),
    *("项目", "項目", "專案", "プロジェクト", "リポジトリ", "프로젝트", "저장소"),
)
_KINDS = (
    ("reference", re.compile(rf"https?://|{source_of(_REFERENCE)}", re.IGNORECASE)),
    ("decision", re.compile(source_of(_DECISION), re.IGNORECASE)),
    ("project", re.compile(source_of(_PROJECT), re.IGNORECASE)),
)


def type_of(text: str) -> str:
    """The first type whose words stand in the text, else ``feedback``."""
    return next((kind for kind, words in _KINDS if words.search(text)), "feedback")
