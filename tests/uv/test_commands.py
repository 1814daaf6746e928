"""uv does what its arguments say, whatever surrounds the call: every command with the real uv."""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import distributions, pythons
from tests.support.workspace import script, write_files

from greenroom.locks.model import BuildSettings
from greenroom.uv import commands, settings
from greenroom.uv.process import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.index import Index

    from greenroom.uv.process import Outcome

UV = script("uv")
PYTHON = pythons.base()


class Bench:
    """A private folder with a generated configuration, as a build has."""

    def __init__(self, folder: Path, environ: Mapping[str, str], group: Group) -> None:
        self.folder = folder
        self.environ = dict(environ)
        self.group = group
        self.cwd = folder
        self.extra: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self.config = str(folder / "uv.toml")
        self.configure()

    def configure(self, build: BuildSettings | None = None, **more: Any) -> None:
        text = settings.config_text(settings.transport(self.environ), (), build, **more)
        Path(self.config).write_text(text)

    def run(
        self, arguments: tuple[str, ...], *, status: int | None = 0, errors_only: bool = False
    ) -> Outcome:
        outcome = self.group.run(
            (UV, *arguments),
            cwd=str(self.cwd),
            env=settings.variables(self.environ, self.extra),
            errors_only=errors_only,
        )
        assert status in {None, outcome.status}, "\n".join((" ".join(arguments), *outcome.tail))
        return outcome

    def environment(self, name: str = "env") -> Path:
        target = self.folder / name
        self.run(commands.venv(str(target), python=PYTHON.path, config=self.config))
        return target

    def lock(self, *lines: str, **more: Any) -> Path:
        requirements = self.folder / "requirements.in"
        requirements.write_text("\n".join(lines) + "\n")
        out = self.folder / "pylock.x.toml"
        self.run(
            commands.pip_compile(
                [str(requirements)], str(out), python=PYTHON.path, config=self.config, **more
            ),
            errors_only=True,
        )
        return out

    def sync(self, environment: Path, lock: Path, **more: Any) -> Outcome:
        python = str(environment / "bin/python")
        return self.run(commands.pip_sync(str(lock), python=python, config=self.config, **more))

    def build(self, source: Path, **more: Any) -> dict[str, Any]:
        out = self.folder / "out"
        python = more.pop("python", PYTHON.path)
        self.run(commands.build_wheel(str(source), str(out), python=python, config=self.config, **more))
        (wheel,) = out.iterdir()
        with zipfile.ZipFile(wheel) as archive:
            (module,) = (name for name in archive.namelist() if name.endswith("/_built.py"))
            built: dict[str, Any] = {}
            exec(archive.read(module), built)  # noqa: S102 - what the test's own backend wrote
        return built


@pytest.fixture
def bench(tmp_path: Path, environ: dict[str, str]) -> Iterator[Bench]:
    """Open a folder for calls of uv."""
    with Group() as group:
        yield Bench(tmp_path / "private", environ, group)


def _installed(environment: Path) -> dict[str, str]:
    (site,) = environment.glob("lib/python*/site-packages")
    names = (path.name.removesuffix(".dist-info").split("-") for path in site.glob("*.dist-info"))
    return dict(names)


def _versions(lock: Path) -> dict[str, str]:
    return {package["name"]: package["version"] for package in tomllib.loads(lock.read_text())["packages"]}


# --- what each command does ---


def test_an_environment_is_relocatable_empty_and_names_its_base(bench: Bench) -> None:
    environment = bench.environment()
    rows = dict(line.split(" = ", 1) for line in (environment / "pyvenv.cfg").read_text().splitlines())
    assert rows["relocatable"] == "true"
    assert rows["home"] == str(Path(PYTHON.path).parent)
    assert rows["version_info"] == PYTHON.version
    assert rows["include-system-site-packages"] == "false"
    assert _installed(environment) == {}


def test_a_lock_has_files_and_hashes_and_no_command_line(bench: Bench, index: Index) -> None:
    wheel = index.add_wheel("alpha", "1.0")
    text = bench.lock("alpha").read_text()
    (package,) = tomllib.loads(text)["packages"]
    assert package["wheels"][0]["hashes"] == {"sha256": wheel.sha256}
    assert "uv pip compile" not in text
    assert "#" not in text


