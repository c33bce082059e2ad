from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from plimsoll.locust.script.locustfile import is_shape_class, is_user_class, load_locustfile

if TYPE_CHECKING:
    from pathlib import Path

FILE = """
import sys
from beside import NUMBER
from plimsoll import HttpUser, LoadTestShape, User
sys.path.append("/added/by/the/file")

class Base(User):
    abstract = True

class Visitor(Base):
    pass

class Shape(LoadTestShape):
    def tick(self):
        return NUMBER, 1
"""


@pytest.fixture(autouse=True)
def same_path_and_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "modules", sys.modules.copy())


def test_classes_to_run_and_a_shape_to_ask(tmp_path: Path) -> None:
    (tmp_path / "locust.py").write_text(FILE)
    (tmp_path / "beside.py").write_text("NUMBER = 7")
    users, shapes = load_locustfile(str(tmp_path / "locust.py"))
    assert list(users) == ["Visitor"]
    assert [shape.tick() for shape in shapes] == [(7, 1)]
    assert sys.modules[users["Visitor"].__module__].__name__ == "locustfile"
    assert str(tmp_path) not in sys.path
    assert "/added/by/the/file" in sys.path


def test_its_folder_stays_in_the_path_where_it_was_there_before(tmp_path: Path) -> None:
    sys.path.append(str(tmp_path))
    (tmp_path / "mine.py").write_text("FOUND = True")
    assert load_locustfile(str(tmp_path / "mine.py")) == ({}, [])
    assert str(tmp_path) in sys.path


def test_what_it_raises_comes_through(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    with pytest.raises(ZeroDivisionError):
        load_locustfile(str(tmp_path / "broken.py"))
    with pytest.raises(ImportError, match=r"its name must end in .py"):
        load_locustfile(str(tmp_path / "text.txt"))


def test_only_classes_are_classes() -> None:
    assert not is_user_class(7)
    assert not is_shape_class("Shape")
