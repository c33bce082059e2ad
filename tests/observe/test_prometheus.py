"""Against a real Prometheus server that scrapes a real exporter."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.request

import pytest
from prometheus_client import CollectorRegistry, Counter, generate_latest
from tests.observe.exporter import page, served

from plimsoll.experiment.ports import free_port
from plimsoll.observe.prometheus import RangeQuery
from plimsoll.observe.sampler import ProbeError

TIMEOUT_S = 60.0


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory):
    """Its URL, and when it was started."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("no prometheus (Debian: apt-get install prometheus)")
    folder = tmp_path_factory.mktemp("prometheus")
    registry = CollectorRegistry()
    requests = Counter("requests", "All.", ["path"], registry=registry)

    def answer(path, headers):
        requests.labels("/a").inc(5)
        return 200, {}, generate_latest(registry)

    with served(answer) as exporter:
        config = {
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [
                {"job_name": "shop", "static_configs": [{"targets": [exporter.removeprefix("http://")]}]}
            ],
        }
        (folder / "prometheus.yml").write_text(json.dumps(config))
        port = free_port()
        command = [
            program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}", "--log.level=error", "--web.route-prefix=/deep",
        ]  # fmt: skip
        with subprocess.Popen(command) as process:
            url = f"http://127.0.0.1:{port}/deep"
            try:
                _wait_for_samples(url)
                yield url
            finally:
                process.terminate()


def _wait_for_samples(url: str) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/api/v1/query?query=count_over_time(requests_total[1h])>=3") as reply:
                if json.load(reply)["data"]["result"]:
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError("Prometheus has no samples")


def test_what_the_server_has_over_the_time_of_the_run(prometheus) -> None:
    now = time.time()
    query = RangeQuery("p", prometheus, 'requests_total{path="/a"}')
    (series,) = query.series(now - 2, now)
    assert series.name == 'requests_total{instance="' + series.name.partition('instance="')[2]
    assert 'path="/a"' in series.name
    assert 1 <= len(series.seconds) <= 3
    assert list(series.seconds) == pytest.approx(range(3)[-len(series.seconds) :], abs=0.01)
    assert all(value > 0 for value in series.values)
    assert query.notes == []


def test_expressions_have_their_own_text_as_a_name(prometheus) -> None:
    query = RangeQuery("p", prometheus, "sum(requests_total)")
    assert [each.name for each in query.series(time.time() - 2, time.time())] == ["sum(requests_total)"]


def test_mistakes_are_the_servers_own_words(prometheus) -> None:
    with pytest.raises(ProbeError, match=r"rate\(x: .*parse error"):
        RangeQuery("p", prometheus, "rate(x").series(0.0, 1.0)
    query = RangeQuery("p", prometheus, "nothing_like_that")
    assert query.series(time.time() - 2, time.time()) == ()
    assert query.notes == ["p: nothing matched nothing_like_that during the run"]


def _answers(ahead: float):
    def answer(path, headers):
        if "query_range" in path:
            return page(
                '{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}, "values": []}]}}'
            )
        now = time.time() + ahead
        return page(f'{{"status": "success", "data": {{"resultType": "scalar", "result": [{now}, "{now}"]}}}}')

    return answer


def test_a_clock_that_differs_is_made_up_for_and_said() -> None:
    with served(_answers(40.0)) as url:
        query = RangeQuery("p", url, "up")
        query.series(0.0, 10.0)
        assert query.notes == ["the clock of p is 40.0 s ahead of this machine's; its times are shifted by that"]


@pytest.mark.parametrize("body", ["<html>", "[]", '{"status": "success"}', '{"status": "success", "data": {}}'])
def test_another_server_is_not_taken_for_prometheus(body) -> None:
    with served(lambda *_: page(body)) as url, pytest.raises(ProbeError, match="not that of a Prometheus server"):
        RangeQuery("p", url, "up").series(0.0, 10.0)
