"""How users end: when a test stops, and when their own code ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gevent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.users.user import User


def end_users(users: Sequence[User], timeout: float) -> None:
    """Stop users, all at the same time; returns when the last one's on_stop has.

    timeout: seconds that each has for what it is about, before that is cut off.
    """
    greenlets = [user.greenlet for user in users if user.greenlet is not None]
    if timeout:
        for user in users:
            gevent.spawn(user.stop)
        gevent.joinall(greenlets, timeout)
    gevent.killall(greenlets)
