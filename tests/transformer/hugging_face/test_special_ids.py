"""What a text starts and ends with is what `generate` takes, whichever file says it."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.representatives import cases
from tests.transformer.hugging_face.saving import generated, save, writer
from transformer import decode, load_checkpoint

TEXT, IDS, LENGTH = "the cat sat", [4, 5, 6], 7
WRITTEN, ABSENT = "the third token that is written", "left out"
CASES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "ends by both": ({"eos_token_id": 2}, {"eos_token_id": WRITTEN}),
    "ends by the model's file alone": ({"eos_token_id": WRITTEN}, {"eos_token_id": ABSENT}),
    "ends nowhere": ({"eos_token_id": WRITTEN}, {"eos_token_id": None}),
    "one of several ends": ({}, {"eos_token_id": [2, WRITTEN, WRITTEN, 63]}),
    "an end beyond the vocabulary": ({}, {"eos_token_id": [WRITTEN, 999]}),
    "no file for writing": ({"eos_token_id": WRITTEN, "forced_bos_token_id": 9}, None),
    "ends at the last place": ({"forced_eos_token_id": 8}, None),
    "starts by its own file": ({"decoder_start_token_id": 5}, {"decoder_start_token_id": 6}),
    "starts by a list": ({}, {"decoder_start_token_id": [6]}),
    "starts with 0": ({}, {"decoder_start_token_id": 0, "bos_token_id": 6}),
    "begins with one of a list": ({}, {"forced_bos_token_id": [9]}),
    "no padding": ({}, {"pad_token_id": None}),
    "padding that ends": ({}, {"pad_token_id": 2}),
    "nothing suppressed": ({}, {"suppress_tokens": None, "begin_suppress_tokens": []}),
}
"""Name -> values in config.json and in generation_config.json; None: there is no such file."""


def folder_of(model: Any, case: str, folder: Path) -> Path:
    save(model, folder)
    third = generated(model, IDS, 3, eos_token_id=None)[2]
    for name, more in zip(("config.json", "generation_config.json"), CASES[case], strict=True):
        file = folder / name
        if more is None:
            file.unlink()
            continue
        text = json.dumps(json.loads(file.read_text()) | more).replace(f'"{WRITTEN}"', str(third))
        values = {key: value for key, value in json.loads(text).items() if value != ABSENT}
        file.write_text(json.dumps(values))
    return folder


FEW = {
    **{case: ("BART", case) for case in CASES},
    "a start that no file but one names": ("T5", "no padding"),
    "what follows a prompt": ("Llama", "one of several ends"),
}
"""Each case in one family, and one of each other."""


@pytest.mark.parametrize(("family", "case"), cases(product(("BART", "T5", "Llama"), CASES), FEW))
def test_it_writes_what_generate_writes(family: str, case: str, tmp_path: Path) -> None:
    model = writer(family, 1)
    checkpoint = load_checkpoint(folder_of(model, case, tmp_path), "cpu")
    config: Any = checkpoint.config
    theirs = type(model).from_pretrained(tmp_path)
    n = LENGTH + len(config.start_ids[1:])
    for method, options, more in (
        ("greedy", {}, {"num_beams": 1}),
        ("beam", {"beam_size": 3, "length_penalty": 0.0}, {"num_beams": 3, "length_penalty": 0.0}),
    ):
        decoding = decode(checkpoint, TEXT, method, max_len=LENGTH, **options)
        told = {"max_new_tokens": n, "do_sample": False, **more}
        with torch.no_grad():
            right = theirs.generate(torch.tensor([IDS]), **told)[0].tolist()
        right = right if config.start_ids else right[len(IDS) :]
        written = [*config.start_ids, *(token.id for token in decoding.target)]
        first = len(config.start_ids)
        end = next((at for at in range(first, len(right)) if right[at] in config.eos_ids), n + 1)
        assert written == right[: end + 1]


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"decoder_start_token_id": [5, 6]}, "decoder_start_token_id"),
        ({"decoder_start_token_id": 999}, "decoder_start_token_id 999"),
        ({"decoder_start_token_id": -1}, "decoder_start_token_id -1"),
        ({"forced_bos_token_id": 999}, "forced_bos_token_id 999"),
        ({"forced_bos_token_id": -1}, "forced_bos_token_id -1"),
        ({"forced_bos_token_id": [4, 5]}, "forced_bos_token_id"),
        ({"forced_bos_token_id": 2}, "forced_bos_token_id 2"),
        ({"eos_token_id": None}, "eos_token_id 2"),
        ({"eos_token_id": [999, 1000]}, "eos_token_id 1000"),
        ({"suppress_tokens": 5}, "suppress_tokens 5"),
        ({"suppress_tokens": [-1]}, "suppress_tokens"),
        ({"no_repeat_ngram_size": "2"}, "no_repeat_ngram_size"),
        ({"typical_p": 0.3, "top_h": 0.5}, "typical_p 0.3, top_h 0.5"),
    ],
)
def test_what_cannot_be_followed_is_named_and_does_no_harm(
    values: dict[str, Any], word: str, tmp_path: Path
) -> None:
    folder = save(writer("BART", 1), tmp_path)
    file = folder / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))
    checkpoint = load_checkpoint(folder, "cpu")
    assert word in " ".join(checkpoint.about.notes)
    assert decode(checkpoint, TEXT, max_len=3).target
