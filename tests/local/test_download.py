"""What servers do to a download, and what a download makes of it. Numbers name public reports of the same fault."""

from __future__ import annotations

import email.utils
import gzip
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from raw_server import Answer, Clock, Request, kept, network, pinned, ranged, raw_server, reply

from toolchain.addresses import RULE, is_allowed
from toolchain.errors import DigestMismatchError, FetchError, PinsError
from toolchain.pins import Archive
from toolchain.sources.cache.store import State, Store
from toolchain.sources.fetch import obtain
from toolchain.sources.network.download import Network
from toolchain.sources.network.failure import TransferError
from toolchain.sources.network.http import Client, Limits
from toolchain.sources.network.pipe import SMALL_BYTES
from toolchain.sources.network.retry import ATTEMPTS, FIRST_PAUSE_S, LONGEST_RETRY_AFTER_S

DATA = bytes(range(256)) * 40  # 10 KiB, no two neighbours alike
BIG = bytes(range(251)) * (SMALL_BYTES // 128)  # goes through the second thread
HTML = b"<!DOCTYPE html>\n<html><body>Please log in</body></html>\n"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache of ümläuts")


def fetch(store: Store, archive: Archive, net: Network | None = None) -> bytes:
    """Obtain one archive and read it."""
    (verified,) = obtain([archive], store=store, network=net or network())
    assert verified.archive == archive
    return verified.path.read_bytes()


def part(store: Store, archive: Archive, data: bytes) -> Path:
    """Leave a part in the cache, as an interrupted download does."""
    store.prepare()
    path = store.partial_path(archive.sha256)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("data", [DATA, BIG], ids=["small", "big"])
def test_a_file_is_fetched_once(store: Store, data: bytes) -> None:
    with raw_server(ranged(data)) as server:
        archive = pinned(data, server.url())
        assert fetch(store, archive) == data
        assert fetch(store, archive) == data
        assert len(server.requests) == 1
    assert fetch(store, archive) == data  # the server is gone
    leftovers = [path for name in ("partial", "locks") for path in (store.root / name).iterdir()]
    assert leftovers == []
    assert store.archive_path(archive.sha256).stat().st_mode & 0o777 == 0o444


def test_order_and_repetition_are_kept(store: Store) -> None:
    files = {f"/{n}": bytes([n]) * 100 for n in range(20)}
    with raw_server(lambda request: reply(body=files[request.path])) as server:
        archives = [pinned(data, server.url(path)) for path, data in files.items()]
        asked = [*reversed(archives), *archives, archives[3]]
        assert [one.archive for one in obtain(asked, store=store, network=network())] == asked
        assert len(server.requests) == 20


def test_connections_are_used_again(store: Store) -> None:
    lines: set[int] = set()

    def answer(request: Request) -> Answer:
        lines.add(threading.get_ident())  # a thread a connection
        return kept(reply(body=request.path.encode()))

    with raw_server(answer) as server:
        archives = [pinned(f"/{n}".encode(), server.url(f"/{n}")) for n in range(10)]
        obtain(archives, store=store, network=network(), jobs=1)
    assert len(lines) == 1


# --- interrupted downloads -------------------------------------------------------------------------------------------


def test_a_part_is_gone_on_with(store: Store) -> None:
    with raw_server(ranged(BIG)) as server:
        archive = pinned(BIG, server.url())
        part(store, archive, BIG[:1000])
        assert fetch(store, archive) == BIG
        assert server.requests[0].headers["range"] == "bytes=1000-"


def test_half_a_part_and_a_server_that_ignores_ranges(store: Store) -> None:
    """paru 389."""
    with raw_server(lambda request: reply(body=DATA)) as server:
        archive = pinned(DATA, server.url())
        part(store, archive, DATA[: len(DATA) // 2])
        assert fetch(store, archive) == DATA
        assert len(server.requests) == 1


def test_a_full_part_and_a_server_that_answers_416(store: Store) -> None:
    """curl 6740; where no size is pinned, only the server can tell that the part is whole."""
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url(), size=None)
        part(store, archive, DATA)
        assert fetch(store, archive) == DATA
        assert [request.start for request in server.requests] == [len(DATA)]


def test_a_full_part_of_known_size_needs_no_server(store: Store) -> None:
    archive = pinned(DATA, "https://127.0.0.1:1/never-asked")
    part(store, archive, DATA)
    assert fetch(store, archive) == DATA


@pytest.mark.parametrize("size", [-1, None], ids=["size pinned", "no size pinned"])
def test_a_full_part_of_another_file_is_dropped(store: Store, size: int | None) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url(), size=size)
        part(store, archive, b"x" * len(DATA))
        assert fetch(store, archive) == DATA


def test_a_part_longer_than_the_file_is_dropped(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        part(store, archive, DATA + b"more")
        assert fetch(store, archive) == DATA
        assert "range" not in server.requests[0].headers


def test_a_part_of_another_file_costs_a_second_request_and_is_not_the_servers_fault(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        part(store, archive, HTML)
        assert fetch(store, archive) == DATA
        assert [request.start for request in server.requests] == [len(HTML), 0]


def test_another_range_than_asked_for_is_not_pieced_together(store: Store) -> None:
    def answer(request: Request) -> bytes:
        if request.number == 0:
            return reply(body=DATA[:100], length=len(DATA))
        if "range" in request.headers:
            return reply("206 Partial Content", DATA[50:], Content_Range=f"bytes 50-{len(DATA) - 1}/{len(DATA)}")
        return reply(body=DATA)

    with raw_server(answer) as server:
        assert fetch(store, pinned(DATA, server.url())) == DATA
        assert [request.start for request in server.requests] == [0, 100, 0]


def test_a_truncated_body_is_gone_on_with_and_asks_for_the_same_version(store: Store) -> None:
    def answer(request: Request) -> bytes:
        if request.number == 0:
            return reply(body=BIG[:5000], length=len(BIG), ETag='"v1"')
        return ranged(BIG, ETag='"v1"')(request)

    clock = Clock()
    with raw_server(answer) as server:
        assert fetch(store, pinned(BIG, server.url()), network(clock)) == BIG
        assert server.requests[1].headers["range"] == "bytes=5000-"
        assert server.requests[1].headers["if-range"] == '"v1"'
    assert clock.slept == [FIRST_PAUSE_S]


@pytest.mark.parametrize("resumed", ["in the next run", "in the same run"])
def test_parts_of_two_files_are_asked_for_from_zero_once(store: Store, resumed: str) -> None:
    """A server whose range is of another file than its whole answer, with the same length."""
    other = bytes(len(DATA))

    def answer(request: Request) -> Answer:
        if "range" in request.headers:
            span = f"bytes {request.start}-{len(DATA) - 1}/{len(DATA)}"
            return reply("206 Partial Content", other[request.start :], Content_Range=span)
        whole = reply(body=DATA)
        return whole if request.number or resumed == "in the next run" else whole[:-100]

    with raw_server(answer) as server:
        archive = pinned(DATA, server.url())
        if resumed == "in the next run":
            part(store, archive, DATA[:100])
        assert fetch(store, archive) == DATA
        assert ["range" in request.headers for request in server.requests][-2:] == [True, False]


def test_a_server_that_never_gives_one_file_is_blamed_in_the_end(store: Store) -> None:
    other = bytes(len(DATA))

    def answer(request: Request) -> Answer:
        if "range" in request.headers:
            span = f"bytes {request.start}-{len(DATA) - 1}/{len(DATA)}"
            return reply("206 Partial Content", other[request.start :], Content_Range=span)
        return reply(body=DATA)[:-100]

    with raw_server(answer) as server, pytest.raises(DigestMismatchError):
        fetch(store, pinned(DATA, server.url()))
    assert len(server.requests) == 4


def test_a_weak_etag_is_not_sent_back(store: Store) -> None:
    def answer(request: Request) -> bytes:
        if request.number == 0:
            return reply(body=DATA[:500], length=len(DATA), ETag='W/"v1"')
        return ranged(DATA)(request)

    with raw_server(answer) as server:
        assert fetch(store, pinned(DATA, server.url())) == DATA
        assert "if-range" not in server.requests[1].headers


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, len(DATA)), max_size=ATTEMPTS - 1))
def test_wherever_the_connection_breaks_the_file_is_right(tmp_path: Path, cuts: list[int]) -> None:
    def answer(request: Request) -> bytes:
        whole = ranged(DATA)(request)
        return whole if request.number >= len(cuts) else whole[: len(whole) - cuts[request.number]]

    with raw_server(answer) as server:
        fresh = Store(tmp_path / f"{id(server)}")
        assert fetch(fresh, pinned(DATA, server.url())) == DATA


