"""The page of `toolchain bundle report`, as a real browser shows it."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

import chromium
import pytest
from bundles import FOLDER

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the bundle with most in it, as the command writes it."""
    chromium.program()
    path = tmp_path_factory.mktemp("page") / "report.html"
    command = [sys.executable, "-m", "toolchain", "bundle", "report", str(FOLDER / "kinds.dgb"), "-o", str(path)]
    subprocess.run(command, cwd=path.parent, check=True, capture_output=True)
    return path


def hidden(dom: str, kind: str) -> tuple[int, int]:
    """How many items of a kind there are, and how many of them are hidden."""
    tags = re.findall(rf'<[a-z]+[^>]*data-item="{kind}"[^>]*>', dom)
    return len(tags), sum(' hidden=""' in tag for tag in tags)


def pixels(path: Path) -> Counter[tuple[int, ...]]:
    """How often each colour is in a PNG of 8 bits a channel."""
    data = path.read_bytes()
    at, parts, width, channels = 8, [], 0, 0
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack_from(">2I2B", data, at + 8)
            assert depth == 8
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            parts.append(data[at + 8 : at + 8 + size])
        at += 12 + size
    raw, stride = zlib.decompress(b"".join(parts)), width * channels
    found: Counter[tuple[int, ...]] = Counter()
    before = bytearray(stride)
    for start in range(0, len(raw), stride + 1):
        line = bytearray(raw[start + 1 : start + 1 + stride])
        _unfilter(raw[start], line, before, channels)
        found.update(zip(line[0::channels], line[1::channels], line[2::channels], strict=True))
        before = line
    return found


def _unfilter(kind: int, line: bytearray, before: bytearray, step: int) -> None:
    for i in range(len(line)) if kind else ():
        left, up = line[i - step] if i >= step else 0, before[i]
        corner = before[i - step] if i >= step else 0
        if kind == 4:
            guess = left + up - corner
            near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
            line[i] = (line[i] + near[2]) & 0xFF
        else:
            line[i] = (line[i] + (left, up, (left + up) // 2)[kind - 1]) & 0xFF


def test_all_of_it_shows_and_the_search_is_there(page: Path) -> None:
    dom = chromium.dom(page)
    assert re.search(r'<div class="bar-top" id="search-bar">', dom)  # no longer hidden: the script ran
    assert hidden(dom, "groups") == (2, 0)
    assert hidden(dom, "entries") == (3, 0)


def test_the_search_hides_what_does_not_match(page: Path) -> None:
    dom = chromium.dom(page, "#search=fragment_main%20material")
    assert hidden(dom, "groups") == (2, 1)
    assert hidden(dom, "entries") == (3, 3)
    assert ">0 of 1 findings, 0 of 3 entries, 1 of 2 groups<" in dom


def test_the_search_narrows_a_card_s_codes(page: Path) -> None:
    dom = chromium.dom(page, "#search=fragment_main%20MSL")
    rows = re.findall(r"<tr[^>]*data-row[^>]*>", dom)
    assert (len(rows), sum(' hidden=""' not in row for row in rows)) == (9, 1 + 3)  # of the other card: all of them
    assert hidden(dom, "groups") == (2, 1)


def test_a_search_that_finds_nothing_says_so(page: Path) -> None:
    dom = chromium.dom(page, "#search=no%20such%20thing%25")
    assert hidden(dom, "groups") == (2, 2)
    assert "0 of 2 groups" in dom


def test_it_loads_nothing_and_reports_no_error(page: Path) -> None:
    ended = chromium.run(page.as_uri(), "--dump-dom", "--enable-logging=stderr", "--v=0")
    said = [line for line in ended.stderr.splitlines() if "CONSOLE" in line or "Content Security Policy" in line]
    assert said == []


@pytest.mark.parametrize(
    ("scheme", "background"), [(chromium.LIGHT, (0xF6, 0xF7, 0xF9)), (chromium.DARK, (0x11, 0x15, 0x1C))]
)
def test_it_is_light_and_dark(page: Path, tmp_path: Path, scheme: str, background: tuple[int, int, int]) -> None:
    picture = tmp_path / "page.png"
    chromium.screenshot(page, picture, scheme, width=800, height=900)
    found = pixels(picture)
    assert background in dict(found.most_common(2))  # the page's, or a card's before it
    assert len(found) > 50  # text, bars and tags are drawn


def test_no_page_is_wider_than_its_window(page: Path, tmp_path: Path) -> None:
    """What is too wide scrolls in its own box. 500 pixels are the least that headless Chromium takes."""
    probe = tmp_path / "probe.html"
    measure = "<script>document.title = document.documentElement.scrollWidth + ' of ' + innerWidth;</script>"
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    probe.write_text(text.replace("</body>", f"{measure}</body>"))
    dom = chromium.run(probe.as_uri(), "--dump-dom", "--window-size=500,900").stdout
    title = re.search(r"<title>(\d+) of (\d+)</title>", dom)
    assert title is not None
    assert int(title[1]) <= int(title[2]) == 500
