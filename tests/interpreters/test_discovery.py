"""Interpreters are asked what they are, and found whatever surrounds the question."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from packaging.markers import default_environment
from packaging.tags import sys_tags
from tests.support import pythons
from tests.support.capabilities import needs_other_patch, needs_python
from tests.support.workspace import script, write_files

from greenroom.components import Origin
from greenroom.errors import PythonBroken, PythonNotFound, PythonTooOld, UvMissing
from greenroom.interpreters import asking, discovery

if TYPE_CHECKING:
    from collections.abc import Mapping

    from greenroom.interpreters.model import Interpreter

BASE = pythons.base()
ORIGIN = Origin(file="/app/greenroom.toml", line=7, key="[servers.math] python")
NO_UV = {"GREENROOM_UV": "/nowhere/uv"}
"""Whoever asks uv with these variables fails."""


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Return the variables of a user whose PATH has no interpreter."""
    return {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "UV_CACHE_DIR": str(tmp_path / "uv-cache"),
        "PATH": str(tmp_path / "nothing"),
    }


@pytest.fixture
def driver(variables: dict[str, str]) -> Interpreter:
    """Return the tests' own base interpreter."""
    return discovery.inspect(BASE.path, variables)


def _script(path: Path, *lines: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("#!/bin/sh", "PATH=/usr/bin:/bin", *lines)) + "\n")
    path.chmod(0o755)
    return str(path)


def _shim(path: Path, target: str) -> str:
    return _script(path, f'exec "{target}" "$@"')


def _copy(place: Path, *, version: str = BASE.minor, of: str = BASE.path) -> Path:
    """Make a small installation: an own binary, the library of the real one."""
    binary = place / f"bin/python{version}"
    binary.parent.mkdir(parents=True)
    shutil.copy2(of, binary)
    (place / "lib").symlink_to(Path(of).parent.parent / "lib")
    return binary


def _answering(path: Path, **facts: Any) -> str:
    """Make a program that answers the probe as an interpreter of these facts would."""
    answer = {
        "version_info": [3, 12, 4, "final", 0],
        "implementation": "cpython",
        "cache_tag": "cpython-312",
        "base": str(path),
        "platform": "linux-x86_64",
        "magic": "00",
        "libc": "",
        "suffix": "",
        "markers": {"python_version": "3.12"},
        "tags": ["cp312-cp312-linux_x86_64"],
    } | facts
    return _script(path, f"cat <<'END'\n{json.dumps(answer)}\nEND")


# --- what an interpreter is ---


def test_an_interpreter_says_what_this_one_knows_of_itself(variables: dict[str, str]) -> None:
    found = discovery.inspect(BASE.path, variables)
    assert found.path == BASE.path
    assert found.version == BASE.version
    assert found.implementation == sys.implementation.name
    assert found.cache_tag == sys.implementation.cache_tag
    assert dict(found.markers) == dict(default_environment())
    assert found.tags == tuple(map(str, sys_tags()))
    assert found.abi == next(sys_tags()).abi
    state = Path(BASE.path).stat()
    assert found.stat == (state.st_ino, state.st_size, state.st_mtime_ns)


@pytest.mark.parametrize("installed", pythons.installed(), ids=lambda one: one.version)
def test_every_interpreter_of_this_machine_answers(
    variables: dict[str, str], installed: pythons.Installed
) -> None:
    found = discovery.inspect(installed.path, variables)
    assert (found.path, found.version) == (installed.path, installed.version)
    assert dict(found.markers)["python_full_version"] == installed.version
    assert "py3-none-any" in found.tags
    assert found.tags[0].startswith(f"cp{installed.minor.replace('.', '')}-")


@pytest.mark.parametrize("installed", pythons.installed(), ids=lambda one: one.version)
def test_tags_told_from_outside_are_those_told_from_inside(
    variables: dict[str, str], installed: pythons.Installed
) -> None:
    found = discovery.inspect(installed.path, variables)
    facts = asking._facts(installed.path, variables)
    assert set(asking._tags(installed.path, facts)) == set(found.tags)


