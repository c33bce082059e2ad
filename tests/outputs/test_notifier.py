"""Messages of `plimsoll compare` and `plimsoll report`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.outputs.receiver import receiving

from plimsoll.errors import UsageError
from plimsoll.experiment.ports import free_port
from plimsoll.outputs.notifier import Notifier
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import Command

    from plimsoll.record import Health, Interval

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC


def test_an_unknown_template_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^--notify: template is json, slack, teams or FILE.json, not discord$"):
        Notifier(["http://127.0.0.1/x,template=discord"])


@pytest.fixture
def pair(
    plimsoll: Command, make_interval: Callable[..., Interval], make_health: Callable[..., Health]
) -> tuple[str, str]:
    """The ids of two stored runs; the second one is slower."""
    ids = []
    with Store.open(str(plimsoll.directory / "plimsoll.db")) as store:
        for number, time in enumerate((10.0, 20.0)):
            manifest = Manifest.from_json({
                "started": NOON + 60 * number, "users": 5, "model": "closed", "branch": "main",
            })  # fmt: skip
            writer = store.start_run(manifest)
            for second in range(10):
                writer.commit([make_interval([time] * 60, second=second)], [make_health(second, users=5)])
            writer.finish("finished", NOON + 10, [])
            ids.append(writer.id)
    return ids[0], ids[1]


def test_a_comparison_sends_its_answer(plimsoll: Command, pair: tuple[str, str]) -> None:
    with receiving() as receiver:
        done = plimsoll("compare", *pair, "--notify", f"{receiver.url}/services/T0/B0,template=slack", "-o", "c.md")
        again = plimsoll("compare", *pair, "--notify", f"{receiver.url}/services/T0/B0")
    assert (done.code, again.code) == (0, 0), done
    (_, _, slack), (_, _, plain) = receiver.requests
    message = json.loads(plain)
    assert message["exit_code"] == 0
    assert message["answer"]
    title, *lines = message["text"].splitlines()
    assert lines[: len(message["answer"])] == message["answer"]
    assert json.loads(slack)["text"].splitlines()[0].endswith(f"*{title}*")
    assert "services" not in (plimsoll.directory / "c.md").read_text()


def test_a_run_is_seen_against_those_before_it(plimsoll: Command, pair: tuple[str, str]) -> None:
    with receiving() as receiver:
        done = plimsoll("compare", "--baseline", "main@{last}", pair[1], "--notify", receiver.url)
    assert done.code == 0, done
    message = json.loads(receiver.body)
    assert message["name"] == "this run against main"
    assert message["answer"][0].startswith("`main` → `this run`: p50 10.0 → 20.0 ms, ")


def test_a_comparison_whose_message_is_lost_is_printed_all_the_same(plimsoll: Command, pair: tuple[str, str]) -> None:
    done = plimsoll("compare", *pair, "--notify", f"http://127.0.0.1:{free_port()}/services/whisper")
    assert done.code == 0, done
    assert "1 message not delivered: Connection refused" in done.err
    assert "whisper" not in done.out + done.err
    wrong = plimsoll("compare", *pair, "--notify", "hooks.slack.com/x")
    assert (wrong.code, wrong.out) == (2, "")


def test_a_report_of_one_run_says_which(plimsoll: Command, pair: tuple[str, str]) -> None:
    with receiving() as receiver:
        done = plimsoll("report", pair[0], "--notify", receiver.url)
    assert done.code == 0, done
    assert json.loads(receiver.body)["text"].startswith(f"Run {pair[0]} ")
