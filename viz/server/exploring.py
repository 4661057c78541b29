"""explore(): a module of one's own in the browser, from a script, a notebook or a shell."""

import os
import socket
import sys
import webbrowser
from logging import ERROR
from pathlib import Path
from threading import Event, Thread
from typing import Any, cast

import streamlit as st
import torch
from streamlit import runtime
from streamlit.logger import get_logger
from streamlit.web.server.server_util import get_display_address
from torch import nn

from transformer import Checkpoint, InputError, decode, from_module, load_checkpoint, record
from transformer.checkpoint import check_open
from transformer.discover import discover
from transformer.formats.own_module import offer
from transformer.inputs import NUMBER, TEXT, YES_OR_NO, check
from transformer.own_module.model import OwnModel
from viz.notebook.picture import Picture
from viz.notebook.pictures import explored
from viz.run.settings import keep_main_module
from viz.server.serving import OPENS, make_app, options_of_app

FIRST_PORT, N_PORTS = 8501, 100
WAIT = 60.0
"""Seconds in which the server starts."""


WANTED = {
    "block": YES_OR_NO.or_none,
    "port": NUMBER.or_none,
    "address": TEXT,
    "opens_browser": YES_OR_NO,
    "live": YES_OR_NO,
}


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
    """Open a module of your own in the browser; returns the address.

    module: with what `from_module` takes: explore(module, tokenize, pieces, examples, ...); or
    what that gave. block: whether to return only when the server ends; None: not in a notebook or
    an interactive shell. Its first example is run at once. live: of a checkpoint that was trained
    here, or of its name: return a picture instead, of all heads and of the one that is clicked,
    whose reader types without a server. Raises InputError in a sentence.
    """
    choices = {"block": block, "port": port, "address": address}
    choices |= {"opens_browser": opens_browser, "live": live}
    check("explore", choices, WANTED)
    if live:
        whole = load_checkpoint(module) if isinstance(module, str | Path) else module
        check_open(whole)
        return explored(cast(Checkpoint, whole))
    own = cast(nn.Module, module)  # a name is none, and is refused by what takes modules
    checkpoint = module if isinstance(module, Checkpoint) else from_module(own, *inputs, **options)
    if not isinstance(checkpoint.model, OwnModel):
        raise InputError(
            "explore takes a torch module, or what from_module gives; the app opens checkpoints "
            "in files by their paths."
        )
    try_out(checkpoint)
    offer(checkpoint)
    os.environ.setdefault("HEADSCOPE_THREADS", str(torch.get_num_threads()))  # as it is here
    if block is None:
        block = not hasattr(sys, "ps1")
    return serve(block, port, address, opens_browser)


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

    at: the link, relative to the app, that the browser opens.
    """
    OPENS["at"] = at
    if runtime.exists():
        whole = _whole(str(st.get_option("server.address")), int(st.get_option("server.port")))
        if opens_browser:
            webbrowser.open(whole)
        return whole
    port = _free_port(address) if port is None else port
    keep_main_module()
    started = Event()
    app, options = make_app(started.set, _pages), options_of_app()
    options |= {"server.address": address, "server.port": port}
    options |= {"server.headless": not opens_browser}
    get_logger("streamlit.config").setLevel(ERROR)  # that these differ from the usual is meant
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
    return f"http://{get_display_address(address)}:{port}"
