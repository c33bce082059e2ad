"""Workers on hosts that a real `ssh` reaches: a real sshd of this machine stands for all of them."""

from __future__ import annotations

import re
import signal
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
import requests
from tests.command import wait_until
from tests.run.joined import VISITOR
from tests.run.page_session import PageSession
from tests.run.placers.ssh_server import SSHD, SshServer

from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command, CommandResult, CountingTarget

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not Path(SSHD).exists(), reason="needs openssh-server: make test-long installs it"),
]


@pytest.fixture
def server(plimsoll: Command) -> Iterator[SshServer]:
    server = SshServer(plimsoll.directory / "ssh", ("vm-a", "vm-b"))
    plimsoll.environment["PATH"] = server.path
    plimsoll.write(f"vm-a cpus=2 python={sys.executable}\nvm-b cpus=1 python={sys.executable}\n", "hosts.txt")
    yield server
    server.close()


def start(plimsoll: Command, *arguments: str, on: str = "ssh:hosts.txt"):
    return plimsoll.start("run", "--headless", "--on", on, *arguments)


def run(plimsoll: Command, *arguments: str, on: str = "ssh:hosts.txt") -> CommandResult:
    return plimsoll.end(start(plimsoll, *arguments, on=on))


def workers(server: SshServer) -> list[psutil.Process]:
    """Processes that join, of this server's hosts."""
    return [process for process in psutil.process_iter() if _is_worker(process, str(server.folder / "home"))]


def _is_worker(process: psutil.Process, home: str) -> bool:
    try:
        return "--worker" in process.cmdline() and process.environ().get("HOME") == home
    except psutil.Error:
        return False


def test_workers_of_two_hosts_send_what_the_target_counts_and_end_with_the_run(
    plimsoll: Command, target: CountingTarget, server: SshServer
) -> None:
    plimsoll.environment["SHOP_TOKEN"] = "s3cret-of-the-shop"
    plimsoll.write("import os\nprint('the token has', len(os.environ['SHOP_TOKEN']))\n" + VISITOR)
    done = run(
        plimsoll, "-f", "locustfile.py", "-H", target.url, "-u", "6", "-t", "2s", "-s", "10s", "--env", "SHOP_TOKEN"
    )
    assert done.code == 0, done
    assert plimsoll.stored()["generator"]["workers"] == 3
    assert plimsoll.stored()["total"]["requests"] == target.total > 0
    assert "vm-a: the token has 18" in done.err and "vm-b: the token has 18" in done.err, done
    assert "joined the master at" not in done.err and "the master has ended" not in done.err
    assert workers(server) == []


def test_the_token_is_in_no_list_of_processes_and_ctrl_c_ends_all_workers(
    plimsoll: Command, target: CountingTarget, server: SshServer
) -> None:
    plimsoll.environment["PLIMSOLL_JOIN_TOKEN"] = token = "a token of this test alone"
    master = start(plimsoll, target.url, "--rate", "50/s", "-t", "60s")
    wait_until(lambda: target.total > 50)
    words = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    assert not [line for line in words if token in line]
    assert len(workers(server)) == 2
    master.send_signal(signal.SIGINT)
    done = plimsoll.end(master)
    assert plimsoll.stored()["total"]["requests"] == target.total, done
    assert workers(server) == []


@pytest.mark.exhaustive
def test_workers_of_a_command_that_is_killed_end_by_themselves(
    plimsoll: Command, target: CountingTarget, server: SshServer
) -> None:
    master = start(plimsoll, target.url, "--rate", "50/s", "-t", "60s", on="ssh:hosts.txt")
    wait_until(lambda: target.total > 50)
    master.kill()
    left = workers(server)
    assert len(left) == 2
    _, alive = psutil.wait_procs(left, timeout=90)
    assert alive == []


