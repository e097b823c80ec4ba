"""What disks, users and killed processes do to the cache. Numbers name public reports of the same fault."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packing import Tarred, Zipped, tgz, verified, zipped
from raw_server import HERE, network, pinned, ranged, raw_server, reply

from toolchain import locks
from toolchain.digest import Sha256
from toolchain.errors import ArchiveError, CacheError, DigestMismatchError, FetchError, InstallError
from toolchain.pins import Archive, Attestation, IndexKind, IndexSource, Verification
from toolchain.sources.cache import contents as cache
from toolchain.sources.cache.bundle import read_bundle, write_bundle
from toolchain.sources.cache.records import Record
from toolchain.sources.cache.store import Incoming, State, Store, VerifiedArchive
from toolchain.sources.fetch import obtain, survey
from toolchain.sources.trees import patch, tree

DATA = bytes(range(256)) * 40


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cäche")


def fetch(store: Store, *archives: Archive, offline: bool = False) -> tuple[VerifiedArchive, ...]:
    return obtain(archives, store=store, network=None if offline else network())


def spoil(path: Path, data: bytes) -> None:
    """Write over a file of the cache, which is read-only."""
    path.chmod(0o644)
    path.write_bytes(data)


# --- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [bytes([DATA[0] ^ 1]) + DATA[1:], b"", DATA[:-1], DATA + b"\n"],
    ids=["one bit flipped (bazel 5390)", "zero bytes (cargo PR 11665)", "cut short", "longer"],
)
def test_a_damaged_archive_heals_itself_online_and_is_named_offline(store: Store, damage: bytes) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        fetch(store, archive)
        spoil(store.archive_path(archive.sha256), damage)
        with pytest.raises(FetchError, match="damaged in the cache") as caught:
            fetch(store, archive, offline=True)
        assert str(store.archive_path(archive.sha256)) in caught.value.message
        assert [one.rule for one in cache.verify(store, jobs=1)] == ["cache.damaged"]
        (verified,) = fetch(store, archive)
        assert verified.path.read_bytes() == DATA
        assert len(server.requests) == 2
    assert cache.verify(store, jobs=1) == []
    fetch(store, archive, offline=True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(min_size=1, max_size=300), where=st.integers(0, 299), mask=st.integers(1, 255))
def test_any_flipped_byte_is_noticed(tmp_path: Path, data: bytes, where: int, mask: int) -> None:
    store = Store(tmp_path)
    archive = pinned(data)
    store.prepare()
    flipped = bytearray(data)
    flipped[where % len(data)] ^= mask
    path = store.archive_path(archive.sha256)
    path.write_bytes(flipped)
    assert store.look_up(archive).state is State.DAMAGED
    path.write_bytes(data)
    assert store.look_up(archive).state is State.HELD
    path.unlink()


def test_what_cannot_be_read_is_listed_with_all_the_rest(store: Store) -> None:
    """Root reads what has mode 0, and so another refusal stands for that: a link that leads to itself."""
    with raw_server(ranged(DATA)) as server:
        there, unreadable, missing = (pinned(DATA[n:], server.url(), name=f"{n}.bin") for n in range(3))
        fetch(store, there)
        path = store.archive_path(unreadable.sha256)
        path.symlink_to(path)
        states = [one.state for one in survey([unreadable, there, missing], store=store)]
        assert states == [State.UNREADABLE, State.HELD, State.MISSING]
        with pytest.raises(FetchError, match="lacks 2 archives") as listed:
            fetch(store, unreadable, there, missing, offline=True)
        assert "1.bin: in the cache, and cannot be read: Too many levels" in listed.value.message
        assert shlex.join(["chmod", "a+r", str(path)]) in listed.value.message
        assert "2.bin: missing" in listed.value.message
        for offline in (True, False):
            with pytest.raises(CacheError, match=f"cannot read {path}") as caught:
                fetch(store, there, unreadable, offline=offline)
            assert "make it readable" in (caught.value.hint or "")


def test_a_folder_where_an_archive_belongs(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        store.archive_path(archive.sha256).mkdir(parents=True)
        assert store.look_up(archive).state is State.DAMAGED
        with pytest.raises(CacheError, match="cannot publish"):
            fetch(store, archive)


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"format": 1}', b"\xff" * 40, b"[" * 100_000])
def test_a_damaged_record_costs_nothing_but_the_origin(store: Store, record: bytes) -> None:
    """cargo PR 11665: a zero-byte stamp is no statement."""
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        fetch(store, archive)
        store.record_path(archive.sha256).write_bytes(record)
        fetch(store, archive, offline=True)
        assert [one.rule for one in cache.verify(store, jobs=1)] == ["cache.bad-record"]
        assert len(server.requests) == 1


def test_one_of_two_archives_deleted(store: Store) -> None:
    """meson 2359: only what is missing is fetched, and offline only that is named."""
    with raw_server(lambda request: reply(body=DATA if request.path == "/one" else DATA[1:])) as server:
        one, two = pinned(DATA, server.url("/one"), name="one"), pinned(DATA[1:], server.url("/two"), name="two")
        fetch(store, one, two)
        store.archive_path(two.sha256).unlink()
        with pytest.raises(FetchError, match="lacks 1 archive") as caught:
            fetch(store, one, two, offline=True)
        assert "two: missing" in caught.value.message
        assert "one" not in caught.value.message.replace(str(store.root), "")
        fetch(store, one, two)
        assert [request.path for request in server.requests][2:] == ["/two"]
        # The other way about: the archive stays, its record goes.
        store.record_path(one.sha256).unlink()
        fetch(store, one, two, offline=True)


def test_records_are_deterministic(tmp_path: Path) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        records = []
        for name in ("a", "b"):
            fetch(Store(tmp_path / name), archive)
            records.append(Store(tmp_path / name).record_path(archive.sha256).read_bytes())
    assert records[0] == records[1]


# --- origins: a URL changed while the digest stayed (nix 969) --------------------------------------------------------


def test_a_new_address_with_other_bytes_is_an_error_and_no_stale_hit(store: Store) -> None:
    with raw_server(lambda request: reply(body=DATA if request.path == "/1.0" else b"version 2")) as server:
        fetch(store, pinned(DATA, server.url("/1.0")))
        bumped = pinned(DATA, server.url("/2.0"))
        with pytest.raises(DigestMismatchError, match=r"/2\.0"):
            fetch(store, bumped)
        (finding,) = cache.moved(store, [bumped])
        assert server.url("/1.0") in finding.seen
        with pytest.raises(FetchError, match="the pinned address is new") as caught:
            fetch(store, bumped, offline=True)
        assert server.url("/1.0") in caught.value.message
        # The old pin is as good as before.
        fetch(store, pinned(DATA, server.url("/1.0")), offline=True)


def test_a_new_address_with_the_same_bytes_is_learned(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        fetch(store, pinned(DATA, server.url("/old")))
        moved = pinned(DATA, server.url("/new"))
        fetch(store, moved)
        assert len(server.requests) == 2
        record = store.record(moved.sha256)
        assert record is not None
        assert set(record.origins) == {server.url("/old"), server.url("/new")}
        fetch(store, moved, offline=True)


def test_an_attested_archive_is_not_taken_for_a_stated_one(store: Store) -> None:
    """Its bytes are in the cache, fetched for a pin that demands less."""
    pytest.importorskip("sigstore", reason="the optional dependency gpu-toolchain[attest] is not installed")
    signer = Attestation("https://git.example/r.yml", "https://i.example", ("https://nowhere.invalid/tool.json",))
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        fetch(store, archive)
        attested = dataclasses.replace(archive, verification=Verification.ATTESTED, attestation=signer)
        with pytest.raises(FetchError, match="lacks 1 attestation"):
            fetch(store, attested, offline=True)
        (holding,) = survey([attested], store=store)
        assert (holding.state, holding.verified) == (State.UNATTESTED, None)
        fetch(store, archive, offline=True)


def test_one_more_mirror_is_no_new_address(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        fetch(store, pinned(DATA, server.url("/old")))
        fetch(store, pinned(DATA, "https://mirror.invalid/x", server.url("/old")), offline=True)


def test_a_person_can_vouch_for_a_new_address_offline(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        fetch(store, pinned(DATA, server.url("/old")))
    moved = pinned(DATA, "https://nowhere.invalid/new")
    cache.add(store, store.archive_path(moved.sha256), {moved.sha256: [moved]}, unpinned=False)
    fetch(store, moved, offline=True)


# --- disks and users -------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = shutil.which("mount")
    if sys.platform != "linux" or os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a tmpfs")
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if made.returncode != 0:
        pytest.skip(f"this machine mounts no tmpfs: {made.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_says_so_and_leaves_nothing_half(tiny: Path) -> None:
    """buildout 101."""
    big = bytes(3 * 1024 * 1024)
    with raw_server(ranged(big)) as server:
        with pytest.raises(CacheError, match="No space left on device") as caught:
            fetch(Store(tiny), pinned(big, server.url()))
        assert caught.value.hint is not None
        assert "make room" in caught.value.hint
        assert len(server.requests) == 1  # no mirror and no retry makes room
        files = [path.name for path in tiny.rglob("*") if path.is_file()]
        assert files == ["CACHEDIR.TAG"]
    with raw_server(ranged(DATA)) as server:
        fetch(Store(tiny), pinned(DATA, server.url()))  # what fits is taken


def test_a_full_disk_while_a_file_is_added(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "big"
    file.write_bytes(bytes(3 * 1024 * 1024))
    archive = pinned(file.read_bytes())
    with pytest.raises(CacheError, match="No space left"):
        cache.add(Store(tiny), file, {archive.sha256: [archive]}, unpinned=False)
    assert [path.name for path in tiny.rglob("*") if path.is_file()] == ["CACHEDIR.TAG"]


CHILD = """
import json, os, sys
from pathlib import Path
from raw_server import network, pinned
from toolchain.errors import ToolchainError
from toolchain.sources.fetch import obtain
from toolchain.sources.cache.store import Store
# As a user who can only read: everything is loaded before, since that user cannot read a home folder either.
import requests, requests.adapters
store, url, online = Store(Path(sys.argv[1])), sys.argv[2], sys.argv[3] == "online"
data = bytes(range(256)) * 40
net = network() if online else None
if net: net.client.session
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for wanted in (pinned(data, url), pinned(data[1:], url)):
    try:
        (found,) = obtain([wanted], store=store, network=net)
        print(json.dumps({"found": found.path.read_bytes() == data}))
    except ToolchainError as error:
        print(json.dumps(error.to_json()))
