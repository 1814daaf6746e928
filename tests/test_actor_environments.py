"""The list of what to pre-build: as a bare script, as a module, and as a project's own."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from greenroom import actor_environments
from greenroom.actor_environments import Fault, main
from greenroom.declaration import tables
from tests.support.capabilities import as_nobody, needs_root, needs_unprivileged_user
from tests.support.pythons import base, needs_python, python
from tests.support.workspace import write_files

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = Path(actor_environments.__file__)
DATA = Path(__file__).parent / "data/trainer"
CORPUS = Path(__file__).parents[2] / "shared/corpus/nemo-rl"
TABLE: dict[str, list[str] | None] = {
    "a.Vllm": ["vllm", "gym"],
    "a.Collector": ["vllm"],
    "a.Trt": ["trtllm"],
    "a.Math": None,
    "a.Core": ["mcore"],
}
ROWS = {
    "a.Vllm": "a.Vllm\tdeps\t--extra vllm --extra gym",
    "a.Collector": "a.Collector\tdeps\t--extra vllm",
    "a.Trt": "a.Trt\ttrtllm\t--extra trtllm",
    "a.Core": "a.Core\tdeps\t--extra mcore",
}
STAGES = {"trtllm": ["trtllm"]}
TOML = """
[stages.trtllm]
extras = ["trtllm"]
[actors]
"a.Vllm" = ["vllm", "gym"]
"a.Collector" = ["vllm"]
"a.Trt" = ["trtllm"]
"a.Math" = false
"a.Core" = ["mcore"]
"""
PYTHON = f"ACTOR_ENVIRONMENTS: dict[str, list[str] | None] = {TABLE!r}\nSTAGES = {STAGES!r}\n"


def bare(*arguments: str, cwd: Path, executable: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the script as an image's dependency layer does: no package, no site."""
    return subprocess.run(
        [executable or base().path, "-I", "-S", str(SCRIPT), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def rows(cwd: Path, *arguments: str) -> list[str]:
    done = bare(*arguments, cwd=cwd)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def refusal(cwd: Path, *arguments: str) -> str:
    """Return the one line of a refused call."""
    done = bare(*arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.count("\n") == 1
    return done.stderr


CALLS = [
    ([], ["a.Vllm", "a.Collector", "a.Trt", "a.Core"]),
    (["all"], ["a.Vllm", "a.Collector", "a.Trt", "a.Core"]),
    (["deps"], ["a.Vllm", "a.Collector", "a.Core"]),
    (["trtllm"], ["a.Trt"]),
    (["deps", "vllm"], ["a.Core"]),
    (["all", "vllm", "mcore"], ["a.Trt"]),
    (["all", "--actors", "a.Core", "a.Math", "a.Vllm"], ["a.Vllm", "a.Core"]),
    (["deps", "GYM"], ["a.Collector", "a.Core"]),
]
FORMS = {
    "toml": {"greenroom.toml": TOML},
    "pyproject": {"pyproject.toml": re.sub(r"(?m)^\[", "[tool.greenroom.", TOML)},
    "registry": {
        "greenroom.toml": 'registry = "table.py"\n[stages]\ntrtllm = {extras = ["trtllm"]}\n',
        "table.py": PYTHON,
    },
}


@pytest.mark.parametrize(("arguments", "expected"), CALLS)
@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_declaration_gives_the_same_rows(
    form: str, arguments: list[str], expected: list[str], project: Callable[..., Path]
) -> None:
    assert rows(project(FORMS[form]), *arguments) == [ROWS[name] for name in expected]


@pytest.mark.parametrize(("arguments", "expected"), CALLS)
def test_a_projects_own_table_gives_the_same_rows(
    arguments: list[str], expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments, table=TABLE, stages=STAGES) == 0
    assert capsys.readouterr().out.splitlines() == [ROWS[name] for name in expected]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], ["greenroom.toml:2:", "unknown stage 'nonsense'", "all, deps, trtllm"]),
        (["deps", "vlm"], ["greenroom.toml:4:", "unknown extra 'vlm'", "did you mean 'vllm'?", "gym"]),
        (["local"], ["unknown stage 'local'"]),
        (["all", "--actors", "a.Colector"], ["unknown actor 'a.Colector'", "did you mean 'a.Collector'?"]),
        (["--formt", "json"], ["unknown option '--formt'", "--help"]),
        (["--format", "yaml"], ["rows, json, github-matrix"]),
        (["--declaration"], ["--declaration needs a value"]),
        (["--declaration", "absent.toml"], ["absent.toml: cannot be read: No such file"]),
        (["--declaration", "."], ["no regular file"]),
    ],
)
def test_wrong_use_is_one_line_and_status_2(
    arguments: list[str], words: list[str], project: Callable[..., Path]
) -> None:
    line = refusal(project({"greenroom.toml": TOML}), *arguments)
    assert [word for word in words if word not in line] == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("greenroom.toml", "[actors]\na.B = 3\n", ["greenroom.toml:2:", "'a.B'", "says no source"]),
        ("greenroom.toml", "[actors]\n'a.B' = true\n", ["greenroom.toml:2:", "says no source"]),
        ("greenroom.toml", "[actors]\n'a.B' = [1]\n", ["something else than strings in 'extras'"]),
        ("greenroom.toml", "[actors]\n\n'a.B' = {environment = 'x'}\n", [":3:", "unknown environment 'x'"]),
        ("greenroom.toml", "[actors]\nB = {extra = ['a']}\n", ["unknown key 'extra'"]),
        ("greenroom.toml", "[actors\n", ["greenroom.toml:1:", "not valid TOML"]),
        ("greenroom.toml", "[actors]\na = [\n", ["not valid TOML"]),
        ("greenroom.toml", "actors = 1", ["[actors] must be a table"]),
        ("greenroom.toml", "stages = 1", ["[stages] must be a table"]),
        ("greenroom.toml", "[stages]\nx = 1", ["greenroom.toml:2:", "[stages.x] must be a table"]),
        ("greenroom.toml", "a = 1\x00", ["not valid TOML"]),
        ("greenroom.toml", "a = " + "[" * 100_000, ["nested too deeply"]),
        ("greenroom.toml", "[actors]\n" + ".".join(["a"] * 5000) + " = []", ["nested too deeply"]),
        ("greenroom.toml", "a = 1\na = 2\n", ["greenroom.toml:2:", "Cannot overwrite"]),
        ("greenroom.toml", b"a = 1\nb = '\xc3", ["greenroom.toml:2:", "not UTF-8"]),
        ("greenroom.toml", b"x" * 10_000_001, ["larger than 10 MB"]),
        ("greenroom.toml", "registry = 'no.py'", ["no.py: cannot be read"]),
        ("pyproject.toml", "[tool.greenroom\n", ["pyproject.toml:1:", "not valid TOML"]),
        ("pyproject.toml", "[tool.other]\n", ["no greenroom.toml and no [tool.greenroom]"]),
    ],
)
def test_a_malformed_declaration_is_one_line_and_status_2(
    name: str, text: str | bytes, words: list[str], project: Callable[..., Path]
) -> None:
    line = refusal(project({name: text}))
    assert [word for word in words if word not in line] == []