def test_a_host_whose_workers_are_killed_gets_new_ones_which_take_their_places(
    plimsoll: Command, target: CountingTarget, server: SshServer
) -> None:
    master = start(plimsoll, target.url, "--rate", "60/s", "-t", "30s", "--exit-code-on-invalid", "3")
    wait_until(lambda: target.total > 60)
    victim = next(process for process in workers(server) if "1" in process.cmdline())
    for process in [*victim.children(recursive=True), victim]:
        process.kill()
    done = plimsoll.end(master)
    assert done.code == 3, done
    assert "vm-b: its workers have ended with exit code 137" in done.err, done
    assert "vm-b: its workers are started again" in done.err
    assert re.search(r"worker \d \(on .*\) takes the place of the lost one", done.err), done
    assert 0.5 * 30 * 60 < plimsoll.stored()["total"]["requests"] <= target.total
    assert workers(server) == []


def test_workers_whose_ssh_ends_go_on_and_end_with_the_run(
    plimsoll: Command, target: CountingTarget, server: SshServer
) -> None:
    master = start(plimsoll, target.url, "--rate", "60/s", "-t", "15s")
    wait_until(lambda: target.total > 60)
    for process in psutil.Process(master.pid).children():
        if "vm-b" in process.cmdline():
            process.kill()
    done = plimsoll.end(master)
    assert done.code == 0, done
    assert "vm-b: ssh has ended (exit status -9); its workers go on as long as they reach this machine" in done.err
    assert plimsoll.stored()["total"]["requests"] == target.total == 900
    wait_until(lambda: workers(server) == [])


def test_the_page_starts_one_run_after_another_on_the_same_hosts(
    plimsoll: Command, target: CountingTarget, server: SshServer
) -> None:
    plimsoll.write(VISITOR)
    page = PageSession(plimsoll, "--on", "ssh:hosts.txt", "-H", target.url, "-s", "10s", "--web-token", "of the page")
    form = {"user_count": 3, "spawn_rate": 3, "run_time": "1s"}
    assert requests.post(f"{page.url}/swarm", data=form, timeout=30).status_code == 401
    counts = []
    for number in (1, 2):
        assert requests.post(f"{page.url}/swarm", data=form, headers={"Authorization": "Bearer of the page"}).ok
        wait_until(lambda number=number: page.err.count("Shutting down") == number)
        counts.append(plimsoll.stored()["total"]["requests"])
    assert sum(counts) == target.total > 0
    assert len(workers(server)) == 2
    assert page.interrupt() == 0, page.err
    assert workers(server) == []


EXPERIMENT = """
name = "apart"
question = "Does it run there?"
repeats = 1
cool_down = 0
[scenario]
url = "/"
run_time = "1s"
[levels]
users = 3
[compare]
metrics = ["p50"]
[target]
url = "{url}"
[[variant]]
name = "a"
[[variant]]
name = "b"
changes = "nothing"
"""


def test_each_run_of_an_experiment_and_of_a_search_has_its_workers_on_the_hosts(
    plimsoll: Command, target: CountingTarget, server: SshServer
) -> None:
    plimsoll.write(EXPERIMENT.format(url=target.url), "experiment.toml")
    done = plimsoll.in_a_process("experiment", "experiment.toml", "--on", "ssh:hosts.txt", "--yes")
    assert done.code in (0, 3), done
    assert machines(plimsoll) == [3, 3], done
    search = plimsoll.start(
        "capacity", target.url + "/", "--slo", "p99 < 10s", "--from", "10", "--time", "1s", "--warmup", "0s",
        "--cool-down", "0s", "--on", "ssh:hosts.txt", "--yes",
    )  # fmt: skip
    wait_until(lambda: len(machines(plimsoll)) >= 4)
    search.send_signal(signal.SIGINT)
    plimsoll.end(search)
    assert set(machines(plimsoll)) == {3}
    wait_until(lambda: workers(server) == [])


def machines(plimsoll: Command) -> list[int]:
    """Of each finished run: how many joined machines it had."""
    with Store.open(str(plimsoll.store), create=False) as store:
        facts = [run.facts.to_json() for run in store.runs() if run.status == "finished"]
    return [len(each["cluster"]["machines"]) for each in facts]


