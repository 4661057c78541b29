"""Files of arrays in the page without a server: the pictures, and the refusals, are Python's."""

import io
import json
import subprocess
import zipfile
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors

from tests.node import node
from tests.viz.live.payloads import LIVE, Comparison, Found, tables_of
from transformer import Recording, from_weights, load_checkpoint, load_recording, record
from transformer.analysis.reading import Reading, Selection
from transformer.formats.bare_arrays import NOT_TAKEN, load
from transformer.recording.packing import HEADER
from transformer.refusal import Refusal
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.components.token_rows.token_rows import TITLES, TokenRows
from viz.export import recording_npz
from viz.live.bare_arrays import MOST, NOT_READ, arrays_tables

CHANCE = np.random.default_rng(7)
PIECES = ["▁It", "▁ra", "ins", ".", "</s>"]
READINGS = {
    f"{'words' if words else 'pieces'}, {special}": Reading(words=words, special=special)
    for words in (True, False)
    for special in ("shown", "hidden")
}


def weights(*shape: int, dtype: Any = np.float32) -> Any:
    return CHANCE.dirichlet(np.ones(shape[-1]), shape[:-1]).astype(dtype)


def lower(n: int, n_keys: int) -> Any:
    """Weights of a decoder, in which nothing later is read."""
    values = np.tril(weights(2, 3, n, n_keys), n_keys - n)
    return values / values.sum(-1, keepdims=True)


def saved(text: str, target: str | None, name: str) -> Recording:
    return record(load_checkpoint(name), text, target)


Write = Callable[[Path], object]
"""Writes a file."""


def npz(pack: Any = np.savez, **arrays: Any) -> Write:
    return lambda path: pack(path, **arrays)


def own(**arrays: Any) -> Write:
    texts = {name: arrays.pop(name) for name in ("queries", "keys") if name in arrays}
    return lambda path: from_weights(arrays, **texts).save(path)


def big_end(values: Any) -> Any:
    return values.astype(values.dtype.newbyteorder(">"))


FILES: dict[str, Write] = {
    "float32.npz": npz(cross=weights(2, 3, 4, 5)),
    "packed.npz": npz(np.savez_compressed, cross=weights(2, 3, 4, 5, dtype=np.float64)),
    "half.npz": npz(encoder_self=weights(1, 2, 6, 6, dtype=np.float16)),
    "columns.npz": npz(encoder_self=np.asfortranarray(weights(2, 2, 3, 7))),
    "big_end.npz": npz(cross=big_end(weights(1, 2, 3, 4, dtype=np.float64))),
    "layers.npz": npz(**{f"cross.{i}": weights(3, 4, 5) for i in (1, 0, 2)}),
    "batches_of_one.npz": npz(**{f"cross.{i}.weights": weights(1, 3, 4, 5) for i in (0, 1)}),
    "decoder.npz": npz(decoder_self=lower(6, 6)),
    "cached.npz": npz(decoder_self=lower(2, 6)),
    "every.npz": npz(
        cross=weights(2, 3, 4, 5), decoder_self=lower(4, 4), encoder_self=weights(2, 3, 5, 5)
    ),
    "sums.npz": npz(cross=0.83 * weights(2, 3, 4, 5), encoder_self=3 * weights(1, 1, 5, 5)),
    "one_row.npz": npz(**{f"cross.{i}": weights(3, 1, 5) for i in (0, 1)}),
    "whole_numbers.npz": npz(cross=np.ones((1, 2, 2, 1), np.int64)),
    "long.npz": npz(np.savez_compressed, encoder_self=weights(1, 2, 70, 70)),
    "plain.safetensors": lambda path: save_file({"cross": weights(2, 3, 4, 5)}, path),
    "bits.safetensors": lambda path: save_tensors(
        {"cross": torch.from_numpy(weights(2, 3, 4, 5)).bfloat16()}, path
    ),
    "double.safetensors": lambda path: save_file(
        {f"encoder_self.{i}": weights(3, 5, 5, dtype=np.float64) for i in (0, 1)}, path
    ),
    "own.npz": own(cross=weights(2, 3, 4, 5), queries=["Es", "regnet", ".", "</s>"], keys=PIECES),
    "own_decoder.npz": own(decoder_self=lower(5, 5), queries=["lo@@", "w", "tow@@", "er", "."]),
    "own_parts.npz": own(
        encoder_self={"q": weights(2, 4, 5, 6), "k": weights(2, 2, 5, 6)}, keys=PIECES
    ),
    "masked.npz": own(
        decoder_self={"q": weights(1, 2, 4, 3), "k": weights(1, 2, 4, 3)}, queries=PIECES[:4]
    ),
    "translator.npz": lambda path: saved("It rains.", "Es regnet.", "en-de-small").save(path),
    "generator.npz": lambda path: saved("I would", " like to", "everyday").save(path),
    "classifier.npz": lambda path: saved("It is dull.", None, "sentiment").save(path),
    "downloaded.npz": lambda path: path.write_bytes(
        recording_npz(saved("It rains.", "Es regnet.", "en-de-small"))
    ),
}
COMPUTED = {"own_parts.npz", "masked.npz", "translator.npz", "generator.npz", "classifier.npz"}
"""Files of q and k, of which both compute weights, each in its own order of sums."""


