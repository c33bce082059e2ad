"""The applications, by a short name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.scenarios.applications import jupyterhub, oidc, pocketbase, redmine, wordpress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.scenarios.application import Application

APPLICATIONS: Mapping[str, Application] = {
    "jupyterhub": jupyterhub.APPLICATION,
    "oidc": oidc.APPLICATION,
    "pocketbase": pocketbase.APPLICATION,
    "redmine": redmine.APPLICATION,
    "wordpress": wordpress.APPLICATION,
}
