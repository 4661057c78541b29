"""The decoder reads a lower layer: what comes out is that layer's memory, decoded."""

from pathlib import Path

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.representatives import part
from tests.transformer.recording.test_families import CONFIGS, CROSS, FEW, SOURCE, TARGET
from tests.transformer.watch.hugging_face import build
from transformer import InputError, decode, load_checkpoint, record
from transformer.__main__ import main
from transformer.causes.direct import decoder_lens, with_encoder_layers
from transformer.checkpoint import shipped_path
from transformer.layers.blocks import DecoderState

TEXT = "He gave up smoking two years ago."


@pytest.mark.parametrize("name", part(CROSS, FEW))
def test_the_decoder_reads_that_layer(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    model, ids = checkpoint.model, [int(word) for word in TARGET.split()]
    before = len(model.encoder.layers)
    for n in range(before + 1):
        lower = with_encoder_layers(checkpoint, n)
        recording = record(lower, SOURCE, TARGET)
        assert recording.attentions["encoder_self"].n_layers == n
        source = torch.tensor([[token.id for token in recording.source]])
        embedded = model.embed(
            source, embedding=model.source_embedding, positions=model.source_positions
        )
        memory = model.encoder.embedding_norm(embedded, None)
        for layer in model.encoder.layers[:n]:
            memory = layer(memory, None)
        state = DecoderState(model.decoder.start(model.encoder.norm(memory, None)))
        read = torch.tensor([[checkpoint.config.bos_id, *ids[:-1]]])
        wanted = model.advance(state, read)[0]
        torch.testing.assert_close(recording.logits, wanted, rtol=0.0, atol=5e-6)
    assert len(model.encoder.layers) == before
    assert {each.data_ptr() for each in lower.model.parameters()} == {
        each.data_ptr() for each in model.parameters()
    }


@pytest.mark.parametrize("name", part(CROSS, FEW))
def test_all_layers_decode_as_ever(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    *lower, whole = decoder_lens(checkpoint, SOURCE, max_len=6)
    wanted = decode(checkpoint, SOURCE, max_len=6)
    assert len(lower) == checkpoint.config.n_encoder_layers
    assert whole.target == wanted.target
    assert torch.equal(whole.hypotheses[0].log_probs, wanted.hypotheses[0].log_probs)


def test_layers_add_the_order_and_the_sense(capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint = load_checkpoint(shipped_path("en-de-1"), "cpu")
    embeddings, *others = decoder_lens(checkpoint, TEXT, max_len=20)
    assert len(embeddings.target) == 20  # it never ends
    assert [each.text for each in others] == [
        "Er hat zwei Rauchen aufgehört.",
        "Vor zwei Jahre mit Rauchen er aufgehört.",
        decode(checkpoint, TEXT).text,
    ]
    command = ("decode", "checkpoints/en-de-1", TEXT, "--device", "cpu", "--encoder-layers")
    assert main([*command, "1"]) == 0
    assert capsys.readouterr().out.strip() == others[0].text
    assert main([*command, "4"]) == 1
    assert "0 to 3" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["gpt2", "encoder_classifier, wide"])
def test_without_an_encoder_before_a_decoder_there_is_no_such_layer(name: str) -> None:
    with pytest.raises(InputError):
        decoder_lens(random_checkpoint(CONFIGS[name]), SOURCE)


def test_models_of_the_library_are_refused(tmp_path: Path) -> None:
    build("Marian").save_pretrained(tmp_path)
    with pytest.raises(InputError):
        with_encoder_layers(load_checkpoint(tmp_path, "cpu"), 1)
