"""Experiments with services whose difference is known, on real sockets: is it said, and does it fail a build?"""

from __future__ import annotations

from pathlib import Path

import pytest

TARGET = Path(__file__).with_name("effects_target.py")
FILE = """
name = "effect"
question = "Is the new one as good?"
repeats = 5
cool_down = 0
[scenario]
url = "/"
run_time = "3s"
warmup = "1s"
[levels]
users = 8
[compare]
metrics = ["p50", "p95", "p99", "throughput", "errors"]
[target]
url = "http://127.0.0.1:{port}"
[[variant]]
name = "old"
start = ["{python}", "TARGET", OLD, "{port}"]
[[variant]]
name = "new"
start = ["{python}", "TARGET", NEW, "{port}"]
"""


def arguments(ms=40.0, failing=0.0, tail=1.0, capacity=0.0):
    return ", ".join(f'"{each}"' for each in (ms, failing, tail, capacity))


EFFECTS = [
    pytest.param({}, 0, (), id="none"),
    pytest.param({"ms": 41.2}, 0, (), id="3 %"),
    pytest.param({"ms": 52.0}, 1, ("slower",), id="30 %"),
    pytest.param({"failing": 0.05}, 1, ("failed",), id="5 % errors"),
    pytest.param({"tail": 4.0}, 1, ("p99",), id="the tail alone"),
    pytest.param({"capacity": 100.0}, 1, ("slower", "times"), id="capped"),
]


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("change", "code", "words"), EFFECTS)
def test_an_effect_has_its_words_and_its_exit_code(plimsoll, tmp_path, change, code, words):
    text = FILE.replace("TARGET", str(TARGET)).replace("OLD", arguments()).replace("NEW", arguments(**change))
    (tmp_path / "experiment.toml").write_text(text)
    done = plimsoll("experiment", "--yes", "--fail-on", "regression")
    assert done.exit_code == code, done.output
    report = plimsoll("report", "effect")
    answer = report.stdout.split("\n\n")[1]
    assert not words or any(word in answer for word in words), answer
    if not change:
        assert not any(word in answer for word in ("slower", "faster", "higher", "failed")), answer
