"""The digits of docs/own_model.md, hardly trained: what it writes is not what is tested."""

from tests.transformer.own_module.test_examples import built
from transformer import Checkpoint


def build() -> Checkpoint:
    return built("digits")