"""


@pytest.mark.parametrize("mode", ["online", "offline"])
def test_a_populated_cache_serves_users_who_can_only_read(tmp_path: Path, mode: str) -> None:
    """uv 15934."""
    if sys.platform == "win32" or os.geteuid() != 0:
        pytest.skip("only root can become another user")
    root = tmp_path / "cache"
    with raw_server(ranged(DATA)) as server:
        fetch(Store(root), pinned(DATA, server.url()))
        for folder in (tmp_path, *tmp_path.parents[: len(tmp_path.parents) - 2]):
            folder.chmod(folder.stat().st_mode | 0o055)
        shutil.rmtree(root / "locks")
        before = sorted(root.rglob("*"))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(root), server.url(), mode],
            capture_output=True, text=True, env=environment, check=True,
        )  # fmt: skip
        held, lacking = map(json.loads, done.stdout.splitlines())
        assert held == {"found": True}
        assert lacking["error"] == ("cache" if mode == "online" else "fetch")
        if mode == "online":
            assert "Permission denied" in lacking["message"]
            assert "--cache" in lacking["hint"]
            assert len(server.requests) == 1
    assert sorted(root.rglob("*")) == before


def test_a_read_only_file_system(tiny: Path) -> None:
    store = Store(tiny / "cache")
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        fetch(store, archive)
        subprocess.run(["mount", "-o", "remount,ro", str(tiny)], check=True)
        fetch(store, archive)
        with pytest.raises(CacheError, match="Read-only file system"):
            fetch(store, pinned(DATA[1:], server.url()))
        assert cache.verify(store, jobs=1) == []
    with pytest.raises(CacheError, match=f"cannot write {store.root}.*: Read-only file system") as caught:
        cache.add(store, Path(__file__), {}, unpinned=True)
    assert "--cache" in (caught.value.hint or "")
    with pytest.raises(CacheError, match=f"cannot write {store.root}.*: Read-only file system"):
        store.learn(Record(archive.sha256, 1, "x", ()))


@pytest.mark.parametrize("trouble", ["full", "read-only"])
@pytest.mark.parametrize("kind", ["tgz", "zip"])
def test_a_disk_that_takes_no_tree_is_not_the_archives_fault(
    tiny: Path, tmp_path: Path, kind: str, trouble: str
) -> None:
    archive = tmp_path / "archive"
    big = bytes(3 * 1024 * 1024)
    archive.write_bytes(tgz(Tarred("a", big)) if kind == "tgz" else zipped(Zipped("a", big)))
    with tree.staged(tiny / "roots" / "name") as staging:
        root = staging / "root"
        root.mkdir()
        if trouble == "read-only":
            subprocess.run(["mount", "-o", "remount,ro", str(tiny)], check=True)
        with pytest.raises(InstallError, match="cannot write") as caught:
            tree.build(root, archives=[verified(archive)])
        if trouble == "read-only":
            subprocess.run(["mount", "-o", "remount,rw", str(tiny)], check=True)
    assert str(tiny / "roots") in (caught.value.hint or "")
    assert ("bytes are free" in (caught.value.hint or "")) == (trouble == "full")


@pytest.mark.parametrize("trouble", ["full", "limit"])
def test_a_disk_that_takes_no_patch_is_not_the_patchs_fault(tiny: Path, tmp_path: Path, trouble: str) -> None:
    old, new = b"".join(b"%d\n" % n for n in range(10_000)), b"".join(b"%d+\n" % n for n in range(10_000))
    for name, data in (("a", old), ("b", new)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(data)
    made = (
        subprocess.run(
            ["git", "diff", "--no-index", "a/file", "b/file"], cwd=tmp_path, capture_output=True, check=False
        )
        .stdout.replace(b"/b/file", b"/file")
        .replace(b"/a/file", b"/file")
    )
    folder = tmp_path / "patches" / "pin"
    folder.mkdir(parents=True)
    (folder / "0001-x.patch").write_bytes(made)
    (change,) = patch.load(folder)
    root = tiny / "tree"
    root.mkdir()
    (root / "file").write_bytes(old)
    if trouble == "full":
        with contextlib.suppress(OSError), (tiny / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        with pytest.raises(InstallError, match="No space left on device") as caught:
            patch.apply(change, root)
        assert "make room" in (caught.value.hint or "")
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(InstallError, match="File too large"):
            patch.apply(change, root)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("folder", ["archives", "locks", "partial", "records"])
def test_a_cache_that_lost_a_folder_goes_on(store: Store, folder: str) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        fetch(store, archive)
        shutil.rmtree(store.root / folder)
        store.archive_path(archive.sha256).unlink(missing_ok=True)
        (again,) = fetch(store, archive)
        assert again.path.read_bytes() == DATA


@pytest.mark.parametrize("is_there", [True, False], ids=["a victim", "nothing yet"])
@pytest.mark.parametrize("place", ["partial", "locks"])
def test_a_link_in_a_files_place_is_not_written_through(
    store: Store, tmp_path: Path, place: str, is_there: bool
) -> None:
    victim = tmp_path / "victim"
    if is_there:
        victim.write_bytes(b"secret")
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        store.prepare()
        path = store.partial_path(archive.sha256) if place == "partial" else store.lock_path(archive.sha256)
        path.symlink_to(victim)
        with pytest.raises(CacheError, match=str(path)) as caught:
            fetch(store, archive)
        assert "a symbolic link lies in a file's place" in (caught.value.hint or "")
        assert victim.exists() is is_there
        assert not is_there or victim.read_bytes() == b"secret"
        path.unlink()
        fetch(store, archive)


def test_the_tag_is_not_written_through_a_link(store: Store, tmp_path: Path) -> None:
    store.root.mkdir()
    (store.root / "CACHEDIR.TAG").symlink_to(tmp_path / "elsewhere")
    store.prepare()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks(store: Store, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """interactEM PR 532. No file system here refuses locks, so the one call that takes them does."""

    def refuse(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(locks, "_try_lock", refuse)
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        store.prepare()
        store.partial_path(archive.sha256).write_bytes(DATA[:50])  # maybe someone's who writes it now
        fetch(store, archive)
        assert "range" not in server.requests[0].headers
        assert list((store.root / "partial").iterdir()) == [store.partial_path(archive.sha256)]


def test_an_archive_that_runs_is_replaced(store: Store) -> None:
    """tfenv 404: text file busy, when a running program is opened for writing."""
    program = shutil.which("sleep")
    if sys.platform != "linux" or program is None:
        pytest.skip("needs a program that Linux refuses to write over")
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        store.prepare()
        path = store.archive_path(archive.sha256)
        shutil.copy(program, path)
        running = subprocess.Popen([path, "60"])
        try:
            with pytest.raises(OSError, match="busy"):
                path.open("r+b")
            fetch(store, archive)
            assert path.read_bytes() == DATA
        finally:
            running.kill()
            running.wait()


def test_a_file_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        store = Store(tmp_path / name)
        for attempt in (
            lambda store=store: cache.entries(store),
            lambda store=store: cache.verify(store, jobs=1),
            lambda store=store: cache.prune(store, keep=None, damaged=False, dry_run=True),
        ):
            with pytest.raises(CacheError, match="expected a folder"):
                attempt()
    assert cache.entries(Store(tmp_path / "not yet")) == []


def test_a_cache_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = Store(tmp_path / "file" / "cache")
    with raw_server(ranged(DATA)) as server, pytest.raises(CacheError, match="cannot write"):
        fetch(store, pinned(DATA, server.url()))
    with pytest.raises(FetchError, match="lacks 1 archive"):
        fetch(store, pinned(DATA, server.url()), offline=True)


# --- offline ---------------------------------------------------------------------------------------------------------


def test_offline_text_says_all_that_is_missing_and_what_to_do(store: Store) -> None:
    by_url = pinned(DATA, "https://first.invalid/one.zip", "https://second.invalid/one.zip", name="one.zip")
    by_index = Archive(
        platforms=frozenset({HERE}),
        source=IndexSource(IndexKind.PIP, "pack", "1.2", "pack-1.2-py3-none-any.whl"),
        file_name="pack-1.2-py3-none-any.whl",
        sha256=Sha256.of(b"x"),
        size_bytes=1,
        verification=by_url.verification,
        strip=0,
        places=(),
        license="MIT",
        line=2,
    )
    with pytest.raises(FetchError) as caught:
        fetch(store, by_url, by_index, offline=True)
    assert caught.value.exit_code == 11
    text = caught.value.message
    for archive in (by_url, by_index):
        place = store.archive_path(archive.sha256)
        assert archive.sha256.hex in text
        assert str(place) in text
        assert f"toolchain cache add --cache '{store.root}' {archive.file_name}" in text
    for origin in ("https://first.invalid/one.zip", "https://second.invalid/one.zip", "pip: pack 1.2"):
        assert origin in text
    rows = caught.value.to_json()["details"]
    assert isinstance(rows, dict)
    assert [row["state"] for row in rows["archives"]] == ["missing", "missing"]
    assert rows["archives"][1]["index"]["package"] == "pack"
    assert not store.root.exists()  # looking makes nothing


def test_survey_names_every_state(store: Store) -> None:
    pytest.importorskip("sigstore", reason="the optional dependency gpu-toolchain[attest] is not installed")
    files = {state: state.value.encode() * 9 for state in State}
    with raw_server(lambda request: reply(body=files[State(request.path[1:])])) as server:
        archives = {state: pinned(data, server.url(f"/{state.value}")) for state, data in files.items()}
        fetch(store, *archives.values())
    spoil(store.archive_path(archives[State.DAMAGED].sha256), b"?")
    store.archive_path(archives[State.MISSING].sha256).unlink()
    unreadable = store.archive_path(archives[State.UNREADABLE].sha256)
    unreadable.unlink()
    unreadable.symlink_to(unreadable)
    archives[State.ELSEWHERE] = pinned(files[State.ELSEWHERE], "https://nowhere.invalid/")
    archives[State.UNATTESTED] = dataclasses.replace(
        archives[State.UNATTESTED],
        verification=Verification.ATTESTED,
        attestation=Attestation("https://git.example/r.yml", "https://i.example", ("https://nowhere.invalid/a.json",)),
    )
    holdings = survey(list(archives.values()), store=store)
    assert [holding.state for holding in holdings] == list(archives)


# --- the cache as a whole --------------------------------------------------------------------------------------------


def test_verify_names_every_leftover_and_prune_removes_what_is_ours(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        fetch(store, archive)
    other = "0" * 64
    planted = {
        f"partial/{other}.part": "cache.partial",
        f"partial/{other}.12.ab.tmp": "cache.temporary",
        f"locks/{other}.lock": "cache.stale-lock",
        f"records/{other}.json": "cache.bad-record",
        f"records/.{other}.json.1.ab.tmp": "cache.temporary",
        f"archives/{other}": "cache.damaged",
        "archives/not-a-digest": "cache.unknown",
        "notes.txt": "cache.unknown",
    }
    for name in planted:
        (store.root / name).write_bytes(b"x")
    shutil.copy(store.record_path(archive.sha256), store.root / "keep")
    record = json.loads((store.root / "keep").read_bytes())
    (store.root / "keep").unlink()
    orphan = "1" * 64
    (store.root / f"records/{orphan}.json").write_text(json.dumps({**record, "sha256": orphan}))
    planted[f"records/{orphan}.json"] = "cache.orphan-record"

    findings = cache.verify(store, jobs=2)
    assert {str(Path(one.where).relative_to(store.root)): one.rule for one in findings} == planted

    dry = cache.prune(store, keep={archive.sha256}, damaged=False, dry_run=True)
    assert len(cache.verify(store, jobs=2)) == len(planted)
    assert cache.prune(store, keep={archive.sha256}, damaged=False, dry_run=False) == dry
    assert dry.findings == ()
    strangers = cache.verify(store, jobs=2)
    assert all("not ours" in one.hint and "by hand" in one.hint for one in strangers)
    left = {str(Path(one.where).relative_to(store.root)) for one in strangers}
    assert left == {"archives/not-a-digest", "notes.txt"}
    fetch(store, archive, offline=True)


STRANGERS: tuple[str, ...] = ("archives/NOTES.md", "records/notes.txt", "records/keys.json", "locks/x", "locks/my.lock")
STRANGERS += ("partial/draft.part", "partial/NOTES.md", f"partial/{'0' * 64}.bak", f"records/{'0' * 64}.json.bak")


@pytest.mark.parametrize("name", STRANGERS)
def test_prune_leaves_files_that_have_no_name_of_ours(store: Store, name: str) -> None:
    store.prepare()
    (store.root / name).write_text("somebody's work")
    for every in (None, set[Sha256]()):
        assert cache.prune(store, keep=every, damaged=True, dry_run=False).removed == ()
    assert (store.root / name).read_text() == "somebody's work"
    (finding,) = cache.verify(store, jobs=1)
    assert (finding.rule, finding.where) == ("cache.unknown", str(store.root / name))
    assert "by hand" in finding.hint


def test_a_folder_that_was_never_a_cache_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path / "project"
    (theirs / "archives").mkdir(parents=True)
    (theirs / "locks").mkdir()
    (theirs / "archives" / ("0" * 64)).write_bytes(b"somebody's work")
    (theirs / "README.md").touch()
    (theirs / "CACHEDIR.TAG").write_bytes(b"Signature: 8a477f597d28d172789f06886806bc55\n# of another program\n")
    for work in (
        lambda: cache.entries(Store(theirs)),
        lambda: cache.verify(Store(theirs), jobs=1),
        lambda: cache.prune(Store(theirs), keep=None, damaged=True, dry_run=False),
    ):
        with pytest.raises(CacheError, match=r"project is no cache: .* seen one without CACHEDIR\.TAG"):
            work()
    assert (theirs / "archives" / ("0" * 64)).read_bytes() == b"somebody's work"


@pytest.mark.parametrize("there", [(), ("archives",), ("archives", "locks", "partial", "records", "notes")])
def test_what_can_be_a_cache_is_taken_for_one(tmp_path: Path, there: tuple[str, ...]) -> None:
    """Empty, begun by a killed process, or without its tag."""
    for name in there:
        (tmp_path / name).mkdir()
    assert cache.entries(Store(tmp_path)) == []


def test_prune_keeps_what_is_pinned_even_damaged_unless_told(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        fetch(store, archive)
    spoil(store.archive_path(archive.sha256), b"?")
    assert cache.prune(store, keep={archive.sha256}, damaged=False, dry_run=False).removed == ()
    gone = cache.prune(store, keep={archive.sha256}, damaged=True, dry_run=False).removed
    assert gone[0].path == store.archive_path(archive.sha256)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
def test_prune_by_someone_who_may_not_is_no_fault_of_the_network() -> None:
    with tempfile.TemporaryDirectory() as name, raw_server(ranged(DATA)) as server:  # pytest's folders are closed
        Path(name).chmod(0o755)
        store = Store(Path(name) / "cache")
        fetch(store, pinned(DATA, server.url()))
        os.seteuid(65534)
        try:
            with pytest.raises(CacheError, match=r"cannot remove .*: Permission denied"):
                cache.prune(store, keep=None, damaged=False, dry_run=False)
        finally:
            os.seteuid(0)


def test_prune_of_everything_says_so(store: Store) -> None:
    with raw_server(ranged(DATA)) as server:
        fetch(store, pinned(DATA, server.url()))
    gone = cache.prune(store, keep=None, damaged=False, dry_run=False).removed
    assert {one.why for one in gone} == {"the cache is emptied"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_what_is_no_file_stops_no_prune_and_a_folder_is_named(store: Store, tmp_path: Path) -> None:
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        fetch(store, archive)
    folder, fifo, link = (store.archive_path(Sha256(digit * 64)) for digit in "123")
    folder.mkdir()
    (folder / "somebody's work").touch()
    os.mkfifo(fifo)
    link.symlink_to(store.archive_path(archive.sha256))
    (store.root / "locks" / "folder.lock").mkdir()

    rules = {one.where: (one.rule, one.seen) for one in cache.verify(store, jobs=1)}
    assert rules == {
        str(folder): ("cache.folder", "a folder, where only files belong"),
        str(store.root / "locks/folder.lock"): ("cache.folder", "a folder, where only files belong"),
        str(fifo): ("cache.irregular", "a FIFO"),
        str(link): ("cache.irregular", "a symbolic link"),
    }
    pinned_too = {archive.sha256, *(Sha256(path.name) for path in (folder, fifo, link))}
    for dry_run in (True, False):
        pruned = cache.prune(store, keep=pinned_too, damaged=True, dry_run=dry_run)
        assert {one.path for one in pruned.removed} == {fifo, link}
        assert {one.where for one in pruned.findings} == {str(folder), str(store.root / "locks/folder.lock")}
    assert (folder / "somebody's work").exists()
    assert not os.path.lexists(link)
    assert store.archive_path(archive.sha256).read_bytes() == DATA
    pruned = cache.prune(store, keep=None, damaged=False, dry_run=False)
    assert pruned.removed[0].path == store.archive_path(archive.sha256)
    assert len(pruned.findings) == 2


def test_a_folder_where_an_added_file_belongs(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(DATA)
    store.archive_path(Sha256.of(DATA)).mkdir(parents=True)
    with pytest.raises(CacheError, match="cannot publish") as caught:
        cache.add(store, file, {}, unpinned=True)
    assert "remove it by hand" in (caught.value.hint or "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_fifo_is_nowhere_waited_for(store: Store, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for attempt in (
        lambda: cache.add(store, fifo, {}, unpinned=True),
        lambda: read_bundle(fifo, store),
    ):
        with pytest.raises(CacheError, match="no regular file"):
            attempt()
    with raw_server(ranged(DATA)) as server:
        archive = pinned(DATA, server.url())
        store.prepare()
        os.mkfifo(store.archive_path(archive.sha256))
        os.mkfifo(store.record_path(archive.sha256))
        assert store.look_up(archive).state is State.DAMAGED
        assert [one.rule for one in cache.verify(store, jobs=1)] == ["cache.irregular", "cache.bad-record"]
        fetch(store, archive)
        assert cache.verify(store, jobs=1) == []
        other = pinned(DATA[1:], server.url())
        os.mkfifo(store.partial_path(other.sha256))
        with pytest.raises(CacheError, match="no regular file"):
            fetch(store, other)


def test_what_a_running_process_works_on_is_no_leftover(store: Store) -> None:
    archive = pinned(DATA)
    store.prepare()
    with store.receive(archive, on_wait=lambda text: None) as incoming:
        assert isinstance(incoming, Incoming)
        incoming.open()
        incoming.write(memoryview(DATA))
        assert cache.leftovers(store) == []
        assert cache.prune(store, keep=(), damaged=False, dry_run=False).removed == ()
        incoming.commit("https://nowhere.invalid/", "here")
    fetch(store, pinned(DATA, "https://nowhere.invalid/"), offline=True)


def test_add_wants_a_pin(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "file with spaces.bin"
    file.write_bytes(DATA)
    archive = pinned(DATA, name="whatever it is called.bin")
    with pytest.raises(CacheError, match="no pin names"):
        cache.add(store, file, {}, unpinned=False)
    namesake = pinned(b"other", name=file.name)
    with pytest.raises(DigestMismatchError, match=str(namesake.sha256)):
        cache.add(store, file, {namesake.sha256: [namesake]}, unpinned=False)
    assert not store.root.exists()
    cache.add(store, file, {archive.sha256: [archive]}, unpinned=False)
    fetch(store, archive, offline=True)
    cache.add(store, file, {}, unpinned=True)
    with pytest.raises(CacheError, match="cannot read"):
        cache.add(store, tmp_path / "missing", {}, unpinned=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_an_export_follows_a_link_and_replaces_regular_files_alone(store: Store, tmp_path: Path) -> None:
    with raw_server(ranged(DATA)) as server:
        archives = fetch(store, pinned(DATA, server.url()))
    (tmp_path / "elsewhere").mkdir()
    link, real = tmp_path / "link.tar", tmp_path / "elsewhere" / "real.tar"
    link.symlink_to(real)
    for before in (None, b"old"):
        if before is not None:
            real.write_bytes(before)
        write_bundle(link, archives, store, force=before is not None)
        assert link.is_symlink()
        assert read_bundle(real, Store(tmp_path / "other")) == (archives[0].archive.sha256,)
        assert [path.name for path in real.parent.iterdir()] == ["real.tar"]
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for target, what in ((fifo, "a FIFO"), (tmp_path, "a folder")):
        with pytest.raises(CacheError, match=what):
            write_bundle(target, archives, store)
    assert fifo.is_fifo()
    with pytest.raises(CacheError, match="cannot write") as caught:
        write_bundle(tmp_path / "none" / "x.tar", archives, store)
    assert caught.value.exit_code == 20


def test_a_bundle_carries_archives_and_records(store: Store, tmp_path: Path) -> None:
    with raw_server(lambda request: reply(body=request.path.encode() * 500)) as server:
        archives = [pinned(f"/{n}".encode() * 500, server.url(f"/{n}")) for n in range(4)]
        verified = fetch(store, *archives)
    write_bundle(tmp_path / "a.tar", verified, store)
    write_bundle(tmp_path / "b.tar", tuple(reversed(verified)), store)
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()
    other = Store(tmp_path / "other")
    assert set(read_bundle(tmp_path / "a.tar", other)) == {archive.sha256 for archive in archives}
    fetch(other, *archives, offline=True)
    assert [other.record(one.sha256) for one in archives] == [store.record(one.sha256) for one in archives]
    assert cache.verify(other, jobs=1) == []


def test_an_export_replaces_nothing_but_bundles(store: Store, tmp_path: Path) -> None:
    with raw_server(ranged(DATA)) as server:
        archives = fetch(store, pinned(DATA, server.url()))
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    with pytest.raises(CacheError, match="no export wrote"):
        write_bundle(mine, archives, store)
    for force in (False, True):
        with pytest.raises(CacheError, match="pins file"):
            write_bundle(mine, archives, store, force=force, protected=[mine])
        with pytest.raises(CacheError, match="in the cache"):
            write_bundle(archives[0].path, archives, store, force=force)
        with pytest.raises(CacheError, match="in the cache"):
            write_bundle(store.root / "new.tar", archives, store, force=force)
    assert mine.read_text() == "mine"
    write_bundle(mine, archives, store, force=True)
    write_bundle(mine, archives, store)
    assert read_bundle(mine, Store(tmp_path / "other")) == (archives[0].archive.sha256,)


def test_nothing_follows_a_bundle(store: Store, tmp_path: Path) -> None:
    with raw_server(ranged(DATA)) as server:
        write_bundle(tmp_path / "a.tar", fetch(store, pinned(DATA, server.url())), store)
    whole = (tmp_path / "a.tar").read_bytes()
    for tail in (b"garbage", bytes(100_000) + b"x"):
        (tmp_path / "longer.tar").write_bytes(whole + tail)
        with pytest.raises(ArchiveError, match="follows the end"):
            read_bundle(tmp_path / "longer.tar", Store(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_a_bundle_that_was_cut_between_members_is_refused(store: Store, tmp_path: Path) -> None:
    import tarfile

    with raw_server(lambda request: reply(body=request.path.encode() * 500)) as server:
        archives = [pinned(f"/{n}".encode() * 500, server.url(f"/{n}")) for n in range(3)]
        write_bundle(tmp_path / "a.tar", fetch(store, *archives), store)
    whole = (tmp_path / "a.tar").read_bytes()
    with tarfile.open(tmp_path / "a.tar") as tar:
        ends = [member.offset for member in tar][1:]
    for number, end in enumerate(ends):
        (tmp_path / "cut.tar").write_bytes(whole[:end])
        with pytest.raises(ArchiveError, match=f"cut off: it lacks {6 - number} of the 6 members"):
            read_bundle(tmp_path / "cut.tar", Store(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def _tar(path: Path, *members: tuple[str, bytes, bytes]) -> Path:
    """A tar of (name, data, type), with a bundle's index in front."""
    import io
    import tarfile

    index = "\n".join(["gpu-toolchain bundle 1", *(name for name, _, _ in members), ""]).encode()
    members = (("index", index, tarfile.REGTYPE), *members)
    with tarfile.open(path, "w") as tar:
        for name, data, kind in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            member.size = len(data) if kind == tarfile.REGTYPE else 0
            member.linkname = "../victim" if kind != tarfile.REGTYPE else ""
            tar.addfile(member, io.BytesIO(data))
    return path


