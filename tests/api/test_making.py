"""`plimsoll.run(…)` makes the run of the command, in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.command import TIMEOUT_S

import plimsoll
from plimsoll import api
from plimsoll.errors import RunError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import CountingTarget


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLIMSOLL_STORE", raising=False)
    return tmp_path


def test_a_run_comes_back_with_what_the_target_counted(target: CountingTarget, folder: Path) -> None:
    run = plimsoll.run(f"{target.url}/fail", users=2, requests=20, threshold="errors < 1%", header=["X-A: b", "X-C: d"])
    assert run.total.requests == run.total.failures == target.total == 20
    assert [(result.text, result.passed) for result in run.thresholds] == [("errors < 1%", False)]
    assert run.status == "finished"
    assert plimsoll.open("plimsoll.db").run().id == run.id
    assert {path.stem for path in folder.iterdir()} == {"plimsoll"}, "what it prints is in a folder that is gone"
    assert "--summary" not in run.manifest.command


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"userz": 2}, r"run\(\) has no option 'userz'; did you mean users\?"),
        ({"worker": True}, r"run\(\) has no option 'worker'"),
        ({"headless": True}, r"run\(\) has no option 'headless': it makes one run, without a page, and waits"),
        ({"web_port": 80}, r"run\(\) has no option 'web_port'"),
        ({"run_time": "soon"}, 'run_time: "soon" is not a duration'),
    ],
)
def test_an_option_that_is_none_is_refused_before_anything_starts(options: dict[str, int | str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plimsoll.run("http://127.0.0.1:1/", **options)  # type: ignore[arg-type]


def test_what_the_command_refuses_is_its_message(folder: Path) -> None:
    with pytest.raises(RunError, match=r"^cannot read nowhere\.toml: No such file or directory$"):
        plimsoll.run("nowhere.toml", run_time=1, store=folder / "other.db")


def test_the_names_are_those_of_the_interface() -> None:
    assert api.__all__ == [
        "VERSION", "FindingText", "Run", "RunComparison", "RunStore", "SecondRow", "Table", "open", "run",
    ]  # fmt: skip
    assert plimsoll.open is api.open
    assert {"open", "run"} <= set(dir(plimsoll)) and not {"open", "run"} & set(plimsoll.__all__)


def test_the_package_run_stays_a_package_and_is_callable_and_nothing_imports_gevent() -> None:
    code = """if True:
        import sys
        import plimsoll
        import plimsoll.run.plan
        try:
            plimsoll.open("no.db")
        except plimsoll.errors.RefError:
            pass
        assert plimsoll.run.plan.RunPlan
        try:
            plimsoll.run("http://127.0.0.1:1/", worker=True)
        except plimsoll.errors.UsageError:
            print(sorted({'gevent', 'greenlet', 'requests'} & sys.modules.keys()))
    """
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


@pytest.mark.long
def test_an_interrupt_ends_the_run_and_what_it_measured_is_kept(target: CountingTarget, folder: Path) -> None:
    code = f"""if True:
        import plimsoll
        try:
            plimsoll.run({target.url!r}, users=1)
        except KeyboardInterrupt:
            print("interrupted")
    """
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with program:
        limit = time.monotonic() + TIMEOUT_S
        while not target.total and time.monotonic() < limit:
            time.sleep(0.01)
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=TIMEOUT_S)[0] == "interrupted\n"
    run = plimsoll.open().run()
    assert run.status == "stopped"
    assert run.total.requests + run.total.unanswered == target.total > 0
