"""Serve on 127.0.0.1: `python -m target --port N [--keys N] [--scale X]`, with the environment of labs/todos."""

import argparse

import uvicorn

from .app import create_app
from .upstream import Upstream


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m target", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--keys", type=int, default=20, help="how many there are from the beginning (default 20)")
    parser.add_argument("--scale", type=float, default=0.1, help="seconds per second of the report (default 0.1)")
    arguments = parser.parse_args()
    app = create_app(Upstream(arguments.scale), arguments.keys)
    uvicorn.run(app, host="127.0.0.1", port=arguments.port, access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
