"""The picture of starts and refolds against size is what its data gives."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import msgspec

from bench.growth import Growth, Line
from bench.plot import DRAWN, KEPT, picture


def test_the_picture_is_drawn_from_the_data_beside_it() -> None:
    """Whoever measures anew draws anew."""
    found = msgspec.json.decode(KEPT.read_bytes(), type=Growth)
    assert DRAWN.read_text(encoding="utf-8") == picture(found)


def test_every_line_is_named_and_nothing_leaves_the_picture() -> None:
    """Also where lines end at one point, or at a smaller size than others."""
    same = Line({1000: (2.0, 1.5, 2.5), 10_000: (3.0, 3.0, 3.0)})
    short = Line({1000: (2.0, 2.0, 2.0)})
    lines = {"memfold": same, "eventsourcing": same, "server-memory": short}
    root = ET.fromstring(picture(Growth("a <machine>", lines, lines)))  # noqa: S314
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("memfold") == texts.count("eventsourcing") == 2
    assert texts.count("server-memory (to 10³)") == 2
    assert "a <machine>" in texts
    for one in root.iter("{http://www.w3.org/2000/svg}circle"):
        assert 0 < float(one.attrib["cx"]) < 980
        assert 0 < float(one.attrib["cy"]) < 400
