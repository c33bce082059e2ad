from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.load.plan_file import PlanFile, read_plan
from plimsoll.load.spec import Limits, Load, Phase, ShapeSpec

if TYPE_CHECKING:
    from collections.abc import Callable

TARGET = 'target = "http://127.0.0.1:8000"\n'

GOOD = """\
name = "shop"
target = "http://127.0.0.1:8000/api/"
headers = { Accept = "application/json", X-Two = ["a", "b"] }
timeout = "10s"
idle_timeout = "2s"
cookies = true
accept_encoding = false
choice = "in_turn"
seed = 7
max_users = 500
on_saturation = "drop"
stop_timeout = "5s"
thresholds = ["p99 < 200ms", "errors < 0.1%"]

[stop]
time = "2m"
iterations = 1000
requests = 3000

[feeder.accounts]
columns = ["id", "name"]
rows = [[1, "a"], [2, "b"]]
order = "random"
share = "all"
at_end = "stop"

[[request]]
name = "list"
get = "/todos?page=1"
weight = 3
think = "1s..3s"

[[flow]]
name = "buy"
think = "500ms"

[[flow.step]]
post = "/login"
json = { user = "${accounts.name}" }
extract.token = { json = "/token", default = "none" }
extract.csrf = { header = "X-CSRF" }
expect = { status = [200, "3xx", "204-206"], contains = "ok", lacks = ["error"], max_time = "300ms" }

[[flow.step]]
method = "PURGE"
path = "/cache/${accounts.id}"
headers = { Authorization = "Bearer ${token}" }
timeout = "1s"
idle_timeout = "500ms"
think = { exponential = "2s" }
expect.json = { "/ok" = true, "/n" = 3 }

[[flow.step]]
get = "https://example.org/x#top"
think = 0

[[phase]]
rate = "6000/m"
duration = "10s"
warmup = true

[[phase]]
name = "up"
ramp = "100/s..900/s"
duration = "1m"
spacing = "poisson"

[[phase]]
start = "30s"
rate = 5
"""


def test_a_plan_says_what_is_run(plan: Callable[..., PlanFile]) -> None:
    found = plan(GOOD)
    assert (found.name, found.seed, found.run_time, found.stop_timeout) == ("shop", 7, 120.0, 5.0)
    assert found.thresholds == ("p99 < 200ms", "errors < 0.1%")
    assert found.limits == Limits(500, "drop", 1000, 3000)
    assert found.load == Load(
        "open",
        (
            Phase("warm-up", ShapeSpec.of("constant", level=100.0, seconds=10.0), 0.0, 10.0, warmup=True),
            Phase("up", ShapeSpec.of("ramp", start=100.0, end=900.0, seconds=60.0), 10.0, 60.0, poisson=True),
            Phase("rate", ShapeSpec.of("constant", level=5.0, seconds=90.0), 30.0, 90.0),
        ),
        500, "drop", 1000, 3000,
    )  # fmt: skip


HTTP2 = """
http2 = true
users_per_connection = 10
[[target]]
url = "https://example.org"
[[target]]
name = "old"
url = "http://127.0.0.1:8000"
http2 = false
[[flow]]
[[flow.step]]
get = "/"
[[flow.step]]
get = "http://127.0.0.1:9000/other"
[[flow.step]]
connect = "ws://127.0.0.1:9100/"
[[flow.step]]
send = "x"
"""


def test_a_plan_with_http2_and_a_target_without(plan: Callable[..., PlanFile]) -> None:
    read = plan(HTTP2)
    assert read.scenario is not None
    assert {each["url"]: each.get("http2", False) for each in read.scenario["targets"]} == {
        "https://example.org": True, "http://127.0.0.1:8000": False, "http://127.0.0.1:9000": True,
        "http://127.0.0.1:9100": False,
    }  # fmt: skip
    assert read.users_per_connection == 10


def test_one_target_of_a_plan_may_have_http2(plan: Callable[..., PlanFile]) -> None:
    read = plan('users_per_connection = 2\n[target]\nurl = "http://127.0.0.1"\nhttp2 = true\n[[request]]\nget = "/"\n')
    assert read.scenario is not None
    assert read.scenario["targets"][0]["http2"]


