"""A configuration that exists is one that a model can be built from."""

import json
from typing import Any

import pytest

from transformer.config import ConfigError, ModelConfig


def test_json_round_trip() -> None:
    config = ModelConfig(d_model=64, eos_id=None, norm_order="pre")
    assert ModelConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert config.d_head == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 100, "n_heads": 8}, r"d_model \(100\) must be a multiple of n_heads \(8\)"),
        ({"d_model": 9, "n_heads": 9}, "d_model must be even"),
        ({"n_heads": 0}, "n_heads must be a whole number"),
        ({"max_len": True}, "max_len must be a whole number"),
        ({"vocab_size": "8000"}, "vocab_size must be a whole number.*not '8000'"),
        ({"n_encoder_layers": 2.0}, "n_encoder_layers must be a whole number"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
        ({"dropout": "no"}, "dropout must be at least 0 and below 1, not 'no'"),
        ({"norm_order": "middle"}, "norm_order must be one of"),
        ({"eos_id": 8000}, "eos_id must be a whole number, at least 0 and below 8,000"),
        ({"pad_id": None}, "pad_id must be a whole number"),
        ({"colour": "red"}, "unknown fields colour"),
    ],
)
def test_what_cannot_be_built(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ModelConfig.from_dict(changes)
