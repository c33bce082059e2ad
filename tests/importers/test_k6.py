"""Files are written by the format of k6 2.2, as its source has it."""

from __future__ import annotations

import gzip
import json

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.study import Level

TIMES = {"avg": 12.5, "min": 1.0, "med": 10.0, "max": 99.0, "p(90)": 20.0, "p(95)": 30.0}


def summary(thresholds, **more):
    """What --summary-export writes."""
    return {
        "root_group": {"name": "", "path": "", "id": "d41d", "groups": {}, "checks": {}},
        "metrics": {
            "http_req_duration": {**TIMES, "thresholds": thresholds},
            "http_req_duration{name:/a,method:GET}": TIMES,
            "http_req_duration{expected_response:true}": TIMES,
            "http_reqs": {"count": 600, "rate": 20.0},
            "http_req_failed": {"value": 0.05, "passes": 30, "fails": 570},
            "vus": {"value": 1, "min": 1, "max": 8},
            "vus_max": {"value": 20, "min": 20, "max": 20},
            "dropped_iterations": {"count": 4, "rate": 0.1},
            **more,
        },
    }


def test_summary_export(read_text):
    (trial,) = read_text(json.dumps(summary({})), "k6.json").trials
    total = trial.total
    assert (total.requests, total.failures, total.rate, total.mean, total.max) == (600, 30, 20, 12.5, 99)
    assert dict(total.quantiles) == {0.5: 10, 0.9: 20, 0.95: 30}
    assert (trial.duration, trial.level, trial.generator.dropped) == (30, Level("users", 8.0), 4)
    assert [each.key for each in trial.endpoints] == [("GET", "/a")]
    assert (trial.precision.clock, trial.precision.mergeable) == ("sent", False)


def test_the_level_is_the_active_users_not_those_that_were_ready(read_text):
    document = summary({})
    del document["metrics"]["vus"]
    assert read_text(json.dumps(document), "k6.json").trials[0].level is None


def test_numbers_that_contradict_each_other_are_a_warning(read_text):
    document = summary({}, http_req_failed={"value": 0.05, "passes": 30, "fails": 70})
    document["state"] = {"testRunDurationMs": 60_000}
    assert read_text(json.dumps(document), "k6.json").warnings == (
        "its numbers contradict each other: http_reqs.count is 600, but rate × duration is 1200",
        "its numbers contradict each other: http_reqs.count is 600, but http_req_failed's sum is 100",
    )


def test_the_boolean_of_summary_export_is_true_when_the_threshold_failed(read_text):
    (trial,) = read_text(json.dumps(summary({"p(95)<10": True, "p(95)<100": False})), "k6.json").trials
    assert trial.notes == (
        "threshold http_req_duration: p(95)<10: FAILED",
        "threshold http_req_duration: p(95)<100: held",
    )


def test_handle_summary_says_ok_when_it_held(read_text):
    document = {
        "metrics": {
            "http_req_duration": {
                "type": "trend", "contains": "time", "values": {**TIMES, "p(99.9)": 98.0},
                "thresholds": {"p(95)<10": {"ok": False}, "p(95)<100": {"ok": True}},
            },
            "http_reqs": {"type": "counter", "contains": "default", "values": {"count": 10, "rate": 2.5}},
            "http_req_failed": {"type": "rate", "values": {"rate": 0.1, "passes": 1, "fails": 9}},
        },
        "root_group": {}, "options": {}, "state": {"isStdOutTTY": False, "testRunDurationMs": 4500.5},
    }  # fmt: skip
    (trial,) = read_text(json.dumps(document, indent=2), "k6.json", rate=3).trials
    assert [note.rpartition(" ")[2] for note in trial.notes] == ["FAILED", "held"]
    assert (trial.duration, trial.total.failures, trial.total.quantile(0.999)) == (4.5005, 1, 98)
    assert trial.level == Level("/s", 3.0)


