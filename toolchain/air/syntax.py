"""What a Mojo source declares, as far as launches need it: lines and their blocks, definitions, imports, bindings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from toolchain.air.lexer import Kind, Token, tokens

_OPENING = ("(", "[", "{")
_CLOSING = (")", "]", "}")
_CONVENTIONS = ("mut", "out", "read", "ref", "var", "deinit", "imm", "owned", "inout", "borrowed")
_DECLARING = ("def", "fn", "var", "ref", "comptime", "alias", "as", "import", "struct", "trait", "except")


@dataclass(frozen=True)
class Line:
    """A logical line: its tokens without the NEWLINE, of which `start` is the first one's place in the source."""

    tokens: tuple[Token, ...]
    start: int

    @property
    def indent(self) -> int:
        """The column of the first token; a block's lines have a greater one than its header."""
        return self.tokens[0].column


@dataclass(frozen=True)
class Definition:
    """A `def` at the top level of a source. `parameters` says what makes it generic, '' where nothing does."""

    name: str
    line: int
    column: int
    parameters: str


@dataclass(frozen=True)
class Import:
    """One module that a source imports, dots in front for a relative one, and one name that it binds here.

    `name` is the name in that module, `*` for all of them, '' where the module itself is bound.
    """

    module: str
    name: str
    bound: str
    line: int


class Source:
    """A source and what it declares. `name` is the file as messages show it."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.tokens = tokens(text, name)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The logical lines, in order."""
        found: list[Line] = []
        start = 0
        for number, token in enumerate(self.tokens):
            if token.kind in (Kind.NEWLINE, Kind.END):
                if number > start:
                    found.append(Line(self.tokens[start:number], start))
                start = number + 1
        return tuple(found)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """The functions at the top level, in order; one that is defined twice is there twice."""
        return tuple(
            Definition(name.text, name.line, name.column, _generic(signature(line)))
            for line in self.lines
            if line.indent == 1 and (name := defined(line)) is not None
        )

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every import, at the top level or not."""
        return tuple(one for line in self.lines for part in statements(line) for one in _imports(part))

    @property
    def is_program(self) -> bool:
        """Whether this source has a `main` at its top level."""
        return any(one.name == "main" for one in self.definitions)

    def line_of(self, place: int) -> int:
        """The number in `lines` of the logical line that holds the token at `place`."""
        return max(number for number, line in enumerate(self.lines) if line.start <= place)

    def enclosing(self, number: int) -> list[int]:
        """The headers of the blocks that a line stands in, outermost first, itself included: numbers in `lines`."""
        chain = [number]
        indent = self.lines[number].indent
        for before in range(number - 1, -1, -1):
            if self.lines[before].indent < indent:
                chain.append(before)
                indent = self.lines[before].indent
        return chain[::-1]

    def block(self, header: int) -> Iterator[Line]:
        """The lines of a header's block, without the header."""
        for line in self.lines[header + 1 :]:
            if line.indent <= self.lines[header].indent:
                return
            yield line


def defined(line: Line) -> Token | None:
    """The name that a line defines as a function, or None where it is no function's header."""
    for number, token in enumerate(line.tokens[:-1]):
        if token.is_name("def", "fn"):
            following = line.tokens[number + 1]
            return following if following.kind is Kind.NAME else None
        if not token.is_name("async"):
            return None
    return None


def signature(line: Line) -> tuple[Token, ...]:
    """The tokens of a function's or a struct's header between its name and the `:` that begins its body."""
    depth = 0
    first = next((n for n, token in enumerate(line.tokens) if token.is_name("def", "fn", "struct", "trait")), None)
    if first is None:
        return ()
    for number, token in enumerate(line.tokens):
        depth += token.is_operator(*_OPENING) - token.is_operator(*_CLOSING)
        if depth == 0 and token.is_operator(":"):
            return line.tokens[first + 2 : number]
    return line.tokens[first + 2 :]


def statements(line: Line) -> list[tuple[Token, ...]]:
    """The statements of a line, which semicolons part."""
    return split(line.tokens, ";")


def split(found: Sequence[Token], separator: str) -> list[tuple[Token, ...]]:
    """The pieces of tokens between the separators that stand outside of brackets."""
    pieces: list[tuple[Token, ...]] = []
    depth = start = 0
    for number, token in enumerate(found):
        depth += token.is_operator(*_OPENING) - token.is_operator(*_CLOSING)
        if depth == 0 and token.is_operator(separator):
            pieces.append(tuple(found[start:number]))
            start = number + 1
    pieces.append(tuple(found[start:]))
    return pieces


