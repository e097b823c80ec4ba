"""What the rules said of a module, kept by its text, so that a run with nothing changed starts no process.

Only of modules that were emitted here. The build of the rules, of the scanner and of LLVM is part of the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolchain.air import kept, made_by
from toolchain.air.emit import Emitted
from toolchain.air.files import Outcome
from toolchain.air.rules.checking import AirFinding, KernelSummary, Policy
from toolchain.digest import Sha256
from toolchain.fingerprint import fingerprint
from toolchain.rules.rule import Severity

FORMAT = 2


@dataclass(frozen=True)
class Question:
    """All that decides a verdict. Equal questions, equal verdicts."""

    text: str  # the digest of the module's text
    symbol: str
    policy: str
    judge: str

    def file(self, cache: Path) -> Path:
        """Where the answer is kept."""
        return cache / kept.FOLDER / f"{fingerprint(self.to_json()).hex}.verdict.json"

    def to_json(self) -> dict[str, object]:
        """The question as a JSON object."""
        return {"format": FORMAT, **vars(self)}


def question(one: Emitted, policy: Policy) -> Question:
    """What is to be judged, by the code that is there now."""
    return Question(Sha256.of(one.text.encode()).hex, one.symbol, repr(policy), made_by.judge().hex)


def load(cache: Path, asked: Question) -> Outcome | None:
    """The kept verdict, or None."""
    try:
        body = kept.read(asked.file(cache))
        if body["question"] != asked.to_json():
            return None
        one = body["outcome"]
        return Outcome(
            one["name"],
            tuple(_finding(finding) for finding in one["findings"]),
            tuple(KernelSummary(**row) for row in one["kernels"]),
            one["functions"],
            one["calls"],
        )
    except kept.FAULTS:
        return None


def save(cache: Path, asked: Question, outcome: Outcome) -> None:
    """Keep a verdict, unless the module could not be read. Raises AirError where the disk takes no file."""
    if outcome.error is not None:
        return
    said = {
        "name": outcome.name,
        "findings": [one.to_json() for one in outcome.findings],
        "kernels": [row.to_json() for row in outcome.kernels],
        "functions": outcome.functions,
        "calls": outcome.calls,
    }
    kept.write(asked.file(cache), kept.whole({"question": asked.to_json(), "outcome": said}))


def at_kernel(outcome: Outcome, one: Emitted) -> Outcome:
    """The outcome of an emitted module as its kernel's: findings name the Mojo source first, then the module's line."""
    findings = tuple(
        replace(found, where=f"{one.kernel.where}, {found.where}", file=one.kernel.file, line=one.kernel.line)
        for found in outcome.findings
    )
    return replace(outcome, findings=findings)


def _finding(raw: Mapping[str, object]) -> AirFinding:
    given = dict(raw)
    chain = given.pop("chain")
    if not isinstance(chain, list):
        raise TypeError("a call chain is no list")
    severity = Severity(given.pop("severity"))
    return AirFinding(**given, severity=severity, chain=tuple(chain))  # type: ignore[arg-type]
