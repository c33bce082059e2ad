from __future__ import annotations

import csv
import io

import pytest

from plimsoll.report.render.csv_writer import CsvWriter


def _written(*cells: object) -> list[str]:
    out = io.StringIO(newline="")
    CsvWriter(out).writerow(cells)
    return next(csv.reader([out.getvalue()]))


@pytest.mark.parametrize(
    "text",
    ["=1+1", '=HYPERLINK("http://a/")', "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "=", "--x"],
)
def test_a_text_that_would_be_a_formula_is_quoted(text: str) -> None:
    assert _written(text) == [f"'{text}"]


def test_everything_else_stays_as_it_is() -> None:
    assert _written("/a=b", "", "N/A", "-1.5", "+3", "-1e-3", "-inf", None, -2, -0.5, "'=1") == [
        "/a=b", "", "N/A", "-1.5", "+3", "-1e-3", "-inf", "", "-2", "-0.5", "'=1",
    ]  # fmt: skip


def test_rows_that_come_by_column_are_as_safe() -> None:
    out = io.StringIO(newline="")
    CsvWriter(out).writecolumns([["=1", "a"], [1.5, None]])
    assert out.getvalue() == "'=1,1.5\r\na,\r\n"
