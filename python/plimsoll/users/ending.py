"""How users end: asked, or killed; and what becomes of those who go on nonetheless."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

import gevent

from plimsoll.users.state import STOPPING, WAITING
from plimsoll.users.user import User

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gevent import Greenlet

    KilledUsers = Mapping[Greenlet[..., Any], object]
    """Greenlets and their users; None for one that the user's own code has started in the group."""

LOOK_INTERVAL_S = 0.5
"""Seconds between two looks at the users that were killed."""
OWN_STOP_S = 5.0
"""Seconds that all `stop` methods of the script have together before their users are killed."""
MOST_SENT = 3
"""Requests that each of them may send meanwhile, to clean up."""

logger = logging.getLogger(__name__)


def end_users(users: Sequence[User], timeout: float) -> int:
    """Stop all users at once; returns after the last on_stop. How many are left behind, as by `wait_until_gone`.

    timeout: seconds that each user has for its current task before it is killed.
    """
    greenlets = [user.greenlet for user in users if user.greenlet is not None]
    if timeout:
        for user in users:
            _ask_to_stop(user)
        gevent.joinall(greenlets, timeout)
    elif own := [user for user in users if _has_own_stop(user)]:
        stops = [gevent.spawn(user.stop, force=True) for user in own]
        kill_users({user.greenlet for user in users if user.greenlet is not None} - {user.greenlet for user in own})
        gevent.joinall(stops, OWN_STOP_S)
    return wait_until_gone(kill_users(greenlets))


def kill_users(greenlets: Iterable[Greenlet[..., Any]]) -> KilledUsers:
    """Returns at once. The code of a user may catch this, in a bare `except:`; then it ends with its task."""
    # A greenlet that is killed forgets its arguments.
    killed = {each: next(iter(each.args), None) for each in list(greenlets)}
    for user in killed.values():
        if isinstance(user, User):
            user._state = STOPPING
    gevent.killall(list(killed), block=False)
    return killed


def wait_until_gone(killed: KilledUsers) -> int:
    """Wait for users that were killed, until the last on_stop has ended.

    A task that catches this and never ends would keep a run from ending, and its load. Code that only cleans up sends
    little. If users are in tasks, none leaves, and they send `MOST_SENT` requests each, all that are left are left
    behind. This is logged, and returned is how many they are: the caller sees to it that they send nothing more.
    """
    left = [each for each in killed if not each.dead]
    since = _sent(killed)
    while left:
        gevent.joinall(left, LOOK_INTERVAL_S)
        before, left = left, [each for each in left if not each.dead]
        if len(left) < len(before):
            since = _sent(killed)
        elif _sent(killed) - since >= MOST_SENT * len(left) and not all(map(_is_leaving, map(killed.get, left))):
            names = Counter(type(killed[each]).__name__ for each in left)
            logger.error(
                "tasks go on after the end of their users, which they catch (`except:` without an exception?): %s. "
                "These are left behind, and their last requests are not counted",
                ", ".join(f"{count} users of {name}" for name, count in names.items()),
            )
            return len(left)
    return 0


def _sent(killed: KilledUsers) -> int:
    """Requests of the process so far."""
    users = (user for user in killed.values() if isinstance(user, User))
    return next((user.environment.hub.engine.sent for user in users), 0)


def _is_leaving(user: object) -> bool:
    """Its last task is over. What is no user has none."""
    return not isinstance(user, User) or user._is_leaving


def _has_own_stop(user: User) -> bool:
    """Its class replaces `User.stop`."""
    return type(user).stop is not User.stop


def _ask_to_stop(user: User) -> None:
    """As `User.stop` without waiting for its end, and without a greenlet per user: with thousands of busy users, new
    greenlets run only seconds later, and the load would go on until then."""
    if _has_own_stop(user) or user._state is None:
        # A user that has not begun runs first, and ends after its first task.
        gevent.spawn(user.stop)
    elif user._state == WAITING:
        if user._group is not None and user._greenlet is not None:
            user._group.killone(user._greenlet, block=False)
    else:
        user._state = STOPPING
