"""Print what a running service reports of its database: `python -m labs.todos.tell explain|lag [URL]`.

explain: how PostgreSQL executes the list's query. lag: how late the replica applied what was written last.
URL is that of the service, else $PLIMSOLL_URL, as the hooks of an experiment have it.
"""

import argparse
import os
import sys

from .lab import TodosService

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
