from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.experiment.file.file import read_experiment
from plimsoll.experiment.spec import Compare, Healthy, Hook, Hooks, Scenario, Target, TargetFact
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import Level

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.experiment.spec import Experiment

SCENARIO = '[scenario]\nlocustfile = "locustfile.py"\nrun_time = "20s"\n'
LEVELS = "[levels]\nusers = 5\n"
TARGET = '[target]\nurl = "http://127.0.0.1:{port}"\nstart = ["serve", "{port}"]\n'
VARIANT = '[[variant]]\nname = "a"\n'
SHORTEST = SCENARIO + LEVELS + TARGET + VARIANT

GOOD = """\
name = "todos"
question = "Which step makes it faster?"
shape = "chain"
seed = 7
repeats = 6
budget = "45m"
cool_down = "500ms"

[scenario]
locustfile = "locustfile.py"
classes = ["TodosUser"]
tags = "read"
arguments = ["--customer", "7"]
run_time = "20s"
warmup = "5s"
spawn_rate = 50.0
processes = 2
stop_timeout = "3s"

[levels]
users = [50, 100]

[compare]
against = ["previous", "baseline"]
metrics = ["p50", "p99"]
primary = "p99 of GET /todos/"
smallest = "10%"
errors = "1%"
looks = 2
slo = "p99 < 200ms, errors < 1%"

[target]
url = "http://127.0.0.1:{port}"
start = ["{python}", "-m", "app", "{variant}", "{port}"]
cwd = "../.."
env = { A = "1", B = "2" }
healthy = { path = "/ready", within = "5s" }
data = { rows = "/_rows", size = { command = ["du", "{folder}"] } }
build = "/_variant"
stop_within = "3s"

[hooks]
prepare = ["make", "it"]
seed = [["one"], { command = ["two"], within = "2s" }]
collect.explain = { command = ["psql", "-c", "EXPLAIN"] }
collect.size = ["du"]

[[variant]]
name = "baseline"

[[variant]]
name = "index"
changes = "an index"
git = "v2"
env = { B = "3" }
observe = false
[variant.hooks]
seed = []

[[variant]]
name = "elsewhere"
url = "http://127.0.0.1:8000/api"
"""


@pytest.fixture
def read(tmp_path) -> Callable[[str], Experiment]:
    def do(text: str) -> Experiment:
        (tmp_path / "locustfile.py").write_text("")
        (tmp_path / "plan.toml").write_text('target = "http://127.0.0.1:1"\n[request]\nget = "/"\n')
        file = tmp_path / "experiment.toml"
        file.write_text(text)
        return read_experiment(str(file))

    return do


def test_an_experiment_says_what_is_run(read, tmp_path):
    spec = read(GOOD)
    assert (spec.name, spec.question, spec.shape, spec.seed) == ("todos", "Which step makes it faster?", "chain", 7)
    assert (spec.repeats, spec.budget, spec.cool_down, spec.is_aa) == (6, 2700.0, 0.5, False)
    assert spec.scenarios == (
        Scenario(
            locustfile="locustfile.py", classes=("TodosUser",), tags=("read",), arguments=("--customer", "7"),
            run_time=20.0, warmup=5.0, spawn_rate=50.0, processes=2, stop_timeout=3.0,
        ),
    )  # fmt: skip
    assert spec.levels == (Level("users", 50.0), Level("users", 100.0))
    p50, p99 = Metric("quantile", 0.5, delta=0.1), Metric("quantile", 0.99, delta=0.1)
    primary = Metric("quantile", 0.99, "GET /todos/", 0.1)
    assert spec.compare == Compare(
        ("previous", "baseline"), (p50, p99), (primary,), 0.1, 0.01, "p99 < 200ms, errors < 1%", 2
    )
    assert spec.folder == tmp_path and spec.path("x/y") == tmp_path / "x" / "y"


def test_what_variants_share_and_what_is_their_own(read):
    baseline, index, elsewhere = read(GOOD).variants
    assert baseline.target == Target(
        url="http://127.0.0.1:{port}", start=("{python}", "-m", "app", "{variant}", "{port}"), cwd="../..",
        env={"A": "1", "B": "2"}, healthy=Healthy("/ready", None, 5.0),
        data=(TargetFact("rows", "/_rows"), TargetFact("size", None, ("du", "{folder}"))),
        build=TargetFact("build", "/_variant"),
        stop_within=3.0,
    )  # fmt: skip
    assert baseline.hooks == Hooks(
        prepare=(Hook("prepare", ("make", "it")),),
        seed=(Hook("seed 1", ("one",)), Hook("seed 2", ("two",), 2.0)),
        collect=(Hook("explain", ("psql", "-c", "EXPLAIN")), Hook("size", ("du",))),
    )
    assert (index.changes, index.target.git, index.target.env, index.target.observe) == (
        "an index", "v2", {"A": "1", "B": "3"}, False,
    )  # fmt: skip
    assert index.hooks.seed == () and index.hooks.collect == baseline.hooks.collect
    assert elsewhere.target.url == "http://127.0.0.1:8000/api" and not elsewhere.target.is_started


