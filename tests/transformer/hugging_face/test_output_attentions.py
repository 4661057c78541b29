"""Outputs of the transformers library as they are, against a pass over the whole text."""

from typing import Any

import pytest
import torch

from tests.transformer.watch.hugging_face import build
from transformer import InputError, from_weights

PROMPT = [3, 4, 5]


def written(model: Any, **options: Any) -> Any:
    return model.generate(
        torch.tensor([PROMPT]),
        max_new_tokens=5,
        do_sample=False,
        output_attentions=True,
        return_dict_in_generate=True,
        **{"num_beams": 1, **options},
    )


@pytest.mark.parametrize("use_cache", [True, False])
def test_what_a_generator_wrote_step_by_step(use_cache: bool) -> None:
    model: Any = build("GPT-2", "eager")
    output = written(model, use_cache=use_cache, pad_token_id=0)
    ids = output.sequences[0].tolist()
    recording = from_weights(output, queries=list(map(str, ids)))
    own = recording.attentions["decoder_self"]
    whole = model(output.sequences[:, :-1], output_attentions=True).attentions
    assert torch.allclose(own.weights(1), whole[1][0], atol=1e-6)
    assert [token.piece for token in recording.target] == list(map(str, ids[3:]))
    assert recording.n_prompt == 3 and not recording.notes


def test_what_a_translator_wrote() -> None:
    model: Any = build("BART", "eager")
    output = written(model)
    ids = list(map(str, output.sequences[0].tolist()))
    recording = from_weights(output, queries=ids, keys=list(map(str, PROMPT)))
    named = {"input_ids": torch.tensor([PROMPT]), "decoder_input_ids": output.sequences[:, :-1]}
    whole = model(**named, output_attentions=True)
    assert [*recording.attentions] == ["encoder_self", "decoder_self", "cross"]
    names = ("encoder_attentions", "decoder_attentions", "cross_attentions")
    for name, attention in zip(names, recording.attentions.values(), strict=True):
        assert torch.allclose(attention.weights(0), whole[name][0][0], atol=1e-5)
    assert [token.piece for token in recording.target] == ids[1:]
    assert [*from_weights(whole).attentions] == [*recording.attentions]


def test_beams_are_a_batch() -> None:
    with pytest.raises(InputError, match="batch"):
        from_weights(written(build("BART", "eager"), num_beams=2))


def test_a_text_that_reads_itself() -> None:
    for name, kind in (("BERT", "encoder_self"), ("GPT-2", "decoder_self")):
        output = build(name, "eager")(torch.tensor([PROMPT]), output_attentions=True)
        assert [*from_weights(output).attentions] == [kind]
