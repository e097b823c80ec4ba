"""What the samples share: a bundle made and checked with the command line, and a device to run it on."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolchain.errors import HostError, ToolchainError
from toolchain.host import Backend, Bundle, Device, Host

CHECKOUT = Path(__file__).resolve().parent.parent
OUTPUT = CHECKOUT / "build" / "examples"
WAIT_S = 120.0


@dataclass(frozen=True)
class Choices:
    """What the command line asks for. `tool` are options of every `toolchain` command, such as --root."""

    tool: tuple[str, ...]
    library: Path | None
    backend: Backend
    adapter: int | None


def choices(description: str | None, arguments: Sequence[str] | None = None) -> Choices:
    """The command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", help="folder of installed tools")
    parser.add_argument("--cache", help="archive cache")
    parser.add_argument("--library", type=Path, help="libdream_host_gpu [built with `toolchain build native`]")
    parser.add_argument("--backend", choices=[one.name.lower() for one in Backend], default="auto")
    parser.add_argument("--adapter", type=int, help="which device of the backend [any]")
    found = parser.parse_args(arguments)
    tool = [f"--{name}={value}" for name in ("root", "cache") if (value := getattr(found, name))]
    return Choices(tuple(tool), found.library, Backend[found.backend.upper()], found.adapter)


def toolchain(chosen: Choices, *arguments: str | Path, capture: bool = False) -> str:
    """Run this environment's `toolchain`; ends the sample where it fails."""
    command = [sys.executable, "-m", "toolchain", *map(str, arguments), *chosen.tool]
    ended = subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.PIPE if capture else None, text=True, check=False)
    if ended.returncode:
        sys.exit(ended.returncode)
    return ended.stdout or ""


def make(chosen: Choices, folder: Path, bundle: str) -> Path:
    """The bundle of a sample's manifest: regenerated, checked."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    path = OUTPUT / bundle
    toolchain(chosen, "bundle", "regenerate", "--quiet", folder / "bundle.toml")
    toolchain(chosen, "check", "bundle", "--quiet", path)
    sys.stdout.flush()
    return path


def need_driver(chosen: Choices) -> None:
    """End the sample where a host would be built, which takes minutes, and no driver is there to run it.

    Linux alone is asked, where WebGPU too runs over Vulkan; elsewhere the system has a driver.
    """
    if chosen.library is not None or not sys.platform.startswith("linux"):
        return
    command = [sys.executable, "-m", "toolchain.gpu_probe"]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    found = json.loads(ended.stdout) if ended.returncode == 0 else {}
    api = "cuda" if chosen.backend is Backend.CUDA else "vulkan"
    if not found.get(api, {}).get("devices"):
        print(f"error: no {api} device is here; `toolchain doctor` says what there is", file=sys.stderr)
        sys.exit(HostError.exit_code)


@contextmanager
def opened(chosen: Choices, path: Path) -> Iterator[tuple[Device, Bundle]]:
    """The host's device for a bundle, and the bundle in the host."""
    library = chosen.library
    if library is None:
        built = json.loads(toolchain(chosen, "build", "native", "--json", "--quiet", capture=True))["built"]
        library = Path(built["root"]) / built["host"]["library"]
    try:
        with Host.load(library) as host, host.bundle(path.read_bytes()) as bundle:
            with host.open(chosen.backend, adapter=chosen.adapter, backend_mask=bundle.mask) as device:
                info = device.info
                print(f"{path.name} on {info.backend.name.lower()}: {info.adapter_name}")
                yield device, bundle
            if host.mapped_compiler is not None:
                sys.exit(f"a shader compiler was loaded: {host.mapped_compiler}")
    except ToolchainError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(error.exit_code)
