from __future__ import annotations

import csv
import io

import pytest

from plimsoll.report.render.csv_writer import CsvWriter


def _written(*cells: object) -> list[str]:
    out = io.StringIO(newline="")
    CsvWriter(out).writerow(cells)
    return next(csv.reader([out.getvalue()]))


def _line(text: str) -> str:
    out = io.StringIO(newline="")
    CsvWriter(out, lineterminator="\n").writerow((text,))
    return out.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        '=HYPERLINK("http://a/")',
        "+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\n=1",
        "-",
        "=",
        "--x",
        "＝1",
    ],
)
def test_a_text_that_would_be_a_formula_is_quoted(text: str) -> None:
    assert _written(text) == [f"'{text}"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\x1b[2Jx", "\ufffd[2Jx"),
        ("a\x9b2J\x7f\x08", "a\ufffd2J\ufffd\ufffd"),
        ("\r=1", "'\ufffd=1"),
        ("one\r\ntwo\tthree", "one\ufffd\ntwo\tthree"),
        ("é\u202f\u202e\u2028 x", "é\u202f\ufffd\ufffd x"),
    ],
)
def test_control_characters_become_marks(text: str, written: str) -> None:
    class Name(str):
        """As a user's code may give."""

    assert _written(text) == [written] == _written(Name(text))


def test_everything_else_stays_as_it_is() -> None:
    assert _written("/a=b", "", "N/A", "-1.5", "+3", "-1e-3", "-inf", None, -2, -0.5, "'=1") == [
        "/a=b", "", "N/A", "-1.5", "+3", "-1e-3", "-inf", "", "-2", "-0.5", "'=1",
    ]  # fmt: skip