def test_a_lock_honours_constraints_overrides_and_the_lock_before(bench: Bench, index: Index) -> None:
    for version in ("1.0", "2.0"):
        index.add_wheel("alpha", version, ["beta>1"])
        index.add_wheel("beta", version)
    write_files(bench.folder, {"limits.txt": "alpha<2\n", "overrides.txt": "beta==1.0\n"})
    limits, overrides = (str(bench.folder / name) for name in ("limits.txt", "overrides.txt"))
    lock = bench.lock("alpha", constraints=[limits], overrides=[overrides])
    assert _versions(lock) == {"alpha": "1.0", "beta": "1.0"}
    assert _versions(bench.lock("alpha")) == {"alpha": "1.0", "beta": "2.0"}, "what is pinned stays"
    assert _versions(bench.lock("alpha", upgrade=True)) == {"alpha": "2.0", "beta": "2.0"}


def test_a_lock_is_for_all_platforms_from_the_given_version_on(bench: Bench, index: Index) -> None:
    index.add_wheel("alpha", "1.0")
    index.add_wheel("beta", "1.0")
    lock = bench.lock('alpha; sys_platform == "win32"', "beta", python_version="3.12")
    assert _versions(lock) == {"alpha": "1.0", "beta": "1.0"}
    assert tomllib.loads(lock.read_text())["requires-python"] == ">=3.12"


def test_a_warning_of_the_resolver_is_said(bench: Bench, index: Index) -> None:
    index.add_wheel("alpha", "1.0")
    requirements = bench.folder / "r.in"
    requirements.write_text("alpha[typo]\n")
    out = str(bench.folder / "pylock.x.toml")
    arguments = commands.pip_compile([str(requirements)], out, python=PYTHON.path, config=bench.config)
    tail = bench.run(arguments, errors_only=True).tail
    assert any("typo" in line for line in tail)
    assert not any("sha256" in line for line in tail)


def test_sync_installs_exactly_the_lock(bench: Bench, index: Index) -> None:
    index.add_wheel("alpha", "1.0")
    index.add_wheel("beta", "1.0")
    environment = bench.environment()
    bench.sync(environment, bench.lock("alpha", "beta"))
    assert _installed(environment) == {"alpha": "1.0", "beta": "1.0"}
    tail = bench.sync(environment, bench.lock("beta")).tail
    assert _installed(environment) == {"beta": "1.0"}
    assert not any("experimental" in line for line in tail)
    assert "relocatable = true" in (environment / "pyvenv.cfg").read_text()


def test_an_empty_lock_is_no_error(bench: Bench) -> None:
    lock = bench.folder / "pylock.toml"
    lock.write_text('lock-version = "1.0"\ncreated-by = "test"\npackages = []\n')
    bench.sync(bench.environment(), lock)


@pytest.mark.parametrize("how", ["flag", "variable", "configuration"])
def test_refreshing_works_without_network(bench: Bench, index: Index, how: str) -> None:
    index.add_wheel("alpha", "1.0")
    environment, lock = bench.environment(), bench.lock("alpha")
    bench.sync(environment, lock)
    asked = len(index.requests)
    if how == "variable":
        bench.environ["UV_OFFLINE"] = "1"
    if how == "configuration":
        bench.configure(offline=True)
    bench.sync(environment, lock, refresh=["alpha"], offline=how == "flag")
    assert _installed(environment) == {"alpha": "1.0"}
    assert len(index.requests) == asked


def test_forgetting_a_package_cures_a_damaged_cache(bench: Bench, index: Index, tmp_path: Path) -> None:
    index.add_wheel("alpha", "1.0", files={"alpha/part.py": "V = 1\n"})
    index.add_wheel("beta", "1.0")
    bench.environ["UV_CACHE_DIR"] = str(tmp_path / "cache")
    lock = bench.lock("alpha", "beta")
    bench.sync(bench.environment(), lock)
    (torn,) = (tmp_path / "cache").rglob("part.py")
    torn.unlink()
    environment = bench.environment("second")
    bench.sync(environment, lock, refresh=["alpha"])
    assert not list(environment.rglob("part.py")), "uv reports success, refreshed or not"
    fetched = len(index.downloads)
    bench.run(commands.cache_clean(["alpha"], config=bench.config))
    environment = bench.environment("third")
    bench.sync(environment, lock)
    (part,) = environment.rglob("part.py")
    assert part.read_text() == "V = 1\n"
    assert index.downloads[fetched:] == ("alpha-1.0-py3-none-any.whl",)


def test_the_whole_cache_is_never_emptied() -> None:
    with pytest.raises(ValueError):
        commands.cache_clean([], config="/uv.toml")


