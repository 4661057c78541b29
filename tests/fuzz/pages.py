"""Addresses on the real pages, at a public server: none dies, and no fault is said."""

import os
from pathlib import Path
from random import Random

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.fuzz.addresses import strange_address
from tests.fuzz.kind import Attempt, Kind
from tests.fuzz.strings import strange_text
from transformer import CheckpointError
from transformer.discover import discover

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "HEADSCOPE_PUBLIC": "yes",
    "HEADSCOPE_MOST_CHARACTERS": "200",
    "HEADSCOPE_STORIES": "no",  # those of who runs the tests are not read
}
CHECKPOINTS = ("copy", "copy", "en-de-small", "sentiment", "shakespeare")


def start(_: Path) -> Attempt:
    names = [page.name for page in discover("viz.pages", "PAGE").values()]
    before = {name: os.environ.get(name) for name in SETTINGS}

    def attempt(random: Random) -> None:
        os.environ.update(SETTINGS)
        try:
            said = strange_address(random)
            if random.randrange(3):
                said["checkpoint"] = random.choice(CHECKPOINTS)
            else:
                said["checkpoint"] = f"/{strange_text(random)}"
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
            app._page_hash = calc_hash(random.choice(names))
            for name, value in said.items():  # half a character is in no address
                whole = (each.encode("utf-8", "replace").decode() for each in (name, value))
                app.query_params.update([tuple(whole)])
            app.run()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        assert not app.exception, app.exception[0].stack_trace
        boxes = " ".join(each.value.replace("\\", "") for each in (*app.error, *app.warning))
        assert "the program has a fault" not in boxes, f"{boxes}\n{said}"
        if boxes:
            raise CheckpointError(boxes[:300])

    return attempt


KIND = Kind("pages", start, n=400, n_quick=8)