def test_the_same_interpreter_by_another_path_is_the_same(tmp_path: Path, variables: dict[str, str]) -> None:
    real = discovery.inspect(BASE.path, variables)
    link = tmp_path / "link"
    link.symlink_to(BASE.path)
    (tmp_path / "link to link").symlink_to(link)
    folder = tmp_path / "folder"
    folder.symlink_to(Path(BASE.path).parent)
    ways = (
        link,
        tmp_path / "link to link",
        folder / Path(BASE.path).name,
        _shim(tmp_path / "shim", BASE.path),
    )
    assert {discovery.inspect(str(way), variables) for way in ways} == {real}


def test_a_directory_stands_for_its_interpreter(tmp_path: Path, variables: dict[str, str]) -> None:
    binary = _copy(tmp_path / "py")
    (tmp_path / "py/bin/python").symlink_to(binary)
    assert discovery.inspect(str(tmp_path / "py"), variables).path == str(binary)


@pytest.mark.parametrize("installed", pythons.installed(), ids=lambda one: one.version)
@pytest.mark.parametrize("how", ["--symlinks", "--copies", "uv"])
def test_an_environment_leads_to_its_base(
    tmp_path: Path, variables: dict[str, str], how: str, installed: pythons.Installed
) -> None:
    place = tmp_path / "env"
    tool = (script("uv"), "venv", "-q", "--no-config", "-p", installed.path, str(place))
    own = (installed.path, "-m", "venv", "--without-pip", how, str(place))
    made = subprocess.run(tool if how == "uv" else own, capture_output=True, env=variables, check=False)
    if made.returncode != 0 and how != "uv":
        pytest.skip(f"this Python cannot make environments: {made.stderr.decode()[-200:]}")
    found = discovery.inspect(str(place / "bin/python"), variables)
    assert (found.path, found.version) == (installed.path, installed.version)
    assert discovery.inspect(str(place), variables) == found


