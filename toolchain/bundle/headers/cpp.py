"""Host structures as a C++ header, in a namespace of the bundle's name."""

from __future__ import annotations

from collections.abc import Sequence

from toolchain.bundle.headers.c import assertions, declaration
from toolchain.bundle.headers.plan import Plan, comment, title, users
from toolchain.bundle.structs import identifier


def text(name: str, plans: Sequence[Plan], notes: Sequence[str]) -> str:
    """The header."""
    space = identifier(name)
    names = {plan.name: plan.name for plan in plans}
    lines = [
        f"// {title(name)}",
        *(f"// {comment(note)}" for note in notes),
        "#pragma once",
        "",
        "#include <cstddef>",
        "#include <cstdint>",
        "#include <type_traits>",
        "",
        f"namespace {space} {{",
    ]
    for plan in plans:
        lines += ["", *(f"// {line}" for line in users(plan))]
        lines += ["#pragma pack(push, 1)"] if plan.packed else []
        lines += [f"struct {plan.name} {{"]
        lines += [f"    {declaration(slot, names, 'std::')}" for slot in plan.slots]
        lines += ["};"]
        lines += ["#pragma pack(pop)"] if plan.packed else []
        lines += [f"using {alias} = {plan.name};" for alias in plan.aliases]
        lines += assertions(plan, plan.name, "static_assert")
        lines += [f'static_assert(std::is_trivially_copyable_v<{plan.name}>, "{plan.name}: bytes can be copied");']
    return "\n".join([*lines, "", f"}} // namespace {space}", ""])
