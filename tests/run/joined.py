"""Masters, and workers that join them, as processes."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.command import Command


def free_port() -> int:
    """One that is free now: workers have to know it before there is a master."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def start_worker(
    plimsoll: Command, port: int, *arguments: str, file: str = "-", cwd: Path | None = None
) -> subprocess.Popen[str]:
    words = ("run", "-f", file, "--worker", "--master-port", str(port), *arguments)
    return plimsoll.start(*words, cwd=cwd or plimsoll.directory)


def start_master(plimsoll: Command, port: int, *arguments: str) -> subprocess.Popen[str]:
    return plimsoll.start(
        "run", "--master", "--master-bind-host", "127.0.0.1", "--master-bind-port", str(port), "--headless", *arguments
    )


def processes_of(worker: subprocess.Popen[str]) -> list[psutil.Process]:
    """Those that send load."""
    children = psutil.Process(worker.pid).children()
    return [each for each in children if "plimsoll.locust.script.process" in each.cmdline()]
