"""bundle.toml as text, read into values; all that is wrong is reported in one run. docs/bundles.md is the schema."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from toolchain import toml
from toolchain.bundle.model import Allowance, GroupKind, HitGroup, Pipeline, Target, VertexAttribute, VertexStream
from toolchain.digest import Sha256
from toolchain.errors import BundleError
from toolchain.files import read_regular
from toolchain.toml.lines import KeyPath
from toolchain.toml.table import Fault, Table, kind_of

FORMAT = 1
FILE_NAME = "bundle.toml"

_FAULT = Fault(BundleError, "docs/bundles.md describes each key")
_FILE_KEYS = ("format", "name", "output", "targets", "optional", "include", "defines", "options", "target-options")
_ARRAYS = ("profiles", "pipeline", "allow")
_SINGLE_STAGES = ("compute", "vertex", "fragment", "raygeneration")
_RAY_STAGES = ("miss", "callable")
_RAY_LIMITS = ("payload", "attributes", "recursion")
_PIPELINE_KEYS = (
    "name",
    "module",
    "defines",
    "options",
    "permutations",
    *_SINGLE_STAGES,
    *_RAY_STAGES,
    "hit-group",
    *_RAY_LIMITS,
    "stream",
)
_HIT_STAGES = {"closest-hit": "closesthit", "any-hit": "anyhit", "intersection": "intersection"}
# What the tool says itself, and what would change what a bundle is.
_RESERVED_OPTIONS = frozenset(
    {
        *("-o", "-entry", "-stage", "-target", "-depfile", "-reflection-json", "-batch"),
        *("-help", "--help", "-h", "-version", "--version", "-v", "--"),
    }
)
_RESERVED_PREFIXES = ("-I", "-D")

_TARGETS = {target.language: target for target in Target}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_NAME_FORM = "letters, digits, '.', '_' and '-'"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A function, with the namespaces that tell it from others of its name.
_ENTRY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:::|\.)[A-Za-z_][A-Za-z0-9_]*)*")
_SEMANTIC = re.compile(r"([A-Za-z_][A-Za-z0-9_]*?)(\d*)")
_RULE = re.compile(r"[A-Z]+[0-9]+")
# More permutations than this are a mistake: they multiply.
_MOST_PERMUTATIONS = 4096


@dataclass(frozen=True)
class EntryPoint:
    """An entry to compile: the function, with namespaces (`lights::cull`) or without; `stage` as slangc's -stage
    takes it."""

    function: str
    stage: str

    @property
    def name(self) -> str:
        """What it is called in layouts, bundles and by hosts: without namespaces."""
        return self.function.rpartition("::")[2]


@dataclass(frozen=True)
class Program:
    """What is compiled and linked as one, on each target: a group of the bundle.

    `module` is a path from the manifest's folder. `options` are the compiler's, as they are recorded: include folders
    are relative to that folder too.
    """

    name: str
    kind: GroupKind
    module: str
    entries: tuple[EntryPoint, ...]
    permutation: tuple[tuple[str, str], ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """One bundle to make. `targets` ascend; those in `optional` may be left out where their compiler is missing.

    `sha256` is of the bytes that it was read from.
    """

    path: Path
    sha256: Sha256
    name: str
    output: Path
    targets: tuple[Target, ...]
    optional: frozenset[Target]
    target_options: Mapping[Target, tuple[str, ...]]
    programs: tuple[Program, ...]
    pipelines: tuple[Pipeline, ...]
    profiles: tuple[str, ...]
    allowances: tuple[Allowance, ...]

    @property
    def folder(self) -> Path:
        """What its paths start from."""
        return self.path.parent


def load(path: Path) -> Manifest:
    """The manifest in a file. Raises BundleError as `parse` does, and where the file cannot be read."""
    try:
        data = read_regular(path)
    except OSError as error:
        raise BundleError(
            f"{path}: cannot read the manifest: {error.strerror or error}",
            hint=f"name a {FILE_NAME}, or run this where one is",
            details={"file": str(path)},
        ) from error
    return parse(data, path)


def parse(data: bytes, path: Path) -> Manifest:
    """The manifest of a file's bytes; `path` is where it stands, and as messages show it.

    Raises BundleError whose message has one `path:line: ...` line for each thing that is wrong; `details["problems"]`
    is the same as a list of line and message.
    """
    document, problems = toml.read(data, str(path), _FAULT)
    file = Table(document, (), problems, "the file")
    if "format" not in file.values:
        file.problem(None, f"no 'format'; expected format = {FORMAT} at the top")
    elif (found := file.integer("format", minimum=1)) not in (None, FORMAT):
        file.problem("format", f"format {found} is not one that this program reads; expected {FORMAT}")
    problems.raise_found()
    manifest = _Reader(file, path).run(Sha256.of(data))
    problems.raise_found()
    return manifest


class _Reader:
    def __init__(self, file: Table, path: Path) -> None:
        self.file = file
        self.path = path
        self.programs: dict[str, Program] = {}
        self.pipelines: dict[str, Pipeline] = {}

    def run(self, sha256: Sha256) -> Manifest:
        file = self.file
        file.only((*_FILE_KEYS, *_ARRAYS))
        name = file.text("name", required=True, pattern=_NAME, form=_NAME_FORM) or ""
        output = file.relative("output", file.values.get("output", f"{name}.dgb"), above=True)
        targets = file.choices("targets", _TARGETS, what="targets")
        if "targets" not in file.values:
            file.problem(None, "no 'targets'; expected some of " + ", ".join(_TARGETS))
        optional = file.choices("optional", _TARGETS, what="targets") if "optional" in file.values else []
        for target in optional:
            if target not in targets:
                file.problem("optional", f"optional: {target.language!r} is not among the targets")
        common = _compiler_options(file)
        for table in file.tables("pipeline"):
            self._pipeline(table, common)
        if not file.values.get("pipeline"):
            file.problem(None, "no pipeline; expected at least one [[pipeline]]")
        profiles = file.texts("profiles", what="limit profiles") if "profiles" in file.values else []
        return Manifest(
            path=self.path,
            sha256=sha256,
            name=name,
            output=self.path.parent / (output or ""),
            targets=tuple(sorted(set(targets))),
            optional=frozenset(optional),
            target_options=self._target_options(targets),
            programs=tuple(self.programs[key] for key in sorted(self.programs)),
            pipelines=tuple(self.pipelines[key] for key in sorted(self.pipelines)),
            profiles=tuple(sorted(profiles)),
            allowances=self._allowances(),
        )

    def _target_options(self, targets: Sequence[Target]) -> dict[Target, tuple[str, ...]]:
        values = self.file.typed("target-options", dict, "a table of target = options") or {}
        table = Table(values, ("target-options",), self.file.problems, "target-options")
        table.only(tuple(_TARGETS))
        return {target: tuple(_options(table, target.language)) for target in targets if target.language in values}

    def _pipeline(self, table: Table, common: Sequence[str]) -> None:
        table.only(_PIPELINE_KEYS)
        name = table.text("name", required=True, pattern=_NAME, form=_NAME_FORM)
        module = _module(table)
        shape = self._shape(table)
        options = (*common, *_compiler_options(table))
        permutations = _permutations(table)
        if name is None or module is None or shape is None:
            return
        kind, entries, hit_groups = shape
        streams, attributes = _vertex_input(table, kind)
        limits = {key: table.integer(key, minimum=0) or 0 for key in _RAY_LIMITS}
        if kind is not GroupKind.RAYS:
            for key in (*_RAY_LIMITS, *_RAY_STAGES, "hit-group"):
                if key in table.values:
                    table.problem(key, f"{key!r} is for pipelines with a 'raygeneration'")
        stem = PurePosixPath(module).with_suffix("").as_posix()
        for permutation in permutations:
            suffix = _suffix(permutation)
            group = f"{stem}:{'+'.join(entry.function for entry in entries)}{suffix}"
            defines = tuple(f"-D{key}={value}" for key, value in permutation)
            program = Program(group, kind, module, entries, permutation, (*options, *defines))
            if self.programs.setdefault(group, program) != program:
                table.problem(None, f"its program {group} has other options in another pipeline; name a define apart")
            if name + suffix in self.pipelines:
                table.problem("name", f"name: a second pipeline {name + suffix!r}")
            self.pipelines[name + suffix] = Pipeline(
                name=name + suffix,
                group=group,
                entries=tuple(entry.name for entry in entries),
                attributes=attributes,
                streams=streams,
                hit_groups=hit_groups,
                ray_payload_bytes=limits["payload"],
                ray_attribute_bytes=limits["attributes"],
                ray_recursion=limits["recursion"],
            )

    def _shape(self, table: Table) -> tuple[GroupKind, tuple[EntryPoint, ...], tuple[HitGroup, ...]] | None:
        """What kind of pipeline a table is, and its entries in the program's order."""

        def entry(key: str, of: Table = table) -> str | None:
            found = of.text(key, pattern=_ENTRY, form="the name of an entry") if key in of.values else None
            return None if found is None else found.replace(".", "::")

        found = {stage: entry(stage) for stage in _SINGLE_STAGES}
        kinds = [stage for stage in ("compute", "vertex", "raygeneration") if stage in table.values]
        if len(kinds) != 1:
            table.problem(
                kinds[1] if kinds else None,
                "expected one of 'compute', 'vertex' (with or without 'fragment') and 'raygeneration'"
                + (f", got {' and '.join(kinds)}" if kinds else ""),
            )
            return None
        if "fragment" in table.values and kinds != ["vertex"]:
            table.problem("fragment", "'fragment' needs a 'vertex'")
        entries = [EntryPoint(name, stage) for stage, name in found.items() if name is not None]
        hit_groups: list[HitGroup] = []
        if kinds == ["raygeneration"]:
            for stage in _RAY_STAGES:
                names = table.texts(stage, what="entries") if stage in table.values else []
                entries += [EntryPoint(name.replace(".", "::"), stage) for name in names]
            for number, hit in enumerate(table.tables("hit-group") if "hit-group" in table.values else []):
                hit.only(tuple(_HIT_STAGES))
                points: list[EntryPoint | None] = []
                for key, stage in _HIT_STAGES.items():
                    name = entry(key, hit)
                    points.append(None if name is None else EntryPoint(name, stage))
                if not hit.values:
                    hit.problem(None, "expected some of " + ", ".join(_HIT_STAGES))
                entries += [one for one in points if one is not None]
                hit_groups.append(
                    HitGroup(f"hit_group_{number}", *(None if one is None else one.name for one in points))
                )
        unique = tuple(dict.fromkeys(entries))
        if len({one.name for one in unique}) != len(unique):
            same_function = len({one.function for one in unique}) != len(unique)
            table.problem(
                None, "an entry is named with two stages" if same_function else "two of its entries have one name"
            )
            return None
        kind = {"compute": GroupKind.COMPUTE, "vertex": GroupKind.RENDER}.get(kinds[0], GroupKind.RAYS)
        return (kind, unique, tuple(hit_groups)) if unique else None

    def _allowances(self) -> tuple[Allowance, ...]:
        found: dict[tuple[str, str | None], Allowance] = {}
        known = {f"{program.name}/{entry.name}" for program in self.programs.values() for entry in program.entries}
        for table in self.file.tables("allow") if "allow" in self.file.values else []:
            table.only(("rule", "entry", "reason"))
            rule = table.text("rule", required=True, pattern=_RULE, form="a rule's id, as L1")
            entry = table.text("entry") if "entry" in table.values else None
            reason = table.text("reason", required=True)
            if entry is not None and entry not in known:
                table.problem(
                    "entry", f"entry: there is no {entry!r}; expected GROUP/ENTRY, such as {min(known, default='')!r}"
                )
            if rule is not None and rule not in _rules():
                close = get_close_matches(rule, _rules(), n=1)
                table.problem(
                    "rule", f"rule: there is no rule {rule!r}" + (f"; did you mean {close[0]}?" if close else "")
                )
            if rule is None or reason is None:
                continue
            if (rule, entry) in found:
                table.problem("rule", f"rule: {rule} is allowed for {entry or 'all entries'} twice")
            found[rule, entry] = Allowance(rule, entry, reason)
        return tuple(found.values())


