"""WGSL's declarations: a bounded reader of the text, for Slang's output and hand-written shaders (WGSL, sections 3-11).

Statements are not parsed: a function's body is kept as tokens, which `wgsl_flow` follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from toolchain.bundle.code.facts import Unreadable

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)|(?P<word>[^\W\d]\w*)"""
    r"""|(?P<number>0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?[iufh]?|\d*\.?\d+(?:[eE][+-]?\d+)?\.?[iufh]?)"""
    r"""|(?P<sign>->|&&|\|\||==|!=|<=|>=|\+\+|--|[-+*/%&|^!<>=~.,;:@()\[\]{}])"""
)
_COMMENT = re.compile(r"//[^\n]*|/\*")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
MOST_TYPE_LEVELS = 32


@dataclass(frozen=True)
class Type:
    """A type as written: its word and its template's arguments, which are types or texts of numbers."""

    word: str
    arguments: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return self.word + (f"<{', '.join(map(str, self.arguments))}>" if self.arguments else "")


@dataclass(frozen=True)
class Declared:
    """A member, parameter, variable or result: its attributes, name and type."""

    attributes: dict[str, tuple[str, ...]]
    name: str
    type: Type


@dataclass(frozen=True)
class GlobalVariable(Declared):
    """`var<space, access>`; without a space it is a resource handle."""

    space: str = ""
    access: str = ""


@dataclass(frozen=True)
class Function:
    """A function: the body's tokens lie between its braces."""

    attributes: dict[str, tuple[str, ...]]
    name: str
    parameters: tuple[Declared, ...]
    result: Declared | None
    body: tuple[str, ...]


@dataclass
class Text:
    """A module's declarations."""

    enables: list[str] = field(default_factory=list)
    requires: list[str] = field(default_factory=list)
    diagnostics: list[str] = field(default_factory=list)
    structs: dict[str, tuple[Declared, ...]] = field(default_factory=dict)
    aliases: dict[str, Type] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    variables: list[GlobalVariable] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)


def tokens(text: str) -> tuple[list[str], list[int]]:
    """The tokens and where each begins. Raises Unreadable at a character that begins none."""
    if "/*" in text:
        text = _without_comments(text)
    found: list[str] = []
    places: list[int] = []
    at = 0
    for match in _TOKEN.finditer(text):
        if match.start() != at:
            break
        at = match.end()
        if match.lastgroup != "space":
            found.append(match.group())
            places.append(match.start())
    if at != len(text):
        raise Unreadable(f"no WGSL: {text[at : at + 20]!r}", at)
    return found, places


def _without_comments(text: str) -> str:
    """The text with blanks for block comments, which nest; what stands in a line comment begins none."""
    parts: list[str] = []
    at = 0
    for edge in _COMMENT.finditer(text):
        if edge.start() < at or edge.group() != "/*":
            continue
        end = _behind_comment(text, edge.start())
        parts += [text[at : edge.start()], " " * (end - edge.start())]
        at = end
    return "".join([*parts, text[at:]])


def _behind_comment(text: str, at: int) -> int:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, at):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise Unreadable("a comment without an end", at)


def parse(text: str) -> Text:
    """The declarations. Raises Unreadable."""
    return _Reader(*tokens(text)).run()