def test_an_environment_in_an_environment_leads_to_the_base(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    for python, place in ((BASE.path, "one"), (str(tmp_path / "one/bin/python"), "two")):
        subprocess.run([python, "-m", "venv", "--without-pip", str(tmp_path / place)], check=True)
    assert discovery.inspect(str(tmp_path / "two"), variables).path == BASE.path


@pytest.mark.parametrize(
    "pollution",
    [
        *("PYTHONHOME={w}", "PYTHONPATH={w}", "PYTHONSTARTUP={w}/packaging.py", "VIRTUAL_ENV={w}"),
        *("PYTHONPLATLIBDIR=x", "_PYTHON_HOST_PLATFORM=beos-7", "_PYTHON_SYSCONFIGDATA_NAME=x"),
        *("PYTHONOPTIMIZE=2", "PYTHONEXECUTABLE=/bin/sh", "__PYVENV_LAUNCHER__=/bin/sh", "CONDA_PREFIX={w}"),
        *(
            "PYTHONDEVMODE=1",
            "PYTHONVERBOSE=1",
            "PYTHONPYCACHEPREFIX={w}",
            "PYTHONWARNINGS=error",
            "UV_PYTHON=x",
        ),
    ],
)
def test_a_variable_changes_nothing_that_an_interpreter_says(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter, pollution: str
) -> None:
    write_files(tmp_path, {"packaging.py": "raise SystemExit(9)", "json.py": "raise SystemExit(9)"})
    name, _, value = pollution.format(w=tmp_path).partition("=")
    polluted = variables | {name: value, "XDG_CACHE_HOME": str(tmp_path / "other")}
    assert discovery.inspect(BASE.path, polluted) == driver


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("exit 3",), "status 3"),
        (("echo some words >&2; exit 1",), "some words"),
        (("echo hello",), "does not answer as Python does"),
        (("true",), "does not answer as Python does"),
        (("echo '[1, 2]'",), "makes no sense"),
        (("echo '{}'",), "makes no sense"),
        (("echo '{\"version_info\": [3, 12]}'",), "makes no sense"),
        (("kill -9 $$",), "status -9"),
    ],
)
def test_something_else_is_an_error_with_its_words(
    tmp_path: Path, variables: dict[str, str], lines: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(PythonBroken, match=reason) as caught:
        discovery.inspect(_script(tmp_path / "python", *lines), variables)
    assert str(tmp_path / "python") in str(caught.value)


def test_what_cannot_be_started_is_an_error(tmp_path: Path, variables: dict[str, str]) -> None:
    write_files(tmp_path, {"text": "no program", "folder/x": ""})
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("missing", "text", "folder", "dangling", "loop"):
        with pytest.raises(PythonBroken):
            discovery.inspect(str(tmp_path / name), variables)


@pytest.mark.parametrize("version", [[3, 7, 16, "final", 0], [2, 7, 18, "final", 0], [3, 8, 0, "alpha", 1]])
def test_a_python_that_is_too_old_is_said_to_be(
    tmp_path: Path, variables: dict[str, str], version: list[object]
) -> None:
    path = _answering(tmp_path / "python", version_info=version)
    if version[1] == 8:
        assert discovery.inspect(path, variables).version == "3.8.0a1"
        return
    with pytest.raises(PythonTooOld, match=r"at least 3.8 is needed"):
        discovery.inspect(path, variables)


# --- what is remembered ---


def test_an_interpreter_is_asked_once(variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = discovery.inspect(BASE.path, variables)
    monkeypatch.setattr(asking, "ask", None)
    assert discovery.inspect(BASE.path, variables) == found


def test_one_that_was_replaced_is_asked_again(tmp_path: Path, variables: dict[str, str]) -> None:
    binary = _copy(tmp_path / "py")
    before = discovery.inspect(str(binary), variables)
    os.utime(binary, (1, 1))
    after = discovery.inspect(str(binary), variables)
    assert after.stat[2] == 1_000_000_000
    assert replace(after, stat=before.stat) == before


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000, b'{"path": 1}', None]
)
def test_a_damaged_memory_is_thrown_away(variables: dict[str, str], content: bytes | None) -> None:
    found = discovery.inspect(BASE.path, variables)
    (memory,) = Path(variables["XDG_CACHE_HOME"]).rglob("*.json")
    whole = json.loads(memory.read_bytes())
    memory.write_bytes(json.dumps(whole | {"tags": [1]}).encode() if content is None else content)
    assert discovery.inspect(BASE.path, variables) == found
    assert json.loads(memory.read_bytes()) == whole


def test_a_memory_of_another_interpreter_does_not_count(tmp_path: Path, variables: dict[str, str]) -> None:
    found = discovery.inspect(BASE.path, variables)
    (memory,) = Path(variables["XDG_CACHE_HOME"]).rglob("*.json")
    memory.write_text(memory.read_text().replace(BASE.path, str(tmp_path)))
    assert discovery.inspect(BASE.path, variables) == found


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path, variables: dict[str, str]) -> None:
    (tmp_path / "cache").write_text("a file")
    assert discovery.inspect(BASE.path, variables).path == BASE.path
    assert (tmp_path / "cache").read_text() == "a file"


# --- which one a request gets ---


def test_the_driver_is_the_named_one_then_the_declared_then_greenrooms_own(
    tmp_path: Path, variables: dict[str, str]
) -> None:
    named, declared = (_answering(tmp_path / name / "python") for name in ("named", "declared"))
    assert discovery.driver(declared, variables | {"GREENROOM_DRIVER": named}).path == named
    assert discovery.driver(declared, variables).path == declared
    assert discovery.driver(None, variables).path == BASE.path
    with pytest.raises(PythonBroken, match=r"^GREENROOM_DRIVER: "):
        discovery.driver(declared, variables | {"GREENROOM_DRIVER": str(tmp_path / "gone")})