def _rules() -> Collection[str]:
    from toolchain.bundle.rules.checking import rules  # most manifests allow nothing

    return [one.id for one in rules()]


def _module(table: Table) -> str | None:
    if "module" not in table.values:
        table.problem(None, "no 'module'; expected the path of a .slang file")
        return None
    path = table.relative("module", table.values["module"])
    if path is not None and path.suffix != ".slang":
        table.problem("module", f"module: expected a .slang file, got {str(path)!r}")
        return None
    return None if path is None else path.as_posix()


def _compiler_options(table: Table) -> tuple[str, ...]:
    """`include`, `defines` and `options`, as the compiler takes them."""
    found: list[str] = []
    if "include" in table.values:
        folders = table.texts("include", what="folders")
        for number, value in enumerate(folders):
            folder = table.relative("include", value, at=(number,), above=True)
            found += [] if folder is None else ["-I", folder.as_posix()]
    for name, value in sorted((table.typed("defines", dict, "a table of NAME = value") or {}).items()):
        text = _define(table, ("defines", name), name, value)
        found += [] if text is None else [f"-D{name}={text}"]
    return (*found, *_options(table, "options"))


def _options(table: Table, key: str) -> list[str]:
    if key not in table.values:
        return []
    options = table.texts(key, what="compiler options", repeats=True)
    for number, option in enumerate(options):
        if option in _RESERVED_OPTIONS or option.startswith(_RESERVED_PREFIXES):
            table.problem(
                key, f"{key}: {option!r} is not for a manifest to say; 'include' and 'defines' are keys of it"
            )
        elif not option.startswith("-") and (number == 0 or not options[number - 1].startswith("-")):
            table.problem(key, f"{key}: expected an option that begins with '-', got {option!r}")
    return options


