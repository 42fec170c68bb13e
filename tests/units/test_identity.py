"""Identity keys and when two texts are the same (SPEC 8.4, 8.5)."""

from __future__ import annotations

import pytest

from projections.text.identity import identity_key, same_identity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See HTTPS://A.Test/X/?q=Y#z).", "reference:url:https://a.test/X?q=Y"),
        ("Root https://a.test/ is it", "reference:url:https://a.test/"),
        ("Host https://a.test!", "reference:url:https://a.test"),
        ("With user http://Amy@A.test:80/x//", "reference:url:http://Amy@a.test:80/x"),
        ("In src/b.ts see https://a.test/x，later", "reference:url:https://a.test/x"),
        ("First src/b.ts, quoted 'src/a.ts'", "reference:path:src/a.ts"),
        ('It isn\'t "quoted" but “./lib/a.ts”', "reference:path:lib/a.ts"),
        ("Run `npm test x/y.ts` in /w/app/sub/", "reference:path:x/y.ts"),
        ("Quoted `/w/app/sub/z.ts` is below the root", "reference:path:sub/z.ts"),
        ("Only words", "reference:only words"),
    ],
)
def test_identity_key(text: str, expected: str) -> None:
    """The first URL, else the first quoted path, else the first path, else the exact key."""
    assert identity_key("reference", text, "/w/app") == expected


def test_only_projects_and_references_have_identities() -> None:
    """Other types have their exact key alone."""
    assert identity_key("feedback", "Keep https://a.test/X") == "feedback:keep https://a.test/x"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Config is in src/a.ts", "The config: src/a.ts", "absorbed_identity"),
        ("Config is in src/a.ts", "config is in `src/a.ts`!", "absorbed_exact"),
        ("Edit src/a.ts", "Do not edit src/a.ts", None),
        ("Edit src/a.ts", "Edit src/a.ts, don't move it", None),
        ("编辑 src/a.ts", "不要编辑 src/a.ts 编辑", None),
        ("Port 80 in src/a.ts", "Port in src/a.ts", None),
        ("Docs at https://a.test/x", "API docs at https://a.test/x", "absorbed_identity"),
        ("Docs at https://a.test/x", "Docs at https://a.test/y", None),
        ("Docs at https://a.test/x", "Docs at src/x.md", None),
        ("src/a.ts holds config, see src/a.ts", "src/a.ts holds config", "absorbed_identity"),
        ("Plain words", "Other words", None),
    ],
)
def test_same_identity_in_both_directions(a: str, b: str, expected: str | None) -> None:
    """One set of remaining words contains the other, and the protected words are the same."""
    assert same_identity("project", a, b) == expected
    assert same_identity("project", b, a) == expected


def test_contracted_negations_are_protected_words() -> None:
    """A fact and its denial stay two, however the denial is written (SPEC 8.5)."""
    for word in ("isn't", "cannot", "doesn't", "won't"):
        assert same_identity("project", "The config is in src/a.ts", f"The config {word} in src/a.ts") is None
