"""What an engine costs beside the work: a survey by processes and by Ray, against one process.

Processor time of all processes that take part, start and summary included. Wall time would tell
of what else the machine does.
"""

import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from tests.bench.bench import Bench, Row
from tests.bench.model import bench_checkpoint, sentence
from transformer.corpus.shards import SIZE

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / ".venv-cluster/bin/python"
N_SHARDS, PAUSE = 4, 0.05


def run(is_quick: bool) -> list[Row]:
    if not Path("/proc/self/stat").exists():
        return [Row("engines", None, "the processes of a command are only known on Linux")]
    if is_quick:
        checkpoint, lines = "copy", ["3 7 2"] * 2
    else:
        opened = bench_checkpoint()
        checkpoint = opened.name
        lines = [sentence(opened, 6 + i % 8) for i in range(N_SHARDS * SIZE)]
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.txt")
        data.write_text("\n".join(lines))
        here = _seconds(sys.executable, checkpoint, data, "here")
        work = f"survey of {len(lines)} sentences"
        rows = [
            _row(
                f"{work}, 2 processes",
                here,
                _seconds(sys.executable, checkpoint, data, "processes", 2),
            )
        ]
        if is_quick:
            return rows
        ray = f"{work}, 2 actors of Ray"
        if not CLUSTER.exists():
            return [*rows, Row(ray, None, "ray is not installed: sh tests/cluster/install.sh")]
        return [*rows, _row(ray, here, _seconds(str(CLUSTER), checkpoint, data, "ray", 2))]


def _row(name: str, here: float, seconds: float) -> Row:
    cost = f"one process; {seconds - here:.1f} s of processor time more"
    return Row(name, seconds / here, cost)


def _seconds(python: str, checkpoint: str, data: Path, engine: str, jobs: int = 1) -> float:
    """Processor time of a command and of all that it starts, which inherits a variable."""
    mark = f"BENCH={data.parent}/{engine}"
    name, _, value = mark.partition("=")
    out = data.parent / engine
    command = [python, "-m", "transformer", "survey", checkpoint, "--data", str(data)]
    options = ["--out", str(out), "--device", "cpu", "--engine", engine, "--jobs", str(jobs)]
    process = subprocess.Popen(
        [*command, *options],
        env={**os.environ, name: value, "OMP_NUM_THREADS": "1"},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    errors: list[bytes] = []
    reader = threading.Thread(target=lambda: errors.append(process.communicate()[1]))
    reader.start()
    seconds: dict[str, float] = {}
    while reader.is_alive():
        reader.join(PAUSE)
        for each in Path("/proc").glob("[0-9]*"):
            try:
                if each.name in seconds or mark.encode() in (each / "environ").read_bytes():
                    spent = (each / "stat").read_text().rpartition(")")[2].split()[11:13]
                    seconds[each.name] = sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")
            except OSError:  # it has ended meanwhile, or is somebody else's
                continue
    assert process.returncode == 0, errors[0].decode()
    return sum(seconds.values())


BENCH = Bench("engines", run)