def test_an_experiment_has_a_short_and_a_full_form(read, tmp_path):
    full = """
[full]
repeats = 3
budget = "20h"
scenario = { run_time = "15m", warmup = "2m" }
levels = { rates = ["10/s", "20/s"] }
"""
    short = read(f"repeats = 2\n{SHORTEST}{full}")
    assert (short.repeats, short.budget, short.is_full) == (2, None, False)
    assert short.levels == (Level("users", 5),)
    whole = read_experiment(str(tmp_path / "experiment.toml"), full=True)
    assert (whole.repeats, whole.budget, whole.is_full) == (3, 72_000.0, True)
    assert whole.levels == (Level("/s", 10.0), Level("/s", 20.0))
    (scenario,) = whole.scenarios
    assert (scenario.locustfile, scenario.run_time, scenario.warmup) == ("locustfile.py", 900.0, 120.0)
    assert whole.variants == short.variants


def test_without_a_full_form_there_is_none(read, tmp_path):
    read(SHORTEST)
    with pytest.raises(UsageError, match=r"--full needs a table \[full\]"):
        read_experiment(str(tmp_path), full=True)


def test_what_is_observed_besides_is_one_text_or_several(read):
    def observed(value):
        return read(SHORTEST.replace("[target]\n", f"[target]\nobserve = {value}\n")).variants[0].target.observe

    assert [observed(each) for each in ("true", "false")] == [True, False]
    assert observed('"http://127.0.0.1:{port}/metrics"') == ("http://127.0.0.1:{port}/metrics",)
    assert observed('["name:nginx", "otlp:{port2}"]') == ("name:nginx", "otlp:{port2}")


def test_the_shortest_experiment(read, tmp_path):
    spec = read(SHORTEST)
    assert (spec.name, spec.repeats, spec.shape, spec.question) == (tmp_path.name, 5, "auto", "")
    assert spec.compare == Compare()
    assert [each.name for each in spec.variants] == ["a"]


def test_a_folder_means_the_file_in_it(read, tmp_path):
    assert read(SHORTEST) == read_experiment(str(tmp_path))


def test_operations_say_what_they_do_not_share(read):
    text = """
[scenario]
locustfile = "locustfile.py"
run_time = "20s"
warmup = "2s"
[[operation]]
name = "upload"
tags = ["upload"]
[[operation]]
name = "read"
url = "/keys"
run_time = "5s"
"""
    assert read(text + LEVELS + TARGET + VARIANT).scenarios == (
        Scenario("upload", locustfile="locustfile.py", tags=("upload",), run_time=20.0, warmup=2.0),
        Scenario("read", url="/keys", run_time=5.0, warmup=2.0),
    )


def test_a_plan_needs_no_target_as_each_variant_has_one(read, tmp_path):
    (tmp_path / "bare.toml").write_text('[[request]]\nget = "/"\n')
    assert read('[scenario]\nplan = "bare.toml"\nrun_time = "1s"\n' + LEVELS + TARGET + VARIANT).scenarios


def test_a_plan_may_say_how_long_and_how_much(read, tmp_path):
    (tmp_path / "phased.toml").write_text(
        'target = "http://127.0.0.1:1"\n[request]\nget = "/"\n'
        '[[phase]]\nrate = 5\nduration = "3s"\nwarmup = true\n[[phase]]\nrate = 9\nduration = "10s"\n'
    )
    spec = read('[scenario]\nplan = "phased.toml"\n' + TARGET + VARIANT)
    assert spec.levels == (None,) and spec.scenarios[0].run_time == 10.0


