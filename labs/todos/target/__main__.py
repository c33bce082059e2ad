"""Serve with one uvicorn worker: `python -m target [--host ADDRESS] [--port N]`, settings from the environment.

Creates the schema first and waits until the replica has it. Then prints the port on a line, when it is bound: with
`--port 0` the caller learns the port from it.
"""

import argparse
import socket
import sys
from contextlib import suppress

import uvicorn

from .app import create_app
from .databases import Databases
from .settings import from_environment


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m target", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="127.0.0.1 by default: only this machine")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--migrate", action="store_true", help="only make the schema")
    arguments = parser.parse_args()
    try:
        settings = from_environment()
        if arguments.migrate:
            Databases(settings).prepare()
            return
        listener = socket.create_server((arguments.host, arguments.port), backlog=2048)
    except (OSError, ValueError) as error:
        sys.exit(f"todos service: {error}")
    with listener:
        databases = Databases(settings)
        databases.prepare()
        print(listener.getsockname()[1], flush=True)
        config = uvicorn.Config(create_app(settings, databases), access_log=False, log_level="warning")
        with suppress(KeyboardInterrupt):  # uvicorn raises it after a shutdown by SIGINT
            uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
