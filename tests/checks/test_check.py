"""What would fail later is found before anything is built, each cause once, with all that it touches."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import pythons
from tests.support.capabilities import (
    needs_other_patch,
    needs_python,
    needs_tmpfs,
    on_tmpfs,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index
    from tests.support.workspace import Command

PYPROJECT = """\
[project]
name = "app"
version = "0"
requires-python = ">=3.11"
dependencies = []
[project.optional-dependencies]
a = ["tiny==1"]
b = ["tiny==2"]
[tool.uv]
conflicts = [[{extra = "a"}, {extra = "b"}]]
"""
DECLARATION = """\
[actors]
"app.policy.Worker" = ["a"]
"app.policy.Other" = ["b"]
"app.policy.Driver" = false
"""
POLICY = "class Worker: ...\nclass Other: ...\nclass Driver: ...\n"
CORPUS = Path(__file__).parents[3] / "shared/corpus/nemo-rl"


@pytest.fixture
def app(index: Index, project: Callable[..., Path], uv_lock: Callable[..., Any]) -> Path:
    """Write a project whose preflight has nothing to say."""
    for version in ("1", "2"):
        index.add_wheel("tiny", version)
    path = project(
        {
            "pyproject.toml": PYPROJECT,
            "greenroom.toml": DECLARATION,
            "app/__init__.py": "",
            "app/policy.py": POLICY,
        }
    )
    uv_lock(path)
    return path


def _findings(
    greenroom: Command, *arguments: str, status: int | None = 0, **more: Any
) -> list[dict[str, Any]]:
    answer = greenroom("check", "--json", *arguments, status=status, **more).json()
    assert answer["command"] == "check"
    found: list[dict[str, Any]] = answer["data"]["findings"]
    return found


def _of(findings: list[dict[str, Any]], check: str, severity: str) -> list[dict[str, Any]]:
    return [found for found in findings if (found["check"], found["severity"]) == (check, severity)]


def _severe(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [found for found in findings if found["severity"] != "note"]


def test_a_sound_project_has_neither_errors_nor_warnings(greenroom: Command, app: Path) -> None:
    findings = _findings(greenroom)
    assert _severe(findings) == []
    (sizes,) = _of(findings, "sizes", "note")
    assert "2 files" in sizes["what"]
    assert not (app.parent / "store").exists(), "a check builds nothing"


@pytest.mark.usefixtures("app")
def test_a_wrong_declaration_is_status_2(greenroom: Command, project: Callable[..., Path]) -> None:
    project({"greenroom.toml": '[actors]\n"app.policy.Worker" = ["aa"]\n'})
    outcome = greenroom("check", status=2)
    assert "did you mean 'a'?" in outcome.stderr


@pytest.mark.usefixtures("app")
def test_conflicting_extras_name_the_declared_conflict(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    project({"greenroom.toml": DECLARATION.replace('Worker" = ["a"]', 'Worker" = ["a", "b"]')})
    (found,) = _severe(_findings(greenroom, status=1))
    assert found["check"] == "conflicts"
    assert found["components"] == ["app.policy.Worker"]
    assert "{app[a], app[b]}" in found["what"]


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize(
    ("name", "what", "todo"),
    [
        ("app.policy.Workr", "does not define a class Workr", "did you mean 'Worker'?"),
        ("app.polcy.Worker", "there is no module app.polcy", "did you mean 'app.policy'?"),
        ("app.policy.Worker.Inner", "does not define a class Worker.Inner", None),
        ("app.other.deep.Worker", "there is no module app.other.deep", None),
    ],
)
def test_an_actor_that_is_not_there_is_an_error(
    greenroom: Command, project: Callable[..., Path], name: str, what: str, todo: str | None
) -> None:
    project({"greenroom.toml": f'[actors]\n"{name}" = ["a"]\n'})
    (found,) = _severe(_findings(greenroom, status=1))
    assert found["check"] == "actors"
    assert what in found["what"]
    assert found["components"] == [name]
    assert "greenroom.toml:2" in found["where"]
    assert todo is None or found["todo"] == todo


@pytest.mark.usefixtures("app")
def test_classes_of_other_packages_are_said_once(greenroom: Command, project: Callable[..., Path]) -> None:
    project({"greenroom.toml": '[actors]\n"vllm.x.A" = ["a"]\n"vllm.y.B" = ["a"]\n"ray.z.C" = false\n'})
    findings = _findings(greenroom)
    assert _severe(findings) == []
    (found,) = _of(findings, "actors", "note")
    assert found["components"] == ["vllm.x.A", "vllm.y.B", "ray.z.C"]


@pytest.mark.usefixtures("app")
def test_a_misspelt_package_is_a_warning(greenroom: Command, project: Callable[..., Path]) -> None:
    project({"greenroom.toml": '[actors]\n"apps.policy.Worker" = ["a"]\n'})
    (found,) = _severe(_findings(greenroom))
    assert (found["check"], found["severity"], found["todo"]) == ("actors", "warning", "did you mean 'app'?")


@pytest.mark.usefixtures("app")
def test_a_stale_lock_is_an_error_and_the_rest_goes_on(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    project({"pyproject.toml": PYPROJECT.replace("tiny==1", "tiny==3")})
    project({"greenroom.toml": DECLARATION.replace('Other" = ["b"]', 'Other" = ["a", "b"]')})
    found = _severe(_findings(greenroom, status=1))
    assert {one["check"] for one in found} == {"locks", "conflicts"}
    (stale,) = [one for one in found if one["check"] == "locks"]
    assert "tiny" in stale["what"]
    assert "uv lock" in stale["todo"]


def test_a_missing_lock_is_an_error_for_all_at_once(greenroom: Command, app: Path) -> None:
    (app / "uv.lock").unlink()
    (found,) = _severe(_findings(greenroom, status=1))
    assert found["check"] == "locks"
    assert found["components"] == ["app.policy.Worker", "app.policy.Other"]


@pytest.mark.usefixtures("app")
def test_a_lock_that_sync_writes_is_no_error(greenroom: Command, project: Callable[..., Path]) -> None:
    server = '[servers.one]\npath = "srv"\ncommand = ["python", "main.py"]\n'
    project({"greenroom.toml": server, "srv/requirements.txt": "tiny==1\n"})
    (found,) = _severe(_findings(greenroom))
    assert (found["check"], found["severity"]) == ("locks", "warning")
    assert found["todo"] == "greenroom lock one"


@pytest.mark.usefixtures("app")
def test_what_to_type_for_a_lock_names_the_component_and_works(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    actor = '[actors]\n"app.policy.Worker" = { requirements = "one.txt" }\n'
    project({"greenroom.toml": actor, "one.txt": "tiny==1\n"})
    (found,) = _severe(_findings(greenroom))
    assert found["todo"] == "greenroom lock app.policy.Worker"
    greenroom(*found["todo"].split()[1:])
    assert _severe(_findings(greenroom)) == []


@pytest.mark.usefixtures("app")
def test_a_python_that_is_not_here_is_said_once_and_the_rest_goes_on(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    text = '[defaults]\npython = "3.99"\n' + DECLARATION.replace('Worker" = ["a"]', 'Worker" = ["a", "b"]')
    project({"greenroom.toml": text})
    found = _severe(_findings(greenroom, status=1))
    assert sorted(one["check"] for one in found) == ["conflicts", "python"]
    (python,) = [one for one in found if one["check"] == "python"]
    assert "3.99" in python["what"]
    assert python["components"] == ["app.policy.Worker", "app.policy.Other"]


@pytest.mark.usefixtures("app")
@needs_python("3.12")
def test_an_actor_of_another_minor_is_an_error_and_a_server_is_not(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    other = pythons.python("3.12")
    text = f'[defaults]\npythons = ["{other.path}"]\npython = "3.12"\n[actors]\n"app.policy.Worker" = ["a"]\n'
    text += '[servers.one]\npath = "srv"\ncommand = ["python"]\n'
    project({"greenroom.toml": text, "srv/requirements.txt": "tiny==1\n"})
    found = [one for one in _severe(_findings(greenroom, status=1)) if one["check"] == "python"]
    assert [one["components"] for one in found] == [["app.policy.Worker"]]
    assert "3.12" in found[0]["what"]


@pytest.mark.usefixtures("app")
@needs_other_patch
def test_an_actor_of_another_patch_is_an_error_that_names_both(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    other = pythons.other_patch()
    project(
        {
            "greenroom.toml": f'[defaults]\npython = "{other.path}"\n[actors]\n"app.policy.Worker" = ["a"]\n',
        }
    )
    (found,) = _severe(_findings(greenroom, status=1))
    assert other.version in found["what"]
    assert pythons.base().version in found["what"]
    assert "greenroom.toml:2" in found["where"]


def test_another_ray_than_the_drivers_is_an_error(  # noqa: PLR0917 - fixtures
    greenroom: Command,
    app: Path,
    project: Callable[..., Path],
    uv_lock: Callable[..., Any],
    uv: Command,
    index: Index,
    tmp_path: Path,
) -> None:
    for version in ("2.60.0", "2.61.0"):
        index.add_wheel("ray", version)
    project({"pyproject.toml": PYPROJECT.replace('"tiny==1"', '"ray==2.61.0"')})
    uv_lock(app)
    driver = tmp_path / "driver"
    uv("venv", "-q", "--python", pythons.base().path, str(driver))
    uv("pip", "install", "-q", "--python", str(driver / "bin/python"), "ray==2.60.0")
    more = {"GREENROOM_DRIVER": str(driver / "bin/python")}
    (found,) = _severe(_findings(greenroom, status=1, env=more))
    assert found["check"] == "ray"
    assert found["components"] == ["app.policy.Worker"]
    assert "2.61.0" in found["what"]
    assert "2.60.0" in found["what"]


def test_packages_without_a_file_for_this_platform_are_all_named(
    greenroom: Command, app: Path, project: Callable[..., Path], uv_lock: Callable[..., Any], index: Index
) -> None:
    index.add_wheel("only-there", "1", tag="cp311-cp311-win_amd64")
    index.add_wheel("not-here", "1", tag="cp311-cp311-win_amd64")
    index.add_sdist("from-source", "1")
    wanted = '"only-there", "not-here", "from-source"'
    project({"pyproject.toml": PYPROJECT.replace('"tiny==1"', wanted)})
    uv_lock(app)
    findings = _findings(greenroom, status=1)
    errors = _of(findings, "wheels", "error")
    assert {one["what"].split()[0] for one in errors} == {"only-there", "not-here"}
    (built,) = _of(findings, "wheels", "note")
    assert "from-source 1 (source archive)" in built["what"]


@pytest.mark.usefixtures("app")
def test_what_nothing_uses_is_a_warning(greenroom: Command, project: Callable[..., Path]) -> None:
    text = DECLARATION.replace('Worker" = ["a"]', 'Worker" = {extras = ["a"], index = ["used"]}')
    text = text.replace('Other" = ["b"]', 'Other" = {extras = ["b"], index = ["used"]}')
    text += '[environments.shared]\nextras = ["a"]\n[stages.late]\nextras = ["c"]\nlate-packages = ["gone"]\n'
    text += '[[index]]\nname = "used"\nurl = "http://127.0.0.1:9/simple"\n'
    text += '[[index]]\nname = "spare"\nurl = "http://127.0.0.1:9/spare"\n'
    pyproject = PYPROJECT.replace('b = ["tiny==2"]', 'b = ["tiny==2"]\nc = []')
    project({"greenroom.toml": text, "pyproject.toml": pyproject})
    greenroom_findings = _findings(greenroom, status=None)
    unused = _of(greenroom_findings, "unused", "warning")
    told = " ".join(one["what"] for one in unused)
    for word in ("environment shared", "index spare", "stage late", "late package gone"):
        assert word in told
    assert "index used" not in told


@pytest.mark.usefixtures("app")
def test_a_uv_that_the_project_excludes_is_a_warning(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    project({"pyproject.toml": PYPROJECT.replace("[tool.uv]", '[tool.uv]\nrequired-version = "<0.2"')})
    (found,) = [one for one in _severe(_findings(greenroom, status=None)) if one["check"] == "uv"]
    assert "requires uv <0.2" in found["what"]
    assert found["components"] == ["app.policy.Worker", "app.policy.Other"]


@pytest.mark.usefixtures("app")
def test_a_missing_uv_is_an_error(greenroom: Command) -> None:
    (found,) = _severe(_findings(greenroom, status=1, env={"GREENROOM_UV": "/nowhere/uv"}))
    assert found["check"] == "uv"


@pytest.mark.usefixtures("app")
def test_settings_that_are_not_taken_are_named_once(greenroom: Command, environ: dict[str, str]) -> None:
    file = Path(environ["XDG_CONFIG_HOME"]) / "uv/uv.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[pip]\nno-deps = true\n")
    (found,) = _of(_findings(greenroom), "uv", "note")
    assert "no-deps" in found["what"]
    assert found["where"] == str(file)


def test_a_credential_in_a_source_is_an_error_that_does_not_repeat_it(
    greenroom: Command, app: Path, project: Callable[..., Path]
) -> None:
    text = "tiny==1\n--extra-index-url http://bob:S3CRETPW@127.0.0.1:9/simple\n"
    server = '[servers.one]\npath = "srv"\ncommand = ["python", "main.py"]\n'
    project({"greenroom.toml": server, "srv/requirements.txt": text})
    outcome = greenroom("check", "--json", status=1)
    assert "S3CRETPW" not in outcome.stdout + outcome.stderr
    found = [one for one in outcome.json()["data"]["findings"] if one["check"] == "secrets"]
    assert [one["where"] for one in found] == [f"{app}/srv/requirements.txt:2"]


@pytest.mark.usefixtures("app")
def test_a_secret_variable_in_the_declaration_is_a_warning(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    text = '[actors]\n"app.policy.Worker" = {extras = ["a"], env = {HF_TOKEN = "hf_S3CRET"}}\n'
    project({"greenroom.toml": text})
    outcome = greenroom("check", "--json")
    (found,) = _severe(outcome.json()["data"]["findings"])
    assert "HF_TOKEN" in found["what"]
    assert "S3CRET" not in outcome.stdout


@pytest.mark.usefixtures("app")
def test_a_refused_store_is_an_error(greenroom: Command) -> None:
    (found,) = _severe(_findings(greenroom, status=1, env={"GREENROOM_STORE": "/with a/space"}))
    assert found["check"] == "store"


@pytest.mark.usefixtures("app")
def test_a_store_that_cannot_be_written_is_an_error(greenroom: Command) -> None:
    (found,) = _severe(_findings(greenroom, status=1, env={"GREENROOM_STORE": "/etc/hostname/store"}))
    assert "no store is writable" in found["what"]
    assert found["components"] == ["app.policy.Worker", "app.policy.Other"]


@pytest.mark.usefixtures("app")
def test_a_driver_that_is_none_is_an_error_and_the_rest_goes_on(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    project({"greenroom.toml": DECLARATION.replace('Worker" = ["a"]', 'Worker" = ["a", "b"]')})
    found = _severe(_findings(greenroom, status=1, env={"GREENROOM_DRIVER": "/nowhere/python"}))
    assert sorted(one["check"] for one in found) == ["conflicts", "python"]


@needs_tmpfs
def test_too_little_space_is_found_before_the_download(
    greenroom: Command, app: Path, index: Index, uv_lock: Callable[..., Any], project: Callable[..., Path]
) -> None:
    index.add_wheel(
        "large", "1", files={"large/data.bin": bytes(range(256)) * 2000 + Path("/bin/sh").read_bytes()}
    )
    project({"pyproject.toml": PYPROJECT.replace("tiny==1", "large==1")})
    uv_lock(app)
    small = app.parent / "small"
    small.mkdir()
    more = {"GREENROOM_STORE": str(small / "store")}
    prefix = on_tmpfs(small, size="16k")
    findings = _findings(greenroom, status=1, env=more, prefix=prefix)
    (found,) = _of(findings, "space", "error")
    assert "free" in found["what"]
    assert any("another file system" in one["what"] for one in _of(findings, "store", "note"))


@pytest.mark.usefixtures("app")
def test_folders_that_others_cannot_enter_are_a_note(greenroom: Command, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    findings = _findings(greenroom, env={"GREENROOM_STORE": str(closed / "store")})
    (found,) = _of(findings, "modes", "note")
    assert "cannot enter" in found["what"]


@pytest.mark.usefixtures("app")
def test_online_asks_the_indexes_and_masks_what_it_says(greenroom: Command, index: Index) -> None:
    assert _severe(_findings(greenroom, "--online")) == []
    index.require_login("bob", "S3CRETPW")
    outcome = greenroom("check", "--online", "--json", status=1)
    (found,) = _severe(outcome.json()["data"]["findings"])
    assert (found["check"], found["components"]) == ("online", ["app.policy.Worker", "app.policy.Other"])
    assert "401" in found["what"]
    more = {"UV_DEFAULT_INDEX": index.url_with("bob", "S3CRETPW")}
    allowed = greenroom("check", "--online", "--json", env=more)
    assert _severe(allowed.json()["data"]["findings"]) == []
    wrong = greenroom(
        "check", "--online", "--json", env={"UV_DEFAULT_INDEX": index.url_with("bob", "WR0NGPW")}, status=1
    )
    for said in (outcome, allowed, wrong):
        assert "S3CRETPW" not in str(said)
        assert "WR0NGPW" not in said.stdout


@pytest.mark.usefixtures("app")
def test_online_says_what_is_out_of_reach(greenroom: Command, index: Index) -> None:
    index.fault("/simple/*", status=503)
    (found,) = _severe(_findings(greenroom, "--online", status=1))
    assert "503" in found["what"]


@pytest.mark.usefixtures("app")
def test_without_online_no_network_is_asked(greenroom: Command, index: Index) -> None:
    before = len(index.requests)
    _findings(greenroom)
    assert len(index.requests) == before


@pytest.mark.usefixtures("app")
def test_a_second_run_says_the_same_and_an_edit_is_seen(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    first = greenroom("check", "--json")
    assert greenroom("check", "--json").stdout == first.stdout
    project({"app/policy.py": POLICY.replace("Worker", "Wrker")})
    (found,) = _severe(_findings(greenroom, status=1))
    assert found["check"] == "actors"
    project({"app/policy.py": POLICY})
    assert greenroom("check", "--json").stdout == first.stdout


@pytest.mark.usefixtures("app")
def test_the_words_for_people_name_cause_place_and_remedy(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    assert "notes" in greenroom("check").stdout
    assert greenroom("check", "--quiet").stdout == ""
    project({"greenroom.toml": '[actors]\n"app.policy.Workr" = ["a"]\n'})
    outcome = greenroom("check", "--quiet", status=1)
    assert outcome.stderr == ""
    assert "did you mean 'Worker'?" in outcome.stdout
    assert "1 error" in greenroom("check", status=1).stdout


@pytest.fixture
def trainer(tmp_path: Path) -> Path:
    """Copy the files of a real trainer, as they stand in an image's dependency layer."""
    if not CORPUS.is_dir():
        pytest.skip(f"no {CORPUS}")
    path = tmp_path / "trainer"
    path.mkdir()
    for name in ("pyproject.toml", "uv.lock", "greenroom.toml"):
        shutil.copyfile(CORPUS / name, path / name)
    return path


def test_a_real_trainer_is_checked_from_its_files_alone(greenroom: Command, trainer: Path) -> None:
    answer = greenroom("check", "--json", cwd=trainer, status=1).json()["data"]
    assert len(answer["components"]) == 18
    (conflict,) = _of(answer["findings"], "conflicts", "error")
    assert [name.rpartition(".")[2] for name in conflict["components"]] == [
        "VllmGenerationWorker",
        "VllmAsyncGenerationWorker",
    ]
    assert "{nemo-gym[vllm], nemo-rl[vllm]}" in conflict["what"]
    assert "nemo-gym comes through nemo-rl[nemo-gym]" in conflict["what"]
    (absent,) = _of(answer["findings"], "sources", "note")
    assert "nemo-gym" in absent["what"]
    (unseen,) = _of(answer["findings"], "actors", "note")
    assert len(unseen["components"]) == 28
    (sizes,) = _of(answer["findings"], "sizes", "note")
    assert len(sizes["components"]) == 16
    assert "not known" in sizes["what"]
    rest = [one for one in _severe(answer["findings"]) if one["check"] != "conflicts"]
    driver = {"python", "ray"}  # what stands beside this machine's driver
    assert {one["check"] for one in rest} <= driver
