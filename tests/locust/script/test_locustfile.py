from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import LocustfileError
from plimsoll.locust.script import locustfile
from plimsoll.run.options import locustfiles

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "from plimsoll import User, task\nclass {name}(User):\n    @task\n    def idle(self): pass\n"


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test imports from a directory of its own, and leaves no modules behind."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


def _broken(text: str) -> str:
    Path("locustfile.py").write_text(text)
    with pytest.raises(LocustfileError) as refused:
        locustfile.load(["locustfile.py"])
    return str(refused.value)


@pytest.mark.parametrize("argument", ["shop.py", "shop", "sub/../shop.py"])
def test_a_file_is_found_with_and_without_its_ending(tmp_path: Path, argument: str) -> None:
    Path("shop.py").touch()
    Path("sub").mkdir()
    assert [path.resolve() for path in locustfiles.find(argument)] == [tmp_path / "shop.py"]


def test_several_files_and_folders_are_found_in_order() -> None:
    for name in ("d/b.py", "d/sub/c.py", "d/_private.py", "d/__init__.py", "a.py"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    assert [path.name for path in locustfiles.find("a.py, d")] == ["a.py", "b.py", "c.py"]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("gone.py", "locustfile not found: .*gone.py"),
        ("locustfile.py", "no locustfile.py in .*; name another file with -f"),
        ("empty", "no .py file in empty"),
    ],
)
def test_a_missing_file_is_named_and_has_locusts_exit_code(argument: str, message: str) -> None:
    Path("empty").mkdir()
    with pytest.raises(LocustfileError, match=message) as refused:
        locustfiles.find(argument)
    assert refused.value.exit_code == 2


def test_what_comes_from_a_master_is_refused() -> None:
    with pytest.raises(LocustfileError, match="name the file"):
        locustfiles.find("-")


def test_user_classes_are_those_that_are_not_abstract_also_imported_ones() -> None:
    Path("common.py").write_text(USER.format(name="Shared"))
    Path("locustfile.py").write_text(
        "from plimsoll import HttpUser, FastHttpUser, LoadTestShape\nfrom common import Shared\n"
        "class Base(HttpUser):\n    abstract = True\n"
        "class Mine(Base): pass\n"
        "class Shape(LoadTestShape):\n    def tick(self): return None\n"
    )
    loaded = locustfile.load(["locustfile.py"])
    assert set(loaded.user_classes) == {"Shared", "Mine"}
    assert list(loaded.shape_classes) == ["Shape"]


def test_several_files_add_up_and_each_imports_its_neighbours() -> None:
    for folder, name in (("one", "A"), ("two", "B")):
        Path(folder).mkdir()
        Path(folder, "helper_of_" + folder + ".py").write_text(f"NAME = '{name}'\n")
        Path(folder, f"load_{folder}.py").write_text(f"import helper_of_{folder}\n" + USER.format(name=name))
    loaded = locustfile.load(["one/load_one.py", "two/load_two.py"])
    assert [cls.__name__ for cls in locustfile.pick(loaded, [])] == ["A", "B"]
    assert [cls.__name__ for cls in locustfile.pick(loaded, ["B"])] == ["B"]


def test_two_files_with_user_classes_of_one_name_are_refused() -> None:
    for name in ("a.py", "b.py"):
        Path(name).write_text(USER.format(name="Shopper"))
    with pytest.raises(LocustfileError, match=r"two user classes are called Shopper: a\.py:2 and b\.py:2"):
        locustfile.load(["a.py", "b.py"])


def test_two_files_with_shapes_of_one_name_are_refused() -> None:
    shape = "from plimsoll import LoadTestShape\nclass Steps(LoadTestShape):\n    def tick(self): pass\n"
    for name in ("a.py", "b.py"):
        Path(name).write_text(shape)
    with pytest.raises(LocustfileError, match="two shape classes are called Steps"):
        locustfile.load(["a.py", "b.py"])


def test_an_unknown_class_is_told_with_those_there_are() -> None:
    Path("locustfile.py").write_text(USER.format(name="Shopper"))
    loaded = locustfile.load(["locustfile.py"])
    with pytest.raises(LocustfileError, match="unknown user class: Shoper; the locustfile has Shopper") as refused:
        locustfile.pick(loaded, ["Shoper"])
    assert refused.value.exit_code == 2


def test_without_a_user_class_there_is_nothing_to_run() -> None:
    assert "no user class in it" in _broken("from plimsoll import HttpUser\n")


def test_a_syntax_error_is_shown_with_the_users_own_line() -> None:
    message = _broken("import time\nclass X(:\n    pass\n")
    assert message.splitlines()[0].startswith("locustfile.py:2: SyntaxError")
    assert message.splitlines()[1:] == ["    class X(:", "            ^"]


def test_an_exception_is_shown_with_the_users_own_line() -> None:
    assert _broken("import time\ntime.nothing_like_it(1)\n").splitlines() == [
        "locustfile.py:2: AttributeError: module 'time' has no attribute 'nothing_like_it'",
        "    time.nothing_like_it(1)",
    ]


def test_a_missing_module_is_shown_at_the_import() -> None:
    assert _broken("\n\nimport not_there\n") == (
        "locustfile.py:3: ModuleNotFoundError: No module named 'not_there'\n    import not_there"
    )


def test_what_fails_inside_of_a_library_is_shown_where_the_user_called_it() -> None:
    message = _broken("import json\n\ndef read():\n    return json.loads('{')\n\nread()\n")
    assert message.splitlines()[0].startswith("locustfile.py:4: json.decoder.JSONDecodeError: Expecting property name")
    assert message.splitlines()[1] == "    return json.loads('{')"


def test_what_fails_in_a_module_of_the_users_is_shown_there() -> None:
    Path("helper.py").write_text("\n1 / 0\n")
    assert _broken("import helper\n").splitlines()[0] == "helper.py:2: ZeroDivisionError: division by zero"


def test_a_locustfile_that_exits_is_told_like_one_that_fails() -> None:
    assert _broken("import sys\nsys.exit('no token')\n") == (
        "locustfile.py:2: SystemExit: no token\n    sys.exit('no token')"
    )


def _described(*paths: str) -> list[str]:
    """The user classes of these files, found in another process: to look for test functions patches it."""
    command = [sys.executable, "-P", "-m", "plimsoll.locust.script.describe", json.dumps([paths, [], None])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    answer = json.loads(done.stdout.splitlines()[-1])
    return answer["classes"] if "classes" in answer else [answer["error"][1]]


def test_test_functions_are_users_where_there_are_no_user_classes() -> None:
    Path("test_a.py").write_text("def test_read(session): pass\ndef helper(): pass\n")
    Path("test_b.py").write_text("def test_write(fastsession): pass\n")
    assert _described("test_a.py", "test_b.py") == ["test_read", "test_write"]
    Path("locustfile.py").write_text(USER.format(name="Shopper") + "def test_me(session): pass\n")
    assert _described("test_a.py", "locustfile.py") == ["Shopper"]


def test_nothing_else_is_asked_of_pytest() -> None:
    Path("locustfile.py").write_text("import sys\nsys.modules['pytest'] = None\nlatest = testing = 1\n")
    (message,) = _described("locustfile.py")
    assert "no user class in it" in message


def test_test_functions_without_pytest_are_told() -> None:
    Path("locustfile.py").write_text("import sys\nsys.modules['pytest'] = None\ndef test_read(session): pass\n")
    (message,) = _described("locustfile.py")
    assert message.endswith("pip install 'plimsoll-lab[locust]'")
    assert "no user class in it; it has test functions" in message
