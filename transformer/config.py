"""The sizes and choices that define a model; saved beside its weights as JSON."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args, get_type_hints

from transformer.field_docs import fields_in_help
from transformer.files.foreign_text import some_of
from transformer.in_a_line import in_a_line
from transformer.refusal import Refusal

NormOrder = Literal["post", "pre", "sublayer"]
Norm = Literal["layer", "scalar", "batch", "deviation"]
Activation = Literal["relu", "gelu", "gelu_tanh", "swish"]
AttentionScale = Literal["sqrt", "fourth_root", "d_model", "none"]
AttentionBias = Literal["all", "output", "none"]
Positions = Literal["sinusoidal", "learned", "concatenated", "none"]
Sinusoids = Literal["interleaved", "halves"]
Tied = Literal["all", "output", "none"]
Pooling = Literal["mean", "max"]


NAMED = 6
"""The most unknown fields that a sentence names."""


class ConfigError(Refusal, ValueError):
    """A configuration that no model can be built from; the message says which field and why."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class ModelConfig:
    """Everything needed to build a model before its weights are loaded.

    The defaults are the base model of "Attention Is All You Need" (AIAYN, table 3, row "base"),
    with a vocabulary of 8,000 joint pieces.
    """

    family: str = "encoder_decoder"
    """The name of the kind of model."""
    vocab_size: int = 8000
    """The size for the target, and for the source unless that has its own."""
    source_vocab_size: int | None = None
    """The size for the source only, if it is read with another vocabulary; None: vocab_size."""
    d_model: int = 512
    """Size D of the states between layers."""
    d_ff: int = 2048
    """Size of the feed-forward sublayer's hidden layer."""
    n_heads: int = 8
    """Heads of each attention."""
    n_encoder_layers: int = 6
    """Layers of the encoder."""
    n_decoder_layers: int = 6
    """Layers of the decoder."""
    dropout: float = 0.1
    """The share of numbers that dropout sets to 0 in training."""
    max_len: int = 256
    """The longest source and the longest target, in tokens."""
    norm_order: NormOrder = "post"
    """"post": norm(x + sublayer(x)), AIAYN section 3.1; "pre": x + sublayer(norm(x));
    "sublayer": x + norm(sublayer(x))."""
    norm: Norm = "layer"
    """"scalar": one gain and one bias, eps added to the deviation; "batch": over positions;
    "deviation": a gain and a bias a dimension, eps added to the unbiased deviation."""
    norm_eps: float = 1e-5
    """The small number that keeps a norm from dividing by 0."""
    embedding_norm: bool = False
    """True: encoder and decoder begin with a norm of the embeddings they are given."""
    encoder_norm: bool | None = None
    """A norm that closes the encoder; None: only with norm_order "pre"."""
    decoder_norm: bool | None = None
    """Likewise of the decoder."""
    decoder_feed_norm: bool = True
    """True: the decoder's feed-forward sublayer has a norm."""
    activation: Activation = "relu"
    """The function between the two matrices of the feed-forward sublayer."""
    d_key: int | None = None
    """Size of a head's queries and keys; None: d_model / n_heads."""
    d_value: int | None = None
    """Size of a head's values; None: d_model / n_heads."""
    projections: bool = True
    """False: queries, keys and values are the input itself, softmax(X X^T) X."""
    attention_scale: AttentionScale = "sqrt"
    """Scores times 1/sqrt(d_key); "fourth_root": q and k each times d_key^(-1/4); "d_model": times
    1/sqrt(d_model), however many heads share it; "none"."""
    attention_bias: AttentionBias = "all"
    """The projections of attention with a bias: all, only the output projection, or none."""
    positions: Positions = "sinusoidal"
    """"learned" ones are added; "concatenated" ones are learned and projected back."""
    source_positions: bool = False
    """True: an encoder-decoder with learned positions has a table of its own for the source."""
    sinusoids: Sinusoids = "interleaved"
    """The sines among sinusoidal positions: every other dimension (AIAYN, section 3.5), or
    "halves": all sines, then all cosines, wavelengths from 2 pi to 10000 * 2 pi (Marian)."""
    tied: Tied = "all"
    """The embeddings that are one matrix: source, target and output; target and output; none."""
    output_bias: bool = False
    """True: logits have a bias though the output is tied; an untied output always has one."""
    scaled_embeddings: bool = True
    """Embeddings times sqrt(d_model), AIAYN section 3.4."""
    pooling: Pooling = "mean"
    """A classifier's pooling over positions that are not padding."""
    classes: tuple[str, ...] = ()
    """The names of a classifier's classes."""
    pad_id: int = 0
    """The token that fills up shorter texts of a batch."""
    bos_id: int = 1
    """The token that starts every target."""
    eos_id: int | None = 2
    """The token that ends a target; None: a target is as long as its source."""

    @property
    def eos_ids(self) -> frozenset[int]:
        """The tokens that end a text that is written."""
        return frozenset() if self.eos_id is None else frozenset({self.eos_id})

    def __post_init__(self) -> None:
        if not isinstance(self.family, str):
            raise ConfigError(f"family must be a name, not {self.family!r:.40}.")
        for name, least in _SIZES.items():
            _require_whole(name, getattr(self, name), at_least=least)
        for name in ("pad_id", "bos_id", "eos_id"):
            if getattr(self, name) is not None or name != "eos_id":
                _require_whole(name, getattr(self, name), at_least=0, below=self.vocab_size)
        for name in ("d_key", "d_value", "source_vocab_size"):
            if getattr(self, name) is not None:
                _require_whole(name, getattr(self, name), at_least=1)
        for name, hint in get_type_hints(type(self)).items():
            if get_args(hint) and all(isinstance(choice, str) for choice in get_args(hint)):
                self._require_choice(name, get_args(hint))
            if hint in (bool, bool | None) and not isinstance(getattr(self, name), hint):
                raise ConfigError(f"{name} must be true or false, not {getattr(self, name)!r:.40}.")
        self._require_fit()
        if not isinstance(self.dropout, (int, float)) or not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout must be at least 0 and below 1, not {self.dropout!r:.40}.")
        if not isinstance(self.norm_eps, float) or not 0 < self.norm_eps < 1:
            raise ConfigError(f"norm_eps must be above 0 and below 1, not {self.norm_eps!r:.40}.")

    def _require_choice(self, name: str, choices: tuple[str, ...]) -> None:
        if getattr(self, name) not in choices:
            names = ", ".join(choices)
            raise ConfigError(f"{name} must be one of {names}, not {getattr(self, name)!r:.40}.")

    def _require_fit(self) -> None:
        """Sizes that must go together."""
        if self.d_model % self.n_heads and not (self.d_key and self.d_value):
            raise ConfigError(
                f"d_model ({self.d_model}) must be a multiple of n_heads ({self.n_heads})."
            )
        if self.d_model % 2 and self.positions == "sinusoidal":
            raise ConfigError(f"d_model must be even for sinusoidal positions, not {self.d_model}.")
        if self.d_model < 4 and self.positions == "sinusoidal" and self.sinusoids == "halves":
            raise ConfigError("sinusoids in halves need d_model to be 4 or more.")
        if self.source_vocab_size not in (None, self.vocab_size) and self.tied == "all":
            raise ConfigError("a source vocabulary of its own needs an embedding of its own.")
        if self.source_positions and self.positions in ("sinusoidal", "none"):
            raise ConfigError("source_positions are learned: positions must be, too.")
        if not self.projections and (self.d_key or self.d_value):
            raise ConfigError("d_key and d_value need projections: without, heads split d_model.")

    def require(self, *names: str) -> None:
        """Check for a family that these fields are not 0 or empty. Raises ConfigError."""
        for name in names:
            if not getattr(self, name):
                raise ConfigError(f"{name} must not be {getattr(self, name)!r} in {self.family}.")

    @property
    def d_head(self) -> int:
        """Size of a head's queries and keys."""
        return self.d_key or self.d_model // self.n_heads

    @property
    def score_scale(self) -> float:
        """The factor of q.k, in one way or the other."""
        if self.attention_scale == "none":
            return 1.0
        return float((self.d_model if self.attention_scale == "d_model" else self.d_head) ** -0.5)

    @property
    def d_head_value(self) -> int:
        """Size of a head's values."""
        return self.d_value or self.d_model // self.n_heads

    def to_dict(self) -> dict[str, Any]:
        """JSON values that `from_dict` takes."""
        return asdict(self) | {"classes": list(self.classes)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "ModelConfig":
        """Build from JSON values; raises ConfigError on a name or a value that does not belong."""
        if not isinstance(values, dict):
            raise ConfigError(f"fields with their values are needed, not {values!r:.40}.")
        names = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - names)
        if unknown:
            raise ConfigError(f"unknown fields {some_of(unknown, NAMED)}.")
        classes = values.get("classes", ())
        if not isinstance(classes, (list, tuple)) or not all(isinstance(c, str) for c in classes):
            raise ConfigError(f"classes must be a list of names, not {classes!r:.40}.")
        return cls(**values | {"classes": tuple(classes)})


_SIZES = {
    "vocab_size": 1,
    "d_model": 1,
    "d_ff": 1,
    "n_heads": 1,
    "n_encoder_layers": 0,
    "n_decoder_layers": 0,
    "max_len": 1,
}
"""Whole numbers and the least that each may be."""


def _require_whole(name: str, value: object, at_least: int, below: int = 2**31) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value < below:
        limits = f"at least {at_least} and below {below:,}"
        raise ConfigError(f"{name} must be a whole number, {limits}, not {value!r:.40}.")