class _Reader:
    def __init__(self, found: list[str], places: list[int]) -> None:
        self.tokens = found
        self.places = places
        self.at = 0

    def run(self) -> Text:
        text = Text()
        while self.at < len(self.tokens):
            self._declaration(text)
        return text

    def _declaration(self, text: Text) -> None:
        attributes = self._attributes()
        word = self._next()
        if word == ";":
            return
        if word in ("enable", "requires"):
            (text.enables if word == "enable" else text.requires).extend(w for w in self._until(";") if w != ",")
        elif word == "diagnostic":
            text.diagnostics.append("".join(self._until(";")))
        elif word == "struct":
            name = self._next()
            text.structs[name] = tuple(self._declared_list("{", "}"))
        elif word == "alias":
            name = self._next()
            self._expect("=")
            text.aliases[name] = self._type()
            self._until(";")
        elif word in ("const", "override"):
            name = self._next()
            rest = self._until(";")
            text.constants[name] = "".join(rest[rest.index("=") + 1 :]) if "=" in rest else ""
        elif word == "var":
            text.variables.append(self._variable(attributes))
        elif word == "fn":
            function = self._function(attributes)
            text.functions[function.name] = function
        elif word == "const_assert":
            self._until(";")
        else:
            raise self._unreadable(f"expected a declaration, got {word!r}")

    def _variable(self, attributes: dict[str, tuple[str, ...]]) -> GlobalVariable:
        space = access = ""
        if self._peek() == "<":
            self.at += 1
            inside = [word for word in self._until(">") if word != ","]
            space, access = (inside[0] if inside else ""), (inside[1] if len(inside) > 1 else "")
        name = self._next()
        kind = Type("")
        if self._peek() == ":":
            self.at += 1
            kind = self._type()
        self._until(";")
        return GlobalVariable(attributes, name, kind, space, access)

    def _function(self, attributes: dict[str, tuple[str, ...]]) -> Function:
        name = self._next()
        parameters = tuple(self._declared_list("(", ")"))
        result = None
        if self._peek() == "->":
            self.at += 1
            result = Declared(self._attributes(), "", self._type())
        self._attributes()
        return Function(attributes, name, parameters, result, tuple(self._block()))

    def _block(self) -> list[str]:
        self._expect("{")
        first, depth = self.at, 1
        while depth:
            word = self._next()
            depth += (word == "{") - (word == "}")
        return self.tokens[first : self.at - 1]

    def _declared_list(self, opening: str, closing: str) -> list[Declared]:
        self._expect(opening)
        found: list[Declared] = []
        while self._peek() != closing:
            attributes = self._attributes()
            name = self._next()
            self._expect(":")
            found.append(Declared(attributes, name, self._type()))
            if self._peek() in (",", ";"):
                self.at += 1
            elif self._peek() != closing:
                raise self._unreadable(f"expected ',' or {closing!r}, got {self._peek()!r}")
        self.at += 1
        return found

    def _attributes(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        while self._peek() == "@":
            self.at += 1
            name = self._next()
            arguments: tuple[str, ...] = ()
            if self._peek() == "(":
                self.at += 1
                arguments = tuple(self._arguments(")"))
            found[name] = arguments
        return found

    def _arguments(self, closing: str) -> list[str]:
        """Arguments between parentheses, each as text."""
        found, current, depth = [], "", 0
        while True:
            word = self._next()
            if word == closing and depth == 0:
                break
            depth += (word in "([") - (word in ")]")
            if word == "," and depth == 0:
                found.append(current)
                current = ""
            else:
                current += word
        return [*found, current] if current else found

    def _type(self, level: int = 0) -> Type:
        if level > MOST_TYPE_LEVELS:
            raise self._unreadable("types deeper than 32")
        word = self._next()
        arguments: list[Type] = []
        if self._peek() == "<":
            self.at += 1
            while self._peek() != ">":
                arguments.append(self._argument(level))
                if self._peek() == ",":
                    self.at += 1
            self.at += 1
        return Type(word, tuple(arguments))

    def _argument(self, level: int) -> Type:
        """A template's argument: a type, or an expression as text (`i32(4)`)."""
        first = self.at
        found = self._type(level + 1)
        if self._peek() in (",", ">"):
            return found
        depth = 0
        while depth or self._peek() not in (",", ">"):
            word = self._next()
            depth += (word in "([") - (word in ")]")
        return Type("".join(self.tokens[first : self.at]))

    def _until(self, closing: str) -> list[str]:
        first = self.at
        while self._next() != closing:
            pass
        return self.tokens[first : self.at - 1]

    def _expect(self, wanted: str) -> None:
        word = self._next()
        if word != wanted:
            raise self._unreadable(f"expected {wanted!r}, got {word!r}")

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _next(self) -> str:
        if self.at >= len(self.tokens):
            raise Unreadable("the text ends within a declaration", self.places[-1] if self.places else 0)
        self.at += 1
        return self.tokens[self.at - 1]

    def _unreadable(self, reason: str) -> Unreadable:
        return Unreadable(reason, self.places[min(self.at, len(self.places)) - 1])
