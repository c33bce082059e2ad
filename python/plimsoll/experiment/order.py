"""Which cell comes when.

Whatever drifts while an experiment goes on — the machine, its neighbours, a table that grows — must not look like a
difference between variants. So each repeat has every cell once; within it the levels and operations come in random
order, and at each of them the variants come directly after one another, in random order too. Every second repeat has
them in the reverse of the order before (for two variants: ABBA), so over two repeats each variant has the same mean
place, and a drift that is linear cancels out. The order follows from the seed and the number of the repeat: more
repeats do not change those before.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, TypeVar

from plimsoll.experiment.cell_values import ExperimentCell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.experiment.spec import Experiment
    from plimsoll.stats.study import Level

Item = TypeVar("Item")


def cells_in_order(spec: Experiment) -> tuple[ExperimentCell, ...]:
    """All cells of an experiment. The same seed gives the same ones."""
    places = [
        (repeat, variant, level, operation)
        for repeat in range(1, spec.repeats + 1)
        for level, operation, variants in _blocks(spec, repeat)
        for variant in variants
    ]
    return tuple(
        ExperimentCell(
            number=number,
            repeat=repeat,
            variant=variant,
            level=level,
            operation=operation,
            seed=seed_of(spec, repeat),
        )
        for number, (repeat, variant, level, operation) in enumerate(places, 1)
    )


def seed_of(spec: Experiment, repeat: int) -> int:
    """What the users of a repeat draw from: all cells of it see the same arrivals and the same choices."""
    return Random(f"{spec.seed} seed {repeat}").getrandbits(32)


def _blocks(spec: Experiment, repeat: int) -> list[tuple[Level | None, str, list[str]]]:
    """Level, operation, and the variants in their order."""
    names = [each.name for each in spec.variants]
    blocks = [(level, scenario.name) for level in spec.levels for scenario in spec.scenarios]
    arranged = []
    for level, operation in _shuffled(blocks, f"{spec.seed} blocks {repeat}"):
        variants = _shuffled(names, f"{spec.seed} variants {(repeat + 1) // 2} {level} {operation}")
        arranged.append((level, operation, variants if repeat % 2 else variants[::-1]))
    return arranged


def _shuffled(items: Sequence[Item], seed: str) -> list[Item]:
    # `Random.random` is promised to give the same numbers in every version of Python; `shuffle` is not.
    draw = Random(seed)
    keys = [draw.random() for _ in items]
    return [items[place] for place in sorted(range(len(items)), key=keys.__getitem__)]
