"""The device tests. Importing this registers all of them."""

from tests.gpu.cases import (
    bad_input,
    bundles,
    commands,
    compute,
    demanding,
    handles,
    loss,
    raster,
    reads,
    strict,
    textures,
    threads,
    unbindable,
)

__all__ = [
    "bad_input",
    "bundles",
    "commands",
    "compute",
    "demanding",
    "handles",
    "loss",
    "raster",
    "reads",
    "strict",
    "textures",
    "threads",
    "unbindable",
]
