"""What a start of the 223 server directories of nemo-gym 0.7.0 costs when nothing changed.

The directories, their file names and which of them want the same are the real ones. The packages that
they name are replaced by tiny ones, one for each distinct set, and the host that nearly all install
from two folders above is a small project: what is compared is the work of finding out that there is
nothing to do, not the size of what was installed before.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.frame import AtLeast, Comparison, Side, command, timed
from benchmarks.surroundings import PYTHON, Surroundings, index, uv_lock

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.frame import Measure

__all__ = ["status", "status_trusting", "sync", "sync_trusting"]

GYM = "nemo-gym==0.7.0"
GROUPS = (
    *("benchmarks", "environment_servers", "environments"),
    *("resources_servers", "responses_api_agents", "responses_api_models"),
)
SAMPLE = 20
"""Directories that are installed into again; the time is scaled to all of them."""
HOST = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "nemo-gym"
version = "0.7.0"
requires-python = ">=3.11"
dependencies = ["tiny-host"]

[project.optional-dependencies]
dev = ["tiny-dev"]
sandbox = ["tiny-sandbox"]

[tool.setuptools]
packages = ["nemo_gym"]
"""
MANIFESTS = ("requirements.txt", "pyproject.toml")


def status(scratch: Path) -> Comparison:
    """Compare ``greenroom status`` with installing again in every directory."""
    return _against_installs(scratch, "status")


def sync(scratch: Path) -> Comparison:
    """Compare a no-op ``greenroom sync`` with installing again in every directory."""
    return _against_installs(scratch, "sync")


def status_trusting(scratch: Path) -> Comparison:
    """Compare ``greenroom status`` with trusting what ``bin/activate`` says."""
    return _against_trust(scratch, "status")


def sync_trusting(scratch: Path) -> Comparison:
    """Compare a no-op ``greenroom sync`` with trusting what ``bin/activate`` says."""
    return _against_trust(scratch, "sync")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gym:
    around: Surroundings
    root: Path
    directories: tuple[Path, ...]

    def ours(self, word: str) -> Side:
        measure = command([self.around.greenroom, word], cwd=self.root, env=self.around.env)
        return Side(name=f"`greenroom {word}`, {len(self.directories)} directories", measure=measure)

    @property
    def environments(self) -> list[Path]:
        """The sample's environments, made as the project's own launcher makes them."""
        step = len(self.directories) // SAMPLE
        return [directory / ".venv" for directory in self.directories[::step][:SAMPLE]]


def _against_installs(scratch: Path, word: str) -> Comparison:
    gym = _gym(scratch)
    scale = len(gym.directories) / SAMPLE

    def again() -> None:
        for environment in gym.environments:
            _install(gym.around, environment)

    measure = _scaled(timed(again), scale)
    name = f"{len(gym.directories)} × (`uv venv --allow-existing` + `uv pip install`), {SAMPLE} measured"
    return Comparison(
        ours=gym.ours(word), other=Side(name=name, measure=measure), goal=AtLeast(200), rounds=5
    )


def _against_trust(scratch: Path, word: str) -> Comparison:
    gym = _gym(scratch)
    activate = gym.environments[0] / "bin" / "activate"
    _install(gym.around, gym.environments[0])
    count = len(gym.directories)

    def trust() -> None:
        for _ in range(count):
            gym.around.run("bash", "-c", 'source "$0"', str(activate), cwd=gym.root)

    other = Side(name=f"{count} × `bash -c 'source bin/activate'`", measure=timed(trust))
    return Comparison(ours=gym.ours(word), other=other, goal=AtLeast(2), rounds=7)


def _install(around: Surroundings, environment: Path) -> None:
    directory = environment.parent
    around.run(
        around.uv, "venv", "-q", "--allow-existing", "--python", PYTHON, str(environment), cwd=directory
    )
    requirements = ["-r", "requirements.txt"] if (directory / "requirements.txt").exists() else ["-e", "."]
    if (directory / "overrides.txt").exists():
        requirements = ["--override", "overrides.txt", *requirements]
    around.run(
        *(around.uv, "pip", "install", "-q", "--python", str(environment / "bin" / "python"), *requirements),
        cwd=directory,
    )


def _scaled(measure: Measure, factor: float) -> Measure:
    def scaled() -> float:
        return measure() * factor

    return scaled


def _gym(scratch: Path) -> _Gym:
    """Fetch the project, replace what its servers name by tiny packages, and build them all."""
    around = Surroundings(scratch=scratch)
    fetched = scratch / "fetched"
    around.run(
        *(around.uv, "pip", "install", "-q", "--no-deps", "--target", str(fetched)),
        *("--python", PYTHON, "--python-version", "3.13.14", GYM),
        cwd=scratch,
    )
    root = scratch / "gym"
    directories = tuple(_directories(fetched, root))
    tiny = index()
    for name in ("tiny-host", "tiny-dev", "tiny-sandbox"):
        tiny.add_wheel(name, "1.0")
    for directory in directories:
        for name in _write_manifest(fetched / directory.relative_to(root), directory):
            tiny.add_wheel(name, "1.0")
    (root / "pyproject.toml").write_text(HOST, encoding="utf-8")
    (root / "nemo_gym").mkdir()
    (root / "nemo_gym" / "__init__.py").touch()
    patterns = sorted({f"{directory.parent.relative_to(root)}/*" for directory in directories})
    lines = [
        "[discover]",
        f"servers = {patterns!r}",
        "[defaults]",
        "compile-bytecode = false",
    ]
    (root / "greenroom.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.environ["UV_INDEX"] = tiny.url
    for directory in directories:
        if (directory / "pyproject.toml").exists():
            uv_lock(around, directory)
    around.run(around.greenroom, "sync", cwd=root)
    gym = _Gym(around=around, root=root, directories=directories)
    for environment in gym.environments:
        _install(around, environment)
    return gym


def _directories(fetched: Path, root: Path) -> list[Path]:
    """Return where the servers' directories are to be: those that say what they want."""
    found = []
    for group in GROUPS:
        for manifest in sorted((fetched / group).rglob("*")):
            if manifest.name in MANIFESTS and manifest.parent not in found:
                found.append(manifest.parent)
    return [root / directory.relative_to(fetched) for directory in found]


def _write_manifest(real: Path, directory: Path) -> list[str]:
    """Write a directory's manifest with one tiny package in the place of all that it names.

    :returns: the tiny package, if any: none where only the host is wanted.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("overrides.txt",):
        if (real / name).exists():
            (directory / name).write_text("# nothing is overridden here\n", encoding="utf-8")
    if (real / "pyproject.toml").exists():
        text = (real / "pyproject.toml").read_text(encoding="utf-8")
        tiny = _tiny(text)
        (directory / "pyproject.toml").write_text(
            f'[project]\nname = "{directory.name.replace("_", "-")}"\nversion = "0"\n'
            f'requires-python = ">=3.11"\ndependencies = ["{tiny}"]\n',
            encoding="utf-8",
        )
        return [tiny]
    text = (real / "requirements.txt").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.replace("-e nemo-gym", "\n-e nemo-gym").splitlines()]
    host = [line for line in lines if re.match(r"-e nemo-gym.*\.\./\.\.", line)][:1]
    others = sorted({line for line in lines if line and not line.startswith(("#", "-"))})
    names = [_tiny("\n".join(others))] if others else []
    (directory / "requirements.txt").write_text("\n".join([*host, *names]) + "\n", encoding="utf-8")
    return names


def _tiny(text: str) -> str:
    return f"tiny-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
