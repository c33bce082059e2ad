"""wrk.txt was printed by wrk; the others are written by what wrk and wrk2 print."""

from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.importers import read
from plimsoll.stats.study import Level


def test_wrk_itself(files):
    study = read(files / "wrk.txt")
    (trial,) = study.trials
    total = trial.total
    assert (total.requests, total.failures, total.rate, trial.duration) == (92, 92, 45.97, 2)
    assert dict(total.quantiles) == {0.5: 43.92, 0.75: 44.01, 0.9: 44.07, 0.99: 48.04}
    assert (total.mean, total.max, trial.level) == (43.05, 48.04, Level("users", 2.0))
    assert [(kind.outcome, kind.count) for kind in total.kinds] == [("http", 92)]
    assert study.about["target"] == "http://127.0.0.1:18765/bad"


def test_wrk_corrects_every_run_without_saying_so(files):
    (trial,) = read(files / "wrk.txt").trials
    assert (trial.precision.tool, trial.precision.clock) == ("wrk", "corrected")
    assert trial.precision.size_of == "replies", "it counts what it read, headers too"
    assert any("modelled" in note for note in trial.notes)


WRK2 = """Running 30s test @ http://127.0.0.1:80/index.html
  2 threads and 100 connections
  Thread calibration: mean lat.: 9.747ms, rate sampling interval: 21ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     9.60ms    6.10ms   1.02s   92.58%
    Req/Sec     1.06k    80.00     1.30k    66.00%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    9.10ms
 99.000%   38.30ms
 99.900%    1.00m
100.000%    1.10m

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)
       0.921     0.000000            1         1.00
#[Mean    =        9.747, StdDeviation   =        6.100]
----------------------------------------------------------
  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%  1.00ms
 99.000%  2.00ms
----------------------------------------------------------
  60000 requests in 30.00s, 19.91MB read
  Socket errors: connect 1, read 2, write 3, timeout 7
Requests/sec:   2000.12
Transfer/sec:    676.14KB
"""


def test_wrk2_counts_from_when_a_request_was_due(read_text):
    (trial,) = read_text(WRK2, "wrk2.txt", rate=2000).trials
    assert (trial.precision.tool, trial.precision.clock) == ("wrk2", "due")
    assert dict(trial.total.quantiles) == {0.5: 9.1, 0.99: 38.3, 0.999: 60_000}
    assert (trial.total.max, trial.level) == (66_000, Level("/s", 2000.0))


def test_socket_errors_are_requests_that_failed_and_timeouts_are_censored(read_text):
    (trial,) = read_text(WRK2, "wrk2.txt", rate=2000).trials
    assert (trial.total.requests, trial.total.failures, trial.total.censored) == (60_006, 6, 7)
    assert trial.total.size == pytest.approx(19.91 * 1024**2 / 60_000)


def test_the_rate_of_wrk2_must_be_told(read_text):
    (trial,) = read_text(WRK2, "wrk2.txt").trials
    assert trial.level is None
    assert any("--rate" in note for note in trial.notes)


def test_a_run_that_did_not_end(read_text):
    with pytest.raises(UsageError, match="the run did not end"):
        read_text(WRK2.partition("  60000 requests")[0], "wrk2.txt")


def test_a_run_of_no_time(read_text):
    with pytest.raises(UsageError, match=r"has `7 requests in 0\.00us, 1\.00MB read`: a run takes time"):
        read_text(
            "Running 10s test @ http://127.0.0.1/\n  1 threads and 2 connections\n  7 requests in 0.00us, 1.00MB read\n"
        )
