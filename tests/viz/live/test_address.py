"""An address means the same in the app and in the page that needs no server."""

import json
import random
import subprocess
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.node import node
from viz.__main__ import main
from viz.live.site import DONE, fields, of_text
from viz.screen import Screen, all_choices, choose, parse, query, spell, value_of
from viz.spelling import FORMER

ROOT = Path(__file__).parents[3]
N = 300
VALUES: dict[str, tuple[str, ...]] = {
    "checkpoint": ("en-de-small", "a/b c"),
    "text": ("It rains.", "100 % & more + \u00fc = ?", "\u05e9\u05dc\u05d5\u05dd", "\U0001f600"),
    "decoding": ("greedy",),
    "edits": (
        "head-off:cross.1.7",
        "head-off:cross.1.7/hide:source.2",
        "cut:cross.2.3.5.7/head-scale:cross.0.1=0.5",
    ),
    "prefix": ("12.45",),
    "tool": ("heads", "arrows"),
    "tokens": ("pieces",),
    "special": ("shown", "hidden"),
    "kind": ("encoder_self", "cross"),
    "layer": ("1",),
    "head": ("2", "0"),
    "picture": ("map", "inside"),
    "heads": ("none", "1,2"),
    "lines": ("0", "20"),
    "pins": ("q1,k3", "k0"),
    "cell": ("3,4",),
    "tint": ("rank", "off"),
    "alignment": ("yes",),
    "show": ("entropy",),
    "step": ("3",),
    "page": ("decode", "compare", "sweep", "heads"),
    "checkpoint_b": ("en-de",),
    "method_b": ("greedy",),
    "edited_b": ("yes",),
    "own_b": ("yes",),
    "same_head": ("yes",),
    "kind_b": ("encoder_self",),
    "layer_b": ("0",),
    "head_b": ("3",),
    "heads_b": ("1,2",),
    "sweep_sort": ("layer", "word 2"),
    "sweep_kind": ("cross",),
    "sweep_asked": ("yes",),
    "heads_kind": ("cross",),
    "heads_find": ("next token",),
    "heads_order": ("worth",),
}


def test_addresses_are_read_changed_and_spelled_as_the_app_does_it() -> None:
    draw = random.Random(0)
    cases = [[_some(draw, 6), _some(draw, 2)] for _ in range(N)]
    cases += [[{"page": name}, {}] for name in FORMER]
    given = {
        "fields": fields(),
        "ofText": of_text(),
        "former": FORMER,
        "cases": [(urlencode(a), b) for a, b in cases],
    }
    script = f"""
    import {{ createScreen }} from "{(ROOT / "viz/live/page/address.js").as_uri()}";
    const given = JSON.parse(process.argv[1]);
    const screens = createScreen(given);
    const results = given.cases.map(([query, changes]) => {{
      const {{ screen }} = screens.parse(query);
      return [screens.spell(screen), screens.spell(screens.choose(screen, changes))];
    }});
    process.stdout.write(JSON.stringify(results));
    """
    command = [node(), "--input-type=module", "-e", script, json.dumps(given)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    for (before, changes), (same, changed) in zip(cases, json.loads(result.stdout), strict=True):
        screen = parse(before)
        assert same == _query(screen), before
        read = {name: value_of(parse(changes), name) for name in changes}
        assert changed == _query(choose(screen, **read)), (before, changes)


def test_the_page_knows_which_choices_it_does_not_do() -> None:
    assert set(DONE) <= set(all_choices())
    assert {name for name, usual, _ in fields() if usual is not None} == set(DONE)
    assert set(VALUES) <= set(DONE)


def test_a_place_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file" / "site", tmp_path / "file" / "page.html"):
        assert main(["site", str(out), "--checkpoint", "en-de-small"]) == 1
        said = capsys.readouterr().err
        assert said.startswith("error: ") and said.count("\n") == 1 and str(out) in said


def _some(draw: random.Random, most: int) -> dict[str, str]:
    names = draw.sample(sorted(VALUES), draw.randint(1, most))
    return {name: draw.choice(VALUES[name]) for name in names}


def _query(screen: Screen) -> str:
    page = spell(screen).get("page")
    return "&".join(filter(None, [page and f"page={page}", query(screen)]))