NOT_LITERAL = {
    "a name": "X = ['a']\nACTOR_ENVIRONMENTS = {'a.B': X}",
    "a sum": "ACTOR_ENVIRONMENTS = {\n 'a.B': ['a'] + ['b']}",
    "a call": "\nACTOR_ENVIRONMENTS = dict(a=['b'])",
    "a splat": "\nACTOR_ENVIRONMENTS = {**BASE}",
    "a comprehension": "\nACTOR_ENVIRONMENTS = {k: None for k in 'ab'}",
    "a computed key": "\nACTOR_ENVIRONMENTS = {'a' + 'b': None}",
    "a number": "\nACTOR_ENVIRONMENTS = {'a.B': [1]}",
    "a flag": "\nACTOR_ENVIRONMENTS = {'a.B': False}",
    "no value": "\nACTOR_ENVIRONMENTS: dict",
    "twice": "ACTOR_ENVIRONMENTS = {}\nACTOR_ENVIRONMENTS = {}",
    "in a branch": "if X:\n    ACTOR_ENVIRONMENTS = {}",
    "in a loop": "\nfor ACTOR_ENVIRONMENTS in []: pass",
    "unpacked": "\nACTOR_ENVIRONMENTS, b = {}, 1",
    "two targets": "\nACTOR_ENVIRONMENTS = b = {}",
    "an item": "ACTOR_ENVIRONMENTS = {}\nACTOR_ENVIRONMENTS['a.B'] = None",
    "deleted": "ACTOR_ENVIRONMENTS = {}\ndel ACTOR_ENVIRONMENTS['a.B']",
    "updated": "ACTOR_ENVIRONMENTS = {}\nACTOR_ENVIRONMENTS.update(x)",
    "merged": "ACTOR_ENVIRONMENTS = {}\nACTOR_ENVIRONMENTS |= x",
}


