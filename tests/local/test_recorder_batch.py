"""The recorder's batch mode: the same bytes as a process each, in any order, and answers that name what failed."""

from __future__ import annotations

import hashlib
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
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
        return self.number(), self.sized().decode()

    def ask_for(self, outputs: int, *arguments: str | Path) -> list[bytes]:
        """Outputs in the answer of a line that must succeed."""
        assert self.ask(*arguments) == (0, "")
        return [self.sized() for _ in range(outputs)]

    def number(self) -> int:
        assert self.process.stdout is not None
        return int(struct.unpack("<I", self.process.stdout.read(4))[0])

    def sized(self) -> bytes:
        size = self.number()
        assert self.process.stdout is not None
        return self.process.stdout.read(size)


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


def test_outputs_in_the_answer_are_those_of_files(recorder: Recorder, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("vertex", "fragment", "depfile", "lookups", "layout")]

    def line(vertex: object, fragment: object, depfile: object, lookups: object, layout: object) -> list[str | Path]:
        entries = ["-entry", "vertex_main", "-o", str(vertex), "-entry", "fragment_main", "-o", str(fragment)]
        others = ["-lookups", str(lookups), "-depfile", str(depfile), "-target", "spirv", "-o", str(layout)]
        return [SHADERS / "raster.slang", *entries, *others]

    with batch(recorder) as running:
        assert running.ask(*line(*files)) == (0, "")
        written = [file.read_bytes() for file in files]
        answered = running.ask_for(5, *line(*"-----"))
        assert answered[2] == written[2].replace(str(tmp_path / "layout").encode(), b"-")
        assert answered[:2] + answered[3:] == written[:2] + written[3:]
        some = running.ask_for(2, *line(tmp_path / "a", "-", tmp_path / "b", tmp_path / "c", "-"))
        assert some == [written[1], written[4]]
        assert running.ask(*line(*"-----")[:-1], "/nowhere/at/all")[0] == 1  # and nothing behind it
        assert running.ask_for(5, *line(*"-----")) == answered
    assert not Path("-").exists()


@pytest.mark.parametrize("option", ["-o", "-lookups", "-depfile"])
def test_only_a_batch_answers_with_outputs(recorder: Recorder, tmp_path: Path, option: str) -> None:
    outputs = {"-o": str(tmp_path / "layout"), option: "-"}
    words = [word for pair in outputs.items() for word in pair]
    ended = recorder.run(SHADERS / "sizes.slang", "-entry", "sizes", "-target", "spirv", *words)
    assert ended.returncode == 2
    assert f"{option} -: expected a file" in ended.stderr


FOUND = "public static const int number = {};"
MAIN = """#include "header.slang"
import some_module;
RWStructuredBuffer<int> data;
[shader("compute")][numthreads(1,1,1)] void entry() { data[0] = number + HEADER; }
"""


def lookups_in(text: bytes) -> dict[str, str]:
    pairs = (record.partition(b" ") for record in text.split(b"\0")[:-1])
    return {path.decode(): digest.decode() for digest, _, path in pairs}


@pytest.mark.parametrize(
    "place", ["first/header.slang", "header.slang", "first/some_module.slang", "some_module.slang"]
)
def test_a_file_that_appears_where_it_is_found_first(recorder: Recorder, tmp_path: Path, place: str) -> None:
    for folder in ("first", "last"):
        (tmp_path / folder).mkdir()
    (tmp_path / "last" / "some_module.slang").write_text(FOUND.format(1), encoding="utf-8")
    (tmp_path / "last" / "header.slang").write_text("#define HEADER 1", encoding="utf-8")
    (tmp_path / "main.slang").write_text(MAIN, encoding="utf-8")
    folders = ["-I", str(tmp_path / "first"), "-I", str(tmp_path / "last")]
    outputs = ["-o", "-", "-target", "wgsl", "-lookups", "-", "-o", "-"]
    words: list[str | Path] = [tmp_path / "main.slang", *folders, "-entry", "entry", *outputs]
    with batch(recorder) as running:
        code, lookups, _ = running.ask_for(3, *words)
        assert running.ask_for(3, *words)[:2] == [code, lookups]
        looked_up = lookups_in(lookups)
        read = {path: digest for path, digest in looked_up.items() if digest != "-"}
        assert read == {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (tmp_path / "main.slang", *(tmp_path / "last").iterdir())
        }
        new = tmp_path / place
        assert looked_up[str(new)] == "-"
        text = "#define HEADER 2" if "header" in place else FOUND.format(2)
        new.write_text(text, encoding="utf-8")
        after = running.ask_for(3, *words)
    assert after[0] != code, "the session of before does not serve any more"
    assert lookups_in(after[1])[str(new)] == hashlib.sha256(text.encode()).hexdigest()


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
