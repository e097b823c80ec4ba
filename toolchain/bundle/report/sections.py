"""The parts of the page, each as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolchain.bundle.document import GROUP_KINDS, feature_words, format_word, stage_word
from toolchain.bundle.explain import Explanation, Row, Verdict, explain
from toolchain.bundle.model import Bundle, Entry, Group, Pipeline, Target
from toolchain.bundle.report.bindings import legend, picture
from toolchain.bundle.report.markup import bar, chips, definitions, element, table, text
from toolchain.bundle.rules.limits import WORDS
from toolchain.bundle.rules.rule import RULES, BundleFinding
from toolchain.bundle.rules.subject import Subject
from toolchain.rules.rule import Severity

TITLES = {
    Target.VULKAN: ("Vulkan", "SPIR-V"),
    Target.METAL: ("Metal", "MSL"),
    Target.WEBGPU: ("WebGPU", "WGSL"),
    Target.D3D12: ("Direct3D 12", "DXIL"),
    Target.D3D11: ("Direct3D 11", "DXBC"),
    Target.CUDA: ("CUDA", "PTX"),
}
_OPEN_UP_TO = 6  # details of so many groups stand open when the page opens
_NEAR = 0.75
# What every thread group has in each direction says nothing.
_TRIVIAL = {"group_x": 1, "group_y": 1, "group_z": 1}
_MOST_PLACES = 20  # of equal findings
_MOST_CODES = 20_000  # rows of one table of codes; --json of `bundle show` has all


@dataclass(frozen=True)
class Family:
    """A group, or the permutations of one: told together, since they differ in little."""

    name: str
    groups: tuple[Group, ...]

    @property
    def anchor(self) -> str:
        """Where on the page it is."""
        return "group-" + "".join(c if c.isascii() and c.isalnum() else f"-{ord(c):x}-" for c in self.name)


def families_of(bundle: Bundle) -> list[Family]:
    """The groups of a bundle, permutations together."""
    found: dict[str, list[Group]] = {}
    for group in bundle.groups:
        found.setdefault(group.name.partition("{")[0] if group.permutation else group.name, []).append(group)
    return [Family(name, tuple(groups)) for name, groups in found.items()]


def header(bundle: Bundle, findings: Sequence[BundleFinding], profiles: Sequence[str]) -> str:
    """Name, and what there is of everything."""
    producer = bundle.producer
    codes = {code.payload for _, _, code in bundle.codes()}
    entries = sum(len(group.entries) for group in bundle.groups)
    languages = [" ".join(TITLES[target]) for target in bundle.targets]
    errors = sum(one.severity is Severity.ERROR and not one.allowed for one in findings)
    others = len(findings) - errors
    said = f'<span class="over">{errors}</span>' if errors else '<span class="good">0</span>'
    tiles = {
        "Pipelines": f"{len(bundle.pipelines):,}",
        "Entries": f"{entries:,}",
        "Code": f"{_size(sum(map(len, codes)))}",
        "Errors": f"{said} <small>and {others} {'other finding' if others == 1 else 'other findings'}</small>",
    }
    made = "".join(element("div", element("dt", text(k)), element("dd", v), class_="tile") for k, v in tiles.items())
    asked = f"Held to the profiles {', '.join(profiles)}." if profiles else "Held to no profile but its backends' own."
    return element(
        "header",
        element("h1", text(producer.name)),
        element(
            "p",
            text(f"Made with Slang {producer.compiler} and gpu-toolchain {producer.tool_version}. {asked}"),
            class_="soft",
        ),
        chips(languages),
        element("dl", made, class_="tiles"),
    )


def search() -> str:
    """The search, which the script shows."""
    return element(
        "div",
        element(
            "form",
            element("label", "Search entries, bindings and findings", for_="search", class_="hidden-text"),
            '<input type="search" id="search" autocomplete="off" placeholder="Search entries, bindings, findings">',
            element("span", "press <kbd>/</kbd>", class_="soft", aria_hidden="true"),
            element("button", "Open all", type="button", id="open-all"),
            element("button", "Close all", type="button", id="close-all"),
            element("span", id="search-result", role="status", class_="soft"),
            role="search",
        ),
        class_="bar-top",
        id="search-bar",
        hidden=True,
    )


def findings(found: Sequence[BundleFinding]) -> str:
    """What `toolchain check bundle` finds; equal ones are told once, with all the places."""
    alike: dict[tuple[str, ...], list[BundleFinding]] = {}
    for one in found:
        alike.setdefault((one.rule, one.severity.value, one.expected, one.seen, one.allowed), []).append(one)
    made = [_finding(some) for some in alike.values() if not some[0].allowed]
    allowed = [_finding(some) for some in alike.values() if some[0].allowed]
    if not made:
        made = [element("p", "No rule is broken.", class_="good")]
    if allowed:
        summary = element("summary", f"{sum(bool(one.allowed) for one in found)} allowed by the bundle's manifest")
        made.append(element("details", summary, *allowed))
    return _section("findings", "Findings", element("div", *made, class_="card"))


def _finding(alike: Sequence[BundleFinding]) -> str:
    one = alike[0]
    word, colour = {"error": ("Error", "over"), "warning": ("Warning", "near")}.get(
        one.severity.value, ("Note", "note")
    )
    kind = "is-note" if one.severity.value == "note" else one.severity.value
    if one.allowed:
        word, colour, kind = "Allowed", "soft", ""
    title = f'<strong class="{colour}">{word} {text(one.rule)}</strong> '
    title += element("strong", text(RULES[one.rule].title)) if one.rule in RULES else ""
    pairs = {"expected": text(one.expected), "seen": text(one.seen)}
    if one.allowed:
        pairs["because"] = text(one.allowed)
    elif one.hint:
        pairs["mend"] = text(one.hint)
    places = [element("div", text(other.where), class_="mono") for other in alike[:_MOST_PLACES]]
    if alike[_MOST_PLACES:]:
        places.append(element("div", f"and {len(alike) - _MOST_PLACES} more", class_="soft"))
    return element(
        "div",
        title,
        definitions({"where": "".join(places), **pairs}),
        class_=f"finding {kind}".strip(),
        data_item="findings",
    )


def overview(bundle: Bundle, families: Sequence[Family]) -> str:
    """Every entry with its code's size by backend."""
    rows: list[list[str]] = []
    sizes = [
        (family, entry, [_code_sizes(family, entry.name, target) for target in bundle.targets])
        for family in families
        for entry in family.groups[0].entries
    ]
    most = max((sum(of) for _, _, all_of in sizes for of in all_of), default=0) or 1
    for family, entry, all_of in sizes:
        count = len(family.groups)
        link = element("a", text(entry.name), href=f"#{family.anchor}")
        more = f' <span class="soft">in {count} permutations</span>' if count > 1 else ""
        cells = [_sized(sum(of), most) if of else '<span class="soft">none</span>' for of in all_of]
        rows.append([f"{link}{more}", f'<span class="soft">{stage_word(entry.stage)}</span>', *cells])
    titles = [f"{TITLES[target][0]}, {TITLES[target][1]}" for target in bundle.targets]
    made = table(
        "Bytes of code, permutations added up",
        ["Entry", "Stage", *titles],
        rows,
        right=frozenset(range(2, 2 + len(titles))),
        item="entries",
    )
    return _section("sizes", "Entries by backend", element("div", made, class_="card"))


