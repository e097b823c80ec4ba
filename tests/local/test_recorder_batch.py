"""The recorder's batch mode: the same bytes as a process each, in any order, and answers that name what failed."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recording import SHADERS, Recorder

TARGETS = ("spirv", "metal", "wgsl", "hlsl")
RASTER = ("-entry", "vertex_main", "-o", "{}.vertex", "-entry", "fragment_main", "-o", "{}.fragment")


class Batch:
    def __init__(self, program: Path) -> None:
        self.process = subprocess.Popen(
            [program, "-batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def send(self, *arguments: str | Path) -> None:
        line = b"".join(str(argument).encode() + b"\0" for argument in arguments)
        assert self.process.stdin is not None
        self.process.stdin.write(struct.pack("<I", len(line)) + line)
        self.process.stdin.flush()

    def ask(self, *arguments: str | Path) -> tuple[int, str]:
        self.send(*arguments)
        assert self.process.stdout is not None
        status, size = struct.unpack("<II", self.process.stdout.read(8))
        return status, self.process.stdout.read(size).decode()


@contextmanager
def batch(recorder: Recorder) -> Iterator[Batch]:
    running = Batch(recorder.program)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()
        for stream in (running.process.stdin, running.process.stdout, running.process.stderr):
            assert stream is not None
            stream.close()


def command_lines(folder: Path) -> list[list[str | Path]]:
    lines: list[list[str | Path]] = []
    for target in TARGETS:
        for name, entries in (
            ("raster", RASTER),
            ("kitchen", ("-entry", "kitchen", "-o", "{}.code")),
            ("raster", ("-entry", "vertex_main", "-o", "{}.code")),
        ):
            place = folder / f"{len(lines)}.{target}"
            options = ["-DNO_ARRAYS"] if (name, target) == ("kitchen", "wgsl") else []
            files = [argument.format(place) for argument in entries]
            lines.append([SHADERS / f"{name}.slang", *options, *files, "-target", target, "-o", f"{place}.layout"])
    return lines


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_batch_gives_the_bytes_of_single_runs(recorder: Recorder, tmp_path: Path) -> None:
    alone, together, shuffled = tmp_path / "alone", tmp_path / "together", tmp_path / "shuffled"
    for folder in (alone, together, shuffled):
        folder.mkdir()
    for line in command_lines(alone):
        recorder.record(*line)
    with batch(recorder) as running:
        for line in command_lines(together):
            assert running.ask(*line) == (0, "")
        lines = command_lines(shuffled)
        random.Random(1).shuffle(lines)
        for line in lines:
            assert running.ask(*line) == (0, "")
    assert len(contents(alone)) == 4 * (3 + 2 + 2)
    assert contents(together) == contents(alone)
    assert contents(shuffled) == contents(alone)


def test_what_is_wrong_is_answered_and_the_next_line_obeyed(recorder: Recorder, tmp_path: Path) -> None:
    bad = tmp_path / "bad.slang"
    bad.write_text("this is no shader", encoding="utf-8")
    layout = tmp_path / "layout"
    with batch(recorder) as running:
        status, said = running.ask(bad, "-entry", "main", "-target", "spirv", "-o", layout)
        assert (status, layout.exists()) == (1, False)
        assert "bad.slang: does not compile" in said
        status, said = running.ask("-nonsense")
        assert status == 2
        assert "dream-slang-layout -help" in said
        sizes = SHADERS / "sizes.slang"
        assert running.ask(sizes, "-entry", "sizes", "-target", "spirv", "-o", layout) == (0, "")
        assert running.process.stdin is not None
        running.process.stdin.close()
        assert running.process.wait(timeout=60) == 0
    assert layout.exists()


def test_a_changed_file_is_read_again(recorder: Recorder, tmp_path: Path) -> None:
    shutil.copy(SHADERS / "sizes.slang", tmp_path / "sizes.slang")
    (tmp_path / "number.slang").write_text("static const int number = 1;", encoding="utf-8")
    module = tmp_path / "main.slang"
    module.write_text(
        'import number;\nRWStructuredBuffer<int> data;\n[shader("compute")][numthreads(1,1,1)] void entry() '
        "{ data[0] = number; }",
        encoding="utf-8",
    )

    def code(running: Batch) -> bytes:
        out = tmp_path / "code"
        line = (module, "-entry", "entry", "-o", out, "-target", "wgsl", "-o", tmp_path / "layout")
        assert running.ask(*line) == (0, "")
        return out.read_bytes()

    with batch(recorder) as running:
        first = code(running)
        assert code(running) == first
        (tmp_path / "number.slang").write_text("static const int number = 2;", encoding="utf-8")
        assert code(running) != first


def test_warnings_are_answered_each_time(recorder: Recorder, tmp_path: Path) -> None:
    module = tmp_path / "warns.slang"
    module.write_text(
        "RWStructuredBuffer<int> data;\nint twice(int x) { return x * 2; data[1] = 3; }\n"
        '[shader("compute")][numthreads(1,1,1)] void a() { data[0] = twice(1); }\n'
        '[shader("compute")][numthreads(1,1,1)] void b() { data[0] = twice(2); }\n',
        encoding="utf-8",
    )
    with batch(recorder) as running:
        answers = [
            running.ask(module, "-entry", entry, "-target", "spirv", "-o", tmp_path / "layout") for entry in ("a", "b")
        ]
    assert answers[0] == answers[1]
    assert answers[0][0] == 0
    assert "warning" in answers[0][1]


def test_bytes_that_are_no_command_line_end_it(recorder: Recorder) -> None:
    with batch(recorder) as running:
        assert running.process.stdin is not None
        running.process.stdin.write(struct.pack("<I", 5) + b"abcde")
        running.process.stdin.close()
        assert running.process.stderr is not None
        assert b"NUL behind it" in running.process.stderr.read()
        assert running.process.wait(timeout=60) == 1
