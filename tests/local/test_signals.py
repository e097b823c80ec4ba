"""Signals that come where no command is at work yet, or none any more: the line and the status are the same there."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals for one process")

# A process that gets the signal while its first words are written, or when everything is done.
_DRIVER = """
import atexit, os, sys
number, when, sys.argv = int(sys.argv[1]), sys.argv[2], ["toolchain", *sys.argv[3:]]
send = lambda: os.kill(os.getpid(), number)
if when == "at the end":
    atexit.register(send)
else:
    class Out:
        def __init__(self, stream): self.stream = stream
        def write(self, text): send(); return self.stream.write(text)
        def __getattr__(self, name): return getattr(self.stream, name)
    sys.stdout = Out(sys.stdout)
from toolchain.__main__ import main
main()
"""
SIGNALS = [signal.SIGINT, signal.SIGTERM] + ([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])


def run(number: signal.Signals, when: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _DRIVER, str(int(number)), when, *arguments],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in SIGNALS],  # whatever started us ignores
    )


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("arguments", [("--version",), ("pins", "list", "--platform", "linux-x86_64")])
def test_a_signal_while_words_are_written(number: signal.Signals, arguments: tuple[str, ...]) -> None:
    ended = run(number, "at work", *arguments)
    assert (ended.returncode, ended.stderr) == (128 + number, f"interrupted by {number.name}\n")


@pytest.mark.parametrize("then", ["threading.Event().wait()", "pass"])
def test_a_signal_during_an_import_waits_for_its_end(tmp_path: Path, then: str) -> None:
    """What is raised in an import's own callbacks is printed and lost, and a half module stays behind."""
    (tmp_path / "whole.py").write_text(
        "import os, signal, weakref\n"
        "class Lock: pass\n"
        "lock = Lock()\n"
        "watched = weakref.ref(lock, lambda _: os.kill(os.getpid(), signal.SIGTERM))\n"
        "del lock\n"
        "print('imported', flush=True)\n"
    )
    script = f"""
import sys, threading
from toolchain import __main__
sys.path.insert(0, {str(tmp_path)!r})
def run(arguments):
    __main__._set_handlers(__main__._unwind)
    import whole
    {then}
    return 0
__main__._run = run
__main__.main()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stdout == "imported\n"
    # Where the command was at its end before anybody looked again, the signal came too late.
    allowed = [(143, "interrupted by SIGTERM\n")] + ([(0, "")] if then == "pass" else [])
    assert (ended.returncode, ended.stderr) in allowed


def test_a_signal_while_a_class_is_made() -> None:
    """CPython before 3.12 wraps what __set_name__ raises, in the imports of any command."""
    script = """
import os, signal, sys
from toolchain import __main__
class Part:
    def __set_name__(self, owner, name): os.kill(os.getpid(), signal.SIGTERM)
def make(arguments):
    __main__._set_handlers(__main__._unwind)
    class Whole:
        part = Part()
__main__._run = make
__main__.main()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (143, "interrupted by SIGTERM\n")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("arguments", [("--version",), ("pins", "--help")])
def test_a_signal_after_everything_is_done_comes_too_late(number: signal.Signals, arguments: tuple[str, ...]) -> None:
    ended = run(number, "at the end", *arguments)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "oolchain" in ended.stdout or "pins" in ended.stdout
