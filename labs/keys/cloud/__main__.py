"""Serve on 127.0.0.1: `python -m cloud --port N [--keys N] [--scale X]`, with the environment of the labs."""

import argparse
import asyncio
import secrets

import grpc

from .import_job import AES_BYTES
from .keys import KeyRing, State
from .lane import Lane
from .service import KeyManagement, handlers

RING = "projects/lab/locations/global/keyRings/lab"


def filled_ring(keys: int) -> KeyRing:
    """With keys `key-1`, `key-2`, …, each with one enabled version."""
    ring = KeyRing(RING)
    for number in range(1, keys + 1):
        version = ring.create(f"key-{number}").import_begins()
        version.material = secrets.token_bytes(AES_BYTES)
        version.become(State.ENABLED)
    return ring


async def serve(port: int, keys: int, scale: float) -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handlers(KeyManagement(filled_ring(keys), Lane(scale))),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    await server.wait_for_termination()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m cloud", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--keys", type=int, default=20, help="how many there are from the beginning (default 20)")
    parser.add_argument("--scale", type=float, default=0.1, help="seconds per second of the report (default 0.1)")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.port, arguments.keys, arguments.scale))


if __name__ == "__main__":
    main()
