"""The checks, one function per rule card, each registered by its code when its module is imported."""

from importlib import import_module
from pkgutil import iter_modules

from pytest_cvaudit.checks.registry import (
    CHECKS,
    Hit,
    Irrelevant,
    Result,
    Rival,
    Subject,
    SuppressionUse,
    Unsure,
    check,
    run,
)

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["CHECKS", "Hit", "Irrelevant", "Result", "Rival", "Subject", "SuppressionUse", "Unsure", "check", "run"]
