"""One small model of each codebase with random weights, saved the way that its code saves it."""

import argparse
import json
import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor

from tests.transformer.formats.reference import (
    hyunwoongko,
    joey_nmt,
    litgpt,
    llama2_c,
    marian,
    original_transformer,
    sam_lynn_evans,
    scalar_norm,
    separate_sizes,
    seq2seq_tutorial,
)
from tests.transformer.formats.reference.annotated import EncoderDecoder
from tests.transformer.formats.reference.attention_is_all_you_need import Transformer
from tests.transformer.formats.reference.former import Former
from tests.transformer.formats.reference.nano_gpt import GPT
from tests.transformer.formats.reference.open_nmt import NMTModel
from tests.transformer.formats.reference.parts import randomised
from tests.transformer.formats.reference.torch_tutorial import Seq2SeqTransformer

SOURCES, TARGETS, D, HEADS = 17, 23, 16, 2


@dataclass(frozen=True)
class Case:
    """A saved model and what it computes. source, target: [1, T] ids."""

    folder: Path
    file: Path
    logits: Callable[..., Tensor]
    """(source, target) or (text) -> [1, T, V]; log probabilities where the code gives these."""
    weights: Callable[..., Tensor]
    """The same -> the weights [1, H, Q, K] of the first layer of `kind`."""
    kind: str
    bos_id: int = 2


def sidecar(folder: Path, **others: Any) -> None:
    (folder / "headscope.json").write_text(json.dumps({"n_heads": HEADS, **others}))


def torch_transformer(folder: Path) -> Case:
    model = randomised(Seq2SeqTransformer(D, HEADS, SOURCES, TARGETS, 24, (2, 3)))
    torch.save(model.state_dict(), folder / "transformer.pth")
    sidecar(folder)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        return model.first_weights(source)

    return Case(folder, folder / "transformer.pth", model, weights, "encoder_self")


def annotated(folder: Path) -> Case:
    model = randomised(EncoderDecoder(D, HEADS, SOURCES, TARGETS, 24, 2))
    torch.save(model.state_dict(), folder / "multi30k_model_final.pt")
    sidecar(folder)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.decoder.layers[0].src_attn.attn

    return Case(folder, folder / "multi30k_model_final.pt", model, weights, "cross", bos_id=0)