@pytest.mark.parametrize("mode", ["copy", "hardlink"])
def test_the_link_mode_is_obeyed(bench: Bench, index: Index, mode: str) -> None:
    index.add_wheel("alpha", "1.0")
    environment = bench.environment()
    bench.sync(environment, bench.lock("alpha"), link_mode=mode)
    (module,) = environment.rglob("alpha/__init__.py")
    assert (module.stat().st_nlink > 1) == (mode == "hardlink")


def test_a_wheel_a_directory_and_an_editable_are_added_without_what_they_need(
    bench: Bench, tmp_path: Path
) -> None:
    name, content, _ = distributions.wheel("alpha", "1.0", requires=["nowhere-to-be-found"])
    wheel = tmp_path / name
    wheel.write_bytes(content)
    plain = distributions.write_source(tmp_path / "plain", "plain", "1.0", requires=["nowhere"])
    editable = distributions.write_source(tmp_path / "editable", "editable", "1.0", requires=["nowhere"])
    environment = bench.environment()
    python = str(environment / "bin/python")
    bench.run(
        commands.pip_install(
            [str(wheel), str(tmp_path / "plain")],
            python=python,
            config=bench.config,
            editable=[str(tmp_path / "editable")],
            refresh=["plain", "editable"],
        )
    )
    assert _installed(environment) == {"alpha": "1.0", "plain": "1.0", "editable": "1.0"}
    assert plain != editable
    (origin,) = environment.rglob("editable-1.0.dist-info/direct_url.json")
    assert json.loads(origin.read_text())["dir_info"] == {"editable": True}


def test_an_edited_module_of_a_directory_is_installed_as_edited(bench: Bench, tmp_path: Path) -> None:
    source = tmp_path / "source"
    distributions.write_source(source, "plain", "1.0", files={"plain/part.py": "V = 2\n"})
    environment = bench.environment()
    lock = bench.folder / "pylock.toml"
    lock.write_text(
        'lock-version = "1.0"\ncreated-by = "test"\n[[packages]]\nname = "plain"\nversion = "1.0"\n'
        f'[packages.directory]\npath = "{source}"\n'
    )
    bench.sync(environment, lock, refresh=["plain"])
    (source / "src/plain/part.py").write_text("V = 3\n")
    other = bench.environment("other")
    bench.sync(other, lock, refresh=["plain"])
    (part,) = other.rglob("plain/part.py")
    assert part.read_text() == "V = 3\n"


def test_a_late_package_comes_from_its_directory_alone(bench: Bench, index: Index, tmp_path: Path) -> None:
    index.add_wheel("late", "2.0")
    index.add_wheel("base", "1.0")
    name, content, _ = distributions.wheel("late", "1.0", requires=["base>5"])
    write_files(tmp_path / "wheels", {name: content})
    environment = bench.environment()
    bench.sync(environment, bench.lock("base"))
    asked = len(index.requests)
    arguments = {
        "python": str(environment / "bin/python"),
        "config": bench.config,
        "find_links": str(tmp_path / "wheels"),
    }
    bench.run(commands.pip_install_late(["late==1.0"], **arguments))
    assert _installed(environment) == {"base": "1.0", "late": "1.0"}
    bench.run(commands.pip_install_late(["late==2.0"], **arguments), status=1)
    assert len(index.requests) == asked


def test_a_build_honours_constraints_from_file_and_configuration(
    bench: Bench, index: Index, tmp_path: Path
) -> None:
    for version in ("1.0", "2.0", "3.0"):
        index.add_wheel("tool", version)
    source = tmp_path / "source"
    distributions.write_source(source, "alpha", "1.0", build_requires=["tool"], imports=["tool"])
    assert bench.build(source)["AGAINST"] == {"tool": "3.0"}
    bench.configure(BuildSettings(build_constraints=("tool<3",)))
    assert bench.build(source)["AGAINST"] == {"tool": "2.0"}
    write_files(tmp_path, {"limits.txt": "tool<2\n"})
    assert bench.build(source, constraints=[str(tmp_path / "limits.txt")])["AGAINST"] == {"tool": "1.0"}