def _code_sizes(family: Family, name: str, target: Target) -> list[int]:
    found = (group.entry(name) for group in family.groups)
    codes = (entry.code(target) for entry in found if entry is not None)
    return [len(code.payload) for code in codes if code is not None]


def _sized(size: int, most: int) -> str:
    return element("div", f"{size:,} B", bar(size / most, "fill", 90), class_="size")


def details(subject: Subject, families: Sequence[Family]) -> str:
    """A card a group: its pipelines, codes, bindings and limits."""
    is_open = len(families) <= _OPEN_UP_TO
    made = [_family(subject, family, is_open=is_open) for family in families]
    return _section("groups", "Groups", legend(), *made)


def _family(subject: Subject, family: Family, *, is_open: bool) -> str:
    first = family.groups[0]
    pipelines = [p for p in subject.bundle.pipelines if any(p.group == group.name for group in family.groups)]
    count = len(family.groups)
    said = [GROUP_KINDS[first.kind], f"{count} permutations" if count > 1 else ""]
    said.append(", ".join(one.name for one in pipelines[:4]) + (" …" if pipelines[4:] else ""))
    summary = element(
        "summary",
        element("h3", text(family.name)),
        element("span", text("; ".join(word for word in said if word)), class_="soft"),
    )
    explained = [explain(subject, group, entry, shapes=False) for group in family.groups for entry in group.entries]
    return element(
        "details",
        summary,
        element("h4", "Bindings"),
        _bindings(subject.bundle, family),
        element("h4", "Limits used"),
        *_limits(subject.bundle, explained),
        element("h4", "Codes"),
        _codes(subject.bundle, family),
        *_vertex_input(pipelines),
        *_options(family),
        id=family.anchor,
        class_="card",
        open=is_open,
        data_item="groups",
    )


