"""What a run says whose requests or responses fill the network interface of the load generator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.stats.headline.runs import CLOSED, SOUND, interval, view_of

from plimsoll.record.manifest import Computer, NetworkLink
from plimsoll.say.headline import headline
from plimsoll.stats.headline import diagnose

if TYPE_CHECKING:
    from plimsoll.stats.view import RunView

OF_8 = replace(CLOSED, machine=Computer(link=NetworkLink(interface="eth0", mbit_s=8)))


def carrying(seconds: int, **volume: int) -> RunView:
    """volume: bytes of each second, besides 100 requests without any."""
    view = view_of(seconds, length=float(seconds))
    view.add([replace(interval(second, 0), **volume) for second in range(seconds)], [], [])
    return view


@pytest.mark.parametrize(
    ("volume", "said"),
    [
        ({"bytes_in": 960_000, "bytes_out": 500_000}, "Responses take 7.68 of the 8 Mbit/s of eth0, the network"),
        ({"bytes_in": 10, "bytes_out": 850_000}, "Requests take 6.80 of the 8 Mbit/s of eth0, the network"),
    ],
)
def test_a_full_interface_leads_and_is_the_bottleneck(volume: dict[str, int], said: str) -> None:
    found = headline(diagnose(carrying(10, **volume), OF_8, SOUND))
    assert (found.target.tone, found.target.title) == ("warning", "The network link is full")
    assert found.target.text.startswith(said)
    assert (found.bottleneck.title, found.bottleneck.text) == ("The network link", found.target.text)


@pytest.mark.parametrize(
    ("seconds", "volume", "manifest"),
    [
        (10, {"bytes_in": 800_000}, OF_8),  # 80 %
        (4, {"bytes_in": 960_000}, OF_8),
        (10, {"bytes_in": 960_000}, CLOSED),
    ],
)
def test_less_a_short_run_and_an_unknown_speed_say_nothing(seconds: int, volume: Any, manifest: Any) -> None:
    found = headline(diagnose(carrying(seconds, **volume), manifest, SOUND))
    assert found.target.title == "Nothing conspicuous"
    assert found.bottleneck.title != "The network link"
