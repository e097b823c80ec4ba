"""A Mojo program becomes the AIR modules that it launches: the compiler says which; the source must explain each.

One kernel that the compiler cannot make takes the whole program down. Then the kernels that can be named one by one are
emitted so, and the others have no module.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolchain.air.compiler import Compiler, ending, hung
from toolchain.air.emit import Emitted, Failed, Kernel, Outcome, emit
from toolchain.air.launches import Site
from toolchain.air.rules.emission import MADE, NAMES
from toolchain.air.rules.rule import AirFinding
from toolchain.air.syntax import Source
from toolchain.errors import ProcessError
from toolchain.progress import Progress

# Mojo 1.1 and 1.2 cut what is readable of an entry's name after 24 to 31 characters, and add a hash.
HEAD = 24

# Mojo 1.1 cuts the names of files off, too: of a longer symbol so many characters are kept, and a hash is added.
FILE_HEAD = 64
_FILE_HASH = re.compile(r"_[0-9a-f]{16}")
_DEFINED = re.compile(r'^define void @(?:"([^"\n]+)"|([\w.$-]+))\(', re.MULTILINE)
_NAMED = re.compile(r'^![0-9]+ = !{ptr @"?([^"\s,]+)"?, ![0-9]+, ![0-9]+', re.MULTILINE)

HOST = "host"  # the program's own assembly; the compiler puts its name before every module's


@dataclass(frozen=True)
class Program:
    """A program to emit: its file, as messages show it and as Mojo imports it, and what its source launches.

    `imported` is what modules that it imports launch, by their dotted names: the program may call into them.
    """

    path: Path
    shown: str
    module: str
    search: tuple[Path, ...]
    source: Source
    sites: tuple[Site, ...]
    imported: tuple[tuple[str, Site], ...] = ()

    def kernel(self, site: Site | None, name: str) -> Kernel:
        """A kernel of this program, at the place that launches it."""
        line, column = (site.line, site.column) if site else (1, 1)
        return Kernel(name, self.module, self.search, self.shown, line, column)


def emit_program(
    program: Program, compiler: Compiler, target: str, *, jobs: int, progress: Progress
) -> tuple[Outcome, ...]:
    """The modules that a program launches, or what failed. Raises as `emit`."""
    compiler.require_version()
    progress.start(program.shown, f"build {program.shown}", None)
    with tempfile.TemporaryDirectory(prefix="toolchain-air-") as name:
        folder = Path(name)
        search = [argument for path in program.search for argument in ("-I", str(path))]
        options = ["--emit", "asm", f"--target-accelerator={target}", "-o", str(folder / f"{HOST}.s")]
        wrong, lasting = "", True
        try:
            completed = compiler.run(["build", *options, *search, str(program.path)], cwd=folder)
            if completed.status != 0:
                wrong, lasting = ending(completed), completed.status > 0
        except ProcessError as error:
            if "did not end" not in error.message:
                raise
            wrong, lasting = hung(error), False
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.ll"))}
    progress.finish(program.shown, "failed" if wrong else "built")
    if wrong:
        return _one_by_one(program, wrong, lasting, compiler, target, jobs=jobs, progress=progress)
    return explained(program, texts)


def explained(program: Program, texts: dict[str, str]) -> tuple[Outcome, ...]:
    """Each file that the compiler wrote as a module, or a finding for what no launch explains.

    `texts` is by file name, host_SYMBOL.ll. Every module takes a launch of its own, a kernel with a set of parameters
    at the places that launch it: any number where one of these is generic, and none where all are dead code. What only
    an imported module launches takes none: how often the program comes by there is not in its source.
    """
    outcomes: list[Outcome] = []
    explaining: dict[str, list[Site]] = {}
    for name, text in texts.items():
        stem = name.removeprefix(f"{HOST}_").removesuffix(".ll")
        symbol = _symbol(stem, text)
        sites = sorted(
            (site for site in program.sites if explains(program.module, site, symbol or stem)),
            key=lambda site: -len(_exactly(program.module, site, symbol or stem)),
        )
        if symbol is not None and not sites:
            called = [site for module, site in program.imported if explains(module, site, symbol)]
            if called:
                outcomes.append(Emitted(program.kernel(None, called[0].kernel or symbol), symbol, text))
                continue
        kernel = program.kernel(sites[0] if sites else None, (sites[0].kernel if sites else "") or symbol or stem)
        if symbol is None or not sites:
            outcomes.append(Failed(kernel, wrong_module(kernel, *_wrong(symbol, stem, text)), lasting=True))
            continue
        outcomes.append(Emitted(kernel, symbol, text))
        if symbol not in explaining and _each_has_its_own({**explaining, symbol: sites}):
            explaining[symbol] = sites
        else:
            known = {(site.path, site.parameters) for site in sites}
            expected = f"at most {len(known)} of {kernel.name}, one for each set of parameters that is launched"
            outcomes.append(Failed(kernel, wrong_module(kernel, expected, f"{symbol} as well"), lasting=True))
    if not outcomes:
        kernel = program.kernel(program.sites[0] if program.sites else None, program.module)
        seen_words = "none: every launch is in code that the program does not reach"
        outcomes.append(Failed(kernel, wrong_module(kernel, "at least one module", seen_words), lasting=True))
    return tuple(outcomes)


def explains(module: str, site: Site, symbol: str) -> bool:
    """Whether the kernel of a site in `module` may have this entry name: module and name in front, as far as they were
    not cut off."""
    if not site.path:
        return True  # what it launches is known to the compiler alone
    if site.local or _exactly(module, site, symbol):
        return _exactly(module, site, symbol) != ""
    # Imported from a module that may itself import it, or the member of something that has another name.
    return f"_{_mangled(site.kernel)}"[: HEAD // 2] in symbol


def _exactly(module: str, site: Site, symbol: str) -> str:
    """How a site's kernel begins a symbol, by its full path; '' where it does not."""
    wanted = _mangled(f"{module}_{site.path}" if site.local else site.path)
    return wanted if site.path and symbol.startswith(wanted[:HEAD]) else ""


