"""The command `plimsoll`, also as `python -m plimsoll`."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        # Only here: Ctrl-C may come while this is imported.
        from plimsoll.run.transport.spawning import first_worker

        with first_worker(sys.argv[1:]):
            from plimsoll.cli import main as command

            command(prog_name="plimsoll")
    except KeyboardInterrupt:
        print("plimsoll: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
