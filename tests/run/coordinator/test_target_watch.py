"""The target's side of whole runs, with real processes, exporters and SDKs."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, generate_latest
from tests.observe.exporter import served

from plimsoll.store import Store

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget


def test_a_run_keeps_what_it_observed_and_shows_it(plimsoll: Command, target: CountingTarget) -> None:
    registry = CollectorRegistry()
    requests = Counter("http_requests", "All.", registry=registry)

    def answer(path: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        requests.inc(7)
        return 200, {}, generate_latest(registry)

    with served(answer) as url:
        observe = ("--observe", f"me=pid:{os.getpid()}", "--observe", f"{url}#http_requests_total")
        done = plimsoll("run", target.url, "-u", "2", "-t", "3", *observe, "--html", "r.html")
    assert done.code == 0, done
    with Store.open(str(plimsoll.store)) as store:
        run = store.run("last")
        series = {(each.source, each.name): each for each in run.observed()}
        assert run.notes == []
    memory = series["me", "rss"]
    assert memory.unit == "bytes"
    assert len(memory.values) >= 2
    assert all(value > 1e6 for value in memory.values)
    assert all(0 <= second <= 4 for second in memory.seconds)
    (metric,) = (each for (source, _), each in series.items() if source in url)
    assert (metric.name, metric.unit) == ("http_requests_total", "/s")
    assert all(value > 0 for value in metric.values)
    page = (plimsoll.directory / "r.html").read_text()
    assert "The target\\u2019s side" in page or "The target's side" in page
    assert "http_requests_total" in page


def test_what_does_not_answer_is_a_sentence_and_the_run_goes_on(plimsoll: Command, target: CountingTarget) -> None:
    observe = ("--observe", "db=postgresql://me:s3cret@127.0.0.1:9/x", "--observe", "app=http://127.0.0.1:9/metrics")
    observe += ("--observe", "prometheus+http://127.0.0.1:9#up", "--observe", "gone=pid:999999999")
    done = plimsoll("run", target.url, "-u", "2", "-t", "1", *observe)
    assert done.code == 0, done
    with Store.open(str(plimsoll.store)) as store:
        run = store.run("last")
        assert {each.source for each in run.observed()} <= {"this machine"}
    assert [note.partition(":")[0] for note in run.notes] == [
        "db was not observed", "app was not observed", "gone was not observed", "127.0.0.1",
    ]  # fmt: skip
    assert "refused" in run.notes[0]
    assert "s3cret" not in json.dumps([run.notes, run.manifest.to_json(), run.facts.to_json()])
    assert "note: app was not observed" in done.out


def test_a_mistake_is_said_before_anything_is_sent(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", target.url, "-u", "2", "-t", "1", "--observe", "nginx")
    assert done.code == 2
    assert "--observe nginx: not known; there are pid:1234" in done.err
    assert target.total == 0
