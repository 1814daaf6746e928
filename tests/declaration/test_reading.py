"""What a declaration means, and what is said of one that means nothing."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.workspace import write_files

from greenroom import errors
from greenroom.components import (
    Declaration,
    EnvironmentSpec,
    Index,
    InlineSource,
    ProjectSource,
    PylockSource,
    RequirementsSource,
    ScriptSource,
    Stage,
)
from greenroom.declaration.reading import find_declaration, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from greenroom.components import Component, Options

CORPUS = Path(__file__).parents[3] / "shared/corpus/nemo-rl"
PROJECT = """
[project]
name = "App"
version = "0"
[project.optional-dependencies]
vllm = []
nemo_gym = []
[dependency-groups]
test = []
"""


@pytest.fixture
def declare(tmp_path: Path) -> Callable[..., Declaration]:
    """Read a declaration from its text and further files."""

    def declared(text: str, files: dict[str, str] | None = None) -> Declaration:
        write_files(tmp_path, {"greenroom.toml": text, "pyproject.toml": PROJECT, **(files or {})})
        return read(str(tmp_path / "greenroom.toml"), {})

    return declared


@pytest.fixture
def complaints(declare: Callable[..., Declaration], tmp_path: Path) -> Callable[..., list[str]]:
    """Return the lines that are said of a wrong declaration, without the directory."""

    def said(text: str, files: dict[str, str] | None = None) -> list[str]:
        with pytest.raises(errors.Problems) as caught:
            declare(text, files)
        assert caught.value.status == 2
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 - our own
        return [line.replace(f"{tmp_path}/", "") for line in caught.value.lines()]

    return said


def spec_of(declaration: Declaration, name: str) -> EnvironmentSpec:
    found = component(declaration, name).spec
    assert found is not None
    return found


def component(declaration: Declaration, name: str) -> Component:
    return next(found for found in declaration.components if found.name == name)


def options_of(declare: Callable[..., Declaration], options: str, more: str = "") -> Options:
    return spec_of(declare(f"{more}\n[actors.'a.B']\nextras = []\n{options}"), "a.B").options


# --- what it means ---


def test_a_list_is_extras_of_the_project_beside_it(
    declare: Callable[..., Declaration], tmp_path: Path
) -> None:
    found = declare('[actors]\n"app.A" = ["vllm", "nemo-gym"]\n"app.B" = false\n')
    assert [(one.name, one.kind) for one in found.components] == [("app.A", "actor"), ("app.B", "actor")]
    assert component(found, "app.B").spec is None
    assert spec_of(found, "app.A").source == ProjectSource(
        directory=str(tmp_path), extras=("vllm", "nemo-gym")
    )
    assert str(component(found, "app.A").origin) == f'{tmp_path}/greenroom.toml:2 [actors] "app.A"'


def test_the_five_forms_of_source(declare: Callable[..., Declaration], tmp_path: Path) -> None:
    found = declare("""
    [actors]
    "a.A" = { extras = ["vllm"], groups = ["test"], default-groups = false, package = "app" }
    "a.B" = { pylock = "../pylock.x.toml", extras = ["e"], groups = ["g"] }
    "a.D" = { dependencies = ["httpx", "-e ./lib"] }
    "a.E" = { script = "s.py" }
    "a.F" = { requirements = ["r.txt", "q.txt"], dependencies = ["httpx"] }
    "a.G" = { dependencies = ["httpx"], overrides = "o.txt" }
    "a.H" = { project = "sub" }
    [actors."a.C"]
    requirements = "r.txt"
    constraints = ["c.txt"]
    overrides = "o.txt"
    build-constraints = "b.txt"
    """)
    root = str(tmp_path)
    assert [spec_of(found, f"a.{letter}").source for letter in "ABCDEFGH"] == [
        ProjectSource(
            directory=root, package="app", extras=("vllm",), groups=("test",), default_groups=False
        ),
        PylockSource(path=str(tmp_path.parent / "pylock.x.toml"), extras=("e",), groups=("g",)),
        RequirementsSource(
            requirements=(f"{root}/r.txt",),
            constraints=(f"{root}/c.txt",),
            overrides=(f"{root}/o.txt",),
            build_constraints=(f"{root}/b.txt",),
        ),
        InlineSource(requirements=("httpx", "-e ./lib"), base=root),
        ScriptSource(path=f"{root}/s.py"),
        RequirementsSource(
            requirements=(f"{root}/r.txt", f"{root}/q.txt"), extra_requirements=("httpx",)
        ),
        RequirementsSource(
            requirements=(), extra_requirements=("httpx",), base=root, overrides=(f"{root}/o.txt",)
        ),
        ProjectSource(directory=f"{root}/sub"),
    ]  # fmt: skip


def test_options_as_written(declare: Callable[..., Declaration]) -> None:
    found = options_of(
        declare,
        """
        python = ">=3.11"
        build-env = ["CUDA_HOME"]
        no-build-isolation = ["Flash_Attn", "x"]
        install-local = false
        late-packages = ["A_b", "a-b"]
        compile-bytecode = false
        link-mode = "copy"
        allow-clash = ["open_cv"]
        post-install = [["python", "-m", "x"], ["true"]]
        smoke = ["import x"]
        """,
    )
    assert found.python == ">=3.11"
    assert str(found.python_origin).endswith('greenroom.toml:5 [actors] "a.B".python')
    assert found.build_env == (("CUDA_HOME", None),)
    assert found.no_build_isolation == (("flash-attn", ()), ("x", ()))
    assert (found.install_local, found.compile_bytecode, found.link_mode) == (False, False, "copy")
    assert found.late_packages == ("a-b",)
    assert found.allow_clash == ("open-cv",)
    assert found.post_install == (("python", "-m", "x"), ("true",))
    assert found.smoke == ("import x",)


def test_tables_of_variables_and_of_isolation(declare: Callable[..., Declaration]) -> None:
    found = options_of(
        declare, "build-env = { Z = '1', A = '' }\nno-build-isolation = { b = ['A_a'], a = [] }\n"
    )
    assert found.build_env == (("A", ""), ("Z", "1"))
    assert found.no_build_isolation == (("b", ("a-a",)), ("a", ()))


def test_defaults_are_replaced_key_by_key_and_variables_merged(declare: Callable[..., Declaration]) -> None:
    found = declare("""
    [defaults]
    python = "3.12"
    smoke = ["import d"]
    install-local = false
    build-env = ["A", "B"]
    env = { X = "1", Y = "1" }
    env-file = "d.env"
    default-groups = false
    project = "sub"
    [actors]
    "a.A" = []
    [actors."a.B"]
    extras = []
    python = "3.11"
    smoke = []
    build-env = { B = "2" }
    env = { Y = "2" }
    env-file = "b.env"
    default-groups = true
    project = "."
    """)
    first, second = spec_of(found, "a.A"), spec_of(found, "a.B")
    assert (first.options.python, first.options.smoke, first.options.install_local) == (
        "3.12",
        ("import d",),
        False,
    )
    assert str(first.options.python_origin).endswith("greenroom.toml:3 [defaults] python")
    assert first.options.build_env == (("A", None), ("B", None))
    assert first.source == ProjectSource(directory=f"{found.root}/sub", default_groups=False)
    assert component(found, "a.A").launch.variables == (("X", "1"), ("Y", "1"))
    assert (second.options.python, second.options.smoke) == ("3.11", ())
    assert second.options.build_env == (("A", None), ("B", "2"))
    assert second.source == ProjectSource(directory=found.root)
    launch = component(found, "a.B").launch
    assert launch.variables == (("X", "1"), ("Y", "2"))
    assert launch.env_file == f"{found.root}/b.env"


def test_components_share_a_named_environment(declare: Callable[..., Declaration]) -> None:
    found = declare("""
    [environments]
    big = { extras = ["vllm"], smoke = ["import x"] }
    unused = ["nemo_gym"]
    [actors]
    "a.A" = { environment = "big" }
    "a.B" = { environment = "big", env = { X = "1" } }
    "a.C" = { environment = false, env = { X = "2" } }
    [servers.s]
    command = ["x"]
    environment = "big"
    """)
    shared = spec_of(found, "a.A")
    assert spec_of(found, "a.B") is shared
    assert spec_of(found, "s") is shared
    assert shared.lock_name == "big"
    assert component(found, "a.C").spec is None
    assert component(found, "a.C").launch.variables == (("X", "2"),)


def test_stages_bring_their_late_packages_to_environments_with_their_extras(
    declare: Callable[..., Declaration],
) -> None:
    found = declare("""
    [stages.one]
    extras = ["vllm"]
    late-packages = ["Late_One"]
    [stages.two]
    [actors]
    "a.A" = ["VLLM"]
    "a.B" = ["nemo_gym"]
    "a.C" = { extras = ["vllm"], late-packages = ["own"] }
    """)
    assert found.stages == (
        Stage(name="one", extras=("vllm",), late_packages=("late-one",)),
        Stage(name="two"),
    )
    assert [spec_of(found, f"a.{x}").options.late_packages for x in "ABC"] == [
        ("late-one",), (), ("own", "late-one")
    ]  # fmt: skip


def test_indexes_and_their_choice(declare: Callable[..., Declaration]) -> None:
    found = declare("""
    [[index]]
    name = "One"
    url = "https://one.example/simple"
    default = true
    [[index]]
    name = "two"
    url = "../wheels"
    explicit = true
    [actors]
    "a.A" = []
    "a.B" = { extras = [], index = ["one"] }
    """)
    one = Index(name="One", url="https://one.example/simple", default=True)
    two = Index(name="two", url=os.path.normpath(f"{found.root}/../wheels"), explicit=True)
    assert spec_of(found, "a.A").options.indexes == (one, two)
    assert spec_of(found, "a.B").options.indexes == (one,)


def test_paths_are_relative_to_the_declaration(declare: Callable[..., Declaration]) -> None:
    found = declare("""
    [defaults]
    driver = "py/bin/python"
    pythons = ["other/python", "/abs/python"]
    python-downloads = true
    python = "py/bin/python3"
    [store]
    path = ["s t", "/abs/store"]
    aliases = "venvs"
    [actors]
    "a.A" = []
    """)
    assert found.driver == f"{found.root}/py/bin/python"
    assert found.pythons == (f"{found.root}/other/python", "/abs/python")
    assert found.python_downloads
    assert found.store.paths == (f"{found.root}/s t", "/abs/store")
    assert found.store.aliases == f"{found.root}/venvs"
    assert spec_of(found, "a.A").options.python == f"{found.root}/py/bin/python3"


def test_unquoted_dotted_names_are_the_dotted_names(declare: Callable[..., Declaration]) -> None:
    found = declare("""
    [actors]
    app.x.A = ["vllm"]
    app.x.B = { extras = [], python = "3.12" }
    [actors.app.y]
    C = false
    [actors.app.y.D]
    script = "s.py"
    """)
    assert [one.name for one in found.components] == ["app.x.A", "app.x.B", "app.y.C", "app.y.D"]
    assert [one.origin.line for one in found.components] == [3, 4, 6, 7]


def test_a_registry_gives_actors_with_their_own_lines(
    declare: Callable[..., Declaration], tmp_path: Path
) -> None:
    table = "import no_such_module\nACTOR_ENVIRONMENTS = {\n 'a.A': ['vllm'],\n 'a.B': None,\n}\n"
    found = declare("registry = 'lib/table.py'\n[actors]\n'a.C' = []\n", {"lib/table.py": table})
    assert [one.name for one in found.components] == ["a.A", "a.B", "a.C"]
    assert str(component(found, "a.A").origin) == f'{tmp_path}/lib/table.py:3 "a.A"'
    assert str(tmp_path / "lib/table.py") in found.files


def test_a_python_file_can_be_the_declaration(tmp_path: Path) -> None:
    write_files(tmp_path, {"t.py": "ACTOR_ENVIRONMENTS = {'a.A': ['x']}\nSTAGES = {'late': ['x']}\n"})
    found = read(str(tmp_path / "t.py"), {})
    assert spec_of(found, "a.A").source == ProjectSource(directory=str(tmp_path), extras=("x",))
    assert found.stages == (Stage(name="late", extras=("x",)),)


def test_pyproject_holds_the_same_tables(tmp_path: Path) -> None:
    text = PROJECT + "[tool.greenroom.actors]\n'a.A' = ['vllm']\n'a.B' = { extras = ['nothing'] }\n"
    write_files(tmp_path, {"pyproject.toml": text})
    with pytest.raises(errors.Problems) as caught:
        read(str(tmp_path / "pyproject.toml"), {})
    (line,) = caught.value.lines()
    assert line.startswith(f'{tmp_path}/pyproject.toml:12 [actors] "a.B".extras[0]: extra')


def test_the_files_that_decide_are_told_absent_ones_too(declare: Callable[..., Declaration]) -> None:
    found = declare("""
    registry = "table.py"
    [actors]
    "a.A" = { project = "sub" }
    [servers.s]
    path = "srv"
    [discover]
    servers = ["more/*"]
    """, {"table.py": "ACTOR_ENVIRONMENTS = {}", "srv/requirements.txt": "", "more/a/x": ""})  # fmt: skip
    told = {os.path.relpath(path, found.root) for path in found.files}
    wanted = {"greenroom.toml", "pyproject.toml", "table.py", "sub/pyproject.toml", "more"}
    wanted |= {"srv/requirements.txt", "srv/.python-version", "srv/uv.lock", "more/a/requirements.txt"}
    assert wanted <= told
    assert found.files == tuple(sorted(set(found.files)))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside this checkout")
def test_the_real_trainer_is_read() -> None:
    found = read(str(CORPUS / "greenroom.toml"), {})
    specs = [one.spec for one in found.components if one.spec]
    assert (len(found.components), len(specs)) == (28, 18)
    assert (
        len({frozenset(spec.source.extras) for spec in specs if isinstance(spec.source, ProjectSource)}) == 11
    )
    late = [one.name for one in found.components if one.spec and one.spec.options.late_packages]
    assert [name.rpartition(".")[2] for name in late] == ["TrtllmAsyncGenerationWorker"]


# --- what is said of what is wrong ---


def test_every_problem_of_one_reading_is_said_at_once(complaints: Callable[..., list[str]]) -> None:
    said = complaints("""registr = "x"
