"""Ctrl-C while the command is still being imported: it ends the process without a traceback.

The package imports this module before all others. Programs that import the package keep their own meaning of Ctrl-C.
What comes before is the interpreter's own start, which no package can change.
"""

# The module `signal` itself would take longer to import than most of what comes before it.
import _signal  # type: ignore[import-not-found]
import os
import sys

_PROGRAMS = ("plimsoll", "plimsoll.exe")
"""Names of the script that the package installs."""
_MODULE = ["-m", "plimsoll"]


def _handle() -> None:
    """From now on SIGINT ends the process, if this is the command and nobody else handles or ignores the signal."""
    words = getattr(sys, "argv", None) or [""]
    is_command = words[0].replace("\\", "/").rpartition("/")[2] in _PROGRAMS
    if (is_command or sys.orig_argv[1:3] == _MODULE) and _is(_signal.default_int_handler):
        _signal.signal(_signal.SIGINT, _end)


def hand_over() -> None:
    """From now on SIGINT raises KeyboardInterrupt again."""
    if _is(_end):
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _is(handler: object) -> bool:
    return bool(_signal.getsignal(_signal.SIGINT) is handler)


def _end(number: int, _: object) -> None:
    os.write(2, b"plimsoll: interrupted\n")
    os._exit(128 + number)


_handle()
