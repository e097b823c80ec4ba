"""Which kernels a Mojo source launches: every reference to `enqueue_function`, judged before anything is compiled.

**Strict**, for a library module: each reference is a call `….enqueue_function[NAME](…)`, and NAME is a function
without parameters at the source's own top level; anything else is refused, with its form. **Program**, for a source
with a `main`: the compiler says which kernels there are, and `Site`s say which of them the source explains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from toolchain.air.lexer import Kind, Token
from toolchain.air.syntax import Source, binds, bracketed, defined, parameters_bind, shown, split
from toolchain.errors import AirError

# What MAX 26.6's DeviceContext and DeviceStream launch with; every name that begins so counts.
LAUNCH = "enqueue_function"
COMPILE = "compile_function"

RULE = "a local, non-parameterised top-level kernel, as in ctx.enqueue_function[kernel](…)"


@dataclass(frozen=True)
class Launch:
    """A kernel that strict mode takes, with the places that launch it; `line` and `column` are its definition's."""

    kernel: str
    line: int
    column: int
    sites: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Refusal:
    """A reference that strict mode does not take: where, the form that was seen, and why not."""

    line: int
    column: int
    form: str
    reason: str


@dataclass(frozen=True)
class Site:
    """A place in a program that launches or compiles a kernel, as far as the source tells.

    `path` is the kernel with what it is a member of, imports resolved, dotted, '' where the source does not tell it;
    `local` is whether that is in this very source; `parameters` its parameters as they stand there; `generic` is
    whether they may stand for several sets, because something around them is generic.
    """

    path: str
    local: bool
    parameters: str
    line: int
    column: int
    generic: bool

    @property
    def kernel(self) -> str:
        """The kernel's last name."""
        return self.path.rpartition(".")[2]


def strict(source: Source) -> tuple[Launch, ...]:
    """The kernels that a library module launches, in the order of their first launch.

    Raises AirError with every refused reference, each with file, line, column and form; and for a module that
    launches nothing, since a check of nothing passes.
    """
    refused: list[Refusal] = []
    sites: dict[str, list[tuple[int, int]]] = {}
    for place in _references(source, LAUNCH):
        token = source.tokens[place]
        judged = _judge(source, place)
        if isinstance(judged, Refusal):
            refused.append(judged)
        else:
            sites.setdefault(judged, []).append((token.line, token.column))
    if refused:
        raise _refused(source, refused)
    if not sites:
        raise AirError(
            f"{source.name}:1:1: expected at least one {LAUNCH}[kernel](…), seen none: nothing would be checked",
            hint="take the module out of [air] modules, or launch its kernels in it",
            details={"file": source.name, "line": 1, "column": 1},
        )
    by_name = {one.name: one for one in source.definitions}
    return tuple(
        Launch(name, by_name[name].line, by_name[name].column, tuple(places)) for name, places in sites.items()
    )


def program(source: Source) -> tuple[Site, ...]:
    """The places of a program that launch kernels, or compile them to launch later. Raises AirError for none."""
    found: list[Site] = []
    launches = False
    for place in _references(source, LAUNCH, COMPILE):
        launches = True
        found += _sites(source, place)
    if not launches:
        raise AirError(
            f"{source.name}:1:1: expected a program that launches kernels, seen no {LAUNCH}: nothing would be checked",
            hint="name the modules with kernels, or the program that launches them",
            details={"file": source.name, "line": 1, "column": 1},
        )
    return tuple(found)


def _references(source: Source, *prefixes: str) -> Iterator[int]:
    for place, token in enumerate(source.tokens):
        if token.kind is Kind.NAME and token.text.startswith(prefixes):
            yield place


def _refused(source: Source, refused: Sequence[Refusal]) -> AirError:
    lines = [
        f"{source.name}:{one.line}:{one.column}: expected {RULE}, seen {one.form}: {one.reason}" for one in refused
    ]
    return AirError(
        "\n".join(lines),
        hint="launch a kernel of this module by its name, or check the program that launches it (a source with main)",
        details={
            "file": source.name,
            "line": refused[0].line,
            "column": refused[0].column,
            "refused": [
                {"line": one.line, "column": one.column, "form": one.form, "reason": one.reason} for one in refused
            ],
        },
    )


