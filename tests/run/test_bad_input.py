"""What cannot be run is said on one line, or with the user's own; never with a traceback of ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

GOOD = """
from locust import HttpUser, task

class Visitor(HttpUser):
    @task
    def index(self):
        self.client.get("/")
"""


@pytest.mark.parametrize(
    ("text", "arguments", "code", "message"),
    [
        (None, (), 2, "no locustfile.py in"),
        (None, ("-f", "gone.py"), 2, "locustfile not found"),
        ("class X(:\n", (), 2, "locustfile.py:1: SyntaxError: invalid syntax\n    class X(:"),
        ("import not_there\n", (), 2, "locustfile.py:1: ModuleNotFoundError: No module named 'not_there'\n    im"),
        ("x = 1\n", (), 2, "no user class in it"),
        (GOOD, (), 2, "no host: give one with -H"),
        (GOOD, ("-H", "localhost:80"), 2, "host 'localhost:80' of Visitor must begin with http:// or https://"),
        (GOOD, ("-H", "http://h", "Vistor"), 2, "unknown user class: Vistor; the locustfile has Visitor"),
        (GOOD, ("-H", "http://h", "--run-tme", "5"), 2,
         "no such option '--run-tme'. Did you mean '--run-time'?"),
        (GOOD, ("-H", "http://h", "--no-such-option"), 2, "no such option '--no-such-option'. (`plimsoll run --help`"),
        (GOOD, ("127.0.0.1:18100/todos/",), 2, "no such file; for a URL write http://127.0.0.1:18100/todos/"),
        (GOOD, ("shop.example.com",), 2, "no such file; for a URL write http://shop.example.com\n"),
        (GOOD, ("-H", "http://h", "--duration", "5s"), 2, "no such option: --duration; here it is -t 30s"),
        (GOOD, ("plans/gone.json",), 2, "plans/gone.json: no such file\n"),
        ("from locust import User, task\n\n\nclass Idle(User):\n    pass\n", (), 2,
         "locustfile.py:4: class Idle has no task to run; mark one with @task"),
        (GOOD, ("-H", "http://h", "-T", "nowhere"), 2,
         "class Visitor has no task to run after --tags and --exclude-tags (none of its tasks has a tag); mark"),
        (GOOD.replace("@task", "@task\n    @tag('buy')").replace("import ", "import tag, "),
         ("-H", "http://h", "-T", "x"), 2, "to run after --tags and --exclude-tags (its tags are buy); mark"),
        (GOOD + "    wait_time = 2\n", ("-H", "http://h"), 2,
         ": Visitor.wait_time is 2; it must be a function: wait_time = constant(2)"),
        (GOOD, ("-H", "http://h", "-t", "soon"), 2, '"soon" is not a duration'),
        (GOOD, ("-H", "http://h", "-u", "0"), 2, "--users takes a whole number from 1 to 10000000, not 0"),
        (GOOD, ("-H", "http://h", "-u", "9" * 30), 2, "--users takes a whole number from 1 to 10000000, not 999"),
        (GOOD, ("-H", "http://h", "-r", "0"), 2, "--spawn-rate takes a number above 0, not 0"),
        (GOOD, ("-H", "http://h", "-r", "nan"), 2, "--spawn-rate takes a number above 0, not nan"),
        (GOOD, ("-H", "http://h", "--trace-share", "2"), 2, "--trace-share takes a number from 0 to 1, not 2"),
        (GOOD, ("-H", "http://h", "--trace-share", "nan"), 2, "--trace-share takes a number from 0 to 1, not nan"),
        (GOOD, ("-H", "http://h", "--processes", "0"), 2, "--processes 0"),
        (GOOD, ("-H", "http://h", "--nodes", "2"), 2, "--nodes goes with --cluster"),
        (GOOD, ("-H", "http://h", "--cluster"), 2, "--cluster needs --nodes N: how many of its machines get workers"),
        (GOOD, ("--cluster", "http://h/"), 2, "--cluster needs --nodes N: how many of its machines get workers"),
        (GOOD, ("-H", "http://h", "--cluster", "h:1", "--nodes", "2", "--processes", "2"), 2,
         "--processes is for this machine; with --cluster say --workers-per-node N"),
        (GOOD, ("-H", "http://h", "--csv-full-history"), 2, "--csv-full-history needs --csv"),
        (GOOD, ("-H", "http://h", "--csv", "/proc/nowhere/x"), 2, "--csv /proc/nowhere/x: cannot write /proc/nowhere"),
        (GOOD, ("-H", "http://h", "--json-file", "/proc/x"), 2, "cannot write /proc/x.json"),
        (GOOD, ("-H", "http://h", "--logfile", "/proc/x.log"), 2, "cannot write /proc/x.log"),
        (GOOD, ("-H", "http://h", "--store", "/proc/x.db"), 2, "/proc/x.db"),
        (GOOD, ("-H", "http://h", "--config", "gone.conf"), 2, "cannot read gone.conf"),
        (GOOD, (".", "-H", "http://h"), 2, ".: is a folder\n"),
        (GOOD, ("shop.py",), 2, "a locustfile is named with -f: plimsoll run -f shop.py"),
        (None, ("h2c://h/",), 2, '"h2c://h/" is not a URL; valid is http://127.0.0.1:8000/path'),
        (None, ("http://h:port/",), 2, "\"http://h:port\" is not a URL: invalid port number"),
        (None, ("http://h/", "Visitor"), 2, "do not go together"),
        (GOOD + "\nfrom locust import events\nevents.init.add_listener(lambda **_: 1 / 0)\n", ("-H", "http://h"), 2,
         "a listener of the init event failed"),
        (GOOD + "    def __init__(self, *args):\n        raise KeyError('token')\n", ("-H", "http://h"), 2,
         "locustfile.py:9: KeyError: 'token'\n    raise KeyError('token')"),
        ("import os\nos._exit(7)\n", (), 2, "exited with code 7 while it prepared the run"),
    ],
)  # fmt: skip
def test_it_is_said_what_is_wrong(
    plimsoll: Command, text: str | None, arguments: tuple[str, ...], code: int, message: str
) -> None:
    if text is not None:
        plimsoll.write(text)
    done = plimsoll("run", "--headless", "-t", "1", *arguments)
    assert (done.code, message in done.err) == (code, True), done
    assert str(Path("python", "plimsoll", "run")) not in done.err
    assert "plimsoll: " in done.err


def test_too_few_files_are_refused_before_anything_starts(plimsoll: Command) -> None:
    plimsoll.write(GOOD)
    done = plimsoll("run", "--headless", "-H", "http://h", "-u", "9999999", "-t", "1")
    assert done.code == 2, done
    assert "ulimit -n" in done.err
    assert not plimsoll.store.exists()


def test_options_of_a_configuration_file_and_of_the_environment(plimsoll: Command) -> None:
    plimsoll.write(GOOD)
    plimsoll.write("host = nonsense\nweb-port = 8089\nheadless\n", "locust.conf")
    plimsoll.environment["LOCUST_PROCESSES"] = "-7"
    done = plimsoll("run", "-t", "1")
    assert "--processes -7" in done.err
    del plimsoll.environment["LOCUST_PROCESSES"]
    assert "host 'nonsense' of Visitor" in plimsoll("run", "-t", "1").err


def test_what_only_describes_runs_nothing(plimsoll: Command) -> None:
    plimsoll.write(GOOD + "    @task(3)\n    def other(self): pass\n\nclass Admin(Visitor): pass\n")
    assert plimsoll("run", "--list").out.split() == ["Available", "Users:", "Admin", "Visitor"]
    ratio = plimsoll("run", "--show-task-ratio").out
    assert ["50.0", "Admin"] in [line.split() for line in ratio.splitlines()]
    assert ["75.0", "other"] in [line.split() for line in ratio.splitlines()]
    assert not plimsoll.store.exists()


PLAN = """target = "http://127.0.0.1:1"

