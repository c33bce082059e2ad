"""Test plans of JMeter with several thread groups become plans with a flow for each."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from tests.sources.recording_target import Answer, target

from plimsoll.errors import UsageError
from plimsoll.load.plan_file import read_plan
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof.passes import one_pass

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop">
      <boolProp name="TestPlan.serialize_threadgroups">{serial}</boolProp>
    </TestPlan>
    <hashTree>
      <ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="Defaults">
        <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
        <stringProp name="HTTPSampler.port">8000</stringProp>
      </ConfigTestElement>
      <hashTree/>
      {groups}
      <ResultCollector guiclass="ViewResultsFullVisualizer" testclass="ResultCollector" testname="Results"/>
      <hashTree/>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"""
GROUP = """<{kind} guiclass="ThreadGroupGui" testclass="{kind}" testname="{name}">
  <intProp name="ThreadGroup.num_threads">{threads}</intProp>
  <intProp name="ThreadGroup.ramp_time">{ramp}</intProp>
  <longProp name="ThreadGroup.duration">{duration}</longProp>
  <boolProp name="ThreadGroup.scheduler">{scheduler}</boolProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <stringProp name="LoopController.loops">{loops}</stringProp>
  </elementProp>
</{kind}>
<hashTree>{inner}</hashTree>
"""
CSV = """<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="People">
<stringProp name="filename">{file}</stringProp><stringProp name="variableNames">user</stringProp></CSVDataSet>
<hashTree/>
"""
TOKEN = """<JSONPostProcessor testname="Token"><stringProp name="JSONPostProcessor.referenceNames">token</stringProp>
<stringProp name="JSONPostProcessor.jsonPathExprs">$.token</stringProp></JSONPostProcessor><hashTree/>
<ResponseAssertion testname="Is 200"><collectionProp name="Asserion.test_strings"><stringProp name="1">200</stringProp>
</collectionProp><stringProp name="Assertion.test_field">Assertion.response_code</stringProp>
<intProp name="Assertion.test_type">8</intProp></ResponseAssertion><hashTree/>
"""
ULTIMATE = """<kg.apc.jmeter.threads.UltimateThreadGroup testname="Peaks">
<collectionProp name="ultimatethreadgroupdata">
<collectionProp name="1"><stringProp name="1">30</stringProp><stringProp name="2">0</stringProp></collectionProp>
<collectionProp name="2"><stringProp name="1">10</stringProp><stringProp name="2">60</stringProp></collectionProp>
</collectionProp></kg.apc.jmeter.threads.UltimateThreadGroup><hashTree>{inner}</hashTree>
"""


def sampler(name: str, path: str, inner: str = "") -> str:
    return f"""<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}">
<stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
</HTTPSamplerProxy><hashTree>{inner}</hashTree>"""


def group(name: str, inner: str, kind: str = "ThreadGroup", **values: Any) -> str:
    usual = {"threads": 1, "ramp": 1, "duration": 0, "scheduler": "false", "loops": -1}
    return GROUP.format(kind=kind, name=name, inner=inner, **{**usual, **values})


@pytest.fixture
def plan(tmp_path: Path) -> Any:
    """Writes a test plan with these groups, and returns its path."""
    (tmp_path / "buyers.csv").write_text("ann\nbob\n")
    (tmp_path / "sellers.csv").write_text("sue\n")

    def write(*groups: str, serial: str = "false") -> str:
        (tmp_path / "shop.jmx").write_text(PLAN.format(groups="".join(groups), serial=serial))
        return str(tmp_path / "shop.jmx")

    return write


BUY = CSV.format(file="buyers.csv") + sampler("Log in", "/login?as=${user}", TOKEN) + sampler("Buy", "/buy?t=${token}")
SELL = CSV.format(file="sellers.csv") + sampler("Log in", "/sell/login?as=${user}", TOKEN) + sampler(
    "Sell", "/sell?t=${token}"
)  # fmt: skip


def rules(request: Any) -> Answer:
    """Tokens of buyers are not taken from sellers."""
    if request.route.endswith("/login"):
        known = ("sue",) if request.route.startswith("/sell") else ("ann", "bob")
        is_known = request.query["as"] in known
        return Answer(200 if is_known else 403, {"token": f"{'s' if 'sue' in known else 'b'}-{request.query['as']}"})
    return Answer(200 if request.query["t"].startswith("s-" if request.route == "/sell" else "b-") else 403, {})


