"""python -m tests.golden: write the golden files anew. Look at what `git diff` says of them."""

import logging
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from tests.golden.checkpoints import make_checkpoints
from tests.golden.files import FILES, write
from tests.golden.places import places
from tests.golden.surveys import make_surveys


def renew() -> None:
    """Write each exhibit's file, and remove those of exhibits that are gone."""
    left = {file for file in FILES.rglob("*") if file.is_file()}
    for place, make in places().items():
        for name, golden in make().items():
            left -= set(write(place, name, golden))
    for file in left:
        file.unlink()


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit misses its server
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        make_checkpoints(Path(folder))
        make_surveys(Path(folder))
        os.environ["HEADSCOPE_CHECKPOINTS"] = folder
        renew()
