"""Files that this package carries beside its code."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def native_sources() -> Path:
    """The folder native/: in the package, or in the checkout that it is an editable install of."""
    packaged = _PACKAGE / "native"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "native"


def pins_file() -> Path:
    """The built-in pins.toml."""
    packaged = _PACKAGE / "data" / "pins.toml"
    return packaged if packaged.is_file() else _PACKAGE.parent / "pins.toml"


def patches() -> Path:
    """The built-in patches/."""
    packaged = _PACKAGE / "data" / "patches"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "patches"