def test_a_plan_says_what_users_do(plan: Callable[..., PlanFile]) -> None:
    scenario = plan(GOOD).scenario
    assert scenario is not None
    flows = scenario.pop("flows")
    assert scenario["targets"].pop()["url"] == "https://example.org"
    assert scenario == {
        "targets": [
            {"url": "http://127.0.0.1:8000", "verify": True, "cert": None, "proxy": None,
             "headers": [["Accept", "application/json"], ["X-Two", "a"], ["X-Two", "b"]]},
        ],
        "feeders": [
            {"name": "accounts", "columns": ["id", "name"], "rows": [["1", "a"], ["2", "b"]], "order": "random",
             "share": "all", "at_end": "stop"}
        ],
        "choice": "in_turn", "cookies": True, "accept_encoding": False,
    }  # fmt: skip
    step: dict[str, Any] = {
        "target": 0, "headers": [], "body": None, "timeout": 10.0, "idle_timeout": 2.0, "extract": [], "expect": {},
    }  # fmt: skip
    assert flows[0] == {
        "name": "list", "weight": 3.0,
        "steps": [
            {**step, "name": "list", "method": "GET", "path": "/api/todos?page=1", "think": {"between": [1.0, 3.0]}}
        ],
    }  # fmt: skip
    assert (flows[1]["name"], flows[1]["weight"]) == ("buy", 1.0)
    assert flows[1]["steps"] == [
        {
            **step, "name": "/login", "method": "POST", "path": "/api/login", "think": {"constant": 0.5},
            "body": {"json": '{"user": "${accounts.name}"}'},
            "extract": [
                {"into": "token", "from": "json", "what": "/token", "default": "none"},
                {"into": "csrf", "from": "header", "what": "X-CSRF", "default": None},
            ],
            "expect": {
                "status": [[200, 200], [300, 399], [204, 206]], "contains": ["ok"], "lacks": ["error"], "max_time": 0.3,
            },
        },
        {
            **step, "name": "/cache/${accounts.id}", "method": "PURGE", "path": "/api/cache/${accounts.id}",
            "timeout": 1.0, "idle_timeout": 0.5, "headers": [["Authorization", "Bearer ${token}"]],
            "think": {"exponential": 2.0},
            "expect": {"json": [["/ok", True], ["/n", 3]]},
        },
        {
            **step, "name": "https://example.org/x#top", "method": "GET", "path": "/x", "target": 1,
            "think": {"constant": 0.0},
        },
    ]  # fmt: skip


def test_two_dollars_are_one_where_no_variables_are_replaced(plan: Callable[..., PlanFile]) -> None:
    text = """
        target = "http://h"
        [[request]]
        get = "/"
        expect = { contains = "a $${b} ${user}", json = { "/$${a}" = ["$${b}", { "$${c}" = "$5" }] } }
        extract.t = { regex = '^\\$\\{(.*)$', default = "$${d}" }
    """
    scenario = plan(text).scenario
    assert scenario is not None
    (step,) = scenario["flows"][0]["steps"]
    # The engine fills these, and makes one of two dollars.
    assert step["expect"] == {"contains": ["a $${b} ${user}"], "json": [["/${a}", ["$${b}", {"$${c}": "$5"}]]]}
    assert [(each["what"], each["default"]) for each in step["extract"]] == [(r"^\$\{(.*)$", "${d}")]


def test_an_extraction_says_how_its_value_is_decoded(plan: Callable[..., PlanFile]) -> None:
    text = """
        target = "http://h"
        [[request]]
        get = "/"
        extract.a = { cookie = "XSRF-TOKEN", decode = "url" }
        extract.b = { json = "/t", decode = ["base64", "html"], within = 'id=([0-9]+)' }
    """
    scenario = plan(text).scenario
    assert scenario is not None
    (step,) = scenario["flows"][0]["steps"]
    said = [(extract["decode"], extract["within"]) for extract in step["extract"]]
    assert said == [(["url"], None), (["base64", "html"], "id=([0-9]+)")]
    with pytest.raises(UsageError, match=r"extract\.a\.decode"):
        plan('[request]\nget = "http://h/"\nextract.a = { cookie = "a", decode = "rot13" }\n')


def test_the_shortest_plan(plan: Callable[..., PlanFile]) -> None:
    found = plan('[request]\nget = "http://127.0.0.1:8000/a"\n')
    assert found.name == "plan"
    assert (found.load, found.run_time, found.stop_timeout, found.seed, found.thresholds) == (
        None,
        None,
        None,
        None,
        (),
    )
    assert found.limits == Limits()
    assert found.scenario is not None
    assert [target["url"] for target in found.scenario["targets"]] == ["http://127.0.0.1:8000"]
    assert found.scenario["flows"][0]["steps"][0]["path"] == "/a"


