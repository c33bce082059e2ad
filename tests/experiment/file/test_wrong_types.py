"""A value of the wrong type, in any field of an experiment's file, is an error in words."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.load.test_wrong_types import refused_in_words
from tests.wrong_values import changed, with_each_field

from plimsoll.experiment.file.file import read_experiment
from plimsoll.experiment.file.model import ExperimentTable

ROOT = Path(__file__).parents[3]
EXPERIMENT: dict[str, Any] = {
    "name": "a",
    "scenario": {"url": "/", "run_time": "1s"},
    "levels": {"users": [1]},
    "target": {"url": "http://127.0.0.1:9"},
    "variant": [{"name": "a"}],
}


def test_each_field_of_an_experiment(tmp_path: Path) -> None:
    documents = with_each_field(EXPERIMENT, ExperimentTable)
    assert refused_in_words(read_experiment, documents, tmp_path / "experiment.toml") > 1000


@pytest.mark.long
@pytest.mark.parametrize("seed", sorted(ROOT.glob("labs/*/experiment.toml")), ids=lambda seed: seed.parent.name)
def test_each_value_of_an_experiment_that_is_used(seed: Path, tmp_path: Path) -> None:
    folder = tmp_path / seed.parent.name
    shutil.copytree(seed.parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    documents = changed(tomllib.loads(seed.read_text()))
    assert refused_in_words(read_experiment, documents, folder / "experiment.toml") > 0