def test_a_build_honours_settings_extra_requirements_and_variables(
    bench: Bench, index: Index, tmp_path: Path
) -> None:
    index.add_wheel("tool", "1.0")
    source = tmp_path / "source"
    distributions.write_source(source, "alpha", "1.0", imports=["tool"], reads=["MY_ARCH", "CFLAGS"])
    bench.environ |= {"CFLAGS": "-O9", "MY_ARCH": "80"}
    bench.extra["MY_ARCH"] = "90"
    bench.configure(
        BuildSettings(
            extra_build_requires=(("alpha", (("tool==1.0", False),)),), config_settings=(("one", '"a"'),)
        )
    )
    built = bench.build(source, settings=[("two", "b")])
    assert built["AGAINST"] == {"tool": "1.0"}
    assert built["VARIABLES"] == {"MY_ARCH": "90", "CFLAGS": None}
    assert built["SETTINGS"] == {"one": "a", "two": "b"}


def test_a_build_without_isolation_sees_the_given_interpreters_packages(
    bench: Bench, index: Index, tmp_path: Path
) -> None:
    index.add_wheel("tool", "7.0")
    source = tmp_path / "source"
    distributions.write_source(source, "alpha", "1.0", build_requires=["nowhere"], imports=["tool"])
    environment = bench.environment()
    bench.sync(environment, bench.lock("tool"))
    built = bench.build(source, python=str(environment / "bin/python"), isolated=False)
    assert built["AGAINST"] == {"tool": "7.0"}


def test_an_sdist_is_built(bench: Bench, tmp_path: Path) -> None:
    name, content, _ = distributions.sdist("alpha", "1.0", reads=["X"])
    write_files(tmp_path, {name: content})
    assert bench.build(tmp_path / name, offline=True)["VARIABLES"] == {"X": None}
    assert sorted(path.suffix for path in (bench.folder / "out").iterdir()) == [".whl"]


def test_the_cache_is_where_the_caller_says(bench: Bench, uv_cache: Path) -> None:
    assert bench.run(commands.cache_dir(config=bench.config)).tail == (str(uv_cache),)


# --- what surrounds a call decides nothing ---

VARIABLES = (
    *(
        "UV_PYTHON={other}/bin/python",
        "UV_SYSTEM_PYTHON=1",
        "UV_PROJECT_ENVIRONMENT={w}/else",
        "UV_TARGET={w}/t",
    ),
    *("UV_OVERRIDE={w}/ov.txt", "UV_CONSTRAINT={w}/ov.txt", "UV_BUILD_CONSTRAINT={w}/ov.txt", "UV_NO_DEPS=1"),
    *("UV_NO_SYNC=1", "UV_FROZEN=1", "UV_LOCKED=1", "VIRTUAL_ENV={other}", "CONDA_PREFIX={other}"),
    *("UV_LINK_MODE=symlink", "PIP_TARGET={w}/t", "PIP_INDEX_URL=http://127.0.0.1:9", "PYTHONPATH={w}/pp"),
    *("PYTHONHOME={w}/ph", "UV_EXCLUDE_NEWER=2000-01-01", "UV_RESOLUTION=lowest", "UV_NO_BINARY=1"),
    *("UV_PRERELEASE=allow", "UV_NO_BUILD=1", "UV_CONFIG_FILE={w}/cfg.toml", "UV_NO_CONFIG=1"),
    *("UV_WORKING_DIR={w}/wd", "UV_WORKING_DIRECTORY={w}/wd", "UV_PROJECT={w}/wd", "UV_EXCLUDE={w}/ov.txt"),
    *(
        "UV_REQUIRE_HASHES=1",
        "UV_PREVIEW=1",
        "UV_MANAGED_PYTHON=1",
        "UV_VENV_SEED=1",
        "UV_COMPILE_BYTECODE=1",
    ),
    *("UV_TORCH_BACKEND=cpu", "UV_NO_CACHE=1", "UV_LOCK_TIMEOUT=0", "UV_NO_BUILD_ISOLATION=1", "UV_BREAK=1"),
)


def _whole(bench: Bench) -> tuple[dict[str, str], dict[str, str], set[str]]:
    """Lock, create and install with a source build, and return what came of it."""
    lock = bench.lock("alpha", "source")
    environment = bench.environment()
    bench.sync(environment, lock)
    (module,) = environment.rglob("alpha/__init__.py")
    assert not module.is_symlink()
    config = (environment / "pyvenv.cfg").read_text()
    return _versions(lock), _installed(environment), set(re.findall(r"home = .*|version_info = .*", config))


def _fill(index: Index) -> None:
    index.add_wheel("alpha", "1.0", ["beta"])
    index.add_wheel("alpha", "2.0", ["beta"])
    index.add_wheel("alpha", "3.0a1", ["beta"])
    index.add_wheel("beta", "1.0")
    index.add_wheel("beta", "2.0")
    index.add_sdist("source", "1.0")


