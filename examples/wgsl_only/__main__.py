"""A bundle for browsers alone: no WebGPU device is needed, Dawn's null backend validates code and bind groups."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from examples.steps import OUTPUT, choices, make, toolchain

HERE = Path(__file__).parent


def main() -> None:
    """Make, check, hand to Dawn what a page would use: the code, and the rows for its bind groups."""
    chosen = choices(__doc__)
    path = make(chosen, HERE, "ripple.dgb")
    folder = OUTPUT / "ripple"
    shutil.rmtree(folder, ignore_errors=True)
    toolchain(chosen, "bundle", "extract", "--quiet", path, "-o", folder)
    search = json.loads(toolchain(chosen, "env", "dawn-node", "--json", capture=True))["search"]
    node = shutil.which("node")
    if node is None:
        sys.exit("node is not installed: Dawn for Node.js needs it")
    variables = {**os.environ, **{name: os.pathsep.join(folders) for name, folders in search.items()}}
    command = [node, str(HERE / "validate.cjs"), str(folder / "bundle.json")]
    sys.exit(subprocess.run(command, env=variables, check=False).returncode)


if __name__ == "__main__":
    main()
