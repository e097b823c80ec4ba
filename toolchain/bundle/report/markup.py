"""HTML as text. What comes from a bundle is escaped here, and nowhere else."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence


def text(value: object) -> str:
    """Any text, as the text of an element or an attribute; what does not print is written out."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(value))
    return html.escape(shown, quote=True)


def element(name: str, *content: str, **attributes: object) -> str:
    """An element of ready content; `class_` is `class`, `_` in names is `-`, and None leaves an attribute out."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' if value is not True else f" {key.replace('_', '-')}"
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{name}{said}>{''.join(content)}</{name}>"


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: frozenset[int] = frozenset(),
    item: str | None = None,
) -> str:
    """A table of ready cells; the first cell of a row is its header.

    The search counts rows that are an `item`, by that word; an empty one is for rows that it only hides in their card.
    """
    made = []
    for row in rows:
        cells = [
            element("td", cell, class_="number" if number in right else None)
            for number, cell in enumerate(row)
            if number
        ]
        found = {"data_item": item or None, "data_row": item == ""}
        made.append(element("tr", element("th", row[0], scope="row"), *cells, **found))
    titles = [
        element("th", text(title), scope="col", class_="number" if number in right else None)
        for number, title in enumerate(head)
    ]
    return element(
        "div",
        element(
            "table",
            element("caption", text(caption)),
            element("thead", element("tr", *titles)),
            element("tbody", *made),
        ),
        class_="scroll",
    )


def definitions(pairs: Mapping[str, str]) -> str:
    """A list of terms and ready descriptions."""
    return element("dl", *(element("dt", text(term)) + element("dd", said) for term, said in pairs.items()))


def chips(values: Iterable[str]) -> str:
    """Short words beside each other; nothing where there are none."""
    made = [element("li", text(value), class_="chip") for value in values]
    return element("ul", *made, class_="chips") if made else ""


def bar(part: float, kind: str, width: int = 120) -> str:
    """A bar that is filled in part. It says nothing that the text beside it does not, so that readers skip it."""
    filled = max(2.0 if part > 0 else 0.0, min(part, 1.0) * width)
    return (
        f'<svg width="{width}" height="8" viewBox="0 0 {width} 8" aria-hidden="true" focusable="false">'
        f'<rect class="track" width="{width}" height="8" rx="4"/>'
        f'<rect class="{kind}" width="{filled:.1f}" height="8" rx="4"/></svg>'
    )