@pytest.mark.parametrize("what", NOT_LITERAL)
def test_a_table_that_is_more_than_a_literal_is_refused_with_its_line(
    what: str, project: Callable[..., Path]
) -> None:
    line = refusal(project({"table.py": NOT_LITERAL[what]}), "--declaration", "table.py")
    assert "table.py:2: " in line
    assert "never executed" in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def (", ["table.py:1:", "not valid Python"]),
        ("x = 1", ["has no ACTOR_ENVIRONMENTS"]),
        ("from x import ACTOR_ENVIRONMENTS", ["has no ACTOR_ENVIRONMENTS"]),
        ("x\0", ["not valid Python"]),
        ("(" * 5000, ["not valid Python"]),
        ("x = " + "-" * 200_000 + "1", ["not valid Python"]),
        ("# coding: nonsense", ["not valid Python"]),
        ("ACTOR_ENVIRONMENTS = {\n'a.B': None,\n'a.B': []}", ["table.py:3:", "declared twice", "table.py:2"]),
    ],
)
def test_a_registry_that_cannot_be_read_says_why(
    text: str, words: list[str], project: Callable[..., Path]
) -> None:
    line = refusal(project({"table.py": text}), "--declaration", "table.py")
    assert [word for word in words if word not in line] == []


def test_a_registry_is_never_executed() -> None:
    found = rows(DATA, "--declaration", "registry.py")
    assert found == [row.replace("\ttrtllm\t", "\tdeps\t") for row in rows(DATA)]


def test_the_table_may_be_used_by_its_module(project: Callable[..., Path]) -> None:
    text = """
ACTOR_ENVIRONMENTS = {'a.B': ('x',), 'a.C': None}
NAMES = sorted(ACTOR_ENVIRONMENTS) + [ACTOR_ENVIRONMENTS['a.C']]
def change():
    ACTOR_ENVIRONMENTS.clear()
"""
    cwd = project({"table.py": text})
    assert rows(cwd, "--declaration", "table.py") == ["a.B\tdeps\t--extra x"]


def test_the_trainers_shape_gives_its_numbers() -> None:
    assert len(rows(DATA)) == 18
    assert len(rows(DATA, "deps")) == 17
    assert len(rows(DATA, "trtllm")) == 1
    assert len(rows(DATA, "deps", "vllm")) == 10
    assert len(rows(DATA, "--distinct")) == 11


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside this checkout")
def test_the_real_trainer_gives_its_numbers() -> None:
    calls = [(), ("deps",), ("trtllm",), ("deps", "vllm"), ("--distinct",)]
    assert [len(rows(CORPUS, *call)) for call in calls] == [18, 17, 1, 10, 11]


def test_an_extra_of_the_project_that_no_actor_needs_skips_nothing() -> None:
    assert len(rows(DATA, "all", "audio")) == 18
    assert "known: " in refusal(DATA, "all", "nothing")


def test_skipping_goes_by_extra_and_not_by_a_part_of_a_name(project: Callable[..., Path]) -> None:
    text = "[actors]\n'a.vllm.Worker' = ['plain']\n'a.Other' = ['vllm-more']\n'a.C' = ['vllm']\n"
    found = rows(project({"greenroom.toml": text}), "all", "vllm")
    assert [row.partition("\t")[0] for row in found] == ["a.vllm.Worker", "a.Other"]


def test_unquoted_dotted_names_are_the_dotted_names(project: Callable[..., Path]) -> None:
    text = (
        "[actors]\napp.x.A = ['a']\napp.x.B = {extras = ['b'], env = {X = '1'}}\n[actors.app.y]\nC = ['c']\n"
    )
    assert rows(project({"greenroom.toml": text})) == [
        "app.x.A\tdeps\t--extra a",
        "app.x.B\tdeps\t--extra b",
        "app.y.C\tdeps\t--extra c",
    ]


