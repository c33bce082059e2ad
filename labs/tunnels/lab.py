"""The tunnels lab: starts a tunnel's server here, and its client, with the files, on a simulated host.

`python -m labs.tunnels.lab --variant streams|connections|none --port N` runs until SIGTERM, Ctrl-C, or the end of one
half of the tunnel.
"""

import argparse
import contextlib
import signal
import socket
import sys
import time
from pathlib import Path

from labs.todos.errors import LabError
from labs.todos.lab import end_on_sigterm
from labs.tunnels.hosts import core_share, limited, link

from plimsoll.experiment.ports import free_port
from plimsoll.run.supervised.process import Process

PROGRAM = Path(__file__).resolve().parents[2] / "target" / "release" / "plimsoll-tunnel"
VARIANTS = ("none", "streams", "connections")
START_SECONDS = 20.0
LOOK_SECONDS = 0.2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.tunnels.lab", description=__doc__)
    parser.add_argument("--variant", choices=VARIANTS, default="streams")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--link", type=int, default=170, help="Mbit/s between the two hosts (default 170)")
    parser.add_argument("--core", type=int, default=100, help="percent of a core that the tunnel's server has")
    parser.add_argument("--memory", type=int, help="MB that the tunnel's server may have (default: no limit)")
    arguments = parser.parse_args()
    if not PROGRAM.exists():
        print(f"tunnels lab: {PROGRAM} is not built; `make lab-tunnels` builds it", file=sys.stderr)
        return 1
    end_on_sigterm()
    try:
        return serve(arguments)
    except KeyboardInterrupt:
        return 0
    except LabError as error:
        print(f"tunnels lab: {error}", file=sys.stderr)
        return 1


def serve(arguments: argparse.Namespace) -> int:
    """Waits until one half ends, or a signal arrives."""
    public = f"127.0.0.1:{arguments.port}"
    with contextlib.ExitStack() as stack:
        groups = stack.enter_context(core_share(arguments.core)) if arguments.core < 100 else []
        core = f"{arguments.core} % of a core" if groups else "a whole core"
        if arguments.variant == "none":
            print(f"network: no tunnel; the files' server has {core}", flush=True)
            return _end(stack.enter_context(_started(limited([str(PROGRAM), "files", public], groups, None))))
        between = link(arguments.link)
        tunnel = f"{between.ours if between else '127.0.0.1'}:{free_port()}"
        client = [str(PROGRAM), "client", arguments.variant, tunnel]
        if between:
            waiting = ["sh", "-c", 'until "$@"; do sleep 0.05; done', "client", *client]
            far = stack.enter_context(_started(between.command(*waiting)))
            _until(between.set_up, "the link between the hosts")
            print(f"network: two hosts, {between.megabits} Mbit/s between them; the server has {core}", flush=True)
        command = limited([str(PROGRAM), "server", arguments.variant, public, tunnel], groups, arguments.memory)
        server = stack.enter_context(_started(command))
        if not between:
            _until(lambda: _listens(tunnel), "the tunnel's server")
            far = stack.enter_context(_started(client))
            print(f"network: loopback, because no namespaces can be made here; the server has {core}", flush=True)
        return _end(server, far)


def _started(command: list[str]) -> Process:
    """Its output goes where ours goes."""
    return Process(command, output=Path("/dev/stdout"), errors=Path("/dev/stderr"), ask=signal.SIGTERM)


def _end(*halves: Process) -> int:
    """Wait for the first that ends. Returns its exit status, as in a shell."""
    while True:
        for each in halves:
            if (ending := each.wait(LOOK_SECONDS)) is not None:
                print(f"{' '.join(each.command[-4:])}: {ending}", file=sys.stderr, flush=True)
                return ending.status if ending.status >= 0 else 128 - ending.status


def _until(done, what: str) -> None:
    """Raises LabError after 20 s."""
    deadline = time.monotonic() + START_SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise LabError(f"{what} did not come up")
        time.sleep(0.02)


def _listens(address: str) -> bool:
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port))).close()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