def test_an_image_has_a_command_of_its_own(read):
    text = TARGET + VARIANT + '[[variant]]\nname = "b"\nimage = "todos:2"\ncontainer_port = 8000\n'
    ours, contained = (each.target for each in read(SCENARIO + LEVELS + text).variants)
    assert ours.start and ours.image is None
    assert (contained.start, contained.image, contained.container_port) == ((), "todos:2", 8000)
    assert contained.is_started


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("users = [1, 2, 40]", [1, 2, 40]),
        ('rates = ["300/s", 600, "60000/m"]', [300, 600, 1000]),
        ("ladder = { from = 48, to = 578, factor = 1.5 }", [48, 72, 108, 162, 243, 364, 578]),
        ("ladder = { from = 10, to = 50, step = 10 }", [10, 20, 30, 40, 50]),
        ("ladder = { from = 10, to = 54, step = 10 }", [10, 20, 30, 40, 54]),
        ("ladder = { from = 10, to = 56, step = 10 }", [10, 20, 30, 40, 50, 56]),
        ("ladder = { from = 1, to = 3, factor = 1.1 }", [1, 2, 3]),
        ("ladder = { from = 1, to = 64, factor = 2 }", [1, 2, 4, 8, 16, 32, 64]),
        ('ladder = { from = "100/s", to = "400/s", factor = 2 }', [100, 200, 400]),
        ('ladder = { from = 100, to = 250, step = 50.5, unit = "/s" }', [100, 150.5, 201, 250]),
        ("ladder = { from = 10, to = 11, factor = 3 }", [10, 11]),
    ],
)
def test_levels(read, text, levels):
    found = read(f"{SCENARIO}[levels]\n{text}\n{TARGET}{VARIANT}").levels
    assert [each.value for each in found] == levels
    assert {each.unit for each in found} == {"/s" if "/s" in text else "users"}


