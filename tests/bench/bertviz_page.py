"""A view of BertViz as a page of its own: how large it is, and when it is painted.

Its pages take three scripts from a CDN; here they come out of the npm packages in build/bertviz.
"""

import tarfile
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from playwright.sync_api import Route, TimeoutError

from tests.bench.places import Places
from transformer.analysis.reading import AttentionMap

PACKAGES = Path("build/bertviz")
SCRIPTS = {
    "require": ("requirejs-*.tgz", "package/require.js"),
    "jquery": ("jquery-*.tgz", "package/dist/jquery.min.js"),
    "d3": ("d3-*.tgz", "package/dist/d3.min.js"),
}
"""The beginning of a script's name at the CDN -> package, file in it."""

# One SVG line a weight; a script draws all of them in one go.
WAIT_FOR_LINES = """
const lines = document.getElementsByTagName("line");
const done = () => { window.painted = performance.now(); };
const look = () => lines.length >= %d
    ? requestAnimationFrame(() => requestAnimationFrame(done))
    : requestAnimationFrame(look);
look();
"""


@dataclass(frozen=True)
class Shown:
    """What a view of BertViz cost."""

    n_bytes: int
    seconds: float | None
    """To make the page and to paint it; None: not within the time allowed."""


def why_not() -> str | None:
    """What is missing, in a sentence."""
    if find_spec("bertviz") is None:
        return "BertViz is not installed"
    missing = [name for name, (package, _) in SCRIPTS.items() if not _packages(package)]
    return f"no {', '.join(missing)} in {PACKAGES}" if missing else None


def show(places: Places, view: str, attention: AttentionMap, allowed: float) -> Shown:
    """Make and open the page of a view, "head_view" or "model_view", in a page of its own.

    allowed: seconds until a page that is not painted is given up.
    """
    start = time.perf_counter()
    html = page_of(view, attention)
    made = time.perf_counter() - start
    n_layers = 1 if view == "head_view" else attention.n_layers
    n_lines = n_layers * attention.n_heads * len(attention.rows) * len(attention.columns)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(html, encoding="utf-8")
        n_bytes = path.stat().st_size
        del html
        painted = _painted(places, path, n_lines, allowed)
    return Shown(n_bytes, None if painted is None else made + painted)


def page_of(view: str, attention: AttentionMap) -> str:
    """The whole page; every layer and head, as BertViz does by itself."""
    weights = [attention.values(layer)[None] for layer in range(attention.n_layers)]
    tokens = [token.piece for token in attention.rows]
    made = getattr(import_module("bertviz"), view)(weights, tokens, html_action="return")
    return f'<!doctype html><meta charset="utf-8">{made.data}'


def _painted(places: Places, path: Path, n_lines: int, allowed: float) -> float | None:
    """Seconds from opening a page until two frames after its last line was there."""
    with places.new_page() as page:
        page.route("https://**/*", _answer)
        page.add_init_script(WAIT_FOR_LINES % n_lines)
        page.goto(path.as_uri(), wait_until="commit")
        try:
            found = page.wait_for_function("window.painted", timeout=1000 * allowed)
        except TimeoutError:
            return None
        return float(found.json_value()) / 1000


def _answer(route: Route) -> None:
    asked = route.request.url.rsplit("/", 1)[-1]
    name = next((name for name in SCRIPTS if asked.startswith(name)), None)
    if name is None:
        route.abort()
    else:
        route.fulfill(body=_script(name), content_type="text/javascript")


@cache
def _script(name: str) -> bytes:
    package, member = SCRIPTS[name]
    with tarfile.open(_packages(package)[-1]) as archive:
        file = archive.extractfile(member)
        if file is None:
            raise FileNotFoundError(f"{package} has no {member}")
        return file.read()


def _packages(pattern: str) -> list[Path]:
    return sorted(PACKAGES.glob(pattern))