def _each_has_its_own(explaining: Mapping[str, Sequence[Site]]) -> bool:
    """Whether every symbol can be given a launch that no other has (a matching of the two, by augmenting paths)."""
    taken: dict[tuple[str, str], str] = {}

    def give(symbol: str, tried: set[tuple[str, str]]) -> bool:
        for launch in dict.fromkeys((site.path, site.parameters) for site in explaining[symbol]):
            if launch in tried:
                continue
            tried.add(launch)
            if launch not in taken or give(taken[launch], tried):
                taken[launch] = symbol
                return True
        return False

    fixed = [symbol for symbol, sites in explaining.items() if not any(site.generic for site in sites)]
    return all(give(symbol, set()) for symbol in fixed)


def wrong_module(kernel: Kernel, expected: str, seen: str) -> AirFinding:
    """A finding for modules that are not what the source launches."""
    return kernel.finding(NAMES, expected, seen, "name the kernel at the launch, or report this as a bug")


def _symbol(stem: str, text: str) -> str | None:
    """The entry that a module defines, where its file may have this name; None for a module of another, or of none."""
    defined = [quoted or plain for quoted, plain in _DEFINED.findall(text)]
    if stem in defined:
        return stem
    head, end = stem[:FILE_HEAD], stem[FILE_HEAD:]
    fitting = [one for one in defined if len(one) > FILE_HEAD and one.startswith(head)]
    if len(head) < FILE_HEAD or _FILE_HASH.fullmatch(end) is None:
        return None
    named = set(_NAMED.findall(text))
    entries = [one for one in fitting if one in named] if len(fitting) > 1 else fitting
    return entries[0] if len(entries) == 1 else None


def _wrong(symbol: str | None, stem: str, text: str) -> tuple[str, str]:
    if not text.strip():
        return f"a module for {stem}", "an empty file"
    if symbol is None:
        return f"a module that defines {stem}, as its file says", "no such definition"
    return "modules of kernels that the program launches", f"{symbol}, which no launch explains"


def _one_by_one(
    program: Program,
    wrong: str,
    lasting: bool,
    compiler: Compiler,
    target: str,
    *,
    jobs: int,
    progress: Progress,
) -> tuple[Outcome, ...]:
    plain = {one.name for one in program.source.definitions if not one.parameters}
    first: dict[tuple[str, str], Site] = {}
    for site in program.sites:
        first.setdefault((site.kernel, site.parameters), site)
    alone = [site for site in first.values() if site.kernel in plain and not site.parameters]
    outcomes = list(
        emit(
            [program.kernel(site, site.kernel) for site in alone],
            compiler,
            target,
            jobs=jobs,
            progress=progress,
        )
    )
    named = [one for one in outcomes if isinstance(one, Failed)]
    for site in first.values():
        if site in alone:
            continue
        blamed = explains_failure(program, site, wrong)
        if blamed or not named:
            name = f"{site.kernel or 'a kernel'}{site.parameters}"
            kernel = program.kernel(site, site.kernel or program.module)
            finding = kernel.finding(
                MADE,
                f"a module of AIR for {name}",
                wrong,
                "mend what mojo reports; it makes no kernel of a program with one that it cannot make",
            )
            outcomes.append(Failed(kernel, finding, lasting))
    if not any(isinstance(one, Failed) for one in outcomes):
        kernel = at_fault(program, wrong)
        finding = kernel.finding(MADE, "a program that mojo builds", wrong, "mend what it reports")
        outcomes.append(Failed(kernel, finding, lasting))
    return tuple(outcomes)


def at_fault(program: Program, wrong: str) -> Kernel:
    """What the compiler's message is about: the launch at the place in this source that it names last, or the program
    at that place."""
    named = re.findall(rf"{re.escape(str(program.path))}:(\d+):(\d+): (?:error|note): ", wrong)
    if not named:
        return program.kernel(None, program.module)
    line, column = map(int, named[-1])
    name = next((site.kernel for site in program.sites if site.line == line and site.kernel), program.module)
    return Kernel(name, program.module, program.search, program.shown, line, column)


def explains_failure(program: Program, site: Site, wrong: str) -> bool:
    """Whether the compiler's message names this site's kernel."""
    symbols = re.findall(r"'(\w+)'", wrong) if site.kernel else []
    return any(explains(program.module, site, symbol) for symbol in symbols)


def _mangled(name: str) -> str:
    return re.sub(r"\W", "_", name)
