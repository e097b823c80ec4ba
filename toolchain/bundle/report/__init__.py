"""One page of HTML about a bundle, for people: no network, nothing beside it, no script that it needs to be read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from toolchain.bundle.model import Bundle
from toolchain.bundle.report import sections
from toolchain.bundle.report.markup import element, text
from toolchain.bundle.rules.checking import check
from toolchain.bundle.rules.subject import Subject

_FOLDER = Path(__file__).resolve().parent


def page_of(bundle: Bundle, *, profiles: Sequence[str] = ()) -> str:
    """The page. Equal bundles and profiles give equal text. `profiles` are held to as the bundle's own are."""
    demanded = tuple(dict.fromkeys((*bundle.profiles, *profiles)))
    subject = Subject(bundle, demanded)
    findings = check(bundle, profiles=profiles)
    style = (_FOLDER / "style.css").read_text(encoding="utf-8")
    script = (_FOLDER / "script.js").read_text(encoding="utf-8")
    families = sections.families_of(bundle)
    main = [
        sections.findings(findings),
        sections.overview(bundle, families),
        sections.details(subject, families),
        sections.inputs(bundle),
    ]
    # Nothing is loaded, and no script runs but ours, whatever a bundle's names hold.
    policy = f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; base-uri 'none'"
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{text(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        element("title", text(f"{bundle.producer.name}: shader bundle")),
        f"<style>{style}</style>",
    ]
    body = [
        element("a", "Skip to the content", class_="skip", href="#content"),
        sections.header(bundle, findings, demanded),
        sections.search(),
        element("main", *main, id="content"),
        sections.footer(bundle),
        f"<script>{script}</script>",
    ]
    page = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        *head,
        "</head>",
        "<body>",
        *body,
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(page)


def _source(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


__all__ = ["page_of"]