def _bindings(bundle: Bundle, family: Family) -> str:
    figures = []
    for target in bundle.targets:
        drawn: dict[str, list[Group]] = {}
        for group in family.groups:
            layout = group.layout(target)
            if layout is not None:
                drawn.setdefault(picture(target, layout.rows), []).append(group)
        for one, groups in drawn.items():
            title = text(" ".join(TITLES[target]))
            if len(drawn) > 1:
                title += f" <small>{text(_some(_permutation(group) for group in groups))}</small>"
            figures.append(element("figure", element("figcaption", title), one))
    return element("div", *figures, class_="pictures")


def _some(values: Iterable[str], most: int = 3) -> str:
    listed = list(values)
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")


def _permutation(group: Group) -> str:
    return " ".join(f"{name}={value}" for name, value in group.permutation) or group.name


Cell = tuple[Row, Verdict]


def _limits(bundle: Bundle, explained: Sequence[Explanation]) -> list[str]:
    """A table an entry: for each limit and backend what the permutation that needs most uses, against the strictest
    profile of those that are checked."""
    cells: dict[str, dict[str, dict[Target, Cell]]] = {}
    held: dict[Target, list[str]] = {}
    made = []
    for one in explained:
        of_entry = cells.setdefault(one.entry.name, {})
        for on in one.targets:
            if on.unreadable:
                said = f"{one.entry.name} on {TITLES[on.target][0]}: its code cannot be read: {on.unreadable}"
                made.append(element("p", text(said), class_="soft"))
            for verdict in on.verdicts:
                if not verdict.because:
                    continue
                if verdict.profile.name not in held.setdefault(on.target, []):
                    held[on.target].append(verdict.profile.name)
                for row in verdict.rows:
                    of_limit = of_entry.setdefault(row.limit, {})
                    before = of_limit.get(on.target)
                    if row.used > _TRIVIAL.get(row.limit, 0) and (before is None or _part(row) > _part(before[0])):
                        of_limit[on.target] = row, verdict
    targets = [target for target in bundle.targets if target in held]
    head = ["Limit", *(f"{TITLES[target][0]}: {', '.join(held[target])}" for target in targets)]
    for entry, by_limit in cells.items():
        rows = []
        for limit, words in WORDS.items():
            of_limit = by_limit.get(limit, {})
            if any(row.allowed is not None for row, _ in of_limit.values()):
                rows.append([text(words), *(_limit(of_limit.get(target)) for target in targets)])
        if rows:
            made.append(table(f"{entry}: used, of what is allowed", head, rows, right=frozenset(range(1, len(head)))))
    return made or [element("p", "No profile that it is held to has limits for these backends.", class_="soft")]


def _part(row: Row) -> float:
    return -1.0 if not row.allowed else row.used / row.allowed


def _limit(cell: Cell | None) -> str:
    if cell is None or cell[0].allowed is None:
        return '<span class="soft">no limit</span>'
    row, verdict = cell
    part = _part(row)
    kind = "fill-over" if row.rejected else "fill-near" if part > _NEAR else "fill-good"
    words = '<strong class="over">rejected</strong> ' if row.rejected else ""
    said = f"{words}{row.used:,} of {row.allowed:,}"
    return element("div", said, bar(part, kind), class_="size", title=f"{verdict.profile.title}: {row.words}")


