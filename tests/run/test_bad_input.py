"""What cannot be run is said on one line, or with the user's own; never with a traceback of ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness import Command

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
        (None, (), 1, "no locustfile.py in"),
        (None, ("-f", "gone.py"), 1, "locustfile not found"),
        ("class X(:\n", (), 2, "locustfile.py:1: SyntaxError: invalid syntax\n    class X(:"),
        ("import not_there\n", (), 2, "locustfile.py:1: ModuleNotFoundError: No module named 'not_there'\n    im"),
        ("x = 1\n", (), 1, "no user class in it"),
        (GOOD, (), 2, "no host: give one with -H"),
        (GOOD, ("-H", "localhost:80"), 2, "host 'localhost:80' of Visitor must begin with http:// or https://"),
        (GOOD, ("-H", "http://h", "Vistor"), 1, "unknown user class: Vistor; the locustfile has Visitor"),
        (GOOD, ("-H", "http://h", "--run-tme", "5"), 2,
         "no such option '--run-tme'. (Did you mean one of: '--name', '--run-time'?)"),
        (GOOD, ("-H", "http://h", "-t", "soon"), 2, "'soon' is not a duration"),
        (GOOD, ("-H", "http://h", "-u", "0"), 2, "0 is not in the range x>=1"),
        (GOOD, ("-H", "http://h", "-r", "0"), 2, "0.0 is not in the range"),
        (GOOD, ("-H", "http://h", "--processes", "0"), 2, "--processes 0"),
        (GOOD, ("-H", "http://h", "--master"), 2, "--master is an option of Locust that is not supported yet"),
        (GOOD, ("-H", "http://h", "--csv-full-history"), 2, "--csv-full-history needs --csv"),
        (GOOD, ("-H", "http://h", "--csv", "/proc/nowhere/x"), 2, "--csv /proc/nowhere/x: cannot write there"),
        (GOOD, ("-H", "http://h", "--json-file", "/proc/x"), 2, "cannot write /proc/x.json"),
        (GOOD, ("-H", "http://h", "--logfile", "/proc/x.log"), 2, "cannot write /proc/x.log"),
        (GOOD, ("-H", "http://h", "--store", "/proc/x.db"), 2, "/proc/x.db"),
        (GOOD, ("-H", "http://h", "--config", "gone.conf"), 2, "cannot read gone.conf"),
        (GOOD, ("shop.py",), 2, "a locustfile is named with -f: plimsoll run -f shop.py"),
        (None, ("http://h:port/",), 2, "http://h:port/"),
        (None, ("http://h/", "Visitor"), 2, "do not go together"),
        (GOOD + "\nfrom locust import events\nevents.init.add_listener(lambda **_: 1 / 0)\n", ("-H", "http://h"), 1,
         "a listener of the init event failed"),
        (GOOD + "    def __init__(self, *args):\n        raise KeyError('token')\n", ("-H", "http://h"), 2,
         "locustfile.py:9: KeyError: 'token'\n    raise KeyError('token')"),
        ("import os\nos._exit(7)\n", (), 2, "exited with code 7 while it prepared the run"),
        ("from locust import LoadTestShape\nclass S(LoadTestShape):\n    def tick(self): pass\n" + GOOD,
         ("-H", "http://h"), 2, "S is a LoadTestShape, which is not supported yet"),
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
    done = plimsoll("run", "--headless", "-H", "http://h", "-u", "2000000000", "-t", "1")
    assert done.code == 2, done
    assert "open files" in done.err
    assert not plimsoll.store.exists()


def test_options_of_a_configuration_file_and_of_the_environment(plimsoll: Command) -> None:
    plimsoll.write(GOOD)
    plimsoll.write("host = nonsense\nweb-port = 8089\nheadless\n", "locust.conf")
    plimsoll.environment["LOCUST_PROCESSES"] = "-7"
    done = plimsoll("run", "-t", "1")
    assert "web-port in a configuration file is ignored" in done.err
    assert "--processes -7" in done.err
    del plimsoll.environment["LOCUST_PROCESSES"]
    assert "host 'nonsense' of Visitor" in plimsoll("run", "-t", "1").err


def test_what_only_describes_runs_nothing(plimsoll: Command) -> None:
    plimsoll.write(GOOD + "    @task(3)\n    def other(self): pass\n\nclass Admin(Visitor): pass\n")
    assert plimsoll("run", "--list").out.split() == ["Available", "Users:", "Admin", "Visitor"]
    ratio = plimsoll("run", "--show-task-ratio").out
    assert "* 50.0% Admin" in ratio
    assert "* 75.0% other" in ratio
    assert not plimsoll.store.exists()
