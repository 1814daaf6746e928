"""What the caller's surroundings may not decide, and what may not leave: pollution and secrets."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import jobs
from tests.support.capabilities import needs_linux
from tests.support.distributions import write_source

from greenroom.builder import syncing
from greenroom.components import Index as Declared
from greenroom.locks.model import Directory
from greenroom.recipes.model import BuildInputs, Editable, Origins
from greenroom.store import layout
from greenroom.store.layout import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.gate import Gate
    from tests.support.index import Index

    from greenroom.builder.events import Event
    from greenroom.builder.work import Job


@pytest.fixture
def store(store_path: Path) -> Store:
    return Store(path=str(store_path), writable=True)


def sync(work: Sequence[Job], store: Store, environ: dict[str, str], observer: Any = lambda _: None) -> None:
    for result in syncing.sync(work, store, observer=observer, environ=environ):
        assert result.error is None, result.error


def content(root: str) -> dict[str, str]:
    """Return every file of an environment with its digest; what tells times is left out."""
    found = {}
    for folder, _, files in os.walk(root):
        for name in files:
            path = Path(folder, name)
            where = str(path.relative_to(root))
            if where == "greenroom.json" or name == "uv_cache.json":
                continue
            if path.is_symlink():
                found[where] = str(path.readlink())
                continue
            data = path.read_bytes().replace(root.encode(), b"ROOT")
            if name == "RECORD":
                data = b"\n".join(line for line in data.splitlines() if b"uv_cache.json" not in line)
            found[where] = hashlib.sha256(data).hexdigest()
    return found


def variables(tmp: Path) -> dict[str, dict[str, str]]:
    other = tmp / "other"
    return {
        "UV_PYTHON": {"UV_PYTHON": str(other / "bin/python")},
        "UV_SYSTEM_PYTHON": {"UV_SYSTEM_PYTHON": "1"},
        "UV_PROJECT_ENVIRONMENT": {"UV_PROJECT_ENVIRONMENT": str(tmp / "else")},
        "UV_TARGET": {"UV_TARGET": str(tmp / "t"), "PIP_TARGET": str(tmp / "t")},
        "UV_OVERRIDE": {"UV_OVERRIDE": str(tmp / "ov.txt"), "UV_CONSTRAINT": str(tmp / "ov.txt")},
        "UV_NO_DEPS": {"UV_NO_DEPS": "1", "UV_NO_SYNC": "1", "UV_FROZEN": "1"},
        "VIRTUAL_ENV": {"VIRTUAL_ENV": str(other), "CONDA_PREFIX": str(other)},
        "UV_LINK_MODE": {"UV_LINK_MODE": "symlink"},
        "PYTHONPATH": {"PYTHONPATH": str(tmp / "path"), "PYTHONHOME": "/nowhere"},
        "UV_NO_BINARY": {"UV_NO_BINARY": "1", "UV_NO_BUILD": "1", "UV_NO_VERIFY_HASHES": "1"},
        "UV_EXCLUDE_NEWER": {"UV_EXCLUDE_NEWER": "2000-01-01", "UV_PRERELEASE": "allow"},
        "UV_COMPILE_BYTECODE": {"UV_COMPILE_BYTECODE": "1", "UV_PREVIEW": "1"},
        "UV_BUILD_CONSTRAINT": {"UV_BUILD_CONSTRAINT": str(tmp / "ov.txt"), "UV_NO_BUILD_ISOLATION": "1"},
        "UV_LOCK_TIMEOUT": {"UV_LOCK_TIMEOUT": "0", "UV_NO_CACHE": "1"},
        "activated": {"VIRTUAL_ENV": str(other), "PATH": f"{other}/bin:/usr/bin:/bin", "PS1": "(other)"},
        "CFLAGS": {"CFLAGS": "-O9", "MAX_JOBS": "1", "SETUPTOOLS_SCM_PRETEND_VERSION": "9"},
    }


def planted(tmp: Path) -> None:
    """Leave around what a stray configuration could be."""
    (tmp / "ov.txt").write_text("alpha==2.0\nhelper==9.0\n")
    (tmp / "path").mkdir()
    (tmp / "path/sitecustomize.py").write_text("raise SystemExit('stray')\n")
    (tmp / "uv.toml").write_text('[pip]\nno-deps = true\nlink-mode = "symlink"\n')
    (tmp / "pyproject.toml").write_text('[tool.uv]\noverride-dependencies = ["alpha==2.0"]\n')
    (tmp / ".python-version").write_text("3.9\n")
    user = tmp / "home/.config/uv"
    user.mkdir(parents=True)
    (user / "uv.toml").write_text(
        'link-mode = "symlink"\nno-binary = true\ncompile-bytecode = true\n[pip]\nno-deps = true\n'
    )


@pytest.fixture
def made(index: Index) -> Callable[[], Job]:
    index.add_wheel("helper", "1.0")
    source = index.add_sdist("built", "1.0", build_requires=["helper"], imports=["helper"], reads=["CFLAGS"])
    wheel = index.add_wheel("alpha", "1.0", ["never-there"], scripts={"tool": "alpha:main"})
    parts = [jobs.part(index, wheel), jobs.part(index, source, inputs=BuildInputs(variables=(("X", "1"),)))]
    return lambda: jobs.job(parts)


def test_each_pollution_alone_and_all_together_change_neither_key_nor_content_nor_other_places(
    made: Callable[[], Job], environ: dict[str, str], tmp_path: Path
) -> None:
    clean = Store(path=str(tmp_path / "clean"), writable=True)
    job = made()
    sync([job], clean, environ)
    expected = content(clean.environment(job.key))
    assert any(name.endswith("built/_built.py") for name in expected)
    other = tmp_path / "other"
    subprocess.run([job.interpreter.path, "-m", "venv", "--without-pip", other], check=True)
    planted(tmp_path)
    before = content(str(other))
    kinds = variables(tmp_path)
    together: dict[str, str] = {}
    for added in kinds.values():
        together |= added
    for name, added in {**kinds, "together": together}.items():
        store = Store(path=str(tmp_path / f"store-{name}"), writable=True)
        again = made()
        assert again.key == job.key
        sync([again], store, environ | added)
        assert content(store.environment(job.key)) == expected, name
    assert content(str(other)) == before
    for place in ("else", "t", "x"):
        assert not (tmp_path / place).exists()


def test_transport_settings_of_the_user_are_taken(
    another_index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    part = jobs.part(another_index, another_index.add_sdist("alpha", "1.0", build_requires=["helper"]))
    another_index.add_wheel("helper", "1.0")
    user = Path(environ["XDG_CONFIG_HOME"]) / "uv"
    user.mkdir(parents=True)
    cache = tmp_path / "own-cache"
    (user / "uv.toml").write_text(
        f'cache-dir = "{cache}"\n[[index]]\nname = "own"\nurl = "{another_index.url}"\ndefault = true\n'
    )
    bare = {
        name: value for name, value in environ.items() if name not in {"UV_DEFAULT_INDEX", "UV_CACHE_DIR"}
    }
    sync([jobs.job([part])], store, bare)
    assert cache.is_dir()


SECRETS = ("S3CRETPW", "TOK3NVALUE", "p%40ss%2Fw0rd", "p@ss/w0rd")


@needs_linux
def test_planted_secrets_are_in_no_output_log_record_event_or_argument(
    index: Index, another_index: Index, store: Store, environ: dict[str, str], gate: Gate
) -> None:
    index.require_login("bob", "S3CRETPW")
    another_index.require_login("TOK3NVALUE", "p@ss/w0rd")
    parts = [
        jobs.part(index, index.add_wheel("alpha", "1.0")),
        jobs.part(another_index, another_index.add_wheel("beta", "1.0")),
        jobs.part(another_index, another_index.add_sdist("slow", "1.0", gate=gate)),
    ]
    gone = index.add_wheel("gone", "1.0")
    bad = index.add_wheel("bad", "1.0", sha256="0" * 64)
    lost = another_index.add_sdist("lost", "1.0")
    supply = {"indexes": (Declared(name="priv", url=index.url),)}
    work = [jobs.job(parts, supply=supply)]
    work += [jobs.job([jobs.part(index, file)], supply=supply) for file in (gone, bad)]
    work += [jobs.job([jobs.part(another_index, lost)])]
    index.remove(gone.name)
    another_index.remove(lost.name)
    secret = environ | {
        "UV_INDEX_PRIV_USERNAME": "bob",
        "UV_INDEX_PRIV_PASSWORD": "S3CRETPW",
        "UV_INDEX": another_index.url_with("TOK3NVALUE", "p%40ss%2Fw0rd"),
    }
    arguments: list[bytes] = []

    def look() -> None:
        gate.wait()
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                try:
                    arguments.append((process / "cmdline").read_bytes())
                except OSError:
                    continue
        gate.open()

    watcher = threading.Thread(target=look)
    watcher.start()
    events: list[Event] = []
    results = syncing.sync(work, store, observer=events.append, environ=secret)
    watcher.join()
    assert [result.ok for result in results] == [True, False, False, False]
    texts = {"events": repr(events), "results": repr(results), "arguments": repr(arguments)}
    texts["errors"] = " ".join(
        f"{result.error} {result.error!r} {vars(result.error)}" for result in results if result.error
    )
    inner = Path(store.inner)
    for path in (*inner.rglob("*.log"), *inner.rglob("*.json"), Path(store.record(work[0].key))):
        texts[str(path)] = path.read_text()
    assert any(b"uv" in line for line in arguments)
    for where, text in texts.items():
        for word in SECRETS:
            assert word not in text, (where, text[max(0, text.find(word) - 200) : text.find(word) + 50])
    for path in Path(store.environment(work[0].key)).rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            assert not any(word.encode() in data for word in SECRETS), path


def test_rotating_a_credential_builds_nothing(index: Index, store: Store, environ: dict[str, str]) -> None:
    index.require_login("bob", "first")
    job = jobs.job([jobs.part(index, index.add_wheel("alpha", "1.0"))])
    sync([job], store, environ | {"UV_DEFAULT_INDEX": index.url_with("bob", "first")})
    index.require_login("bob", "second")
    (result,) = syncing.sync(
        [job],
        store,
        observer=lambda _: None,
        environ=environ | {"UV_DEFAULT_INDEX": index.url_with("bob", "second")},
    )
    assert (result.ok, result.built) == (True, False)


def editable_job(index: Index, path: Path) -> Job:
    write_source(path, "tinylib", "1.0")
    origin = Origins(name="tinylib", directory=Directory(path=str(path), editable=True))
    part = jobs.source_part("tinylib", Editable(path=str(path)), origin)
    return jobs.job([part, jobs.part(index, index.add_wheel("alpha", "1.0"))])


def test_a_line_break_in_an_editables_path_is_refused_not_half_installed(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path
) -> None:
    job = editable_job(index, tmp_path / "two\nlines")
    (result,) = syncing.sync([job], store, observer=lambda _: None, environ=environ)
    assert "line break" in str(result.error)


@pytest.mark.parametrize("name", ["my env & co", "it's $(touch x); `y` é", 'quoted "a" \\ 100% #x'])
def test_awkward_names_of_directories_are_only_names(
    index: Index, store: Store, environ: dict[str, str], tmp_path: Path, name: str
) -> None:

    path = tmp_path / name
    job = editable_job(index, path)
    sync([job], store, environ)
    said = subprocess.run(
        [store.interpreter(job.key), "-c", "import tinylib, json; print(json.dumps(tinylib.__file__))"],
        capture_output=True, text=True, check=True, env={}, cwd="/",
    )  # fmt: skip
    assert json.loads(said.stdout) == str(path / "src/tinylib/__init__.py")
    assert not (tmp_path / "x").exists()
    assert layout.state(store, job.key)[0] == "ready"
