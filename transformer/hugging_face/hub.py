"""Checkpoints by their name on Hugging Face's hub, fetched once and then read from its cache."""

import re
from pathlib import Path

from transformer.checkpoint import CheckpointError
from transformer.extras import require

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_FILES = ("*.json", "*.txt", "*.model", "*.spm", "*.safetensors")
_OLDER = ("pytorch_model*.bin",)
"""Fetched where a repository has no safetensors."""


def is_hub_name(text: str) -> bool:
    """Tell whether it may be one: "organisation/model".

    >>> is_hub_name("Helsinki-NLP/opus-mt-en-de"), is_hub_name("/models/mine")
    (True, False)
    """
    return _NAME.fullmatch(text) is not None and ".." not in text


def from_hub(name: str) -> Path:
    """The folder of a checkpoint on the hub. Raises CheckpointError where it cannot be had."""
    require("hf", f"check the path: there is no {name} on this machine")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()
        folder = Path(snapshot_download(name, allow_patterns=list(_FILES), etag_timeout=5))
        if not next(folder.glob("*.safetensors"), None):
            folder = Path(snapshot_download(name, allow_patterns=[*_FILES, *_OLDER]))
        return folder
    except Exception as error:  # the network's, the hub's and the disk's errors are of many kinds
        raise CheckpointError(
            f"{name} is not a folder here, and Hugging Face's hub cannot be reached or has no such "
            "model: check the name and the connection, or copy the folder here and open its path."
        ) from error