def test_a_body_without_a_length_that_ends_early(store: Store) -> None:
    def answer(request: Request) -> bytes:
        return reply(body=DATA[:100], length=None) if request.number == 0 else ranged(DATA)(request)

    with raw_server(answer) as server:
        assert fetch(store, pinned(DATA, server.url())) == DATA
        assert [request.start for request in server.requests] == [0, 100]


def test_a_body_without_a_length(store: Store) -> None:
    with raw_server(lambda request: reply(body=BIG, length=None)) as server:
        assert fetch(store, pinned(BIG, server.url(), size=None)) == BIG


def chunked(data: bytes, *, end: bytes = b"0\r\n\r\n") -> bytes:
    pieces = [data[i : i + 3000] for i in range(0, len(data), 3000)]
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return reply(body=body + end, length=None, Transfer_Encoding="chunked")


def test_a_chunked_body(store: Store) -> None:
    with raw_server(lambda request: chunked(BIG)) as server:
        assert fetch(store, pinned(BIG, server.url())) == BIG


def test_a_chunked_body_that_ends_early_is_gone_on_with(store: Store) -> None:
    def answer(request: Request) -> bytes:
        return chunked(DATA[:4000], end=b"") if request.number == 0 else ranged(DATA)(request)

    with raw_server(answer) as server:
        assert fetch(store, pinned(DATA, server.url())) == DATA
        assert server.requests[1].start > 0


