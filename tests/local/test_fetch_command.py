"""The commands `toolchain fetch` and `toolchain cache` as whole processes, alone and many at once."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from raw_server import Answer, RawServer, Request, ranged, raw_server, reply

from toolchain.digest import Sha256
from toolchain.sources.cache.store import Store

DATA = bytes(range(251)) * 40_000  # 10 MB: through the second thread, in many pieces


class World:
    """A cache and a pins file, and the command run on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pins = folder / "pins of ümläuts.toml"
        self.cache = folder / "cache with späces"
        self.store = Store(self.cache)
        (folder / "roots").mkdir()

    def pin(self, files: dict[str, tuple[str, bytes]], **keys: object) -> None:
        """Write a pins file: name -> (URL, bytes)."""
        lines = ["format = 1", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]
        for name, (url, data) in files.items():
            lines += [
                "[[pin]]",
                f'name = "{name}"',
                'version = "1"',
                'license = "MIT"',
                'verification = "seen"',
                "[[pin.archive]]",
                'platform = ["linux-x86_64", "linux-aarch64", "macos-aarch64", "macos-x86_64", "windows-x86_64"]',
                f'urls = ["{url}"]',
                f'file = "{name}.bin"',
                f'sha256 = "{Sha256.of(data).hex.upper()}"',  # pooch 193: capitals are the same digest
                f"size = {len(data)}",
            ]
        self.pins.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def argv(self, *arguments: str) -> list[str]:
        common = ["--cache", str(self.cache), "--root", str(self.folder / "roots")]
        if arguments[:2] not in (("cache", "path"), ("cache", "verify"), ("cache", "import")):
            common += ["--pins", str(self.pins)]
        return [sys.executable, "-m", "toolchain", *arguments, *common]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(*arguments),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1"},
        )

    def run(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        assert process.returncode == code, f"{arguments} exited {process.returncode}:\n{out}\n{err}"
        assert "Traceback" not in err
        return out, err

    def leftovers(self) -> list[str]:
        folders = [self.cache / name for name in ("partial", "locks")]
        return sorted(path.name for folder in folders if folder.is_dir() for path in folder.iterdir())


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


class Paced:
    """Serves DATA, and holds back what comes after `first` bytes of the first answer until it is released."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.waiting = threading.Event()
        self.release = threading.Event()

    def __call__(self, request: Request) -> Answer:
        if request.number > 0:
            return ranged(DATA)(request)
        return self._slowly()

    def _slowly(self) -> Iterator[bytes]:
        yield reply(body=DATA[: self.first], length=len(DATA))
        self.waiting.set()
        self.release.wait(60)
        yield DATA[self.first :]


def wait_for_part(world: World, process: subprocess.Popen[str], size: int = 1) -> Path:
    """The part of a running download, once it has `size` bytes; pytest's time limit ends a vain wait."""
    path = world.store.partial_path(Sha256.of(DATA))
    while not (path.is_file() and path.stat().st_size >= size):
        assert process.poll() is None, process.communicate()
        threading.Event().wait(0.01)
    return path


@pytest.mark.timeout(120)
def test_killed_at_23_percent_and_run_again(world: World) -> None:
    """conan 8578, and conan 7101: the lock of a process that was killed is nobody's."""
    paced = Paced(len(DATA) * 23 // 100)
    with raw_server(paced) as server:
        world.pin({"tool": (server.url(), DATA)})
        process = world.start("fetch", "tool")
        part = wait_for_part(world, process)
        process.kill()
        process.communicate()
        assert world.leftovers() == [part.with_suffix(".lock").name, part.name]
        out, _ = world.run("fetch", "--check", "tool", code=11)
        assert "interrupted download" in out
        had = part.stat().st_size
        world.run("fetch", "tool")
        assert server.requests[1].start == had
        paced.release.set()
    assert world.store.archive_path(Sha256.of(DATA)).read_bytes() == DATA
    assert world.leftovers() == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.timeout(120)
def test_an_interrupt_leaves_a_part_and_no_lock(world: World, files: int) -> None:
    paced = Paced(len(DATA) // 2)
    others = {f"other{n}": bytes([n]) * 1000 for n in range(files - 1)}

    def answer(request: Request) -> Answer:
        name = request.path[1:]
        return reply(body=others[name]) if name in others else (paced._slowly() if not request.start else b"")

    with raw_server(answer) as server:
        world.pin({"tool": (server.url("/tool"), DATA), **{n: (server.url(f"/{n}"), d) for n, d in others.items()}})
        process = world.start("fetch", "--all", "-j", "3")
        wait_for_part(world, process, 4 << 20)  # all full buffers of the half that was sent: now it waits for more
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "Traceback" not in err
        # The others may have been under way, too.
        assert f"{Sha256.of(DATA)}.part" in world.leftovers()
        assert [name for name in world.leftovers() if not name.endswith(".part")] == []
        paced.release.set()


@pytest.mark.timeout(180)
def test_fifteen_processes_and_one_download(world: World) -> None:
    """bazel 8327; the others wait for the first one, and say for whom."""
    paced = Paced(len(DATA) // 3)
    with raw_server(paced) as server:
        world.pin({"tool": (server.url(), DATA)})
        processes = [world.start("fetch", "tool")]
        wait_for_part(world, processes[0])
        processes += [world.start("fetch", "tool") for _ in range(14)]
        # The second process's first line says that it waits: from then on it cannot have come too late.
        assert processes[1].stderr is not None
        line = processes[1].stderr.readline()
        assert f"process {processes[0].pid} on " in line
        assert ".lock" in line
        paced.release.set()
        for process in processes:
            _, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
        assert len(server.requests) == 1
    assert world.leftovers() == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_fifteen_processes_and_one_gigabyte(world: World) -> None:
    """bazel 8327, with its size: a sparse file of 1 GB."""
    size = 1 << 30
    zeros = memoryview(bytes(1 << 20))
    digest = "49bc20df15e412a64472421e13fe86ff1c5165e18b2afccf160d4dc19fe68a14"

    def answer(request: Request) -> Iterator[bytes]:
        yield reply(length=size)
        for _ in range(size // len(zeros)):
            yield zeros  # type: ignore[misc]

    with raw_server(answer) as server:
        world.pin({"tool": (server.url(), b"")})
        text = world.pins.read_text(encoding="utf-8")
        text = text.replace(Sha256.of(b"").hex.upper(), digest).replace("size = 0", f"size = {size}")
        world.pins.write_text(text, encoding="utf-8")
        processes = [world.start("fetch", "tool") for _ in range(15)]
        for process in processes:
            _, err = process.communicate(timeout=280)
            assert process.returncode == 0, err
        assert len(server.requests) == 1
    assert world.leftovers() == []


@pytest.mark.timeout(120)
def test_the_holder_is_killed_while_another_waits(world: World) -> None:
    """conan 7101: whoever waits goes on, from where the killed one was."""
    paced = Paced(len(DATA) // 2)
    with raw_server(paced) as server:
        world.pin({"tool": (server.url(), DATA)})
        holder = world.start("fetch", "tool")
        wait_for_part(world, holder)
        waiter = world.start("fetch", "tool")
        assert waiter.stderr is not None
        assert f"process {holder.pid} " in waiter.stderr.readline()
        holder.kill()
        holder.communicate()
        _, err = waiter.communicate(timeout=60)
        assert waiter.returncode == 0, err
        assert server.requests[1].start > 0
        paced.release.set()
    assert world.leftovers() == []


# --- what the commands say -------------------------------------------------------------------------------------------


@pytest.fixture
def filled(world: World) -> Iterator[tuple[World, RawServer]]:
    """Two pinned tools that a server has."""
    files = {"one": b"1" * 5000, "two": b"2" * 6000}
    with raw_server(lambda request: reply(body=files[request.path[1:]])) as server:
        world.pin({name: (server.url(f"/{name}"), data) for name, data in files.items()})
        yield world, server


def test_fetch_and_check(filled: tuple[World, RawServer]) -> None:
    world, server = filled
    out, err = world.run("fetch", "--all", "--platform", "all", "--check", "--offline", code=11)
    assert out.count("toolchain cache add") == 2
    again = shlex.split(err.partition("run `")[2].partition("`")[0])
    assert again == ["toolchain", *world.argv("fetch", "--all", "--platform", "all")[3:]]
    assert server.requests == []
    _, err = world.run("fetch", "one")
    assert "one.bin: verified (4.9 KiB)" in err
    document = json.loads(world.run("fetch", "--all", "--platform", "all", "--check", "--json", code=11)[0])
    assert [(row["file"], row["state"], row["pins"]) for row in document["archives"]] == [
        ("one.bin", "held", ["one"]),
        ("two.bin", "missing", ["two"]),
    ]
    out, err = world.run("fetch", "--all", "--quiet")
    assert out == f"2 archives verified in {world.cache}\n"
    assert err == ""
    out, _ = world.run("fetch", "--all", "--check")
    assert out == f"2 archives verified in {world.cache}\n"


def test_fetch_offline_lists_what_is_missing(filled: tuple[World, RawServer]) -> None:
    world, server = filled
    _, err = world.run("fetch", "--all", "--offline", code=11)
    for name in ("one", "two"):
        assert f"{name}.bin: missing" in err
        assert server.url(f"/{name}") in err
    error = json.loads(world.run("fetch", "--all", "--offline", "--json", code=11)[0])
    assert [row["file"] for row in error["details"]["archives"]] == ["one.bin", "two.bin"]
    assert server.requests == []


def test_the_offline_command_does_what_it_says(filled: tuple[World, RawServer]) -> None:
    """The printed command, run as it stands in a shell, with the file brought by hand."""
    world, _ = filled
    error = json.loads(world.run("fetch", "one", "--offline", "--json", code=11)[0])
    (row,) = error["details"]["archives"]
    (world.folder / row["file"]).write_bytes(b"1" * 5000)
    command = row["command"].replace("toolchain ", f"{sys.executable} -m toolchain ", 1)
    assert row["command"] in world.run("fetch", "one", "--check", code=11)[0]
    assert row["command"] in world.run("install", "one", "--offline", code=11)[1]
    # With no setting of its own but those in the command, as in a shell opened later.
    subprocess.run(command, shell=True, check=True, cwd=world.folder)  # noqa: S602
    world.run("fetch", "one", "--offline")


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("fetch",), 2, "give the names of pins, or --all"),
        (("fetch", "one", "--all"), 2, "give the names of pins, or --all"),
        (("fetch", "three"), 10, "pins nothing called 'three'"),
        (("fetch", "three", "--profile", "all"), 10, "pins nothing called 'three'"),
        (("fetch", "one", "--platform", "plan9"), 2, "unknown platform 'plan9'"),
        (("fetch", "one", "-j", "0"), 2, "0 is not in the range"),
    ],
)
def test_wrong_requests(filled: tuple[World, RawServer], arguments: Sequence[str], code: int, text: str) -> None:
    world, server = filled
    assert text in world.run(*arguments, code=code)[1]
    assert server.requests == []


def test_a_level_that_the_project_demands(world: World) -> None:
    with raw_server(ranged(DATA)) as server:
        world.pin({"tool": (server.url(), DATA)}, **{"minimum-verification": "stated"})
        _, err = world.run("fetch", "tool", code=10)
        assert "at least stated is demanded" in err
        assert server.requests == []


def test_cache_commands(filled: tuple[World, RawServer], tmp_path: Path) -> None:
    world, _ = filled
    assert world.run("cache", "path")[0].strip() == str(world.cache)
    world.run("cache", "export", "bundle.tar", "one")
    listed = json.loads(world.run("cache", "list", "--json")[0])["archives"]
    assert [(row["file"], row["size_bytes"], row["pins"]) for row in listed] == [("one.bin", 5000, ["one"])]
    out, _ = world.run("cache", "list")
    assert Sha256.of(b"1" * 5000).hex in out
    assert "[one]" in out
    world.run("cache", "verify")
    (world.folder / "stray").write_bytes(b"stray")
    assert "no pin names" in world.run("cache", "add", "stray", code=20)[1]
    world.run("cache", "add", "stray", "--unpinned")
    out, _ = world.run("cache", "prune", "--dry-run")
    assert "no pin names it" in out
    world.run("cache", "prune")
    assert len(json.loads(world.run("cache", "list", "--json")[0])["archives"]) == 1
    damaged = world.store.archive_path(Sha256.of(b"1" * 5000))
    damaged.chmod(0o644)
    damaged.write_bytes(b"?")
    document = json.loads(world.run("cache", "verify", "--json", code=1)[0])
    assert [one["rule"] for one in document["findings"]] == ["cache.damaged"]
    world.run("cache", "prune", "--all")
    damaged.mkdir()
    out, err = world.run("cache", "prune", code=1)
    assert (str(damaged) in out, "nothing removed" in err) == (True, True)
    assert json.loads(world.run("cache", "prune", "--json", code=1)[0])["findings"][0]["rule"] == "cache.folder"
    damaged.rmdir()
    assert world.run("cache", "import", "bundle.tar")[0].startswith("1 archive of bundle.tar verified")
    world.run("fetch", "one", "--offline")


def test_a_wrong_digest_exits_12_and_mending_the_pin_is_enough(world: World) -> None:
    """pooch 193 (the pin is in capitals) and the way back after a wrong pin."""
    with raw_server(ranged(DATA)) as server:
        world.pin({"tool": (server.url(), DATA[1:] + b"?")})
        _, err = world.run("fetch", "tool", code=12)
        assert f"got       SHA-256 {Sha256.of(DATA)}, {len(DATA)} bytes" in err
        world.pin({"tool": (server.url(), DATA)})
        world.run("fetch", "tool", "--offline")
        assert len(server.requests) == 1


def test_progress_on_a_terminal(world: World) -> None:
    """A bar a file and one for the total; what is done stands above them as a line."""
    if sys.platform == "win32":
        pytest.skip("no pseudo-terminals here")
    import pty

    files = {"one": DATA, "two": DATA[1:]}
    with raw_server(lambda request: ranged(files[request.path[1:]])(request)) as server:
        world.pin({name: (server.url(f"/{name}"), data) for name, data in files.items()})
        leader, follower = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
        process = subprocess.Popen(
            world.argv("fetch", "--all"), stdout=subprocess.PIPE, stderr=follower, env=environment, cwd=world.folder
        )
        os.close(follower)
        seen = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # Linux's word for the end of a terminal
                break
            if not piece:
                break
            seen += piece
        os.close(leader)
        assert process.communicate()[0].decode() == f"2 archives verified in {world.cache}\n"
        assert process.returncode == 0
    text = seen.decode("utf-8", "replace")
    assert "one.bin: verified" in text
    assert "two.bin: verified" in text
    assert "total" in text
