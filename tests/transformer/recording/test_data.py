"""What a recording says of itself."""

from tests.random_maps import random_attention, random_recording


def test_only_a_generator_has_a_prompt() -> None:
    prompts = {
        kind: random_recording(random_attention(1, 1, 4, 5, kind)).n_prompt
        for kind in ("encoder_self", "decoder_self", "cross")
    }
    assert prompts == {"encoder_self": 0, "decoder_self": 5, "cross": 0}
