"""The public list."""

from __future__ import annotations

import subprocess
import sys

import plimsoll
from plimsoll import users


def test_every_public_name_is_there_and_the_same_as_in_users():
    for name in plimsoll.__all__:
        value = getattr(plimsoll, name)
        if name != "__version__":
            assert value is getattr(users, name)


def test_the_list_is_sorted_and_complete():
    assert plimsoll.__all__ == sorted(plimsoll.__all__)
    assert set(plimsoll.__all__) <= set(dir(plimsoll))
    assert set(plimsoll.__all__) - {"__version__"} == set(users.__all__) - {"Environment", "EventHook", "Events"}


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(plimsoll, "no_such_name")


def test_importing_the_package_imports_neither_gevent_nor_requests():
    code = "import plimsoll, sys; print(sorted({'gevent', 'greenlet', 'requests'} & sys.modules.keys()))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
