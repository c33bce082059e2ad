"""Receivers that are away, slow or refuse, and what a run says of that."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from tests.outputs.receiver import receiving

from plimsoll.experiment.ports import free_port
from plimsoll.record.events import LoadChanged
from plimsoll.record.manifest import Manifest
from plimsoll.run.coordinator.output_feed import OutputFeed
from plimsoll.run.coordinator.progress import Batch, Progress
from plimsoll.run.result import Result
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command, CountingTarget


def test_a_receiver_that_is_away_costs_its_figures_and_nothing_else(plimsoll: Command, target: CountingTarget) -> None:
    url = f"http://ann:s3cret@127.0.0.1:{free_port()}/"
    done = plimsoll("run", target.url, "-u", "1", "-t", "2", "--out", f"jsonl={url},header=Authorization: s3cret")
    assert done.code == 0, done
    shown = url.replace("s3cret", "***")
    assert f"output jsonl ({shown}) cannot be reached: Connection refused; the run goes on, and tries again" in done.err
    run = plimsoll.stored()
    assert run["total"]["completed"] > 0
    (note,) = run["run"]["notes"]
    assert note.startswith(f"output jsonl ({shown}): ")
    assert note.endswith("messages not delivered: Connection refused")
    assert "s3cret" not in json.dumps(run) + done.out + done.err


def test_with_strict_a_receiver_must_be_there(plimsoll: Command, target: CountingTarget) -> None:
    out = f"jsonl=http://127.0.0.1:{free_port()}/"
    done = plimsoll("run", target.url, "-u", "1", "-t", "2", "--strict", "--out", out)
    assert done.code == 2, done
    assert "cannot be reached: Connection refused; without --strict the run goes on" in done.err
    assert "tries again" not in done.err
    assert target.total == 0


def test_a_receiver_that_does_not_answer_holds_up_nothing(plimsoll: Command, target: CountingTarget) -> None:
    is_over = threading.Event()

    def wait() -> tuple[int, dict[str, str]]:
        is_over.wait()
        return 200, {}

    with receiving() as receiver:
        receiver.answer = wait
        done = plimsoll("run", target.url, "-u", "1", "-t", "2", "--out", f"jsonl={receiver.url}/")
        is_over.set()
    assert done.code == 0, done
    run = plimsoll.stored()
    # It had nothing to do with the pace of the load: a second has as many requests as with no output.
    assert run["total"]["per_second"]["requests"][1] > 0
    (note,) = run["run"]["notes"]
    said = re.fullmatch(r"output jsonl \(.*\) does not end: (\d) messages may be missing, because it is too slow", note)
    # The start, two or three seconds, and the event of the phase or the user that is there.
    assert said is not None, note
    assert 3 <= int(said[1]) <= 6


@pytest.mark.long
def test_a_receiver_that_takes_ten_seconds_gets_nearly_all_and_the_rest_is_counted(
    plimsoll: Command, target: CountingTarget
) -> None:
    def wait() -> tuple[int, dict[str, str]]:
        time.sleep(10)
        return 200, {}

    with receiving() as receiver:
        receiver.answer = wait
        done = plimsoll("run", target.url, "-u", "1", "-t", "25", "--out", f"jsonl={receiver.url}/")
        assert done.code == 0, done
        lines = receiver.body.splitlines()
    (note,) = plimsoll.stored()["run"]["notes"]
    missing = re.search(r"does not end: (\d+) messages may be missing, because it is too slow", note)
    assert missing is not None, note
    # The start, 25 seconds, and sometimes what came late of the last one.
    assert len(lines) + int(missing[1]) in (26, 27)
    # What came during the first ten seconds was sent together.
    assert len(lines) >= 8


def test_a_receiver_that_is_back_gets_everything(plimsoll: Command, target: CountingTarget) -> None:
    left = [(503, {}), (429, {"Retry-After": "1"})]
    with receiving() as receiver:
        receiver.answer = lambda: left.pop(0) if left else (204, {})
        done = plimsoll("run", target.url, "-u", "1", "-t", "4", "--out", f"jsonl={receiver.url}/")
    assert done.code == 0, done
    run = plimsoll.stored()
    assert run["run"]["notes"] == []
    lines = [json.loads(line) for line in receiver.body.splitlines()]
    seconds = [line for line in lines if line["type"] == "second"]
    assert sum(line["total"]["requests"] for line in seconds) == run["total"]["completed"]
    assert [line["type"] for line in (lines[0], lines[-1])] == ["start", "end"]


def test_a_lost_worker_and_a_change_of_the_load_are_events(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        "import os, signal, time\n"
        "from locust import HttpUser, task, constant, runners, events\n"
        "@events.init.add_listener\n"
        "def _(environment, **kwargs):\n"
        "    environment.began = time.monotonic()\n"
        "class Shopper(HttpUser):\n"
        "    wait_time = constant(0.1)\n"
        "    @task\n"
        "    def shop(self):\n"
        "        self.client.get('/')\n"
        "        is_first = self.environment.runner.worker_index == 0\n"
        "        if is_first and time.monotonic() - self.environment.began > 2:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = plimsoll(
        "run", "-H", target.url, "--headless", "-u", "2", "-r", "2", "--processes", "2", "-t", "5",
        "--out", "jsonl=run.jsonl",
    )  # fmt: skip
    lines = [json.loads(line) for line in (plimsoll.directory / "run.jsonl").read_text().splitlines()]
    (lost,) = (line for line in lines if line["type"] == "worker_lost")
    assert lost["text"].startswith("worker 0 ("), done
    seconds = [line for line in lines if line["type"] == "second"]
    assert sum(second["total"]["requests"] for second in seconds) == plimsoll.stored()["total"]["completed"]
    last = seconds[-2]
    assert last["generator"]["workers"] == 1
    assert not last["validity"]["valid"]
    (invalid,) = (line for line in lines if line["type"] == "invalid")
    assert invalid["text"] == f"The run is invalid so far: {'; '.join(invalid['reasons'])}."
    assert lines.index(invalid) >= lines.index(lost)
    assert lines[-1]["verdict"] == "invalid"


def test_each_of_two_events_with_the_same_sentence_is_delivered(tmp_path: Path) -> None:
    feed = OutputFeed(
        [f"jsonl={tmp_path / 'run.jsonl'}"], Manifest, lambda: "run", lambda _: (), has_page=False, is_strict=False
    )
    result = Result(RunView())
    for _ in range(2):
        result.note_event(LoadChanged(second=3, what="9 users"))
    feed.start(1000.0, "kernel")
    feed.second(
        Progress(
            Batch(), result.view, 1000.0, 4.0, 4.0, None, users=9, wanted=9, workers=1, state="running",
            notes=result.notes, events=result.events,
        )
    )  # fmt: skip
    feed.close()
    lines = map(json.loads, (tmp_path / "run.jsonl").read_text().splitlines())
    assert [line["type"] for line in lines] == ["start", "load_changed", "load_changed"]


def test_without_outputs_nothing_of_them_is_imported(plimsoll: Command, target: CountingTarget) -> None:
    code = (
        "import sys\n"
        "from plimsoll.cli import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print([name for name in sys.modules if name.startswith('plimsoll.outputs')], file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", code, "run", target.url, "--headless", "-u", "1", "-t", "1"]
    done = subprocess.run(
        command, cwd=plimsoll.directory, env=plimsoll.environment, capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"
