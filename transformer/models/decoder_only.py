"""A generator: only the decoder, which continues a text (GPT; GTransformer of write-up 4)."""

from torch import Tensor

from transformer.config import ModelConfig
from transformer.layers.blocks import Decoder, DecoderState, LayerCache
from transformer.models.family import Family, ForcedPass, Ids, Rows
from transformer.models.token_model import TokenWriter


class DecoderOnly(TokenWriter):
    """Causal self-attention over prompt and continuation alike."""

    def __init__(self, config: ModelConfig) -> None:
        config.require("n_decoder_layers")
        super().__init__(config)
        self.decoder = Decoder(config, has_memory=False)
        self.initialise()

    def start(self, source: Tensor) -> DecoderState:
        """Read a prompt [B, S] except its last token, which `first` hands to decoding."""
        state = self.nothing_read()
        if source.size(1) > 1:
            self.advance(state, source[:, :-1])
        return state

    def first(self, source: Tensor) -> Tensor:
        """The token that decoding feeds first: source [B, S] -> [B, 1]."""
        return source[:, -1:]

    def room(self, n_source: int) -> int:
        """Return how many tokens may follow a prompt of n: the last one is never read."""
        return self.config.max_len - n_source + 1

    def forward(self, text: Tensor) -> Tensor:
        """The forced pass. text: [B, T], padded at its end -> logits [B, T, V]."""
        return self.logits(self.states(text))

    def states(self, text: Tensor) -> Tensor:
        """The same up to the last states [B, T, D]."""
        return self.read(self.nothing_read(), text)

    def nothing_read(self) -> DecoderState:
        """The state before the first token."""
        return DecoderState([LayerCache() for _ in self.decoder.layers])


def forced_pass(config: ModelConfig, source: Ids, target: Ids | None) -> ForcedPass:
    """All tokens but the last are read; each row is about to produce the next one."""
    text = [*source, *(target or ())]
    read = text[:-1] if target else text
    rows = Rows(read, read, text[1:] if target else None)
    return ForcedPass(inputs=(read,), rows={"decoder_self": rows}, embedded={"text": read})


def shared(config: ModelConfig) -> list[str]:
    """One matrix, saved once (AIAYN, section 3.4)."""
    if config.tied == "none":
        return []
    return ["embedding.weight is one matrix for the embeddings and the output projection."]


FAMILY = Family(
    name="decoder_only",
    title="Decoder-only generator",
    build=DecoderOnly,
    attentions={"decoder_self": "decoder.layers.*.self_attention.dot_product"},
    forced_pass=forced_pass,
    target="optional",
    reads="prompt",
    shared=shared,
)
