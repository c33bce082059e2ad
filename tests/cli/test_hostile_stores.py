"""A store of somebody else, opened with every verb: nothing in it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from labs.robustness.groups.hostile_store import AGREED, VERBS, judged
from labs.robustness.hostile import TEMPTATIONS

from plimsoll.cli import main

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = [each for commands in VERBS.values() for each in commands]
ASKING = [name for name, each in TEMPTATIONS.items() if not each.has_commands]


def test_no_verb_is_forgotten() -> None:
    assert set(VERBS) == set(main.list_commands(click.Context(main)))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_verb_does_nothing_that_a_store_asks_for(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Each with another temptation; the robustness lab tries all pairs."""
    names = list(TEMPTATIONS)
    name = names[(7 * COMMANDS.index(words)) % len(names)]
    found = judged(tmp_path, name, TEMPTATIONS[name], words)
    assert not found.broken, found


@pytest.mark.long
@pytest.mark.parametrize("name", TEMPTATIONS)
def test_reproduce_does_nothing_unasked(tmp_path: Path, name: str) -> None:
    found = judged(tmp_path, name, TEMPTATIONS[name], VERBS["reproduce"][0])
    assert not found.broken, found
    assert "--yes does it" in found.words or found.words.count("\n") == 1, found.words


@pytest.mark.parametrize("name", ["a log file", "outputs of a cell", "a receiver of the target", "another locustfile"])
def test_an_agreed_run_has_neither_outputs_nor_files_of_the_store(tmp_path: Path, name: str) -> None:
    assert name in ASKING
    found = judged(tmp_path, name, TEMPTATIONS[name], AGREED)
    assert not found.broken, found
