from __future__ import annotations

import io

import pytest
from rich.console import Console
from tests.command import wait_until

from plimsoll.experiment.cell_values import ExperimentCell
from plimsoll.experiment.display import ExperimentDisplay, ProgressBar, outcome
from plimsoll.stats.study import Level
from plimsoll.store.cells import CellOutcome

CELL = ExperimentCell(number=3, repeat=2, variant="index", level=Level("users", 50.0), operation="upload", seed=7)
VALID = CellOutcome("valid", run="r", phases={"start": 1.5, "measure": 20.0})


def test_a_line_of_a_cell_that_is_over():
    assert outcome(CELL, VALID, 3, 9, 125.0) == "[3/9] index, 50 users, upload, repeat 2: valid (22 s; ≈ 2 min left)"
    assert outcome(CELL, VALID, 9, 9, 0.0) == "[9/9] index, 50 users, upload, repeat 2: valid (22 s)"
    failed = CellOutcome("failed", "prepare: exit status 1")
    expected = "[3/9] index, 50 users, upload, repeat 2: FAILED: prepare: exit status 1 (0 s)"
    assert outcome(CELL, failed, 3, 9, 0.0) == expected


@pytest.mark.parametrize("markup", ["[red]", "[3/9]"])
def test_lines_where_there_is_no_terminal(markup):
    stream = io.StringIO()
    with ExperimentDisplay(stream) as shown:
        shown.begin(CELL, 2, 9, 100.0)
        shown.at("measuring")
        shown.end(CELL, CellOutcome("invalid", markup), 3, 9, 0.0)
        shown.write("done")
    assert stream.getvalue() == f"[3/9] index, 50 users, upload, repeat 2: INVALID: {markup} (0 s)\ndone\n"


def test_a_bar_on_a_terminal_and_lines_above_it():
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    with ProgressBar(console) as shown:
        shown.begin(CELL, 2, 9, 100.0)
        shown.at("[measuring]")
        wait_until(lambda: "[measuring]" in console.file.getvalue())
        shown.end(CELL, CellOutcome("invalid", "[red]"), 3, 9, 80.0)
    text = console.file.getvalue()
    assert "2/9" in text and "≈ 2 min left" in text and "index, 50 users, upload, repeat 2: [measuring]" in text
    assert "[3/9] index, 50 users, upload, repeat 2: INVALID: [red] (0 s; ≈ 1 min 20 s left)\n" in text
