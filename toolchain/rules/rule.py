"""What is said of a rule, whatever it checks."""

from __future__ import annotations

from enum import Enum
from typing import Protocol


class Severity(str, Enum):
    """How bad it is: an error fails the check."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


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
