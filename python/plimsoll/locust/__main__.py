"""`python -m plimsoll.locust [FILE | -m MODULE | -c CODE] [ARGUMENT…]`: a program in which `import locust` is Plimsoll.

Arguments, `__main__`, the first entry of the import path and the exit code are as if Python itself ran the program.
Without a program it reads stdin or starts an interactive session.
"""

from __future__ import annotations

from plimsoll.locust import install

install()

import builtins  # noqa: E402 - gevent's patches come before everything that they patch
import os  # noqa: E402
import runpy  # noqa: E402
import sys  # noqa: E402
from importlib.machinery import BuiltinImporter, SourceFileLoader  # noqa: E402
from pathlib import Path  # noqa: E402
from pkgutil import get_importer  # noqa: E402
from types import ModuleType, TracebackType  # noqa: E402

PYTEST_PLUGIN = "plimsoll.locust.pytest_plugin"
INTERRUPTED = 130
"""The exit code that shells use for a program ended by Ctrl-C."""


def main(arguments: list[str]) -> None:
    """Run the program; its exceptions propagate."""
    if not sys.flags.safe_path:
        # The entry of `python -m plimsoll.locust`; the program adds its own.
        del sys.path[0]
    sys.excepthook = _print_error
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name[:2] in ("-m", "-c"):
        value, rest = (name[2:], rest) if name[2:] else (rest[0], rest[1:])
        (_run_module if name.startswith("-m") else _run_code)(value, rest)
    elif name in ("", "-"):
        _run_stdin([name, *rest])
    else:
        _run_file(name, rest)


def _run_module(name: str, arguments: list[str]) -> None:
    plugin = ["-p", PYTEST_PLUGIN] if name == "pytest" else []
    sys.argv = ["-m", *plugin, *arguments]
    sys.path.insert(0, str(Path.cwd()))
    _run_as_main(name)


def _run_code(code: str, arguments: list[str]) -> None:
    sys.argv = ["-c", *arguments]
    sys.path.insert(0, "")
    _execute(code, "<string>", _new_main())


def _run_stdin(argv: list[str]) -> None:
    sys.argv = argv
    sys.path.insert(0, "")
    module = _new_main()
    if sys.stdin.isatty():
        from code import interact

        interact(local=vars(module), exitmsg="")
    else:
        module.__file__ = "<stdin>"
        _execute(sys.stdin.read(), "<stdin>", module)


def _run_file(name: str, arguments: list[str]) -> None:
    # Not with pathlib, which drops the "./" that Python keeps.
    path = os.path.join(os.getcwd(), name)  # noqa: PTH109, PTH118
    sys.argv = [name, *arguments]
    if not Path(path).exists():
        print(f"plimsoll: can't open file {path!r}: no such file", file=sys.stderr)
        sys.exit(2)
    if get_importer(path) is not None:
        # A folder or an archive with a __main__.py.
        sys.path.insert(0, path)
        _run_as_main("__main__", alter_argv=False)
        return
    # As in Python: the folder of the file itself, not of a link to it.
    sys.path.insert(0, str(Path(path).resolve().parent))
    module = _new_main()
    module.__file__ = path
    module.__loader__ = SourceFileLoader("__main__", path)
    _execute(Path(path).read_bytes(), path, module)


def _run_as_main(name: str, alter_argv: bool = True) -> None:
    _new_main()
    # Private, but the interpreter calls it for -m; run_module() would undo its work before atexit runs.
    runpy._run_module_as_main(name, alter_argv)  # type: ignore[attr-defined]


def _execute(source: str | bytes, name: str, module: ModuleType) -> None:
    # Without our own __future__ imports, which compile() inherits by default.
    exec(compile(source, name, "exec", dont_inherit=True), vars(module))


def _print_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print the error as Python does: without the frames of this module."""
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


def _new_main() -> ModuleType:
    """A new `__main__` in place of this module, which must stay alive: it is still running."""
    module = ModuleType("__main__")
    module.__loader__ = BuiltinImporter
    vars(module).update(__builtins__=builtins, _plimsoll_main=sys.modules["__main__"])
    sys.modules["__main__"] = module
    return module


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt as error:
        sys.excepthook(KeyboardInterrupt, error, error.__traceback__)
        sys.exit(INTERRUPTED)