def test_a_host_with_an_unknown_key_is_named_with_what_to_do(plimsoll: Command, server: SshServer) -> None:
    server.distrust()
    done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s")
    assert done.code == 2
    assert re.search(
        r"plimsoll: vm-a: Host key verification failed; compare the fingerprint of ssh-keyscan vm-a \| ssh-keygen -lf "
        r"- with that of the host, then: ssh-keyscan vm-a >> ~/.ssh/known_hosts; vm-b: Host key",
        done.err,
    ), done


def test_a_host_that_refuses_the_key_or_is_not_there_is_named(plimsoll: Command, server: SshServer) -> None:
    (server.folder / "user_key.pub").write_text("")
    done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s")
    assert done.code == 2
    assert "vm-b: " in done.err and "Permission denied (publickey); ssh must get in without a question" in done.err
    server.close()
    done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s")
    assert done.code == 2
    assert re.search(r"plimsoll: vm-a: ssh: connect to host 127.0.0.1 port \d+: Connection refused; vm-b", done.err)


def test_a_host_without_plimsoll_or_with_another_version_is_named_and_nothing_is_left(
    plimsoll: Command, server: SshServer
) -> None:
    plimsoll.write(f"vm-a python={sys.executable}\nvm-b python=/usr/bin/false\n", "hosts.txt")
    done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s")
    assert done.code == 2
    own = version("plimsoll-lab")
    assert done.err.endswith(
        f"plimsoll: vm-b: /usr/bin/false has no Plimsoll there: pip install 'plimsoll-lab=={own}', or python=PATH in "
        "the file of hosts\n"
    ), done
    wait_until(lambda: workers(server) == [])
    other = plimsoll.write("#!/bin/sh\necho 0.0.9\n", "other-python")
    other.chmod(0o755)
    plimsoll.write(f"vm-a python={other}\n", "hosts.txt")
    done = run(plimsoll, "http://127.0.0.1:1/", "-t", "1s")
    assert done.code == 2
    assert f"vm-a: it has Plimsoll 0.0.9, this machine {own}: pip install 'plimsoll-lab=={own}' there" in done.err


def test_workers_that_cannot_reach_this_machine_say_where_they_look(plimsoll: Command, server: SshServer) -> None:
    done = run(
        plimsoll, "http://127.0.0.1:1/", "-t", "1s", "--master-host", "127.0.0.9", "--master-bind-host", "127.0.0.1",
        "--expect-workers-max-wait", "5",
    )  # fmt: skip
    assert done.code == 2
    assert re.search(
        r"plimsoll: 0 of 3 workers have joined within 5 s \(--expect-workers-max-wait\): vm-a: waiting for a master at "
        r"127.0.0.9:\d+: Connection refused; vm-b: waiting for a master",
        done.err,
    ), done
    wait_until(lambda: workers(server) == [])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--on", "ssh:"), "--on ssh:: name a file of hosts, or hosts: .*"),
        (("--on", "ssh:gone.txt"), "--on ssh:gone.txt: there is no file gone.txt"),
        (("--on", "ssh:-oProxyCommand=x"), "--on ssh:-oProxyCommand=x: hosts: -oProxyCommand=x is not a host.*"),
        (("--on", "sssh:a"), "--on sssh:a: there is no such placer; did you mean ssh.*"),
        (("--on", "ssh:a", "--master"), "--on and --master do not go together: .*"),
        (("--on", "ssh:a", "--cluster=auto"), "--on and --cluster do not go together: .*"),
        (("--on", "ssh:a", "--processes", "2"), "--processes is for this machine; with --on say how many there"),
    ],
)
def test_what_cannot_be_meant_is_one_line(plimsoll: Command, words: tuple[str, ...], why: str) -> None:
    done = plimsoll("run", "--headless", "http://127.0.0.1:1/", *words)
    assert done.code == 2
    assert re.fullmatch(rf"plimsoll: {why}\n", done.err), done
