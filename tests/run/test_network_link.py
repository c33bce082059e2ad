from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.record.manifest import NetworkLink
from plimsoll.run.network_link import link_of, link_to

if TYPE_CHECKING:
    from pathlib import Path


def interface(root: Path, name: str, speed: str | None, *, is_physical: bool = True) -> None:
    folder = root / name
    folder.mkdir()
    if is_physical:
        (folder / "device").mkdir()
    if speed is not None:
        (folder / "speed").write_text(f"{speed}\n")


def test_a_physical_interface_has_a_speed(tmp_path: Path) -> None:
    interface(tmp_path, "eth0", "1000")
    assert link_of("eth0", tmp_path) == NetworkLink(interface="eth0", mbit_s=1000)


@pytest.mark.parametrize(
    ("speed", "is_physical"),
    [("10000", False), ("-1", True), ("0", True), ("", True), (None, True)],
)
def test_virtual_interfaces_and_unknown_speeds_are_left_out(
    tmp_path: Path, speed: str | None, *, is_physical: bool
) -> None:
    interface(tmp_path, "eth0", speed, is_physical=is_physical)
    assert link_of("eth0", tmp_path) is None
    assert link_of("gone", tmp_path) is None


@pytest.mark.parametrize(
    "urls",
    [
        [],
        ["http://127.0.0.1:8000"],
        ["http://localhost"],
        ["http://[::1]:80/"],
        ["no url", ""],
        ["http://[", "127.0.0.1"],
        ["http://service.invalid/"],
    ],
)
def test_a_target_on_this_machine_or_nowhere_has_no_interface(tmp_path: Path, urls: list[str]) -> None:
    interface(tmp_path, "lo", "10000")
    assert link_to(urls, tmp_path) is None


def test_the_interface_of_the_route_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interface(tmp_path, "eth0", "1000")
    interface(tmp_path, "eth1", "2500")
    routes = {"a": "eth0", "b": "eth0", "c": "eth1"}
    monkeypatch.setattr("plimsoll.run.network_link._interface", routes.get)
    assert link_to(["http://a/", "https://b:8443"], tmp_path) == NetworkLink(interface="eth0", mbit_s=1000)
    assert link_to(["http://a", "http://c"], tmp_path) is None, "several interfaces"
    assert link_to(["http://elsewhere"], tmp_path) is None