[[request]]
get = "/"
"""
URL = "http://127.0.0.1:1/"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rate", "0"), "--rate: is zero: nothing would be sent"),
        (("--rate=-1",), '--rate: "-1" is below 0'),
        (("--rate", "nan"), '--rate: "nan" is not understood; valid are 900/s, 54000/m or 3600/h'),
        (("--rate", "1e30"), "--rate: 1e+30/s is not possible: at most 1000000000/s are"),
        (("--rate", "fast"), '--rate: "fast" is not understood; valid are 900/s, 54000/m or 3600/h'),
        (("--rate", "5/s", "--ramp", "1/s..5/s"), "--ramp contradicts --rate; give one of them"),
        (("--rate", "5/s", "-u", "5"), "--users contradicts --rate, which says how much load there is"),
        (("--rate", "5/s", "--reset-stats"), "--reset-stats is for the closed model"),
        (("--rate", "5/s", "--max-users", "0"), "--max-users takes a whole number from 1, not 0"),
        (("--rate", "5/s", "--on-saturation", "panic"), "'panic' is not one of 'wait', 'drop'"),
        (("--rate", "5/s", "--warmup", "soon"), '--warmup: "soon" is not a duration'),
        (("--replay", "gone.txt"), "--replay: cannot read gone.txt: No such file or directory"),
        (("-u", "2", "--on-saturation", "drop"), "--on-saturation is of the open model; it needs --rate"),
        (("--rate", "5/s", "--junit", "/proc/x.xml"), "cannot write /proc/x.xml"),
        (("--rate", "5/s", "--hlog", "/proc/x.hlog"), "cannot write /proc/x.hlog"),
        (("--rate", "5/s", "--log-exchanges", "/proc/x.parquet"), "cannot write /proc/x.parquet"),
        (("-X", "G T"), '--method: "G T" cannot be a method'),
        (("--header", "foo"), '--header: "foo" is not a header; valid is Name: value'),
        (("--body", "@gone"), "--body: cannot read gone: No such file or directory"),
    ],
)  # fmt: skip
def test_a_load_that_makes_no_sense_is_one_line(plimsoll: Command, arguments: tuple[str, ...], message: str) -> None:
    done = plimsoll("run", URL, "--headless", "-t", "1", *arguments)
    assert done.code == 2, done
    assert done.err.startswith(f"plimsoll: {message}") or f"plimsoll: invalid value for '{arguments[-2]}'" in done.err
    assert message in done.err
    assert done.err.count("\n") == 1
    assert not plimsoll.store.exists() or plimsoll("runs").out == "no runs yet\n"


def test_a_locustfile_beside_a_plan_with_requests_is_refused(plimsoll: Command) -> None:
    plimsoll.write(PLAN, "plan.toml")
    done = plimsoll("run", "plan.toml", "-f", "gone.py", "--headless")
    assert done.code == 2, done
    assert done.err.startswith("plimsoll: --locustfile does not go with plan.toml, which has requests of its own")


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("[[phase]]\nrate = '5/s'\nduration = '1s'\n[[phase]]\nusers = 5\nduration = '1s'\n",
         "plan.toml:9: phase[1].users: is of the closed model, rate of phase[0] of the open one"),
        ("[[phase]]\nrate = '5/s'\n[[phase]]\nrate = '5/s'\nduration = '1s'\n",
         "plan.toml:7: phase[1]: would never begin: phase[0] has no end; give that a duration"),
        ("[[request]]\nget = '/x/${uuidd}'\n",
         "plan.toml:6: request[1].get: unknown variable ${uuidd}; did you mean ${uuid}?"),
        ("[phase]\nrate = 0\nduration = '1s'\n", "plan.toml:6: phase.rate: is zero: nothing would be sent"),
        ("[phase]\nrate = '5/s'\nduration = '1s'\n[stop]\nrequests = -1\n", "plan.toml:9: stop.requests: "),
        ("[feeder.a]\nfile = 'gone.csv'\n", "plan.toml:6: feeder.a.file: cannot read gone.csv"),
    ],
)  # fmt: skip
def test_a_plan_that_makes_no_sense_is_told_by_line_and_field(plimsoll: Command, rest: str, message: str) -> None:
    plimsoll.write(PLAN + rest, "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless")
    assert done.code == 2, done
    assert done.err.startswith(f"plimsoll: {message}"), done
    assert "Traceback" not in done.err
    assert not plimsoll.store.exists()


FEEDER = """target = "TARGET"

