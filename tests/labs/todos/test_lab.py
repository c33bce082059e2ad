import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from labs.todos.errors import LabError
from labs.todos.lab import running_lab, running_service
from labs.todos.postgres import Cluster
from labs.todos.target.variants import VARIANTS

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
LAB = [sys.executable, "-m", "labs.todos.lab"]


def test_a_port_in_use_is_an_error_in_words(cluster: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = r"(?s)did not start.*[Aa]ddress already in use"
        with pytest.raises(LabError, match=message), running_service(cluster, VARIANTS["baseline"], port):
            pass


def test_a_variant_with_a_replica_does_not_run_without(cluster: Cluster) -> None:
    alone = Cluster(cluster.primary, None)
    message = r"(?s)did not start.*TODOS_REPLICA_URL is not set"
    with pytest.raises(LabError, match=message), running_service(alone, VARIANTS["replica"]):
        pass


def test_an_unknown_variant_is_answered_with_those_there_are() -> None:
    with pytest.raises(LabError, match="'fastest'; there are: baseline, index, replica, "), running_lab("fastest"):
        pass


@pytest.mark.parametrize(
    ("how", "variant", "processes"),
    [(signal.SIGINT, "baseline", 4), (signal.SIGTERM, "replica", 6), (signal.SIGKILL, "replica", 6)],
)
def test_the_end_of_the_lab_is_the_end_of_all_it_started(
    how: signal.Signals, variant: str, processes: int, wait_until_gone: Callable[[int], None]
) -> None:
    with subprocess.Popen([*LAB, "--variant", variant], cwd=ROOT, stdout=subprocess.PIPE, text=True) as lab:
        assert lab.stdout is not None
        assert lab.stdout.readline().startswith(f"{variant} at http://127.0.0.1:")
        family = descendants(lab.pid)
        assert len(family) >= processes, "a supervisor for each server and for the service"
        lab.send_signal(how)
        lab.wait()
    for pid in family:
        wait_until_gone(pid)


def test_the_end_of_whoever_started_the_lab_is_its_end(wait_until_gone: Callable[[int], None]) -> None:
    shell = ["sh", "-c", '"$@" & wait', "sh", *LAB]
    with subprocess.Popen(shell, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith("baseline at http://127.0.0.1:")
        family = descendants(parent.pid)
        parent.kill()
        for pid in family:
            wait_until_gone(pid)


def descendants(pid: int) -> set[int]:
    children = {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    return children.union(*(descendants(child) for child in children))
