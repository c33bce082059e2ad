"""Files are written by the format of JMeter 5.6, as CSVSaveService and SampleResultConverter have it."""

from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.study import Level

TITLES = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,"
    "grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)
T = 1_795_176_000_000
TRANSACTION = '"Number of samples in transaction : 2, number of failing samples : 1"'
ROWS = [
    f"{T},200,Home,200,OK,G 1-1,text,true,,1000,100,3,3,http://h/,150,0,10",
    f'{T + 1000},50,"Log in, fast",500,Server Error,G 1-2,text,false,"one\nline ""two""",200,100,4,4,http://h/l,40,0,0',
    f"{T + 1500},30,Home,Non HTTP response code: java.net.X,Refused,G 1-1,text,false,,0,0,4,4,http://h/,0,0,0",
    f"{T},280,Visit,,{TRANSACTION},G 1-1,,false,,,,3,3,,0,0,0",
]


def check(trial):
    home, login = trial.endpoint(("", "Home")), trial.endpoint(("", "Log in, fast"))
    assert (home.requests, home.failures, home.mean, home.min, home.max, home.size) == (2, 1, 115, 30, 200, 500)
    assert [(kind.status, kind.message) for kind in login.kinds] == [(500, 'one\nline "two"')]
    assert [(kind.status, kind.message) for kind in home.kinds] == [
        (None, "Non HTTP response code: java.net.X Refused")
    ]
    assert (trial.level, trial.duration) == (Level("users", 4.0), pytest.approx(1.53))
    assert trial.total.course.requests.tolist() == [1, 2]
    assert (trial.precision.floor, trial.precision.mergeable) == (1, True)


def test_samples_become_histograms_and_a_course(read_text):
    (trial,) = read_text("\n".join([TITLES, *ROWS]), "run.jtl").trials
    check(trial)
    assert trial.total.quantile(0.5) == pytest.approx(50, rel=1e-3)
    assert trial.total.quantile(1.0) == pytest.approx(200, rel=1e-3)


def test_samples_of_transactions_are_not_counted_twice(read_text):
    (trial,) = read_text("\n".join([TITLES, *ROWS]), "run.jtl").trials
    assert trial.total.requests == 3
    assert trial.notes == ("1 samples of transaction controllers are left out",)


def test_without_a_header_in_the_default_order(read_text):
    check(read_text("\n".join(ROWS), "run.jtl").trials[0])


def test_fewer_columns_in_another_order_and_delimiter(read_text):
    text = f"label\ttimeStamp\telapsed\tsuccess\nA\t{T}\t5\ttrue\n"
    (trial,) = read_text(text, "run.jtl", users=2).trials
    assert (trial.endpoint(("", "A")).max, trial.level) == (5, Level("users", 2.0))


def test_times_of_day(read_text):
    text = "timeStamp,elapsed,label,success\n2026/11/22 10:00:00.500,5,A,true\n2026/11/22 10:00:02.500,5,A,true\n"
    (trial,) = read_text(text, "run.jtl").trials
    assert trial.duration == pytest.approx(2.005)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{TITLES}\nyesterday,1,A,200,OK,t,text,true\n", r"run\.jtl:2: timeStamp: 'yesterday'"),
        (f"{TITLES}\n{T},fast,A,200,OK,t,text,true\n", r"run\.jtl:2: elapsed: 'fast' is no number"),
        (f"{TITLES}\n{T},-3,A,200,OK,t,text,true\n", r"run\.jtl:2: a request of -3.0 ms"),
        (f"{TITLES}\n{T},3\n", r"run\.jtl:2: 2 cells where there should be 17"),
        (f"{TITLES}\n0,3,A,200,OK,t,text,true\n{T},3,A,200,OK,t,text,true\n", r"days apart: a time in it is wrong"),
        (f"{TITLES}\n", "holds no requests"),
    ],
)
def test_bad_files(read_text, text, message):
    with pytest.raises(UsageError, match=message):
        read_text(text, "run.jtl")
