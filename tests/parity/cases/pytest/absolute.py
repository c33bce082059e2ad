"""Test functions as users, without a host: absolute URLs need none; a path alone is no URL."""

import os

import pytest
from parity import note

TARGET = os.environ["PARITY_TARGET"]


def test_requests(session):
    note("base", session.base_url)
    note("get", session.get(f"{TARGET}/session").status_code)
    with pytest.raises(Exception) as caught:
        session.get("/path")
    note("path", type(caught.value).__name__)
    session.user.environment.runner.quit()


def test_fast(fastsession):
    note("fast base", fastsession.base_url)
    note("fast get", fastsession.get(f"{TARGET}/fast").status_code)
    fastsession.user.environment.runner.quit()


# option: bare unordered
# run session: -f locustfile.py,probe.py --headless -u 1 test_requests
# run fast: -f locustfile.py,probe.py --headless -u 1 test_fast
