"""All rules, those included that are not about one module: whoever lists rules imports them from here."""

from __future__ import annotations

from toolchain.air import baseline
from toolchain.air.rules.checking import rules

ELSEWHERE = (baseline,)
"""Modules outside of this package that describe rules; importing them registers these."""

__all__ = ["ELSEWHERE", "rules"]
