"""Requirements files are read with all they include, as pip and uv read them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import RequirementsUnreadable, SecretInSource
from greenroom.locks import lines, requirements

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.workspace import Command

    from greenroom.locks.requirements import RequirementSet


def texts(found: RequirementSet, kind: str = "requirement") -> list[str]:
    return [entry.line.text for entry in found.lines if entry.kind == kind]


@pytest.fixture
def read(project: Callable[..., Path]) -> Callable[..., RequirementSet]:
    def write(text: str | bytes, *, environ: dict[str, str] | None = None, **files: str) -> RequirementSet:
        directory = project(
            {"requirements.txt": text, **{f"{name}.txt": more for name, more in files.items()}}
        )
        return requirements.read([str(directory / "requirements.txt")], environ or {})

    return write


def test_comments_white_space_and_continuations_say_nothing(read: Callable[..., RequirementSet]) -> None:
    text = (
        "# head\n\n  one==1   # why\ntwo \\\n  >=2,\\\n  <3\nthree @ https://host/three-1.tar.gz#egg=three\n"
    )
    assert texts(read(text)) == ["one==1", "two >=2, <3", "three @ https://host/three-1.tar.gz#egg=three"]


@given(st.lists(st.sampled_from(["one==1", "two>=2", "three; python_version<'4'"])), st.data())
def test_layout_does_not_change_what_is_said(said: list[str], data: st.DataObject) -> None:
    noise = st.lists(st.sampled_from(["", "# x", "   ", "  # y \\"]), max_size=3)
    physical: list[str] = []
    for line in said:
        physical += data.draw(noise)
        cut = data.draw(st.integers(min_value=0, max_value=len(line)))
        joined = f"{line[:cut]}\\\n{line[cut:]}" if data.draw(st.booleans()) else line
        physical.append(f"  {joined}  # end" if data.draw(st.booleans()) else joined)
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = ending.join(physical).replace("\\\n", f"\\{ending}")
    assert [line.text for line in lines.logical_lines(text, "r.txt")] == said


def test_included_files_are_relative_to_the_one_that_includes_them(project: Callable[..., Path]) -> None:
    directory = project(
        {
            "srv/requirements.txt": "-r ../common/base.txt\n-c../common/limits.txt\n",
            "common/base.txt": "one\n--requirement=deep/more.txt\n",
            "common/deep/more.txt": "two\n",
            "common/limits.txt": "one<2\n-r deep/more.txt\n",
        }
    )
    found = requirements.read([str(directory / "srv/requirements.txt")], {})
    assert texts(found) == ["one", "two"]
    assert texts(found, "constraint") == ["one<2", "two"]
    names = [str(Path(file).relative_to(directory)) for file in found.files]
    assert names == ["srv/requirements.txt", "common/base.txt", "common/deep/more.txt", "common/limits.txt"]


def test_a_missing_include_names_file_and_line(read: Callable[..., RequirementSet]) -> None:
    with pytest.raises(RequirementsUnreadable, match=r"requirements\.txt:2: .*gone\.txt is missing"):
        read("one\n-r gone.txt\n")


def test_a_loop_of_includes_is_shown(read: Callable[..., RequirementSet]) -> None:
    with pytest.raises(
        RequirementsUnreadable, match=r"other\.txt:1: .*requirements\.txt.*other\.txt.*requirements\.txt"
    ):
        read("-r other.txt\n", other="-r requirements.txt\n")


def test_one_file_included_twice_is_no_loop(read: Callable[..., RequirementSet]) -> None:
    assert texts(read("-r other.txt\n-r other.txt\n", other="one\n")) == ["one", "one"]


def test_a_file_of_the_network_is_refused(read: Callable[..., RequirementSet]) -> None:
    with pytest.raises(RequirementsUnreadable, match=r"requirements\.txt:1: .*https://host/x\.txt"):
        read("-r https://host/x.txt")


def test_variables_are_expanded_and_named(read: Callable[..., RequirementSet]) -> None:
    found = read("one==${PIN}\n", environ={"PIN": "1.5"})
    assert texts(found) == ["one==1.5"]
    assert found.variables == ("PIN",)


def test_a_variable_that_is_not_set_is_said(read: Callable[..., RequirementSet]) -> None:
    with pytest.raises(RequirementsUnreadable, match=r"requirements\.txt:2: the variable PIN is not set"):
        read("one\ntwo==${PIN}")


def test_a_variable_that_is_a_credential_only_is_not_an_input(read: Callable[..., RequirementSet]) -> None:
    environ = {"USER_": "bob", "TOKEN": "S3CRETPW", "HOST": "h.example"}
    found = read("--index-url https://${USER_}:${TOKEN}@${HOST}/simple\n", environ=environ)
    assert found.variables == ("HOST",)


def test_a_credential_is_refused_with_its_line(read: Callable[..., RequirementSet]) -> None:
    with pytest.raises(SecretInSource, match=r"requirements\.txt:2") as caught:
        read("one\n--extra-index-url https://bob:S3CRETPW@host/simple\n")
    assert "S3CRETPW" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("../lib", (None, (), False, "lib")),
        ("./x[b,A]", (None, ("b", "a"), False, "app/x")),
        (".", (None, (), False, "app")),
        (".[dev]; python_version > '3'", (None, ("dev",), False, "app")),
        ("-e .", (None, (), True, "app")),
        ("-e ../lib[dev]", (None, ("dev",), True, "lib")),
        ("--editable=../lib", (None, (), True, "lib")),
        ("-e nemo-gym[dev] @ ../../", ("nemo-gym", ("dev",), True, "..")),
        ("Na.Me[a] @ file://TMP/lib", ("na-me", ("a",), False, "lib")),
        ("name @ ./lib", ("name", (), False, "app/lib")),
        ("name[x]==1 ; sys_platform=='linux'", ("name", ("x",), False, None)),
        ("name==1 --hash=sha256:00 --hash=sha256:11", ("name", (), False, None)),
        ("git+https://host/x@main#egg=x", (None, (), False, None)),
        ("https://host/x-1.tar.gz", (None, (), False, None)),
        ("name @ git+ssh://git@host/x", ("name", (), False, None)),
    ],
)
def test_what_a_line_means(
    line: str,
    expected: tuple[str | None, tuple[str, ...], bool, str | None],
    read: Callable[..., RequirementSet],
    tmp_path: Path,
) -> None:
    name, extras, editable, path = expected
    (entry,) = read(line.replace("TMP", str(tmp_path))).lines
    assert (entry.name, entry.extras, entry.editable) == (name, extras, editable)
    assert entry.path == (str((tmp_path / path).resolve()) if path else None)


def test_local_requirements_are_relative_to_the_first_file(project: Callable[..., Path]) -> None:
    directory = project({"srv/requirements.txt": "-r ../common/base.txt\n", "common/base.txt": "./lib\n"})
    (entry,) = requirements.read([str(directory / "srv/requirements.txt")], {}).lines
    assert entry.path == str(directory / "srv/lib")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("--index-ur https://x/simple", "did you mean --index-url"),
        ("-z", "unknown option"),
        ("-r", "needs a value"),
        ("one two", "is no requirement"),
        ("=1", "is no requirement"),
        ("-r 'x", "not to be read"),
    ],
)
def test_what_means_nothing_is_refused_with_its_line(
    line: str, word: str, read: Callable[..., RequirementSet]
) -> None:
    with pytest.raises(RequirementsUnreadable, match=word) as caught:
        read(f"\n{line}\n")
    assert "requirements.txt:2: " in str(caught.value)


def test_options_of_pip_are_taken(read: Callable[..., RequirementSet]) -> None:
    said = (
        "-i https://a/simple",
        "--extra-index-url=https://b/simple",
        "-f ./links",
        "--pre",
        "--no-index",
        "--prefer-binary",
        "--no-binary one,Two_x",
        "--only-binary=:all:",
        "--no-binary :none:",
        "--no-binary=three",
        "--require-hashes",
        "--trusted-host h",
    )
    text = "\n".join(said)
    found = read(text)
    assert len(texts(found, "option")) == 12
    assert requirements.formats(found) == (("three",), (":all:",))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_tells_the_encoding(encoding: str, read: Callable[..., RequirementSet]) -> None:
    assert texts(read("one # é\n".encode(encoding))) == ["one"]


def test_a_coding_line_tells_the_encoding(read: Callable[..., RequirementSet]) -> None:
    assert texts(read("# -*- coding: latin-1 -*-\none # é\n".encode("latin-1"))) == ["one"]


def test_bytes_that_are_no_text_are_refused_with_their_line(read: Callable[..., RequirementSet]) -> None:
    with pytest.raises(RequirementsUnreadable, match=r"requirements\.txt:2: it is not utf-8"):
        read(b"one\n\xff\n")
    with pytest.raises(RequirementsUnreadable, match="encoding 'martian' is unknown"):
        read(b"# coding: martian\none\n")


@given(st.text(max_size=60))
def test_no_text_is_worse_than_an_error(text: str) -> None:
    with contextlib.suppress(RequirementsUnreadable, SecretInSource):
        requirements.read_lines(text.splitlines(), {}, base="/nowhere", where="greenroom.toml:1")


def test_lines_of_a_declaration_name_its_place() -> None:
    with pytest.raises(RequirementsUnreadable, match=r"^greenroom\.toml:7 \[servers\.x\]: "):
        requirements.read_lines(["one two"], {}, base="/nowhere", where="greenroom.toml:7 [servers.x]")


@pytest.mark.online
def test_every_requirements_file_of_a_real_application_is_read(
    uv: Command, tmp_path: Path, online_environ: dict[str, str | None]
) -> None:
    target = tmp_path / "gym"
    arguments = ("--no-deps", "--target", target, "--python-version", "3.13.14", "nemo-gym==0.7.0")
    uv("pip", "install", *arguments, env=online_environ)
    files = sorted(target.rglob("requirements.txt"))
    assert len(files) == 211
    assert all(requirements.read([str(file)], {}).lines for file in files)