def _record_of(size: str, origin: str = "https://one") -> tuple[str, bytes, bytes]:
    """A record of DATA that says another size, or an address that would forge a line of an error."""
    sha256 = Sha256.of(DATA)
    text = (
        f'{{"format": 1, "sha256": "{sha256}", "size_bytes": {size}, "file_name": "x", "origins": ["{origin}"], '
        '"evidence": []}'
    )
    return f"records/{sha256}.json", text.encode(), b"0"


GOOD = (f"archives/{Sha256.of(DATA)}", DATA, b"0")


@pytest.mark.parametrize(
    "member",
    [
        ("../victim", b"x", b"0"),
        ("/etc/victim", b"x", b"0"),
        (f"archives/../{'0' * 64}", b"x", b"0"),
        (f"archives/{'0' * 63}", b"x", b"0"),
        (f"archives/{'A' * 64}", b"x", b"0"),
        (f"archives/{'0' * 64}.json", b"x", b"0"),
        (f"archives/{'0' * 64}", b"", b"2"),
        (f"archives/{'0' * 64}", b"", b"1"),
        (f"archives/{'0' * 64}", b"", b"3"),
        ("archives", b"", b"5"),
        (f"records/{'0' * 64}", b"x", b"0"),
        (f"records/{'0' * 64}.json", b"x", b"0"),
        (f"records/{'0' * 64}.json", b"{" * (2 << 20), b"0"),
        *(_record_of(size) for size in ("5", "-1", "true", "1e3", str(10**400), f"{len(DATA)}0")),
        _record_of(str(len(DATA)), origin="https://one\\nforged"),
        GOOD,
    ],
)
def test_a_hostile_bundle_is_refused_before_anything_is_written(
    store: Store, tmp_path: Path, member: tuple[str, bytes, bytes]
) -> None:
    bundle = _tar(tmp_path / "bundle.tar", GOOD, member)
    with pytest.raises(ArchiveError):
        read_bundle(bundle, store)
    assert not store.root.exists()
    assert not (tmp_path / "victim").exists()