def test_machine_readable_summary(read_text):
    document = {
        "version": "1.0.0", "metadata": {"generatedAt": "2026-11-22T00:00:00Z", "k6Version": "2.2.0"},
        "config": {"duration": 30, "execution": "local", "script": "x.js"},
        "results": {"checks": {}, "metrics": [
            {"name": "http_req_duration", "type": "trend", "contains": "time", "values": TIMES},
            {"name": "http_reqs", "type": "counter", "contains": "default", "values": {"count": 15}},
            {"name": "http_req_failed", "type": "rate", "values": {"matches": 3, "rate": 0.2, "total": 15}},
        ]},
    }  # fmt: skip
    (trial,) = read_text(json.dumps(document), "k6.json").trials
    assert (trial.total.requests, trial.duration, trial.total.quantile(0.95)) == (15, 30, 30)
    assert (trial.total.failures, trial.total.rate) == (3, 0.5)


def test_a_summary_without_http(read_text):
    with pytest.raises(UsageError, match="no requests over HTTP"):
        read_text('{"root_group": {}, "metrics": {"iterations": {"count": 3}}}', "k6.json")


def test_damaged_json_names_its_line(read_text):
    with pytest.raises(UsageError, match=r"k6\.json:2: is no JSON"):
        read_text('{"metrics": {"http_req_duration":\n{]', "k6.json")


def point(metric, second, value, **tags):
    data = {"time": f"2026-11-22T10:00:{second:09.6f}123Z", "value": value, "tags": tags}
    return json.dumps({"type": "Point", "metric": metric, "data": data})


DECLARED = {"type": "Metric", "metric": "http_req_duration", "data": {"name": "http_req_duration", "type": "trend"}}
POINTS = [
    json.dumps(DECLARED),
    point("vus", 0.0, 2),
    point("http_req_duration", 0.1, 100.0, name="/a", method="GET", status="200", expected_response="true"),
    point("http_req_duration", 1.5, 20.0, name="/a", method="GET", status="404", expected_response="false"),
    point("http_req_duration", 2.5, 30.5, name="/b", method="GET", status="404", expected_response="true"),
    point("http_req_duration", 2.7, 5.0, name="/b", method="POST", status="0", error="dial: refused"),
    point("dropped_iterations", 2.6, 3),
]


def check_points(trial):
    a = trial.endpoint(("GET", "/a"))
    assert (a.requests, a.failures, a.min, a.max) == (2, 1, 20, 100)
    assert [(kind.status, kind.count) for kind in a.kinds] == [(404, 1)]
    assert trial.endpoint(("GET", "/b")).failures == 0  # the script expected this 404
    assert trial.endpoint(("POST", "/b")).failures == 1
    assert trial.total.course.requests.tolist() == [1, 1, 2]
    assert trial.total.histogram.count == 4
    assert (trial.level, trial.precision.mergeable) == (Level("users", 2.0), True)


def test_json_points(read_text):
    (trial,) = read_text("\n".join(POINTS), "points.json").trials
    check_points(trial)
    assert trial.generator.dropped == 3


def test_json_points_in_gzip(read_text):
    (trial,) = read_text(gzip.compress("\n".join(POINTS).encode()), "points.json.gz").trials
    check_points(trial)


@pytest.mark.parametrize("unit", [1, 1000, 1_000_000, 1_000_000_000])
def test_csv_points_by_their_titles_in_any_time_format(read_text, unit):
    at = [1_795_176_000.1, 1_795_176_001.5, 1_795_176_002.5, 1_795_176_002.7]
    at = [int(each * unit) for each in at]
    text = (
        "metric_name,timestamp,metric_value,expected_response,method,name,status,extra_tags,metadata\n"
        f"vus,{at[0]},2,,,,,,\n"
        f"http_req_duration,{at[0]},100,true,GET,/a,200,,\n"
        f"http_req_duration,{at[1]},20,false,GET,/a,404,team=x,\n"
        f"http_req_duration,{at[2]},30.5,true,GET,/b,404,,\n"
        f"http_req_duration,{at[3]},5,,POST,/b,0,,\n"
    )
    check_points(read_text(text, "points.csv").trials[0])


def test_a_damaged_point_is_refused_with_its_line(read_text):
    with pytest.raises(UsageError, match=r"points\.json:3: is no point of k6"):
        read_text("\n".join([*POINTS[:2], '{"type":"Point","metric":"vus","data":{"value":1}}']), "points.json")
