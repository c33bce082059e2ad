from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from plimsoll.errors import LocustfileError
from plimsoll.locust.script.locustfile import add_classes

USER = "class Shopper: pass\n"


def _module(path: str, text: str, name: str = "locustfile") -> ModuleType:
    file = Path(path).absolute()
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    module = ModuleType(name)
    module.__file__ = str(file)
    exec(compile(text, str(file), "exec"), vars(module))
    return module


class Known:
    """The classes of the modules so far."""

    def __init__(self) -> None:
        self.classes: dict[str, type[object]] = {}
        self.files: dict[type, str] = {}

    def add(self, module: ModuleType, *names: str) -> None:
        add_classes("user", module, [getattr(module, name) for name in names], self.classes, self.files)


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_two_files_with_a_class_of_one_name_are_both_named_with_their_lines() -> None:
    known = Known()
    # Of one module name, as files of several folders are.
    known.add(_module("a/locustfile.py", USER), "Shopper")
    with pytest.raises(LocustfileError) as refused:
        known.add(_module("b/locustfile.py", "\n" + USER), "Shopper")
    text = str(refused.value)
    assert text == "two user classes are called Shopper: a/locustfile.py:1 and b/locustfile.py:2; rename one of them"
    assert refused.value.exit_code == 2


def test_a_file_that_is_executed_twice_has_its_class_once(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known()
    first = _module("a.py", USER, "a")
    monkeypatch.setitem(sys.modules, "a", first)
    importer = _module("b.py", "from a import Shopper\n", "b")
    again = _module("a.py", USER, "a")
    for module in (importer, again):
        known.add(module, "Shopper")
    assert known.classes == {"Shopper": first.Shopper}


def test_a_class_that_hides_another_of_its_module_is_refused() -> None:
    module = _module("a.py", USER + "Old = Shopper\n" + USER)
    with pytest.raises(LocustfileError, match=r"two user classes are called Shopper: a\.py:1 and a\.py:3"):
        Known().add(module, "Old", "Shopper")


def test_a_second_name_for_a_class_is_none_of_its_own() -> None:
    Known().add(_module("a.py", USER + "Buyer = Shopper\n"), "Shopper", "Buyer")


def test_a_class_that_a_function_makes_twice_is_named_with_its_file() -> None:
    module = _module("a.py", "A, B = (type('Shopper', (), {'__module__': 'locustfile'}) for _ in 'ab')\n")
    with pytest.raises(LocustfileError, match=r"are called Shopper: a\.py; rename"):
        Known().add(module, "A", "B")