# --- wrong bytes -----------------------------------------------------------------------------------------------------


def test_a_wrong_file_says_everything_and_is_kept_under_its_own_digest(store: Store) -> None:
    other = gzip.compress(b"another version", mtime=0)
    with raw_server(ranged(other)) as server:
        with pytest.raises(DigestMismatchError) as caught:
            fetch(store, pinned(DATA, server.url()))
        assert len(server.requests) == 1  # never asked again
        text = caught.value.message
        for fact in (pinned(DATA).sha256, pinned(other).sha256, len(other), len(DATA), "gzip", server.url()):
            assert str(fact) in text
        # Mending the pin needs no second download.
        assert fetch(store, pinned(other, server.url())) == other
        assert len(server.requests) == 1
    assert store.look_up(pinned(DATA)).state is State.MISSING


def test_the_same_tar_in_another_compression_is_another_file(store: Store) -> None:
    """abseil 1373."""
    content = b"the same members" * 1000
    fast, best = gzip.compress(content, 1, mtime=0), gzip.compress(content, 9, mtime=0)
    with raw_server(ranged(fast)) as server, pytest.raises(DigestMismatchError, match="gzip"):
        fetch(store, pinned(best, server.url()))


def test_a_content_coding_is_not_undone(store: Store) -> None:
    packed = gzip.compress(DATA, mtime=0)
    with raw_server(ranged(packed, Content_Encoding="gzip", Content_Type="application/x-tar")) as server:
        assert fetch(store, pinned(packed, server.url())) == packed
        assert server.requests[0].headers["accept-encoding"] == "identity"


def test_html_on_every_fifth_request(store: Store) -> None:
    """spack 5613."""
    files = {f"/{n}.bin": bytes([n]) * 1000 for n in range(10)}

    def answer(request: Request) -> bytes:
        return reply(body=HTML if request.number % 5 == 4 else files[request.path], Content_Type="text/html")

    with raw_server(answer) as server:
        archives = [pinned(data, server.url(path)) for path, data in files.items()]
        with pytest.raises(DigestMismatchError, match="HTML") as caught:
            obtain(archives, store=store, network=network(), jobs=1)
        failures = caught.value.details["failures"]
        assert isinstance(failures, list)
        assert len(failures) == 2
        states = [store.look_up(archive).state for archive in archives]
        assert states == [State.MISSING if n in (4, 9) else State.HELD for n in range(10)]
        assert len(obtain(archives, store=store, network=network(), jobs=1)) == 10
        assert len(server.requests) == 12