[actors]
"a.A" = ["vlm"]
"a.B" = { extras = [
   "vllm",
   "nemo_gim"], groups = ["tst"], python = 3 }
"a.C" = { environment = "bg" }
"a.D" = { extras = [], index = ["nope"], link-mode = "symlink" }
[environments.big]
extras = []
[stages.s]
extras = ["vlm"]
[servers.q]
path = "nowhere"
needs = ["r"]
""")
    expected = [
        ("1 registr", "unknown key 'registr' (did you mean 'registry'?)"),
        ('3 [actors] "a.A"[0]', "extra 'vlm'", "did you mean 'vllm'?"),
        ('6 [actors] "a.B".extras[1]', "extra 'nemo_gim'", "did you mean 'nemo_gym'?"),
        ('6 [actors] "a.B".groups[0]', "dependency group 'tst'", "did you mean 'test'?"),
        ('6 [actors] "a.B".python', "expected a Python version, specifier or path, found an integer"),
        ('7 [actors] "a.C".environment', "unknown environment 'bg'", "did you mean 'big'?"),
        ('8 [actors] "a.D".index[0]', "unknown index 'nope'", "none is declared"),
        ('8 [actors] "a.D".link-mode', "hollow when the cache is cleaned", "hardlink, clone, copy"),
        ("12 [stages.s] extras[0]", "extra 'vlm'"),
        ("13 [servers.q]", "nowhere is no directory"),
        ("15 [servers.q] needs[0]", "unknown server 'r'"),
    ]
    assert len(said) == len(expected)
    remaining = list(said)
    for place, *words in expected:
        (line,) = [one for one in remaining if one.startswith(f"greenroom.toml:{place}: ")]
        assert [word for word in words if word not in line] == []
        remaining.remove(line)
    lines = [int(one.split(":")[1].split()[0]) for one in said]
    assert lines == sorted(lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[actors]\n'a.A' = 1", "expected false, or a list of extras, or a table, found an integer"),
        ("[actors]\n'a.A' = true", "found true"),
        ("[actors]\n'a.A' = [['x']]", "expected an extra's name, found a list"),
        ("[actors]\n'a.A' = ['a b']", "'a b' cannot be an extra's name"),
        ("[actors]\n'a A' = []", "is no class name (write package.module.ClassName)"),
        ("[actors]\n'a..A' = []", "is no class name"),
        ("[actors]\n'a.A' = {}", "no source is said"),
        ("[actors]\n'a.A' = { env = {} }", "no source is said"),
        ("[actors]\n'a.A' = { script = 'a', pylock = 'pylock.toml' }", "several sources: pylock, script"),
        ("[actors]\n'a.A' = { project = 'a', requirements = 'b' }", "several sources: requirements, project"),
        ("[actors]\n'a.A' = { script = 'a', extras = [] }", "several sources: script, extras"),
        ("[actors]\n'a.A' = { script = 'a', constraints = 'c' }", "'constraints' belongs to requirements"),
        ("[actors]\n'a.A' = { extras = [], constraints = 'c' }", "'constraints' belongs to requirements"),
        ("[actors]\n'a.A' = { requirements = 'r', default-groups = false }", "belongs to a uv project"),
        ("[actors]\n'a.A' = { pylock = 'lock.toml' }", "name it pylock.toml or pylock.<name>.toml"),
        ("[actors]\n'a.A' = { pylock = 'pylock.a.b.toml' }", "name it pylock.toml"),
        ("[actors]\n'a.A' = { package = 'ap' }", "'ap' is no member of the workspace (did you mean 'app'?)"),
        ("[actors]\n'a.A' = { environment = 'x', python = '3' }\n[environments]\nx = []", "stands beside"),
        ("[actors]\n'a.A' = { environment = false, smoke = [] }", "there is no environment"),
        ("[actors]\n'a.A' = { extras = [], env = { 'A-B' = 'x' } }", "'A-B' cannot be a variable's name"),
        ("[actors]\n'a.A' = { extras = [], env = { A = 1 } }", "expected a string, found an integer"),
        ("[actors]\n'a.A' = { extras = [], python = '' }", "the string is empty"),
        ("[actors]\n'a.A' = { script = \"a\\u0000b\" }", "a NUL character"),
        ("[actors]\n'a.A' = { script = '~/x' }", "without ~ and variables, which are not expanded"),
        ("[actors]\n'a.A' = { script = '$HOME/x' }", "without ~ and variables, which are not expanded"),
        ("[actors]\n'a.A' = { extras = [], post-install = [[]] }", "the list is empty"),
        ("[actors]\n'a.A' = { extras = [], python = 1979-05-27 }", "found a date or time"),
        ("[actors]\nA = { extra = ['a'] }", "unknown key 'extra' (did you mean 'extras'?)"),
        ("[actors]\nA = { extras = [], Work = [] }", "has options (extras) beside what is no option (Work)"),
        ("[actors]\nx.env.A = []", "x.env.A: expected a string, found a list"),
        ("[actors]\na.A = []\n'a.A' = []", "actor 'a.A' is declared twice"),
        ("actors = []", "[actors] must be a table"),
        ("servers = 1", "expected a table of servers, found an integer"),
        ("[servers.s]\ncommand = ['x']", "has neither a path nor a source"),
        ("[servers.'-s']\nscript = 'x'", "cannot be a server's name"),
        ("[servers.s]\nscript = 'x'\nport = 70000", "out of bounds"),
        ("[servers.s]\nscript = 'x'\nready = { htp = 'x' }", "unknown key 'htp' (did you mean 'http'?)"),
        ("[servers.s]\nscript = 'x'\nneeds = { s2 = 'ready' }", "unknown server 's2'"),
        ("[servers.s]\nscript = 'x'\nneeds = { s = 'up' }", "use one of started, ready, completed"),
        ("[servers.s]\nscript = 'x'\ngrace = nan", "out of bounds"),
        ("[servers.s]\nscript = 'x'\nreplicas = true", "found true"),
        ("[actors]\n'S' = []\n[servers.S]\nscript = 'x'", "component 'S' is declared twice"),
        ("[stages.local]\nextras = []", "other than all, deps and local"),
        ("[[index]]\nurl = 'x'", "the key 'name' is missing"),
        ("[[index]]\nname = 'A'\nurl = 'x'\n[[index]]\nname = 'a'\nurl = 'y'", "index 'a' is declared twice"),
        ("registry = 'none.py'", "cannot be read: No such file or directory"),
        ("registry = 1", "expected a path, found an integer"),
        ("[discover]\nservers = 'x'", "expected a list of glob patterns, found a string"),
    ],
)  # fmt: skip
def test_each_mistake_is_one_line_that_says_it(
    text: str, words: str, complaints: Callable[..., list[str]]
) -> None:
    (line,) = complaints(text)
    assert words in line
    assert ":" in line


def test_names_are_compared_normalized(declare: Callable[..., Declaration]) -> None:
    declare('[actors]\n"a.A" = ["nemo-gym", "NEMO.GYM"]\n"a.B" = { extras = [], groups = ["TEST"] }\n')


def test_extras_are_left_to_the_lock_where_pyproject_is_absent_or_computes_them(tmp_path: Path) -> None:
    path = write_files(tmp_path, {"greenroom.toml": '[actors]\n"a.A" = ["x"]\n[stages.s]\nextras = ["y"]\n'})
    read(str(path / "greenroom.toml"), {})
    dynamic = '[project]\nname = "x"\ndynamic = ["version", "optional-dependencies"]\n'
    write_files(tmp_path, {"pyproject.toml": dynamic})
    read(str(path / "greenroom.toml"), {})


def test_members_of_a_workspace_have_their_own_extras(
    declare: Callable[..., Declaration], complaints: Callable[..., list[str]]
) -> None:
    files = {
        "pyproject.toml": PROJECT + '[tool.uv.workspace]\nmembers = ["libs/*"]\n',
        "libs/one/pyproject.toml": '[project]\nname = "one"\n[project.optional-dependencies]\nfast = []\n',
    }
    text = '[actors]\n"a.A" = { package = "One", extras = ["fast"], groups = ["test"] }\n'
    found = declare(text, files)
    assert f"{found.root}/libs/one/pyproject.toml" in found.files
    assert f"{found.root}/libs" in found.files
    (line,) = complaints(text.replace("fast", "vllm"), files)
    assert "extra 'vllm' is not declared by libs/one/pyproject.toml (known: fast)" in line
    (line,) = complaints('[actors]\n"a.A" = { package = "onne" }', files)
    assert "'onne' is no member of the workspace (did you mean 'one'?)" in line


def test_members_that_are_absent_are_left_to_the_lock(declare: Callable[..., Declaration]) -> None:
    files = {"pyproject.toml": PROJECT + '[tool.uv.workspace]\nmembers = ["libs/*"]\n'}
    declare('[actors]\n"a.A" = { package = "one", extras = ["x"] }\n', files)


def test_a_broken_pyproject_is_said_once(complaints: Callable[..., list[str]]) -> None:
    (line,) = complaints('[actors]\n"a.A" = ["x"]\n"a.B" = ["y"]\n', {"pyproject.toml": "\n[project"})
    assert line.startswith("pyproject.toml:2: is not valid TOML")


SECRETS = [
    '[[index]]\nname = "my.index"\nurl = "https://bob:S3CRETPW@host/simple"',
    '[[index]]\nname = "my.index"\nurl = "https://S3CRETPW@host/simple"',
    '[actors]\n"a.A" = { dependencies = ["x @ https://bob:S3CRETPW@host/x.whl"] }',
    '[actors]\n"a.A" = { dependencies = ["x @ git+https://S3CRETPW@host/x.git"] }',
    '[actors]\n"a.A" = { dependencies = ["--index-url https://bob:S3CRET%40PW@host/"] }',
    '[actors]\n"a.A" = { dependencies = ["x @ git+ssh://git:S3CRETPW@host/x.git"] }',
]


@pytest.mark.parametrize("text", SECRETS)
def test_credentials_are_refused_and_never_repeated(text: str, complaints: Callable[..., list[str]]) -> None:
    (line,) = complaints(text)
    assert "S3CRET" not in line
    assert "credentials" in line
    assert "_PASSWORD" in line
    if "index]]" in text:
        assert "greenroom.toml:3 index[0].url" in line
        assert "UV_INDEX_MY_INDEX_USERNAME" in line


def test_credentials_in_a_wrong_place_are_not_repeated_either(complaints: Callable[..., list[str]]) -> None:
    said = complaints("""
