"""What the rules said of a module, kept by its text, so that a run with nothing changed starts no process.

Only of modules that were emitted here. What this package's own rules are is part of the key: their files, by stat.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from toolchain import __version__
from toolchain.air import kept
from toolchain.air.emit import Emitted
from toolchain.air.files import Outcome
from toolchain.air.rules.checking import AirFinding, KernelSummary, Policy
from toolchain.digest import Sha256
from toolchain.fingerprint import fingerprint
from toolchain.rules.rule import Severity

FORMAT = 1


def key_of(one: Emitted, policy: Policy) -> Sha256:
    """Equal keys, equal verdicts."""
    package = Path(__file__).parent.parent
    code = [*(package / "air").rglob("*.py"), *package.glob("_native*")]
    return fingerprint(
        {
            "format": FORMAT,
            "made_by": __version__,
            "code": sorted([str(path), (stat := path.stat()).st_size, stat.st_mtime_ns] for path in code),
            "text": Sha256.of(one.text.encode()).hex,
            "symbol": one.symbol,
            "policy": repr(policy),
        }
    )


def load(cache: Path, key: Sha256) -> Outcome | None:
    """The kept verdict, or None."""
    try:
        raw = json.loads(_file(cache, key).read_bytes())
        if fingerprint(raw["outcome"]).hex != raw["sha256"]:
            return None
        one = raw["outcome"]
        return Outcome(
            one["name"],
            tuple(_finding(finding) for finding in one["findings"]),
            tuple(KernelSummary(**row) for row in one["kernels"]),
            one["functions"],
            one["calls"],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def save(cache: Path, key: Sha256, outcome: Outcome) -> None:
    """Keep a verdict, unless the module could not be read. Raises AirError where the disk takes no file."""
    if outcome.error is not None:
        return
    body = {
        "name": outcome.name,
        "findings": [one.to_json() for one in outcome.findings],
        "kernels": [row.to_json() for row in outcome.kernels],
        "functions": outcome.functions,
        "calls": outcome.calls,
    }
    kept.write(_file(cache, key), json.dumps({"sha256": fingerprint(body).hex, "outcome": body}))


def at_kernel(outcome: Outcome, one: Emitted) -> Outcome:
    """The outcome of an emitted module as its kernel's: findings name the Mojo source first, then the module's line."""
    findings = tuple(
        replace(found, where=f"{one.kernel.where}, {found.where}", file=one.kernel.file, line=one.kernel.line)
        for found in outcome.findings
    )
    return replace(outcome, findings=findings)


def _file(cache: Path, key: Sha256) -> Path:
    return cache / kept.FOLDER / f"{key.hex}.verdict.json"


def _finding(raw: Mapping[str, object]) -> AirFinding:
    given = dict(raw)
    chain = given.pop("chain")
    if not isinstance(chain, list):
        raise TypeError("a call chain is no list")
    severity = Severity(given.pop("severity"))
    return AirFinding(**given, severity=severity, chain=tuple(chain))  # type: ignore[arg-type]
