"""Host definitions of a bundle's structures, as text: C, C++ and Python. Equal bundles give equal text.

`plan.planned` decides what stands where, once for all languages; each language only spells it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from toolchain.bundle.headers import c, cpp, ctypes_module
from toolchain.bundle.headers.plan import Plan, planned
from toolchain.bundle.model import Bundle
from toolchain.bundle.rules.layout import disputed
from toolchain.bundle.rules.subject import Subject
from toolchain.bundle.structs import Structs, identifier

# language -> (what the file's name ends with, what writes it)
LANGUAGES: Mapping[str, tuple[str, Callable[[str, Sequence[Plan], Sequence[str]], str]]] = {
    "c": (".h", c.text),
    "cpp": (".hpp", cpp.text),
    "python": ("_layouts.py", ctypes_module.text),
}


def plans_of(bundle: Bundle) -> tuple[list[Plan], list[str]]:
    """The plans of all structures, and a sentence for each block that has none. Raises LayoutError."""
    structs = Structs.of(bundle, disputed=disputed(Subject(bundle)))
    plans = planned(structs.named())
    return plans, list(dict.fromkeys(f"{use.what} on {use.target.language}: {why}" for use, why in structs.unwritable))


def file_name(bundle: Bundle, language: str) -> str:
    """What a language's file is called."""
    return identifier(bundle.producer.name) + LANGUAGES[language][0]


def text_of(bundle: Bundle, language: str, plans: Sequence[Plan], notes: Sequence[str]) -> str:
    """A language's file."""
    return LANGUAGES[language][1](bundle.producer.name, plans, notes)
