"""Write requirements.lock and licences.md: all that the app installs, with hashes and licences.

Run it in the virtual environment of the app, where pip decides as it would install: versions that
are installed there stay. `python docs/deploy/lock.py NAME` writes NAME.lock, for another platform.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REQUIREMENTS = HERE.parents[1] / "requirements.txt"
HEAD = "# Written by docs/deploy/lock.py, for Python {python} on {platform}.\n"


def resolved() -> list[dict[str, Any]]:
    """What pip would install into an empty environment, as its report says it."""
    with tempfile.TemporaryDirectory() as folder:
        report, known = Path(folder) / "report.json", Path(folder) / "known.txt"
        command = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
        installed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        known.write_text("\n".join(line for line in installed.splitlines() if " @ " not in line))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--report", str(report), "-c", str(known)]
        subprocess.run([*command, "-r", str(REQUIREMENTS)], check=True)
        found: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))["install"]
    return sorted(found, key=lambda each: each["metadata"]["name"].lower())


def licence(name: str, said: dict[str, Any]) -> str:
    """What a package says of its licence: an expression, a classifier, or the first line."""
    try:
        known: Any = metadata(name)
        said = {"license_expression": known["License-Expression"], "license": known["License"]} | {
            "classifier": known.get_all("Classifier") or []
        }
    except PackageNotFoundError:
        pass
    classes = [each for each in said.get("classifier") or [] if each.startswith("License ::")]
    named = ", ".join(each.split(" :: ")[-1] for each in classes)
    first = (said.get("license") or "").strip().splitlines()
    return said.get("license_expression") or named or (first[0][:60] if first else "not said")


def main() -> None:
    """Write both files."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("name", nargs="?", default="requirements", help="of the lock, without .lock")
    name = asked.parse_args().name
    python = ".".join(map(str, sys.version_info[:2]))
    lines, rows = [HEAD.format(python=python, platform=sys.platform)], []
    for each in resolved():
        said, archive = each["metadata"], each["download_info"]["archive_info"]
        public = said["version"].partition("+")[0]
        lines.append(f"{said['name']}=={public} --hash=sha256:{archive['hashes']['sha256']}\n")
        rows.append(f"| {said['name']} | {public} | {licence(said['name'], said)} |\n")
    (HERE / f"{name}.lock").write_text("".join(lines), "utf-8")
    head = f"# Licences\n\nOf what the app installs (Python {python}, pip {version('pip')}).\n\n"
    table = "| package | version | licence |\n| --- | --- | --- |\n"
    (HERE / "licences.md").write_text(head + table + "".join(rows), "utf-8")


if __name__ == "__main__":
    main()