def test_a_record_of_another_size_is_named_and_set_right(store: Store, tmp_path: Path) -> None:
    bundle = _tar(tmp_path / "bundle.tar", GOOD, _record_of(str(len(DATA))))
    (sha256,) = read_bundle(bundle, store)
    assert cache.verify(store, jobs=1) == []
    for mend in (
        lambda: read_bundle(bundle, store),
        lambda: cache.add(store, store.archive_path(sha256), {}, unpinned=True),
        lambda: cache.prune(store, keep={sha256}, damaged=True, dry_run=False),
    ):
        store.record_path(sha256).write_bytes(_record_of("7")[1])
        assert [one.rule for one in cache.verify(store, jobs=1)] == ["cache.bad-record"]
        mend()
        assert cache.verify(store, jobs=1) == []


def test_an_archive_that_goes_away_while_it_is_exported_is_named(store: Store, tmp_path: Path) -> None:
    archive = pinned(DATA)
    read_bundle(_tar(tmp_path / "bundle.tar", GOOD), store)
    verified = fetch(store, archive, offline=True)
    store.archive_path(archive.sha256).unlink()
    with pytest.raises(CacheError, match=f"cannot read {store.archive_path(archive.sha256)} any more"):
        write_bundle(tmp_path / "again.tar", verified, store)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bundle.tar", store.root.name]


def test_an_export_says_the_size_that_archives_have(store: Store, tmp_path: Path) -> None:
    archive = pinned(DATA)
    read_bundle(_tar(tmp_path / "bundle.tar", GOOD), store)
    store.record_path(archive.sha256).write_bytes(_record_of("7", "https://nowhere.invalid/file.bin")[1])
    write_bundle(tmp_path / "again.tar", fetch(store, archive, offline=True), store)
    other = Store(tmp_path / "other")
    read_bundle(tmp_path / "again.tar", other)
    record = other.record(archive.sha256)
    assert record is not None
    assert record.size_bytes == len(DATA)


def test_a_bundle_whose_bytes_are_others_is_refused(store: Store, tmp_path: Path) -> None:
    bundle = _tar(tmp_path / "bundle.tar", (f"archives/{'0' * 64}", DATA, b"0"))
    with pytest.raises(DigestMismatchError):
        read_bundle(bundle, store)
    assert cache.entries(store) == []
    assert cache.verify(store, jobs=1) == []


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=3000))
def test_any_bytes_as_a_bundle_are_an_error_and_no_traceback(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(data)
    with pytest.raises((ArchiveError, CacheError, DigestMismatchError)):
        read_bundle(path, Store(tmp_path / "cache"))
