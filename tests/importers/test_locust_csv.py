from __future__ import annotations

import shutil

import numpy as np
import pytest

from plimsoll.errors import UsageError
from plimsoll.importers import read
from plimsoll.stats.study import LOCUST, Level


@pytest.fixture
def run(files):
    """What Locust 2.47 wrote of 5 users and a service whose /bad always fails."""
    (trial,) = read(files / "locust_stats.csv").trials
    return trial


def test_sums_are_those_of_the_file(run):
    good, bad = run.endpoint(("GET", "/good")), run.endpoint(("GET", "/bad"))
    assert (bad.requests, bad.failures, good.requests, good.failures) == (66, 66, 269, 0)
    assert (run.total.requests, run.total.failures, run.total.rate) == (335, 66, 65.60400601836558)
    assert (good.mean, good.max, good.size) == (9.518429490597615, 399.53119500023604, 100)
    assert (good.quantile(0.5), good.quantile(0.95), good.quantile(0.9999), good.quantile(1.0)) == (2, 14, 400, 400)


def test_the_level_and_how_users_started_come_from_the_history(run):
    assert (run.level, run.users, run.ramp) == (Level("users", 5.0), 5, 1)
    assert run.duration == pytest.approx(335 / 65.60400601836558)


def test_percentiles_have_two_digits(run):
    assert run.precision == LOCUST
    assert run.precision.step(1234) == 100


def test_failures_have_their_messages_and_status(run):
    (kind,) = run.endpoint(("GET", "/bad")).kinds
    assert (kind.outcome, kind.status, kind.count) == ("http", 500, 66)
    assert "Internal Server Error" in kind.message
    assert run.total.kinds == (kind,)


def test_exceptions_are_warnings(files):
    (warning,) = read(files / "locust_stats.csv").warnings
    assert warning == "65 times the locustfile raised: oops, with a comma"


def test_the_course_is_the_difference_of_sums(run):
    course = run.total.course
    assert course.requests.tolist() == [0, 50, 77, 54, 69, 85]
    assert course.failures.tolist() == [0, 13, 18, 7, 13, 15]
    assert np.isnan(course.means[0])
    assert course.means[1] == pytest.approx(26.509757280000485)
    assert np.nansum(course.means * course.requests) == pytest.approx(335 * run.total.mean)
    assert tuple(course.histograms) == (None,) * 6


def test_alone_it_is_read_without_a_course(files, tmp_path):
    shutil.copy(files / "locust_stats.csv", tmp_path / "x_stats.csv")
    (trial,) = read(tmp_path / "x_stats.csv", users=7).trials
    assert (trial.total.course, trial.total.kinds, trial.level) == (None, (), Level("users", 7.0))


def test_the_history_alone_names_the_file_to_import(files):
    with pytest.raises(UsageError, match=r"import locust_stats\.csv"):
        read(files / "locust_stats_history.csv")


def test_other_percentiles_than_the_usual(read_text):
    study = read_text(
        "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,"
        "Max Response Time,Average Content Size,Requests/s,Failures/s,97.5%,99.999%\n"
        'GET,"/a,b",3,0,10,11.5,9,14,5,1.5,0,13,14\n,Aggregated,3,0,10,11.5,9,14,5,1.5,0,13,14\n',
        "a_stats.csv",
    )
    (trial,) = study.trials
    assert dict(trial.endpoint(("GET", "/a,b")).quantiles) == {0.5: 10, 0.975: 13, 0.99999: 14}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("GET,/a,3\n", r"a_stats\.csv:2: 3 cells where the header has 4"),
        ("GET,/a,x,0\n", r":2: requests of GET /a: 'x'"),
        (f"GET,{'a' * 200_000},3,0\n", "is no CSV: field larger than"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(read_text, text, message):
    with pytest.raises(UsageError, match=message):
        read_text(f"Type,Name,Request Count,Failure Count\n{text}", "a_stats.csv")


def test_a_run_without_requests(read_text):
    with pytest.raises(UsageError, match="holds no requests"):
        read_text("Type,Name,Request Count,Failure Count\n,Aggregated,0,0\n", "a_stats.csv")
