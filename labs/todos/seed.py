"""Replace the todos of a running service by a known number: `python -m labs.todos.seed --rows N [--of M] [URL]`.

URL is the service's; default $PLIMSOLL_URL, which experiments set for hooks. With --of, the command makes M todos,
deletes all but N and vacuums the table. The table then has the pages of M todos, like one that was used for long.
"""

import argparse
import os
import sys
from urllib.error import HTTPError

from .service import TodosService


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.todos.seed", description=__doc__)
    parser.add_argument("--rows", type=int, required=True, metavar="N", help="todos that are left")
    parser.add_argument("--of", type=int, metavar="M", help="todos that are made (default: N, so that none is deleted)")
    parser.add_argument("url", nargs="?", default=os.environ.get("PLIMSOLL_URL"))
    arguments = parser.parse_args()
    if not arguments.url:
        parser.error("which service? Give its URL, or set PLIMSOLL_URL")
    try:
        rows = TodosService(arguments.url).seed(arguments.rows, arguments.of)
    except HTTPError as error:
        with error:
            print(f"todos seed: {error}: {error.read().decode(errors='replace')}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"todos seed: {arguments.url}: {error}", file=sys.stderr)
        return 1
    print(f"{rows} todos")
    return 0


if __name__ == "__main__":
    sys.exit(main())