@pytest.mark.parametrize(
    ("body", "kind"), [(b"", "empty"), (HTML, "HTML"), (b'{"error": 1}', "JSON"), (b"gone", "text")]
)
def test_a_message_instead_of_a_file(store: Store, body: bytes, kind: str) -> None:
    with raw_server(lambda request: reply(body=body)) as server:
        with pytest.raises(DigestMismatchError, match=f"look like: {kind}") as caught:
            fetch(store, pinned(DATA, server.url()))
    assert caught.value.hint is not None
    assert "page or a message" in caught.value.hint


def test_a_body_longer_than_stated_ends_where_it_was_stated(store: Store) -> None:
    with raw_server(lambda request: kept(reply(body=DATA + b"HTTP/1.1 200 OK\r\n", length=len(DATA)))) as server:
        assert fetch(store, pinned(DATA, server.url("/1"))) == DATA
        # What was left on the connection is no answer to the next request.
        with pytest.raises(DigestMismatchError):
            fetch(store, pinned(b"other", server.url("/2")))


def test_a_body_longer_than_pinned_is_another_file(store: Store) -> None:
    with raw_server(ranged(DATA + b"!")) as server, pytest.raises(DigestMismatchError, match=str(len(DATA) + 1)):
        fetch(store, pinned(DATA, server.url()))


def test_an_endless_body_is_cut_off(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolchain.sources.network.download.LARGEST_SURPRISE_BYTES", 100_000)

    def answer(request: Request) -> Iterator[bytes]:
        yield reply(length=None)
        for _ in range(1000):
            yield bytes(10_000)

    with raw_server(answer) as server, pytest.raises(FetchError, match="sends more than"):
        fetch(store, pinned(DATA, server.url()))
    assert not store.partial_path(pinned(DATA).sha256).exists()


def test_a_wrong_size_in_the_pin_is_the_pins_fault(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url(), size=len(DATA) - 1)
        with pytest.raises(PinsError, match=f"the pin says {len(DATA) - 1}"):
            fetch(store, archive)
        with pytest.raises(PinsError, match="the pin says"):
            fetch(store, archive)  # a hit, too


def test_bytes_without_a_pin_for_an_empty_file(store: Store) -> None:
    with raw_server(lambda request: reply(body=b"")) as server, pytest.raises(DigestMismatchError, match="empty"):
        fetch(store, pinned(DATA, server.url(), size=None))


# --- mirrors and retries ---------------------------------------------------------------------------------------------


def test_a_mirror_that_serves_wrong_bytes_is_skipped_and_not_asked_again(store: Store) -> None:
    with raw_server(ranged(HTML)) as wrong, raw_server(ranged(DATA)) as right:
        archive = pinned(DATA, wrong.url(), right.url())
        assert fetch(store, archive) == DATA
        assert (len(wrong.requests), len(right.requests)) == (1, 1)
        record = store.record(archive.sha256)
        assert record is not None
        assert record.origins == (right.url(),)


def test_a_mirror_goes_on_where_the_first_one_died(store: Store) -> None:
    with raw_server(lambda r: reply(body=BIG[:7000], length=len(BIG)) if r.number == 0 else b"") as dead:
        with raw_server(ranged(BIG)) as alive:
            assert fetch(store, pinned(BIG, dead.url(), alive.url())) == BIG
            assert [request.start for request in alive.requests] == [7000]


def test_a_mirror_is_not_blamed_for_what_the_first_one_sent(store: Store) -> None:
    with raw_server(lambda r: reply(body=b"?" * 7000, length=len(DATA)) if r.number == 0 else b"") as liar:
        with raw_server(ranged(DATA)) as honest:
            assert fetch(store, pinned(DATA, liar.url(), honest.url())) == DATA
            assert [request.start for request in honest.requests] == [7000, 0]


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "410 Gone", "401 Unauthorized"])
def test_a_refusal_is_not_retried(store: Store, status: str) -> None:
    clock = Clock()
    with raw_server(lambda request: reply(status)) as server:
        with pytest.raises(FetchError, match=f"HTTP {status[:3]}"):
            fetch(store, pinned(DATA, server.url()), network(clock))
        assert len(server.requests) == 1
    assert clock.slept == []


