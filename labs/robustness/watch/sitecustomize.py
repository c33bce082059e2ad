"""Python loads this at its start when this folder is on PYTHONPATH: it writes down what the process does.

WATCH_LOG names the file of the events, a line of JSON each; WATCH_BAIT is a folder that nothing should read. Processes
that the command starts are watched, too, as they inherit both.
"""

import json
import os
import sys

ALWAYS = frozenset((
    "subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "pty.spawn",
    "socket.bind", "socket.connect", "socket.getaddrinfo", "urllib.Request", "ctypes.dlopen", "os.kill", "os.killpg",
))  # fmt: skip
"""Programs that start, sockets, signals."""
CHANGES = frozenset((
    "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.symlink", "os.link", "os.chmod", "os.chown",
    "shutil.rmtree", "shutil.move", "shutil.copyfile",
))  # fmt: skip
"""Changes of files besides those that begin with `open`."""
LONGEST = 500


def _install(log: str, bait: str) -> None:
    stream = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

    def note(event: str, *words: object) -> None:
        line = json.dumps([event, *(str(word)[:LONGEST] for word in words)])
        os.write(stream, f"{line}\n".encode())

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event in ALWAYS or event in CHANGES:
            note(event, *arguments)
        elif event == "open":
            path, _, flags = arguments
            if isinstance(path, int):
                return
            name = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]  # noqa: PTH100 pathlib takes long to import
            if isinstance(flags, int) and flags & writing:
                note("write", name)
            elif name.startswith(bait):
                note("read", name)
        elif event == "exec":
            name = getattr(arguments[0], "co_filename", "")
            if name.startswith(bait):
                note("import", name)

    sys.addaudithook(watch)


if "WATCH_LOG" in os.environ:
    _install(os.environ["WATCH_LOG"], os.environ["WATCH_BAIT"])