def test_a_phase_may_end_when_the_run_does(plan: Callable[..., PlanFile]) -> None:
    found = plan('[phase]\nrate = 5\nduration = 10\n[stop]\ntime = "10s"\n')
    assert found.load is not None and found.load.seconds == found.run_time == 10.0


def test_a_plan_may_have_phases_only(plan: Callable[..., PlanFile]) -> None:
    found = plan('[phase]\nusers = 50\nduration = "1m"\n')
    assert found.scenario is None
    assert found.load == Load(
        "closed", (Phase("users", ShapeSpec.of("constant", level=50.0, seconds=60.0), 0.0, 60.0),)
    )


def test_flows_and_requests_keep_the_order_of_the_file(plan: Callable[..., PlanFile]) -> None:
    text = '[[request]]\nget = "/1"\n[[flow]]\n[[flow.step]]\nget = "/2"\n[[request]]\nget = "/3"\n'
    scenario = plan(TARGET + text).scenario
    assert scenario is not None
    assert [flow["name"] for flow in scenario["flows"]] == ["/1", "/2", "/3"]


def test_a_host_replaces_the_first_target(plan: Callable[..., PlanFile]) -> None:
    text = """
headers = { X = "1", Accept = "c" }
target = [{ name = "a", url = "http://a/x", headers = { accept = "b" } }, { name = "b", url = "http://b" }]
request = [{ get = "/1" }, { get = "/2", target = "b" }]
"""
    for host, first in ((None, ("http://a", "/x/1")), ("http://h:9/y/", ("http://h:9", "/y/1"))):
        scenario = plan(text, host).scenario
        assert scenario is not None
        steps = [flow["steps"][0] for flow in scenario["flows"]]
        places = [(scenario["targets"][step["target"]]["url"], step["path"]) for step in steps]
        assert places == [first, ("http://b", "/2")]
        assert scenario["targets"][0]["headers"] == [["X", "1"], ["accept", "b"]]
        assert scenario["targets"][1]["headers"] == [["X", "1"], ["Accept", "c"]]


def test_a_host_makes_a_target_unnecessary(plan: Callable[..., PlanFile]) -> None:
    scenario = plan('headers = { X = "1" }\n[[request]]\nget = "/1"\n', "http://h:9/${x}").scenario
    assert scenario is not None
    assert scenario["targets"][0]["url"] == "http://h:9"
    assert scenario["targets"][0]["headers"] == [["X", "1"]]
    assert scenario["flows"][0]["steps"][0]["path"] == "/$${x}/1"