def test_every_mirror_failing_names_each(store: Store) -> None:
    with raw_server(lambda request: reply("404 Not Found")) as gone, raw_server(ranged(HTML)) as wrong:
        with pytest.raises(DigestMismatchError) as caught:
            fetch(store, pinned(DATA, gone.url("/gone"), wrong.url("/wrong")))
        assert gone.url("/gone") in caught.value.message
        assert wrong.url("/wrong") in caught.value.message


@pytest.mark.parametrize("status", ["500 Oops", "502 Bad Gateway", "503 Busy", "504 Timeout", "429 Slow down"])
def test_transient_trouble_is_retried_with_growing_pauses(store: Store, status: str) -> None:
    clock = Clock()
    with raw_server(lambda request: reply(status) if request.number < 3 else reply(body=DATA)) as server:
        assert fetch(store, pinned(DATA, server.url()), network(clock)) == DATA
    assert clock.slept == [FIRST_PAUSE_S, FIRST_PAUSE_S * 2, FIRST_PAUSE_S * 4]


def test_a_server_that_never_recovers_is_given_up(store: Store) -> None:
    clock = Clock()
    with raw_server(lambda request: reply("503 Busy")) as server:
        with pytest.raises(FetchError, match="HTTP 503"):
            fetch(store, pinned(DATA, server.url()), network(clock))
        assert len(server.requests) == len(clock.slept) + 1 == 5


def test_429_with_retry_after_twice_then_the_file(store: Store) -> None:
    """bazel 16854: seconds once, a date once."""
    clock = Clock(now=1_700_000_000.0)

    def answer(request: Request) -> bytes:
        if request.number == 0:
            return reply("429 Too Many Requests", Retry_After="7")
        if request.number == 1:
            return reply("429 Too Many Requests", Retry_After=email.utils.formatdate(clock.now + 21, usegmt=True))
        return reply(body=DATA)

    with raw_server(answer) as server:
        assert fetch(store, pinned(DATA, server.url()), network(clock)) == DATA
    assert clock.slept == [7, 21]


def test_retry_after_is_capped(store: Store) -> None:
    clock = Clock()
    with raw_server(
        lambda r: reply("503 Busy", Retry_After="99999999") if r.number == 0 else reply(body=DATA)
    ) as server:
        assert fetch(store, pinned(DATA, server.url()), network(clock)) == DATA
    assert clock.slept == [LONGEST_RETRY_AFTER_S]


@pytest.mark.parametrize(
    "busy",
    [reply("429 Too Many Requests", Retry_After="100"), reply("503 Busy"), b"", reply(body=DATA[:9], length=99)],
    ids=["asks for patience", "busy", "hangs up", "breaks off"],
)
def test_the_next_mirror_is_asked_before_any_is_waited_for(store: Store, busy: bytes) -> None:
    clock = Clock()
    with raw_server(lambda request: busy) as first, raw_server(ranged(DATA)) as second:
        assert fetch(store, pinned(DATA, first.url(), second.url()), network(clock)) == DATA
        assert (len(first.requests), len(second.requests)) == (1, 1)
    assert clock.slept == []


def test_mirrors_that_are_all_busy_are_asked_in_turn(store: Store) -> None:
    """The one that is ready first comes first, and one that is given up is not waited for."""
    clock = Clock()
    busy = reply("429 Too Many Requests", Retry_After="100")
    with (
        raw_server(lambda request: reply("404 Not Found")) as gone,
        raw_server(lambda request: busy) as slow,
        raw_server(lambda r: reply("503 Busy") if r.number < 2 else reply(body=DATA)) as quick,
    ):
        archive = pinned(DATA, gone.url(), slow.url(), quick.url())
        assert fetch(store, archive, network(clock)) == DATA
        assert (len(gone.requests), len(slow.requests), len(quick.requests)) == (1, 1, 3)
    assert clock.slept == [FIRST_PAUSE_S, FIRST_PAUSE_S * 2]


def test_an_error_names_what_was_wanted_and_what_to_do(store: Store) -> None:
    with raw_server(lambda request: reply("404 Not Found")) as gone, pytest.raises(FetchError) as caught:
        fetch(store, replace(pinned(DATA, gone.url()), origin="pins.toml"))
    assert caught.value.message == f"file.bin (pins.toml:1): {gone.url()}: the server answered HTTP 404"
    assert caught.value.hint is not None


