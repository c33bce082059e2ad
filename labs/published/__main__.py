"""`python -m labs.published REPORT`: stores a published report as a study."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import time
from pathlib import Path

from labs.published.report import read

from plimsoll.errors import PlimsollError
from plimsoll.importers.studies import keep
from plimsoll.report.render.imported import imported_study
from plimsoll.store import Store

MOST_SKIPPED = 20
"""Maximum number of printed lines. The study has all."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m labs.published", description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("--name", default="", help="Of the study; the file's by default.")
    parser.add_argument("--store", help="A file or a URL. [default: plimsoll.db]")
    parser.add_argument("--think", type=float, help="Mean wait of a user between requests, in seconds.")
    parser.add_argument("--tool", default="", help="What made the numbers: locust, vegeta, …")
    parser.add_argument("--slo", default="", help="An objective: 'p99 < 200ms'.")
    parser.add_argument("--primary", action="append", default=[], metavar="METRIC", help="What the study is about.")
    parser.add_argument("--repeat-of", action="append", default=[], metavar="REPEAT=VARIANT")
    parser.add_argument("--variant", action="append", default=[], metavar="FOUND=NAME")
    given = vars(parser.parse_args(arguments))
    path, store = given.pop("report"), given.pop("store")
    try:
        study = read(path, **given)
        print(imported_study(study, shutil.get_terminal_size().columns, MOST_SKIPPED))
        with Store.open(store) as opened:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            key, _ = keep(opened, study, digest=digest, created=time.time())
    except PlimsollError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"stored as {study.name} ({key})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
