"""Profiles that a project demands: what some GPUs and systems have not."""

from __future__ import annotations

from collections.abc import Iterator

from toolchain.air.rules.profiles import (
    FEATURES_SOURCE,
    GPUS,
    LIMITS_SOURCE,
    SYSTEMS,
    SYSTEMS_SOURCE,
    Gpu,
    Version,
    feature_of,
)
from toolchain.air.rules.rule import AirFinding, rule
from toolchain.air.rules.subject import Subject
from toolchain.air.rules.versions import air_version, language_version, target_of, unread
from toolchain.rules.rule import Severity


@rule(
    "AIR-P1",
    "a demanded system loads the module",
    why="A system loads AIR up to its own version, and none that was made for a newer system: the library cannot be "
    "opened there.",
    mend="Emit for the oldest system that is demanded, or demand a newer one.",
    source=SYSTEMS_SOURCE,
    limits="Only of macOS: a module of another system, and one whose versions cannot be read, fails. What the host "
    "could still ask the system for is not seen.",
)
def loads(subject: Subject) -> Iterator[AirFinding]:
    """Versions of AIR and of the language, and the deployment target."""
    systems = [SYSTEMS[name] for name in subject.profiles if name in SYSTEMS]
    if not systems:
        return
    module = subject.module
    air, language, target = air_version(module), language_version(module), target_of(module)
    for system in systems:
        wrong = [(f"a !{name} that can be read", problem) for name, problem in unread(module)]
        if target is None:
            wrong.append(("a triple of macOS", module.triple or "none"))
        if air and air > system.air:
            wrong.append((f"AIR {_words(system.air)} or older", f"AIR {_words(air)}"))
        if language and language > system.language:
            wrong.append((f"Metal {_words(system.language)} or older", f"Metal {_words(language)}"))
        if target and target[0] > system.macos:
            wrong.append((f"macOS {system.macos} or older in the triple", f"macOS {_words(target)}"))
        for expected, seen in wrong:
            yield subject.finding("AIR-P1", expected=f"{expected} ({system.name})", seen=seen)


def _words(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


@rule(
    "AIR-P2",
    "a demanded GPU has what is called",
    severity=Severity.WARNING,
    why="An operation that a family has not fails when the pipeline is made, long after the library was loaded, with "
    "a message that names no function.",
    mend="Take another way on such GPUs, chosen when the kernel is compiled; or demand a newer family.",
    source=f"{FEATURES_SOURCE}; ml-explore/mlx-swift-examples#72",
    limits="Known by the names of intrinsics. Types (bfloat) and what a host asks for are not looked at. A warning, "
    "since a table says less than a device: mlx.metallib 0.32.4 shifts and fills in 304 kernels, which some Apple7 may "
    "do.",
)
def features(subject: Subject) -> Iterator[AirFinding]:
    """Callees by the feature that they are of."""
    gpus = [GPUS[name] for name in subject.profiles if name in GPUS]
    for function in subject.defined if gpus else ():
        for call in function.calls:
            feature = feature_of(call.callee)
            lacking = [gpu.name for gpu in gpus if feature and not _has(gpu, feature.apple, mac2=feature.mac2)]
            if feature and lacking:
                known = f"Apple{feature.apple} and newer" + (", and mac2" if feature.mac2 else "")
                known += f"; {feature.limits}" if feature.limits else ""
                yield subject.finding(
                    "AIR-P2",
                    expected=f"nothing that {', '.join(lacking)} lacks",
                    seen=f"a call of {call.callee}: {feature.title} ({known})",
                    line=call.line,
                    function=function.name,
                    callee=call.callee,
                )


def _has(gpu: Gpu, apple: int, *, mac2: bool) -> bool:
    return gpu.apple >= apple if gpu.apple else mac2


@rule(
    "AIR-P3",
    "a kernel stays within the limits of demanded GPUs",
    why="No pipeline can be made of a kernel with more.",
    mend="Use less, or demand a newer family.",
    source=LIMITS_SOURCE,
    limits="Samplers that the code itself declares are not counted, nor how many threads registers leave.",
)
def limits(subject: Subject) -> Iterator[AirFinding]:
    """Threadgroup memory, textures, samplers, and buffers of the constant address space."""
    module = subject.module
    gpus = [GPUS[name] for name in subject.profiles if name in GPUS]
    shared = sum(one.size_bytes for one in module.globals if one.address_space == 3) if gpus else 0
    for gpu in gpus:
        for kernel in subject.kernels:
            function = module.functions.get(kernel.symbol)
            used = {
                "bytes of threadgroup memory": (shared, gpu.threadgroup_bytes),
                "textures": (sum(one.places for one in kernel.arguments if one.kind == "air.texture"), gpu.textures),
                "samplers": (sum(one.places for one in kernel.arguments if one.kind == "air.sampler"), gpu.samplers),
                "buffers of constant memory": (
                    sum(
                        one.places
                        for one in kernel.arguments
                        if one.buffer and one.address_space == 2 and not one.conditional
                    ),
                    gpu.constant_buffers,
                ),
            }
            for what, (number, most) in used.items():
                if number > most:
                    yield subject.finding(
                        "AIR-P3",
                        expected=f"at most {most:,} {what} ({gpu.name})",
                        seen=f"{number:,}",
                        line=function.line if function else 0,
                        function=kernel.symbol,
                    )
