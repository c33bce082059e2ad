from __future__ import annotations

from pathlib import Path
from typing import Any

from plimsoll.experiment.measure import loaded_seconds
from plimsoll.experiment.spec import Experiment, Scenario, Target, Variant

URL = "http://127.0.0.1:12000"


def test_how_long_the_target_is_loaded_is_known_unless_the_plan_has_no_end(tmp_path: Path) -> None:
    def seconds(**scenario: Any) -> float | None:
        spec = Experiment("t", str(tmp_path / "e.toml"), (Scenario(**scenario),), (Variant("a", Target(URL)),))
        return loaded_seconds(spec.scenarios[0], spec, URL)

    head = f'target = "{URL}"\n[[request]]\nget = "/"\n'
    warm = '[[phase]]\nwarmup = true\nrate = "5/s"\nduration = "10s"\n'
    plans = {
        "phases": head + warm + '[[phase]]\nrate = "9/s"\nduration = "20s"\n',
        "stop": head + '[stop]\ntime = "40s"\n',
        "endless": head,
        "broken": "nonsense",
    }
    for name, text in plans.items():
        (tmp_path / f"{name}.toml").write_text(text)
    assert seconds(url="/", run_time=10.0, warmup=2.0) == 12.0
    assert seconds(plan="phases.toml") == 30.0
    assert seconds(plan="stop.toml") == 40.0
    assert seconds(plan="stop.toml", run_time=5.0) == 5.0
    assert seconds(plan="endless.toml") is None
    assert seconds(plan="broken.toml") is None
