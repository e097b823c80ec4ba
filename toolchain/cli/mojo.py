"""The installed Mojo compiler, for commands that need the pinned one and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from toolchain import installed
from toolchain.cli import warm
from toolchain.cli.options import Settings
from toolchain.cli.pinned import host, load_pins, pin_files
from toolchain.errors import InstallError
from toolchain.installed import Toolchain

if TYPE_CHECKING:
    from toolchain.air.compiler import Compiler

NAME = "mojo"
_AGAIN = f"toolchain install {NAME}; its licence is shown with the pin: toolchain pins show {NAME}"


def compiler(settings: Settings) -> Compiler:
    """The compiler that the pins in use make, installed and undamaged. Raises InstallError for any other."""
    from toolchain.air.compiler import Compiler

    root = _receipt(settings) or _pinned(settings)
    version = next(
        (found[1] for one in root.record.archives if (found := re.match(r"mojo_compiler-([\d.]+)-", one.file))), None
    )
    if version is None:
        raise InstallError(f"{root.root}: expected the compiler's wheel among its archives, seen none", hint=root.again)
    return Compiler(root.root / "bin" / "mojo", root.environment().variables, version, root.record.key.hex)


def _receipt(settings: Settings) -> Toolchain | None:
    """The root that the last `toolchain install` made or found, where neither it nor the pins have changed."""
    asked = str(settings.pins_file) if settings.pins_file is not None else None
    toolchains = str(settings.paths.toolchains)
    kept = warm.current(toolchains, NAME, warm.DEFAULT_PROFILE, warm.state(asked, NAME, warm.DEFAULT_PROFILE))
    if kept is None:
        return None
    try:
        return installed.read(Path(kept.root))
    except InstallError:
        return None


def _pinned(settings: Settings) -> Toolchain:
    from toolchain import install
    from toolchain.pins import Profile
    from toolchain.sources.trees import patch

    profile = Profile(warm.DEFAULT_PROFILE)
    (pin,) = load_pins(settings).select([NAME], profile, host())
    key = install.key_of(pin, profile, host(), patch.load(pin_files(settings).patches / pin.name))
    root = installed.find(settings.paths.toolchains, NAME, None, key, otherwise=_AGAIN)
    if root.record.key != key:
        raise InstallError(
            f"{root.root}: expected {NAME} {pin.version} as it is pinned, seen {root.record.version}",
            hint=_AGAIN,
            details={"root": str(root.root), "expected": pin.version, "seen": root.record.version},
        )
    if (damage := installed.damage(root)) is not None:
        raise damage
    return root
