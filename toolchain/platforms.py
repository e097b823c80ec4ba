"""The platforms that a pin can name, and which one a machine is."""

from __future__ import annotations

from dataclasses import dataclass

SYSTEMS = ("linux", "macos", "windows")
ARCHITECTURES = ("x86_64", "aarch64")

_SYSTEM_NAMES = {"linux": "linux", "darwin": "macos", "win32": "windows", "cygwin": "windows"}
_ARCHITECTURE_NAMES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


@dataclass(frozen=True, order=True)
class Platform:
    """An operating system and an architecture; written `linux-x86_64`."""

    system: str
    architecture: str

    def __str__(self) -> str:
        return f"{self.system}-{self.architecture}"

    @classmethod
    def parse(cls, text: str) -> Platform:
        """Read `linux-x86_64`. Raises ValueError that lists the platforms there are."""
        for platform in ALL:
            if str(platform) == text:
                return platform
        raise ValueError(f"unknown platform {text!r}; expected one of {', '.join(map(str, ALL))}")

    @classmethod
    def of_machine(cls, system: str, machine: str) -> Platform:
        """From `sys.platform` and `platform.machine()`. Raises ValueError for a machine that no pin can name."""
        try:
            return cls(_SYSTEM_NAMES[system], _ARCHITECTURE_NAMES[machine.lower()])
        except KeyError:
            raise ValueError(
                f"no pins exist for {system!r} on {machine!r}; expected one of {', '.join(map(str, ALL))}"
            ) from None


ALL = tuple(Platform(system, architecture) for system in SYSTEMS for architecture in ARCHITECTURES)
