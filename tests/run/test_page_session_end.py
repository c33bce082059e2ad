"""How a page ends, and with it the process."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.command import wait_until
from tests.run.page_session import SHOP_LOCUSTFILE, stored_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import Command, CountingTarget
    from tests.run.page_session import PageSession


def test_a_locustfile_that_starts_and_ends_by_itself(
    start_page: Callable[..., PageSession], target: CountingTarget
) -> None:
    page = start_page("-H", target.url, "-t", "1s", "--autostart", "--autoquit", "0")
    assert page.wait() == 0
    assert target.total > 0


def test_the_exit_code_is_that_of_the_last_run(start_page: Callable[..., PageSession], target: CountingTarget) -> None:
    page = start_page("-H", target.url, "-t", "1s", text=SHOP_LOCUSTFILE.replace("/index", "/fail"))
    page.do("start", page.request())
    assert page.until_over()["exit_code"] == 1
    page.do("start", page.request(classes=["Editor"]))
    assert page.until_over(2)["exit_code"] == 0
    assert page.interrupt() == 0


def test_a_url_is_run_at_once_and_the_process_ends_with_the_run(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget
) -> None:
    page = start_page(f"{target.url}/fail", "-u", "2", "-t", "2s", "--json", text=None)
    assert page.test["status"] in ("preparing", "spawning", "running")
    assert page.wait() == 1, page.err
    assert page.out.startswith("[\n"), "what is for programs is all there is on stdout"
    total = plimsoll.stored()["total"]
    assert total["completed"] + total["unanswered"] == target.total


def test_the_page_of_a_url_stays_when_that_is_asked_for(
    start_page: Callable[..., PageSession], target: CountingTarget
) -> None:
    page = start_page(f"{target.url}/a", "-t", "1s", "--autoquit", "-1", text=None)
    page.until_over()
    assert page.form["is_native"]
    page.do("start", page.request(users=3, run_time="1s"))
    page.until_over(2)
    assert page.interrupt() == 0


def test_ctrl_c_while_it_waits_ends_it(start_page: Callable[..., PageSession], target: CountingTarget) -> None:
    page = start_page("-H", target.url)
    assert page.interrupt() == 0
    assert target.total == 0


def test_ctrl_c_while_a_run_prepares_ends_it(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget
) -> None:
    marker = plimsoll.directory / "begun"
    slow = f"import os, time\nif os.path.exists({str(marker)!r}):\n    open({str(marker)!r}, 'w').write('x')\n"
    text = f"{slow}    time.sleep(3)\n{SHOP_LOCUSTFILE}"
    page = start_page("-H", target.url, text=text)
    request = page.request()
    marker.write_text("")
    page.do("start", request)
    wait_until(marker.read_text)
    assert page.interrupt() == 2
    assert "stopped before it had begun" in page.err
    assert target.total == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_run_ends_it_and_the_page(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget, number: signal.Signals
) -> None:
    page = start_page("-H", target.url, "--autostart", "-s", "5")
    page.until_users(1)
    os.kill(page.process.pid, number)
    assert page.wait() == 0, page.err
    (run,) = stored_runs(plimsoll)
    assert run["run"]["status"] == "stopped"
    assert run["total"]["requests"] == target.total


def test_ctrl_c_after_a_run_ends_it_with_the_code_of_that(
    start_page: Callable[..., PageSession], target: CountingTarget
) -> None:
    page = start_page("-H", target.url, "-t", "1s", "--autostart", text=SHOP_LOCUSTFILE.replace("/index", "/fail"))
    page.until_over()
    assert page.interrupt() == 1


def test_a_page_can_be_stopped_as_soon_as_it_was_started(
    start_page: Callable[..., PageSession], target: CountingTarget
) -> None:
    page = start_page("-H", target.url)
    page.do("start", page.request())
    page.do("stop")
    assert page.until_over()["status"] in ("failed", "stopped")
    page.do("start", page.request(run_time="1s"))
    assert page.until_over(2)["status"] == "finished"
    assert page.interrupt() == 0


def test_an_option_that_nobody_knows_ends_a_waiting_page_before_it_is_served(plimsoll: Command) -> None:
    plimsoll.write("from locust import HttpUser, task\nclass A(HttpUser):\n    @task\n    def t(self): pass\n")
    done = plimsoll("run", "-f", "locustfile.py", "--no-such-option")
    assert done.code == 2
    assert "no such option '--no-such-option'" in done.err
    assert "the page" not in done.err


@pytest.mark.parametrize("waits", [(), ("--headless", "--master", "--master-bind-port", "0")])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--no-such-option",), "no such option '--no-such-option'"),
        (("--size", "large"), "argument --size: invalid int value: 'large'"),
        (("--slave",), "--slave has been renamed to --worker"),
        (("--expect-slaves", "2"), "--expect-slaves has been renamed to --expect-workers"),
        (("--web-auth", "a:b"), "--web-auth has been replaced with --web-login"),
        (("--legacy-ui",), "--legacy-ui is no longer supported"),
        (("--threshold", "p99 is low"), "p99 is low"),
        (("--observe", "nothing:1"), "--observe nothing:1: not known"),
        (("--html", "/proc/nowhere/run.html"), "cannot write /proc/nowhere/run.html"),
        (("--csv", "/proc/nowhere/run"), "--csv /proc/nowhere/run: cannot write"),
        (("--log-exchanges", "/proc/nowhere/run.parquet"), "cannot write /proc/nowhere/run.parquet"),
    ],
)
def test_what_is_wrong_with_an_option_is_told_before_anything_waits(
    plimsoll: Command, waits: tuple[str, ...], words: tuple[str, ...], message: str
) -> None:
    plimsoll.write(
        "from locust import HttpUser, events, task\n"
        "@events.init_command_line_parser.add_listener\n"
        "def own(parser): parser.add_argument('--size', type=int)\n"
        "class A(HttpUser):\n    @task\n    def t(self): pass\n"
    )
    done = plimsoll("run", "-f", "locustfile.py", *waits, *words)
    assert (done.code, message in done.err) == (2, True), done
    assert "the page" not in done.err
    assert "can join" not in done.err