def test_nobody_listening(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        url = server.url()
    with pytest.raises(FetchError, match="Connection refused"):
        fetch(store, pinned(DATA, url))


def test_no_such_host(store: Store) -> None:
    with pytest.raises(FetchError, match=r"nowhere\.invalid/file.bin: .*(Name|resol)"):
        fetch(store, pinned(DATA, "https://nowhere.invalid/file.bin"))


def test_a_mirror_that_falls_silent_is_left_for_the_next(store: Store) -> None:
    release = threading.Event()

    def answer(request: Request) -> Iterator[bytes]:
        yield reply(body=DATA[:100], length=len(DATA))
        release.wait(10)

    with raw_server(answer) as silent, raw_server(ranged(DATA)) as good:
        net = network(limits=Limits(silent_s=0.05))
        assert fetch(store, pinned(DATA, silent.url(), good.url()), net) == DATA
        assert good.requests[0].start == 100
        release.set()


def test_a_mirror_that_trickles_is_left_for_the_next(store: Store) -> None:
    def answer(request: Request) -> Iterator[bytes]:
        yield reply(length=len(DATA))
        for byte in DATA[request.start :]:
            yield bytes([byte])

    clock = Clock(tick=1.0)  # a second between any two reads
    with raw_server(answer) as slow, raw_server(ranged(DATA)) as good:
        limits = Limits(slow_window_s=5.0, slow_bytes_per_s=1_000_000)
        assert fetch(store, pinned(DATA, slow.url(), good.url()), network(clock, limits=limits)) == DATA
        assert good.requests


def test_garbage_instead_of_http(store: Store) -> None:
    with raw_server(lambda request: b"SSH-2.0-OpenSSH\r\n\r\n") as server, pytest.raises(FetchError):
        fetch(store, pinned(DATA, server.url()))


# --- redirects, credentials, proxies ---------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl command here to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def test_https_and_an_unknown_certificate(
    store: Store, tls: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with raw_server(ranged(BIG), tls=tls) as server:
        with pytest.raises(FetchError, match="certificate verify failed"):
            fetch(store, pinned(BIG, server.url()))
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/no/such/bundle")
        with pytest.raises(FetchError, match="invalid path: /no/such/bundle") as caught:
            fetch(store, pinned(BIG, server.url()))
        assert "correct REQUESTS_CA_BUNDLE" in (caught.value.hint or "")
        assert server.requests == []
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tls[0]))
        assert fetch(store, pinned(BIG, server.url())) == BIG


