"""The call graph of a kernel as a picture: sizes in the boxes, faulty edges in red."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from toolchain.air.module import Module
from toolchain.air.rules.rule import AirFinding
from toolchain.build.process import run
from toolchain.rules.rule import Severity

MAX_NODES = 500
_RED = "#c62828"
_INK = "#263238"


@dataclass(frozen=True)
class Node:
    """A function; `instructions` is None where it is declared alone."""

    name: str
    instructions: int | None
    faulty: bool


@dataclass(frozen=True)
class Edge:
    """The calls of one function in another."""

    caller: str
    callee: str
    count: int
    faulty: bool


@dataclass(frozen=True)
class Graph:
    """What a kernel reaches, breadth first; `layers` are the nodes by their distance from it."""

    layers: tuple[tuple[Node, ...], ...]
    edges: tuple[Edge, ...]
    left_out: int


def graph_of(module: Module, kernel: str, findings: Sequence[AirFinding]) -> Graph:
    """The functions and calls below a kernel; intrinsics are left out, unless a call of one is faulty."""
    wrong = [one for one in findings if one.severity is Severity.ERROR]
    bad_edges = {(one.function, one.callee) for one in wrong if one.callee}
    bad_nodes = {one.function for one in wrong if not one.callee}
    depth = {kernel: 0}
    order = [kernel]
    edges: dict[tuple[str, str], int] = {}
    left_out = 0
    for name in order:
        function = module.functions.get(name)
        for call in function.calls if function else ():
            faulty = (name, call.callee) in bad_edges
            if call.callee.startswith(("air.", "llvm.")) and not faulty:
                continue
            if call.callee not in depth:
                if len(order) >= MAX_NODES and not faulty:
                    left_out += 1
                    continue
                depth[call.callee] = depth[name] + 1
                order.append(call.callee)
            edges[name, call.callee] = edges.get((name, call.callee), 0) + call.times
    layers: list[list[Node]] = [[] for _ in range(max(depth.values()) + 1)]
    for name in order:
        function = module.functions.get(name)
        size = function.instructions if function is not None and function.defined else None
        layers[depth[name]].append(Node(name, size, name in bad_nodes))
    return Graph(
        tuple(map(tuple, layers)),
        tuple(Edge(a, b, count, (a, b) in bad_edges) for (a, b), count in edges.items()),
        left_out,
    )


def svg(graph: Graph) -> bytes:
    """The picture: graphviz's where `dot` is installed, else our own."""
    program = shutil.which("dot")
    if program is None:
        return plain_svg(graph).encode()
    return run([program, "-Tsvg"], input_bytes=dot(graph).encode(), timeout_s=60).stdout


def dot(graph: Graph) -> str:
    """The graph in graphviz's language."""
    numbers = {node.name: f"n{number}" for number, node in enumerate(_nodes(graph))}
    lines = ["digraph calls {", f'node [shape=box fontname="monospace" fontsize=10 color="{_INK}"]']
    for node in _nodes(graph):
        red = f' color="{_RED}" fontcolor="{_RED}"' if node.faulty else ""
        name, size = (text.replace("\\", "\\\\").replace('"', '\\"') for text in _label(node))
        lines.append(f'{numbers[node.name]} [label="{name}\\n{size}"{red}]')
    for edge in graph.edges:
        red = f' color="{_RED}" penwidth=2' if edge.faulty else f' color="{_INK}"'
        times = f' label="{edge.count}"' if edge.count > 1 else ""
        lines.append(f"{numbers[edge.caller]} -> {numbers[edge.callee]} [{(times + red).strip()}]")
    return "\n".join([*lines, "}"]) + "\n"


def plain_svg(graph: Graph) -> str:
    """A picture in layers: whoever is called stands below whoever called it first."""
    width, height, gap_x, gap_y = 280, 40, 20, 60
    widest = max(len(layer) for layer in graph.layers)
    total_x = widest * (width + gap_x) + gap_x
    total_y = len(graph.layers) * (height + gap_y) + gap_y
    place: dict[str, tuple[float, float]] = {}
    for row, layer in enumerate(graph.layers):
        left = (total_x - len(layer) * (width + gap_x) + gap_x) / 2
        for column, node in enumerate(layer):
            place[node.name] = (left + column * (width + gap_x), gap_y / 2 + row * (height + gap_y))
    view = f'viewBox="0 0 {total_x} {total_y}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {view} font-family="monospace" font-size="10">',
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">',
        '<path d="M0 0 L8 4 L0 8 z" fill="context-stroke"/></marker></defs>',
    ]
    for edge in graph.edges:
        (x1, y1), (x2, y2) = place[edge.caller], place[edge.callee]
        x1, x2 = x1 + width / 2, x2 + width / 2
        if y2 > y1:
            path = f"M{x1:g} {y1 + height:g} L{x2:g} {y2:g}"
        else:  # a call back up, or beside: around the right
            side = max(x1, x2) + width / 2 + gap_x / 2
            path = f"M{x1 + width / 2:g} {y1 + height / 2:g} H{side:g} V{y2 + height / 2:g} H{x2 + width / 2:g}"
        stroke = f'stroke="{_RED}" stroke-width="2"' if edge.faulty else f'stroke="{_INK}"'
        parts.append(f'<path d="{path}" fill="none" {stroke} marker-end="url(#a)"/>')
        if edge.count > 1:
            parts.append(f'<text x="{(x1 + x2) / 2 + 4:g}" y="{(y1 + height + y2) / 2:g}">{edge.count}</text>')
    for node in _nodes(graph):
        x, y = place[node.name]
        ink = _RED if node.faulty else _INK
        name, size = map(escape, _label(node))
        parts.append(
            f'<g><title>{escape(_printable(node.name))}</title><rect x="{x:g}" y="{y:g}" width="{width}" '
            f'height="{height}" fill="white" stroke="{ink}"/><text x="{x + 8:g}" y="{y + 16:g}" fill="{ink}">{name}'
            f'</text><text x="{x + 8:g}" y="{y + 32:g}" fill="{ink}">{size}</text></g>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _nodes(graph: Graph) -> list[Node]:
    return [node for layer in graph.layers for node in layer]


def _label(node: Node) -> tuple[str, str]:
    name = _printable(node.name)
    short = name if len(name) <= 44 else f"{name[:30]}…{name[-13:]}"
    return short, "declared" if node.instructions is None else f"{node.instructions:,} instructions"


def _printable(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name)
