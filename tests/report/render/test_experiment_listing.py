from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from plimsoll.report.render.experiment_listing import experiment_list, experiments_document, state_of


@dataclass
class Kept:
    name: str
    question: str = "Which is faster?"
    is_running: bool = False
    created: float = 1_795_176_000.0


LISTED = [
    (Kept("todos", is_running=True), Counter(valid=3, invalid=1, failed=2, running=1, pending=5)),
    (Kept("two\nlines", "Is it\nso?"), Counter(valid=4)),
]


def test_a_line_each():
    title, _, first, second = experiment_list(LISTED, 100).splitlines()
    assert title.split() == ["Experiment", "Begun", "UTC", "State", "Cells", "Invalid", "Failed", "Question"]
    assert first.split()[0] == "todos"
    assert first.split()[3:] == ["running", "6/12", "1", "2", *["Which", "is", "faster?"]]
    assert second.endswith("so?")
    assert second.split("Is")[0].split()[-4:] == ["finished", "4/4", "0", "0"]


def test_states():
    assert state_of(Kept("x"), Counter(valid=1, pending=1)) == "interrupted"
    assert state_of(Kept("x"), Counter(valid=1, running=1)) == "interrupted"
    assert state_of(Kept("x"), Counter(valid=1, failed=1)) == "finished"


def test_none():
    assert experiment_list([], 100) == "no experiments yet"


def test_for_programs():
    document = experiments_document(LISTED)
    assert (document["schema"], document["version"]) == ("plimsoll.experiments", 1)
    first = document["experiments"][0]
    assert (first["name"], first["state"], first["cells"]["failed"]) == ("todos", "running", 2)
