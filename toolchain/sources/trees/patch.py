"""Applies patches with git apply, and proves that each took effect.

git apply can do nothing and report success: inside another repository it skips every file that is not below its own
folder there (git 2.39: exit 0, silent; `GIT_CEILING_DIRECTORIES` at the tree itself does not help, at its parent it
does). So the patch's own list of files is read first and compared with git's, every file on it must have changed
afterwards, and nothing else may have.

Decisions:
- Exact bytes, no fuzz: no --ignore-whitespace, no --3way, no patch(1). git's line-end conversion is off.
- A patch whose every line ends in CRLF is an LF patch that a checkout converted, and is read as LF: the same key and
  the same result on every platform. An LF patch for a file with CRLF lines, or the other way round, is an error that
  says so: `--ignore-whitespace` would take it and turn the patched lines to LF.
- A patch that is already in is an error, not a success: the tree is not the pinned one.
- Patches make and change files only; links and submodules (modes 120000, 160000) are refused.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.build.process import Completed, run
from toolchain.digest import Sha256
from toolchain.errors import ArchiveError, PatchError
from toolchain.files import is_folder, read_regular
from toolchain.sources.archives.members import clean
from toolchain.sources.trees import patch_text
from toolchain.sources.trees.manifest import PatchedFile, PatchEffect
from toolchain.sources.trees.patch_text import Touched
from toolchain.sources.unwritable import local_in, unwritable

_FILE_NAME = re.compile(r"(\d{4})-[A-Za-z0-9][A-Za-z0-9._-]*\.patch")
_FAILED_AT = re.compile(r"^error: patch failed: (.*):(\d+)$", re.MULTILINE)
_MODES = (None, "100644", "100755", "100664", "100600")

# A patch is applied to a tree on a local disk; a git that needs minutes waits for something that will not come.
_GIT_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Patch:
    """One patch file: `data` is its text with a checkout's CRLF undone, `sha256` the digest of that."""

    path: Path
    data: bytes
    sha256: Sha256

    @property
    def name(self) -> str:
        """How messages call it: the pin's folder and the file."""
        return f"{self.path.parent.name}/{self.path.name}"


_WITHOUT_DATA = "the patch lacks the bytes of a binary file: make it with git diff --binary"
_ALREADY = "upstream has taken it, or another patch holds it, too: remove it"


def load(folder: Path) -> tuple[Patch, ...]:
    """The patches `NNNN-name.patch` in a pin's folder, in the order of their numbers; none where nothing stands there.

    Raises PatchError for any other file in it, for a number that comes twice, and where the folder, or the one that it
    is in, is something else or cannot be read: nobody knows what patches there are then.
    """
    patches, problems = look_into(folder)
    if problems:
        raise problems[0]
    return patches


def look_into(folder: Path) -> tuple[tuple[Patch, ...], tuple[PatchError, ...]]:
    """The patches that `load` gives, and every reason that it would refuse the folder for.

    An error's details hold `patch`, the path that is wrong, and `rule`: `name`, `number` or `unreadable`.
    """
    patches: dict[str, Patch] = {}
    problems = []
    try:
        paths = sorted(folder.iterdir()) if is_folder(folder.parent) and is_folder(folder) else []
    except OSError as error:
        return (), (_unreadable(folder, error),)
    for path in paths:
        named = _FILE_NAME.fullmatch(path.name)
        if named is None:
            message = f"{path}: expected only files called NNNN-name.patch in this folder"
            problems.append(PatchError(message, details={"patch": str(path), "rule": "name"}))
            continue
        number = named.group(1)
        if number in patches:
            message = f"{path}: has the number of {patches[number].path.name}"
            problems.append(PatchError(message, details={"patch": str(path), "rule": "number"}))
            continue
        try:
            data = patch_text.unconverted(read_regular(path))
        except OSError as error:
            problems.append(_unreadable(path, error))
            continue
        patches[number] = Patch(path, data, Sha256.of(data))
    return tuple(patches[number] for number in sorted(patches)), tuple(problems)


def _unreadable(path: Path, error: OSError) -> PatchError:
    return PatchError(
        f"{path}: cannot be read: {error.strerror or error}", details={"patch": str(path), "rule": "unreadable"}
    )


def changed_files(patch: Patch) -> list[Touched]:
    """The files that a patch says it changes: at least one, all plain files below the tree. Raises PatchError.

    What `apply` asks of the text alone, before it looks at any tree.
    """
    files = patch_text.touched(patch.data, str(patch.path))
    if not files:
        raise PatchError(f"{patch.path}: holds no change", hint="remove it, or write the change into it")
    for file in files:
        _check_text(patch, file)
    return files


