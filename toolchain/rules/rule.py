"""What is said of a rule, whatever it checks."""

from __future__ import annotations

from enum import Enum
from typing import Protocol


class Severity(str, Enum):
    """How bad it is. An error is wrong, a warning may be meant, a note is never to be acted on alone."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return _RANKS[self]


_RANKS = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}

# A warning that nobody looks at is no warning: it is mended, or allowed with a reason.
FAIL_ON = Severity.WARNING
"""The least severity that ends a check with exit code 1, where nothing else is asked for."""


class Judged(Protocol):
    """A finding, with its severity and the reason of what allows it, empty where nothing does."""

    @property
    def severity(self) -> Severity: ...
    @property
    def allowed(self) -> str: ...


def fails(finding: Judged, fail_on: Severity = FAIL_ON) -> bool:
    """Whether a check ends with exit code 1 because of a finding: as severe as `fail_on` or worse, and not allowed."""
    return not finding.allowed and finding.severity.rank <= fail_on.rank


class Described(Protocol):
    """A rule as people read it. `why` it fails in the field, how to `mend` it, and the `source` of both: a
    specification's section, an upstream issue, or what was measured. `limits` says what the rule cannot see."""

    @property
    def id(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def mend(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def limits(self) -> str: ...
