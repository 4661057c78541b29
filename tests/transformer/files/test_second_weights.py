"""A file with several sets of one model's weights: which one is shown is said, and the first is."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.transformer.formats import codebases
from tests.transformer.hugging_face.saving import save_tokenizer, writer
from transformer import CheckpointError, load_checkpoint
from transformer.hugging_face.loading import PICKLED


def under(part: str, tensors: dict[str, Any]) -> dict[str, Any]:
    return {f"{part}.{name}": each for name, each in tensors.items()}


def flat(part: str, tensors: dict[str, Any]) -> dict[str, Any]:
    """As LitEma of latent diffusion registers its buffers."""
    return {f"{part}.{name.replace('.', '')}": each for name, each in tensors.items()}


def tree(tensors: dict[str, Any]) -> dict[str, Any]:
    """Dictionaries within each other, one for each part of a name."""
    result: dict[str, Any] = {}
    for name, each in tensors.items():
        *parts, last = name.split(".")
        inside = result
        for part in parts:
            inside = inside.setdefault(part, {})
        inside[last] = each
    return result


ONE = torch.tensor(1)
TWO = {
    "model, ema": ("ema", lambda a, b: {"model": a, "ema": b}),
    "timm": ("state_dict_ema", lambda a, b: {"state_dict": a, "state_dict_ema": b}),
    "BasicSR": ("params_ema", lambda a, b: {"params_ema": b, "params": a}),
    "torch_ema": (
        "ema.shadow_params",
        lambda a, b: {"net": a, "ema": {"decay": 0.9, "shadow_params": [*b.values()]}},
    ),
    "fairseq": ("extra_state.ema", lambda a, b: {"model": a, "extra_state": {"ema": b}}),
    "DINO": ("teacher", lambda a, b: {"teacher": b, "student": a, "epoch": 3}),
    "the best so far": ("best_model", lambda a, b: {"best_model": b, "model": a}),
    "a list of them": ("ema_state.0", lambda a, b: {"model_state": a, "ema_state": [b]}),
    "a callback of Lightning's": (
        "callbacks.EMA.ema_weights",
        lambda a, b: {"state_dict": under("model", a), "callbacks": {"EMA": {"ema_weights": b}}},
    ),
    "ema_pytorch": (
        "ema_model",
        lambda a, b: (
            {**under("ema_model", b), **under("online_model", a)} | {"initted": ONE, "step": ONE}
        ),
    ),
    "LitEma": (
        "model_ema",
        lambda a, b: {"state_dict": {**under("model", a), **flat("model_ema", b)}},
    ),
}
"""Where the second set is, and what was saved of weights and their averages."""
ALONE = {
    "ema_model": lambda a: {"ema_model": a},
    "params_ema": lambda a: {"params_ema": a, "optimizer": {"exp_avg": a}},
    "ema": lambda a: {**under("ema", a), "initted": ONE, "step": ONE},
}
PLAIN = {
    "params": lambda a: {"params": a, "rng_state": {"cpu": torch.zeros(9)}},
    "DeepSpeed": lambda a: {"module": under("module", a), "ds_config": {}},
    "beside its optimizer": lambda a: {"model": a, "optimizer": {"state": {0: {"exp_avg": ONE}}}},
    "AveragedModel": lambda a: {"n_averaged": ONE, **under("module", a)},
    "a tree": lambda a: {"params": tree(a), "step": 3},
    "within another": lambda a: {"checkpoint": {"weights": a}, "epoch": 3},
}


@pytest.fixture
def nano(tmp_path: Path) -> Any:
    """Weights of nanoGPT, and those of its file with another set in place of them."""
    codebases.nano_gpt(tmp_path)
    file = tmp_path / "ckpt.pt"
    saved = torch.load(file, weights_only=True)

    def save(make: Any, *sets: Any) -> tuple[str, torch.Tensor]:
        torch.save({**make(*sets), "model_args": saved["model_args"]}, file)
        checkpoint = load_checkpoint(file, "cpu")
        return " ".join(checkpoint.about.notes), checkpoint.model.state_dict()["positions.table"]

    names = {name: name.removeprefix("_orig_mod.") for name in saved["model"]}
    return {names[name]: each for name, each in saved["model"].items()}, save


def doubled(tensors: dict[str, Any]) -> dict[str, Any]:
    return {name: 2 * each for name, each in tensors.items()}


TABLE = "transformer.wpe.weight"


@pytest.mark.parametrize("kind", TWO)
def test_weights_are_shown_and_the_second_set_is_named(kind: str, nano: Any) -> None:
    (weights, save), (place, make) = nano, TWO[kind]
    notes, table = save(make, weights, doubled(weights))
    assert f"under {place}:" in notes
    torch.testing.assert_close(table, weights[TABLE])


@pytest.mark.parametrize("kind", ALONE)
def test_averages_open_alone_and_are_called_so(kind: str, nano: Any) -> None:
    weights, save = nano
    notes, table = save(ALONE[kind], weights)
    assert f"those under {kind} in" in notes
    torch.testing.assert_close(table, weights[TABLE])


@pytest.mark.parametrize("kind", PLAIN)
def test_one_set_under_the_name_of_a_container_opens(kind: str, nano: Any) -> None:
    weights, save = nano
    notes, table = save(PLAIN[kind], weights)
    assert not notes
    torch.testing.assert_close(table, weights[TABLE])


def test_several_models_are_named(nano: Any) -> None:
    weights, save = nano
    with pytest.raises(CheckpointError, match="generator, discriminator"):
        save(lambda a, b: {"generator": a, "discriminator": b}, weights, doubled(weights))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda a, b: {"model": a, "ema": b}, "under ema:"),
        (lambda a, b: {**under("model", a), **under("ema", b)}, "under ema:"),
        (lambda a, b: {"ema_model": a}, "those under ema_model"),
        (lambda a, b: {"n_averaged": ONE, **under("module", a)}, ""),
    ],
)
def test_a_folder_of_the_library_says_it_too(make: Any, said: str, tmp_path: Path) -> None:
    model = writer("GPT-2")
    model.save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    weights = model.state_dict()
    torch.save(make(weights, doubled(weights)), tmp_path / PICKLED)
    checkpoint: Any = load_checkpoint(tmp_path, "cpu")
    notes = " ".join(checkpoint.about.notes)
    assert said in notes and bool(said) == bool(notes)
    own = checkpoint.model.inner.state_dict()[TABLE]
    torch.testing.assert_close(own, weights[TABLE])