@pytest.mark.parametrize(
    "request_", [None, "", "# nothing", BASE.minor, BASE.version, f">={BASE.minor}", "cpython"]
)
def test_the_driver_wins_whenever_it_is_admitted(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter, request_: str | None
) -> None:
    other = _answering(tmp_path / "python", version_info=[*map(int, BASE.version.split(".")), "final", 0])
    found = discovery.find(
        request_,
        driver=driver,
        declared=[other],
        remembered={str(request_): other},
        environ=variables | NO_UV,
    )
    assert found is driver


def test_a_declared_path_comes_before_what_was_chosen_and_before_uv(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter
) -> None:
    chosen, declared, other = (_answering(tmp_path / name) for name in ("chosen", "declared", "other"))
    wrong = _answering(tmp_path / "wrong", version_info=[3, 9, 1, "final", 0])
    found = discovery.find(
        "3.12",
        driver=driver,
        declared=[str(tmp_path / "gone"), wrong, declared, other],
        remembered={"3.12": chosen},
        environ=variables | NO_UV,
    )
    assert found.path == declared


def test_an_earlier_choice_is_kept_while_it_is_right(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter
) -> None:
    chosen = _answering(tmp_path / "chosen")

    def find() -> Interpreter:
        return discovery.find(
            "3.12", driver=driver, remembered={"3.12": chosen, "3.13": "/x"}, ask_uv=False, environ=variables
        )

    assert find().path == chosen
    _answering(tmp_path / "chosen", version_info=[3, 12, 99, "final", 0])
    assert find().version == "3.12.99"
    _answering(tmp_path / "chosen", version_info=[3, 13, 0, "final", 0])
    with pytest.raises(PythonNotFound, match=r"chosen \(3.13.0\)"):
        find()


def test_uv_is_not_asked_where_nothing_may_be_started(variables: dict[str, str], driver: Interpreter) -> None:
    with pytest.raises(PythonNotFound, match=r"greenroom.toml:7 .*'3.99'.*greenroom sync") as caught:
        discovery.find("3.99", driver=driver, ask_uv=False, origin=ORIGIN, environ=variables | NO_UV)
    assert caught.value.status == 2
    with pytest.raises(UvMissing):
        discovery.find("3.99", driver=driver, origin=ORIGIN, environ=variables | NO_UV)


@needs_python("3.12")
@pytest.mark.parametrize("request_", ["3.12", ">=3.12,<3.13", "cpython@3.12", "~=3.12.0"])
def test_uv_knows_what_is_on_path(variables: dict[str, str], driver: Interpreter, request_: str) -> None:
    other = pythons.python("3.12")
    variables["PATH"] = str(Path(other.path).parent)
    found = discovery.find(request_, driver=driver, environ=variables)
    assert (found.path, found.version) == (other.path, other.version)


@needs_other_patch
def test_another_patch_release_is_found_only_where_it_is_asked_for(
    variables: dict[str, str], driver: Interpreter
) -> None:
    other = pythons.other_patch()
    variables["PATH"] = str(Path(other.path).parent)
    assert discovery.find(BASE.minor, driver=driver, environ=variables) is driver
    assert discovery.find(other.version, driver=driver, environ=variables).path == other.path


