"""Serve on 127.0.0.1: `python -m target --database URL --port N [--indexes]`, with the environment of labs/todos."""

import argparse

import uvicorn
from sqlalchemy import create_engine

from .app import create_app
from .schema import create


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m target", description=__doc__)
    parser.add_argument("--database", required=True, help="postgresql+psycopg://…")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--indexes", action="store_true", help="the new build")
    arguments = parser.parse_args()
    engine = create_engine(arguments.database, pool_size=16, max_overflow=0, pool_timeout=60)
    with engine.connect() as connection:
        create(connection, indexes=arguments.indexes)
    engine.dispose()
    uvicorn.run(create_app(engine), host="127.0.0.1", port=arguments.port, access_log=False, log_level="warning")


if __name__ == "__main__":
    main()
