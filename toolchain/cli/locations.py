"""Where this command reads and writes: options first, then the environment, then the platform's folders.

Plain strings and no import but os, since a warm `toolchain install` goes through here before anything is loaded.
"""

from __future__ import annotations

import os
import sys

LOCAL_PINS = "pins.local.toml"
OFFLINE = "TOOLCHAIN_OFFLINE"

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def cache_folder(option: str | None) -> str:
    """The archive cache: --cache, DREAM_GPU_CACHE, or the platform's cache folder of this user."""
    return _absolute(option or os.environ.get("DREAM_GPU_CACHE") or _user_folder("cache"))


def toolchains_folder(option: str | None) -> str:
    """The folder of installed roots: --root, TOOLCHAIN_ROOT, or the platform's data folder of this user."""
    return _absolute(option or os.environ.get("TOOLCHAIN_ROOT") or os.path.join(_user_folder("data"), "toolchains"))


def pins_file(option: str | None) -> str | None:
    """The pins that were asked for: --pins, TOOLCHAIN_PINS, this folder's pins.toml; None: the built-in ones."""
    asked = option or os.environ.get("TOOLCHAIN_PINS")
    if asked:
        return asked
    return "pins.toml" if os.path.lexists("pins.toml") else None  # a broken link is an error, not a reason for others


def pin_files(asked: str | None) -> tuple[str, str, str]:
    """The pins file, the local one that may override it, and the folder of patches; absolute paths."""
    if asked is not None:
        folder = os.path.dirname(os.path.abspath(asked))
        return os.path.abspath(asked), os.path.join(folder, LOCAL_PINS), os.path.join(folder, "patches")
    return (
        _carried("data/pins.toml", "pins.toml"),
        os.path.abspath(LOCAL_PINS),
        _carried("data/patches", "patches"),
    )


def native_sources() -> str:
    """The native sources that this package carries."""
    return _carried("native", "native")


def own_code(*names: str) -> tuple[str, ...]:
    """Files of this package, by their paths in it: those that decide how a root is made."""
    return tuple(os.path.join(_PACKAGE, name) for name in names)


def _carried(packaged: str, in_checkout: str) -> str:
    """A file that the package carries; an editable install has it in the checkout instead."""
    path = os.path.join(_PACKAGE, packaged)
    return path if os.path.exists(path) else os.path.join(os.path.dirname(_PACKAGE), in_checkout)


def _user_folder(kind: str) -> str:
    """The platform's folder of this user for `cache` or `data`, and ours in it.

    By the XDG Base Directory Specification (which has relative values ignored), Apple's File System Programming Guide
    and Windows' known folder LocalAppData. The library for this, platformdirs, takes twice as long to import as the
    whole warm path.
    """
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~\\AppData\\Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches" if kind == "cache" else "~/Library/Application Support"
    else:
        variable, usual = ("XDG_CACHE_HOME", "~/.cache") if kind == "cache" else ("XDG_DATA_HOME", "~/.local/share")
        base = os.environ.get(variable, "")
        if not os.path.isabs(base):
            base = usual
    return os.path.join(base, "gpu-toolchain", *(("Cache",) if (sys.platform, kind) == ("win32", "cache") else ()))


def _absolute(path: str) -> str:
    if path.startswith("~") and os.environ.get("HOME") == "" and sys.platform != "win32":
        import pwd

        path = pwd.getpwuid(os.getuid()).pw_dir + path[1:]  # empty is as unset: expanduser would take the root folder
    return os.path.abspath(os.path.expanduser(path))
