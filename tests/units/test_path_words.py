"""Path words and their normal form (SPEC 8.3)."""

from __future__ import annotations

import pytest

from projections.text.paths import is_path, normal_path, path_words, relative_to


@pytest.mark.parametrize(
    "word",
    [
        "/etc/hosts",
        "./run",
        "../lib",
        "~/notes",
        "foo/bar.txt",
        "logs/",
        ".github/workflows",
        "src/core",
        "docs/guide,",
        "README.md",
        "`package.json`.",
        "(src/a.ts)",
        "(./run)",
        "`/etc/hosts`",
        "tool.lock",
        "C:\\work\\app",
        "src\\main.py",
        "image/logo.png",
        "lib/three.js",
    ],
)
def test_paths(word: str) -> None:
    """Absolute, relative, dotted and bare file names are paths, whatever punctuation surrounds them."""
    assert is_path(word)


@pytest.mark.parametrize(
    "word",
    [
        "/opt",
        "CI/CD",
        "TCP/IP",
        "and/or",
        "HTTP/2",
        "HTTP/1.1",
        "application/json",
        "application/vnd.api",
        "Node.js",
        "socket.io",
        "Vue.js/Nuxt.js",
        "https://a.test/x.html",
        "v1.2",
        "2024/01/02",
        "github.com/owner/name",
        "report.pdf",
        ".md",
        "two words/x.ts",
        "",
        "...",
    ],
)
def test_words_that_are_no_paths(word: str) -> None:
    """Products, protocols, MIME types, URLs, versions and dates are none."""
    assert not is_path(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("`./src/main.ts`.", "src/main.ts"),
        ("/etc/acme//conf.d/", "/etc/acme/conf.d"),
        ("/w/app/Src/A.ts", "Src/A.ts"),
        ("/w/app", "/w/app"),
        ("/w/application/x", "/w/application/x"),
        ("././src/", "src"),
        ("src\\a.ts", "src/a.ts"),
        ("src/X", "src/X"),
        ("./", "."),
    ],
)
def test_normal_form(word: str, expected: str) -> None:
    """Slashes collapse, ``./`` and the last ``/`` go, the root is left out, case stays."""
    assert normal_path(word, "/w/app") == expected


def test_paths_below_the_root_are_relative() -> None:
    """Only whole segments of the root count; without a root nothing changes."""
    assert relative_to("/w/app/src/a.ts", "/w/app/") == "src/a.ts"
    assert relative_to("/w/app/", "/w/app") == "/w/app/"
    assert relative_to("/w/app2/a.ts", "/w/app") == "/w/app2/a.ts"
    assert relative_to("/etc/x", "") == "/etc/x"
    assert relative_to("/etc/x", "/") == "/etc/x"


def test_path_words_in_order() -> None:
    """All path words of a text, in their normal form."""
    assert path_words("Move `./src/a.ts` to /w/app/lib/b.ts, please", "/w/app") == ("src/a.ts", "lib/b.ts")
