"""The sizes and choices that define a model; saved beside its weights as JSON."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

NormOrder = Literal["post", "pre"]


class ConfigError(ValueError):
    """A configuration that no model can be built from; the message says which field and why."""


@dataclass(frozen=True)
class ModelConfig:
    """Everything needed to build a model before its weights are loaded.

    The defaults are the base model of "Attention Is All You Need" (AIAYN, table 3, row "base"),
    with this project's vocabulary of 8,000 joint pieces.
    """

    family: str = "encoder_decoder"
    vocab_size: int = 8000
    d_model: int = 512
    d_ff: int = 2048
    n_heads: int = 8
    n_encoder_layers: int = 6
    n_decoder_layers: int = 6
    dropout: float = 0.1
    max_len: int = 256
    """The longest source and the longest target, in tokens."""
    norm_order: NormOrder = "post"
    """"post": norm(x + sublayer(x)), AIAYN section 3.1; "pre": x + sublayer(norm(x))."""
    pad_id: int = 0
    bos_id: int = 1
    """The token that starts every target."""
    eos_id: int | None = 2
    """The token that ends a target; None: a target is as long as its source."""

    def __post_init__(self) -> None:
        for name in _SIZES:
            _require_whole(name, getattr(self, name), at_least=1)
        for name in ("pad_id", "bos_id", "eos_id"):
            if getattr(self, name) is not None or name != "eos_id":
                _require_whole(name, getattr(self, name), at_least=0, below=self.vocab_size)
        if self.d_model % self.n_heads:
            raise ConfigError(
                f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})."
            )
        if self.d_model % 2:
            raise ConfigError(f"d_model must be even for sinusoidal positions, not {self.d_model}.")
        if not isinstance(self.dropout, (int, float)) or not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout must be at least 0 and below 1, not {self.dropout!r}.")
        if self.norm_order not in get_args(NormOrder):
            raise ConfigError(
                f"norm_order must be one of {get_args(NormOrder)}, not {self.norm_order!r}."
            )

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_heads

    def to_dict(self) -> dict[str, Any]:
        """JSON values that `from_dict` takes."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "ModelConfig":
        """Build from JSON values; raises ConfigError on a name or a value that does not belong."""
        if not isinstance(values, dict):
            raise ConfigError(f"fields with their values are needed, not {values!r:.40}.")
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ConfigError(f"unknown fields {', '.join(unknown)}.")
        return cls(**values)


_SIZES = (
    "vocab_size",
    "d_model",
    "d_ff",
    "n_heads",
    "n_encoder_layers",
    "n_decoder_layers",
    "max_len",
)


def _require_whole(name: str, value: object, at_least: int, below: int = 2**31) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value < below:
        limits = f"at least {at_least} and below {below:,}"
        raise ConfigError(f"{name} must be a whole number, {limits}, not {value!r:.40}.")
