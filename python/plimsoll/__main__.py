"""The command `plimsoll`, also as `python -m plimsoll`."""

from __future__ import annotations

import sys

from plimsoll import early_interrupt


def main() -> None:
    try:
        early_interrupt.hand_over()
        # Only here: Ctrl-C may come while this is imported.
        from plimsoll.distribution import foreign_files
        from plimsoll.run.transport.spawning import first_worker

        if message := foreign_files():
            print(f"plimsoll: {message}", file=sys.stderr)
            sys.exit(2)
        with first_worker(sys.argv[1:]):
            from plimsoll.cli import main as command

            command(prog_name="plimsoll")
    except KeyboardInterrupt:
        print("plimsoll: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