@pytest.mark.parametrize(
    ("where", "line", "said"),
    [
        ("top", 'nam = "x"', "1: nam: is not a known field; did you mean name?"),
        ("top", 'run_time = "3s"', "1: run_time: belongs in [scenario]"),
        ("top", 'search = { slo = "p99 < 1s" }', "1: search: is not a known field; there are name, question,"),
        ("top", 'name = "a/b"', "1: name: must have no / in it"),
        ("top", "repeats = 0", "1: repeats: must be at least 1, not 0"),
        ("top", 'budget = "long"', '1: budget: "long" is not a duration'),
        ("top", 'shape = "round"', '1: shape: must be "auto", "ladder", "operations", "chain" or "rates", not "round"'),
        ("scenario", "repeats = 3", "4: scenario.repeats: belongs at the top of the file, before the first [table]"),
        ("scenario", 'plan = "plan.toml"', "4: scenario.plan: contradicts locustfile; a scenario has one of"),
        ("scenario", 'arguments = ["--customer", "-u", "5"]', "4: scenario.arguments[1]: -u is said with [levels]"),
        ("scenario", 'arguments = ["--seed=5"]', "4: scenario.arguments[0]: --seed is said with seed"),
        ("scenario", 'arguments = ["--summary"]', "--summary cannot be given to the runs of an experiment"),
        ("scenario", "processes = 0", "4: scenario.processes: must be at least 1, or -1 for one per core, not 0"),
        ("target", 'cwd = "{sorce}"', "9: target.cwd: {sorce} is not a known placeholder; did you mean {source}?"),
        ("target", 'healthy = "ready"', '9: target.healthy.path: "ready" is not a path of the target'),
        ("target", 'healthy = { path = "/", command = ["x"] }', "target.healthy.command: contradicts path"),
        ("target", "data.rows = { }", "9: target.data.rows: needs either a path or a command"),
        ("target", 'data.rows = { pth = "/x" }', "target.data.rows.pth: is not a known field; did you mean path?"),
        ("target", 'image = "x"', "container_port: is missing: where the target listens in its container"),
        ("target", "container_port = 80", "9: target.container_port: is for an image, and there is none"),
        ("target", 'env = { A = "{prot}" }', "{prot} is not a known placeholder; did you mean {port}?"),
        ("variant", 'url = "127.0.0.1:80"', '11: variant[0].url: "127.0.0.1:80" is not a URL'),
        ("variant", '[[variant]]\nname = "a"', '12: variant[1].name: "a" is another variant\'s name, too'),
        ("variant", '[hooks]\nsed = ["x"]', "12: hooks.sed: is not a known field; did you mean seed?"),
        ("variant", '[hooks]\nseed = "make it"', '12: hooks.seed: must be a list of words: ["make", "it"]'),
        ("variant", '[hooks]\nseed = { command = ["x"], witin = 3 }', "12: hooks.seed.witin: is not a known field"),
        ("variant", '[hooks]\nseed = [["x"], { within = "3s" }]', "12: hooks.seed[1].command: is missing"),
        ("variant", '[hooks.collect]\nplan = { command = [] }', "12: hooks.collect.plan.command: must be a list"),
        ("variant", '[compare]\nslo = 200', "12: compare.slo: must be text in quotes, not 200"),
        ("variant", '[compare]\nslo = "rps > 5/s"', "12: compare.slo: slo: rps > 5/s: an objective"),
        ("variant", '[compare]\nsmallest = 0', "12: compare.smallest: must be above 0"),
        ("variant", '[compare]\nsmallest = "500%"', '12: compare.smallest: "500%" is not below 100 %'),
        ("variant", '[compare]\nprimary = ["p50", "q99"]', "12: compare.primary[1]: 'q99' is no metric: p50, p99"),
        ("variant", '[compare]\nmetrics = ["p50", "p50"]', "12: compare.metrics[1]: is there twice"),
        ("variant", '[compare]\nagainst = "last"', '12: compare.against: must be "baseline" or "previous", not "last"'),
        ("variant", '[[operation]]\nurl = "/x"', "11: operation[0].name: is missing"),
        ("variant", "[full]\nrepeats = 0", "12: full.repeats: must be at least 1, not 0"),
        ("variant", "[full]\nname = 'x'", "12: full.name: "),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_line_and_field(read, where, line, said):
    at = {"top": 0, "scenario": 3, "levels": 5, "target": 8, "variant": 10}[where]
    lines = SHORTEST.splitlines()
    lines[at:at] = [line]
    with pytest.raises(UsageError) as error:
        read("\n".join(lines) + "\n")
    assert said in str(error.value), str(error.value)
    assert "experiment.toml:" in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("users = [50, 30]", "5: levels.users[1]: 30 users comes after 50 users; levels go up"),
        ("users = [5, 10, 5]", "5: levels.users[2]: 5 users is there twice; for more runs of a level say repeats"),
        ("users = []", "5: levels.users: must not be empty"),
        ("users = [0]", "5: levels.users[0]: is zero: nothing would be sent"),
        ("users = [1.5]", "5: levels.users[0]: 1.5 is not a whole number of users"),
        ('users = ["5/s"]', '5: levels.users[0]: "5/s" is a rate, not a number of users'),
        ("users = 5\nrates = 5", "6: levels.rates: contradicts users; there is one of users, rates and ladder"),
        ("", "4: levels: needs users, rates or a ladder"),
        ("ladder = { from = 5, to = 5, step = 1 }", "5: levels.ladder.to: 5 users is not above 5 users"),
        ("ladder = { from = 5, to = 9 }", "5: levels.ladder: needs either a factor or a step"),
        ("ladder = { from = 5, to = 9, step = 0 }", "5: levels.ladder.step: is zero"),
        ("ladder = { from = 5, to = 9, factor = 1 }", "5: levels.ladder.factor: must be greater than 1"),
        ('ladder = { from = 5, to = "9/s", step = 1 }', '5: levels.ladder.to: "9/s" are /s, but from is in users'),
        ("ladder = { from = 1, to = 99999, step = 1 }", "5: levels.ladder: has 1001 rungs; at most 1000 are possible"),
        ('search = { slo = "p99 < 1s" }', "5: levels.search: is not a known field; there are users, rates and ladder"),
    ],
)
def test_levels_that_make_no_sense(read, text, said):
    with pytest.raises(UsageError) as error:
        read(f"{SCENARIO}[levels]\n{text}\n{TARGET}{VARIANT}")
    assert said in str(error.value), str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LEVELS + TARGET + VARIANT, "scenario: says not what to run; it needs a locustfile, a plan or a url"),
        (SHORTEST.replace('run_time = "20s"\n', ""), "scenario.run_time: is missing; say how long a run is"),
        (SCENARIO + TARGET + VARIANT, "levels: is missing; say how much load"),
        (SCENARIO + LEVELS + VARIANT, "variant[0].url: is missing"),
        (SCENARIO + LEVELS + TARGET, "variant: is missing"),
        (SHORTEST.replace('start = ["serve", "{port}"]\n', ""), "target.url: nothing is started that could listen"),
        (SHORTEST.replace("locustfile.py", "other.py"), "scenario.locustfile: cannot read"),
        (SHORTEST.replace('locustfile = "locustfile.py"', 'plan = "bad.toml"'), "scenario.plan: "),
        ("x = [", "not TOML"),
    ],
)
def test_what_only_the_whole_file_tells(read, tmp_path, text, said):
    (tmp_path / "bad.toml").write_text("nothing = 1\n")
    with pytest.raises(UsageError) as error:
        read(text)
    assert said in str(error.value), str(error.value)
    assert "experiment.toml:" in str(error.value)


def test_all_mistakes_are_told_at_once(read):
    with pytest.raises(UsageError) as error:
        read(SHORTEST.replace("users = 5", "users = [5, 4]").replace('"20s"', '"x"').replace('"serve"', "5"))
    assert [line.split(":")[1] for line in str(error.value).splitlines()] == ["3", "5", "8"]


def test_a_file_that_is_not_there():
    with pytest.raises(UsageError, match=r"cannot read nowhere.toml: No such file"):
        read_experiment("nowhere.toml")
