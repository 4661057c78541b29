"""explore(): a module of one's own in the browser, from a script, a notebook or a shell."""

import os
import socket
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from logging import ERROR, getLogger
from pathlib import Path
from threading import Event, Thread
from typing import Any, Literal, cast, overload
from warnings import warn

import torch
from torch import nn

from transformer import Checkpoint, InputError, decode, from_module, load_checkpoint, record
from transformer.checkpoint import check_open
from transformer.discover import discover
from transformer.extras import require
from transformer.formats.own_module import offer
from transformer.inputs import TEXT, YES_OR_NO, Wanted, check, check_call, is_whole, thing
from transformer.own_module.model import OwnModel
from transformer.refusal import quoted
from viz.app_packages import st
from viz.notebook.picture import Picture
from viz.notebook.pictures import explored
from viz.run.settings import keep_main_module

FIRST_PORT, N_PORTS = 8501, 100
WAIT = 60.0
"""Seconds in which the server starts."""


WANTED = {
    "block": YES_OR_NO.or_none,
    "port": Wanted(
        lambda value: is_whole(value) and 1 <= value <= 65_535, "a port from 1 to 65535"
    ).or_none,
    "address": TEXT,
    "opens_browser": YES_OR_NO,
    "live": YES_OR_NO,
}


@overload
def explore(
    module: nn.Module | Checkpoint,
    *inputs: Any,
    block: bool | None = None,
    port: int | None = None,
    address: str = "localhost",
    opens_browser: bool = True,
    live: Literal[False] = False,
    **options: Any,
) -> str: ...
@overload
def explore(module: Checkpoint | str | Path, *, live: Literal[True]) -> Picture: ...
def explore(
    module: nn.Module | Checkpoint | str | Path,
    *inputs: Any,
    block: bool | None = None,
    port: int | None = None,
    address: str = "localhost",
    opens_browser: bool = True,
    live: bool = False,
    **options: Any,
) -> str | Picture:
    """Open a module of your own in the browser; its first example is run at once.

    module: a torch module with what `from_module` takes: explore(module, tokenize, pieces,
        examples, ...); or what that gave.
    block: True: it returns only when the server ends; None: not in a notebook or an interactive
        shell.
    port, address: of the server; without a port the first free one. There is one server: a second
        call adds its module to that, wherever it is, with a warning if it asks for another port.
    opens_browser: False: nothing is opened.
    live: of a checkpoint that was trained here, or of its name: a picture instead, of all heads and
        of the one that is clicked, whose reader types without a server.

    Returns the address, or with live a `Picture`. Raises InputError for what cannot be opened or
    run, and where no port is free; with live AliveError where no engine runs the checkpoint.
    """
    choices = {"block": block, "port": port, "address": address}
    choices |= {"opens_browser": opens_browser, "live": live}
    check("explore", choices, WANTED)
    if live:
        if inputs or options:
            raise InputError("explore with live=True takes a checkpoint and nothing else.")
        whole = load_checkpoint(module) if isinstance(module, str | Path) else module
        check_open(whole)
        return explored(cast(Checkpoint, whole))
    require("app")
    checkpoint = _own(module, inputs, options)
    try_out(checkpoint)
    offer(checkpoint)
    os.environ.setdefault("HEADSCOPE_THREADS", str(torch.get_num_threads()))  # as it is here
    if block is None:
        block = not hasattr(sys, "ps1")
    return serve(block, port, address, opens_browser)


def _own(module: object, inputs: Sequence[Any], options: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint of a module of one's own. Raises InputError."""
    if isinstance(module, Checkpoint) and isinstance(module.model, OwnModel):
        if inputs or options:
            more = ", ".join(options) or thing(inputs[0])
            raise InputError(
                f"explore takes what from_module gave by itself: give {more} to from_module."
            )
        return module
    if isinstance(module, Checkpoint | str | Path):
        name = module.name if isinstance(module, Checkpoint) else module
        raise InputError(
            f"explore takes a torch module, or what from_module gave. {quoted(str(name))} names a "
            f"checkpoint: explore(..., live=True) shows one that was trained here as a picture, "
            f"and make run CHECKPOINT={name} opens any in the app."
        )
    check_call("explore", from_module, module, *inputs, **options)
    return from_module(cast(nn.Module, module), *inputs, **options)


def try_out(checkpoint: Checkpoint) -> None:
    """Run the first example, so that what is wrong is said where it was written."""
    for text in checkpoint.about.examples[:1]:
        writes = checkpoint.family.decodes
        record(checkpoint, text, decode(checkpoint, text, max_len=1).target if writes else None)


def serve(
    block: bool = True,
    port: int | None = None,
    address: str = "localhost",
    opens_browser: bool = True,
    at: str = "",
) -> str:
    """Start the app in this process, unless it runs here already. Returns its address.

    at: the link, relative to the app, that the browser opens. Raises NotInstalled.
    """
    require("app")
    from viz.server.serving import OPENS, make_app, options_of_app  # they are Streamlit's own

    OPENS["at"] = at
    if st.runtime.exists():
        whole = _whole(str(st.get_option("server.address")), int(st.get_option("server.port")))
        if port not in (None, st.get_option("server.port")):
            warn(f"The app runs at {whole} already: port={port} has no effect.", stacklevel=3)
        if opens_browser:
            webbrowser.open(whole)
        return whole
    port = _free_port(address) if port is None else port
    keep_main_module()
    started = Event()
    app, options = make_app(started.set, _pages), options_of_app()
    options |= {"server.address": address, "server.port": port}
    options |= {"server.headless": not opens_browser}
    getLogger("streamlit.config").setLevel(ERROR)  # that these differ from the usual is meant
    if block:
        app.run(config=options)
        return _whole(address, port)
    Thread(target=app.run, kwargs={"config": options}, name="headscope", daemon=True).start()
    if not started.wait(WAIT):
        raise InputError(f"The app did not start at {_whole(address, port)}.")
    return _whole(address, port)


def _pages() -> dict[str, Any]:
    return discover("viz.pages", "PAGE")


def _free_port(address: str) -> int:
    """The first one that nobody listens at. Raises InputError."""
    for port in range(FIRST_PORT, FIRST_PORT + N_PORTS):
        with socket.socket() as probe:
            try:
                probe.bind((address, port))
            except OSError:
                continue
            return port
    raise InputError(f"No port is free from {FIRST_PORT} on: give another.")


def _whole(address: str, port: int) -> str:
    from streamlit.web.server.server_util import get_display_address

    return f"http://{get_display_address(address)}:{port}"
