"""all-MiniLM-L6-v2, a real pretrained encoder: `sh tests/real/install.sh` brings it."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from transformer import load_checkpoint, record
from transformer.analysis.ablation import sweep
from transformer.checkpoint import Checkpoint
from transformer.recording.vector import angle, cosine

FOLDER = Path("build/real/all-MiniLM-L6-v2")
SENTENCES = ("This is an example sentence", "Each sentence is converted", "A dog lay on the rug.")

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="all-MiniLM-L6-v2 is not here: sh tests/real/install.sh"
)


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(FOLDER)


@pytest.fixture(scope="module")
def theirs() -> tuple[Any, Any]:
    """The library's tokenizer and model, with eager attention."""
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(FOLDER, attn_implementation="eager")
    return AutoTokenizer.from_pretrained(FOLDER), model.eval()


def sentence_embedding(theirs: tuple[Any, Any], sentence: str) -> Tensor:
    """Pool as the model's card does, "Usage (HuggingFace Transformers)"."""
    tokenizer, model = theirs
    encoded = tokenizer([sentence], padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad():
        token_embeddings = model(**encoded)[0]
    mask = encoded["attention_mask"].unsqueeze(-1).expand(token_embeddings.size()).float()
    pooled = torch.sum(token_embeddings * mask, 1) / torch.clamp(mask.sum(1), min=1e-9)
    return torch.nn.functional.normalize(pooled, p=2, dim=1)[0]


def test_weights_are_those_of_its_eager_attention(
    checkpoint: Checkpoint, theirs: tuple[Any, Any]
) -> None:
    tokenizer, model = theirs
    for sentence in SENTENCES:
        with torch.no_grad():
            output = model(**tokenizer(sentence, return_tensors="pt"), output_attentions=True)
        attention = record(checkpoint, sentence).attentions["encoder_self"]
        for layer, weights in enumerate(output.attentions):
            torch.testing.assert_close(attention.weights(layer), weights[0], atol=1e-5, rtol=0)


def test_vectors_and_cosines_are_those_of_its_card(
    checkpoint: Checkpoint, theirs: tuple[Any, Any]
) -> None:
    own = [record(checkpoint, each).vector for each in SENTENCES]
    card = [sentence_embedding(theirs, each) for each in SENTENCES]
    values = [each.values for each in own if each is not None and each.is_named]
    assert len(values) == len(SENTENCES)
    for ours, reference in zip(values, card, strict=True):
        torch.testing.assert_close(ours, reference, atol=1e-5, rtol=0)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert cosine(values[i], values[j]) == pytest.approx(float(card[i] @ card[j]), abs=1e-5)


def test_a_head_off_turns_the_vector_as_the_sweep_says(checkpoint: Checkpoint) -> None:
    tried = [f"head-off:encoder_self.{layer}.{head}" for layer, head in ((0, 0), (2, 3), (5, 11))]
    swept = sweep(checkpoint, SENTENCES[2], None, tried)
    plain = record(checkpoint, SENTENCES[2]).vector
    assert plain is not None
    for spelled, total in zip(tried, swept.totals.tolist(), strict=True):
        edited = record(checkpoint, SENTENCES[2], edits=[spelled]).vector
        assert edited is not None
        turned = angle(plain.values, edited.values)
        assert total == pytest.approx(-turned, abs=1e-4)
        assert turned > 0.1