def _define(table: Table, at: KeyPath, name: str, value: object) -> str | None:
    where = (*table.path, *at)
    if not _IDENTIFIER.fullmatch(name):
        table.problems.add(where, f"{table.title}: {name!r} is no name of a define")
    elif isinstance(value, bool):
        return str(int(value))
    elif isinstance(value, (int, str)):
        return str(value)
    else:
        table.problems.add(
            where, f"{table.title}: {name}: expected text, a whole number, true or false, got {kind_of(value)}"
        )
    return None


def _permutations(table: Table) -> list[tuple[tuple[str, str], ...]]:
    """Every combination of the axes' values, each with its axes in order; one that is empty where there are no axes."""
    axes: list[tuple[str, list[str]]] = []
    for name, values in sorted((table.typed("permutations", dict, "a table of NAME = [values]") or {}).items()):
        at = ("permutations", name)
        if not isinstance(values, list) or not values:
            table.problems.add((*table.path, *at), f"{table.title}: permutations: {name}: expected a list of values")
            continue
        texts = [_define(table, (*at, number), name, value) for number, value in enumerate(values)]
        found = [text for text in texts if text is not None]
        if len(set(found)) != len(found):
            table.problems.add((*table.path, *at), f"{table.title}: permutations: {name}: a value stands there twice")
        axes.append((name, list(dict.fromkeys(found))))
    count = 1
    for _, found in axes:
        count *= len(found)
    if count > _MOST_PERMUTATIONS:
        table.problem("permutations", f"permutations: {count} combinations; at most {_MOST_PERMUTATIONS} are made")
        return []
    names = [name for name, _ in axes]
    return [tuple(zip(names, values, strict=True)) for values in itertools.product(*(found for _, found in axes))]