def bracketed(found: Sequence[Token], start: int) -> int:
    """The place of the bracket that closes the one at `start`. The lexer has seen that there is one."""
    depth = 0
    for number in range(start, len(found)):
        depth += found[number].is_operator(*_OPENING) - found[number].is_operator(*_CLOSING)
        if depth == 0:
            return number
    raise AssertionError(f"unbalanced brackets after {found[start]}")


def shown(found: Sequence[Token], limit: int = 60) -> str:
    """Tokens as one line of source, cut where it is long."""
    text = ""
    last: Token | None = None
    for token in found:
        word = f"`{token.text}`" if token.quoted else token.text
        apart = last is not None and (last.line != token.line or last.column + _width(last) != token.column)
        text += f" {word}" if apart else word
        last = token
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def binds(line: Line, name: str) -> bool:
    """Whether a line gives `name` a meaning of its own: declares, assigns or imports it, or loops over it.

    Rather yes than no: of a binding that this does not see, a launch would be taken for another kernel's.
    """
    return name in _arguments(signature(line)) or any(_statement_binds(part, name) for part in statements(line))


def parameters_bind(line: Line, name: str) -> bool:
    """Whether a struct's header has a parameter of that name."""
    return name in _arguments(signature(line))


def _statement_binds(part: Sequence[Token], name: str) -> bool:
    depth = 0
    before_assignment = False
    in_loop = False
    equals = next((n for n, token in _outside(part) if token.is_operator("=")), None)
    for number, token in enumerate(part):
        depth += token.is_operator(*_OPENING) - token.is_operator(*_CLOSING)
        before_assignment = equals is not None and number < equals
        in_loop = (in_loop or token.is_name("for")) and not token.is_name("in")
        if token.kind is not Kind.NAME or token.text != name or (number and part[number - 1].is_operator(".")):
            continue
        if before_assignment or in_loop or (number and part[number - 1].is_name(*_DECLARING)):
            return True
        following = part[number + 1] if number + 1 < len(part) else None
        if following is not None and following.is_operator(":="):
            return True
        if part[0].is_name("from", "import"):
            return True
    return False


def _outside(part: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    depth = 0
    for number, token in enumerate(part):
        depth += token.is_operator(*_OPENING) - token.is_operator(*_CLOSING)
        if depth == 0:
            yield number, token


def _arguments(header: Sequence[Token]) -> set[str]:
    """The names of parameters and arguments in a signature."""
    names: set[str] = set()
    depth = 0
    for number, token in enumerate(header):
        depth += token.is_operator(*_OPENING) - token.is_operator(*_CLOSING)
        if depth != 1 or token.kind is not Kind.NAME or number == 0:
            continue
        before = header[number - 1]
        after = header[number + 1] if number + 1 < len(header) else None
        begins = before.is_operator("(", "[", ",", "*", "**", "]", ")") or before.is_name(*_CONVENTIONS)
        if begins and (after is None or after.is_operator(":", "=", ",", ")", "]")):
            names.add(token.text)
    return names


def _generic(header: Sequence[Token]) -> str:
    if header and header[0].is_operator("["):
        return shown(header[: bracketed(header, 0) + 1])
    unbound = next((token for token in header if token.is_name("_")), None)
    if unbound is not None:
        return f"the unbound parameter _ at line {unbound.line}, column {unbound.column}"
    return ""


def _imports(part: Sequence[Token]) -> Iterator[Import]:
    if len(part) < 2:
        return
    if part[0].is_name("import"):
        for piece in split(part[1:], ","):
            path, bound = _renamed(piece)
            yield Import(path, "", bound or path.split(".")[0], part[0].line)
    elif part[0].is_name("from"):
        middle = next((n for n, token in enumerate(part) if token.is_name("import")), None)
        if middle is None:
            return
        module = "".join(token.text for token in part[1:middle])
        names = [token for token in part[middle + 1 :] if not token.is_operator("(", ")")]
        for piece in split(names, ","):
            if piece:
                name, bound = _renamed(piece)
                yield Import(module, name, bound or name, piece[0].line)


def _renamed(piece: Sequence[Token]) -> tuple[str, str]:
    middle = next((n for n, token in enumerate(piece) if token.is_name("as")), len(piece))
    return "".join(token.text for token in piece[:middle]), "".join(token.text for token in piece[middle + 1 :])


def _width(token: Token) -> int:
    return len(token.text) + (2 if token.quoted else 0)