def _codes(bundle: Bundle, family: Family) -> str:
    lines: list[list[str]] = []
    for group in family.groups:
        for entry in group.entries:
            for target in bundle.targets:
                code = entry.code(target)
                if code is None:
                    continue
                version = ".".join(map(str, code.version)) if any(code.version) else ""
                needs = _chips_or_none(feature_words(code.features))
                declared = ", ".join((*code.capabilities, *code.extensions))
                lines.append(
                    [
                        text(_entry_title(family, group, entry)),
                        text(TITLES[target][1]),
                        element("code", text(code.name)),
                        f"{len(code.payload):,}",
                        text(" ".join(word for word in (version, code.machine or "") if word)),
                        needs,
                        text(declared),
                    ]
                )
    shown, left = lines[:_MOST_CODES], len(lines) - _MOST_CODES
    made = table(
        "Each entry on each backend",
        ["Entry", "Code", "Named", "Bytes", "Version", "Needs", "Capabilities, extensions"],
        shown,
        right=frozenset({3}),
        item="",
    )
    return made + (element("p", f"and {left:,} more", class_="soft") if left > 0 else "")


def _entry_title(family: Family, group: Group, entry: Entry) -> str:
    size = " x ".join(map(str, entry.thread_group_size))
    grouped = f" ({size})" if stage_word(entry.stage) in ("compute", "mesh", "amplification") else ""
    return entry.name + grouped + (f" {_permutation(group)}" if len(family.groups) > 1 else "")


def _chips_or_none(words: Sequence[str]) -> str:
    return text(", ".join(words)) if words else '<span class="soft">no feature</span>'


def _vertex_input(pipelines: Sequence[Pipeline]) -> list[str]:
    made = []
    for one in pipelines:
        rows = [
            [
                text(f"{attribute.semantic}{attribute.semantic_index or ''}"),
                text(format_word(attribute.format)),
                str(attribute.offset_bytes),
                str(attribute.stream),
                f"{one.streams[attribute.stream].stride_bytes} B",
            ]
            for attribute in one.attributes
        ]
        if rows:
            head = ["Attribute", "Format", "Offset", "Stream", "Stride"]
            made.append(table(f"Vertex input of {one.name}", head, rows, right=frozenset({2, 3, 4})))
    return [element("h4", "Vertex input"), *made] if made else []


def _options(family: Family) -> list[str]:
    """The compiler's options, without the defines that make the permutations."""
    options: dict[str, None] = {}
    for group in family.groups:
        own = {f"-D{name}={value}" for name, value in group.permutation}
        said = " ".join(option for option in group.options if option not in own)
        options.update({said: None} if said else {})
    if not options:
        return []
    return [element("h4", "Compiler options"), *(element("p", element("code", text(one))) for one in options)]


def inputs(bundle: Bundle) -> str:
    """What the bundle was made from."""
    rows = [
        [text(one.name), one.kind.name.lower(), element("code", text(one.sha256.hex[:16] + "…"))]
        for one in bundle.inputs
    ]
    made = table("Files, options and programs, with the beginning of their SHA-256", ["Name", "Kind", "SHA-256"], rows)
    return _section(
        "inputs", "Made from", element("details", element("summary", f"{len(rows)} inputs"), made, class_="card")
    )


def footer(bundle: Bundle) -> str:
    """Which bundle this is of."""
    digest = element("code", text(bundle.inputs_sha256.hex))
    return element("footer", f"Inputs {digest}. Made by <code>toolchain bundle report</code>.")


def _section(identifier: str, title: str, *content: str) -> str:
    heading = f"{identifier}-title"
    return element("section", element("h2", text(title), id=heading), *content, id=identifier, aria_labelledby=heading)


def _size(size: int) -> str:
    if size < 10_000:
        return f"{size:,} <small>B</small>"
    return (
        f"{size / 1000:,.1f} <small>kB</small>" if size < 10_000_000 else f"{size / 1_000_000:,.1f} <small>MB</small>"
    )
