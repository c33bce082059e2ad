"""Every mistake of a plan is told by its line and its field."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.load.plan_file import read_plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TARGET = 'target = "http://127.0.0.1:8000"\n'
REQUEST = 'name = "x"\n' + TARGET + '[[request]]\nget = "/"\n'
"""The plan that all mistakes are added to: four lines."""

WRONG: list[tuple[str, int, str]] = [
    # what is added to REQUEST, the line it is found in, and how the message goes on
    ("colour = 3\n", 5, "request[0].colour: is not a known field; there are name, target, headers, auth, "),
    ('if = "${user} == 1"\n', 5, "request[0].if: the first step of a flow is always sent"),
    ("repeat = 0\n", 5, "request[0].repeat.times: must be at least 1, not 0"),
    ("repeat = {}\n", 5, "request[0].repeat: needs one of times, while or until"),
    ('repeat.while = "${user}"\n', 5, "request[0].repeat: while needs at_most, as in at_most = 20"),
    ('repeat = { until = "${x}", at_most = 2 }\n', 5, "request[0].repeat.until: unknown variable ${x}; known are "),
    ('repeat = { until = "x", at_most = 2 }\n', 5, 'request[0].repeat.until: "x" is no condition; valid are '),
    ('repeat = { times = 2, until = "x" }\n', 5, "request[0].repeat.until: contradicts times; there is one of times,"),
    ("repeat = { times = 2, at_most = 2 }\n", 5, "request[0].repeat.at_most: contradicts times"),
    ('repeat = { times = 2, from = "y" }\n', 5, 'request[0].repeat.from: no earlier step has the name "y"; there'),
    ('[[request]]\nsend = "x"\nrepeat = 2\n', 7, "request[1].repeat: does not go with send"),
    ('extract.x = { css = "p[" }\n', 5, "request[0].extract.x.css: not a CSS selector: "),
    ('extract.x = { css = "a + b" }\n', 5, "request[0].extract.x.css: not a CSS selector: Unsupported combinator"),
    ('extract.x = { regex = "a", attribute = "b" }\n', 5, "request[0].extract.x.attribute: belongs with css"),
    ("[jwt.a]\n", 5, "jwt.a: needs one of key or key_file"),
    ('[jwt.a]\nkey = "a"\nalgorithm = "HS1"\n', 7, 'jwt.a.algorithm: must be "HS256", "HS384", '),
    ('[jwt.a]\nkey = "a"\nalgorithm = "RS256"\n', 6, "jwt.a.key: it is no private key in PEM"),
    ('[jwt.a]\nkey = "a"\nclaims = "[]"\n', 7, "jwt.a.claims: must be a table"),
    ('[jwt.a]\nkey = "a"\nclaims.exp = 1\nexpires = "5m"\n', 8, "jwt.a.expires: contradicts claims, which have exp"),
    ('headers.A = "${hmac_sha256:a}"\n', 5, "request[0].headers.A: it needs a key and a text, as in ${hmac_sha256:KEY"),
    ('tiemout = "1s"\n', 5, "request[0].tiemout: is not a known field; did you mean timeout?"),
    ("max_users = 5\n", 5, "request[0].max_users: belongs at the top of the file, before the first [table]"),
    ('duration = "1s"\n', 5, "request[0].duration: belongs in [[phase]]"),
    ('post = "/b"\n', 5, "request[0].post: contradicts get; a step is one request"),
    ('path = "/b"\n', 5, "request[0].path: contradicts get; a step is one request"),
    ('method = "PUT"\n', 5, "request[0].method: belongs with path; get is a method already"),
    ('[[request]]\npath = "/b"\n', 6, 'request[1].path: belongs with a method, as in method = "PURGE"'),
    ('[[request]]\nmethod = "PUT"\n', 6, "request[1].method: says not what to request; it needs get = \"/path\""),
    ('[[request]]\nmethod = "A B"\npath = "/"\n', 6, 'request[1].method: "A B" cannot be a method'),
    ('[[request]]\nname = "x"\n', 5, "request[1]: says not what to request"),
    ('[[request]]\nget = "todos"\n', 6, 'request[1].get: "todos" must begin with "/", or be a whole URL'),
    ('[[request]]\nget = "http://"\n', 6, "request[1].get: "),
    ('[[request]]\nget = "http://u:p@h/"\n', 6, 'request[1].get: "http://u:***@h/" has a user and a password'),
    ('[[request]]\nget = "http://${h}/"\n', 6, 'request[1].get: "http://${h}" cannot be a template'),
    ('[[request]]\nget = "http://h/"\ntarget = "a"\n', 7, "request[1].target: contradicts get, which is a whole URL"),
    ('target = "b"\n', 5, 'request[0].target: no target has the name "b"; none has one'),
    ("get.x = 1\n", 5, "not TOML: "),
    ('send = "x"\n', 4, "request[0].get: does not go with send"),
    ('protocols = "x"\n', 5, "request[0].protocols: belongs with connect"),
    ('[[request]]\nget = "ws://h/"\n', 6, 'request[1].get: "ws://h/" is the URL of a WebSocket, which a'),
    ('[[request]]\nconnect = "http://h/"\n', 6, 'request[1].connect: "http://h/" is not the URL of a WebSocket'),
    ('[[request]]\nconnect = "ws://h/"\ntarget = "a"\n', 7, "request[1].target: contradicts connect, which is a whole"),
    ('[[request]]\nconnect = "/"\nsend = "x"\n', 7, "request[1].send: contradicts connect; a step does one thing"),
    ('[[request]]\nconnect = "/"\nbody = "x"\n', 7, "request[1].body: does not go with connect"),
    ('[[request]]\nconnect = "/"\n', 5, "request[1]: to connect alone is no load after the first time; add a send,"),
    ('[[request]]\nsend = "x"\n', 6, "request[1].send: no earlier step of its flow connects"),
    ('[[request]]\nsend = 3\n', 6, "request[1].send: "),
    ("[[request]]\nsend = {}\n", 6, "request[1].send: needs one of text, json, base64 or file"),
    ('[[request]]\nsend = { file = "none" }\n', 6, "request[1].send.file: cannot read none: No such file or directory"),
    ('[[request]]\nreceive = "it"\n', 6, 'request[1].receive: must be "reply" or "next", not "it"'),
    ("[[request]]\nclose = 999\n", 6, "request[1].close: 999 is not a close code; the usual one is 1000"),
    ('[[request]]\nwait = "1s"\nexpect.status = 101\n', 7, "request[1].expect: does not go with wait"),
    *(
        (f"{line}\n", 5, f'request[0].{field}: variables are not replaced here, so "${{user}}" would be literal')
        for field, line in {
            "expect.json./${user}": 'expect.json = { "/${user}" = 1 }',
            "extract.t.json": 'extract.t.json = "/${user}"',
            "extract.t.jsonpath": "extract.t.jsonpath = '$[\"${user}\"]'",
            "extract.t.regex": 'extract.t.regex = "${user}=(.*)"',
            "extract.t.header": 'extract.t.header = "${user}"',
            "extract.t.cookie": 'extract.t.cookie = "${user}"',
            "extract.t.default": 'extract.t = { json = "", default = "${user}" }',
        }.items()
    ),
    ('expect.contains = ["a", "${x}"]\n', 5, "request[0].expect.contains: unknown variable ${x}; known are iteration,"),
    ('expect.lacks = "${user"\n', 5, "request[0].expect.lacks: ${ without } (write $${ for a literal ${)"),
    (
        'expect.json = { "/b" = { x = [1, "${uuid}"] } }\n', 5,
        "request[0].expect.json: ${uuid} is a new value at each place, so nothing can be equal to it",
    ),
    (
        'expect.json = { "/b" = { "${user}" = 1 } }\n', 5,
        'request[0].expect.json: variables are not replaced in the name "${user}"; for the text ${ write $${',
    ),
    (
        '[[request]]\nconnect = "/"\nprotocols = "${user}"\n', 7,
        "request[1].protocols: variables are not replaced here",
    ),
    ("weight = 0\n", 5, "request[0].weight: must be greater than 0, not 0"),
    ('weight = "3"\n', 5, 'request[0].weight: must be a number, not "3"'),
    ("weight = nan\n", 5, "request[0].weight: must be "),
    ("name = 3\n", 5, "request[0].name: must be text in quotes, not 3"),
    ('timeout = "0s"\n', 5, "request[0].timeout: must be longer than 0"),
    ('timeout = "soon"\n', 5, 'request[0].timeout: "soon" is not a duration; valid are 200ms, 10s, 1m30s, 2h'),
    ('think = "3s..1s"\n', 5, 'request[0].think: "3s..1s" ends before it begins'),
    ('think = { mean = "1s" }\n', 5, 'request[0].think: is not understood; valid are "1s", "1s..3s"'),
    ('headers = { "A B" = "c" }\n', 5, 'request[0].headers.A B: "A B" cannot be the name of a header'),
    ('headers = { A = "b\\r\\nC: d" }\n', 5, 'request[0].headers.A: "b\\r\\nC: d" cannot be the value of a header'),
    ("headers = { A = 3 }\n", 5, "request[0].headers.A: must be text in quotes, not 3"),
    ('body = "a"\njson = {}\n', 6, "request[0].json: contradicts body; a request has one of body, json, form,"),
    ("json = '{a}'\n", 5, 'request[0].json: "{a}" is not JSON: '),
    ("json = { at = 2026-01-01 }\n", 5, "request[0].json: cannot be JSON: "),
    ('body_file = "none"\n', 5, "request[0].body_file: cannot read none: No such file or directory"),
    ('template_file = "bad.json"\n', 5, "request[0].template_file: "),
    ("extract.x = {}\n", 5, "request[0].extract.x: says not from where; it needs one of json, jsonpath, regex, css"),
    ('extract.x = { header = "A", regex = "(" }\n', 5, "request[0].extract.x: not a regular expression: "),
    ('extract.x = { cookie = "A", regex = "b" }\n', 5, "request[0].extract.x.cookie: contradicts regex"),
    ('form = { a = 1 }\n', 5, "request[0].form.a"),
    ('extract.x = { json = "/a", regex = "b" }\n', 5, "request[0].extract.x.regex: contradicts json"),
    ('extract.x = { json = "a" }\n', 5, 'request[0].extract.x.json: "a" is not a JSON pointer; it begins with "/"'),
    ('extract.x = { regex = "(" }\n', 5, "request[0].extract.x.regex: "),
    ('extract."a b" = { regex = "c" }\n', 5, 'request[0].extract.a b: "a b" cannot be the name of a variable'),
    ('expect.status = "6xx"\n', 5, 'request[0].expect.status: "6xx" is not a status; valid are 200, "2xx", "200-204"'),
    ("expect.status = []\n", 5, "request[0].expect.status: is empty"),
    ('expect.status = "204-200"\n', 5, 'request[0].expect.status: "204-200" ends before it begins'),
    ("expect.status = true\n", 5, "request[0].expect.status: true is not a status"),
    ("expect.status = [[200, 201]]\n", 5, "request[0].expect.status: [200, 201] is not a status; valid are 200"),
    ('expect.json = { "/at" = 2026-01-01 }\n', 5, "request[0].expect.json./at: cannot be JSON: Object of"),
    ('expect.max_tme = "1s"\n', 5, "request[0].expect.max_tme: is not a known field; did you mean max_time?"),
    ('expect.json = { "ok" = true }\n', 5, 'request[0].expect.json.ok: "ok" is not a JSON pointer'),
    ("expect.contains = 3\n", 5, "request[0].expect.contains: must be text in quotes, not 3"),
    ('multipart = { a = {} }\n', 5, "request[0].multipart.a: needs text or file, and only one of them"),
    ('multipart = { a = { file = "none" } }\n', 5, "request[0].multipart.a.file: cannot read none: No such file"),
    ('multipart = { a = { text = "b", type = "c\\n" } }\n', 5, 'request[0].multipart.a: "c\\n" cannot be the value'),
    ('multipart = { a = "${x}" }\n', 5, "request[0].multipart: unknown variable ${x}"),
    ('multipart = {}\nheaders.content-type = "a/b"\n', 6, "request[0].headers: contradicts multipart, which has its "),
    ('graphql = "none.gql"\n', 5, "request[0].graphql: cannot read none.gql: No such file or directory"),
    ('graphql = "{ a }"\nvariables = { a = "${x}" }\n', 5, "request[0].graphql: unknown variable ${x}"),
    ('graphql = "{ a }"\nstream = "sse"\n', 6, "request[0].stream: contradicts graphql, whose reply is read"),
    ("variables = {}\n", 5, "request[0].variables: belongs with graphql"),
    ('operation_name = "a"\n', 5, "request[0].operation_name: belongs with graphql"),
    ('expect.absent = "a"\n', 5, 'request[0].expect.absent: "a" is not a JSON pointer'),
    ("auth = {}\n", 5, "request[0].auth: needs one of basic, bearer, api_key, oauth2, aws_sigv4 or digest"),
    ('auth = { bearer = "a", api_key = "b" }\n', 5, "request[0].auth.api_key: contradicts bearer; there is one of"),
    ('auth = { bearer = "a", header = "b" }\n', 5, "request[0].auth.header: belongs with api_key"),
    ('auth = { basic = ["a"] }\n', 5, "request[0].auth.basic: "),
    ('auth.bearer = "${x}"\n', 5, "request[0].auth: unknown variable ${x}"),
    ('auth.bearer = "a"\nheaders.authorization = "b"\n', 5, "request[0].auth: contradicts headers, which have"),
    ('stream = "ws"\n', 5, 'request[0].stream: must be "sse", "lines" or "llm", not "ws"'),
    ('stream = "sse"\nslo.time = "1s"\n', 6, 'request[0].slo: belongs with stream = "llm"'),
    ('stream = "llm"\nslo = {}\n', 6, "request[0].slo: needs at least one of first_token, time_per_token"),
    ('stream = "llm"\nslo.ttft = "1s"\n', 6, "request[0].slo.ttft: is not a known field"),
    ('stream = "sse"\nexpect.contains = "a"\n', 6, "request[0].expect.contains: it reads the body, but the body of a "),
    ('stream = "lines"\nextract.x = { json = "/a" }\n', 6, "request[0].extract.x.json: it reads the body, but the bod"),
    # flows
    ("[[flow]]\n", 5, "flow[0].step: is missing"),
    ("[[flow]]\nstep = []\n", 6, "flow[0].step: must not be empty"),
    ('[[flow]]\n[[flow.step]]\nget = "/"\n[[flow.step]]\nget = "/"\nweight = 2\n', 10, "flow[0].step[1].weight: belon"),
    ('[[flow]]\n[[flow.step]]\nget = "/"\n[[flow.step]]\nget = 5\n', 9, "flow[0].step[1].get: must be text in quotes,"),
    # variables
    ('[[request]]\nget = "/${nix}"\n', 6, "request[1].get: unknown variable ${nix}; did you mean ${unix}?"),
    ('[[flow]]\n[[flow.step]]\nget = "/"\nheaders = { A = "${t}" }\n', 8, "flow[0].step[0].headers.A: unknown variabl"),
    ("json = { a = '${t}' }\n", 5, "request[0].json: unknown variable ${t}"),
    # feeders
    ('[feeder.a]\nfile = "none.csv"\n', 6, "feeder.a.file: cannot read none.csv: No such file or directory"),
    ('[feeder.a]\nfile = "ragged.csv"\n', 6, "feeder.a.file: ragged.csv:3: 1 values, but 2 columns"),
    ("[feeder.a]\norder = 'random'\n", 5, "feeder.a: needs either a file or rows"),
    ("[feeder.a]\nrows = [{ x = 1 }]\nfile = 'ragged.csv'\n", 6, "feeder.a.rows: needs either a file or rows"),
    ("[feeder.a]\nrows = []\n", 6, "feeder.a.rows: there are no rows"),
    ("[feeder.a]\nrows = [{ x = 1 },\n{ y = 2 }]\n", 7, "feeder.a.rows[1]: has y, but the first row x"),
    ("[feeder.a]\nrows = [[1],\n[1, 2]]\ncolumns = ['x']\n", 7, "feeder.a.rows[1]: 2 values, but 1 columns"),
    ("[feeder.a]\nrows = [[1]]\ncolumns = ['x y']\n", 7, 'feeder.a.columns: "x y" is no name of a column'),
    ("[feeder.a]\nrows = [{ x = 1 }]\norder = 'rnd'\n", 7, 'feeder.a.order: must be "sequential" or "random", not "rn'),
    ("[feeder.a]\nrows = [{ x = 1 }]\ndelimiter = ';'\n", 7, "feeder.a.delimiter: is for CSV files"),
    ("[feeder.a]\nfile = 'ragged.csv'\ncolumns = ['x']\n", 7, "feeder.a.columns: is for rows in the plan"),
    # phases
    ("[[phase]]\n", 5, "phase[0]: says not how much; it needs one of rate, users, ramp, stages, steps, staircase"),
    ("[[phase]]\nrate = 5\nusers = 5\n", 7, "phase[0].users: contradicts rate; a phase has one of"),
    ("[[phase]]\nrate = 0\n", 6, "phase[0].rate: is zero: nothing would be sent"),
    ("[[phase]]\nrate = -1\n", 6, "phase[0].rate: -1 is below 0"),
    ("[[phase]]\nrate = nan\n", 6, "phase[0].rate: nan/s is not possible"),
    ('[[phase]]\nrate = "2e9/s"\n', 6, "phase[0].rate: 2000000000/s is not possible: at most 1000000000/s are"),
    ('[[phase]]\nrate = "1e9/s"\nduration = "87600h"\n', 6, "phase[0].rate: "),
    ("[[phase]]\nrate = true\n", 6, "phase[0].rate: true is not a level"),
    ('[[phase]]\nusers = "5/s"\n', 6, 'phase[0].users: "5/s" is a rate, not a number of users'),
    ("[[phase]]\nusers = 1.5\n", 6, "phase[0].users: 1.5 is not a whole number of users above 0"),
    ('[[phase]]\nramp = "1/s..9/s"\n', 5, "phase[0].duration: is missing: ramp needs one"),
    ('[[phase]]\nramp = "1/s-9/s"\nduration = 5\n', 6, 'phase[0].ramp: "1/s-9/s" is not understood; valid is 100/s..9'),
    ('[[phase]]\nramp = "1/s..9"\nduration = 5\n', 6, 'phase[0].ramp: mixes rates ("900/s") and users (900)'),
    ('[[phase]]\nramp = "0/s..0/s"\nduration = 5\n', 6, "phase[0].ramp: is zero all the time"),
    ('[[phase]]\nsteps = "30s:5/s,9/s"\n', 6, "phase[0].steps: 9 needs a time in front"),
    ('[[phase]]\nsteps = ["30s:5/s",\n"30s=9/s"]\n', 7, 'phase[0].steps[1]: "30s=9/s" is not understood'),
    ("[[phase]]\nsteps = []\n", 6, "phase[0].steps: must not be empty"),
    ('[[phase]]\nsteps = "30s:5/s"\nduration = "30s"\n', 7, "phase[0].duration: is too much: steps says itself how lo"),
    ('[[phase]]\nstages = "5/s"\n', 6, "phase[0].stages: is a level to begin at, but no stage"),
    ('[[phase]]\nstaircase = { from = 1, step = 1, each = "1s" }\n', 6, "phase[0].staircase.count: is missing"),
    ('[[phase]]\nstaircase = "from=1,from=2"\n', 6, "phase[0].staircase: from is there twice"),
    ('[[phase]]\nstaircase = "from=1,step"\n', 6, 'phase[0].staircase: "step" is not understood; name=value is expect'),
    (
        '[[phase]]\nstaircase = { from = 1, step = 1, each = "1s", count = 1, reis = 1 }\n', 6,
        "phase[0].staircase.reis: is not a known field; did you mean rise?",
    ),
    (
        '[[phase]]\nstaircase = { from = 1, step = 1, each = "1s", count = 0 }\n', 6,
        "phase[0].staircase.count: must be at least 1, not 0",
    ),
    ('[[phase]]\nstaircase = "from=9/s,step=-5/s,each=1s,count=3"\n', 6, "phase[0].staircase: step must keep the last"),
    ('[[phase]]\nspike = "base=1,peak=9,at=5s,hold=5s"\nduration = "9s"\n', 6, "phase[0].spike: seconds must be at le"),
    ('[[phase]]\nsine = "mean=1/s,amplitude=2/s,period=1s"\n', 6, "phase[0].sine: amplitude must be from 0 to 1"),
    ('[[phase]]\nreplay = "none"\n', 6, "phase[0].replay: cannot read none: No such file or directory"),
    ('[[phase]]\nreplay = "ragged.csv"\n', 6, 'phase[0].replay: ragged.csv:1: "a,b" is not a time'),
    ('[[phase]]\nusers = 5\nspacing = "poisson"\n', 7, "phase[0].spacing: is of the open model"),
    ('[[phase]]\nreplay = "times"\nspacing = "poisson"\n', 7, "phase[0].spacing: contradicts replay"),
    ('[[phase]]\nrate = 5\nspacing = "even"\n', 7, 'phase[0].spacing: must be "uniform" or "poisson", not "even"'),
    ("[[phase]]\nrate = 5\nwarmup = 5\n", 7, "phase[0].warmup: must be true or false, not 5"),
    ('[[phase]]\nrate = 5\nstart = "-5s"\n', 7, 'phase[0].start: "-5s" is not a duration'),
    ("[[phase]]\nrate = 5\nduration = 5\n[[phase]]\nusers = 5\n", 9, "phase[1].users: is of the closed model, rate of"),
    ("[[phase]]\nrate = 5\n[[phase]]\nrate = 5\n", 7, "phase[1]: would never begin: phase[0] has no end; give that a"),
    (
        "[[phase]]\nrate = 5\nduration = 5\n[[phase]]\nrate = 5\nduration = 5\nwarmup = true\n", 11,
        "phase[1].warmup: a warm-up comes first, but phase[0] begins with it or before",
    ),
    (
        "[[phase]]\nrate = 5\nduration = 5\nwarmup = true\n[[phase]]\nrate = 5\nstart = 4\n", 8,
        "phase[0].warmup: a warm-up until 5s overlaps phase[1], which begins at 4s",
    ),
    (
        "[[phase]]\nrate = 5\n[[phase]]\nrate = 5\nstart = 0\nduration = 5\nwarmup = true\n", 11,
        "phase[1].warmup: a warm-up comes first, but phase[0] begins with it or before",
    ),
    (
        "[[phase]]\nrate = 5\nwarmup = true\n[[phase]]\nrate = 5\nstart = 4\n", 7,
        "phase[0].warmup: a warm-up must end; give it a duration",
    ),
    ("[[phase]]\nrate = 5\nduration = 5\nwarmup = true\n", 8, "phase[0].warmup: nothing is measured"),
    ('[[phase]]\nrate = 5\nduration = 5\n[stop]\ntime = "4s"\n', 7, "phase[0].duration: ends at 5s, but stop.time end"),
    (
        '[[phase]]\nrate = 5\nstart = 4\n[stop]\ntime = "4s"\n', 7,
        "phase[0].start: begins at 4s, but stop.time ends the run at 4s",
    ),
    # stop
    ("[stop]\ntime = 0\n", 6, "stop.time: must be longer than 0"),
    ("[stop]\niterations = 0\n", 6, "stop.iterations: must be at least 1, not 0"),
    ("[stop]\nrequests = 1.5\n", 6, "stop.requests: must be a whole number, not 1.5"),
    ("[stop]\nstop_timeout = 5\n", 6, "stop.stop_timeout: belongs at the top of the file, before the first [table]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), WRONG, ids=[message[:50] for _, _, message in WRONG])
def test_a_mistake_is_told_by_line_and_field(
    mistakes: Callable[[str], list[str]], tmp_path: Path, text: str, line: int, message: str
) -> None:
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1\n")
    (tmp_path / "times").write_text("1\n2\n")
    (tmp_path / "bad.json").write_text('{"a": }')
    (found,) = mistakes(REQUEST + text)
    assert found.startswith(f"plan.toml:{line}: {message}")


TOP: list[tuple[str, int, str]] = [
    ("", 1, "says nothing to do; it needs a [[request]], a [[flow]] or a [[phase]]"),
    ('\n[[request]]\nget = "/"\n', 3, 'request[0].get: has no target; write target = "http://127.0.0.1:8000"'),
    ('target = "ftp://h"\n[[request]]\nget = "/"\n', 1, 'target.url: "ftp://h" is not a URL'),
    ('target = "http://h?q"\n[[request]]\nget = "/"\n', 1, 'target.url: "http://h?q" has a query'),
    ('[target]\nurl = "http://h:x"\n[[request]]\nget = "/"\n', 2, "target.url: "),
    ('[target]\nname = "a"\n[[request]]\nget = "/"\n', 1, "target.url: is missing"),
    ('[target]\nurl = "http://h"\nverify = "none.pem"\n[[request]]\nget = "/"\n', 3, "target.verify: cannot read none"),
    ('[target]\nurl = "http://h"\ncert = ["a"]\n[[request]]\nget = "/"\n', 3, "target.cert: must be one file with bot"),
    (
        '[[target]]\nname = "a"\nurl = "http://h"\n[[target]]\nname = "a"\nurl = "http://i"\n[request]\nget = "/"\n', 5,
        'target[1].name: "a" is another target\'s name, too',
    ),
    (
        '[[target]]\nname = "shop"\nurl = "http://h"\n[[request]]\nget = "/"\ntarget = "shp"\n', 6,
        'request.target: no target has the name "shp"; did you mean "shop"?',
    ),
    (
        'choice = "random"\n[[phase]]\nusers = 1\n', 1,
        'choice: "random" is no way to choose; valid are "weighted", "in_turn" and "FEEDER.COLUMN"',
    ),
    ('choice = "a.b"\n[[phase]]\nusers = 1\n', 1, 'choice: names feeder "a", which the plan does not have'),
    (
        'choice = "a.b"\n[feeder.a]\nrows = [{ c = 1 }]\n[[phase]]\nusers = 1\n', 1,
        'choice: names column "b", which feeder "a" does not have',
    ),
    (
        'choice = "a.b"\n[feeder.a]\nrows = [{ b = "x" }]\norder = "random"\n[[phase]]\nusers = 1\n', 4,
        "feeder.a.order: contradicts choice, which needs rows in their order",
    ),
    ('seed = -1\n[[phase]]\nusers = 1\n', 1, "seed: must be at least 0, not -1"),
    ('thresholds = [5]\n[[phase]]\nusers = 1\n', 1, "thresholds[0]: must be text in quotes, not 5"),
    ('max_users = 0\n[[phase]]\nrate = 1\n', 1, "max_users: must be at least 1, not 0"),
    ('max_users = 5\n[[phase]]\nusers = 1\n', 1, "max_users: is of the open model (rates)"),
    ('on_saturation = "wait"\n[[phase]]\nusers = 1\n', 1, "on_saturation: is of the open model (rates)"),
    ('on_saturation = "burn"\n[[phase]]\nrate = 1\n', 1, 'on_saturation: must be "wait" or "drop", not "burn"'),
    ('durations = "5s"\n[[phase]]\nrate = 1\n', 1, "durations: is not a known field; there are name, target"),
    ('rate = 5\n[[phase]]\nrate = 1\n', 1, "rate: belongs in [[phase]]"),
    ("phase = 3\n", 1, "phase: must be a table, not 3"),
    ("[[phase]]\nrate = \n", 2, "not TOML: "),
    ('[[phase]]\nrate = 5\nrate = 6\n', 3, "not TOML: "),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), TOP, ids=[message[:50] for _, _, message in TOP])
def test_a_mistake_at_the_top_is_told_by_line_and_field(
    mistakes: Callable[[str], list[str]], text: str, line: int, message: str
) -> None:
    (found,) = mistakes(text)
    assert found.replace("request[0].target", "request.target").startswith(f"plan.toml:{line}: {message}")


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(mistakes: Callable[[str], list[str]]) -> None:
    text = REQUEST + 'weight = 0\n[[phase]]\nrate = "x"\n[feeder.a]\nfile = "none"\n[[request]]\nname = "b"\n'
    assert [each.split(": ")[0:2] for each in mistakes(text)] == [
        ["plan.toml:5", "request[0].weight"],
        ["plan.toml:7", "phase[0].rate"],
        ["plan.toml:9", "feeder.a.file"],
        ["plan.toml:10", "request[1]"],
    ]


def test_contradictions_are_told_at_once(mistakes: Callable[[str], list[str]]) -> None:
    text = REQUEST + 'target = "x"\n[[phase]]\nusers = 5\n[[phase]]\nrate = 5\n'
    assert [each.split(": ")[1] for each in mistakes(text)] == ["request[0].target", "phase[1]", "phase[1].rate"]


@pytest.mark.parametrize(("count", "rest"), [(10, None), (11, "1 more mistake"), (14, "4 more mistakes")])
def test_ten_mistakes_are_enough(mistakes: Callable[[str], list[str]], count: int, rest: str | None) -> None:
    found = mistakes(TARGET + "[[request]]\nget = 1\n" * count)
    assert len(found) == 10 + (rest is not None)
    assert found[9].startswith("plan.toml:21: request[9].get")
    assert rest is None or found[10] == f"plan.toml: and {rest}"


def test_a_threshold_that_cannot_be_read_is_told_by_its_line(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('target = "http://h"\nthresholds = ["p99 < 1s",\n  "p99 < 3%"]\n[[request]]\nget = "/"\n')
    with pytest.raises(UsageError, match=r":3: thresholds\[1\]: 'p99 < 3%': `p99` is compared with a time"):
        read_plan(str(plan))
