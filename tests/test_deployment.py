"""docs/deploy/Dockerfile without a container engine: its steps, in an empty folder, are a server.

The server is that of the image, public as it is there; so it is also the one that lines are cut to.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.browser.server import free_port
from tests.load.viewers import get
from tests.load.visitor import Visitor
from tests.representatives import thorough
from viz.__main__ import _parser

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs" / "deploy"
QUERY = {"checkpoint": "copy", "text": "3 7 2 9"}
PORTS = ("8501", "9464")
"""Of the app and of its metrics, as the image has them."""
PLACES = 3
N_CUTS, FEW_CUTS, EVERY = 1000, 150, 40
"""One in so many asks for the page before its line is cut; those between two say nothing."""
POOLS = 40
"""Threads, or open files, that Python and Streamlit may keep for what comes next."""
MOST_MEMORY = 32
"""MiB: one session in three is a new one, and each that stayed would have 0.2."""


def instructions(file: Path) -> list[tuple[str, str]]:
    """Of a Dockerfile's last stage, as (name, arguments)."""
    text = re.sub(r"^\s*#.*\n", "", file.read_text(), flags=re.M).replace("\\\n", " ")
    lines = (line.partition(" ") for line in text.splitlines())
    found = [(name, said.strip()) for name, _, said in lines]
    last = max(i for i, (name, _) in enumerate(found) if name == "FROM")
    return [each for each in found[last:] if each[0]]


def sent_to_the_engine() -> list[Path]:
    """The files that .dockerignore lets through, relative to the top."""
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert "*" in lines  # all is left out, but
    allowed = [ROOT / line.removeprefix("!") for line in lines if line.startswith("!")]
    never = {line.removeprefix("**/") for line in lines if line.startswith("**/")}
    found = (file for each in allowed for file in (each, *each.rglob("*")) if file.is_file())
    return [each.relative_to(ROOT) for each in found if not never & set(each.parts)]


def copied(folder: Path) -> dict[str, list[str]]:
    """Do what COPY says, and give the other instructions: name -> what each says."""
    said: dict[str, list[str]] = {}
    files = sent_to_the_engine()
    for name, arguments in instructions(DEPLOY / "Dockerfile"):
        if name != "COPY" or arguments.startswith("--from="):
            said.setdefault(name, []).append(arguments)
            continue
        *sources, target = shlex.split(arguments)
        for source in map(Path, sources):
            named = [file for file in files if file == source or source in file.parents]
            assert named, f"COPY {source}: there is nothing"
            whole = folder / target / source.name if target.endswith("/") else folder / target
            for file in named:
                place = whole / file.relative_to(source) if file != source else whole
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / file, place)
    return said