[feeder.word]
columns = ["text"]
rows = [["a"], ["b"], ["c"]]
at_end = "AT_END"

[[request]]
name = "word"
get = "/${word.text}"

[phase]
rate = "50/s"
duration = "20s"

[stop]
requests = 7
"""


@pytest.mark.parametrize(
    ("at_end", "code", "status", "counts"),
    [
        ("stop", 0, "finished", {"/a": 1, "/b": 1, "/c": 1}),
        ("fail", 2, "failed", {"/a": 1, "/b": 1, "/c": 1}),
        ("recycle", 0, "finished", {"/a": 3, "/b": 2, "/c": 2}),
    ],
)
def test_a_feeder_that_runs_out_does_as_it_is_told(
    plimsoll: Command, target: CountingTarget, at_end: str, code: int, status: str, counts: dict[str, int]
) -> None:
    plimsoll.write(FEEDER.replace("TARGET", target.url).replace("AT_END", at_end), "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless")
    assert done.code == code, done
    assert dict(target.counts) == counts
    run = plimsoll.stored()
    assert (run["run"]["status"], run["total"]["requests"]) == (status, sum(counts.values()))
    if at_end == "fail":
        assert [line for line in done.err.splitlines() if line.startswith("plimsoll: ") and "word" in line]
    said = "the rows of feeder word ran out in second 0, which ended the run"
    assert [note for note in run["run"]["notes"] if "word" in note and at_end == "stop"] == [said] * (at_end == "stop")
    assert "Traceback" not in done.err


def test_a_feeder_that_runs_out_in_the_warm_up_is_named(plimsoll: Command, target: CountingTarget) -> None:
    warmup = FEEDER.replace("[stop]", "[[phase]]").split("[phase]")[0]
    phases = '[[phase]]\nname = "warm-up"\nwarmup = true\nrate = "50/s"\nduration = "20s"\n\n'
    phases += '[[phase]]\nrate = "50/s"\nduration = "20s"\n'
    plimsoll.write(warmup.replace("TARGET", target.url).replace("AT_END", "stop") + phases, "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless")
    said = "the rows of feeder word ran out in second 0, before the end of the warm-up, which ended the run: "
    assert said + "nothing was measured" in done.err, done
    run = plimsoll.stored()["run"]
    assert said + "nothing was measured" in run["notes"]
    assert run["facts"]["feeder_ended"] == {"second": 0, "feeder": "word", "is_measured": False}