def jadore(folder: Path, **changes: Any) -> Case:
    settings = argparse.Namespace(
        src_vocab_size=TARGETS,
        trg_vocab_size=TARGETS,
        src_pad_idx=1,
        trg_pad_idx=1,
        n_layers=2,
        n_head=HEADS,
        d_model=D,
        d_inner_hid=24,
        d_k=6,
        d_v=5,
        scale_emb_or_prj="prj",
        proj_share_weight=True,
        embs_share_weight=True,
        output_dir=None,
    )
    vars(settings).update(changes)
    model = randomised(Transformer(settings))
    saved = {"epoch": 3, "settings": settings, "model": model.state_dict()}
    torch.save(saved, folder / "model.chkpt")

    def weights(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.decoder.layer_stack[0].slf_attn.attn

    return Case(folder, folder / "model.chkpt", model, weights, "decoder_self")


def former(
    folder: Path,
    n_classes: int = 0,
    wide: bool = False,
    old: bool = False,
    concatenated: bool = False,
) -> Case:
    model = randomised(Former(D, HEADS, 2, TARGETS, n_classes, wide, old, concatenated))
    torch.save(model.state_dict(), folder / "former.pt")
    if not wide:
        sidecar(folder, **({"attention_scale": "d_model"} if old else {}))

    def weights(text: Tensor) -> Tensor:
        model(text)
        return model.tblocks[0].attention.attn

    kind = "encoder_self" if n_classes else "decoder_self"
    return Case(folder, folder / "former.pt", model, weights, kind)


def former_classifier(folder: Path) -> Case:
    return former(folder, n_classes=3)


CHARACTERS = "\n !ROMEO:abcdehilnrst y"


def nano_gpt(folder: Path, bias: bool = False) -> Case:
    characters = sorted(set(CHARACTERS))
    arguments = {"n_layer": 2, "n_head": HEADS, "n_embd": D, "block_size": 12, "bias": bias}
    arguments["vocab_size"] = len(characters)
    model = randomised(GPT(**arguments))
    state = {f"_orig_mod.{name}": tensor for name, tensor in model.state_dict().items()}
    optimizer = torch.optim.AdamW([torch.zeros(3, requires_grad=True)]).state_dict()
    saved = {
        "model": state,
        "optimizer": optimizer,
        "model_args": arguments | {"dropout": 0.0},
        "iter_num": 250,
        "best_val_loss": torch.tensor(1.5),
        "config": {"dataset": "shakespeare_char", "learning_rate": 1e-3, "compile": True},
    }
    torch.save(saved, folder / "ckpt.pt")
    stoi = {character: i for i, character in enumerate(characters)}
    meta = {"vocab_size": len(stoi), "itos": dict(enumerate(characters)), "stoi": stoi}
    (folder / "meta.pkl").write_bytes(pickle.dumps(meta))

    def weights(text: Tensor) -> Tensor:
        model(text)
        return model.transformer.h[0].attn.attn

    return Case(folder, folder / "ckpt.pt", model, weights, "decoder_self")


def open_nmt(
    folder: Path, bias: bool = True, shares: bool = False, has_positions: bool = True
) -> Case:
    model = randomised(NMTModel(D, HEADS, 24, (SOURCES, TARGETS), 2, bias, has_positions))
    generator = randomised(torch.nn.Linear(D, TARGETS))
    if shares:
        generator.weight = model.decoder.embeddings.make_embedding.emb_luts[0].weight
    special = ["<unk>", "<blank>", "<s>", "</s>"]
    vocab = {
        "src": special + [f"in{i}" for i in range(SOURCES - 4)],
        "tgt": special + [f"out{i}" for i in range(TARGETS - 4)],
        "data_task": "seq2seq",
    }
    options = argparse.Namespace(
        heads=HEADS,
        max_relative_positions=0,
        position_encoding=has_positions,
        layer_norm="standard",
        norm_eps=1e-6,
        parallel_residual=False,
        pos_ffn_activation_fn="relu",
        share_decoder_embeddings=shares,
        dropout=[0.1],
        data={"corpus": {"path_src": "a"}},
    )
    state, output = model.state_dict(), generator.state_dict()
    saved = {"model": state, "generator": output, "vocab": vocab, "opt": options, "optim": {}}
    torch.save(saved, folder / "model_step_1000.pt")

    def logits(source: Tensor, target: Tensor) -> Tensor:
        return generator(model(source, target))

    def weights(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.encoder.transformer[0].self_attn.attn

    return Case(folder, folder / "model_step_1000.pt", logits, weights, "encoder_self")


def marian_model(folder: Path) -> Case:
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(
        vocab_size=TARGETS + 1,
        d_model=D,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
        encoder_ffn_dim=24,
        decoder_ffn_dim=24,
        max_position_embeddings=32,
        activation_function="swish",
        scale_embedding=True,
        pad_token_id=TARGETS,
        eos_token_id=0,
        decoder_start_token_id=TARGETS,
        forced_eos_token_id=None,
        attn_implementation="eager",
    )
    model = randomised(MarianMTModel(config))
    model.final_logits_bias.normal_(generator=torch.Generator().manual_seed(1))
    marian.as_marian(model)
    options = marian.yaml_array(layers=2, vocab=TARGETS, heads=HEADS, activation="swish")
    arrays = marian.npz_arrays(model, TARGETS) | {"special:model.yml": options}
    np.savez(folder / "model.npz", **arrays)

    def run(source: Tensor, target: Tensor) -> Any:
        return model(input_ids=source, decoder_input_ids=target, output_attentions=True)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        return run(source, target).cross_attentions[0]

    def logits(source: Tensor, target: Tensor) -> Tensor:
        return run(source, target).logits

    return Case(folder, folder / "model.npz", logits, weights, "cross", bos_id=TARGETS)


def ko(folder: Path) -> Case:
    model = randomised(hyunwoongko.Transformer(D, HEADS, SOURCES, TARGETS, 24, 2))
    torch.save(model.state_dict(), folder / "model-3.4512.pt")
    sidecar(folder)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.encoder.layers[0].attention.attn

    return Case(folder, folder / "model-3.4512.pt", model, weights, "encoder_self")


def original(folder: Path) -> Case:
    model = randomised(original_transformer.Transformer(D, HEADS, SOURCES, TARGETS, 2))
    state = model.state_dict()
    saved = {"dataset_name": "IWSLT", "language_direction": "E2G", "num_of_epochs": 20}
    saved |= {"batch_size": 1500, "state_dict": state}
    torch.save(saved, folder / "transformer_000000.pth")
    sidecar(folder)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.decoder.decoder_layers[0].trg_multi_headed_attention.attn

    return Case(folder, folder / "transformer_000000.pth", model, weights, "decoder_self")


def evans(folder: Path) -> Case:
    model = randomised(sam_lynn_evans.Transformer(D, HEADS, SOURCES, TARGETS, 24, 2))
    torch.save(model.state_dict(), folder / "model_weights")
    (folder / "SRC.pkl").write_bytes(b"\x80\x04N.")  # a vocabulary as Python objects: not read
    sidecar(folder)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.decoder.layers[0].attn_2.attn

    return Case(folder, folder / "model_weights", model, weights, "cross")


def tutorial(folder: Path, lengths: tuple[int, int] = (20, 20)) -> Case:
    encoder = seq2seq_tutorial.Coder(SOURCES, D, 2, HEADS, 24, lengths[0])
    decoder = seq2seq_tutorial.Decoder(TARGETS, D, 3, HEADS, 24, lengths[1])
    model = randomised(seq2seq_tutorial.Seq2Seq(encoder, decoder))
    torch.save(model.state_dict(), folder / "tut6-model.pt")
    sidecar(folder)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.encoder.layers[0].self_attention.attn

    return Case(folder, folder / "tut6-model.pt", model, weights, "encoder_self")


def llama(folder: Path, n_kv_heads: int = 1) -> Case:
    sizes = {"dim": D, "n_layers": 2, "n_heads": HEADS, "n_kv_heads": n_kv_heads}
    model = randomised(llama2_c.Transformer(D, 2, HEADS, n_kv_heads, TARGETS, 24))
    arguments = sizes | {"vocab_size": TARGETS, "multiple_of": 8, "max_seq_len": 32, "dropout": 0.0}
    saved = {"model": model.state_dict(), "model_args": arguments, "iter_num": 100}
    saved |= {"best_val_loss": torch.tensor(1.5), "config": {"learning_rate": 5e-4}}
    torch.save(saved, folder / "ckpt.pt")

    def weights(text: Tensor) -> Tensor:
        model(text)
        return model.layers[0].attention.attn

    return Case(folder, folder / "ckpt.pt", model, weights, "decoder_self")


LLAMA = {
    "norm_class_name": "RMSNorm",
    "mlp_class_name": "LLaMAMLP",
    "parallel_residual": False,
    "rotary_percentage": 1.0,
    "bias": False,
}


def lit(folder: Path, **options: Any) -> Case:
    config = litgpt.Config(**options)
    model = randomised(litgpt.GPT(config))
    torch.save({"model": model.state_dict()}, folder / "lit_model.pth")
    (folder / "model_config.yaml").write_text(yaml.safe_dump(asdict(config)))

    def weights(text: Tensor) -> Tensor:
        model(text)
        return model.transformer.h[0].attn.attn

    return Case(folder, folder / "lit_model.pth", model, weights, "decoder_self")


def lit_llama(folder: Path, **options: Any) -> Case:
    return lit(folder, **{**LLAMA, "n_query_groups": 1, **options})


def joey(folder: Path, norm_order: str = "pre", has_config: bool = True) -> Case:
    model = randomised(joey_nmt.Model(D, HEADS, SOURCES, TARGETS, 24, 2, norm_order == "pre"))
    saved = {
        "model_state": model.state_dict(),
        "optimizer_state": {"state": {}, "param_groups": []},
    }
    saved |= {"stats": {"steps": 100, "best_ckpt_score": 30.1}, "train_iter_state": torch.zeros(5)}
    torch.save(saved, folder / "best.ckpt")
    special = ["<unk>", "<pad>", "<s>", "</s>"]
    for side, size in (("src", SOURCES), ("trg", TARGETS)):
        pieces = [*special, *(f"{side}{i}" for i in range(size - 4))]
        (folder / f"{side}_vocab.txt").write_text("\n".join(pieces))
    if has_config:
        stack = {"num_heads": HEADS, "layer_norm": norm_order, "embeddings": {"scale": True}}
        stacks = {name: json.loads(json.dumps(stack)) for name in ("encoder", "decoder")}
        settings = {"name": "small", "model": stacks}
        (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    else:
        sidecar(folder)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.decoder.layers[0].src_trg_att.attn

    return Case(folder, folder / "best.ckpt", model, weights, "cross")


def separate(folder: Path) -> Case:
    sizes = {"n_head": HEADS, "d_k": 6, "d_v": 5}
    model = randomised(separate_sizes.Transformer(D, SOURCES, TARGETS, 24, 2, **sizes))
    for layer in model.decoder.layers:
        layer.FFN.W_2.weight.mul_(0.2)  # no norm follows: logits of 20 would round by 1e-5
    torch.save(model.state_dict(), folder / "transformer.pt")
    sidecar(folder)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        return model.attentions(source, target)[0]

    return Case(folder, folder / "transformer.pt", model, weights, "cross")


def scalar(folder: Path, names: str = "") -> Case:
    model = randomised(scalar_norm.Transformer(D, HEADS, SOURCES, TARGETS, 24, 2, bool(names)))
    torch.save(model.state_dict(), folder / "model.pt")
    sidecar(folder)

    def weights(source: Tensor, target: Tensor) -> Tensor:
        model(source, target)
        return model.decoder.layers[0].cross.attn

    return Case(folder, folder / "model.pt", model, weights, "cross", bos_id=1)


CASES: dict[str, Callable[[Path], Case]] = {
    "torch_transformer": torch_transformer,
    "annotated": annotated,
    "attention_is_all_you_need": jadore,
    "former_generator": former,
    "former_classifier": former_classifier,
    "nano_gpt": nano_gpt,
    "open_nmt": open_nmt,
    "marian": marian_model,
    "hyunwoongko": ko,
    "original_transformer": original,
    "sam_lynn_evans": evans,
    "seq2seq_tutorial": tutorial,
    "llama2_c": llama,
    "joey_nmt": joey,
    "separate_sizes": separate,
    "scalar_norm": scalar,
    "litgpt_llama": lit_llama,
    "litgpt_neox": lit,
}
"""Name of the mapping -> how to make one."""
