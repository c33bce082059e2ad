"""The applications, by a short name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.scenarios.applications import jupyterhub, kinto, oidc, oscar, pocketbase, redmine, vendure, wordpress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.scenarios.application import Application

APPLICATIONS: Mapping[str, Application] = {
    "jupyterhub": jupyterhub.APPLICATION,
    "kinto": kinto.APPLICATION,
    "oidc": oidc.APPLICATION,
    "oscar": oscar.APPLICATION,
    "pocketbase": pocketbase.APPLICATION,
    "redmine": redmine.APPLICATION,
    "vendure": vendure.APPLICATION,
    "wordpress": wordpress.APPLICATION,
}