registry = "https://bob:S3CRETPW@host/x.py"
[actors]
"a.A" = ["https://bob:S3CRETPW@host/simple"]
"a.B" = { extras = [], index = ["https://S3CRETPW@host/"], link-mode = "https://a:S3CRETPW@b" }
"a.C" = { environment = "https://bob:S3CRETPW@host" }
""")
    assert len(said) == 5
    assert not [line for line in said if "S3CRET" in line]


@pytest.mark.parametrize(
    "line",
    [
        "x @ git+ssh://git@host/x.git",
        "x @ git+https://git@host/x.git",
        "x @ https://${USER}:${TOKEN}@host/x.whl",
    ],
)
def test_what_is_no_secret_is_no_error(line: str, declare: Callable[..., Declaration]) -> None:
    declare(f'[actors]\n"a.A" = {{ dependencies = ["{line}"] }}\n')


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "nonsense of 50 MB": (b"\xff[" * 25_000_000, "is larger than 10 MB"),
    "cut in a character": (b"a = 1\nb = '\xc3", "greenroom.toml:2: is not UTF-8"),
    "NUL": (b"a = 1\n\x00", "greenroom.toml:2: is not valid TOML"),
    "deep": (b"a = " + b"[" * 100_000, "is nested too deeply"),
    "a long dotted key": (b".".join([b"a"] * 5_000) + b" = 1", "is nested too deeply"),
    "a duplicate key": (
        b"[store]\npath = 'a'\npath = 'b'",
        "greenroom.toml:3: is not valid TOML: Cannot overwrite",
    ),
    "a duplicate table": (b"[store]\n[store]\n", "greenroom.toml:2: is not valid TOML: Cannot declare"),
    "unfinished": (b"\n\na = [", "greenroom.toml:3: is not valid TOML"),
    "a number too long": (b"a = " + b"9" * 5_000, "is not valid TOML"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_an_unreadable_declaration_is_one_line(what: str, tmp_path: Path) -> None:
    data, words = UNREADABLE[what]
    (tmp_path / "greenroom.toml").write_bytes(data)
    with pytest.raises(errors.Problems) as caught:
        read(str(tmp_path / "greenroom.toml"), {})
    (error,) = caught.value.errors
    assert isinstance(error, errors.UnreadableDeclaration)
    assert words in str(error)
    assert len(str(error)) < 400


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "greenroom.toml").write_bytes(b"\xef\xbb\xbf[actors]\r\n'a.A' = []\r\n")
    assert read(str(tmp_path / "greenroom.toml"), {}).components[0].origin.line == 2


def test_a_directory_and_a_dangling_link_are_said(tmp_path: Path) -> None:
    (tmp_path / "greenroom.toml").mkdir()
    with pytest.raises(errors.Problems, match="is no regular file"):
        read(find_declaration(str(tmp_path), {}), {})
    (tmp_path / "greenroom.toml").rmdir()
    (tmp_path / "greenroom.toml").symlink_to("nowhere")
    with pytest.raises(errors.Problems, match="cannot be read: No such file"):
        read(find_declaration(str(tmp_path), {}), {})


# --- finding it ---


def test_it_is_found_upwards_and_greenroom_toml_counts_first(tmp_path: Path) -> None:
    own = "[tool.greenroom]\n"
    write_files(
        tmp_path, {"greenroom.toml": "", "pyproject.toml": own, "a/pyproject.toml": own, "a/b/c/x": ""}
    )
    write_files(tmp_path, {"a/b/pyproject.toml": "# greenroom\n[tool.other]\n"})
    assert find_declaration(str(tmp_path / "a/b/c"), {}) == str(tmp_path / "a/pyproject.toml")
    assert find_declaration(str(tmp_path), {}) == str(tmp_path / "greenroom.toml")
    assert find_declaration(None, {"GREENROOM_PROJECT": str(tmp_path)}) == str(tmp_path / "greenroom.toml")
    named = str(tmp_path / "a/pyproject.toml")
    assert find_declaration(named, {}) == named


def test_a_link_to_a_project_leads_to_the_same_declaration(tmp_path: Path) -> None:
    write_files(tmp_path, {"real/greenroom.toml": "", "real/in/x": ""})
    (tmp_path / "link").symlink_to("real")
    assert find_declaration(str(tmp_path / "link/in"), {}) == str(tmp_path / "real/greenroom.toml")
    assert find_declaration(str(tmp_path / "link/greenroom.toml"), {}) == str(
        tmp_path / "real/greenroom.toml"
    )


@pytest.mark.parametrize("start", ["", "no/such/directory"])
def test_nothing_found_says_what_to_do(start: str, tmp_path: Path) -> None:
    with pytest.raises(errors.DeclarationNotFound, match="greenroom init"):
        find_declaration(str(tmp_path / start), {})


def test_a_broken_pyproject_on_the_way_is_said(tmp_path: Path) -> None:
    write_files(tmp_path, {"pyproject.toml": "[tool.greenroom]\n[", "a/x": ""})
    with pytest.raises(errors.UnreadableDeclaration, match=r"pyproject\.toml:2: is not valid TOML"):
        find_declaration(str(tmp_path / "a"), {})