def test_bodies_come_from_text_json_and_files(plan: Callable[..., PlanFile], tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(b"\xff${x}")
    (tmp_path / "order.json").write_text('{"n": ${uuid}, "s": "${uuid}"}')
    (tmp_path / "order.xml").write_text("<n>${uuid}</n>")
    bodies = [
        'body = "a ${uuid}"',
        """json = '{"n": ${iteration}}'""",
        'json = ["é", { n = 1.5 }]',
        'form = { "a b" = "é&${uuid}", c = ["1", "$${x}"] }',
        'body_file = "raw"',
        'template_file = "order.json"',
        f'template_file = "{tmp_path}/order.xml"',
    ]
    scenario = plan(TARGET + "".join(f'[[request]]\npost = "/"\n{body}\n' for body in bodies)).scenario
    assert scenario is not None
    assert [flow["steps"][0]["body"] for flow in scenario["flows"]] == [
        {"text": "a ${uuid}"},
        {"json": '{"n": ${iteration}}'},
        {"json": '["é", {"n": 1.5}]'},
        {"form": "a+b=%C3%A9%26${uuid}&c=1&c=%24%7Bx%7D"},
        {"base64": "/yR7eH0="},
        {"json": '{"n": ${uuid}, "s": "${uuid}"}'},
        {"text": "<n>${uuid}</n>"},
    ]


def test_a_form_with_files_has_its_texts_and_bytes(plan: Callable[..., PlanFile], tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\xff${x}")
    scenario = plan(
        f"""{TARGET}[[request]]
post = "/"
headers = {{ A = "b" }}
multipart.title = ["x", "${{uuid}}"]
multipart."a\\"b" = {{ text = "{{}}", type = "application/json" }}
multipart.f = {{ file = "a.png" }}
[[request]]
post = "/"
multipart.f = {{ file = "a.png", name = "é.png", type = "image/png" }}
"""
    ).scenario
    assert scenario is not None
    first, second = (flow["steps"][0] for flow in scenario["flows"])
    (_, (name, content_type)) = first["headers"]
    assert name == "Content-Type"
    line = "--" + content_type.removeprefix("multipart/form-data; boundary=")
    start = f"{line}\r\nContent-Disposition: form-data; name="
    text, file, end = first["body"]["parts"]
    assert text["text"] == (
        f'{start}"title"\r\n\r\nx\r\n{start}"title"\r\n\r\n${{uuid}}\r\n'
        f'{start}"a%22b"\r\nContent-Type: application/json\r\n\r\n{{}}\r\n'
        f'{start}"f"; filename="a.png"\r\nContent-Type: application/octet-stream\r\n\r\n'
    )
    assert (file, end) == ({"base64": "/yR7eH0="}, {"text": f"\r\n{line}--\r\n"})
    assert second["body"]["parts"][0]["text"].endswith('filename="é.png"\r\nContent-Type: image/png\r\n\r\n')


def test_a_boundary_is_not_in_a_file(plan: Callable[..., PlanFile], tmp_path: Path) -> None:
    text = f'{TARGET}[[request]]\npost = "/"\nmultipart.f.file = "f"\n'

    def boundary(content: bytes) -> str:
        (tmp_path / "f").write_bytes(content)
        scenario = plan(text).scenario
        assert scenario is not None
        value: str = scenario["flows"][0]["steps"][0]["headers"][0][1]
        return value.partition("boundary=")[2]

    usual = boundary(b"")
    assert boundary(f"--{usual}--".encode()) not in (usual, f"{usual}--")
    assert boundary(b"") == usual


def test_an_operation_of_graphql_names_its_row(plan: Callable[..., PlanFile], tmp_path: Path) -> None:
    (tmp_path / "two.graphql").write_text("query One { a }\nmutation Two($id: ID!) { b(id: $id) }\n")
    steps = [
        'graphql = "{ a }"',
        'graphql = "query One { a }"\nname = "own"',
        'graphql = "two.graphql"\noperation_name = "Two"\nvariables = { id = "${iteration}" }\nexpect.status = 200',
        'graphql = "two.graphql"\nexpect.absent = ["/errors/0", "/b"]',
    ]
    scenario = plan(TARGET + "".join(f'[[request]]\npost = "/graphql"\n{step}\n' for step in steps)).scenario
    assert scenario is not None
    made = [flow["steps"][0] for flow in scenario["flows"]]
    assert [step["name"] for step in made] == ["/graphql", "own", "Two", "One"]
    assert [step["expect"] for step in made] == [
        {"absent": ["/errors"]},
        {"absent": ["/errors"]},
        {"absent": ["/errors"], "status": [[200, 200]]},
        {"absent": ["/errors/0", "/b"]},
    ]
    assert made[0]["body"] == {"json": '{"query": "{ a }"}'}
    document = json.dumps((tmp_path / "two.graphql").read_text())
    assert made[2]["body"]["json"] == (
        f'{{"query": {document}, "variables": {{"id": "${{iteration}}"}}, "operationName": "Two"}}'
    )


def test_auth_is_a_header(plan: Callable[..., PlanFile]) -> None:
    scenario = plan(
        f"""auth = {{ basic = ["ann", "a:b${{x}}"] }}
{TARGET}
[[request]]
get = "/"
[[request]]
get = "/"
headers = {{ A = ["b", "c"] }}
auth = {{ bearer = "${{user}}" }}
[[request]]
get = "/"
auth = {{ api_key = "k" }}
[[request]]
get = "/"
auth = {{ api_key = "k", header = "Key" }}
[[flow]]
[[flow.step]]
connect = "/"
auth = {{ basic = ["${{user}}", "p$${{"] }}
[[flow.step]]
wait = "1s"
[[request]]
grpc = "a.B/C"
auth = {{ bearer = "t" }}
""".replace("${x}", "$${x}")
    ).scenario
    assert scenario is not None
    basic = ["Authorization", f"Basic {base64.b64encode(b'ann:a:b${x}').decode()}"]
    assert scenario["targets"][0]["headers"] == [basic]
    assert [flow["steps"][0]["headers"] for flow in scenario["flows"]] == [
        [],
        [["A", "b"], ["A", "c"], ["Authorization", "Bearer ${user}"]],
        [["X-API-Key", "k"]],
        [["Key", "k"]],
        [["Authorization", "Basic ${base64:${user}:p$${}"]],
        [["Authorization", "Bearer t"]],
    ]


SHAPES: list[tuple[str, str, dict[str, Any], float | None]] = [
    ('rate = "90/s"', "constant", {"level": 90.0, "seconds": None}, None),
    ('rate = 90\nduration = "1m"', "constant", {"level": 90.0, "seconds": 60.0}, 60),
    ("users = 9", "constant", {"level": 9.0, "seconds": None}, None),
    ('ramp = "1/s..9/s"\nduration = 8', "ramp", {"start": 1.0, "end": 9.0, "seconds": 8.0}, 8),
    ("ramp = { from = 0, to = 9 }\nduration = 8", "ramp", {"start": 0.0, "end": 9.0, "seconds": 8.0}, 8),
    ('steps = "30s:1/s, 1m:60/m"', "steps", {"steps": ((30.0, 1.0), (60.0, 1.0))}, 90),
    ('steps = [["30s", 5], "30s:0"]', "steps", {"steps": ((30.0, 5.0), (30.0, 0.0))}, 60),
    ('stages = "30s:100/s,1m:900/s"', "stages", {"stages": ((30.0, 100.0), (60.0, 900.0)), "start": 0.0}, 90),
    ('stages = "50/s,30s:100/s"', "stages", {"stages": ((30.0, 100.0),), "start": 50.0}, 30),
    ('stages = ["5", ["30s", 9]]', "stages", {"stages": ((30.0, 9.0),), "start": 5.0}, 30),
    (
        'staircase = { from = "100/s", step = "-10/s", each = "30s", count = 3, rise = "2s" }', "staircase",
        {"start": 100.0, "step": -10.0, "each": 30.0, "count": 3, "rise": 2.0}, 94,
    ),
    (
        'staircase = "from=1,step=1,each=30s,count=5"', "staircase",
        {"start": 1.0, "step": 1.0, "each": 30.0, "count": 5, "rise": 0.0}, 150,
    ),
    (
        'spike = { base = "1/s", peak = "9/s", at = "3s", hold = "1s" }\nduration = "5s"', "spike",
        {"base": 1.0, "peak": 9.0, "at": 3.0, "hold": 1.0, "rise": 0.0, "seconds": 5.0}, 5,
    ),
    (
        'sine = "mean=5/s, amplitude=2/s, period=1m"', "sine",
        {"mean": 5.0, "amplitude": 2.0, "period": 60.0, "seconds": None}, None,
    ),
    ('replay = "times"', "replay", {"times": (0.0, 0.5, 2.0)}, 3),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "values", "seconds"), SHAPES, ids=[text for text, *_ in SHAPES])
def test_every_shape_can_be_written(
    plan: Callable[..., PlanFile], tmp_path: Path, text: str, kind: str, values: dict[str, Any], seconds: float | None
) -> None:
    (tmp_path / "times").write_text("5\n5.5\n7\n")
    load = plan(f"[[phase]]\n{text}\n").load
    assert load is not None
    assert load.phases[0].shape == ShapeSpec.of(kind, **values)
    assert load.phases[0].seconds == seconds
    assert load.model == ("open" if "/" in text or "rate" in text or "replay" in text else "closed")


def test_phases_follow_one_another_unless_they_say_when(plan: Callable[..., PlanFile]) -> None:
    once = '[[phase]]\nrate = 5\nduration = "10s"\n'
    load = plan(once + once + once + 'start = "5s"\n' + once).load
    assert load is not None
    assert [(phase.name, phase.start) for phase in load.phases] == [
        ("rate", 0), ("rate 2", 10), ("rate 3", 5), ("rate 4", 15),
    ]  # fmt: skip


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*none\.toml: No such file"):
        read_plan(f"{tmp_path}/none.toml")
    with pytest.raises(UsageError, match="Is a directory"):
        read_plan(str(tmp_path))
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(UsageError, match=r"latin\.toml is not UTF-8"):
        read_plan(f"{tmp_path}/latin.toml")


def test_a_host_that_is_no_url_is_refused(plan: Callable[..., PlanFile]) -> None:
    with pytest.raises(UsageError, match='"nowhere" is not a URL'):
        plan(TARGET + '[request]\nget = "/"\n', "nowhere")
