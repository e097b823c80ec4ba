"""A sum of 100,000 numbers in two passes, in both group sizes of the bundle."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from examples.steps import WAIT_S, choices, make, need_driver, opened
from toolchain.host import Bundle, Device

COUNT = 100_000


def total(device: Device, bundle: Bundle, group_size: int, numbers: bytes) -> float:
    """The sum, as the device makes it."""
    pipeline = bundle.compute(device, f"reduce{{GROUP_SIZE={group_size}}}")
    source, count = device.buffer(numbers), len(numbers) // 4
    while count > 1:
        groups = -(-count // group_size)
        sums = device.buffer(size_bytes=4 * groups)
        with device.encoder() as commands, commands.compute() as work:
            work.bind(pipeline, {"span.count": struct.pack("<I", count), "span.scale": struct.pack("<f", 1.0)})
            work.set("input", source)
            work.set("sums", sums)
            work.dispatch(groups)
        source, count = sums, groups
    return float(struct.unpack("<f", source.read().bytes(WAIT_S)[:4])[0])


def main() -> None:
    """Make, check, run, compare."""
    chosen = choices(__doc__)
    need_driver(chosen)
    path = make(chosen, Path(__file__).parent, "reduction.dgb")
    numbers = [float(number % 7) for number in range(COUNT)]
    expected = sum(numbers)  # whole numbers below 2**24: exact in float32, in any order
    with opened(chosen, path) as (device, bundle):
        for group_size in (64, 256):
            seen = total(device, bundle, group_size, struct.pack(f"<{COUNT}f", *numbers))
            print(f"  groups of {group_size}: {seen:.0f}, expected {expected:.0f}")
            if seen != expected:
                sys.exit(1)


if __name__ == "__main__":
    main()
