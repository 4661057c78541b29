"""The cosine of two sentences: Explore leads to it, of models that give a text one vector."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.transformer.watch.hugging_face import build
from tests.viz.ui.test_app import start


def links(checkpoint: str) -> str:
    return " ".join(each.proto.body for each in start(checkpoint=checkpoint).get("html"))


def test_explore_leads_to_a_second_sentence(tmp_path: Path) -> None:
    model: Any = build("BERT")
    model.base_model.save_pretrained(tmp_path / "encoder")
    named = re.search(
        r'href="\./decode\?[^"]*">How alike is another', links(str(tmp_path / "encoder"))
    )
    assert named is not None


@pytest.mark.parametrize("checkpoint", ["copy", "shakespeare", "sentiment"])
def test_what_has_no_vector_leads_to_none(checkpoint: str) -> None:
    assert "How alike is another" not in links(checkpoint)
