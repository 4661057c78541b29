"""What every family starts with: token embeddings and positions, and how its weights begin."""

from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers.embedding import TokenEmbedding
from transformer.layers.positions import make_positions


class TokenModel(nn.Module):
    """A module that reads token ids: `embed` makes vectors of them."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = self.make_embedding()
        self.positions, self.join = make_positions(config)
        self.dropout = nn.Dropout(config.dropout)

    def make_embedding(self) -> TokenEmbedding:
        """A matrix of embeddings, beside those that there are."""
        config = self.config
        return TokenEmbedding(config.vocab_size, config.d_model, config.scaled_embeddings)

    def embed(self, ids: Tensor, start: int = 0, embedding: TokenEmbedding | None = None) -> Tensor:
        """ids: [B, T] at positions start .. start+T-1 -> [B, T, D]."""
        x: Tensor = (embedding or self.embedding)(ids)
        if self.positions is not None:
            x = self.join(x, self.positions(ids.size(1), start))
        dropped: Tensor = self.dropout(x)
        return dropped

    def initialise(self) -> None:
        """Glorot's uniform weights for every projection, and no bias at first."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