def _expected() -> tuple[dict[str, str], dict[str, str], set[str]]:
    found = {"alpha": "2.0", "beta": "2.0", "source": "1.0"}
    return found, found, {f"home = {Path(PYTHON.path).parent}", f"version_info = {PYTHON.version}"}


@pytest.mark.parametrize("pollution", VARIABLES)
def test_a_variable_of_the_caller_decides_nothing(
    bench: Bench, index: Index, tmp_path: Path, pollution: str
) -> None:
    _fill(index)
    write_files(tmp_path, {"ov.txt": "beta==1.0\n", "cfg.toml": "[pip]\nno-deps = true\n"})
    other = tmp_path / "other"
    bench.run(commands.venv(str(other), python=PYTHON.path, config=bench.config))
    before = sorted(map(str, other.rglob("*")))
    name, _, value = pollution.format(w=tmp_path, other=other).partition("=")
    bench.environ[name] = value
    bench.configure()
    assert _whole(bench) == _expected()
    assert sorted(map(str, other.rglob("*"))) == before
    assert not {"else", "t", "wd"} & {path.name for path in tmp_path.iterdir()}


CONFIGURATIONS: dict[str, dict[str, str]] = {
    "a project above": {"pyproject.toml": '[tool.uv]\noverride-dependencies = ["beta==1.0"]\n'},
    "a workspace above": {
        "pyproject.toml": '[project]\nname = "root"\nversion = "0"\nrequires-python = "<3"\n'
        '[tool.uv.workspace]\nmembers = ["**"]\n'
    },
    "a uv.toml above": {"uv.toml": 'index-url = "http://127.0.0.1:9/simple"\nno-binary = true\n'},
    "a broken uv.toml above": {"uv.toml": "= nonsense"},
    "pip's table above": {"uv.toml": '[pip]\nno-deps = true\npython = "3.2"\ntarget = "/nowhere"\n'},
    "a pinned Python above": {".python-version": "3.12\n", ".python-versions": "3.12\n"},
    "an environment above": {".venv/pyvenv.cfg": "home = /nowhere\n"},
    "a .env above": {".env": "UV_NO_DEPS=1\nUV_OVERRIDE=ov.txt\n"},
    "a user's uv.toml": {
        "home/.config/uv/uv.toml": 'override-dependencies = ["beta==1.0"]\nlink-mode = "symlink"\n'
        "[pip]\nno-deps = true\n"
    },
    "a pip.conf": {"home/.config/pip/pip.conf": "[global]\nindex-url = http://127.0.0.1:9\n"},
    "a user's pinned Python": {"home/.config/uv/.python-version": "3.12\n"},
}


@pytest.mark.parametrize("place", CONFIGURATIONS)
def test_a_configuration_around_the_call_decides_nothing(
    bench: Bench, index: Index, tmp_path: Path, place: str
) -> None:
    _fill(index)
    write_files(tmp_path, CONFIGURATIONS[place])
    bench.cwd = tmp_path / "private"
    bench.configure()
    assert _whole(bench) == _expected()


def test_all_pollutions_together_decide_nothing(bench: Bench, index: Index, tmp_path: Path) -> None:
    _fill(index)
    write_files(tmp_path, {"ov.txt": "beta==1.0\n", "cfg.toml": ""})
    for files in CONFIGURATIONS.values():
        write_files(tmp_path, files)
    for pollution in VARIABLES:
        name, _, value = pollution.format(w=tmp_path, other=tmp_path / "other").partition("=")
        bench.environ[name] = value
    bench.configure()
    assert _whole(bench) == _expected()


def test_credentials_of_a_users_index_work_and_stay_out_of_the_command_line(
    bench: Bench, index: Index, tmp_path: Path
) -> None:
    index.add_wheel("alpha", "1.0")
    index.require_login("bob", "S3CRETPW")
    del bench.environ["UV_DEFAULT_INDEX"]
    url = index.url_with("bob", "S3CRETPW")
    write_files(tmp_path, {"home/.config/uv/uv.toml": f'[[index]]\nurl = "{url}"\ndefault = true\n'})
    bench.configure()
    environment = bench.environment()
    lock = bench.lock("alpha")
    command = commands.pip_sync(str(lock), python=str(environment / "bin/python"), config=bench.config)
    outcome = bench.run(("--verbose", *command))
    assert _installed(environment) == {"alpha": "1.0"}
    assert "S3CRETPW" not in " ".join((*command, *outcome.tail))