def _judge(source: Source, place: int) -> str | Refusal:
    """The kernel that a reference names, or why strict mode does not take it."""
    tokens = source.tokens
    here = tokens[place]
    end = place + 1  # what a refusal shows

    def refuse(reason: str) -> Refusal:
        first = place
        while first and (tokens[first - 1].is_operator(".") or tokens[first].is_operator(".")):
            first -= 1
        return Refusal(here.line, here.column, shown(tokens[first:end]), reason)

    if here.text != LAUNCH:
        return refuse(f"{here.text} is not {LAUNCH}")
    if not (place and tokens[place - 1].is_operator(".")):
        return refuse("a reference that is no method call")
    if tokens[place + 1].is_operator("("):
        end = bracketed(tokens, place + 1) + 1
        return refuse("a launch of what was compiled elsewhere")
    if not tokens[place + 1].is_operator("["):
        return refuse("a reference that is not called")
    closing = bracketed(tokens, place + 1)
    end = closing + 1
    if not tokens[end].is_operator("("):
        return refuse("a reference that is not called")
    named = split(tokens[place + 2 : closing], ",")
    if len(named) > 1 and not named[-1]:
        named.pop()  # a comma at the end
    if any(_names(part) != _names(named[0]) for part in named[1:]):  # [kernel, kernel] is the form of older MAX
        return refuse("more than the kernel between the brackets")
    (first, *rest) = named[0] or (None,)
    if first is None or first.kind is not Kind.NAME:
        return refuse("an expression that is no name")
    if rest:
        if rest[0].is_operator("["):
            return refuse(f"a specialised launch of {first.text}")
        if rest[0].is_operator("."):
            return refuse(f"a kernel that is a member of {first.text}")
        return refuse("an expression that is no name")
    return _local_kernel(source, place, first.text, refuse)


def _names(part: Sequence[Token]) -> list[tuple[Kind, str]]:
    return [(token.kind, token.text) for token in part]


def _local_kernel(source: Source, place: int, name: str, refuse: Callable[[str], Refusal]) -> str | Refusal:
    """`name` where it is a kernel of this source's top level, and nothing around the launch means another."""
    if (since := _shadowed(source, place, name)) is not None:
        return refuse(f"{name} has another meaning there since line {since}")
    defined_here = [one for one in source.definitions if one.name == name]
    if len(defined_here) > 1:
        return refuse(f"{name} is defined at lines {' and '.join(str(one.line) for one in defined_here)}")
    if defined_here:
        (definition,) = defined_here
        if definition.parameters:
            return refuse(f"{name} of line {definition.line} has parameters: {definition.parameters}")
        return name
    for one in source.imports:
        if one.bound == name:
            return refuse(f"{name} is imported from {one.module} at line {one.line}")
    for line in source.lines:
        if line.indent == 1 and defined(line) is None and binds(line, name):
            return refuse(f"{name} is another name for something since line {line.tokens[0].line}")
    for line in source.lines:
        if (token := defined(line)) is not None and token.text == name:
            return refuse(f"{name} of line {token.line} is not at the top level")
    stars = [one for one in source.imports if one.name == "*"]
    if stars:
        return refuse(f"{name} is not defined here; it may be imported from {stars[0].module} at line {stars[0].line}")
    return refuse(f"{name} is not defined in this module")


def _shadowed(source: Source, place: int, name: str) -> int | None:
    """The line that gives a name another meaning in the functions around a launch, or None."""
    for header in source.enclosing(source.line_of(place)):
        line = source.lines[header]
        if line.tokens[0].is_name("struct", "trait", "@") and parameters_bind(line, name):
            return line.tokens[0].line
        if defined(line) is None:
            continue
        if parameters_bind(line, name):
            return line.tokens[0].line
        for inner in source.block(header):
            if binds(inner, name):
                return inner.tokens[0].line
    return None