def test_a_redirect_from_https_to_http_is_refused(
    store: Store, tls: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """mise PR 13292; the plain server would even have had the right bytes."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tls[0]))
    with raw_server(ranged(DATA)) as plain:
        with raw_server(lambda request: reply("302 Found", Location=plain.url()), tls=tls) as secure:
            with pytest.raises(FetchError, match="redirects from https to http"):
                fetch(store, pinned(DATA, secure.url()))
        assert plain.requests == []


def test_redirects_are_followed_up_to_a_limit(store: Store) -> None:
    def answer(request: Request) -> bytes:
        if request.path == "/end":
            return reply(body=DATA)
        if request.path == "/loop":
            return reply("302 Found", Location="/loop")
        return reply("301 Moved", Location="end")  # relative

    with raw_server(answer) as server:
        assert fetch(store, pinned(DATA, server.url("/start"))) == DATA
        with pytest.raises(FetchError, match="more than 10 redirects"):
            fetch(store, pinned(BIG, server.url("/loop")))


@pytest.mark.parametrize("host", ["192.0.2.1", "localhost"])
def test_plain_http_to_another_machine_is_refused(store: Store, host: str) -> None:
    assert not is_allowed(f"http://{host}/file.bin")
    with pytest.raises(FetchError, match="only these are fetched: https,"):
        fetch(store, pinned(DATA, f"http://{host}/file.bin"))


def test_a_password_goes_to_its_own_host_alone_and_into_no_message(store: Store) -> None:
    with raw_server(lambda request: reply("404 Not Found")) as other:
        with raw_server(lambda request: reply("302 Found", Location=other.url())) as server:
            client = Client(limits=Limits())
            answer = client.get(server.url(), auth=("user", "secret"))
            answer.body.close()
            assert "authorization" in server.requests[0].headers
            assert "authorization" not in other.requests[0].headers
            url = server.url().replace("//", "//user:secret@")
            with pytest.raises(FetchError) as caught:
                fetch(store, pinned(DATA, url))
            assert "secret" not in caught.value.message
            assert "secret" not in str(caught.value.to_json())


def test_netrc_is_obeyed(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password something\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with raw_server(ranged(DATA)) as server:
        assert fetch(store, pinned(DATA, server.url())) == DATA
        assert server.requests[0].headers["authorization"].startswith("Basic ")


def test_a_proxy_is_obeyed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server(ranged(DATA)) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url(""))
        assert fetch(store, pinned(DATA, "http://127.0.0.1:9/through/the/proxy")) == DATA
        assert proxy.requests[0].line == "GET http://127.0.0.1:9/through/the/proxy HTTP/1.1"


@pytest.mark.parametrize(
    ("proxy", "said", "asked_once"),
    [
        ("http://user:secret@127.0.0.1:9", "the proxy http://***@127.0.0.1:9 failed: Connection refused", False),
        ("nowhere.invalid:8080", "the proxy nowhere.invalid:8080 failed: ", None),  # unknown, or nobody to be asked
        ("socks5://127.0.0.1:9", "the proxy socks5://127.0.0.1:9 failed: ", None),  # its library may be there
        ("ftp://127.0.0.1:9", "the proxy ftp://127.0.0.1:9 failed: ", True),
    ],
)
def test_a_proxy_that_fails_is_named(
    store: Store, monkeypatch: pytest.MonkeyPatch, proxy: str, said: str, asked_once: bool | None
) -> None:
    clock = Clock()
    monkeypatch.setenv("http_proxy", proxy)
    with raw_server(ranged(DATA)) as server, pytest.raises(FetchError) as caught:
        fetch(store, pinned(DATA, server.url()), network(clock))
    assert said in caught.value.message
    assert "secret" not in str(caught.value.to_json())
    assert caught.value.hint is not None
    assert "no_proxy" in caught.value.hint
    assert server.requests == []
    if asked_once is not None:
        assert (clock.slept == []) == asked_once


def test_an_answer_through_a_proxy_names_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with raw_server(lambda request: reply("407 Proxy Authentication Required")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url(""))
        with pytest.raises(FetchError, match=rf"HTTP 407 \(through the proxy {proxy.url('')}\)"):
            fetch(store, pinned(DATA, "http://127.0.0.1:9/file"))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_plain_http_is_for_this_machine(store: Store, host: str) -> None:
    """What `pins check` accepts, `fetch` asks."""
    url = f"http://{f'[{host}]' if ':' in host else host}:9/file.bin"
    assert is_allowed(url)
    assert host in RULE
    for page in ("pins.md", "cache.md"):
        assert f"`{host}`" in (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    with pytest.raises(FetchError, match=r"refused|assign requested address"):
        fetch(store, pinned(DATA, url), network(Clock()))


def test_a_redirect_that_fails_names_where_it_led(store: Store) -> None:
    with raw_server(lambda request: reply("302 Found", Location="http://127.0.0.1:9/x")) as server:
        with pytest.raises(FetchError) as caught:
            fetch(store, pinned(DATA, server.url()), network(Clock()))
    assert f"{server.url()}, which leads to http://127.0.0.1:9/x: Connection refused" in caught.value.message


@pytest.mark.parametrize("location", ["http://[::1/x", "http://192.0.2.1/x", "file:///etc/passwd", "//"])
def test_a_redirect_to_nowhere_is_an_error(store: Store, location: str) -> None:
    with raw_server(lambda request: reply("302 Found", Location=location)) as server:
        with pytest.raises(FetchError):
            fetch(store, pinned(DATA, server.url()), network(Clock()))


def test_a_file_of_a_folder_index(tmp_path: Path) -> None:
    path = tmp_path / "a b%20ü.whl"
    path.write_bytes(DATA)
    answer = Client().get(path.as_uri())
    view = memoryview(bytearray(len(DATA) + 1))
    assert answer.body.read_into(view) == len(DATA)
    answer.body.close()
    with pytest.raises(TransferError):
        Client().get((tmp_path / "missing").as_uri())
