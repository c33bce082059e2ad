from __future__ import annotations

import csv
import io
import math
import random
import struct
from typing import TYPE_CHECKING

import pytest

from plimsoll.report.render.csv_writer import CsvWriter, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    assert lines_of([[text]]) == _line(text)


def test_everything_else_stays_as_it_is() -> None:
    assert _written("/a=b", "", "N/A", "-1.5", "+3", "-1e-3", "-inf", None, -2, -0.5, "'=1") == [
        "/a=b", "", "N/A", "-1.5", "+3", "-1e-3", "-inf", "", "-2", "-0.5", "'=1",
    ]  # fmt: skip


def test_rows_that_come_by_column_are_the_same() -> None:
    chance = random.Random(3)
    floats = [struct.unpack("<d", chance.randbytes(8))[0] for _ in range(2000)]
    floats += [round(chance.uniform(0, 10 ** chance.randint(-6, 18)), 3) for _ in range(2000)]
    floats += [0.0, -0.0, 1e-4, 9.999e-5, 1e15, 1e16, 123456789012345680.0, math.nan, -math.inf, 5e-324, 1.0, None]
    texts = ["=1", "a", "", 'say "x"', "a,b", "two\nlines", "ä", "-1.5", "'"]
    columns: list[Sequence[object]] = [
        floats,
        [chance.choice(texts) for _ in floats],
        [chance.choice((0, 1, -5, 2**63 - 1, 2**63, 10**30)) for _ in floats],
        tuple(chance.choice((None, 2, 2.5)) for _ in floats),
    ]
    for order in (columns, columns[::-1]):
        out = io.StringIO(newline="")
        CsvWriter(out, lineterminator="\n").writerows(zip(*order, strict=True))
        assert lines_of(order) == out.getvalue()


def test_columns_of_numbers_follow_those_of_texts_and_lines_end_as_asked() -> None:
    names, numbers = ["=1", "two\nlines"], [["N/A", "0.5"], [1, 2.5]]
    out = io.StringIO(newline="")
    CsvWriter(out).writerows(zip(names, *numbers, strict=True))
    assert lines_of([names], numbers, "\r\n") == out.getvalue() == '\'=1,N/A,1\r\n"two\nlines",0.5,2.5\r\n'
