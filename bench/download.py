"""Download and verify: `toolchain fetch` against curl, CMake, pooch, httpx, aria2 and a C loop, over loopback.

    python bench/download.py [--rounds N] [--only 1gb|wheel|many] [--folder DIR] [--json FILE]

Whole processes, in turn. The server is nginx where there is one, else serve.c; the one with latency is serve.c, which
waits 20 ms before every answer. Peers that Python brings go into a virtual environment of this script's own, the
others are Debian's. Every contender keeps the file and verifies it, but curl -Z, which does not verify and is a goal
all the same; `curl | openssl` is shown without and with the file.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator
from pathlib import Path

from peers import AS_INSTALLED, debian
from ratio import Contender, judge, measure, report

BENCH = Path(__file__).resolve().parent
_ZEROS = bytes(65536)
PEERS = ("pooch", "httpx", "cmake")

POOCH = """
import os, sys, pooch
url, digest, file = sys.argv[1:]
pooch.retrieve(url, "sha256:" + digest, fname=os.path.basename(file), path=os.path.dirname(file))
"""

HTTPX = """
import hashlib, sys, httpx
url, digest, file = sys.argv[1:]
seen = hashlib.sha256()
with httpx.stream("GET", url) as answer, open(file, "wb") as out:
    for piece in answer.iter_raw(65536):
        seen.update(piece)
        out.write(piece)
assert seen.hexdigest() == digest
"""

CMAKE = """
file(DOWNLOAD "${URL}" "${FILE}" EXPECTED_HASH SHA256=${DIGEST} STATUS status)
list(GET status 0 code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${status}")
endif()
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=["1gb", "wheel", "many"])
    parser.add_argument("--folder", type=Path, default=BENCH / "results" / "download", help="where files go")
    parser.add_argument("--json", type=Path, help="add the figures to this file")
    options = parser.parse_args()
    folder: Path = options.folder.resolve()
    bench = Bench(folder, options.rounds, options.json)
    bench.prepare()
    met = True
    if options.only in (None, "1gb"):
        met &= bench.one_file("1gb", 1_000_000_000)
    if options.only in (None, "wheel"):
        met &= bench.one_file("wheel", 92_000_000)
    if options.only in (None, "many"):
        met &= bench.many()
    return 0 if met else 1


