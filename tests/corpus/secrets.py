"""All secrets: each form in a sentence or a line, inside JSON, and across a limit of ours; built when they are used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle

from tests.corpus.kinds import BEYOND, OTHERS, PROMISED
from tests.corpus.model import Chance, Secret

__all__ = ["one_of_each_form", "secrets"]

_SEED = 7

_LIMITS = (*(120, 180, 260, 280, 300, 2000) * 4, 16_384)
"""Where texts of ours are cut: titles, rationales, entries, errors, log lines, summaries, and seldom command lines."""
_TEXTS = 3
"""Texts of each form."""
_BEFORE = 12
"""Characters of a text that still stand before a limit."""

_FRAMES = (
    "{}",
    "the staging box takes {} for the deploy",
    "- {}\n- use tabs in Makefiles",
    "部署时使用 {} 就可以",
    'export NOTE="x" && {} && ./deploy.sh',
    "ステージングは {} です",
    "> quoted: {}",
    "배포에는 {} 를 씁니다",
    "# deploy\n{}\nrest",
    "para el despliegue usa {} siempre",
    "2026-01-02 ERROR call failed ({}) at src/a.ts:3",
    "utilise {} pour le déploiement",
    "nimm {} für das Deployment",
)


def secrets(seed: int = _SEED) -> Iterator[Secret]:
    """Three texts of each form, in the order of the kinds."""
    chance = Chance(seed)
    frames, limits = cycle(_FRAMES), cycle(_LIMITS)
    for counted, kinds in ((True, PROMISED), (True, BEYOND), (False, OTHERS)):
        for kind, forms in kinds.items():
            for form in forms:
                text, values = form(chance)
                yield Secret(kind, next(frames).replace("{}", text), values, counted)
                text, values = form(chance)
                yield Secret(kind, _in_json(text), values, counted)
                text, values = form(chance)
                yield Secret(kind, _across(next(limits), text), values, counted)


def one_of_each_form() -> Iterator[Secret]:
    """One text of each form that has a threshold: the first one in a sentence, the second in JSON, and so on."""
    counted = [one for one in secrets() if one.counted]
    return (one for number, one in enumerate(counted) if number % _TEXTS == number // _TEXTS % _TEXTS)


def _in_json(text: str) -> str:
    return json.dumps({"host": "h", "note": text, "port": 1}, ensure_ascii=False)


def _across(limit: int, text: str) -> str:
    """A text behind so many words that a cut at a limit falls into it."""
    words = "words that stand before it " * (limit // 10)
    return f"{words[: limit - _BEFORE - 1]} {text} and more behind"
