"""The recording of a first look: what the README shows is the beginning of the page."""

from __future__ import annotations

from tests.hosts.opencode.harness.tour import CUT, PAGE, README, README_BLOCK, head


def test_the_readme_shows_the_beginning_of_the_recording() -> None:
    """The block between the marks is the head of the page, which goes on behind it."""
    recording = PAGE.read_text(encoding="utf-8")
    (shown,) = README_BLOCK.findall(README.read_text(encoding="utf-8"))
    assert shown[1] == head(recording)
    assert CUT in recording
