"""The session of requests that HttpSession is compared with."""

from __future__ import annotations

import requests


def oracle() -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.headers["Accept-Encoding"] = "gzip, deflate, br"
    return session
