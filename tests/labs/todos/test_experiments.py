"""The lab's experiment files ask for what there is."""

from pathlib import Path

import pytest
from labs.todos.target.variants import CHAIN, VARIANTS, variant_named

from plimsoll.experiment.file.file import read_experiment

FOLDER = Path(__file__).parents[3] / "labs" / "todos"
FILES = sorted(FOLDER.glob("*.toml"))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.name))
def test_an_experiment_starts_variants_of_the_service_that_there_are(file: Path, full: bool) -> None:
    experiment = read_experiment(str(file), full=full)
    assert {variant.name for variant in experiment.variants} <= set(VARIANTS)
    for variant in experiment.variants:
        assert variant.target.cwd is not None
        assert experiment.path(variant.target.cwd).resolve() == FOLDER.parents[1]
        assert variant.target.start[5::2] == ("labs.todos.lab", "{variant}", "{port}", "{port2}", "{port3}")
        assert (variant.target.observe is True) == (not variant_named(variant.name).replica), variant.name
    assert experiment.repeats >= 3


@pytest.mark.parametrize("name", ["experiment.toml", "same_work.toml"])
def test_the_chain_is_run_in_its_order_and_its_plans_are_collected(name: str) -> None:
    experiment = read_experiment(str(FOLDER / name))
    assert [variant.name for variant in experiment.variants] == [variant.name for variant in CHAIN]
    assert experiment.compare.against == ("previous", "baseline")
    assert all(variant.changes for variant in experiment.variants[1:])
    for variant in experiment.variants:
        assert [(hook.name, hook.command[3]) for hook in variant.hooks.collect] == [
            ("explain", "explain"),
            ("replication_lag", "lag"),
        ]


def test_the_steps_and_their_starting_points_are_the_same_in_both() -> None:
    one, other = (read_experiment(str(FOLDER / name)) for name in ("experiment.toml", "same_work.toml"))
    assert one.variants == other.variants