def test_every_form_of_source_has_its_arguments(project: Callable[..., Path]) -> None:
    text = """
    [environments]
    big = { extras = ["b"], groups = ["g"], default-groups = false }
    [actors]
    "a.A" = { pylock = "pylock.toml", extras = ["x"] }
    "a.B" = { requirements = "a b.txt" }
    "a.C" = { requirements = ["r.txt"], dependencies = ["x<2"] }
    "a.D" = { script = "s.py" }
    "a.E" = { project = "p", package = "m", extras = [] }
    "a.F" = { environment = "big", env = { X = "1" } }
    "a.G" = { environment = false, env = { X = "1" } }
    "a.H" = []
    """
    assert [row.split("\t")[2] for row in rows(project({"greenroom.toml": text}))] == [
        "--pylock pylock.toml --extra x",
        "--requirements 'a b.txt'",
        "--requirements r.txt --with x<2",
        "--script s.py",
        "--project p --package m",
        "--no-default-groups --extra b --group g",
        "",
    ]


def test_distinct_rows_hold_all_their_actors(project: Callable[..., Path]) -> None:
    text = """
    [environments]
    shared = { extras = ["B_b", "a"] }
    [actors]
    "x.A" = ["a", "b-b"]
    "x.B" = ["c"]
    "x.C" = { extras = ["b.b", "a"], env = { X = "1" } }
    "x.D" = { environment = "shared" }
    "x.E" = { extras = ["a", "b-b"], python = "3.12" }
    """
    cwd = project({"greenroom.toml": text})
    assert rows(cwd, "--distinct") == [
        "x.A,x.C,x.D\tdeps\t--extra a --extra b-b",
        "x.B\tdeps\t--extra c",
        "x.E\tdeps\t--extra a --extra b-b",
    ]
    found = json.loads(bare("--distinct", "--format=github-matrix", cwd=cwd).stdout)
    assert found["include"][1] == {
        "actors": ["x.B"],
        "stage": "deps",
        "extras": ["c"],
        "arguments": "--extra c",
    }


def test_json_says_the_same_as_the_rows(project: Callable[..., Path]) -> None:
    cwd = project({"greenroom.toml": TOML})
    found = json.loads(bare("all", "--format", "json", cwd=cwd).stdout)
    assert ["\t".join((row["actor"], row["stage"], row["arguments"])) for row in found] == rows(cwd)


def test_the_last_of_several_stages_finishes(project: Callable[..., Path]) -> None:
    text = """
    [stages]
    one = { extras = ["a"] }
    two = { extras = ["b"] }
    [actors]
    "x.A" = ["b", "a"]
    "x.B" = ["a"]
    """
    assert [row.split("\t")[1] for row in rows(project({"greenroom.toml": text}))] == ["two", "one"]
    assert actor_environments._build_stage(["a", "B"], {"one": ["a"], "two": ["b"]}) == "two"
    assert actor_environments._build_stage([], {}) == "deps"


