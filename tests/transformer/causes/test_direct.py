"""The parts of a logit sum to it, whatever the order of the norms."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.representatives import part
from tests.transformer.recording.test_families import CONFIGS, FEW, SOURCE, TARGET, WRITING
from tests.transformer.watch.hugging_face import build
from transformer import InputError, decode, load_checkpoint, record
from transformer.causes.direct import BIASES, FEED_FORWARD, INPUT, direct
from transformer.checkpoint import shipped_path

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_parts_sum_to_the_logit_and_contrasts_to_the_difference(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    logits = record(checkpoint, SOURCE, TARGET).logits[-len(TARGET.split()) :].double()
    for step, own in enumerate(map(int, TARGET.split())):
        result, against = (direct(checkpoint, SOURCE, TARGET, step, it) for it in (None, 7))
        assert result.token.id == own and result.logit == pytest.approx(float(logits[step, own]))
        assert against.logit == pytest.approx(float(logits[step, own] - logits[step, 7]), abs=1e-6)
        assert result.error < 1e-5 and against.error < 1e-5
        kinds = {kind for kind, _, _ in result.parts}
        attentions = set(checkpoint.family.attentions) - {"encoder_self"}
        assert kinds == {INPUT, BIASES, FEED_FORWARD} | attentions
        assert result.last_layer_only is (CONFIGS[name].norm_order == "post")


@pytest.mark.parametrize(
    "name", part([name for name in WRITING if CONFIGS[name].tied == "none"], FEW)
)
def test_a_vector_added_to_all_rows_of_the_output_leaves_contrasts(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    plain, contrast = (direct(checkpoint, SOURCE, TARGET, 1, it).parts for it in (None, 7))
    matrix = checkpoint.model.output.weight
    with torch.no_grad():
        matrix += torch.linspace(-1, 1, matrix.size(1))
    assert direct(checkpoint, SOURCE, TARGET, 1, 7).parts == pytest.approx(contrast, abs=1e-5)
    assert direct(checkpoint, SOURCE, TARGET, 1).parts != pytest.approx(plain, abs=1e-3)


def test_where_nothing_comes_after_it_a_part_is_what_its_head_off_takes() -> None:
    config = replace(CONFIGS["pre-norm"], decoder_norm=False)
    checkpoint = random_checkpoint(config)
    last = config.n_decoder_layers - 1
    for parameter in checkpoint.model.decoder.layers[last].feed_forward.parameters():
        parameter.zero_()
    result, step = direct(checkpoint, SOURCE, TARGET, 1), len(TARGET.split()) - 1
    for head in range(config.n_heads):
        edited = record(checkpoint, SOURCE, TARGET, [f"head-off:cross.{last}.{head}"])
        lost = result.logit - float(edited.logits[-step:][0, result.token.id])
        assert result.parts["cross", last, head] == pytest.approx(lost, abs=1e-5)


def test_of_nicht_the_last_layer_is_seen() -> None:
    checkpoint = load_checkpoint(shipped_path("en-de-1"), "cpu")
    target = decode(checkpoint, TEXT).target
    logits = record(checkpoint, TEXT, target).logits
    step = [token.piece.strip("▁") for token in target].index("nicht")
    other = int(logits[step].argsort(descending=True)[1])
    plain, contrast = (direct(checkpoint, TEXT, target, step, it) for it in (None, other))
    assert plain.logit == pytest.approx(9.63, abs=0.01) and plain.error < 1e-4
    assert plain.parts["cross", 2, 0] == pytest.approx(4.12, abs=0.01)
    assert contrast.parts["cross", 2, 0] == pytest.approx(4.41, abs=0.01)
    assert plain.parts["cross", 1, 5] == pytest.approx(0.09, abs=0.01)
    assert plain.last_layer_only


def test_what_has_no_such_sum_is_refused(tmp_path: Path) -> None:
    checkpoint = random_checkpoint(CONFIGS["pre-norm"])
    for step, other in ((-1, None), (99, None), (0, 10_000), (0, -1)):
        with pytest.raises(InputError):
            direct(checkpoint, SOURCE, TARGET, step, other)
    with pytest.raises(InputError):
        direct(random_checkpoint(CONFIGS["encoder_classifier, wide"]), SOURCE, TARGET, 0)
    build("GPT-2").save_pretrained(tmp_path)
    with pytest.raises(InputError):
        direct(load_checkpoint(tmp_path, "cpu"), "7 9", "10", 0)