@needs_python("3.12")
@pytest.mark.parametrize(
    "pollution",
    [
        *(
            "VIRTUAL_ENV={w}/env",
            "CONDA_PREFIX={w}/env",
            "UV_PYTHON=3.9",
            "PYENV_VERSION=3.9",
            "UV_SYSTEM_PYTHON=0",
        ),
        *(
            "UV_PYTHON_PREFERENCE=only-managed",
            "UV_MANAGED_PYTHON=1",
            "UV_PROJECT={w}",
            "UV_CONFIG_FILE={w}/x.toml",
        ),
        *(
            "UV_WORKING_DIR={w}",
            "UV_PYTHON_DOWNLOADS=automatic",
            "PYTHONHOME={w}",
            "UV_PYTHON_SEARCH_PATH={w}",
        ),
        *("CONDA_DEFAULT_ENV=base", "UV_NO_CACHE=1", "UV_OFFLINE=1", "UV_INTERNAL__TEST_PYTHON_MANAGED=1"),
    ],
)
def test_what_surrounds_the_question_does_not_change_the_answer(
    tmp_path: Path,
    variables: dict[str, str],
    driver: Interpreter,
    monkeypatch: pytest.MonkeyPatch,
    pollution: str,
) -> None:
    other = pythons.python("3.12")
    subprocess.run([BASE.path, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    write_files(
        tmp_path,
        {
            ".python-version": "3.9\n",
            "uv.toml": 'python-preference = "only-managed"\n',
            "x.toml": 'python-preference = "only-managed"\n',
            "pyproject.toml": '[project]\nname = "p"\nversion = "0"\nrequires-python = "<3.2"\n',
        },
    )
    (tmp_path / ".venv").symlink_to(tmp_path / "env")
    monkeypatch.chdir(tmp_path)
    name, _, value = pollution.format(w=tmp_path).partition("=")
    polluted = variables | {name: value, "PATH": str(Path(other.path).parent)}
    assert discovery.find("3.12", driver=driver, environ=polluted).path == other.path


@needs_python("3.12")
def test_what_uv_installed_itself_is_found(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter
) -> None:
    other = pythons.python("3.12")
    machine = os.uname().machine
    system = f"macos-{machine}-none" if sys.platform == "darwin" else f"linux-{machine}-gnu"
    place = tmp_path / f"managed/cpython-{other.version}-{system}"
    binary = _copy(place, version="3.12", of=other.path)
    (place / "bin/python").symlink_to(binary)
    variables["UV_PYTHON_INSTALL_DIR"] = str(tmp_path / "managed")
    assert discovery.find("3.12", driver=driver, environ=variables).path == str(binary)


def test_uv_is_not_believed_by_its_word(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter
) -> None:
    liar = _script(tmp_path / "uv", f'test "$1" = --version && echo "uv 9.9.9" || echo {BASE.path}')
    with pytest.raises(PythonNotFound, match=rf"'3.99'; looked at .*{BASE.version}"):
        discovery.find("3.99", driver=driver, environ=variables | {"GREENROOM_UV": liar})


@pytest.mark.parametrize(
    ("request_", "facts"),
    [
        ("pypy@3.10", {"implementation": "pypy", "version_info": [3, 10, 14, "final", 0]}),
        ("3.13t", {"version_info": [3, 13, 1, "final", 0], "tags": ["cp313-cp313t-linux_x86_64"]}),
        ("cpython-3.12.4-linux-x86_64-gnu", {}),
    ],
)
def test_what_only_uv_understands_is_passed_on_untouched(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter, request_: str, facts: Mapping[str, Any]
) -> None:
    python = _answering(tmp_path / "python", **facts)
    uv = _script(
        tmp_path / "uv",
        'test "$1" = --version && { echo "uv 9.9.9"; exit; }',
        f'echo "$@" >> {tmp_path}/calls',
        f"echo warning: something; echo {python}",
    )
    found = discovery.find(request_, driver=driver, environ=variables | {"GREENROOM_UV": uv})
    assert found.path == python
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert call.split()[-1] == request_
    assert "--no-python-downloads" in call


@pytest.mark.parametrize("allowed", [False, True])
def test_nothing_is_downloaded_unless_it_is_allowed(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter, allowed: bool
) -> None:
    python = tmp_path / "installed/python"
    uv = _script(
        tmp_path / "uv",
        'test "$1" = --version && { echo "uv 9.9.9"; exit; }',
        f'echo "$1 $2 $UV_PYTHON_DOWNLOADS" >> {tmp_path}/calls',
        f'test "$2" = install && touch {tmp_path}/there',
        'test "$2" = find || exit 0',
        f'test -e {tmp_path}/there && echo {python} || {{ echo "error: none"; exit 2; }}',
    )
    _answering(python)
    environ = variables | {"GREENROOM_UV": uv, "UV_PYTHON_DOWNLOADS": "automatic"}
    if allowed:
        assert discovery.find("3.12", driver=driver, downloads=True, environ=environ).path == str(python)
        assert (tmp_path / "calls").read_text().split("\n")[:-1] == [
            *("python find never", "python install manual", "python find never")
        ]
    else:
        with pytest.raises(PythonNotFound, match=r"uv \(none\).*python-downloads = true"):
            discovery.find("3.12", driver=driver, environ=environ)
        assert (tmp_path / "calls").read_text() == "python find never\n"


def test_a_download_that_fails_is_said_in_uvs_words(variables: dict[str, str], driver: Interpreter) -> None:
    offline = variables | {"UV_OFFLINE": "1"}
    with pytest.raises(PythonNotFound, match=r"uv \(.*(install|download)"):
        discovery.find("3.8.0", driver=driver, downloads=True, environ=offline)


def test_a_path_is_taken_as_it_is(tmp_path: Path, variables: dict[str, str], driver: Interpreter) -> None:
    python = _answering(tmp_path / "py/bin/python")
    for request_ in (python, str(tmp_path / "py"), "~/py/bin/python"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(tmp_path))
            found = discovery.find(request_, driver=driver, environ=variables | NO_UV)
        assert found.path == python


def test_a_path_that_is_none_says_where_it_stands(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter
) -> None:
    with pytest.raises(PythonNotFound, match=r"^/app/greenroom.toml:7 \[servers.math\].* is missing"):
        discovery.find(str(tmp_path / "gone"), driver=driver, origin=ORIGIN, environ=variables)
    with pytest.raises(PythonNotFound, match=r"^/app/greenroom.toml:7.*absolute path"):
        discovery.find("./python", driver=driver, origin=ORIGIN, environ=variables)


# --- shims ---


@needs_python("3.12")
def test_an_installation_behind_shims_is_found_without_their_choice(
    tmp_path: Path, variables: dict[str, str], driver: Interpreter
) -> None:
    real = pythons.python("3.12")
    _script(tmp_path / "pyenv/shims/python3.12", "exit 127")
    for version in (BASE, real):
        place = tmp_path / f"pyenv/versions/{version.version}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(Path(version.path).parent.parent)
    variables["PATH"] = str(tmp_path / "pyenv/shims")
    assert discovery.find("3.12", driver=driver, environ=variables).path == real.path
    shim = str(tmp_path / "pyenv/shims/python3.12")
    assert discovery.find(shim, driver=driver, environ=variables).path == real.path


# --- the base of an environment ---


def _recorded(path: Path) -> tuple[str, int, int, int]:
    state = path.stat()
    return (str(path), state.st_ino, state.st_size, state.st_mtime_ns)


def test_a_base_that_is_gone_and_comes_back(tmp_path: Path) -> None:
    binary = _copy(tmp_path / "py")
    record = _recorded(binary)
    assert discovery.base_state(record) == "same"
    (tmp_path / "py").rename(tmp_path / "away")
    assert discovery.base_state(record) == "vanished"
    (tmp_path / "away").rename(tmp_path / "py")
    assert discovery.base_state(record) == "same"


def test_a_base_that_was_replaced(tmp_path: Path) -> None:
    binary = _copy(tmp_path / "py")
    record = _recorded(binary)
    os.utime(binary, (1, 1))
    assert discovery.base_state(record) == "replaced"
    binary.unlink()
    binary.symlink_to(tmp_path / "nowhere")
    assert discovery.base_state(record) == "vanished"


def test_a_base_that_was_copied_as_it_is_stays_the_same(tmp_path: Path) -> None:
    binary = _copy(tmp_path / "py")
    record = _recorded(binary)
    shutil.copy2(binary, tmp_path / "copy")
    os.utime(tmp_path / "copy", (0, record[3] // 1_000_000_000))
    (tmp_path / "copy").replace(binary)
    assert _recorded(binary) != record
    assert discovery.base_state(record) == "same"
