from __future__ import annotations

import pytest

from plimsoll.load.complaints import complain
from plimsoll.load.mistakes import Complaint
from plimsoll.load.toml_file import Places

PLACES = Places({"phase": 3, "phase[1]": 5, "phase[1].rate": 6}, {"phase": [{}, {"rate": 5}], "target": {"url": "u"}})


@pytest.mark.parametrize(
    ("path", "line", "written"),
    [
        ("phase[1].rate", 6, "phase[1].rate"),
        ("phase[1].duration", 5, "phase[1].duration"),
        ("phase[0]", 3, "phase[0]"),
        ("phase[7].rate", 3, "phase[7].rate"),
        ("nothing", 1, "nothing"),
        ("target[0].url", 1, "target.url"),
        ("", 1, ""),
    ],
)
def test_a_place_is_the_nearest_one_that_the_document_has(path: str, line: int, written: str) -> None:
    assert (PLACES.line(path), PLACES.written(path)) == (line, written)


def test_each_complaint_has_one_line_and_is_said_once() -> None:
    found = [Complaint("phase[1].rate", "bad:\n    a(b\n     ^\nworse"), Complaint("", "odd"), Complaint("", "odd")]
    assert str(complain("p.toml", found, PLACES)).splitlines() == [
        "p.toml:1: odd",
        "p.toml:6: phase[1].rate: bad: a(b worse",
    ]
