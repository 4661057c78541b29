"""python -m tests.browser.visits: the bytes of each page of a folder without a server, as a table.

It is built whole, sent compressed as hosts do it, and asked again at each visit: what a browser
has kept costs a request and no byte. Counted is what the host sends, weights for a worker included.
"""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.server import DESKTOP, ROOT, launch
from viz.__main__ import main as headscope
from viz.live.shelf import LISTS

COMPRESSED = (".html", ".js", ".json", ".svg", ".css")
DOCUMENT = ROOT / "docs" / "deploy.md"
BEGIN, END = "<!-- made by `.venv/bin/python -m tests.browser.visits` -->\n", "<!-- end -->"


@dataclass
class Sent:
    """Files that a host has sent: path -> bytes as they were sent, and as they are."""

    files: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        return sum(sent for sent, _ in self.files.values())

    @property
    def raw(self) -> int:
        return sum(raw for _, raw in self.files.values())

    def of(self, folder: str) -> int:
        """The bytes of a folder's files that were sent."""
        return sum(sent for path, (sent, _) in self.files.items() if path.startswith(f"/{folder}"))


@contextmanager
def counted(folder: Path) -> Iterator[tuple[str, Sent]]:
    """Serve a folder as hosts do it; its address, and what was sent since somebody cleared it."""
    sent = Sent()

    class Host(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            file = folder / (path.lstrip("/") or "index.html")
            modified = self.date_time_string(int(file.stat().st_mtime))
            if self.headers.get("If-Modified-Since") == modified:
                self.send_response(304)
                self.end_headers()
                return
            content = body = file.read_bytes()
            self.send_response(200)
            if file.suffix in COMPRESSED:
                body = gzip.compress(content, 6)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Type", self.guess_type(str(file)))
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Last-Modified", modified)
            self.send_header("Cache-Control", "no-cache")  # it is asked again, and sends nothing
            self.end_headers()
            sent.files[path] = len(body), len(content)
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", sent
        server.shutdown()


def visit(context: BrowserContext, address: str, sent: Sent, model: str = "") -> Sent:
    """Open a page until nothing more is fetched, and that model is open; what was sent for it."""
    sent.files.clear()
    page = context.new_page()
    page.goto(address)
    if model:
        page.wait_for_selector(f'#model[data-open="{model}"]', timeout=120_000)
    page.wait_for_load_state("networkidle")
    page.close()
    return Sent(dict(sent.files))


def table(browser: Browser, folder: Path) -> str:
    """A row for each kind of page, of visitors who have never been there."""
    stories = [f"stories/{it.name}" for it in sorted(folder.glob("stories/*.html"))]
    lessons = [f"lessons/{it.name}" for it in sorted(folder.glob("lessons/*.html"))]
    rows = [
        "| page | first visit | uncompressed | after Explore | again |",
        "|---|---|---|---|---|",
    ]
    kinds = {
        "Explore, with `en-de-small`": (["?checkpoint=en-de-small"], "en-de-small"),
        "Explore, with `en-de`": (["?checkpoint=en-de"], "en-de"),
        **{f"list of {name}": ([f"?page={name}"], "") for name in LISTS},
        f"a story, the median of {len(stories)}": (stories, ""),
        f"a lesson, the median of {len(lessons)}": (lessons, ""),
    }
    for title, (addresses, model) in kinds.items():
        if not addresses:
            continue
        every = sorted(
            (_visits(browser, folder, it, model) for it in addresses), key=lambda it: it[0]
        )
        rows.append(f"| {title} | {' | '.join(map(_text, every[len(every) // 2]))} |")
    return "\n".join(rows) + "\n"


def _visits(browser: Browser, folder: Path, address: str, model: str) -> list[int]:
    """Bytes of the first visit, compressed and not; of one after Explore; and of a second."""
    with counted(folder) as (host, sent):
        context = browser.new_context(viewport=DESKTOP)
        first = visit(context, host + address, sent, model)
        again = visit(context, host + address, sent, model)
        context.close()
        context = browser.new_context(viewport=DESKTOP)
        visit(context, f"{host}?checkpoint=en-de-small", sent, "en-de-small")
        after = visit(context, host + address, sent, model)
        context.close()
    return [first.n_bytes, first.raw, after.n_bytes, again.n_bytes]


def _text(n_bytes: int) -> str:
    if not n_bytes:
        return "0"
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} KB"


def main() -> None:
    """Build the folder, visit its pages, and renew the table in the document."""
    with TemporaryDirectory() as place, sync_playwright() as playwright:
        headscope(["site", place])
        browser = launch(playwright)
        text = table(browser, Path(place))
        browser.close()
    print(text, end="")
    document = DOCUMENT.read_text("utf-8")
    if BEGIN in document:
        before, _, rest = document.partition(BEGIN)
        _, _, after = rest.partition(END)
        DOCUMENT.write_text(f"{before}{BEGIN}{text}{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
