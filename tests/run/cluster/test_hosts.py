"""The file of hosts, and scripts on them; `ssh` is a program that runs them here, in a home of each host's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.run.cluster.fake_ssh import put_ssh

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.cluster import hosts as module
from plimsoll.run.cluster.hosts import ClusterHost, on_all, read_hosts

if TYPE_CHECKING:
    from pathlib import Path


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "hosts.txt"
    path.write_text(text)
    return str(path)


def test_a_host_on_each_line_may_have_cpus_and_an_interpreter(tmp_path: Path) -> None:
    path = _file(
        tmp_path, "# ours\n10.0.0.2\n\nann@vm-b cpus=4 python=/opt/venv/bin/python address=10.1.0.3  # the big one\n"
    )
    assert read_hosts(path) == [
        ClusterHost("10.0.0.2"),
        ClusterHost("ann@vm-b", 4, "/opt/venv/bin/python", "10.1.0.3"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "a\nb cpu=4\n",
            r"hosts.txt:2: cpu=4 is not understood; after the host there may be cpus=4, python=PATH and address=IP",
        ),
        ("a cpus=0\n", r"hosts.txt:1: cpus=0 is not understood"),
        ("-oProxyCommand=x\n", r"hosts.txt:1: -oProxyCommand=x is not a host"),
        ("a;b\n", r"hosts.txt:1: a;b is not a host"),
        ("a\nb\na\n", r"hosts.txt:3: a is there twice"),
        ("# none\n", r"hosts.txt has no hosts; write one on each line"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_hosts(_file(tmp_path, text))


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere.txt cannot be read: No such file"):
        read_hosts(str(tmp_path / "nowhere.txt"))


def test_all_hosts_where_a_script_fails_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_ssh(tmp_path, monkeypatch)
    hosts = [ClusterHost(name) for name in ("a", "b", "c")]
    assert on_all(hosts, lambda host: f"echo {host.name} in $HOME") == {
        name: f"{name} in {tmp_path}/homes/{name}\n" for name in "abc"
    }
    with pytest.raises(PlimsollError, match=r"^b: no disk; c: no disk$"):
        on_all(hosts, lambda host: "exit 0" if host.name == "a" else "echo no disk >&2; exit 3")


def test_without_ssh_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SSH", ("no-such-ssh",))
    with pytest.raises(PlimsollError, match="a: there is no program ssh on this machine"):
        on_all([ClusterHost("a")], lambda _: "")
