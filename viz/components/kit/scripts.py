"""Scripts of components as files: a browser keeps them, and they come compressed.

Within an element, as Streamlit sends them, they come whole with each session: 320 kB for the first
screen, of which most are the same parts again and again.
"""

from functools import cache
from hashlib import blake2b
from pathlib import Path

from viz.components.kit.browser import Component
from viz.components.kit.modules import shared

AT = "scripts"
"""Their place below the app's own."""
FIRST = (
    "address",
    "figure_drop",
    "head_grid",
    "head_view",
    "scene_fit",
    "token_rows",
    "tour",
    "word_card",
)
"""Components of the first screen: in a file of their own, which is small."""
SERVED = {"is_so": False}
"""True once this process answers at their place; elsewhere scripts come within elements."""
_FOLDER = Path(__file__).parents[1]


@cache
def script_files() -> dict[str, bytes]:
    """Name -> content of both files."""
    entries = sorted(_FOLDER.glob("*/index.js"))
    first = tuple(entry for entry in entries if entry.parent.name in FIRST)
    others = tuple(entry for entry in entries if entry.parent.name not in FIRST)
    return {name: shared(of).encode() for name, of in (("first", first), ("others", others))}


def script_address(name: str) -> str:
    """The address of a file, relative to any page of the app; another one for another content."""
    digest = blake2b(script_files()[name], digest_size=4).hexdigest()
    return f"./{AT}/{name}.js?{digest}"


def module_of(component: Component) -> str:
    """A module whose default export is the component's script."""
    if not SERVED["is_so"]:
        return component.js
    address = script_address("first" if component.name in FIRST else "others")
    return (
        f"const file = await import(new URL({address!r}, document.baseURI).href);\n"
        f"export default file.{component.name}();\n"
    )
