"""What a person asked for, and the cached answer to it. Nothing here draws."""

import gc
import time
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
import torch

from transformer import Checkpoint, Decoding, Recording, decode, load_checkpoint, record
from transformer.checkpoint import CONFIG, WEIGHTS
from viz.components.decode_player import pack_player
from viz.components.head_grid import pack_head_grid
from viz.ui.settings import checkpoints_folder, threads


@dataclass(frozen=True)
class Request:
    """The cache's key: small and frozen."""

    checkpoint: str
    """The folder's name."""
    version: int
    """When its weights were written: a retrained checkpoint is another one."""
    text: str
    method: str


@dataclass(frozen=True, eq=False)
class Answer:
    """What the model made of a request. Shared between sessions: never changed."""

    request: Request
    checkpoint: Checkpoint
    decoding: Decoding
    recording: Recording
    seconds: float
    """Decoding and recording together, when it was computed."""


def checkpoint_names() -> list[str]:
    """The folders on offer, whole or damaged, the first one being the default."""
    found = sorted(path.parent.name for path in checkpoints_folder().glob(f"*/{CONFIG}"))
    return sorted(found, key=lambda name: name != "en-de")


def make_request(checkpoint: str, text: str, method: str) -> Request:
    """The request as it stands now, with the version of the weights on disk."""
    weights = checkpoints_folder() / checkpoint / WEIGHTS
    version = weights.stat().st_mtime_ns if weights.exists() else 0
    return Request(checkpoint, version, text.strip(), method)


def open_checkpoint(request: Request) -> Checkpoint:
    """The loaded model, one per process. Raises CheckpointError."""
    return _load(str(checkpoints_folder() / request.checkpoint), request.version)


@st.cache_resource(max_entries=64, show_spinner=False)
def answer(request: Request) -> Answer:
    """Decode first, record once. Raises CheckpointError or InputError."""
    checkpoint = open_checkpoint(request)
    started = time.perf_counter()
    decoding = decode(checkpoint, request.text, method=request.method)
    recording = record(checkpoint, request.text, decoding.target)
    return Answer(request, checkpoint, decoding, recording, time.perf_counter() - started)


@st.cache_resource(max_entries=128, show_spinner=False)
def grid_payload(request: Request, kind: str) -> bytes:
    """What the grid of all heads of a kind needs, packed once."""
    return pack_head_grid(answer(request).recording.attentions[kind])


@st.cache_resource(max_entries=128, show_spinner=False)
def player_payload(request: Request, layer: int, head: int | None) -> bytes:
    """What the decode player needs for one head, or for the mean of a layer's heads."""
    answered = answer(request)
    cross, own = (
        answered.recording.attentions[kind].weights(layer) for kind in ("cross", "decoder_self")
    )
    chosen = slice(None) if head is None else slice(head, head + 1)
    return pack_player(
        answered.decoding,
        cross[chosen].mean(0),
        own[chosen].mean(0),
        answered.recording.attentions["cross"].queries,
    )


@st.cache_resource(max_entries=6, show_spinner="Loading the checkpoint")
def _load(path: str, version: int) -> Checkpoint:
    torch.set_num_threads(threads())
    checkpoint = load_checkpoint(Path(path))
    # Streamlit collects garbage after every rerun, which walks all of torch: 187 ms; frozen, 9 ms.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    return checkpoint
