"""Public calls as somebody writes them who checks types: strict checkers agree with what is said.

`make lint` reads it, a test runs it. Where a wrong type is refused, a comment says by which rule:
without it checkers complain, and where it refuses nothing, too.
"""

from pathlib import Path
from typing import assert_type

import numpy as np
import torch
from torch import Tensor, nn

import transformer
import viz
from transformer import (
    Alignment,
    Attention,
    Checkpoint,
    Contrast,
    CorpusSweep,
    Decoding,
    Edit,
    Evidence,
    Label,
    Patching,
    PositionalEncoding,
    Recording,
    Refusal,
    Survey,
    Sweep,
    align,
    chatting,
    contrast,
    decode,
    evidence,
    from_module,
    from_weights,
    labels,
    load_checkpoint,
    load_recording,
    pairing,
    patch,
    record,
    survey,
    sweep,
    sweep_corpus,
    translating,
)
from viz import (
    Picture,
    cell_steps,
    decode_player,
    explore,
    figure,
    head_grid,
    head_map,
    head_view,
    heads_table,
    panels,
    search_tree,
    track,
    word_card,
)

NAME, TEXT = "en-de-small", "Tom bought a new car."
OFF = Edit("head-off", "cross", (0, 1))


def writing(checkpoint: Checkpoint) -> Decoding:
    """Decode by every way of naming a model and what is chosen."""
    assert_type(checkpoint.name, str)
    assert_type(checkpoint.about.examples, tuple[str, ...])
    assert_type(checkpoint.model, nn.Module)
    decoding = decode(checkpoint, TEXT)
    assert_type(decoding, Decoding)
    assert_type(decode(NAME, TEXT, "beam", beam_size=2, edits=["head-off:cross.0.1"]), Decoding)
    assert_type(decode(checkpoint, TEXT, prefix="Tom", force=["Auto"], method="beam"), Decoding)
    assert_type(decoding.text, str)
    assert_type(decoding.log_prob, float)
    assert_type(decoding.is_ended, bool)
    assert_type(decoding.target[0].piece, str)
    assert_type(decoding.steps[0].chosen.prob, float)
    assert_type([each.token.piece for each in decoding.steps[0].candidates], list[str])
    assert_type(decoding.hypotheses[0].log_prob, float)
    return decoding


def recording_of(checkpoint: Checkpoint, decoding: Decoding, folder: Path) -> Recording:
    """Record, of a name and of a checkpoint; look at what is recorded."""
    recording = record(checkpoint, TEXT, decoding.target)
    assert_type(recording, Recording)
    assert_type(record(NAME, TEXT, decoding.text, edits=[OFF, "head-off:cross.0.0"]), Recording)
    cross = recording.attentions["cross"]
    assert_type(cross, Attention)
    assert_type(cross.weights(), Tensor)
    assert_type(cross.weights(1), Tensor)
    assert_type(cross.weights(-1, 0).argmax(), Tensor)
    assert_type(cross.allowed(0), Tensor)
    assert_type(cross.n_layers * cross.n_heads, int)
    assert_type([each.piece for each in cross.keys], list[str])
    for encoding in recording.positions.values():
        assert_type(encoding, PositionalEncoding)
        assert_type(encoding.sum, Tensor)
    assert_type(recording.logits, Tensor | None)
    assert_type(recording.require_logits().softmax(-1), Tensor)
    assert_type(recording.checked.is_right, bool | None)
    path = recording.save(folder / "own.npz")
    assert_type(path, Path)
    assert_type(load_recording(path), Recording)
    return recording


def causes(checkpoint: Checkpoint, decoding: Decoding) -> Evidence:
    """Ask why: evidence, a sweep of edits, another word."""
    result = evidence(checkpoint, TEXT, decoding.target)
    assert_type(result, Evidence)
    assert_type(result.hidden[0], Tensor)
    assert_type(result.cut, Tensor | None)
    assert_type(result.verdicts[0].text, str)
    assert_type(result.lost_words, tuple[int, ...])
    tried = sweep(checkpoint, TEXT, decoding.target, [OFF])
    assert_type(tried, Sweep)
    assert_type(tried.totals.argmin(), Tensor)
    assert_type(tried.edits[0].name, str)
    patching = patch(checkpoint, TEXT, other="Tom bought a new bus.", on_step=lambda: None)
    assert_type(patching, Patching)
    assert_type(list(patching.effects.values()), list[float])
    other = contrast(checkpoint, TEXT, decoding.target, 1, "sah")
    assert_type(other, Contrast)
    assert_type(other.lead, float)
    return result