class Bench:
    def __init__(self, folder: Path, rounds: int, json_file: Path | None) -> None:
        self.rounds = rounds
        self.json_file = json_file
        self.served = folder / "served"
        self.out = folder / "out"
        self.aside = folder / "aside"
        self.tools = folder / "tools"
        self.peer_python = folder / "peers" / "bin" / "python"

    def prepare(self) -> None:
        """Build the C programs, install the peers."""
        debian({"curl": "curl", "openssl": "openssl", "aria2c": "aria2", "cmake": "cmake", "nginx": "nginx-light"})
        for path in (self.served, self.tools):
            path.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CC", "cc")
        for name, libraries in (("loop", ["-lcrypto"]), ("serve", ["-lpthread"])):
            argv = [compiler, "-O2", "-D_GNU_SOURCE", str(BENCH / f"{name}.c"), "-o", str(self.tools / name)]
            subprocess.run([*argv, *libraries], check=True)
        if not self.peer_python.exists():
            venv.create(self.peer_python.parents[1], with_pip=True)
            subprocess.run([self.peer_python, "-m", "pip", "install", "-q", *PEERS], check=True)
        (self.tools / "download.cmake").write_text(CMAKE)

    def one_file(self, name: str, size: int) -> bool:
        """One file of random bytes from a server without latency."""
        file = self.served / name
        digest = make_file(file, size)
        target = self.out / "file"
        with self.server() as (port, kind):
            url = f"http://127.0.0.1:{port}/{name}"
            contenders = [
                self.ours({name: (url, digest, size)}),
                Contender("C loop", [str(self.tools / "loop"), str(port), f"/{name}", str(target)]),
                *self.curl(url, digest, target),
                *self.cmakes(url, digest, target),
                Contender("pooch", [str(self.peer_python), "-c", POOCH, url, digest, str(target)], env=AS_INSTALLED),
                Contender("httpx", [str(self.peer_python), "-c", HTTPX, url, digest, str(target)], env=AS_INSTALLED),
                *self.aria2([(url, digest, "file")]),
            ]
            table = measure([self.fresh(one) for one in contenders], rounds=self.rounds)
        report(
            f"download and verify {size / 1e6:.0f} MB from {kind}", table, baseline="C loop", json_file=self.json_file
        )
        # A pipe that keeps no file does half of the work: it is shown, and is no goal.
        goals = {other: 1.0 for other in table if other not in ("toolchain fetch", "C loop", "curl | openssl, no file")}
        if size >= 500_000_000:
            goals["C loop"] = 1.25
        else:  # a process that starts in a millisecond wins where the whole job takes 0.2 s
            goals = {other: most for other, most in goals.items() if "curl" not in other and other != "CMake (system)"}
        return judge(table, "toolchain fetch", goals)

    def many(self) -> bool:
        """200 files of 100 KB, 20 ms before every answer."""
        files = {f"small-{number:03}": 100_000 for number in range(200)}
        digests = {name: make_file(self.served / name, size) for name, size in files.items()}
        with self.server(delay_us=20_000) as (port, kind):
            urls = {name: f"http://127.0.0.1:{port}/{name}" for name in files}
            contenders = [self.ours({name: (urls[name], digests[name], size) for name, size in files.items()})]
            if shutil.which("curl"):
                config = self.tools / "many.curl"
                config.write_text("".join(f'url = "{url}"\noutput = "{name}"\n' for name, url in urls.items()))
                argv = ["curl", "-sS", "-Z", "--parallel-max", "8", "-K", str(config)]
                contenders.append(Contender("curl -Z 8", argv, cwd=self.out))
            contenders += self.aria2([(urls[name], digests[name], name) for name in files])
            table = measure([self.fresh(one) for one in contenders], rounds=self.rounds)
        shutil.rmtree(self.aside, ignore_errors=True)
        title = f"200 files of 100 KB with 20 ms of latency, from {kind}"
        baseline = "curl -Z 8" if "curl -Z 8" in table else "toolchain fetch"
        report(title, table, baseline=baseline, json_file=self.json_file)
        return judge(table, "toolchain fetch", {"curl -Z 8": 1.0, "aria2": 1.0})

    def ours(self, files: dict[str, tuple[str, str, int]]) -> Contender:
        """The real command on a pins file of its own."""
        pins = self.tools / f"pins-{len(files)}-{min(files)}.toml"
        lines = ["format = 1"]
        for name, (url, digest, size) in files.items():
            lines += ["[[pin]]", f'name = "{name}"', 'version = "1"', 'license = "MIT"', 'verification = "seen"']
            platforms = '["linux-x86_64", "linux-aarch64", "macos-x86_64", "macos-aarch64"]'
            lines += ["[[pin.archive]]", f"platform = {platforms}", f'urls = ["{url}"]']
            lines += [f'sha256 = "{digest}"', f"size = {size}"]
        pins.write_text("\n".join(lines) + "\n")
        command = Path(sysconfig.get_path("scripts")) / "toolchain"
        argv = [str(command), "fetch", "--all", "--quiet", "--pins", str(pins), "--cache", str(self.out / "cache")]
        return Contender(
            "toolchain fetch",
            argv,
            check=lambda: self.check_cache({one for _, one, _ in files.values()}),
            env=AS_INSTALLED,
        )

    def check_cache(self, digests: set[str]) -> None:
        found = {path.name for path in (self.out / "cache" / "archives").iterdir()}
        assert found == digests, "the cache does not hold what was to be fetched"

    def curl(self, url: str, digest: str, target: Path) -> list[Contender]:
        if not shutil.which("curl") or not shutil.which("openssl"):
            return []
        test = f"grep -q {digest}"
        return [
            Contender("curl | openssl, no file", ["sh", "-c", f"curl -sS {url} | openssl dgst -sha256 | {test}"]),
            Contender(
                "curl | tee | openssl",
                ["sh", "-c", f"curl -sS {url} | tee '{target}' | openssl dgst -sha256 | {test}"],
            ),
        ]

    def cmakes(self, url: str, digest: str, target: Path) -> list[Contender]:
        script = str(self.tools / "download.cmake")
        found = []
        # The binary inside the package from PyPI: its Python shim alone would cost more than the small file.
        inside = next(self.peer_python.parents[1].rglob("cmake/data/bin/cmake"), None)
        system = shutil.which("cmake", path="/usr/local/bin:/usr/bin")
        for name, program in (("CMake (system)", system), ("CMake (PyPI)", inside)):
            if program:
                argv = [str(program), f"-DURL={url}", f"-DFILE={target}", f"-DDIGEST={digest}", "-P", script]
                found.append(Contender(name, argv))
        return found

    def aria2(self, files: list[tuple[str, str, str]]) -> list[Contender]:
        if not shutil.which("aria2c"):
            return []
        listing = self.tools / f"aria2-{len(files)}.txt"
        listing.write_text(
            "".join(f"{url}\n  checksum=sha-256={digest}\n  out={name}\n" for url, digest, name in files)
        )
        argv = ["aria2c", "-q", "-j8", "-i", str(listing), "-d", str(self.out), "--allow-overwrite=true"]
        return [Contender("aria2", argv)]

    def fresh(self, contender: Contender, size: int = 0) -> Contender:
        """The contender, with an empty folder to write to before every round, and memory for `size` bytes of files.

        A virtual machine gives free memory back to its host after a while. Whoever writes next pays for getting it
        again, twice the time of the write itself; so a file is written and removed just before, for everyone.
        """

        def empty() -> None:
            # Small files are moved aside: ext4 takes long to make files where many were removed in the last 5 s.
            if size or not self.out.exists():
                shutil.rmtree(self.out, ignore_errors=True)
            else:
                self.aside.mkdir(exist_ok=True)
                self.out.rename(self.aside / str(time.monotonic_ns()))
            self.out.mkdir(parents=True)
            os.sync()  # nobody pays for the writes of whoever ran before
            with open(self.out / "memory", "wb", buffering=0) as file:
                for _ in range(0, size, 65536):
                    file.write(_ZEROS)
            (self.out / "memory").unlink()

        return Contender(contender.name, contender.argv, empty, contender.check, contender.env, contender.cwd)

    @contextlib.contextmanager
    def server(self, delay_us: int = 0) -> Iterator[tuple[int, str]]:
        """A server of the files for the block's time: its port, and what it is."""
        nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if nginx and not delay_us:
            with self.nginx(nginx) as port:
                yield port, "nginx"
            return
        argv = [str(self.tools / "serve"), str(self.served), str(delay_us)]
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin
        assert process.stdout
        try:
            yield int(process.stdout.readline()), "serve.c"
        finally:
            process.stdin.close()
            process.wait()
            process.stdout.close()

    @contextlib.contextmanager
    def nginx(self, program: str) -> Iterator[int]:
        import socket

        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        config = self.tools / "nginx.conf"
        user = "user root;" if os.geteuid() == 0 else ""
        config.write_text(
            f"daemon off; {user} worker_processes 2; pid {self.tools}/nginx.pid; error_log {self.tools}/nginx.log;\n"
            "events { worker_connections 256; }\n"
            f"http {{ access_log off; sendfile on; client_body_temp_path {self.tools}/temp;\n"
            f"server {{ listen 127.0.0.1:{port}; root {self.served}; }} }}\n"
        )
        process = subprocess.Popen([program, "-c", str(config), "-p", str(self.tools)], stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()
            process.wait()


def make_file(path: Path, size: int) -> str:
    """A file of random bytes, made once; returns its SHA-256."""
    stamp = path.with_name(path.name + ".sha256")
    if path.is_file() and path.stat().st_size == size and stamp.is_file():
        return stamp.read_text()
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for at in range(0, size, 1_000_000):
            piece = os.urandom(min(1_000_000, size - at))
            digest.update(piece)
            file.write(piece)
    stamp.write_text(digest.hexdigest())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
