"""The Vulkan without a GPU that ci/software-vulkan.sh arranges."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from recording import CHECKOUT

_ICDS = (
    (Path("/usr/share/vulkan/icd.d"), "lvp_icd*.json"),
    (CHECKOUT / "build" / "swiftshader", "vk_swiftshader_icd.json"),
    (Path("/usr/lib/chromium"), "vk_swiftshader_icd.json"),
)


def drivers() -> list[Path]:
    """The manifests of the software drivers that are here: lavapipe's, then SwiftShader's; empty for none."""
    if not sys.platform.startswith("linux"):
        return []
    found: dict[str, Path] = {}
    for folder, pattern in _ICDS:
        for path in sorted(folder.glob(pattern)):
            found.setdefault(path.name.partition("_icd")[0], path)
    return list(found.values())


def environment() -> dict[str, str]:
    """This process's environment, with the software drivers as the only ones of Vulkan's."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("VK_", "DREAM_"))}
    listed = os.pathsep.join(map(str, drivers()))
    # the second is the newer name of the first; a loader that knows both takes the second
    return {**variables, "VK_ICD_FILENAMES": listed, "VK_DRIVER_FILES": listed}