def _sites(source: Source, place: int) -> Iterator[Site]:
    tokens = source.tokens
    here = tokens[place]
    if not tokens[place + 1].is_operator("["):
        return  # a launch of what compile_function made, which is a reference of its own; or an import
    closing = bracketed(tokens, place + 1)
    kernel = split(tokens[place + 2 : closing], ",")[0]
    if len(kernel) > 2 and kernel[1].is_operator("="):
        kernel = kernel[2:]
    generic = _is_generic(source, place)
    for path, parameters, unbound in _resolve(source, kernel, ()):
        absolute, local = _member(source, path)
        yield Site(absolute, local, parameters, here.line, here.column, generic or unbound)


def _resolve(source: Source, kernel: Sequence[Token], seen: tuple[str, ...]) -> Iterator[tuple[str, str, bool]]:
    """The (path, parameters, whether they are unknown) that an expression may stand for, through its aliases."""
    stem = list(kernel)
    parameters = ""
    if stem and stem[-1].is_operator("]"):
        opening = next((n for n, token in enumerate(stem) if _bracket_matches(stem, n)), None)
        if opening is not None:
            parameters = _normal(stem[opening:])
            stem = stem[:opening]
    plain = len(stem) % 2 and all(
        token.is_operator(".") if number % 2 else token.kind is Kind.NAME for number, token in enumerate(stem)
    )
    if not plain:
        yield "", parameters, True
        return
    name = stem[-1].text
    meanings = [] if len(stem) > 1 or name in seen else list(_aliases(source, name))
    if not meanings:
        known = len(stem) > 1 or any(one.name == name for one in source.definitions) or _imported(source, name)
        path = "".join(token.text for token in stem)
        yield (path, parameters, False) if known else ("", parameters, True)
    for meaning in meanings:
        for found, inner, unknown in _resolve(source, meaning, (*seen, name)):
            yield found, inner + parameters, unknown


def _member(source: Source, path: str) -> tuple[str, bool]:
    """A path with its first name as the imports have it, and whether this source itself defines what it names.

    A method that a struct has from a trait has the trait's name, so that only those that stand in the struct count.
    """
    first, _, rest = path.partition(".")
    if not rest and any(one.name == first for one in source.definitions):
        return path, True
    for one in source.imports:
        if one.bound == first:
            # `import a.b` binds a, of which a.b is a member already.
            names = [one.module.strip("."), one.name] if one.name or one.bound != one.module.split(".")[0] else [first]
            return ".".join(name for name in (*names, rest) if name), False
    for number, line in enumerate(source.lines):
        if line.indent == 1 and line.tokens[0].is_name("struct") and line.tokens[1].text == first:
            methods = {name.text for inner in source.block(number) if (name := defined(inner)) is not None}
            return path, rest in methods
    return path, False


def _normal(found: Sequence[Token]) -> str:
    """Tokens as text that does not depend on how they were spaced."""
    text = " ".join(token.text for token in found)
    return re.sub(r",(?=\])", "", re.sub(r" ?([\[\](),.]) ?", r"\1", text)).replace(",", ", ")


def _bracket_matches(stem: Sequence[Token], place: int) -> bool:
    """Whether the bracket at `place` is closed by the last token."""
    return stem[place].is_operator("[") and bracketed(stem, place) == len(stem) - 1


def _imported(source: Source, name: str) -> bool:
    return any(one.bound == name for one in source.imports)


def _aliases(source: Source, name: str) -> Iterator[tuple[Token, ...]]:
    """What `comptime NAME = …` gives, wherever it stands; a name means one of all that it is given."""
    for line in source.lines:
        for part in split(line.tokens, ";"):
            equals = next((n for n, token in enumerate(part) if token.is_operator("=")), None)
            if equals is None or len(part) < 4 or not part[0].is_name("comptime", "alias"):
                continue
            if part[1].kind is Kind.NAME and part[1].text == name:
                yield tuple(part[equals + 1 :])


def _is_generic(source: Source, place: int) -> bool:
    """Whether a launch stands in a function or a struct that has parameters: one site, any number of kernels."""
    for header in source.enclosing(source.line_of(place)):
        tokens = source.lines[header].tokens
        for number, token in enumerate(tokens[:-2]):
            if token.is_name("def", "fn", "struct") and any(one.is_operator("[") for one in tokens[number + 2 :][:1]):
                return True
        if tokens[0].is_name("comptime") and len(tokens) > 1 and tokens[1].is_name("for"):
            return True
    return False
