import json
from pathlib import Path
from typing import Any

from benches.figures import Figures

NOTHING = {"count": 0, "mean": None, "percentiles": {"50": None, "99": None, "100": None}}


def read(folder: Path, generator: dict[str, Any]) -> Figures:
    path = folder / "run.json"
    path.write_text(json.dumps({"total": {"failures": 3}, "generator": {"offered": 7, "sent": 5, **generator}}))
    return Figures.read(path)


def test_each_figure_comes_from_its_place(tmp_path: Path) -> None:
    lag = {"percentiles": {"50": 0.25, "99": 1.5, "100": 2.5}}
    delay = {"percentiles": {"50": 0.125, "99": 0.75, "100": 9.0}}
    assert read(tmp_path, {"lag_ms": lag, "delay_ms": delay}) == Figures(3, 7, 5, 0.25, 1.5, 2.5, 0.75)


def test_a_run_without_exchanges_has_no_times(tmp_path: Path) -> None:
    assert read(tmp_path, {"lag_ms": NOTHING, "delay_ms": NOTHING}) == Figures(3, 7, 5, 0.0, 0.0, 0.0, 0.0)
