"""pack and unpack: what goes in comes out."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.node import node
from viz.components.kit.browser import DTYPES, pack, unpack


def _arrays() -> list[np.ndarray]:
    return [(np.arange(6) * 1.5).reshape(2, 3).astype(dtype) for dtype in DTYPES]


def test_round_trip() -> None:
    header = {"title": "müde ▁ </s>", "n": [1, None]}
    read, arrays = unpack(pack(header, *_arrays(), np.zeros((0, 4), "<f4")))
    assert read == header
    for expected, array in zip([*_arrays(), np.zeros((0, 4), "<f4")], arrays, strict=True):
        assert array.dtype == expected.dtype
        np.testing.assert_array_equal(array, expected)


def test_arrays_that_are_not_contiguous() -> None:
    array = np.arange(6, dtype="<f4").reshape(2, 3).T
    np.testing.assert_array_equal(unpack(pack({}, array))[1][0], array)


def test_a_dtype_the_browser_cannot_read_is_refused() -> None:
    with pytest.raises(TypeError, match="float64"):
        pack({}, np.zeros(2))


def test_the_browser_reads_the_same(tmp_path: Path) -> None:
    (tmp_path / "payload").write_bytes(pack({"piece": "▁"}, *_arrays()))
    file = Path(__file__).parents[4] / "viz" / "components" / "kit" / "unpack.js"
    script = f"""
      import {{ readFileSync }} from "node:fs";
      import {{ unpack }} from {json.dumps(file.as_uri())};
    """
    script += """
      const bytes = readFileSync(process.argv[1] + "/payload");
      const moved = new Uint8Array(bytes.length + 3).subarray(3);  // as within a message
      moved.set(bytes);
      const { header, arrays } = unpack(moved);
      console.log(JSON.stringify([header, arrays.map((a) => [a.shape, [...a]])]));
    """
    command = [node(), "--input-type=module", "-e", script, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    header, arrays = json.loads(done.stdout)
    assert header == {"piece": "▁"}
    for (shape, values), expected in zip(arrays, _arrays(), strict=True):
        assert shape == [2, 3]
        assert values == expected.ravel().tolist()
