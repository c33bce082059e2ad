"""What one file with a class and one row make: `sawtooth.py` in place of a change of the sources."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from tests.command import Command, CommandResult

from plimsoll._engine import Shape
from plimsoll.cli import main
from plimsoll.experiment.file.model import DECIDED
from plimsoll.load.shapes.registry import SHAPES, in_words, shape_flags
from plimsoll.load.spec import ShapeSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import CountingTarget

SAWTOOTH = Path(__file__).with_name("sawtooth.py")
OPTION = ("--sawtooth", "low=20/s,high=60/s,each=500ms,teeth=2")
URL = "http://127.0.0.1:9/"


@pytest.fixture
def extended(plimsoll: Command) -> Callable[..., CommandResult]:
    """`plimsoll` with the row."""

    def run(*arguments: str) -> CommandResult:
        done = subprocess.run(
            [sys.executable, str(SAWTOOTH), *arguments],
            cwd=plimsoll.directory, env=plimsoll.environment, capture_output=True, text=True,
        )  # fmt: skip
        return CommandResult(done.returncode, done.stdout, done.stderr)

    return run


def phase_of(run: dict[str, Any]) -> dict[str, Any]:
    (phase,) = run["run"]["manifest"]["load"]["phases"]
    return dict(phase)


def test_a_shape_of_one_row_is_run_from_the_command_line_and_named_in_reports(
    extended: Callable[..., CommandResult], plimsoll: Command, target: CountingTarget
) -> None:
    done = extended("run", target.url + "/", "--headless", *OPTION)
    assert done.code == 0, done
    assert target.total == 40
    assert phase_of(plimsoll.stored()) == {
        "name": "sawtooth", "start": 0.0, "seconds": 1.0, "poisson": False, "warmup": False,
        "shape": {
            "kind": "sawtooth",
            "values": {"low": 20.0, "high": 60.0, "teeth": 2},
            "curve": {"kind": "stages", "values": {
                "stages": [[0.5, 60.0], [0.0, 20.0], [0.5, 60.0], [0.0, 20.0]], "start": 20.0,
            }},
        },
    }  # fmt: skip
    assert "open model, 2 teeth from 20/s to 60/s" in extended("show", "last").out
    # Also a version without the row can read it.
    assert "open model, sawtooth" in plimsoll("show", "last").out


def test_a_shape_of_one_row_is_a_field_of_plans(
    extended: Callable[..., CommandResult], plimsoll: Command, target: CountingTarget
) -> None:
    plan = f'target = "{target.url}"\n[[request]]\nget = "/"\n[[phase]]\n'
    plimsoll.write(f"{plan}sawtooth = {{ low = 5, high = 9, each = 1, tooth = 2 }}\n", "plan.toml")
    done = extended("run", "plan.toml", "--headless")
    assert done.code == 2
    assert "plan.toml:5: phase[0].sawtooth.teeth: is missing" in done.err
    assert "plan.toml:5: phase[0].sawtooth.tooth: is not a known field; there are low, high, each and teeth" in done.err
    plimsoll.write(f'{plan}sawtooth = {{ low = "10/s", high = "30/s", each = "1s", teeth = 1 }}\n', "plan.toml")
    assert extended("run", "plan.toml", "--headless").code == 0
    assert target.total == 20


def test_what_is_wrong_with_a_shape_of_one_row_is_told_of_its_option(extended: Callable[..., CommandResult]) -> None:
    done = extended("run", URL, "--headless", "--sawtooth", "low=20/s,high=60/s,each=1s,teeth=0")
    assert (done.code, "--sawtooth: teeth: must be at least 1" in done.err) == (2, True)
    assert "--sawtooth KEY=VALUE,…" in extended("run", "--help").out


def test_a_shape_of_one_row_is_refused_where_the_load_is_decided(
    extended: Callable[..., CommandResult], plimsoll: Command
) -> None:
    done = extended("capacity", URL, "--slo", "p99 < 50ms", *OPTION)
    assert (done.code, "--sawtooth: the search says how much load there is" in done.err) == (2, True)
    text = f'[scenario]\nurl = "/"\narguments = {json.dumps(OPTION)}\n[levels]\nusers = 1\n'
    plimsoll.write(f'{text}[[variant]]\nname = "a"\nurl = "{URL}"\n', "experiment.toml")
    done = extended("experiment", "experiment.toml")
    assert (done.code, "scenario.arguments[0]: --sawtooth is said with [levels]" in done.err) == (2, True)


def test_a_shape_of_one_row_is_offered_by_the_form() -> None:
    code = "import json, sawtooth\nfrom plimsoll.server.control.form_items import form_shapes\n"
    code += "from plimsoll.server.answers import to_json\nprint(to_json(form_shapes()[-1]).decode())"
    done = subprocess.run([sys.executable, "-c", code], cwd=SAWTOOTH.parent, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {
        "name": "sawtooth", "label": "Sawtooth", "hint": "Up, and down at once.",
        "open_example": "low=10/s,…", "closed_example": "low=1,…",
    }  # fmt: skip


def test_every_curve_of_the_engine_is_a_shape() -> None:
    curves = {name for name, each in vars(Shape).items() if isinstance(each, staticmethod)}
    assert curves <= {row.shape.kind for row in SHAPES.values()}
    assert {ShapeSpec.of(each).kind for each in curves} == curves


@pytest.mark.parametrize("flag", shape_flags())
def test_capacity_and_experiments_refuse_every_shape(flag: str) -> None:
    done = CliRunner().invoke(main, ["capacity", URL, "--slo", "p99 < 50ms", flag, "x"])
    assert (done.exit_code, f"{flag}: the search says how much load there is" in done.output) == (2, True)
    assert DECIDED[flag] == "[levels]"


def test_a_composed_shape_is_the_same_after_a_manifest_and_ends_when_it_is_cut() -> None:
    curve = ShapeSpec.of("constant", level=5.0, seconds=None)
    spec = ShapeSpec.of("flat", curve, height=5.0, seconds=None)
    assert ShapeSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    assert (spec.peak, spec.build().seconds) == (5.0, None)
    cut = spec.ending(3.0)
    assert (cut.build().seconds, cut.values) == (3.0, (("height", 5.0), ("seconds", 3.0)))


def test_a_shape_that_only_another_version_knows_is_named_by_its_kind() -> None:
    assert in_words("circle", {}, None) == "circle"  # type: ignore[arg-type]
