"""Experiments made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.experiment.real_cells import process_mark

from plimsoll.experiment.spec import Experiment, Scenario, Target, Variant
from plimsoll.stats.study import Level

__all__ = ["make_spec", "process_mark"]

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def make_spec() -> Callable[..., Experiment]:
    """An experiment with these variants, users and operations, whose targets are there already."""

    def make(
        names: str = "a b",
        users: tuple[int, ...] = (5,),
        operations: tuple[str, ...] = ("",),
        **given: Any,
    ) -> Experiment:
        return Experiment(
            **{
                "name": "trial",
                "file": "/nowhere/experiment.toml",
                "scenarios": tuple(Scenario(each, url="/", run_time=10.0, warmup=2.0) for each in operations),
                "variants": tuple(Variant(each, Target("http://127.0.0.1:9")) for each in names.split()),
                "levels": tuple(Level("users", float(each)) for each in users),
                **given,
            }
        )

    return make
