"""For programs that act as the command."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from plimsoll.locust.environment import Environment
from plimsoll.users.events import Events

if TYPE_CHECKING:
    from argparse import Namespace

    from plimsoll.locust.shape import LoadTestShape
    from plimsoll.users.user import User


def main() -> NoReturn:
    """`plimsoll run` with the arguments in sys.argv; ends this process with its exit code.

    Runs in a new process, so imports and changes of this one have no effect there.
    """
    command = [sys.executable, "-P", "-c", "from plimsoll.cli import main; main()", "run", *sys.argv[1:]]
    with subprocess.Popen(command) as process:
        while process.returncode is None:
            # Ctrl-C also reaches the other process, which then writes its reports.
            with contextlib.suppress(KeyboardInterrupt):
                process.wait()
    sys.exit(process.returncode)


def create_environment(
    user_classes: list[type[User]],
    options: Namespace,
    events: Events | None = None,
    shape_class: LoadTestShape | None = None,
    locustfile: str | None = None,
    parsed_locustfiles: list[str] | None = None,
    **available: Any,
) -> Environment:
    """An Environment with the options returned by `get_parser().parse_args()`. available: see `Environment`."""
    return Environment(
        user_classes=user_classes,
        shape_class=shape_class,
        events=events or Events(),
        locustfile=locustfile,
        host=options.host,
        reset_stats=options.reset_stats,
        parsed_options=options,
        parsed_locustfiles=parsed_locustfiles,
        profile=options.profile,
        **available,
    )
