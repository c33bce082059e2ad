"""Further groups of trials, beside the disturbances of a run: one file and one row each."""

from collections.abc import Callable
from pathlib import Path
from random import Random

from ..judgement import Judgement
from . import hostile_store, inflated, interrupted, join_port, numbers

RunTrial = Callable[[Path, Random], Judgement]
"""Runs one trial, drawn from the chance, in an empty folder."""

GROUPS: dict[str, RunTrial] = {
    "hostile-store": hostile_store.trial,
    "inflated": inflated.trial,
    "interrupted": interrupted.trial,
    "join-port": join_port.trial,
    "numbers": numbers.trial,
}
