import json
import sys

import pytest
from benches.errors import BenchError
from benches.figures import Figures
from benches.nginx import Nginx
from benches.process import Measured
from benches.soak import Sample, document, growth, render, soak, watch

SLEEP = "import time; time.sleep(600)"
PARENT = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}])\n{SLEEP}"
FIGURES = Figures(0, 1_000, 999, 0.01, 0.25, 3.0, 0.1)


def samples(coordinator: int, worker: int) -> list[Sample]:
    """Of 100 turns; resident bytes that each process grows by in one."""
    found = []
    for turn in range(100):
        found.append(Sample("coordinator", 10.0 * turn, 50_000_000 + coordinator * turn, 40_000_000))
        found.append(Sample("worker 1", 10.0 * turn, 60_000_000 + worker * turn, 50_000_000))
    return found


def test_every_process_is_sampled_at_every_turn_and_told_apart() -> None:
    with Measured([sys.executable, "-c", PARENT], {}) as generator:
        while len(generator.tree()) < 2:  # pytest's timeout is the limit
            pass
        found = list(watch(generator, seconds=0.2, every=0.1))
    assert [sample.process for sample in found] == ["coordinator", "worker 1"] * 3
    assert [sample.seconds for sample in found] == sorted(sample.seconds for sample in found)
    assert all(sample.rss > sample.uss > 0 for sample in found)


def test_an_end_before_its_time_is_an_error() -> None:
    with (
        Measured([sys.executable, "-c", "print('out of memory')"], {}) as generator,
        pytest.raises(BenchError, match="out of memory"),
    ):
        for _ in watch(generator, seconds=60, every=0.2):
            pass


def test_the_one_that_grows_is_named() -> None:
    found = {(each.process, each.kind): each.verdict for each in growth(samples(coordinator=0, worker=30_000))}
    assert found == {
        ("coordinator", "rss"): "holds", ("coordinator", "uss"): "–",
        ("worker 1", "rss"): "GROWS", ("worker 1", "uss"): "–",
    }  # fmt: skip


def test_unshared_memory_is_told_without_a_verdict() -> None:
    found = [Sample("coordinator", 10.0 * turn, 50_000_000, 40_000_000 + 30_000 * turn) for turn in range(100)]
    rss, uss = growth(found)
    assert (rss.verdict, uss.verdict) == ("holds", "–")
    assert uss.trend is not None
    assert uss.trend.slope > 10


def test_the_table_and_the_document_say_the_same() -> None:
    growths = list(growth(samples(coordinator=30_000, worker=0)))
    text = render(growths, FIGURES)
    assert "| coordinator | rss    |      47.7 |     50.5 | +10.30 |    +10.30 | +10.30 |" in text
    assert "999 of 1,000 arrivals sent; lag p99 0.250 ms, max 3.0 ms" in text
    written = json.loads(json.dumps(document({"rate": 5}, samples(30_000, 0), growths, FIGURES)))
    assert written["rate"] == 5
    assert [each["verdict"] for each in written["growth"]] == ["GROWS", "–", "holds", "–"]
    assert len(written["samples"]) == 200


def test_what_is_too_short_has_no_slope() -> None:
    growths = list(growth(samples(0, 0)[:8]))
    assert {each.verdict for each in growths if each.kind == "rss"} == {"too short"}
    assert "–" in render(growths, FIGURES)


@pytest.mark.long
def test_a_short_one_from_beginning_to_end(nginx: Nginx) -> None:
    found, figures = soak(nginx, rate=100, seconds=1.0)
    assert [sample.process for sample in found] == ["coordinator", "worker 1"]
    assert figures.failures == 0
    assert figures.offered == figures.sent >= 500  # 1 s and the margin at the end
