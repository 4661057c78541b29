"""The checkpoint that is inspected: its files' contents, each read once."""

import streamlit as st
from torch import Tensor

from transformer.checkpoint import CONFIG, WEIGHTS
from transformer.circuits import copying_scores
from transformer.inspection import Inspection, survey
from transformer.tensor_statistics import Statistics, statistics
from transformer.tensors import read_tensor
from transformer.tokenizer import Tokenizer, load_tokenizer
from viz.ui.settings import checkpoints_folder

Key = tuple[str, int]
"""A checkpoint's name and when its files were written last."""


def chosen_key() -> Key:
    """Of the checkpoint chosen at the top of the page, whether or not it can run."""
    name = str(st.session_state["checkpoint"])
    files = [checkpoints_folder() / name / file for file in (CONFIG, WEIGHTS)]
    return name, max((file.stat().st_mtime_ns for file in files if file.exists()), default=0)


@st.cache_resource(max_entries=8, show_spinner="Reading the checkpoint")
def inspected(key: Key) -> Inspection:
    """What its files hold. Raises CheckpointError."""
    return survey(checkpoints_folder() / key[0])


@st.cache_resource(max_entries=4, show_spinner=False)
def tensor_of(key: Key, name: str) -> Tensor:
    """One tensor's values. Raises CheckpointError."""
    return read_tensor(inspected(key).file, name)


@st.cache_resource(max_entries=64, show_spinner="Computing singular values")
def statistics_of(key: Key, name: str) -> Statistics:
    """One tensor in numbers."""
    return statistics(tensor_of(key, name))


@st.cache_resource(max_entries=32, show_spinner="Computing copying scores")
def scores_of(key: Key, kind: str) -> Tensor:
    """The copying scores [L, H] of a kind of attention."""
    return copying_scores(inspected(key), kind)


@st.cache_resource(max_entries=8, show_spinner=False)
def tokenizer_of(key: Key) -> Tokenizer:
    """Raises TokenizerError."""
    found = inspected(key)
    return load_tokenizer(found.about.tokenizer, found.path, found.config.vocab_size)
