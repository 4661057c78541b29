"""Parts are whole or not there, of equal bytes, and a folder of parts is of one run."""

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from transformer.corpus.shards import (
    MANIFEST,
    begin,
    manifest_of,
    missing,
    part,
    shards_of,
    write_part,
)
from transformer.files.foreign_text import Unwritten
from transformer.inputs import InputError

TABLE = pyarrow.table({"a": [1.5, 2.5], "b": ["x", "y"]})


def test_shards_are_all_lines_in_their_order() -> None:
    lines = [f"line {i}" for i in range(600)]
    shards = list(shards_of(lines))
    assert [line for shard in shards for line in shard.lines] == lines
    assert [shard.number for shard in shards] == [0, 1, 2]
    assert all(lines[shard.first] == shard.lines[0] for shard in shards)


def test_what_has_a_part_is_not_missing(tmp_path: Path) -> None:
    shards = list(shards_of("abcd", 1))
    write_part(TABLE, tmp_path, 2)
    assert [shard.number for shard in missing(shards, tmp_path)] == [0, 1, 3]


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    write_part(TABLE, tmp_path / "a", 0)
    write_part(TABLE.slice(0), tmp_path / "b", 0)
    first, second = (part(tmp_path / name, 0).read_bytes() for name in "ab")
    assert first == second


def test_a_folder_with_drafts_and_a_manifest_is_read_as_one_table(tmp_path: Path) -> None:
    """A draft is what a killed writer leaves: the next one of its part takes it away."""
    (tmp_path / MANIFEST).write_text("{}")
    draft = tmp_path / ".part-00001.0f0f.part"
    draft.write_text("PAR1 and no more")
    write_part(TABLE, tmp_path, 0)
    assert pyarrow.parquet.read_table(tmp_path).num_rows == 2
    assert draft.exists()
    write_part(TABLE, tmp_path, 1)
    assert {each.name for each in tmp_path.iterdir()} == {
        *(MANIFEST, "part-00000.parquet", "part-00001.parquet")
    }


def test_what_cannot_be_written_leaves_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(Unwritten, match="part-00000"):
        write_part(TABLE, tmp_path, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data.txt"
    file.write_text("3 7 2\n")
    return file


def test_a_folder_of_the_same_run_is_continued(tmp_path: Path, data: Path) -> None:
    manifest = manifest_of(Path("checkpoints/copy"), data, {"size": 2, "metrics": ("a", "b")})
    begin(tmp_path / "out", manifest)
    write_part(TABLE, tmp_path / "out", 0)
    begin(tmp_path / "out", manifest)
    assert json.loads((tmp_path / "out" / MANIFEST).read_text()) == manifest


def test_a_folder_of_anything_else_is_refused(tmp_path: Path, data: Path) -> None:
    manifest = manifest_of(Path("checkpoints/copy"), data, {"size": 2})
    begin(tmp_path, manifest)
    others = {
        "checkpoint": manifest | {"checkpoint": "0"},
        "file": manifest | {"data": "0"},
        "size: 2, and 3": manifest | {"options": {"size": 3}},
        "torch: ": manifest | {"versions": {**manifest["versions"], "torch": "1.0"}},
    }
    for words, other in others.items():
        with pytest.raises(InputError, match=words):
            begin(tmp_path, other)


@pytest.mark.parametrize("content", ["[]", "{", '{"options": 3}', "{}"])
def test_a_damaged_manifest_is_refused(tmp_path: Path, data: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(InputError, match="another name"):
        begin(tmp_path, manifest_of(Path("checkpoints/copy"), data, {}))


def test_parts_without_a_manifest_are_refused(tmp_path: Path, data: Path) -> None:
    write_part(TABLE, tmp_path, 3)
    with pytest.raises(InputError, match="has parts and no"):
        begin(tmp_path, manifest_of(Path("checkpoints/copy"), data, {}))