def test_the_stage_is_the_declarations_own_where_none_is_given(project: Callable[..., Path]) -> None:
    cwd = project({"greenroom.toml": TOML, "deep/er/x": ""}) / "deep/er"
    code = f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); import actor_environments as a"
    done = subprocess.run(
        [base().path, "-I", "-S", "-c", f"{code}; print(a._build_stage(['trtllm']), a._build_stage(['x']))"],
        cwd=cwd, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "trtllm deps\n"


def test_a_filled_in_copy_is_the_declaration(tmp_path: Path) -> None:
    text = SCRIPT.read_text()
    empty = "ACTOR_ENVIRONMENTS: dict[str, list[str] | None] = {}"
    assert empty in text
    copy = tmp_path / "own.py"
    copy.write_text(text.replace(empty, empty[:-2] + repr(TABLE)).replace("= {}\n", f"= {STAGES}\n", 1))
    done = subprocess.run(
        [base().path, "-I", "-S", str(copy), "deps", "vllm"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "a.Core\tdeps\t--extra mcore\n"
    assert rows(tmp_path, "--declaration", "own.py", "trtllm") == [ROWS["a.Trt"]]


def test_it_runs_where_nothing_else_is(tmp_path: Path) -> None:
    for name in ("greenroom.toml", "pyproject.toml"):
        shutil.copy(DATA / name, tmp_path)
    before = sorted(tmp_path.iterdir())
    assert len(rows(tmp_path)) == 18
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_it_runs_on_newer_pythons(version: str) -> None:
    if not needs_python(version).args[0]:
        done = bare("deps", cwd=DATA, executable=python(version).path)
        assert (len(done.stdout.splitlines()), done.stderr) == (17, "")
    else:
        pytest.skip(needs_python(version).kwargs["reason"])


@needs_python("3.10")
def test_python_310_is_told_that_it_cannot_read_toml_but_reads_registries() -> None:
    old = python("3.10").path
    done = bare("deps", cwd=DATA, executable=old)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Python 3.10 has no tomllib" in done.stderr
    assert "3.11 or newer" in done.stderr
    done = bare("--declaration", "registry.py", cwd=DATA, executable=old)
    assert len(done.stdout.splitlines()) == 18


def test_it_imports_the_standard_library_only() -> None:
    nodes = list(ast.walk(ast.parse(SCRIPT.read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    assert not any(node.level for node in nodes if isinstance(node, ast.ImportFrom))


def test_starting_loads_nothing_heavy() -> None:
    code = f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); import actor_environments"
    done = subprocess.run(
        [base().path, "-I", "-S", "-c", f"{code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"ast", "tomllib", "json", "argparse", "re", "difflib", "typing"} & set(done.stdout.split())


def test_its_keys_are_the_checkers_keys() -> None:
    assert {key.name for key in tables.SPEC.keys} == actor_environments.SPEC_KEYS
    assert {key.name for key in tables.LAUNCH} == set(actor_environments.LAUNCH_KEYS)


def test_it_finds_the_declaration_upwards_and_greenroom_toml_first(project: Callable[..., Path]) -> None:
    own = "[tool.greenroom.actors]\n'x.A' = ['pyproject']\n"
    root = project({"greenroom.toml": TOML, "pyproject.toml": own, "in/pyproject.toml": own, "in/er/x": ""})
    assert rows(root, "trtllm") == [ROWS["a.Trt"]]
    assert rows(root / "in/er") == ["x.A\tdeps\t--extra pyproject"]


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    many = "".join(f"'x.A{number}' = ['extra']\n" for number in range(20_000))
    write_files(tmp_path, {"greenroom.toml": f"[actors]\n{many}"})
    process = subprocess.Popen(
        [base().path, "-I", "-S", str(SCRIPT)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "greenroom.toml")
    assert "no regular file" in refusal(tmp_path)


@needs_unprivileged_user
@needs_root
def test_a_declaration_that_may_not_be_read_is_said(public_path: Path) -> None:
    shutil.copy(SCRIPT, public_path)
    (public_path / "greenroom.toml").touch(mode=0o600)
    done = subprocess.run(
        [*as_nobody(), "/usr/bin/env", "-i", _public_python(), "-I", "-S", str(public_path / SCRIPT.name)],
        cwd=public_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "greenroom.toml: cannot be read: Permission denied" in done.stderr


def _public_python() -> str:
    """Return an interpreter that every user can start."""
    usual = [Path("/usr/bin/python3.11"), Path("/usr/bin/python3"), Path("/usr/local/bin/python3")]
    found = next((str(path) for path in usual if path.exists()), None)
    return found or pytest.skip("no interpreter here is open to other users")


def test_a_fault_says_one_line() -> None:
    assert str(Fault("use", "a\nb", "file", 3, "do")) == "file:3: a b (do)"


def test_a_fault_never_repeats_credentials(project: Callable[..., Path]) -> None:
    text = "registry = 'https://bob:S3CRET@host/x.py'\n[actors]\n'a.A' = []\n"
    assert "S3CRET" not in refusal(project({"greenroom.toml": text}))
    text = "[actors]\n'a.A' = { environment = 'https://S3CRET@host' }\n"
    assert "***@host" in refusal(project({"greenroom.toml": text}))


def test_help_needs_no_declaration(tmp_path: Path) -> None:
    assert bare("--help", cwd=tmp_path).stdout == actor_environments.USAGE
