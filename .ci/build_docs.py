"""make docs: README, docs and changes as pages in build/docs, which need no network.

The pages stand in build/docs-source as they do in the repository, so that their links hold. What a
link leads to beside pages, as the code of an example, is copied with them.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "build" / "docs-source"
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
FURTHER = ("docs/site.css", "viz/ui/icon.svg")
LINK = re.compile(r"(\]\()([^)#\s]+)")


def pages() -> list[Path]:
    """All pages, relative to the root."""
    inside = sorted((ROOT / "docs").rglob("*.md"))
    return [*map(Path, TOP), *(file.relative_to(ROOT) for file in inside)]


def targets(page: Path) -> Iterator[tuple[str, Path]]:
    """What a page's links say, and where they lead in the repository; none elsewhere."""
    for _, target in LINK.findall((ROOT / page).read_text("utf-8")):
        if ":" not in target:
            yield target, (ROOT / page.parent / target).resolve()


def laid_out(page: Path) -> str:
    """The text of a page. A folder's link leads to its page, and is words where it has none."""
    text = (ROOT / page).read_text("utf-8")
    for target, place in targets(page):
        if (place / "README.md").is_relative_to(ROOT / "docs") and place.is_dir():
            text = text.replace(f"]({target})", f"]({target.rstrip('/')}/README.md)")
        elif place.is_dir():
            text = re.sub(rf"\[([^\]]+)\]\({re.escape(target)}\)", r"\1", text)
    return text


def lay_out() -> None:
    """Fill build/docs-source anew."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    linked = {place for page in pages() for _, place in targets(page) if place.is_file()}
    for file in [*linked, *(ROOT / name for name in FURTHER)]:
        copy = SOURCE / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    for page in pages():
        copy = SOURCE / page
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(laid_out(page), "utf-8")


def main() -> None:
    """Build the site; a link that leads nowhere ends it."""
    from mkdocs.__main__ import cli

    lay_out()
    cli(["build", "--strict", "--config-file", str(ROOT / "docs" / "mkdocs.yml")])


if __name__ == "__main__":
    sys.exit(main())
