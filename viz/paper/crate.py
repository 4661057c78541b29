"""A figure with all that makes it again, in one zip: an RO-Crate 1.1.

It holds the figure, its numbers, the caption, the command and the versions of what computed them,
and says in ro-crate-metadata.json which is which (https://w3id.org/ro/crate/1.1).
"""

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from shlex import quote
from typing import Any

from viz.paper.figure import SCALES, Figure

PROFILE = "https://w3id.org/ro/crate/1.1"
METADATA = "ro-crate-metadata.json"
FORMATS = {
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "npz": "application/zip",
    "txt": "text/plain",
}
_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of all files in a zip, so that its bytes follow from what they say alone."""


def crate(figure: Figure, width: float | None = None) -> bytes:
    """The zip. Raises FigureError."""
    inches = figure.width if width is None else width
    files = {
        "figure.svg": figure.file("svg", width),
        "figure.pdf": figure.file("pdf", width),
        "numbers.csv": figure.table("csv", inches),
        **figure.numbers(),
        "caption.txt": f"{figure.record.caption}\n".encode(),
        "command.txt": f"{command(figure, inches)}\n".encode(),
        "requirements.txt": _requirements(figure).encode(),
    }
    text = json.dumps(_metadata(figure, files, inches), indent=2, ensure_ascii=False)
    files[METADATA] = f"{text}\n".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EARLIEST), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def command(figure: Figure, inches: float) -> str:
    """Return the command that makes the figure again, or that opens the page that makes it."""
    if figure.picture is None:
        return "python -m viz open figure.svg"
    of = f" --picture {quote(figure.picture)}" if figure.picture else ""
    address = quote(figure.record.link)
    look = f" --theme {figure.theme}" if figure.theme != "light" else ""
    look += f" --font {quote(figure.font)}" if figure.font else ""
    look += f" --scale {figure.scale}" if figure.scale != SCALES[0] else ""
    size = "--slide" if figure.is_slide else f"--width {inches:g}"
    return f"python -m viz figure {address}{of} {size}{look} --out figure.pdf"


def _requirements(figure: Figure) -> str:
    versions = figure.record.versions
    lines = [f"{name}=={version}" for name, version in versions.items() if name != "python"]
    return "\n".join([f"# Python {versions.get('python', '')}", *sorted(lines)]) + "\n"


def _metadata(figure: Figure, files: Mapping[str, bytes], inches: float) -> dict[str, Any]:
    record = figure.record
    parts = [{"@id": name} for name in files]
    about: dict[str, Any] = {"@id": METADATA, "@type": "CreativeWork"}
    about |= {"conformsTo": {"@id": PROFILE}, "about": {"@id": "./"}}
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": record.title,
        "description": record.caption,
        "datePublished": _today(),
        "license": {"@id": "#license"},
        "hasPart": parts,
        "mainEntity": {"@id": "figure.svg"},
        "mentions": {"@id": "#made"},
    }
    made = {
        "@id": "#made",
        "@type": "CreateAction",
        "name": "Drawing the figure",
        "description": command(figure, inches),
        "instrument": {"@id": "#headscope"},
        "object": [{"@id": "#checkpoint"}, {"@id": "#text"}],
        "result": parts,
    }
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    software = {
        "@id": "#headscope",
        "@type": "SoftwareApplication",
        "name": "Headscope",
        "version": record.versions.get("headscope", ""),
        "softwareRequirements": versions,
    }
    checkpoint = {
        "@id": "#checkpoint",
        "@type": "CreativeWork",
        "name": record.checkpoint,
        "identifier": f"sha256:{record.sha256}" if record.sha256 else "",
    }
    text = {"@id": "#text", "@type": "CreativeWork", "name": "What the model read"}
    text |= {"text": record.text}
    licence = {"@id": "#license", "@type": "CreativeWork", "name": "That of the checkpoint's data"}
    licence |= {"description": "The checkpoint's card.md names its data and weights."}
    described = [_file(name, content) for name, content in files.items()]
    graph = [about, root, *described, made, software, checkpoint, text, licence]
    return {"@context": f"{PROFILE}/context", "@graph": graph}


def _file(name: str, content: bytes) -> dict[str, Any]:
    return {
        "@id": name,
        "@type": "File",
        "name": name,
        "encodingFormat": FORMATS.get(name.rpartition(".")[2], "application/octet-stream"),
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _today() -> str:
    """SOURCE_DATE_EPOCH where it is set, as builds that are to be repeated set it."""
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(text), UTC) if text.isdigit() else datetime.now(UTC)
    return now.date().isoformat()
