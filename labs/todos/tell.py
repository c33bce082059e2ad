"""Print database facts of a running service: `python -m labs.todos.tell explain|lag [URL]`.

explain: PostgreSQL's plan of the list query. lag: the lag of the replica. URL is the service's; default $PLIMSOLL_URL,
which experiments set for hooks.
"""

import argparse
import os
import sys

from .service import TodosService

REPORTS = {"explain": TodosService.plan, "lag": TodosService.lag}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.todos.tell", description=__doc__)
    parser.add_argument("what", choices=REPORTS)
    parser.add_argument("url", nargs="?", default=os.environ.get("PLIMSOLL_URL"))
    arguments = parser.parse_args()
    if not arguments.url:
        parser.error("which service? Give its URL, or set PLIMSOLL_URL")
    try:
        print(REPORTS[arguments.what](TodosService(arguments.url)))
    except OSError as error:
        print(f"todos tell: {arguments.url}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
