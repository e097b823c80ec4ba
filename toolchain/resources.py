"""Where the files that come with this package are: native sources, pins, patches.

An installed package carries copies of them; a checkout (also when it is installed editable) has them beside the
package, and those are used there, so that an edit takes effect at once.
"""

from __future__ import annotations

from pathlib import Path

from toolchain.errors import InstallError

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent


def native_sources() -> Path:
    """The folder with the native CMakeLists.txt, from which the recorder is built. Raises InstallError."""
    return _find("native", "native", holds="CMakeLists.txt")


def patches() -> Path:
    """The folder of patches, one folder a pin. Raises InstallError."""
    return _find("patches", "data/patches", holds=None)


def pins_file() -> Path:
    """The pins that came with this package. Raises InstallError."""
    return _find("pins.toml", "data/pins.toml", holds=None)


def _find(in_checkout: str, in_package: str, *, holds: str | None) -> Path:
    candidates = [_PACKAGE / in_package]
    if (_CHECKOUT / "pyproject.toml").is_file() and (_CHECKOUT / "native" / "CMakeLists.txt").is_file():
        candidates.insert(0, _CHECKOUT / in_checkout)
    for candidate in candidates:
        if (candidate / holds if holds else candidate).exists():
            return candidate
    raise InstallError(
        f"this package should carry {in_package}, which is at none of: {', '.join(map(str, candidates))}",
        hint="reinstall gpu-toolchain",
    )
