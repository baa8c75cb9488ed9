"""Import every module that registers handlers, so that the tables are full."""

from __future__ import annotations

import pkgutil
from importlib import import_module

PACKAGES = (
    "tracer_core.polyfills",
    "tracer_core.variables",
    "tracer_core.higher_order",
    "tracer_core.interpreter",
)


def load_handlers() -> None:
    """Import all modules of the packages in which handlers register; doing so again changes nothing."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(found.name)
