"""Serve on 127.0.0.1: `python -m target --port N --cloud HOST:PORT`, with the environment of the labs."""

import argparse

import uvicorn

from .app import create_app


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m target", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--cloud", required=True, metavar="HOST:PORT", help="the cloud service")
    arguments = parser.parse_args()
    app = create_app(arguments.cloud)
    uvicorn.run(app, host="127.0.0.1", port=arguments.port, access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
