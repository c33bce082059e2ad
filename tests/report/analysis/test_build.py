from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.studies import SAMPLES, ladder

from plimsoll.report.analysis.build import build
from plimsoll.report.analysis.document import Bullets, Heading, Pictures, Table
from plimsoll.stats.analysis import Analysis


def titles(name: str, depth: int = 2) -> list[str]:
    return [
        block.text for block in build(SAMPLES[name]()).blocks if isinstance(block, Heading) and block.depth == depth
    ]


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        ("ladder", ["Throughput (requests/s)", "p50 (ms)", "p99 (ms)", "Failed requests", "At 48 users", "At 162 users",
                    "At 336 users", "At 460 users"]),
        ("operations", ["upload", "read", "update", "delete"]),
        ("chain", ["Step by step", "0. baseline", "1. index", "2. async", "3. limit"]),
        ("rates", ["Who carries which rate", "At 300/s", "At 600/s", "At 900/s"]),
    ],
)  # fmt: skip
def test_each_shape_has_its_sections(name, sections):
    found = titles(name)
    assert found[: found.index(sections[0])] == [
        each for each in ("Short answer", "Findings", "Warnings", "Verdicts") if each in found
    ]
    assert found[found.index(sections[0]) :] == [*sections, "Notes", "Environment"]


def test_every_table_is_whole():
    for make in SAMPLES.values():
        for block in build(make()).blocks:
            if isinstance(block, Table):
                assert {len(row) for row in block.rows} == {len(block.columns)}


def test_the_first_picture_stands_with_the_verdicts_and_the_others_after_the_tables():
    blocks = build(ladder(), pictures=(("a", "a.svg"), ("b", "b.svg"))).blocks
    first, second = [place for place, block in enumerate(blocks) if isinstance(block, Pictures)]
    tables = [place for place, block in enumerate(blocks[:-2]) if isinstance(block, Table)]
    assert first < min(tables)
    assert second > max(tables)
    assert blocks[second - 1] == Heading("Charts", 2)


def test_marks_have_their_notes():
    for make in SAMPLES.values():
        blocks = build(make()).blocks
        cells = "".join(cell for block in blocks if isinstance(block, Table) for row in block.rows for cell in row)
        place = blocks.index(Heading("Notes", 2))
        notes = blocks[place + 1]
        assert isinstance(notes, Bullets)
        marks = {each for each in cells if each in "¹²³⁴⁵⁶⁷⁸⁹"}
        assert marks == {note.text[0] for note in notes.items} & set("¹²³⁴⁵⁶⁷⁸⁹")


def test_of_an_unfinished_experiment_what_there_is_is_told():
    study = ladder().study
    trials = tuple(each for each in study.trials if each.variant == "old" or each.level.value == 48)
    blocks = build(Analysis(replace(study, trials=trials), (), ())).blocks
    table = next(block for block in blocks if isinstance(block, Table))
    assert [row[0] for row in table.rows] == ["48 users", "162 users", "336 users", "460 users"]
    assert "–" in table.rows[1]
