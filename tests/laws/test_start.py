"""A start without argparse is one with it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memfold.cli.parser import parse
from memfold.cli.start import prompt_options
from memfold.errors import UsageError

_WORDS = st.sampled_from(
    (
        *("--ledger", "--workspace", "--session", "--next", "--numbered", "--hot", "--json", "--at", "--color"),
        *("--ledger=l", "--led", "-h", "--", "-", "", "l", "12", "-1", "two words", "prompt", "never", "--nothing"),
    )
)


@given(st.lists(_WORDS, max_size=6))
def test_options_that_are_plain_are_those_of_the_parser(words: list[str]) -> None:
    """What is understood without the parser, it understands the same way."""
    options = prompt_options(["prompt", *words])
    if options is not None:
        try:
            parsed = parse(["prompt", *words])
        except (UsageError, SystemExit) as error:
            raise AssertionError(words) from error
        assert parsed is not None
        assert vars(options) == vars(parsed)


def test_what_hosts_give_is_plain() -> None:
    """Else each start would pay for the parser."""
    for words in ([], ["--ledger", "l"], ["--workspace", "w", "--session", "s"], ["--next"], ["--numbered"]):
        assert prompt_options(["prompt", *words]) is not None
    for words in (
        ["--json"],
        ["--help"],
        ["--ledger"],
        ["--ledger", "l", "--workspace", "w"],
        ["--next", "--numbered"],
    ):
        assert prompt_options(["prompt", *words]) is None
    assert prompt_options(["list"]) is None
