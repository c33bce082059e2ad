from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.outputs.receiver import receiving
from tests.outputs.sending import sent, shopper

from plimsoll.outputs.output import OutputEvent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.command import Command, CountingTarget

    from plimsoll.outputs.output import OutputRun, OutputSecond


def _lines(text: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_has_the_figures_of_a_second(
    tmp_path: Path, output_run: OutputRun, make_second: Callable[..., OutputSecond]
) -> None:
    path = tmp_path / "run.jsonl"
    event = OutputEvent("note", 1_800_000_005.0, "Something happened.", {"extra": 1})
    sent(f"jsonl={path}", output_run, make_second(4, reasons=("a worker was lost",)), events=[event])
    second, note = _lines(path.read_text())
    assert (second["type"], second["run"], second["second"]) == ("second", output_run.id, 4)
    assert second["time"] == 1_800_000_005.0
    total, (root, buy) = second["total"], second["endpoints"]
    assert (total["requests"], total["failures"]) == (5, 1)
    assert (buy["method"], buy["name"]) == ("POST", '/buy "now", a=b')
    assert root["outcomes"] == {"http": 1, "success": 3}
    assert root["response_ms"]["p50"] == pytest.approx(2.0, rel=1e-3)
    assert root["response_ms"]["max"] == 40.0
    assert second["generator"]["users"] == 3
    assert second["validity"] == {"valid": False, "reasons": ["a worker was lost"], "remarks": []}
    assert note == {
        "type": "note", "run": output_run.id, "time": 1_800_000_005.0, "text": "Something happened.", "extra": 1,
    }  # fmt: skip


def test_a_file_is_added_to(tmp_path: Path, output_run: OutputRun) -> None:
    path = tmp_path / "run.jsonl"
    for text in ("one", "two"):
        sent(f"jsonl={path}", output_run, events=[OutputEvent("note", 0.0, text)])
    assert [line["text"] for line in _lines(path.read_text())] == ["one", "two"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_lines_go_to_a_server_with_a_header(output_run: OutputRun, make_second: Callable[..., OutputSecond]) -> None:
    with receiving() as receiver:
        text = f"jsonl={receiver.url}/in?x=1,2,header=Authorization: Bearer abc"
        sent(text, output_run, *map(make_second, range(3)))
    assert {path for path, _, _ in receiver.requests} == {"/in?x=1,2"}
    _, headers, _ = receiver.requests[0]
    assert (headers["Authorization"], headers["Content-Type"]) == ("Bearer abc", "application/x-ndjson")
    assert [line["second"] for line in _lines(receiver.body)] == [0, 1, 2]


def test_the_lines_of_a_run_add_up_to_its_record(plimsoll: Command, target: CountingTarget) -> None:
    """Of several workers, with failures, against the target's own count."""
    plimsoll.write(shopper())
    done = plimsoll(
        "run", "-H", target.url, "--headless", "-u", "4", "-r", "4", "--processes", "2", "-t", "3",
        "--threshold", "errors < 1%", "--out", "jsonl=run.jsonl",
    )  # fmt: skip
    assert done.code == 1, done
    start, *between, end = _lines((plimsoll.directory / "run.jsonl").read_text())
    run = plimsoll.stored()
    assert (start["type"], end["type"]) == ("start", "end")
    assert {line["run"] for line in (start, *between, end)} == {run["run"]["id"]}
    seconds = [line for line in between if line["type"] == "second"]
    assert [line["second"] for line in seconds] == sorted({line["second"] for line in seconds})
    for name in ("requests", "failures", "unanswered", "dropped"):
        counted = sum(line["total"][name] for line in seconds)
        assert counted == run["total"]["completed" if name == "requests" else name], name
    ends = {
        (row["method"], row["name"]): (row["requests"], row["outcomes"]) for row in run["endpoints"]
    }  # fmt: skip
    for (method, name), (requests, outcomes) in ends.items():
        rows = [row for line in seconds for row in line["endpoints"] if (row["method"], row["name"]) == (method, name)]
        assert sum(row["requests"] for row in rows) == requests
        for outcome, row in outcomes.items():
            assert sum(each["outcomes"].get(outcome, 0) for each in rows) == row["count"]
    assert sum(line["total"]["requests"] + line["total"]["unanswered"] for line in seconds) == target.total
    assert max(line["generator"]["users"] for line in seconds) == 4
    (broken,) = (line for line in between if line["type"] == "threshold_broken")
    assert broken["threshold"] == "errors < 1%"
    assert (end["verdict"], end["exit_code"], end["requests"]) == ("failed", 1, run["total"]["requests"])
    assert " failed (" in end["text"]


def test_lines_on_stdout_are_alone_there(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", target.url, "-u", "1", "-t", "1", "--out", "jsonl=-")
    assert done.code == 0, done
    assert _lines(done.out)[-1]["type"] == "end"
    assert "requests in" in done.err
