"""A classifier: an encoder, pooled, and one linear layer (CTransformer of write-up 4)."""

from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers.attention import padding_mask
from transformer.layers.blocks import Encoder
from transformer.layers.embedding import Pool
from transformer.models.family import EMBEDDING, Family, ForcedPass, Ids, Rows
from transformer.models.token_model import TokenModel


class EncoderClassifier(TokenModel):
    """A classifier of texts, into one of `config.classes`."""

    def __init__(self, config: ModelConfig) -> None:
        config.require("n_encoder_layers", "classes")
        super().__init__(config)
        self.encoder = Encoder(config)
        self.pool = Pool(config.pooling)
        self.classify = nn.Linear(config.d_model, len(config.classes))
        self.initialise()

    def forward(self, source: Tensor) -> Tensor:
        """source: [B, S], padded with pad_id -> logits [B, C]."""
        mask = padding_mask(source, self.config.pad_id)
        x = self.encoder(self.embed(source), None if bool(mask.all()) else mask)
        logits: Tensor = self.classify(self.pool(x, mask[:, 0, 0]))
        return logits


def forced_pass(config: ModelConfig, source: Ids, target: Ids | None) -> ForcedPass:
    """There is nothing to force: the text is read once."""
    rows = {"encoder_self": Rows(source, source)}
    return ForcedPass(inputs=(source,), rows=rows, embedded={"text": source})


FAMILY = Family(
    name="encoder_classifier",
    title="Encoder classifier",
    build=EncoderClassifier,
    attentions={"encoder_self": "encoder.layers.*.self_attention.dot_product"},
    forced_pass=forced_pass,
    target="none",
    kept={**EMBEDDING, "pool": "pool", "classify": "classify"},
    reads="text",
)