def bare(path: Path) -> Recording:
    with np.load(path) if path.suffix == ".npz" else io.BytesIO() as arrays:
        is_whole = path.suffix == ".npz" and HEADER in arrays.files
    recording = load_recording(path) if is_whole else from_weights(path)
    return replace(recording, logits=None)  # the page shows attention alone


def pictures(recording: Recording) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Each picture, as Python has it and as the page asks for it."""
    result: dict[str, tuple[Any, dict[str, Any]]] = {}
    for name, reading in READINGS.items():
        of = {"reading": {"words": reading.words, "special": reading.special}}
        words = reading.words
        rows = TokenRows(TITLES["text"], words)
        result[f"token_rows {name}"] = rows, {"asWords": words}
        result[f"head_grid {name}"] = HeadGrid(tuple(recording.attentions), reading), of
        for kind, attention in recording.attentions.items():
            place = {"kind": kind, "layer": attention.n_layers - 1, "head": attention.n_heads - 1}
            at = f"{name} {kind}"
            result[f"head_view {at}"] = HeadView(kind, place["layer"], reading), place | of
            result[f"head_map {at}"] = HeadMap(Selection(**place), reading), place | of
    return result


def opened(cases: Sequence[Mapping[str, Any]], **limits: int) -> list[Any]:
    """Ask Node for what the page makes of these files."""
    tables = arrays_tables()
    tables["says"] |= limits
    asked = {"live": str(LIVE), "tables": tables_of("copy"), "own": tables, "cases": cases}
    command = [node(), str(Path(__file__).with_name("arrays.mjs"))]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    results: list[Any] = json.loads(done.stdout)
    return results


def test_pictures_of_a_file_are_those_of_python_field_by_field(tmp_path: Path) -> None:
    cases, recordings = [], {}
    for name, write in FILES.items():
        write(tmp_path / name)
        recordings[name] = bare(tmp_path / name)
        asked = {it: of for it, (_, of) in pictures(recordings[name]).items()}
        cases.append({"path": str(tmp_path / name), "pictures": asked})
    found = Found()
    for (name, recording), given in zip(recordings.items(), opened(cases), strict=True):
        assert "error" not in given, f"{name}: {given['error']}"
        comparison = Comparison(found, name, is_exact=name not in COMPUTED)
        for it, (picture, _) in pictures(recording).items():
            payload = b64decode(given["payloads"][it])
            comparison.payloads(it.split(" ")[0], picture, (recording, None), payload)
        for kind, layers in given["weights"].items():
            for layer, packed in enumerate(layers):
                right = recording.attentions[kind].weights(layer).numpy()
                values = np.frombuffer(b64decode(packed), np.float32).reshape(right.shape)
                if name in COMPUTED:
                    np.testing.assert_allclose(values, right, atol=1e-6)
                else:
                    np.testing.assert_array_equal(values, right)
        about = load(tmp_path / name, torch.device("cpu")).about
        facts = given["facts"]
        assert [*about.notes[1:]] == facts["notes"] and about.examples == (facts["text"],)
    assert not found.lines, "\n".join(found.lines[:40])
    assert found.n_compared > 10_000


def damaged(**arrays: Any) -> Write:
    def write(path: Path) -> None:
        np.savez(path, **arrays)
        path.write_bytes(path.read_bytes()[:-40])

    return write


def objects(path: Path) -> None:
    np.savez(path, cross=np.array([{}], dtype=object))


REFUSED: dict[str, Write] = {
    "batch.npz": npz(cross=weights(2, 3, 4, 5)[None]),
    "batch_of_layer.npz": npz(**{"cross.0": weights(2, 3, 4, 5)}),
    "axes.npz": npz(cross=weights(3, 4, 5)),
    "axes_of_layer.npz": npz(**{"cross.0": weights(4, 5)}),
    "nan.npz": npz(cross=weights(1, 2, 3, 4) * np.array([1, 1, 1, np.nan], np.float32)),
    "infinity.npz": npz(**{"cross.0": np.full((2, 1, 1), np.inf)}),
    "scores.npz": npz(decoder_self=weights(2, 2, 3, 3) - 0.5),
    "missing.npz": npz(**{f"encoder_self.{i}": weights(2, 3, 3) for i in (0, 2)}),
    "twice.npz": npz(cross=weights(1, 2, 3, 3), **{"cross.0": weights(2, 3, 3)}),
    "unlike.npz": npz(**{"cross.0": weights(2, 3, 3), "cross.1": weights(2, 3, 4)}),
    "empty.npz": npz(cross=np.zeros((1, 2, 0, 3))),
    "other.npz": npz(cross=weights(1, 2, 3, 3), logits=np.zeros(3)),
    "none.npz": npz(),
    "other.safetensors": lambda path: save_file({"layer.0": np.zeros(3)}, path),
    "complex.npz": npz(cross=np.zeros((1, 1, 2, 2), np.complex64)),
    "objects.npz": objects,
    "recording.npz": npz(recording=np.array(json.dumps({"format": 9}))),
    "half_recording.npz": npz(recording=np.array('{"format": 1}')),
}


def test_what_is_refused_is_refused_in_pythons_words(tmp_path: Path) -> None:
    sentences = {}
    for name, write in REFUSED.items():
        write(tmp_path / name)
        with pytest.raises(Refusal) as error:
            bare(tmp_path / name)
        sentences[name] = str(error.value).removeprefix(f"{tmp_path.name}: ")
    cases = [{"path": str(tmp_path / name), "pictures": {}} for name in sentences]
    given = [each["error"] for each in opened(cases)]
    assert dict(zip(sentences, given, strict=True)) == sentences


def swollen(path: Path) -> None:
    """Write a zip that unpacks to more than it says."""
    content = io.BytesIO()
    np.save(content, weights(1, 2, 30, 30))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cross.npy", content.getvalue())
    packed = bytearray(path.read_bytes())
    at = packed.rindex(b"PK\x01\x02") + 24
    packed[at : at + 4] = (64).to_bytes(4, "little")
    path.write_bytes(packed)


def test_what_only_the_page_refuses_is_refused_by_name(tmp_path: Path) -> None:
    files: dict[str, tuple[Write, str]] = {
        "notes.txt": (lambda path: path.write_text("It rains."), "is not opened here"),
        "large.npz": (lambda path: path.write_bytes(bytes(300_000)), "is not opened here"),
        "unpacks.npz": (npz(np.savez_compressed, cross=np.zeros((1, 1, 700, 700))), "unpack to"),
        "cut.npz": (damaged(cross=weights(1, 1, 2, 2)), "is not a whole file"),
        "swollen.npz": (swollen, "is not a whole file"),
        "text.npz": (lambda path: path.write_text("It rains."), "is not a whole file"),
        "cut.safetensors": (lambda path: path.write_bytes(b"\x10\0\0\0\0\0\0\0{}"), "not a whole"),
        "parts.npz": (npz(**{"cross.q": weights(1, 1, 2, 2), "cross.k": weights(1, 1, 2, 2)}), "q"),
    }
    for name, (write, _) in files.items():
        write(tmp_path / name)
    cases = [{"path": str(tmp_path / name), "pictures": {}} for name in files]
    given = opened(cases, most=200_000, most_unpacked=1_000_000)
    for (name, (_, says)), result in zip(files.items(), given, strict=True):
        assert result["error"].startswith(name) and says in result["error"]
        assert result["error"].count("\n") == 0
    assert given[1]["error"] == NOT_TAKEN.format(
        name="large.npz", endings=".npz or .safetensors", most="200,000"
    )
    assert given[-1]["error"] == NOT_READ.format(name="parts.npz", what="cross.q")
    assert MOST == 64 << 20
