"""Code and typeface that a folder's pages have in common, as files: a second page fetches neither.

A page as one file holds all of it. In a folder what several hold leaves them for `assets/`, under
a name that says what is in it, and the page's policy lets its own host's scripts and fonts in.
They are scripts and no modules, which a browser does not load from a disk.
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from viz.components.kit.browser import Component, bundle, digest, shared
from viz.export import inline

VIZ = Path(__file__).parents[2]
TYPEFACE = VIZ / "server" / "typefaces" / "SourceSansVF-Upright.woff2"
ENTRIES = ("notebook", "live")
"""Folders whose scripts begin pages, or are the worker of one."""
_CONTENT = '<script type="application/json" id="content">'
_MODULE = '<script type="module">'
_IMAGE = re.compile(r'src="data:image/webp;base64,([^"]*)"')
_POLICY = re.compile(r'(?<=Content-Security-Policy" content=")[^"]*')


@dataclass(frozen=True)
class Part:
    """A text that pages have in common."""

    text: str
    """The text as a page has it."""
    instead: str
    """The text that takes its place; `⟨up⟩` is the way from the page to the folder."""
    file: str
    content: bytes

    @property
    def head(self) -> str:
        """The element that fetches it."""
        is_script = self.file.endswith(".js")
        return f'<script src="⟨up⟩{self.file}" defer></script>\n' if is_script else ""


def face(source: str) -> str:
    """CSS of the app's typeface. source: where its file is."""
    return (
        '@font-face { font-family: "Source Sans"; font-weight: 200 900; '
        f'src: url({source}) format("woff2"); }}\n'
    )


def typeface() -> str:
    """CSS of it with its file in it."""
    return face(f"data:font/woff2;base64,{b64encode(TYPEFACE.read_bytes()).decode()}")


def divided(pages: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder by their paths: its pages without what they have in common, and
    the files that hold it.
    """
    files = dict(pages)
    texts = {path: it.decode() for path, it in files.items() if path.endswith(".html")}
    used = [it for it in components() if any(inline(it.script) in page for page in texts.values())]
    parts = [*_drawing(used), *entries(), *_typefaces()]
    for path, page in texts.items():
        heads = dict[str, None]()
        for part in parts:
            if part.text in page:
                page = page.replace(part.text, part.instead)
                heads[part.head] = None
                files[part.file] = part.content
        page = _IMAGE.sub(lambda match: _image(match, files), page)
        if "/" not in path:  # it is opened by many addresses, each of which a browser keeps anew
            page, part = _content(page)
            heads[part.head] = None
            files[part.file] = part.content
        if heads:
            page = page.replace(_MODULE, "".join(heads) + _MODULE, 1)
            page = _POLICY.sub(lambda match: own_files(match[0]), page, count=1)
        files[path] = page.replace("⟨up⟩", "../" * path.count("/")).encode()
    yield from files.items()


def _image(match: re.Match[str], files: dict[str, bytes]) -> str:
    """An image of a chart as a file that is fetched once it is seen: of a scene, in a theme."""
    content = b64decode(match[1])
    file = _file("chart", ".webp", content)
    files[file] = content
    return f'loading="lazy" src="⟨up⟩{file}"'


def _content(page: str) -> tuple[str, Part]:
    """Take what a page knows out of it: a script brings it back."""
    before, opens, rest = page.partition(_CONTENT)
    text, closes, after = rest.partition("</script>")
    script = f'document.getElementById("content").textContent = {json.dumps(text)};\n'.encode()
    return before + opens + closes + after, Part(text, "", _file("content", ".js", script), script)


def own_files(policy: str) -> str:
    """The policy of a page that has scripts, fonts and pictures in files beside it."""
    return re.sub(r"\b((?:script|font|img)-src [^;]*)", r"\1 'self'", policy)


def components() -> list[Component]:
    """All of them."""
    folder = VIZ / "components"
    return [Component(it.parent.name) for it in sorted(folder.glob("*/index.js"))]


def _drawing(used: Sequence[Component]) -> list[Part]:
    """The code of components, which share the most of it."""
    paths = tuple(VIZ / "components" / it.name / "index.js" for it in used)
    code = re.sub(r"^export (?=const )", "", shared(paths), flags=re.M)
    names = ", ".join(it.name for it in used)
    content = f"(() => {{\n{code}\nglobalThis.components = {{ {names} }};\n}})();\n".encode()
    file = _file("components", ".js", content)
    return [Part(inline(it.script), f"components.{it.name}()", file, content) for it in used]


def _typefaces() -> list[Part]:
    content = TYPEFACE.read_bytes()
    file = _file("SourceSans", ".woff2", content)
    return [Part(typeface(), face(f"⟨up⟩{file}"), file, content)]


@cache
def entries() -> Sequence[Part]:
    """The scripts that begin pages, and those that workers are made of."""
    paths = [it for folder in ENTRIES for it in sorted((VIZ / folder).rglob("*.js"))]
    begin = [it for it in paths if "\nexport default " in it.read_text("utf-8")]
    return [part for path in begin for part in _entry(path)]


def _entry(path: Path) -> Iterator[Part]:
    """A script as the beginning of a page, and as the text that a worker is made of."""
    script, name = bundle(path).script, f"{path.parent.name}_{path.stem}"
    for text, kind in ((script, name), (json.dumps(f"({script})(self);"), f"{name}_worker")):
        code = f"globalThis.{kind} = {text};\n".encode()
        yield Part(inline(text), kind, _file(kind, ".js", code), code)


def _file(name: str, suffix: str, content: bytes) -> str:
    return f"assets/{name}.{digest(content)}{suffix}"
