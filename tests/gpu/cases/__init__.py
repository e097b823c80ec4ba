"""The device tests. Importing this registers all of them."""

from tests.gpu.cases import (
    arguments,
    bad_input,
    bundles,
    commands,
    compute,
    demanding,
    handles,
    loss,
    raster,
    reads,
    rules,
    strict,
    textures,
    threads,
    unbindable,
)

__all__ = [
    "arguments",
    "bad_input",
    "bundles",
    "commands",
    "compute",
    "demanding",
    "handles",
    "loss",
    "raster",
    "reads",
    "rules",
    "strict",
    "textures",
    "threads",
    "unbindable",
]