def many(checkpoint: Checkpoint) -> Survey:
    """Observe heads over sentences, and align words."""
    result = survey(checkpoint, [TEXT, "It rains."] * 10, batch=20)
    assert_type(result, Survey)
    head = result.of("cross", 0, -1)
    assert_type(head.numbers["entropy"].mean, float)
    assert_type(head.numbers["entropy"].low, float | None)
    assert_type(head.footprint, tuple[float, ...])
    assert_type(result.to_csv(), bytes)
    assert_type(labels(result), dict[tuple[str, int, int], tuple[Label, ...]])
    worth = sweep_corpus(NAME, [TEXT, "It rains."], on_step=lambda: None)
    assert_type(worth, CorpusSweep)
    assert_type(worth.worths[0].mean, float)
    words = align(NAME, [TEXT], ["Tom kaufte ein neues Auto."], gold=["0-0 1-1 2-2 3-3 4-4"])
    assert_type(words, Alignment)
    assert_type(words.scores[0].error.mean, float)
    assert_type(words.alignment_heads, list[list[int]])
    return result


def own_arrays() -> Recording:
    """Bring attention that other code computed."""
    weights = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 4, 2))
    result = from_weights({"cross": weights}, queries=["Es", "regnet"], keys=["It", "rains", "."])
    assert_type(result, Recording)
    return result


def own_module(folder: Path) -> Checkpoint:
    """Bring a module: as a checkpoint, as it is, and while it is trained."""
    layer = nn.TransformerEncoderLayer(4, 2, 4, batch_first=True)
    table = nn.Embedding(3, 4)
    inputs = table(torch.tensor([[0, 1, 2]]))
    assert_type(record(layer, inputs, ["a", "b", "c"]), Recording)
    watched = track(layer, inputs, tokens=["a", "b", "c"], every=1)
    with watched:
        watched.step(loss=1.0)
    assert_type(watched.picture(), Picture)
    assert_type(watched.save(folder / "training.csv"), Path)

    def run(ids: Tensor) -> object:
        return layer(table(ids))

    made = from_module(
        layer,
        lambda text: ["abc".index(each) for each in text],
        {"a": 0, "b": 1, "c": 2},
        examples=["abc"],
        run=run,
    )
    assert_type(made, Checkpoint)
    return made


def pictures(recording: Recording, decoding: Decoding, why: Evidence, folder: Path) -> None:
    """Draw, and save as pages and figures."""
    one = head_map(recording, "cross", 0, 1, theme="dark")
    assert_type(one, Picture)
    assert_type(head_view(recording, heads=[0, 1], words=True), Picture)
    assert_type(head_grid(recording, "encoder_self", height=300), Picture)
    assert_type(cell_steps(recording, "cross", 0, 0, 1, 1), Picture)
    assert_type(decode_player(decoding, recording), Picture)
    assert_type(search_tree(decoding), Picture)
    assert_type(word_card(why, 1), Picture)
    figure(recording, "head_heatmap")  # of Plotly, which mypy finds no types of
    assert_type(one.save(folder / "head.html"), Path)
    assert_type(one.svg(width=3.3, words=True), bytes)
    assert_type(panels([one, one], folder / "two.svg", title="Two heads"), Path)


def main(folder: Path) -> None:
    """Run them all; files go to this folder."""
    assert_type(transformer.__version__, str)
    checkpoint = load_checkpoint(NAME, device="cpu")
    assert_type(checkpoint, Checkpoint)
    decoding = writing(checkpoint)
    recording = recording_of(checkpoint, decoding, folder)
    pictures(recording, decoding, causes(checkpoint, decoding), folder)
    assert_type(heads_table(many(checkpoint), numbers=["entropy"]), Picture)
    assert_type(viz.head_map(own_arrays()), Picture)
    assert_type(own_module(folder), Checkpoint)
    try:
        pairing(checkpoint, "Another text.")
    except Refusal as error:  # InputError is one
        assert_type(str(error), str)


def only_read(checkpoint: Checkpoint, recording: Recording, module: nn.Module) -> None:
    """What would take a server, a model of the hub, or a wrong type: nobody runs it."""
    assert_type(explore(module, str.split, ["a", "b"], block=False), str)
    assert_type(explore(NAME, live=True), Picture)
    assert_type(translating(checkpoint, "eng_Latn", "deu_Latn"), Checkpoint)
    assert_type(chatting(checkpoint, messages=[{"role": "user", "content": "Hello"}]), Checkpoint)
    decode(checkpoint, 3)  # type: ignore[arg-type]
    record(checkpoint)  # type: ignore[call-overload]
    survey(checkpoint, 3)  # type: ignore[arg-type]
    head_map(recording, layer="1")  # type: ignore[arg-type]
    head_map(recording, theme="red")  # type: ignore[arg-type]
    head_map(recording, colour="red")  # type: ignore[call-arg]
    viz.head_mop(recording)  # type: ignore[attr-defined]
