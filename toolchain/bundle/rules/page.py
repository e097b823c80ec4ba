"""docs/bundle-rules.md, made from the rules themselves; a test keeps the page current.

`python -m toolchain.bundle.rules.page > docs/bundle-rules.md` writes it.
"""

from __future__ import annotations

import sys
from dataclasses import fields

from toolchain.bundle.rules.checking import rules
from toolchain.bundle.rules.limits import WORDS
from toolchain.bundle.rules.profiles import PROFILES, Limits
from toolchain.rules import explain

_HEAD = """# The rules of `toolchain check bundle`

This page is made from the rules (`toolchain/bundle/rules/`). `toolchain check explain ID` prints one of them.

A rule reads the code in the bundle (SPIR-V, WGSL, MSL, PTX, the DXIL container), never what the bundle says of it.
Errors and warnings end the command with exit code 1, with `--fail-on error` errors alone; notes never. A finding that
is meant can be allowed in the manifest, by rule and entry, with a reason; it is then shown as allowed. `--deep` asks
other validators too, where they are installed; one that is not is shown as not run. What only a device can tell is not
here.

"""


def text() -> str:
    """The page."""
    return explain.page(_HEAD, rules()) + _profiles()


def _profiles() -> str:
    names = [one.name for one in fields(Limits)]
    parts = ["\n## Profiles\n\nMost of each thing that a profile allows; a stage where nothing else is said.\n"]
    for profile in PROFILES.values():
        when = "always checked" if profile.always else "where demanded"
        targets = ", ".join(target.language for target in profile.targets)
        parts.append(f"\n### {profile.name}\n\n{profile.title}, rule {profile.rule}, {targets}; {when}.")
        parts.append(f" Source: {profile.source}.\n\n| what | most |\n|---|---|\n")
        for name in names:
            value = getattr(profile.limits, name)
            if value is not None:
                parts.append(f"| {WORDS[name]} | {value:,} |\n")
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(text())
