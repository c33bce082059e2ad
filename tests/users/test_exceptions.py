"""What locustfiles raise and catch."""

from __future__ import annotations

import pytest

from plimsoll.users import exceptions


@pytest.mark.parametrize("reschedule", [True, False])
def test_an_interrupt_carries_what_the_parent_shall_do(reschedule):
    assert exceptions.InterruptTaskSet(reschedule).reschedule is reschedule


def test_an_interrupt_reschedules_unless_told_otherwise():
    assert exceptions.InterruptTaskSet().reschedule is True


def test_a_damaged_message_may_be_somebodys():
    assert exceptions.RPCReceiveError("damaged", addr=b"worker").addr == b"worker"
    assert str(exceptions.RPCReceiveError("damaged")) == "damaged"
