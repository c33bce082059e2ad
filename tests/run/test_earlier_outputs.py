"""Files of an earlier run: a run that is refused leaves them as they are, and makes none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plimsoll.run.options.table import output_options

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

VISITOR = """
from locust import HttpUser, constant, events, task

class Visitor(HttpUser):
    wait_time = constant(0.1)

    @task
    def index(self):
        self.client.get("/")
"""
AT_START = """
@events.test_start.add_listener
def start(**_):
    raise SystemExit(3)
"""

OUTPUTS = {
    "--csv": "run", "--html": "run.html", "--json-file": "run.json", "--junit": "junit.xml", "--hlog": "run.hlog",
    "--log-exchanges": "run.parquet", "--summary": "summary.json", "--logfile": "run.log",
}  # fmt: skip
FILES = (
    *(f"run_{table}.csv" for table in ("stats", "stats_history", "failures", "exceptions", "validity")),
    *(name for option, name in OUTPUTS.items() if option != "--csv"),
)
WORDS = [word for each in OUTPUTS.items() for word in each]

REFUSED = {
    "option": (VISITOR, ("--nonsense",)),
    "class": (VISITOR, ("Shopper",)),
    "value": (VISITOR, ("-u", "none")),
    "dropped": (VISITOR, ("--slave",)),
    "threshold": (VISITOR, ("--threshold", "p99 is low")),
    "syntax": (f"{VISITOR}\n    def", ()),
    "import": (f"import nothing_of_this_name\n{VISITOR}", ()),
    "init": (f"{VISITOR}\n@events.init.add_listener\ndef init(**_):\n    raise ValueError\n", ()),
    "test_start": (VISITOR + AT_START, ()),
    "no-task": (VISITOR.replace("@task", ""), ()),
    "host": (VISITOR, ("-H", "nowhere")),
    "observe": (VISITOR, ("--observe", "nothing:1")),
    "store": (VISITOR, ("--store", "/proc/nowhere/runs.db")),
    "other-output": (VISITOR, ("--html", "/proc/nowhere/run.html")),
}


def test_every_option_for_a_file_is_tried() -> None:
    named = {each.flag for each in output_options() if each.metavar in ("FILE", "PREFIX")}
    assert named == OUTPUTS.keys()


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_that_is_refused_touches_no_file(plimsoll: Command, target: CountingTarget, name: str) -> None:
    text, words = REFUSED[name]
    plimsoll.write(text)
    earlier = dict.fromkeys(FILES[::2], "earlier")
    for file, content in earlier.items():
        plimsoll.write(content, file)
    done = plimsoll("run", "--headless", "-t", "1s", "-H", target.url, *WORDS, *words)
    assert (done.code != 0, target.total) == (True, 0), done
    left = {each: (plimsoll.directory / each).read_text() for each in FILES if (plimsoll.directory / each).exists()}
    # The log is added to, also by what says why the run is refused.
    assert {each: text for each, text in left.items() if each != "run.log"} == earlier
    assert [each for each in plimsoll.directory.iterdir() if each.suffix == ".new"] == []


def test_a_run_replaces_them(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(VISITOR)
    for each in FILES:
        plimsoll.write("earlier\n", each)
    done = plimsoll("run", "--headless", "-t", "1s", "-H", target.url, *WORDS)
    assert done.code == 0, done
    kept = [each for each in FILES if (plimsoll.directory / each).read_bytes().startswith(b"earlier")]
    assert kept == ["run.log"]
    assert Path(plimsoll.directory, "run.log").read_text().count("Shutting down") == 1