@dataclass(frozen=True)
class _State:
    digest: Sha256 | None
    executable: bool | None

    @property
    def mode(self) -> str | None:
        return None if self.executable is None else "0755" if self.executable else "0644"


def apply(patch: Patch, root: Path) -> PatchEffect:
    """Apply one patch to the tree at `root`; what it changed, with digests before and after.

    Raises PatchError, naming the patch, the file and the hunk, when it does not apply, is already in, has no effect
    on a file that it lists, or has one on a file that it does not; InstallError where the disk is full or must not be
    written; ProcessError where git is missing.
    """
    files = changed_files(patch)
    for file in files:
        _check_links(patch, root, file)
    names = sorted({name for file in files for name in (file.old, file.new) if name is not None})
    before = {name: _state(patch, root, name) for name in names}
    standing = _snapshot(root)

    listed = _git(patch, root, "--numstat", "-z").stdout.split(b"\0")
    git_names = sorted(entry.split(b"\t", 2)[2].decode("utf-8", "replace") for entry in listed if entry)
    own_names = sorted(file.name for file in files)
    applied = _git(patch, root, "--verbose")
    if applied.status != 0:
        if (refusal := _local_fault(applied)) is not None:
            raise unwritable(root, refusal)
        raise _not_applied(patch, root, files, applied)
    if git_names != own_names:
        raise PatchError(
            f"{patch.path}: lists {', '.join(own_names)}; git lists {', '.join(git_names) or 'no file at all'}",
            hint="git would skip part of it in silence; is the tree inside a repository that git may see?",
        )

    after = {name: _state(patch, root, name) for name in names}
    changes = []
    for file in files:
        for name in dict.fromkeys((file.old, file.new)):
            if name is None or (file.copied and name == file.old):
                continue
            _check_effect(patch, file, name, before[name], after[name])
    for name in names:
        if before[name] != after[name]:
            old, new = before[name], after[name]
            changes.append(PatchedFile(name, old.digest, new.digest, old.mode, new.mode))
    _check_others(patch, standing, _snapshot(root), set(names))
    return PatchEffect(patch.path.name, patch.sha256, tuple(changes))


def _check_text(patch: Patch, file: Touched) -> None:
    for name in (file.old, file.new):
        if name is None:
            continue
        try:
            if clean(str(patch.path), name) != name:
                raise PatchError(f"{patch.path}: changes {name!r}, which is no plain path below the tree")
        except ArchiveError as error:
            raise PatchError(f"{patch.path}: changes a path outside of the tree, or none at all: {name!r}") from error
    for mode in (file.old_mode, file.new_mode):
        if mode not in _MODES:
            raise PatchError(f"{patch.path}: gives {file.name!r} the mode {mode}; patches change plain files only")


def _check_links(patch: Patch, root: Path, file: Touched) -> None:
    for name in (file.old, file.new):
        at = root
        for part in name.split("/") if name is not None else ():
            at = at / part
            if at.is_symlink():
                raise PatchError(f"{patch.path}: changes {name!r}, which is, or lies below, a symbolic link")


def _check_effect(patch: Patch, file: Touched, name: str, before: _State, after: _State) -> None:
    gone = name != file.new
    if gone and after.digest is not None:
        raise _no_effect(patch, name, "it should be gone, and is still there")
    if not gone and after.digest is None:
        raise _no_effect(patch, name, "it should be there, and is not")
    if before == after:
        raise _no_effect(patch, name, "it is listed, and has not changed")
    if not gone and file.new_mode is not None and after.executable != (file.new_mode == "100755"):
        raise _no_effect(patch, name, f"it should have the mode {file.new_mode}")


def _no_effect(patch: Patch, name: str, what: str) -> PatchError:
    return PatchError(
        f"{patch.path}: git reported success, but {name}: {what}",
        hint=_made_for(patch),
        details={"patch": str(patch.path), "file": name},
    )


def _made_for(patch: Patch) -> str:
    version = patch_text.made_for(patch.data)
    return (
        f"the patch was made for {version}; is the pin at that version?"
        if version
        else "write the upstream version that the patch was made for into it, as a line `Made-for: ...`"
    )


def _local_fault(completed: Completed) -> OSError | None:
    """The operating system's refusal that ended git: no fault of the patch."""
    if hasattr(signal, "SIGXFSZ") and completed.status == -signal.SIGXFSZ:
        return OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return local_in(completed.stderr.decode("utf-8", "replace"))


