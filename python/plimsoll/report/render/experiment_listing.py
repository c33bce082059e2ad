"""Experiments as a table, a line each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

from plimsoll.plain_text import one_line
from plimsoll.report.render.terminal import TextColumn, render
from plimsoll.say.numbers import moments

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLUMNS = [
    TextColumn("State"),
    TextColumn("Cells", right=True),
    TextColumn("Invalid", right=True),
    TextColumn("Failed", right=True),
    TextColumn("Question", least=12),
]


class Listed(Protocol):
    """An experiment; what the store hands out. created: Unix seconds."""

    @property
    def name(self) -> str: ...
    @property
    def created(self) -> float: ...
    @property
    def is_running(self) -> bool: ...
    @property
    def question(self) -> str: ...


def state_of(experiment: Listed, states: Counter[str]) -> str:
    """running, interrupted or finished."""
    if experiment.is_running:
        return "running"
    return "interrupted" if states["pending"] or states["running"] else "finished"


def experiment_list(experiments: Sequence[tuple[Listed, Counter[str]]], width: int) -> str:
    """With how many of its cells have each state. In the order given."""
    if not experiments:
        return "no experiments yet"
    title, begun = moments("Begun", (experiment.created for experiment, _ in experiments))
    rows = [
        [one_line(experiment.name), when, *_row(experiment, states)]
        for (experiment, states), when in zip(experiments, begun, strict=True)
    ]
    columns = [TextColumn("Experiment", least=12), TextColumn(title, drop=1), *_COLUMNS]
    return "\n".join(render(columns, rows, width))


def _row(experiment: Listed, states: Counter[str]) -> list[str]:
    over = states.total() - states["pending"] - states["running"]
    return [
        state_of(experiment, states),
        f"{over}/{states.total()}",
        str(states["invalid"]),
        str(states["failed"]),
        one_line(experiment.question),
    ]


def experiments_document(experiments: Sequence[tuple[Listed, Counter[str]]]) -> dict[str, Any]:
    """The same for programs: schema plimsoll.experiments."""
    return {
        "schema": "plimsoll.experiments",
        "version": 1,
        "experiments": [
            {
                "name": each.name,
                "created": each.created,
                "state": state_of(each, states),
                "question": each.question,
                "cells": dict(sorted(states.items())),
            }
            for each, states in experiments
        ],
    }
