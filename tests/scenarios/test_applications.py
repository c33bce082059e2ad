"""Two visits of a real application become a scenario that is proven without a hand's touch."""

from __future__ import annotations

import pytest
from tests.scenarios.applications import APPLICATIONS
from tests.scenarios.proof import proven_scenario


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", APPLICATIONS)
def test_its_scenario_is_proven(name, tmp_path):
    application = APPLICATIONS[name]
    if not application.is_installed:
        pytest.skip(f"{application.name} is not installed: `make scenarios` installs it")
    outcome = proven_scenario(application, tmp_path)
    assert (outcome.differing, outcome.wrong, outcome.missed) == ((), (), ()), outcome.plan