def _suffix(permutation: Sequence[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{name}={value}" for name, value in permutation) + "}" if permutation else ""


def _vertex_input(table: Table, kind: GroupKind) -> tuple[tuple[VertexStream, ...], tuple[VertexAttribute, ...]]:
    streams: list[VertexStream] = []
    attributes: list[VertexAttribute] = []
    if "stream" not in table.values:
        return (), ()
    from toolchain.bundle.vertex_input import VERTEX_FORMATS, key_of
    from toolchain.host.enums import Format

    formats = {one.name.lower().replace("_", "-"): one for one in Format if one.name not in ("UNDEFINED", "COUNT")}
    places: dict[tuple[str, int], int] = {}
    if kind is not GroupKind.RENDER:
        table.problem("stream", "'stream' is for pipelines with a 'vertex'")
    for number, stream in enumerate(table.tables("stream")):
        stream.only(("stride", "instances", "attribute"))
        if "stride" not in stream.values:
            stream.problem(None, "no 'stride'; expected the bytes from one vertex to the next")
        stride = stream.integer("stride", minimum=1)
        streams.append(VertexStream(stride or 0, stream.integer("instances", minimum=0) or 0))
        for attribute in stream.tables("attribute"):
            attribute.only(("semantic", "format", "offset"))
            form = "a semantic, such as TEXCOORD1"
            semantic = attribute.text("semantic", required=True, pattern=_SEMANTIC, form=form)
            if "format" not in attribute.values:
                attribute.problem(None, "no 'format'; expected one such as rgb32-float")
            chosen = attribute.choice("format", formats)
            offset = attribute.integer("offset", minimum=0) or 0
            size = VERTEX_FORMATS.get(chosen.value) if chosen is not None else None
            if chosen is not None and size is None:
                attribute.problem("format", f"format: {attribute.values['format']} is no format of a vertex attribute")
            if size is not None and stride is not None and offset + size > stride:
                reach = f"offset {offset} and {size} bytes end at byte {offset + size}"
                attribute.problem("offset", f"offset: {reach}; its stream has a stride of {stride}")
            match = _SEMANTIC.fullmatch(semantic or "")
            if match is None or chosen is None:
                continue
            name, index = match.group(1), int(match.group(2) or 0)
            if (key := key_of(name, index)) in places:
                attribute.problem("semantic", f"semantic: {semantic} is fed twice; first in line {places[key]}")
            places.setdefault(key, attribute.line())
            attributes.append(VertexAttribute(name, index, chosen.value, offset, number))
    return tuple(streams), tuple(attributes)
