"""Logs and tables are those of our own `plimsoll export` and of hdrhistogram, HdrHistogram's library for Python."""

from __future__ import annotations

import base64

import pytest
from hdrh.histogram import HdrHistogram

from plimsoll._engine import Histogram
from plimsoll.errors import UsageError
from plimsoll.importers.hdr import _counts
from plimsoll.report.render.hdr import percentile_table, tag

HEAD = (
    "#[Histogram log format version 1.3]\n"
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
)


def engine(values):
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram


def foreign(values, lowest=1, highest=3_600_000_000_000, digits=3):
    histogram = HdrHistogram(lowest, highest, digits)
    for value in values:
        histogram.record_value(value)
    return histogram.encode().decode()


VALUES = [1, 2, 1000, 2047, 2048, 2049, 5000, 123_456, 99_999_999, 3_500_000_000]


def test_a_payload_is_decoded_as_the_engine_does():
    expected = engine([*VALUES, *VALUES, 7])
    for compressed in (True, False):
        assert list(_counts(expected.encode(compressed=compressed))) == expected.buckets()


@pytest.mark.parametrize(("lowest", "digits"), [(1, 2), (1, 3), (1, 4), (1000, 3)])
def test_a_payload_of_another_library(lowest, digits):
    raw = base64.b64decode(foreign([5_000_000, 5_000_000, 70_000_000], lowest, digits=digits))
    found = list(_counts(raw))
    assert [count for _, count in found] == [2, 1]
    for (value, _), meant in zip(found, (5_000_000, 70_000_000), strict=True):
        assert meant <= value <= meant * (1 + 1.1 * 10**-digits * 2)


def test_our_own_log_comes_back(read_text):
    rows = ""
    for second, values in enumerate(([1000, 3000], [5000])):
        payload = base64.b64encode(engine(values).encode()).decode()
        rows += f"Tag={tag('GET', '/a b,c')},{second}.000,1.000,{max(values) / 1000:.3f},{payload}\n"
    text = f"#[Logged with plimsoll 0.1, run x]\n#[INVALID: it lagged]\n{HEAD}{rows}"
    study = read_text(text, "run.hlog", users=3)
    (trial,) = study.trials
    each = trial.endpoint(("GET", "/a b,c"))
    assert (each.requests, each.min) == (3, 1)
    assert (each.max, each.mean) == (pytest.approx(5, rel=1e-3), pytest.approx(3, rel=1e-3))
    assert each.course.requests.tolist() == [2, 1]
    assert each.course.histograms[0].count == 2
    assert (trial.duration, trial.total.rate, trial.precision.tool) == (2, 1.5, "plimsoll")
    assert study.warnings == ("INVALID: it lagged",)


def test_the_unit_follows_from_the_maximum_beside_it(read_text):
    row = f"10.0,1.0,70.0,{foreign([5_000_000, 70_000_000])}\n"  # ns, as most programs in Java have it
    (trial,) = read_text(HEAD + row, "run.hlog").trials
    assert (trial.total.min, trial.total.max) == (pytest.approx(5, rel=2e-3), pytest.approx(70, rel=2e-3))
    assert trial.endpoints == ()
    with pytest.raises(UsageError, match=r"run\.hlog:3: the unit of its histogram is not certain; give it with --unit"):
        read_text(HEAD + row.replace("70.0", "3.7"), "run.hlog")
    (trial,) = read_text(HEAD + row.replace("70.0", "3.7"), "run.hlog", unit="us").trials
    assert trial.total.max == pytest.approx(70_000, rel=2e-3)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1.0,1.0,5.0", "3 columns where a histogram log has 4"),
        ("1.0,1.0,5.0,!!!", "its histogram is damaged"),
        ("1.0,1.0,5.0,HISTFAAAAA==", "its histogram is damaged"),
        ("1.0,x,5.0,HISTFAAAAA==", "'x' is no number"),
    ],
)
def test_damaged_logs(read_text, row, message):
    with pytest.raises(UsageError, match=rf"run\.hlog:3: .*{message}"):
        read_text(f"{HEAD}{row}\n", "run.hlog")
    with pytest.raises(UsageError, match="holds no histograms"):
        read_text(HEAD, "run.hlog")


def test_a_table_is_a_curve(read_text):
    histogram = engine(range(1000, 1_001_000, 1000))  # 1 … 1000 ms
    (trial,) = read_text(percentile_table(histogram), "run.hgrm").trials
    total = trial.total
    assert (total.requests, total.histogram, trial.precision.mergeable) == (1000, None, False)
    assert total.quantile(0.5) == pytest.approx(500, rel=2e-3)
    assert total.max == pytest.approx(1000, rel=2e-3)
    assert total.mean == pytest.approx(500.5, rel=2e-3)


def test_percentiles_between_two_of_the_curve_are_known_only_when_these_are_nearly_the_same(read_text):
    rows = ("1.0 0.5 50 2", "{} 0.9875 99 80", "20.0 0.990625 99 106", "30 1.0 100 inf")
    table = "\n".join(["Value Percentile TotalCount 1/(1-Percentile)", "", *rows])
    far = read_text(table.format("10.0"), "run.hgrm").trials[0].total
    near = read_text(table.format("19.9"), "run.hgrm").trials[0].total
    assert (far.quantile(0.99), near.quantile(0.99)) == (None, 20)
    assert near.quantile(0.95) is None


def test_csv_and_vegeta_tables(read_text):
    text = '"Value","Percentile","TotalCount","1/(1-Percentile)"\n1.5,0.5,5,2\n3.0,1.0,10,Infinity\n'
    (trial,) = read_text(text, "run.hgrm").trials
    assert (trial.total.quantile(0.5), trial.total.max, trial.total.requests) == (1.5, 3, 10)
    text = "Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n1.500000 0.500000  5  2.000000\n3.0 1.0 10 10000000\n"
    (trial,) = read_text(text, "vegeta.txt").trials
    assert trial.precision.tool == "vegeta"
    assert any("t-digest" in note for note in trial.notes)


def test_a_curve_that_falls_is_refused(read_text):
    with pytest.raises(UsageError, match=r"run\.hgrm:3: values and percentiles must not fall"):
        read_text("Value Percentile TotalCount 1/(1-Percentile)\n5 0.5 5 2\n4 0.9 9 10\n", "run.hgrm")
