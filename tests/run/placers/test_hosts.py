from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.placers.hosts import Host, read_hosts

if TYPE_CHECKING:
    from pathlib import Path


def _file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "hosts.txt"
    path.write_text(text)
    return str(path)


def test_a_host_on_each_line_may_have_cpus_and_an_interpreter(tmp_path: Path) -> None:
    path = _file(tmp_path, "# ours\n10.0.0.2\n\nann@vm-b cpus=4 python=/opt/venv/bin/python  # the big one\n")
    assert read_hosts(path) == [
        Host("10.0.0.2"),
        Host("ann@vm-b", 4, "/opt/venv/bin/python"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "a\nb cpu=4\n",
            r"hosts.txt:2: cpu=4 is not understood; after the host there may be cpus=4 and python=PATH",
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