@dataclass
class Image:
    """A server that was started as a container of the image would start it."""

    folder: Path
    ports: Mapping[str, str]
    environment: Mapping[str, str]
    health: list[str]
    process: "subprocess.Popen[bytes]"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.ports['8501']}"

    def is_healthy(self) -> bool:
        done = subprocess.run(self.health, env=self.environment, capture_output=True)
        return done.returncode == 0

    def counted(self) -> dict[str, int]:
        """Sessions, threads, open files, and MiB of memory."""
        said = get(f"http://127.0.0.1:{self.ports['9464']}/metrics")[1]
        (sessions,) = re.findall(r"^headscope_sessions (\d+)", said, re.M)
        known = Path("/proc", str(self.process.pid))
        status = dict(re.findall(r"^(\w+):\s*(\d+)", (known / "status").read_text(), re.M))
        return {
            "sessions": int(sessions),
            "threads": int(status["Threads"]),
            "files": len(list((known / "fd").iterdir())),
            "MiB": int(status["VmRSS"]) // 1024,
        }


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    folder = tmp_path_factory.mktemp("app")
    said = copied(folder)
    ports = {each: str(free_port()) for each in PORTS}

    def here(text: str) -> str:
        """With this machine's ports, and its Python in the place of the image's."""
        for usual, free in ports.items():
            text = text.replace(usual, free)
        return text

    set_there = dict(each.split("=", 1) for line in said["ENV"] for each in shlex.split(here(line)))
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    there = {name: value for name, value in set_there.items() if name != "PATH"}
    own = {"HEADSCOPE_HOSTS": "127.0.0.1", "HEADSCOPE_MOST_SESSIONS": str(PLACES)}
    own["HEADSCOPE_LIVE"] = "no"  # it takes half a minute to make
    environment = kept | own | there | {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"}
    (health,) = said["HEALTHCHECK"]
    (started,) = said["CMD"]
    command = json.loads(here(started))
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    python, *rest = json.loads(here(health.partition("CMD ")[2]))
    assert python == "python"
    made = Image(folder, ports, environment, [sys.executable, *rest], process)
    try:
        assert not made.is_healthy()
        until(lambda: process.poll() is None and made.is_healthy())
        yield made
    finally:
        process.terminate()
        process.wait(20)


async def shown(address: str) -> tuple[str, ...]:
    async with Visitor(address, dict(QUERY)) as visitor:
        assert not visitor.errors
        return visitor.shown[1]


@pytest.mark.thorough
def test_the_image_holds_all_that_the_app_needs(image: Image) -> None:
    files = {file for file in image.folder.rglob("*") if file.is_file()}
    assert asyncio.run(shown(image.address))[:4] == tuple("3729")
    assert re.search("<title>.*Headscope</title>", get(image.address, Accept="text/html")[1])
    assert get(f"{image.address}/_stcore/metrics")[0] == 404  # public, without being told so
    # The text, and the search for heads that change it, which a page of strangers counts.
    assert "headscope_runs_total 2" in get(f"http://127.0.0.1:{image.ports['9464']}/metrics")[1]
    left = {file for file in image.folder.rglob("*") if file.is_file()}
    assert left == files  # in a container it may write to /tmp only


def test_the_compose_files_name_what_there_is() -> None:
    said, cuda = (
        yaml.safe_load((DEPLOY / f"compose{kind}.yaml").read_text()) for kind in ("", ".cuda")
    )
    viewers = {name: each for name, each in said["services"].items() if "build" in each}
    upstream = re.findall(r"server (\S+):(\d+)", (DEPLOY / "nginx.conf").read_text())
    assert {name for name, _ in upstream} == set(viewers) == set(cuda["services"])
    exposed = dict(instructions(DEPLOY / "Dockerfile"))["EXPOSE"]
    assert {port for _, port in upstream} == {exposed} == {PORTS[0]}
    for each in (*viewers.values(), *cuda["services"].values()):
        context = (DEPLOY / each["build"]["context"]).resolve()
        assert context == ROOT and (context / each["build"]["dockerfile"]).is_file()
    (mounted,) = said["services"]["proxy"]["volumes"]
    assert (DEPLOY / mounted.split(":")[0]).is_file()


def test_the_compose_files_of_models_fit_the_viewers() -> None:
    """The command is one that the program takes, at the place and with the token of viewers."""
    viewers, more, cuda = (
        yaml.safe_load((DEPLOY / f"compose{kind}.yaml").read_text())["services"]
        for kind in ("", ".models", ".models-cuda")
    )
    assert set(more) == {"models", *(name for name, each in viewers.items() if "build" in each)}
    assert (
        set(cuda) == {"models"} and "networks" not in cuda["models"]
    )  # one file is laid on another
    models, token = more.pop("models"), "HEADSCOPE_MODELS_TOKEN"
    settings = (DEPLOY.parent / "deploy.md").read_text()
    for each in more.values():
        own = each["environment"]
        assert own[token] == models["environment"][token] and not (set(own) - read_by(settings))
        for command in (models["command"], cuda["models"]["command"]):
            python, _, module, *arguments = command
            assert (python, module) == ("python", "viz")
            options = _parser().parse_args(arguments)
            host, _, port = options.address.rpartition(":")
            assert (host, own["HEADSCOPE_MODELS"]) == ("0.0.0.0", f"models:{port}")
            assert port in models["healthcheck"]["test"][-1]
    of_image = (DEPLOY / "Dockerfile").read_text()
    for each in (models, cuda["models"]):
        assert (DEPLOY / each["build"]["context"]).resolve() == ROOT
        assert all(f"\nARG {name}=" in of_image for name in each["build"]["args"])
    assert set(viewers["viewer-1"]["networks"]) == set(models["networks"])
    hardened = ("read_only", "cap_drop", "security_opt", "tmpfs", "restart")
    assert all(models[name] == viewers["viewer-1"][name] for name in hardened)


def read_by(text: str) -> set[str]:
    """The settings that a document tells of."""
    return set(re.findall(r"`(HEADSCOPE_\w+)`", text))


async def cut_off(address: str, n: int, of_those_new: int) -> None:
    """Lose the line n times. One in `of_those_new` is somebody new; the others come back."""
    async with Visitor(address, dict(QUERY)) as known:
        assert known.session and not known.errors
    for i in range(n):
        here = known if i % of_those_new else Visitor(address, dict(QUERY))
        await here.connect()
        await here.cut(asks=i % EVERY == 0)


def grown(image: Image, n_cuts: int) -> int:
    """MiB that lost lines leave behind; threads and files are as they were."""
    before = image.counted()
    asyncio.run(cut_off(image.address, n_cuts, 3))
    until(lambda: image.counted()["sessions"] == 0)
    until(lambda: image.counted()["files"] <= before["files"] + POOLS)
    until(lambda: image.counted()["threads"] <= before["threads"] + POOLS)
    return image.counted()["MiB"] - before["MiB"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
@pytest.mark.parametrize("n_cuts", [FEW_CUTS, thorough(N_CUTS)])
def test_reconnects_leave_nothing(image: Image, n_cuts: int) -> None:
    """Streamlit keeps the last 128 who left for two minutes, as they may come back.

    What Python takes for itself it takes once; sessions that stayed would take as much again.
    """
    asyncio.run(cut_off(image.address, FEW_CUTS, 1))
    until(lambda: image.counted()["sessions"] == 0)
    assert any(grown(image, n_cuts) <= MOST_MEMORY for _ in range(2))
    assert asyncio.run(shown(image.address))[:4] == tuple("3729")  # there is a place
