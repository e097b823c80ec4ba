"""C: the file is whole, and says what it was made from."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.bundle.fields import LayoutFacts
from toolchain.bundle.format import inputs_digest
from toolchain.bundle.model import InputKind
from toolchain.bundle.rules.rule import BundleFinding, rule
from toolchain.bundle.rules.subject import Subject, found
from toolchain.digest import Sha256

# What kind of fault of the reader (docs/bundle-format.md) breaks which rule.
FAULTS = {"digest": "C1", "extent": "C2", "content": "C2", "version": "C3"}


@rule(
    "C1",
    "every section, and the whole file, has the SHA-256 that is recorded of it",
    why="A flipped bit in code is seldom noticed by a driver: spirv-val accepted 60 of 300 single-bit flips, and the"
    " DXIL validator 4 of 5 corruptions. What runs is then another shader, or a lost device.",
    mend="Copy the file again, or make it again with `toolchain bundle regenerate`.",
    source="docs/bundle-format.md, Header and Index; both figures were measured on spirv-val 2025.5 and DXC 1.8",
)
def whole(subject: Subject) -> Iterator[BundleFinding]:
    """The reader has compared every digest before there was a subject; see `FAULTS`."""
    yield from ()


@rule(
    "C2",
    "sections and records are where docs/bundle-format.md puts them: in range, in order, apart, nothing behind them",
    why="A reader that trusts an offset reads what is not there, and two spellings of one bundle make digests useless.",
    mend="Make it again with `toolchain bundle regenerate`; a file with right digests and wrong records was made by"
    " something else.",
    source="docs/bundle-format.md, Rules for all of it",
)
def in_place(subject: Subject) -> Iterator[BundleFinding]:
    """The reader has checked every record before there was a subject; see `FAULTS`."""
    yield from ()


@rule(
    "C3",
    "the format's version is one that readers know, and the producer is recorded",
    why="Without the compiler's build nobody can make the bundle again, and a layout of one compiler beside code of"
    " another binds the wrong things.",
    mend="Make it again with `toolchain bundle regenerate`, which records the compiler and the recorder.",
    source="docs/bundle-format.md, PROD and Versions",
)
def producer(subject: Subject) -> Iterator[BundleFinding]:
    """The compiler and the recorder are named, and the layouts were made by them."""
    made_by = subject.bundle.producer
    for what, value in (
        ("name", made_by.name),
        ("tool version", made_by.tool_version),
        ("compiler", made_by.compiler),
        ("recorder version", made_by.recorder_version),
    ):
        if not value:
            yield found("C3", f"the producer's {what}", "none recorded", what="producer")
    version = subject.recorder_version()
    if version is not None and version != made_by.recorder_version:
        yield found(
            "C3", f"recorder version {version}, as in the layouts", str(made_by.recorder_version), what="producer"
        )
    for group in subject.bundle.groups:
        for recorded in group.layouts:
            layout = subject.layout(group, recorded.target)
            if not isinstance(layout, LayoutFacts):
                if layout is not None:
                    seen = str(layout.details.get("reason", layout.message))
                    yield found("C3", "a layout file of this format", seen, group=group, target=recorded.target)
            elif layout.build_tag != made_by.compiler:
                yield found(
                    "C3",
                    f"a layout by the bundle's compiler, {made_by.compiler}",
                    f"one by {layout.build_tag}",
                    group=group,
                    target=recorded.target,
                )


@rule(
    "C4",
    "the inputs' digest covers the sources, the options, the compiler and the manifest",
    why="An input that is not in the digest can change without anybody noticing: the bundle stays, and the shader that"
    " runs is last month's.",
    mend="Make it again with `toolchain bundle regenerate`.",
    source="docs/bundle-format.md, INPT",
)
def inputs(subject: Subject) -> Iterator[BundleFinding]:
    """The digest is that of the records, and what must be among them is."""
    bundle = subject.bundle
    right = inputs_digest(bundle.inputs)
    if right != bundle.inputs_sha256:
        yield found("C4", f"inputs_sha256 {right.hex}", bundle.inputs_sha256.hex, what="inputs")
    names: dict[InputKind, set[str]] = {kind: set() for kind in InputKind}
    for one in bundle.inputs:
        names[one.kind].add(one.name)
    if not names[InputKind.PROGRAM]:
        yield found("C4", "the compiler among the inputs", "no program", what="inputs")
    if not names[InputKind.MANIFEST]:
        yield found("C4", "the manifest among the inputs", "none", what="inputs")
    for module in sorted({entry.module for group in bundle.groups for entry in group.entries}):
        if module not in names[InputKind.SOURCE]:
            yield found("C4", f"{module}, an entry's source, among the inputs", "not there", what="inputs")
    for group in bundle.groups:
        for recorded in group.layouts:
            name = f"{group.name}/{recorded.target.language}"
            if name not in names[InputKind.OPTIONS]:
                yield found(
                    "C4", f"the options of {name} among the inputs", "not there", group=group, target=recorded.target
                )


@rule(
    "C5",
    "each code is the one that its group's layout was recorded with",
    why="Layout and code must come from one linked program. A stale pair binds buffers where the code does not look for"
    " them, and a host that checks the pair refuses the pipeline.",
    mend="Make both again with `toolchain bundle regenerate`; never replace one of them in a bundle.",
    source="docs/layout-format.md, EPNT: size and SHA-256 of the code",
    limits="Where a layout was recorded without code there is nothing to compare.",
)
def pairs(subject: Subject) -> Iterator[BundleFinding]:
    """The layout's digest of the code is the code's."""
    for group, entry, code in subject.bundle.codes():
        layout = subject.layout(group, code.target)
        recorded = layout.entry(entry.name) if isinstance(layout, LayoutFacts) else None
        if recorded is None or recorded.code is None:
            continue
        size, digest = recorded.code
        seen = Sha256.of(code.payload).hex
        if digest != seen:
            yield found(
                "C5",
                f"the code that the layout was recorded with, {size} bytes, SHA-256 {digest[:16]}…",
                f"{len(code.payload)} bytes, SHA-256 {seen[:16]}…",
                group=group,
                entry=entry.name,
                target=code.target,
            )
