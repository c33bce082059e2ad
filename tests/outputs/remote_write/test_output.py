"""Remote write, into a real Prometheus server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.outputs.prometheus_server import prometheus_server
from tests.outputs.sending import bucket, shopper

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command, CountingTarget


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_real_server_has_the_record_of_a_run(
    version: str, plimsoll: Command, target: CountingTarget, tmp_path: Path
) -> None:
    plimsoll.write(shopper('/fail "ü" \\'))
    with prometheus_server(tmp_path, is_newest=version == "2") as server:
        done = plimsoll(
            "run", "-H", target.url, "--headless", "-u", "3", "-r", "3", "-t", "4", "--exit-code-on-error", "0",
            "--threshold", "p99 < 60s", "--out",
            f"prometheus={server.url},interval=2,version={version}",
        )  # fmt: skip
        assert done.code == 0, done
        assert "remote write" not in done.err
        record = plimsoll.stored()
        assert record["run"]["notes"] == []
        at = record["run"]["ended"] + 60
        run = record["run"]["id"]
        requests = server.query("plimsoll_requests_total", at)
        assert {dict(labels)["run"] for labels in requests} == {run}
        for row in record["endpoints"]:
            counts = {
                dict(labels)["outcome"]: value
                for labels, value in requests.items()
                if dict(labels)["name"] == row["name"]
            }
            assert counts == {
                name: found["count"] for name, found in row["outcomes"].items() if name not in ("unanswered", "dropped")
            }
        for name, field in (("sent", "bytes_out"), ("received", "bytes_in")):
            assert server.value(f"sum(plimsoll_{name}_bytes_total)", at) == record["total"][field]
        p99 = server.value('histogram_quantile(0.99, plimsoll_response_seconds_bucket{name="/"})', at)
        row = next(row for row in record["endpoints"] if row["name"] == "/")
        assert bucket(p99) == bucket(row["response_ms"]["percentiles"]["99"] / 1000)
        assert server.value("sum(plimsoll_lag_seconds_count)", at) == record["generator"]["lag_ms"]["count"]
        assert server.value("plimsoll_threshold_broken", at) == 0
        # A range query has more than one moment, the first with fewer requests than the last.
        assert server.value("count_over_time(plimsoll_users[10m])", at) >= 2
        assert server.value(f'plimsoll_run_info{{run="{run}",model="closed"}}', at) == 1


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_real_server_has_native_histograms_and_exemplars(
    version: str, plimsoll: Command, target: CountingTarget, tmp_path: Path
) -> None:
    plimsoll.write(shopper())
    features = "native-histograms,exemplar-storage"
    with prometheus_server(tmp_path, features=features, is_newest=version == "2") as server:
        done = plimsoll(
            "run", "-H", target.url, "--headless", "-u", "3", "-r", "3", "-t", "4", "--exit-code-on-error", "0",
            "--traceparent", "--out", f"prometheus={server.url},interval=2,histograms=native,version={version}",
        )  # fmt: skip
        assert done.code == 0, done
        record = plimsoll.stored()
        assert record["run"]["notes"] == []
        at = record["run"]["ended"] + 60
        for row in record["endpoints"]:
            series = f'plimsoll_response_seconds{{name="{row["name"]}"}}'
            # Those of responses: the mean of the row also has an estimate for requests that were still out.
            times = [found["time_ms"] for name, found in row["outcomes"].items() if name in ("success", "http")]
            count = sum(time["count"] for time in times)
            assert server.value(f"histogram_count({series})", at) == count == row["response_ms"]["count"]
            assert server.value(f"histogram_sum({series})", at) == pytest.approx(
                sum(time["count"] * time["mean"] for time in times) / 1000
            )
            for q, name in ((0.5, "50"), (0.99, "99")):
                percentile = row["response_ms"]["percentiles"][name] / 1000
                # 320 buckets for times that are at most six decades apart: none is wider than 4.5 %.
                below, above = (
                    server.value(f"histogram_fraction(0, {percentile * factor!r}, {series})", at)
                    for factor in (0.95, 1.05)
                )
                assert below - 1 / count <= q <= above + 1 / count
        assert server.query("plimsoll_response_seconds_bucket", at) == {}
        exemplars = server.exemplars("plimsoll_response_seconds", record["run"]["started"], record["run"]["ended"] + 1)
        assert exemplars
        assert all(len(exemplar["labels"]["trace_id"]) == 32 for exemplar in exemplars)


def test_a_real_server_that_knows_only_version_1_gets_that(
    plimsoll: Command, target: CountingTarget, tmp_path: Path
) -> None:
    with prometheus_server(tmp_path) as server:
        done = plimsoll(
            "run", f"{target.url}/a", "-u", "2", "-t", "3", "--out", f"prometheus={server.url},interval=1,version=2"
        )
        assert done.code == 0, done
        record = plimsoll.stored()
        assert record["run"]["notes"] == []
        count = server.value("sum(plimsoll_requests_total)", record["run"]["ended"] + 60)
        assert count == record["total"]["completed"]
    assert done.err.count("does not take remote write 2.0") == 1