def test_each_group_is_a_flow_with_its_own_values(plan):
    path = plan(group("Buyers", BUY, threads=30), group("Sellers", SELL, threads=10))
    with target(rules) as service:
        draft = make_draft([path], variables={"base": service.url})
        assert [(proof.step, proof.state) for proof in one_pass(draft)] == [
            ("1 GET Log in", "proven"), ("2 GET Buy", "proven"), ("3 GET Log in", "proven"), ("4 GET Sell", "proven"),
        ]  # fmt: skip
    files = written(draft, "shop", as_locustfile=False)
    flows = tomllib.loads(files.text)["flow"]
    assert [(flow["name"], flow["weight"], len(flow["step"])) for flow in flows] == [
        ("Buyers", 30, 2), ("Sellers", 10, 2),
    ]  # fmt: skip
    assert "weight = 30  # 75 %" in files.text
    assert flows[0]["step"][0]["expect"] == {"status": 200}
    assert files.files["shop.people.csv"].decode().splitlines() == ["value_user,user_2", "ann,sue", "bob,sue"]
    assert [note for note in draft.notes if "threads" in note] == [
        "the weights of the flows are the threads of their groups: a group with shorter iterations does more of them "
        "in JMeter; change the weights then"
    ]


def test_the_plan_can_be_run_and_the_locustfile_has_a_task_for_each(plan, tmp_path):
    draft = make_draft([plan(group("Buyers", BUY, threads=3, loops=2), group("Sellers", SELL, threads=1, loops=4))])
    for name, content in {**(files := written(draft, "shop", as_locustfile=False)).files, "shop.toml": b""}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "shop.toml").write_text(files.text)
    read = read_plan(str(tmp_path / "shop.toml")).scenario
    assert read is not None
    assert [flow["weight"] for flow in read["flows"]] == [6, 4]
    text = written(draft, "locustfile", as_locustfile=True).text
    compile(text, "locustfile.py", "exec")
    assert "    @task(6)\n    def flow_buyers(self):\n" in text
    assert "    @task(4)\n    def flow_sellers(self):\n" in text
    assert draft.notes[:2] == [
        "Buyers and Sellers: their load is -u 4 -r 4 --iterations 10 of plimsoll run",
        "the weights of the flows are the iterations (threads × loops) of their groups",
    ]


def test_what_one_load_cannot_say_is_noted(plan):
    path = plan(
        group("Log in once", sampler("Admin", "/admin"), kind="SetupThreadGroup"),
        group("Buyers", BUY, threads=30, ramp=60, duration=600, scheduler="true"),
        group("Sellers", SELL, threads=10, ramp=10, duration=300, scheduler="true"),
        group("Off", sampler("Off", "/off"), threads=0),
        group("Empty", ""),
        ULTIMATE.format(inner=sampler("Peak", "/peak")),
        group("Clean up", sampler("Delete", "/all"), kind="PostThreadGroup"),
        serial="true",
    )
    draft = make_draft([path])
    assert draft.weights == {"Buyers": 30, "Sellers": 10, "Peaks": 40}
    notes = [note.replace(path, "shop.jmx") for note in draft.notes]
    assert notes == [
        "Buyers, Sellers and Peaks: their load is -u 80 -r 1.33 -t 600s of plimsoll run",
        "Peaks: the schedule of UltimateThreadGroup is not translated: choose the load in plimsoll run",
        "the weights of the flows are the threads of their groups: a group with shorter iterations does more of them "
        "in JMeter; change the weights then",
        "the groups have different ramp-ups (Buyers 60 s, Sellers 10 s): -r is for the longest",
        "the groups have different durations (Buyers 600 s, Sellers 300 s): -t is the longest",
        "shop.jmx: SetupThreadGroup Log in once runs once before the others, and is left out; --set "
        "'group=Log in once' translates it alone",
        "shop.jmx: PostThreadGroup Clean up runs once after the others, and is left out; --set 'group=Clean up' "
        "translates it alone",
        "shop.jmx: Off has 0 threads, and is left out",
        "shop.jmx: its thread groups run one after the other; flows do not",
        "shop.jmx: Empty has no HTTP sampler, and is left out",
    ]
    alone = make_draft([path], variables={"group": "Log in once"})
    assert [step.name for step in alone.steps] == ["Admin"]
    assert not alone.weights


def test_a_value_of_another_group_is_none(plan):
    path = plan(group("Buyers", BUY), group("Readers", sampler("Read", "/read?t=${token}")))
    with pytest.raises(UsageError, match=r"Read: \{\{token\}\} has no value; give it with --set 'token=VALUE'"):
        make_draft([path])


def test_several_flows_are_not_joined_with_another_source(plan):
    path = plan(group("Buyers", BUY), group("Sellers", SELL))
    with pytest.raises(UsageError, match=r"shop\.jmx: has several flows: name it alone"):
        make_draft([path, path])


def test_groups_of_the_same_name_are_two_flows(plan):
    draft = make_draft([plan(group("Buyers", BUY), group("Buyers", sampler("Read", "/read")))])
    assert [name for name, _ in draft.flows] == ["Buyers", "Buyers_2"]
