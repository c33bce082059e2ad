"""What Locust installs beside itself: locustfiles import it without having asked for it."""

from __future__ import annotations

BROUGHT_BY_LOCUST = frozenset(
    {
        "bidict", "blinker", "brotli", "configargparse", "engineio", "flask", "flask_cors", "flask_login",
        "geventhttpclient", "itsdangerous", "jinja2", "markupsafe", "pytest", "simple_websocket", "socketio",
        "websocket", "werkzeug", "wsproto", "zmq",
    }
)  # fmt: skip
"""Importable names of the extra `locust` in pyproject.toml, and of what that needs itself."""


def hint(error: BaseException) -> str:
    """What to do about a failed import, to be put after the error's own words; "" where there is nothing to say."""
    name = error.name if isinstance(error, ImportError) else None
    if name is None or name.partition(".")[0] not in BROUGHT_BY_LOCUST:
        return ""
    return "; Locust brings it along, here it is an extra: pip install 'plimsoll[locust]'"
