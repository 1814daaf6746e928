"""Locks that greenroom writes say what they were made from, and uv reads them all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support import targets

from greenroom.components import (
    EnvironmentSpec,
    InlineSource,
    Options,
    Origin,
    RequirementsSource,
    ScriptSource,
)
from greenroom.components import (
    Index as NamedIndex,
)
from greenroom.errors import LockMissing, LockUnreadable, RequirementsUnreadable, SecretInSource, StaleLock
from greenroom.locks import generated, reading, requirements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.support.index import Index
    from tests.support.workspace import Command

    from greenroom.components import Source
    from greenroom.locks.requirements import RequirementSet

FILES = {
    "srv/requirements.txt": "-r ../common/base.txt\n-c ../common/limits.txt\n../lib\n",
    "common/base.txt": "iniconfig  # why\n",
    "common/limits.txt": "iniconfig<2\n",
    "srv/overrides.txt": "pygments>=2\n",
    "srv/build.txt": "setuptools<99\n",
    "srv/uv.toml": 'no-binary-package = ["unused"]\n',
    "lib/pyproject.toml": '[project]\nname = "lib"\nversion = "1"\ndependencies = ["pygments"]\n',
    "lib/lib/__init__.py": "",
    "tool.py": '# /// script\n# dependencies = ["iniconfig"]\n# requires-python = ">=3.11"\n# [tool.uv]\n'
    '# no-build-package = ["x"]\n# ///\nprint()\n',
}
LIMITS = ("common/limits.txt", "iniconfig<3\n")


@pytest.fixture
def root(project: Callable[..., Path], index: Index) -> Path:
    for version in ("1.1.1", "2.0.0"):
        index.add_wheel("iniconfig", version)
    index.add_wheel("pygments", "2.18.0")
    index.add_wheel("setuptools", "70.0.0")
    return project(FILES)


def of_files(root: Path) -> RequirementsSource:
    return RequirementsSource(
        requirements=(str(root / "srv/requirements.txt"),),
        overrides=(str(root / "srv/overrides.txt"),),
        build_constraints=(str(root / "srv/build.txt"),),
        config=str(root / "srv/uv.toml"),
    )


def spec(source: Source, **options: object) -> EnvironmentSpec:
    origin = Origin(file="greenroom.toml", line=9, key="[servers.s1]")
    return EnvironmentSpec(source=source, options=Options(**options), lock_name="s1", origin=origin)  # type: ignore[arg-type]


def flattened(found: RequirementSet, arguments: list[str], root: Path) -> str:
    """Return requirements with their variables replaced; uv does that in URLs only."""
    limits = root / "limits.in"
    limits.write_text("".join(f"{one.line.text}\n" for one in found.lines if one.kind == "constraint"))
    arguments += ["-c", str(limits)]
    return "".join(f"{one.line.text}\n" for one in found.lines if one.kind != "constraint")


def lock(
    uv: Command, root: Path, wanted: EnvironmentSpec, *, environ: Mapping[str, str] | None = None
) -> Path:
    """Write the lock as the builder does: uv resolves, greenroom stamps."""
    path = generated.path(str(root), wanted.lock_name)
    (root / generated.FOLDER).mkdir(exist_ok=True)
    source = wanted.source
    arguments = ["pip", "compile", "--universal", "--quiet", "--format", "pylock.toml", "-o", path]
    stdin = "iniconfig\n"
    if isinstance(source, RequirementsSource):
        arguments += [f"--override={file}" for file in source.overrides]
        stdin = flattened(requirements.read(source.requirements, environ or {}), arguments, root)
    elif isinstance(source, InlineSource):
        stdin = "\n".join(source.requirements)
    uv(*arguments, "-", cwd=root / "srv", stdin=stdin)
    written = root / generated.FOLDER / "pylock.s1.toml"
    written.write_text(generated.stamp(written.read_text(), wanted, str(root), environ or {}))
    return written


def stale(root: Path, wanted: EnvironmentSpec, environ: Mapping[str, str] | None = None) -> str | None:
    return generated.staleness(wanted, str(root), environ or {})


def test_uv_takes_a_stamped_lock_and_installs_what_it_says(root: Path, uv: Command, tmp_path: Path) -> None:
    path = lock(uv, root, spec(InlineSource(requirements=("iniconfig<2",), base=str(root))))
    uv("venv", "-q", tmp_path / "env")
    uv("pip", "sync", "-q", "-p", tmp_path / "env", path)
    assert "iniconfig==1.1.1" in uv("pip", "freeze", "-p", tmp_path / "env").stdout


def test_a_fresh_lock_is_not_stale_and_is_read(root: Path, uv: Command) -> None:
    wanted = spec(of_files(root))
    assert stale(root, wanted) == "it was never written"
    lock(uv, root, wanted)
    assert stale(root, wanted) is None
    selection = reading.read(wanted, str(root), targets.linux(), {})
    assert [(one.name, one.version) for one in selection.distributions] == [
        ("iniconfig", "1.1.1"),
        ("lib", None),
        ("pygments", "2.18.0"),
    ]
    assert selection.settings.no_binary == ("unused",)
    assert selection.settings.build_constraints == ("setuptools<99",)
    assert set(selection.files) == {
        str(root / name)
        for name in (
            "greenroom.lock/pylock.s1.toml",
            *(name for name in FILES if name.endswith((".txt", ".toml"))),
        )
    }


EDITS = {
    "a nested constraint": (*LIMITS, "common/limits.txt changed"),
    "an included file": ("common/base.txt", "iniconfig\npygments\n", "common/base.txt changed"),
    "an override": ("srv/overrides.txt", "pygments>=1\n", "srv/overrides.txt (override) changed"),
    "a build constraint": ("srv/build.txt", "setuptools<98\n", "srv/build.txt (build constraint) changed"),
    "the own uv.toml": ("srv/uv.toml", "", "srv/uv.toml changed"),
    "what a local requirement needs": (
        "lib/pyproject.toml",
        '[project]\nname = "lib"\nversion = "1"\n',
        "lib changed",
    ),
    "a file included anew": ("common/base.txt", "iniconfig\n-r more.txt\n", "common/more.txt is new"),
    "a file no longer included": ("srv/requirements.txt", "-r ../common/base.txt\n../lib\n", None),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_named(name: str, root: Path, uv: Command) -> None:
    wanted = spec(of_files(root))
    lock(uv, root, wanted)
    file, text, reason = EDITS[name]
    (root / "common/more.txt").write_text("pygments\n")
    (root / file).write_text(text)
    said = stale(root, wanted)
    assert said is not None
    assert reason is None or reason in said
    with pytest.raises(StaleLock, match="greenroom lock s1"):
        reading.read(wanted, str(root), targets.linux(), {})


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("common/base.txt", "\n# another comment\n   iniconfig\n\n"),
        ("common/limits.txt", "iniconfig<2  # pinned\n"),
        ("srv/uv.toml", '# a comment\nno-binary-package = [ "unused" ]\n'),
        ("lib/pyproject.toml", FILES["lib/pyproject.toml"].replace('version = "1"', 'version = "2"  # new')),
        ("lib/lib/__init__.py", "V = 1\n"),
    ],
)
def test_an_edit_that_decides_nothing_is_none(file: str, text: str, root: Path, uv: Command) -> None:
    wanted = spec(of_files(root))
    lock(uv, root, wanted)
    (root / file).write_text(text)
    assert stale(root, wanted) is None


def test_the_value_of_an_expanded_variable_counts(root: Path, uv: Command) -> None:
    (root / "common/base.txt").write_text("iniconfig==${PIN}\n")
    wanted = spec(of_files(root))
    path = lock(uv, root, wanted, environ={"PIN": "1.1.1"})
    assert stale(root, wanted, {"PIN": "1.1.1"}) is None
    said = stale(root, wanted, {"PIN": "2.0.0"})
    assert said in {"the variable PIN changed", "common/base.txt changed"}
    assert "1.1.1" not in path.read_text().split("[tool.greenroom]")[1]


def test_a_rotated_credential_makes_nothing_stale(root: Path, uv: Command) -> None:
    host = uv.env["UV_DEFAULT_INDEX"].removeprefix("http://")
    (root / "common/base.txt").write_text(f"--index-url http://${{USER_}}:${{TOKEN}}@{host}\niniconfig\n")
    wanted = spec(of_files(root))
    path = lock(uv, root, wanted, environ={"USER_": "bob", "TOKEN": "S3CRETPW"})
    assert "S3CRETPW" not in path.read_text()
    assert stale(root, wanted, {"USER_": "eve", "TOKEN": "0THERPW"}) is None


def test_the_python_request_and_the_indexes_count(root: Path, uv: Command) -> None:
    source = of_files(root)
    lock(uv, root, spec(source, python=">=3.11"))
    assert stale(root, spec(source, python=">=3.11")) is None
    assert stale(root, spec(source, python="3.12")) == "the Python request was >=3.11 and is 3.12"
    assert stale(root, spec(source)) == "the Python request was >=3.11 and is the driver"
    index = NamedIndex(name="internal", url="https://index.example/simple")
    assert stale(root, spec(source, python=">=3.11", indexes=(index,))) == "indexes is new"


def test_lines_of_the_declaration_count(root: Path, uv: Command) -> None:
    lock(uv, root, spec(InlineSource(requirements=("iniconfig<2",), base=str(root))))
    assert (
        stale(root, spec(InlineSource(requirements=("iniconfig <2 ",), base=str(root))))
        == "requirements changed"
    )
    assert stale(root, spec(InlineSource(requirements=("iniconfig<2",), base=str(root)))) is None


def test_a_scripts_metadata_counts_and_its_code_does_not(root: Path, uv: Command) -> None:
    script = root / "tool.py"
    wanted = spec(ScriptSource(path=str(script)))
    lock(uv, root, wanted)
    script.write_text(script.read_text().replace("print()", "print(1)"))
    assert stale(root, wanted) is None
    assert reading.requires_python(wanted, str(root)) == ">=3.11"
    assert reading.read(wanted, str(root), targets.linux(), {}).settings.no_build == ("x",)
    script.write_text(script.read_text().replace('"iniconfig"', '"pygments"'))
    assert stale(root, wanted) == "tool.py changed"


@pytest.mark.parametrize(
    "text",
    [
        "print()",
        "# /// script\n# x = \n# ///\n",
        "# /// script\n# a = 1\n# ///\n\n# /// script\n# a = 1\n# ///\n",
    ],
)
def test_a_script_without_metadata_is_said(text: str, root: Path) -> None:
    (root / "tool.py").write_text(text)
    with pytest.raises(LockUnreadable, match=r"tool\.py"):
        stale_after_writing(root)


def stale_after_writing(root: Path) -> str | None:
    (root / generated.FOLDER).mkdir(exist_ok=True)
    wanted = spec(ScriptSource(path=str(root / "tool.py")))
    text = generated.stamp('lock-version = "1.0"\n', wanted, str(root), {})
    (root / generated.FOLDER / "pylock.s1.toml").write_text(text)
    return stale(root, wanted)


def test_a_lock_that_is_missing_or_not_ours_is_said(root: Path) -> None:
    wanted = spec(of_files(root))
    with pytest.raises(LockMissing, match=r"pylock\.s1\.toml.*greenroom lock s1"):
        reading.read(wanted, str(root), targets.linux(), {})
    (root / generated.FOLDER).mkdir()
    (root / generated.FOLDER / "pylock.s1.toml").write_text(
        'lock-version = "1.0"\ncreated-by = "hand"\npackages = []\n'
    )
    assert stale(root, wanted) == "it was not written by `greenroom lock`"


def test_faults_of_the_inputs_are_said(root: Path) -> None:
    (root / "common/base.txt").unlink()
    with pytest.raises(RequirementsUnreadable, match=r"srv/requirements\.txt:1: .*base\.txt is missing"):
        generated.stamp("", spec(of_files(root)), str(root), {})
    (root / "common/base.txt").write_text("--index-url https://bob:S3CRETPW@host/simple\n")
    with pytest.raises(SecretInSource, match=r"base\.txt:1"):
        generated.stamp("", spec(of_files(root)), str(root), {})


def test_a_project_elsewhere_has_the_same_stamp(
    root: Path, uv: Command, project: Callable[..., Path]
) -> None:
    text = lock(uv, root, spec(of_files(root))).read_text()
    other = project({**FILES, "greenroom.lock/pylock.s1.toml": text}, at="elsewhere/app")
    assert stale(other, spec(of_files(other))) is None


def test_stamping_again_changes_nothing(root: Path, uv: Command) -> None:
    wanted = spec(of_files(root))
    text = lock(uv, root, wanted).read_text()
    assert generated.stamp(text, wanted, str(root), {}) == text
