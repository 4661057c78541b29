"""Browser files and what they import become one script; what they cannot have, one sentence."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.node import node
from viz.components.kit.browser import ModuleError, bundle, shared

COMPONENTS = Path(__file__).parents[4] / "viz/components"
ENTRIES = sorted(COMPONENTS.glob("*/index.js"))


def written(folder: Path, **files: str) -> Path:
    """Files a.js, b.js ... of this content; the entry is index.js."""
    for name, text in files.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder / "index.js"


def run(script: str) -> str:
    said = f"console.log({script})"  # too long for an argument
    ran = subprocess.run([node(), "-"], input=said, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def test_files_find_what_they_import_and_keep_the_rest_to_themselves(tmp_path: Path) -> None:
    index = written(
        tmp_path,
        index='import { two } from "./two.js";\nimport { one, Three } from "./one.js";\n\n'
        "export default total();\n\n"
        "function total() {\n  return hidden() + one + two() + new Three().size;\n}\n\n"
        "function hidden() {\n  return 1000;\n}\n",
        two='import {\n  one,\n} from "./one.js";\n\n'
        "export function two() {\n  return one + hidden();\n}\n\n"
        "function hidden() {\n  return 20;\n}\n",
        one="export const one = 1;\n\nexport class Three {\n  size = 300;\n}\n",
    )
    assert run(bundle(index).script) == "1322"  # 1000 + 1 + (1 + 20) + 300


def test_a_file_that_several_import_runs_once(tmp_path: Path) -> None:
    index = written(
        tmp_path,
        index='import { a } from "./a.js";\nimport { b } from "./b.js";\n\n'
        "export default a() + b();\n",
        a='import { count } from "./count.js";\n\nexport function a() {\n  return count();\n}\n',
        b='import { count } from "./count.js";\n\nexport function b() {\n  return count();\n}\n',
        count="let n = 0;\n\nexport function count() {\n  return ++n;\n}\n",
    )
    assert run(bundle(index).script) == "3"


def test_a_style_stands_beside_its_script(tmp_path: Path) -> None:
    index = written(
        tmp_path,
        index='import { a } from "./a.js";\n\nexport default a;\n',
        a="export const a = 1;\n",
    )
    (tmp_path / "a.css").write_text("a {}", encoding="utf-8")
    (tmp_path / "index.css").write_text("b {}", encoding="utf-8")
    (tmp_path / "other.css").write_text("c {}", encoding="utf-8")
    assert bundle(index).style == "a {}\nb {}"


MISTAKES = {
    "unknown name": (
        {"index": 'import { b } from "./a.js";\n', "a": "export const a = 1;\nconst b = 2;\n"},
        "index.js imports b, but {folder}/a.js does not export it.",
    ),
    "unknown file": (
        {"index": 'import { b } from "./b.js";\n'},
        "index.js imports ./b.js, but there is no such file.",
    ),
    "imported twice": (
        {
            "index": 'import { a } from "./a.js";\nimport { a } from "./b.js";\n',
            "a": "export const a = 1;\n",
            "b": "export const a = 2;\n",
        },
        "index.js has a twice: defined or imported.",
    ),
    "imported and defined": (
        {
            "index": 'import { a } from "./a.js";\n\nfunction a() {}\n',
            "a": "export const a = 1;\n",
        },
        "index.js has a twice: defined or imported.",
    ),
    "defined twice": (
        {"index": "const a = 1;\n\nexport function a() {}\n"},
        "index.js has a twice: defined or imported.",
    ),
    "circle": (
        {
            "index": 'import { a } from "./a.js";\n',
            "a": 'import { b } from "./b.js";\n\nexport const a = b;\n',
            "b": 'import { a } from "./a.js";\n\nexport const b = a;\n',
        },
        "Browser files import each other in a circle: a.js -> b.js -> a.js.",
    ),
    "other import": (
        {"index": 'import * as a from "./a.js";\n', "a": "export const a = 1;\n"},
        'index.js says “import * as a from "./a.js";”: write ',
    ),
    "other export": (
        {"index": "const a = 1;\nexport { a };\n"},
        "index.js says “export { a };”: write ",
    ),
}


@pytest.mark.parametrize(("files", "says"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_end_in_a_sentence(tmp_path: Path, files: dict[str, str], says: str) -> None:
    says = says.replace("{folder}", tmp_path.name)
    with pytest.raises(ModuleError, match=re.escape(says)):
        bundle(written(tmp_path, **files))


def test_each_component_is_one_function_for_streamlit() -> None:
    kinds = [f"{entry.parent.name!r}: typeof {bundle(entry).script}" for entry in ENTRIES]
    found = json.loads(run("JSON.stringify({" + ",\n".join(kinds) + "})"))
    assert found == {entry.parent.name: "function" for entry in ENTRIES} and len(found) > 15


def test_no_component_reaches_into_another_but_for_what_is_shared() -> None:
    """The player of snapshots is made of a head map's parts; all else that is shared is in kit."""
    for file in COMPONENTS.rglob("*.js"):
        text = file.read_text(encoding="utf-8")
        folders = set(re.findall(r'from "\.\./(\w+)/', text))
        shared = {"kit", "head_map"} if file.parent.name == "snapshot_player" else {"kit"}
        assert folders <= shared, file


def test_entries_share_text_and_no_state(tmp_path: Path) -> None:
    (tmp_path / "counter.js").write_text("let n = 0;\nexport function next() { return ++n; }\n")
    entries = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        entry = written(
            tmp_path / name,
            index='import { next } from "../counter.js";\n\nexport default () => next();\n',
        )
        entries.append(entry)
    script = shared(tuple(entries))
    assert script.count("++n") == 1
    calls = "const a = one(), b = two();\nconsole.log(a(), a(), b());"
    code = script.replace("export const", "const") + "\n" + calls
    ran = subprocess.run([node(), "-"], input=code, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["1", "2", "1"]
