"""Which files travel to other machines, and which never do."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.plan import RunPlan
from plimsoll.run.transport import shipment as module
from plimsoll.run.transport.shipment import Shipment

SECRETS = (
    ".env", "secrets.env", "key.pem", "client.key", "client.crt", "keys.p12", "id_rsa", ".ssh/config", "plimsoll.db",
    "runs.db", "plimsoll.db-wal", ".git/config", "__pycache__/shop.pyc", "node_modules/a/index.js",
)  # fmt: skip


def _tree(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def _names(root: Path, *ship: str, arguments: tuple[str, ...] = (), file: str = "shop.py") -> set[str]:
    plan = RunPlan(locustfiles=(str(root / file),), ship=ship, arguments=arguments)
    return set(Shipment.of(plan, root).names)


def test_the_locustfile_and_what_it_imports_from_its_folder_travel_and_nothing_else(tmp_path: Path) -> None:
    _tree(tmp_path, {
        "shop.py": "import json, requests, pages.cart\nfrom lib import *\nfrom helpers import login\n",
        "pages/__init__.py": "from . import base",
        "pages/base.py": "from ..other import no_such",
        "pages/cart.py": "def buy():\n    from pages.deep.down import x\n    import importlib\n"
                         "    importlib.import_module('plugins.one')",
        "pages/deep/down.py": "",
        "pages/unused.py": "",
        "plugins/one.py": "import broken",
        "broken.py": "this is no Python",
        "lib/__init__.py": "",
        "lib/a.py": "",
        "lib/native.abi3.so": "",
        "helpers.py": "import shop",
        "creds.json": "{}",
        "users.csv": "a",
        "notes.py": "",
        **dict.fromkeys(SECRETS, "secret"),
    })  # fmt: skip
    assert _names(tmp_path) == {
        "shop.py", "pages/__init__.py", "pages/base.py", "pages/cart.py", "pages/deep/down.py", "plugins/one.py",
        "broken.py", "lib/__init__.py", "lib/a.py", "lib/native.abi3.so", "helpers.py",
    }  # fmt: skip


def test_modules_beside_the_locustfile_come_before_those_of_the_working_directory(tmp_path: Path) -> None:
    _tree(tmp_path, {"load/shop.py": "import pages, common", "load/pages.py": "", "pages.py": "", "common.py": ""})
    shipment = Shipment.of(RunPlan(locustfiles=(str(tmp_path / "load/shop.py"),)), tmp_path)
    assert shipment == Shipment(
        str(tmp_path), ("common.py", "load/pages.py", "load/shop.py"), "load", ".", ("shop.py",)
    )
    assert Shipment.from_list(shipment.to_list()) == shipment


def test_from_elsewhere_names_count_from_the_folder_of_the_locustfile(tmp_path: Path) -> None:
    _tree(tmp_path, {"load/shop.py": "import helper", "load/helper.py": "", "elsewhere/helper.py": ""})
    plan = RunPlan(locustfiles=(str(tmp_path / "load/shop.py"),), ship=("help*",))
    shipment = Shipment.of(plan, tmp_path / "elsewhere")
    assert shipment == Shipment(str(tmp_path / "load"), ("helper.py", "shop.py"), locustfiles=("shop.py",))


def test_patterns_add_files_and_folders(tmp_path: Path) -> None:
    _tree(tmp_path, {"shop.py": "", "data/a.csv": "", "data/deep/b.csv": "", "data/c.txt": "", "x.csv": ""})
    assert _names(tmp_path, "data/*.csv") == {"shop.py", "data/a.csv"}
    assert _names(tmp_path, "**/*.csv") == {"shop.py", "data/a.csv", "data/deep/b.csv", "x.csv"}
    assert _names(tmp_path, "data", "x.csv") == {"shop.py", "data/a.csv", "data/deep/b.csv", "data/c.txt", "x.csv"}


@pytest.mark.parametrize("name", SECRETS)
def test_what_is_nobody_elses_travels_only_if_it_is_named(tmp_path: Path, name: str) -> None:
    _tree(tmp_path, {"shop.py": "", "users.csv": "", name: "secret"})
    for pattern in ("*", "**/*"):
        assert name not in _names(tmp_path, pattern)
    assert name in _names(tmp_path, name)
    assert name not in _names(tmp_path, arguments=("--file", name))


def test_a_pattern_with_a_hidden_folder_does_not_name_the_keys_in_it(tmp_path: Path) -> None:
    _tree(tmp_path, {"shop.py": "", ".data/users.csv": "", ".data/key.pem": ""})
    assert _names(tmp_path, ".data/*") == {"shop.py", ".data/users.csv"}
    assert _names(tmp_path, ".data/*.pem") == {"shop.py", ".data/key.pem"}


def test_files_that_the_locustfiles_own_options_name_travel(tmp_path: Path) -> None:
    _tree(tmp_path, {"shop.py": "", "users.csv": "", "items.csv": ""})
    (tmp_path.parent / "outside.csv").write_text("")
    arguments = ("Visitor", "--users-file", "users.csv", "--items=./items.csv", "--other", "../outside.csv", "--n", "5")
    assert _names(tmp_path, arguments=arguments) == {"shop.py", "users.csv", "items.csv"}


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("*.csv", "{} has no such file"),
        ("../*", "a pattern for files below {}, such as data/\\*.csv"),
        ("/etc/passwd", "a pattern for files below {}, such as data/\\*.csv"),
        ("", "a pattern for files below {}, such as data/\\*.csv"),
        ("deep", "deep/.env travels only if it is named; hidden files, keys and stores do not"),
    ],
)
def test_a_pattern_without_a_file_is_refused(tmp_path: Path, pattern: str, why: str) -> None:
    _tree(tmp_path, {"shop.py": "", "deep/.env": ""})
    with pytest.raises(UsageError, match=f"^--ship .*: {why.format(tmp_path)}$"):
        _names(tmp_path, pattern)


def test_files_that_are_too_large_together_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tree(tmp_path, {"shop.py": "", "a.bin": "x" * (3 << 20)})
    monkeypatch.setattr(module, "MAX_SHIPMENT_BYTES", 1 << 20)
    with pytest.raises(UsageError, match=r"have 3 MiB, and at most 1 MiB travel .* a\.bin \(3 MiB\)"):
        _names(tmp_path, "a.bin")


def test_the_log_lists_them_with_sizes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "plimsoll.run")
    _tree(tmp_path, {"shop.py": "pass", "data/a\x1b.csv": "x" * 2048, "data/b.csv": ""})
    plan = RunPlan(locustfiles=(str(tmp_path / "shop.py"),), ship=("data",))
    monkeypatch.setattr(module, "MOST_LISTED", 2)
    Shipment.of(plan, tmp_path).log()
    lines = [each.getMessage() for each in caplog.records]
    assert lines[0] == f"3 files of {tmp_path} travel to the workers, 2.0 KiB:"
    assert lines[1].endswith(".csv  2.0 KiB") and "\x1b" not in lines[1]
    assert lines[2:] == ["    data/b.csv  0 bytes", "    and 1 more"]


def test_a_run_of_native_users_has_no_files(tmp_path: Path) -> None:
    assert Shipment.of(RunPlan(), tmp_path) == Shipment()
