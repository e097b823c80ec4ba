"""Processes: what is kept, what is handed on, and how each kind of failure reads."""

import sys
import threading
from pathlib import Path

import pytest

from toolchain.build import process
from toolchain.errors import ProcessError


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_is_kept_apart() -> None:
    ended = process.run(python("import sys; print('out'); print('err', file=sys.stderr)"))
    assert (ended.status, ended.stdout, ended.stderr) == (0, b"out\n", b"err\n")


def test_a_failure_shows_command_status_and_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pytest.raises(ProcessError, match=r"(?s)exit status 3:\n.*line 59") as caught:
        process.run(python("[print('line', n) for n in range(60)]; raise SystemExit(3)"), log=log)
    assert "line 20" not in caught.value.message
    assert log.read_text().startswith("line 0\n")
    assert caught.value.details["status"] == 3
    assert str(log) in (caught.value.hint or "")


def test_a_signal_is_named() -> None:
    with pytest.raises(ProcessError, match="signal 9"):
        process.run(python("import os; os.kill(os.getpid(), 9)"))


def test_a_missing_program_is_named() -> None:
    with pytest.raises(ProcessError, match="cannot start no-such-program"):
        process.run(["no-such-program"])


def test_a_program_that_hangs_is_ended() -> None:
    with pytest.raises(ProcessError, match="did not end within"):
        process.run(python("import time; time.sleep(60)"), timeout_s=0.2)


def test_a_program_is_stopped_from_another_thread() -> None:
    stop = process.Stop()
    endless = python("import time; print('on', flush=True); time.sleep(60)")
    timer = threading.Timer(0.5, stop)
    timer.start()
    with pytest.raises(ProcessError, match="was stopped"):
        process.run(endless, stop=stop, timeout_s=30)
    with pytest.raises(ProcessError, match="was stopped"):  # and what is started later, too
        process.run(endless, stop=stop, timeout_s=30)
    timer.join()


def test_variables_are_added_and_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    code = "import os; print(os.environ.get('GIT_DIR'), os.environ['ADDED'])"
    ended = process.run(python(code), env={"ADDED": "yes"}, drop_env=lambda name: name.startswith("GIT_"))
    assert ended.stdout == b"None yes\n"


def test_a_stream_gives_lines_and_keeps_a_log(tmp_path: Path) -> None:
    log, lines = tmp_path / "log", list[str]()
    process.stream(python("print('a'); print('b')"), log=log, on_line=lines.append)
    assert lines == ["a", "b"]
    assert log.read_text().endswith("a\nb\n")
    with pytest.raises(ProcessError, match=r"exit status 1:\n  a"):
        process.stream(python("print('a'); raise SystemExit(1)"), log=log)