def _not_applied(patch: Patch, root: Path, files: Sequence[Touched], completed: Completed) -> PatchError:
    if _git(patch, root, "--reverse", "--check").status == 0:
        return PatchError(f"{patch.path}: is already in the tree", hint=_ALREADY, details={"patch": str(patch.path)})
    text = completed.stderr.decode("utf-8", "replace").strip()
    place = ""
    failed = _FAILED_AT.search(text)
    details: dict[str, object] = {"patch": str(patch.path), "git": text}
    if failed:
        name, line = failed.group(1), int(failed.group(2))
        hunks = next((file.hunks for file in files if name in (file.old, file.new)), [])
        number = hunks.index(line) + 1 if line in hunks else None
        place = f" at {name}:{line}" + (f" (hunk {number} of {len(hunks)})" if number else "")
        details |= {"file": name, "line": line, "hunk": number}
    hint = _WITHOUT_DATA if "without full index line" in text else _made_for(patch)
    crlf = [name for file in files if (name := file.old) and _has_crlf(root / name) != (b"\r\n" in patch.data)]
    if crlf:
        hint = f"the lines of {crlf[0]} and those of the patch end differently (CRLF and LF); {hint}"
    shown = "\n  ".join(line for line in text.splitlines() if line.startswith("error: "))
    return PatchError(f"{patch.path}: does not apply{place}\n  {shown or text}", hint=hint, details=details)


def _has_crlf(path: Path) -> bool:
    try:
        return b"\r\n" in path.read_bytes()
    except OSError:
        return False


def _check_others(
    patch: Patch, before: Mapping[str, tuple[int, ...]], after: Mapping[str, tuple[int, ...]], listed: set[str]
) -> None:
    for path in sorted(before.keys() | after.keys()):
        if path not in listed and before.get(path) != after.get(path):
            raise PatchError(
                f"{patch.path}: changed {path}, which it does not list",
                details={"patch": str(patch.path), "file": path},
            )


def _state(patch: Patch, root: Path, name: str) -> _State:
    path = root / name
    try:
        seen = path.lstat()
        if not stat.S_ISREG(seen.st_mode):
            raise PatchError(f"{patch.path}: changes {name!r}, where no file stands but something else")
        return _State(Sha256.of_file(path), seen.st_mode & stat.S_IXUSR != 0)
    except (FileNotFoundError, NotADirectoryError):
        return _State(None, None)
    except OSError as error:
        raise PatchError(f"{patch.path}: changes {name!r}, which cannot be read: {error.strerror or error}") from error


def _snapshot(root: Path) -> dict[str, tuple[int, ...]]:
    """Every file and link below `root` with what changes whenever it is written to: git writes a new file each time."""
    standing: dict[str, tuple[int, ...]] = {}
    base = os.fspath(root)
    folders = [""]
    try:
        while folders:
            folder = folders.pop()
            with os.scandir(f"{base}/{folder}") as listing:
                for found in listing:
                    if found.is_dir(follow_symlinks=False):
                        folders.append(folder + found.name + "/")
                        continue
                    seen = found.stat(follow_symlinks=False)
                    standing[folder + found.name] = (
                        seen.st_ino, seen.st_size, seen.st_mode, seen.st_mtime_ns, seen.st_ctime_ns,
                    )  # fmt: skip
    except OSError as error:
        raise PatchError(f"{error.filename or root}: cannot be read: {error.strerror or error}") from error
    return standing


def _no_repository(real_root: str) -> dict[str, str]:
    """What keeps git from every repository: ones around the tree, and one that an archive brought with it."""
    return {"GIT_DIR": os.devnull, "GIT_CEILING_DIRECTORIES": os.path.dirname(real_root)}  # noqa: PTH120


def _git(patch: Patch, root: Path, *options: str) -> Completed:
    """Run git apply in the tree, cut off from every repository and configuration around it."""
    real = os.path.realpath(root)
    return run(
        [
            "git",
            "-c", "core.autocrlf=false",
            "-c", "core.safecrlf=false",
            "-c", "core.attributesFile=" + os.devnull,
            "apply", "-p1", "--whitespace=nowarn", *options, "-",
        ],
        cwd=Path(real),
        env={
            **_no_repository(real),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "LC_ALL": "C",
            "LANGUAGE": "",
        },
        drop_env=lambda name: name.upper().startswith("GIT_"),
        input_bytes=patch.data,
        timeout_s=_GIT_TIMEOUT_S,
        check=False,
    )  # fmt: skip
