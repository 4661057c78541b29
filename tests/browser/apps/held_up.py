"""The app on a server that is so busy that some texts are never answered."""

import runpy
import time
from pathlib import Path
from typing import Any

import streamlit as st

from transformer.discover import discover
from viz.run import request as requests
from viz.run.line import ENTERED
from viz.server.serving import lifespan, middleware, routes

APP = Path(__file__).parents[3] / "app.py"
HELD = "She"
"""The beginning of these texts."""


def pages() -> dict[str, Any]:
    """All pages of the app."""
    return discover("viz.pages", "PAGE")


if __name__ != "__main__":
    make = requests._made

    def held(request: requests.Request, followed: Any, runner: Any) -> requests.Answer:
        """Wait until nobody does any more; what is only typed has no preview."""
        while request.text.startswith(HELD):
            if runner.rank != ENTERED:
                raise RuntimeError("There is no time for this.")
            time.sleep(0.05)
            runner.check()
        return make(request, followed, runner)

    requests._made = held
    around: dict[str, Any] = {"routes": routes(pages), "middleware": middleware(pages)}
    app = st.App(__file__, lifespan=lifespan, **around)
else:
    runpy.run_path(str(APP), run_name="__main__")
