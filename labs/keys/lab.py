"""The keys lab: starts the cloud service, and the appliance in front of it.

`python -m labs.keys.lab --port N [--keys N] [--scale X]` runs until SIGTERM or Ctrl-C.
"""

import argparse
import signal
import socket
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from labs.environment import PYTHON
from labs.todos.errors import LabError
from labs.todos.lab import end_on_sigterm

from plimsoll.experiment.ports import free_port
from plimsoll.run.supervised.process import Process

FOLDER = Path(__file__).resolve().parent
START_SECONDS = 30.0
WAIT_SECONDS = 60.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.keys.lab", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="the appliance's")
    parser.add_argument("--keys", type=int, default=20, help="how many there are from the beginning (default 20)")
    parser.add_argument("--scale", type=float, default=0.1, help="seconds per second of the report (default 0.1)")
    arguments = parser.parse_args()
    end_on_sigterm()
    cloud_port = free_port()
    try:
        with ExitStack() as stack:
            words = ["--port", str(cloud_port), "--keys", str(arguments.keys), "--scale", str(arguments.scale)]
            cloud = stack.enter_context(_started("cloud", *words))
            _wait_until_it_listens(cloud, cloud_port)
            words = ["--port", str(arguments.port), "--cloud", f"127.0.0.1:{cloud_port}"]
            appliance = stack.enter_context(_started("target", *words))
            while (ending := appliance.wait(WAIT_SECONDS)) is None:
                pass
            return ending.status
    except KeyboardInterrupt:
        return 0
    except LabError as error:
        print(f"keys lab: {error}", file=sys.stderr)
        return 1


def _started(module: str, *words: str) -> Process:
    command = [str(PYTHON), "-m", module, *words]
    return Process(command, output=Path("/dev/null"), errors=Path("/dev/stderr"), cwd=FOLDER, ask=signal.SIGTERM)


def _wait_until_it_listens(process: Process, port: int) -> None:
    """Raises LabError after 30 s."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if process.wait(0.05) is not None or time.monotonic() > deadline:
                raise LabError("the cloud service did not start") from None


if __name__ == "__main__":
    sys.exit(main())
