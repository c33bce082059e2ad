"""Client libraries that Plimsoll does not depend on."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def library(module: str, package: str) -> Any:
    """The module; raises ImportError with the package to install if it is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            # The library is installed, but a dependency of it is missing.
            raise
        raise ImportError(f"{module} is not installed: pip install {package}", name=module) from error
