"""Bundles: from bytes, where every byte is checked at once, and from files, where each one is before it is used."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.gpu.harness import Rig, Skipped, case, fails
from toolchain.errors import HostError
from toolchain.host import Bundle, RenderState

# No device runs these codes: they are checked before anything is made of them.
DATA = Path(__file__).resolve().parents[2] / "data" / "bundles"
SMALL, REAL, RAYS = DATA / "small.dgb", DATA / "kinds.dgb", DATA / "rays.dgb"


@contextmanager
def copy_of(path: Path) -> Iterator[Path]:
    """A file of its own, to be spoiled."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copy(path, folder))


def on_a_backend_of(rig: Rig, bundle: Bundle) -> None:
    if rig.backend not in bundle.backends:
        raise Skipped("no bundle here has shaders for it")


def first_payload(file: bytes) -> int:
    """Where payloads begin, by the index (docs/bundle-format.md)."""
    count = int.from_bytes(file[56:60], "little")
    entries = (file[at : at + 72] for at in range(64, 64 + 72 * count, 72))
    return next(int.from_bytes(one[8:16], "little") for one in entries if one[:4] == b"DATA")


@case
def pipelines_of_bytes_and_of_a_file(rig: Rig) -> None:
    """The same from both, also when the bundle was released before."""
    groups = set()
    for source in (REAL.read_bytes(), REAL):
        with rig.host.bundle(source) as bundle:
            on_a_backend_of(rig, bundle)
            assert bundle.pipelines == ("draw", "sum")
            bundle.verify()
            pipeline = bundle.compute(rig.device, "sum")
        groups.add(pipeline.group_size)
        pipeline.release()
    assert groups == {(64, 1, 1)}


@case
def a_byte_that_changed_in_a_file_is_noticed_when_it_is_used(rig: Rig) -> None:
    """Whichever byte: opening fails, or making the pipeline that uses it; and checking all of it always."""
    if os.name != "posix":
        raise Skipped("nobody can write to a file that is open here")
    whole = SMALL.read_bytes()
    begin = first_payload(whole)
    used = 0
    with copy_of(SMALL) as path, path.open("r+b", buffering=0) as file:
        intact = rig.host.bundle(path)
        on_a_backend_of(rig, intact)
        for at in range(len(whole)):
            file.seek(at)
            file.write(bytes([whole[at] ^ (1 << at % 8)]))
            with fails("EBUNDLE", what=f"byte {at} of all bytes"):
                rig.host.bundle(path.read_bytes())
            if at < begin:
                with fails("EBUNDLE", what=f"byte {at} of a file"):
                    rig.host.bundle(path)
            else:
                lazily = rig.host.bundle(path)
                with fails("EBUNDLE", what=f"byte {at} of a file, all of it checked"):
                    lazily.verify()
                used += refusal(rig, lazily) == "EBUNDLE"
                with fails("EBUNDLE", what=f"byte {at}, changed after the file was opened"):
                    intact.verify()
            file.seek(at)
            file.write(whole[at : at + 1])
        intact.verify()
        # `add` is made from a layout and a code, which are no real ones: "layout of add" and "spirv add", padded to 8.
        assert used == (16 + 16), f"{used} bytes were checked for a pipeline"
        assert refusal(rig, intact) == "ELAYOUT"


def refusal(rig: Rig, bundle: Bundle) -> str:
    """With what status a pipeline of the small bundle is refused."""
    try:
        bundle.compute(rig.device, "add")
    except HostError as error:
        return error.status
    raise AssertionError("a pipeline was made of no code")


@case
def a_file_that_changes_while_it_is_open(rig: Rig) -> None:
    """Replaced: what was opened goes on. Shorter: refused."""
    with copy_of(REAL) as path:
        bundle = rig.host.bundle(path)
        on_a_backend_of(rig, bundle)
        other = path.with_name("other")
        other.write_bytes(b"something else")
        other.replace(path)
        bundle.compute(rig.device, "sum").release()
        bundle.verify()
        bundle.release()
    if os.name != "posix":
        return  # nobody can write to a file that is open here
    with copy_of(REAL) as path:
        bundle = rig.host.bundle(path)
        os.truncate(path, first_payload(REAL.read_bytes()) + 8)
        with fails("EBUNDLE", "shorter"):
            bundle.verify()
        with fails("EBUNDLE", "shorter"):
            bundle.compute(rig.device, "sum")
        os.truncate(path, 0)
        with fails("EBUNDLE", "shorter"):
            bundle.compute(rig.device, "sum")
        assert bundle.pipelines == ("draw", "sum")


@case
def what_is_no_file_is_no_bundle(rig: Rig) -> None:
    """Said with the path and the reason, and without waiting for anybody."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "empty").write_bytes(b"")
        if hasattr(os, "mkfifo"):
            os.mkfifo(folder / "fifo")
            with fails("EBUNDLE", str(folder / "fifo"), "no regular file"):
                rig.host.bundle(folder / "fifo")
        with fails("EBUNDLE", str(folder)):
            rig.host.bundle(folder)
        with fails("EBUNDLE", str(folder / "nothing")):
            rig.host.bundle(folder / "nothing")
        with fails("EBUNDLE", "not a bundle"):
            rig.host.bundle(folder / "empty")
    with fails("ESTALE"):
        with rig.host.bundle(SMALL) as bundle:
            pass
        bundle.verify()


@case
def a_released_bundle_closes_its_file(rig: Rig) -> None:
    """However it was opened, and where it was refused."""
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        raise Skipped("this system does not tell which files are open")

    def open_files() -> int:
        return len(list(descriptors.iterdir()))

    before = open_files()
    with copy_of(SMALL) as path:
        for _ in range(20):
            rig.host.bundle(path).release()
        with path.open("r+b") as file:
            file.write(b"no bundle")
        for _ in range(20):
            with fails("EBUNDLE"):
                rig.host.bundle(path)
    assert open_files() == before


@case
def a_ray_tracing_pipeline_is_refused_by_name(rig: Rig) -> None:
    """Whichever way it is asked for; the bundle opens, since others of it may run."""
    for source in (RAYS, RAYS.read_bytes()):
        with rig.host.bundle(source) as bundle:
            assert bundle.pipelines == ("trace",)
            with fails("EUNSUPPORTED", "'trace'", "ray-tracing"):
                bundle.compute(rig.device, "trace")
            with fails("EUNSUPPORTED", "'trace'", "ray-tracing"):
                bundle.render(rig.device, "trace", RenderState())
            with fails("EENTRY", "'nothing'", "'trace'"):
                bundle.compute(rig.device, "nothing")
