"""Run in a tree that holds one new file of each kind: prints as JSON what came of each."""

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from transformer import Checkpoint, decode, load_checkpoint, record, survey
from transformer.__main__ import main
from transformer.analysis.metrics.metrics import measure
from transformer.analysis.reading import Reading, lenses, read
from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.decoding import default_method
from transformer.discover import discover
from transformer.formats.headscope import read_config, save_checkpoint
from transformer.inspection.survey import inspect
from transformer.tokenizer import NumberTokenizer
from viz.lessons.exercise import read_task
from viz.lessons.subject import Subject, find_place
from viz.stories.reading import shipped_stories

TEXT = "3 7 2 9"
COPY = Path("checkpoints/copy")
NEW = Path("new")


def command(*arguments: str) -> str:
    """What the command line prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main(arguments)
    return printed.getvalue()


def metric(checkpoint: Checkpoint) -> Any:
    recording = record(checkpoint, TEXT, TEXT)
    values = measure(recording.attentions["cross"], 0)
    return {name: values[name].tolist() for name in ("spread", "entropy")}


def lens(checkpoint: Checkpoint) -> Any:
    seen = read(record(checkpoint, TEXT, TEXT), "cross", Reading(lens="excess"))
    return {"title": lenses()["excess"].title, "row": float(seen.values(0)[0, 0].sum())}


def method(checkpoint: Checkpoint) -> Any:
    choose = ("decode", str(COPY), TEXT, "--json", "--method", "ranked")
    texts = [json.loads(command(*choose, "--option", f"rank={rank}"))["text"] for rank in (1, 2)]
    return {"texts": texts, "greedy": decode(checkpoint, TEXT).text, "for": default_method("text")}


def edit(checkpoint: Checkpoint) -> Any:
    choose = ("decode", str(COPY), TEXT, "--json", "--edit")
    answers = [
        json.loads(command(*choose, edit))["hypotheses"][0]
        for edit in (
            "head-against:cross.0.0=1",
            "head-scale:cross.0.0=-1",
            "head-scale:cross.0.0=1",
        )
    ]
    return [each["log_prob"] for each in answers]


def small(**changes: Any) -> ModelConfig:
    sizes = dict.fromkeys(("d_model", "d_ff"), 8) | {"n_heads": 2, "n_encoder_layers": 0}
    few = {"vocab_size": 12, "n_decoder_layers": 2, "max_len": 32, "eos_id": None}
    return ModelConfig(**{**sizes, **few, "tied": "none", **changes})


def built(config: ModelConfig) -> torch.nn.Module:
    torch.manual_seed(0)
    model: torch.nn.Module = discover("transformer.models", "FAMILY")[config.family].build(config)
    return model.eval()


def family(checkpoint: Checkpoint) -> Any:
    config = small(family="reader_writer")
    about = About("New", "", "numbers", (TEXT,), ("decoder_self", 0, 0))
    weights = built(config).state_dict()
    save_checkpoint(NEW / "families" / "new", about, config, weights, NumberTokenizer(12))
    opened = load_checkpoint(NEW / "families" / "new", "cpu")
    decoding = decode(opened, TEXT, default_method(opened.family.reads), max_len=3)
    seen = record(opened, TEXT, decoding.target).attentions["decoder_self"]
    said = inspect(NEW / "families" / "new")
    return {
        "shape": list(seen.weights(1).shape),
        "family": said["family"],
        "ties": said["tied tensors"],
    }


def format(checkpoint: Checkpoint) -> Any:
    folder = NEW / "arrays"
    folder.mkdir(parents=True)
    (folder / "sizes.json").write_text(json.dumps(read_config(COPY)[1].to_dict()))
    for name, tensor in load_file(COPY / "model.safetensors").items():
        np.save(folder / f"{name}.npy", tensor.float().numpy())
    opened = load_checkpoint(folder, "cpu")
    return {"text": decode(opened, TEXT).text, "parameters": inspect(folder)["parameters"]}


def mapping(checkpoint: Checkpoint) -> Any:
    model = built(small(family="decoder_only", d_model=12, n_heads=3))
    names = discover("transformer.formats.mappings", "MAPPING")["plain_names"].names
    theirs = {"embedding": "E", "output": "U"}
    for name, ours in names.items():
        theirs |= {ours.replace("*", str(i)): name.replace("*", str(i + 1)) for i in range(2)}
    state = {}
    for name, tensor in model.state_dict().items():
        place, _, kind = name.rpartition(".")
        state[f"{theirs[place]}.{kind}"] = tensor
    (NEW / "weights").mkdir(parents=True)
    torch.save(state, NEW / "weights" / "model.pt")
    opened = load_checkpoint(NEW / "weights" / "model.pt", "cpu")
    ids = torch.tensor([[3, 4, 5]])
    same = torch.allclose(opened.model(ids), model(ids), atol=1e-6)
    return {"title": opened.about.title, "same": same}


def recipe(checkpoint: Checkpoint) -> Any:
    return {"help": command("train", "--help")}


def shell_command(checkpoint: Checkpoint) -> Any:
    said = command("count", str(COPY), "--unit", "thousands", "--json")
    return {"help": command("--help"), "result": json.loads(said)}


def role(checkpoint: Checkpoint) -> Any:
    head = survey(checkpoint, [TEXT]).of("encoder_self", 0, 0)
    return {name: head.numbers[name].mean for name in ("middle", "middle_chance")}


def engine(checkpoint: Checkpoint) -> Any:
    data = Path("sentences.txt")
    data.write_text("3 7 2\n4 9\n5 6 7\n")
    sweep = ("sweep", str(COPY), "--data", str(data), "--out")
    for name in ("here", "backwards"):
        command(*sweep, f"{name}.csv", "--engine", name)
    here, backwards = (Path(f"{name}.csv").read_text() for name in ("here", "backwards"))
    n_lines, help = len(here.splitlines()), command("sweep", "--help")
    return {"help": help, "lines": n_lines, "same": here == backwards}


def task(checkpoint: Checkpoint) -> Any:
    lesson = shipped_stories()["a-second-look"]
    exercise = lesson.scenes[0].exercise
    recording = record(checkpoint, TEXT, TEXT)
    place = find_place(recording, exercise.head, exercise.row)
    asked, arguments = read_task(exercise.tasks[0])
    seen = Subject(checkpoint, recording, place, arguments)
    first, second = seen.strongest, asked.truth(seen)
    return {
        "asked": asked.ask(seen),
        "weights": [float(seen.weights[i]) for i in (first, second)],
        "lesson": lesson.title,
    }


if __name__ == "__main__":
    copy = load_checkpoint(COPY, "cpu")
    kinds = (
        metric,
        lens,
        method,
        edit,
        family,
        format,
        mapping,
        recipe,
        shell_command,
        task,
        role,
        engine,
    )
    print(json.dumps({kind.__name__: kind(copy) for kind in kinds}))
    sys.exit(0)
