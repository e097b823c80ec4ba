"""The house keeps its shape: imports point downward, and each effect stays in its room (docs/architecture.md)."""

import ast
from pathlib import Path

import pytest

import toolchain

PACKAGE = Path(toolchain.__file__).parent

# A module may import from its own floor's rooms only as listed, and from every floor below it.
FLOORS: tuple[frozenset[str], ...] = (
    frozenset({"cli"}),
    frozenset({"install", "host_build", "regenerate", "doctor", "gpu_probe", "pins_update", "pins_check"}),
    frozenset({"installed"}),
    frozenset({"bundle", "air"}),
    frozenset({"sources", "build", "layout", "host"}),
    frozenset({"pins", "fingerprint", "environment", "receipt", "paths", "platforms", "progress", "toml"}),
    frozenset(
        {"addresses", "errors", "cores", "digest", "documents", "files", "findings", "locks", "rules", "_native"}
    ),
)

ROOMS: dict[str, frozenset[str]] = {
    "click": frozenset({"cli"}),
    "rich": frozenset({"cli"}),
    "requests": frozenset(
        {
            "sources/network/http.py",
            "sources/indexes/index.py",
            "sources/indexes/listing.py",
            "sources/network/failure.py",
        }
    ),
    "socket": frozenset({"sources/network/http.py", "sources/network/failure.py", "locks.py"}),
    "subprocess": frozenset({"build/process.py"}),
    "sigstore": frozenset({"sources/cache/attestation.py"}),
    "sigstore_models": frozenset({"sources/cache/attestation.py"}),
    "cryptography": frozenset({"sources/cache/attestation.py"}),
    "tomlkit": frozenset({"pins/edit.py"}),
    "llvmlite": frozenset({"air/llvm.py"}),
    "ctypes": frozenset({"host", "gpu_probe.py", "bundle/validators/dxc_child.py"}),
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def floor_of(top: str) -> int | None:
    return next((number for number, names in enumerate(FLOORS) if top in names), None)


def top_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> list[str]:
    """Absolute dotted names of everything a module imports, relative imports resolved."""
    names: list[str] = []
    package = ["toolchain", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = [*base, *(node.module.split(".") if node.module else [])]
            names += [".".join([*stem, alias.name]) for alias in node.names]
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downward(path: Path) -> None:
    top = top_of(path)
    if top in ("__init__", "__main__"):
        return
    mine = floor_of(top)
    assert mine is not None, f"{path.relative_to(PACKAGE)} stands on no floor; add it to FLOORS and the drawing"
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "toolchain" or len(parts) < 2:
            continue
        theirs = floor_of(parts[1])
        if theirs is None or parts[1] == top:
            continue
        assert theirs >= mine, f"{path.relative_to(PACKAGE)} imports upward: {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_effects_stay_in_their_rooms(path: Path) -> None:
    relative = path.relative_to(PACKAGE).as_posix()
    for name in imported(path):
        allowed = ROOMS.get(name.split(".")[0])
        if allowed is not None:
            assert relative in allowed or relative.split("/")[0] in allowed, f"{relative} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_cli_reads_the_environment(path: Path) -> None:
    relative = path.relative_to(PACKAGE).as_posix()
    if relative.startswith("cli/") or relative == "build/process.py":  # the latter hands it on to children
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv"):
            pytest.fail(f"{relative}:{node.lineno} reads the environment")


def test_what_commands_print_goes_through_one_place() -> None:
    """`say` masks what would play with a terminal: names of files, of archives' records, of bundles."""
    printing = {"toolchain/cli/text.py", "toolchain/cli/document.py"}
    # These print before click is imported: a version, and what `say` printed when a receipt was written.
    warm = {f"toolchain/cli/{name}.py" for name in ("warm", "warm_air", "warm_bundle")}
    plain = {"toolchain/__main__.py", "toolchain/gpu_probe.py", *warm}
    for path in modules():
        relative = path.relative_to(PACKAGE.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            assert called not in ("click.echo", "click.secho") or relative in printing, f"{relative}:{node.lineno}"
            assert called != "print" or relative in plain, f"{relative}:{node.lineno}"
