"""One family of the library, as a small model that its configuration builds, and what it reads."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.watch.hugging_face import SOURCE, TARGET

Inputs = dict[str, Tensor]


@dataclass(frozen=True)
class Family:
    """A row of the document."""

    model: str
    config: str
    values: Mapping[str, Any]
    """Of the configuration."""
    inputs: Callable[[], Inputs]
    note: str = ""
    """What a reader of its row should know and a recording does not say."""
    says: str = "attentions"
    """What the library returns as its attentions: these, the "scores" before softmax of what is no
    decoder's own, or "other" things: means over heads, windows, several towers in one list."""
    scale: float = 4
    """Of its matrices: fresh ones make weights nearly even."""

    def build(self, attention: str | None = None) -> Any:
        """attention: "eager", or None for what the family does by default."""
        import transformers

        torch.manual_seed(0)
        config = getattr(transformers, self.config)(**_configs(self.values))
        more = {} if attention is None else {"attn_implementation": attention}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a family says of its defaults is its own affair
            model: nn.Module = getattr(transformers, self.model)._from_config(config, **more)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.data.mul_(self.scale)
        return model.eval()

    def said(self) -> dict[str, list[Tensor]]:
        """Kind -> the library's own weights [1, H, Q, K] of each layer; "": of whatever it has."""
        model = self.build("eager")
        torch.manual_seed(0)  # some shuffle patches
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = model(**self.inputs(), output_attentions=True)
        found = {}
        for name, kind in _KINDS.items():
            layers = [each for each in out.get(name) or () if each is not None]
            is_scores = self.says == "scores" and kind != "decoder_self"
            found[kind] = [each.softmax(-1) for each in layers] if is_scores else layers
        return {kind: layers for kind, layers in found.items() if layers}


_KINDS = {
    **{"attentions": "", "encoder_attentions": "encoder_self"},
    **{"decoder_attentions": "decoder_self", "cross_attentions": "cross"},
}


def _configs(values: Mapping[str, Any]) -> dict[str, Any]:
    """Configurations within a configuration are made of their class's name and their values."""
    import transformers

    return {
        name: getattr(transformers, value[0])(**value[1]) if isinstance(value, tuple) else value
        for name, value in values.items()
    }


def ids(n: int = SOURCE) -> Tensor:
    return torch.randint(5, 46, (1, n), generator=torch.Generator().manual_seed(1))


def noise(*shape: int) -> Tensor:
    return torch.randn(1, *shape, generator=torch.Generator().manual_seed(1))


def tokens() -> Inputs:
    return {"input_ids": ids()}


def text() -> Inputs:
    return {**tokens(), "attention_mask": torch.ones(1, SOURCE, dtype=torch.long)}


def texts() -> Inputs:
    """Of an encoder and a decoder."""
    return {**text(), "decoder_input_ids": ids(TARGET)}


def placed() -> Inputs:
    """Words with boxes of a page."""
    return {**text(), "bbox": torch.zeros(1, SOURCE, 4, dtype=torch.long)}


def image(size: int = 12) -> Callable[[], Inputs]:
    return lambda: {"pixel_values": noise(3, size, size)}


def captioned() -> Inputs:
    return {**text(), **image()()}


def frames() -> Inputs:
    return {"pixel_values": noise(2, 3, 12, 12)}


def sound() -> Inputs:
    return {"input_values": noise(400)}


def series() -> Inputs:
    """Of ten moments, and four to come."""
    past = {"past_values": noise(10), "past_time_features": noise(10, 1)}
    future = {"future_values": noise(4), "future_time_features": noise(4, 1)}
    return {**past, "past_observed_mask": torch.ones(1, 10), **future}


def decoder(prefix: str, values: Mapping[str, Any], note: str = "", **more: Any) -> Family:
    return Family(f"{prefix}ForCausalLM", f"{prefix}Config", values, text, note, **more)


def encoder(prefix: str, values: Mapping[str, Any], note: str = "", **more: Any) -> Family:
    return Family(f"{prefix}ForMaskedLM", f"{prefix}Config", values, text, note, **more)


def translator(
    prefix: str,
    values: Mapping[str, Any],
    inputs: Callable[[], Inputs] = texts,
    note: str = "",
    **more: Any,
) -> Family:
    name = f"{prefix}ForConditionalGeneration"
    return Family(name, f"{prefix}Config", values, inputs, note, **more)


def plain(
    prefix: str,
    values: Mapping[str, Any],
    inputs: Callable[[], Inputs],
    note: str = "",
    **more: Any,
) -> Family:
    return Family(f"{prefix}Model", f"{prefix}Config", values, inputs, note, **more)
