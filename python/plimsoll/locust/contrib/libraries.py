"""Client libraries that Plimsoll does not bring along."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def library(module: str, package: str) -> Any:
    """The module; raises ImportError that says which package to install if it is not there."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            # The library is there, and misses something itself.
            raise
        raise ImportError(f"{module} is not installed: pip install {package}", name=module) from error
