"""Test plans of JMeter become flows, and what is no declaration is listed."""

from __future__ import annotations

import json
import re

import pytest
from tests.sources.recording_target import Answer, target
from tests.sources.shop import FILES

from plimsoll.errors import UsageError
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof.passes import one_pass

WHOLE = (FILES / "todos.jmx").read_text()
CSV = """<CSVDataSet testname="People" enabled="true">
<stringProp name="filename">people.csv</stringProp><stringProp name="variableNames">{names}</stringProp>
<boolProp name="ignoreFirstLine">{ignore}</boolProp></CSVDataSet><hashTree/>
<HeaderManager"""


def rules(request):
    if request.route == "/login":
        is_right = request.form == {"user": "ann & bob"} and request.headers["accept"] == "application/json"
        return Answer(201 if is_right else 400, {"session": {"token": "t&1"}})
    is_right = request.query == {"token": "t&1"} and re.fullmatch("[0-9a-f-]{36}", json.loads(request.body)["key"])
    return Answer(200, "made" if is_right else "no")


def test_a_test_plan_is_a_flow_that_the_target_accepts():
    with target(rules) as service:
        draft = make_draft([str(FILES / "todos.jmx")], variables={"base": service.url})
        assert [proof.state for proof in one_pass(draft)] == ["proven"] * 2
    lines = written(draft, "plan", as_locustfile=False).text.splitlines()
    for line in ("cookies = true", "expect.status = 201", 'expect.contains = ["made"]', 'think = "0.3s"'):
        assert line in lines
    assert [note.rpartition("todos.jmx: ")[2] for note in draft.notes] == [
        "Buyers: its load is -u 10 -r 2 --iterations 30 of plimsoll run",
        "JSR223PostProcessor Script is not translated: it is left out",
        "IfController Sometimes is not translated: it is left out, with what is in it",
    ]


def test_the_server_is_that_of_the_defaults():
    draft = make_draft([str(FILES / "todos.jmx")], variables={"port": "81"})
    assert draft.steps[0].exchange.url == "http://127.0.0.1:81/login"


@pytest.mark.parametrize(
    ("names", "ignore", "text"),
    [("", "false", "user,word\nann,a\nbob,b\n"), ("user,word", "true", "x,y\nann,a\nbob,b\n"),
     ("user,word", "false", "ann,a\nbob,b\n")],
    ids=["names-in-the-file", "names-replaced", "names-in-the-plan"],
)  # fmt: skip
def test_a_csv_set_is_a_feeder(tmp_path, names, ignore, text):
    (tmp_path / "people.csv").write_text(text)
    plan = WHOLE.replace("<HeaderManager", CSV.format(names=names, ignore=ignore), 1).replace(
        "ann &amp; bob", "${user}"
    )
    (tmp_path / "x.jmx").write_text(plan)
    files = written(make_draft([str(tmp_path / "x.jmx")]), "x", as_locustfile=False)
    assert 'form = { user = "${people.value_user}" }' in files.text.splitlines()
    assert files.files["x.people.csv"].decode().splitlines()[:3] == ["value_user", "ann", "bob"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("<jmeterTestPlan", "<!DOCTYPE a [<!ENTITY b 'c'>]><jmeterTestPlan"), "x.jmx:1: has declarations of its own"),
        (("</jmeterTestPlan>", ""), "not XML: no element found"),
        (("<ThreadGroup ", "<ThreadGroup2 "), "not XML: mismatched tag"),
        (("${token}", "${other}"), "{{other}} has no value; give it with --set 'other=VALUE'"),
        (("${host}", ""), "has no server; give one with --set base="),
        (('testname="Buyers" enabled="true"', 'testname="Buyers" enabled="false"'), "has no thread group"),
        (("<hashTree>", "<hashTree>" + "<a>" * 300), "more than 200 elements within each other"),
        (("300</stringProp>", "x</stringProp>"), "Think: its delay is no number"),
    ],
    ids=["entities", "cut-off", "mismatch", "variable", "server", "group", "deep", "delay"],
)
def test_mistakes(tmp_path, change, message):
    (tmp_path / "x.jmx").write_text(WHOLE.partition("\n")[2].replace(*change, 1))
    with pytest.raises(UsageError) as raised:
        make_draft([str(tmp_path / "x.jmx")])
    assert message in str(raised.value)
    assert "x.jmx" in str(raised.value)


def test_a_thread_group_is_chosen(tmp_path):
    group = WHOLE[WHOLE.index("      <ThreadGroup") : WHOLE.rindex("    </hashTree>\n  </hashTree>")]
    (tmp_path / "x.jmx").write_text(
        WHOLE.replace(group, group + group.replace("Buyers", "Readers").replace("Log in", "Go"))
    )
    assert [name for name, _ in make_draft([str(tmp_path / "x.jmx")]).flows] == ["Buyers", "Readers"]
    assert make_draft([str(tmp_path / "x.jmx")], variables={"group": "Readers"}).steps[0].name == "Go"
    with pytest.raises(UsageError, match=r"--set group=x: .* has Buyers, Readers"):
        make_draft([str(tmp_path / "x.jmx")], variables={"group": "x"})
