"""Verify finds what happened to an environment behind greenroom's back; repair puts a new one in place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from greenroom.errors import EnvironmentInUse, RecordUnreadable
from greenroom.recipes import keys
from greenroom.store import finishing, layout, leasing, moving, records, rows
from greenroom.store.model import State
from greenroom.store.smoke import smoke
from greenroom.store.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.environments import Workshop

    from greenroom.store.commit import Committed
    from greenroom.store.model import Finding


class Bench:
    """One ready environment whose folders can be written again."""

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self.made = workshop.wheel(
            "alpha",
            scripts={"alpha": "alpha:main"},
            files={"alpha/code.py": "X = 1\n", "alpha/data.txt": "x" * 90},
        )
        self.done: Committed = workshop.environment(self.made, bytecode=True, link_mode="copy")
        self.key, self.root = self.done.record.key, self.done.path
        self.site = f"{self.root}/{rows.site_packages(self.root)}"
        finishing.restore(self.root)

    def verify(self, *, deep: bool = False) -> tuple[Finding, ...]:
        return verify(self.workshop.store, self.key, group=self.workshop.group, deep=deep)


@pytest.fixture
def bench(workshop: Workshop) -> Bench:
    return Bench(workshop)


def test_an_environment_that_nobody_touched_has_no_findings(bench: Bench) -> None:
    assert bench.verify(deep=True) == ()


def missing(bench: Bench) -> None:
    shutil.rmtree(f"{bench.site}/alpha")


def truncated(bench: Bench) -> None:
    os.truncate(f"{bench.site}/alpha/data.txt", 5)


def added_package(bench: Bench) -> None:
    bench.workshop.install(bench.root, bench.workshop.wheel("stray"))


def removed_package(bench: Bench) -> None:
    bench.workshop.uv("pip", "uninstall", "-q", "--python", f"{bench.root}/bin/python", "alpha")


def replaced_package(bench: Bench) -> None:
    other = bench.workshop.wheel("alpha", files={"alpha/other.py": "\n"})
    bench.workshop.install(bench.root, other)


def foreign_module(bench: Bench) -> None:
    Path(f"{bench.site}/stray.py").write_text("X = 1\n")


def foreign_bytecode(bench: Bench) -> None:
    Path(f"{bench.site}/alpha/__pycache__/gone.cpython-311.pyc").write_bytes(b"x" * 20)


def other_venv(bench: Bench) -> None:
    bench.workshop.uv(
        "venv", "-q", "--allow-existing", "--python", bench.workshop.interpreter.path, bench.root
    )


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (missing, "missing", "alpha/data.txt: is missing"),
        (truncated, "size", "has 5 bytes, RECORD says 90"),
        (added_package, "unexpected", "stray: is installed, the recipe does not name it"),
        (removed_package, "absent", "alpha: is not installed"),
        (replaced_package, "record", "the package was installed anew"),
        (foreign_module, "foreign", "stray.py: is a file that no package brought"),
        (foreign_bytecode, "foreign", "gone.cpython-311.pyc: is bytecode without its source"),
        (other_venv, "config", "relocatable"),
    ],
)
def test_what_was_changed_is_named(
    bench: Bench, change: Callable[[Bench], None], kind: str, words: str
) -> None:
    change(bench)
    found = bench.verify()
    assert kind in {item.kind for item in found}
    assert any(words in item.text() for item in found), [item.text() for item in found]


def test_an_edit_in_place_is_found_by_its_digest_in_every_environment_that_shares_it(bench: Bench) -> None:
    other = bench.workshop.environment(bench.made, link_mode="copy")
    with open(f"{bench.site}/alpha/data.txt", "r+", encoding="ascii") as file:
        file.write("y")
    for key in (bench.key, other.record.key):
        assert verify(bench.workshop.store, key, group=bench.workshop.group) == ()
        found = verify(bench.workshop.store, key, group=bench.workshop.group, deep=True)
        assert [(item.kind, item.distribution) for item in found] == [("edited", "alpha")]
    fresh = bench.workshop.environment(bench.made, last=("alpha",))
    assert verify(bench.workshop.store, fresh.record.key, group=bench.workshop.group, deep=True) == ()


def test_bytecode_that_is_not_its_sources_is_found(bench: Bench) -> None:
    path = next(Path(f"{bench.site}/alpha/__pycache__").glob("code.*.pyc"))
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[:-1] + b"?")
    assert bench.verify() == ()
    (finding,) = bench.verify(deep=True)
    assert (finding.kind, finding.message) == ("edited", "is not the bytecode of its source")


def test_bytecode_that_interpreters_wrote_themselves_is_known(workshop: Workshop) -> None:
    done = workshop.environment(workshop.wheel("alpha"))
    finishing.restore(done.path)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for option in ([], ["-O"]):
        subprocess.run(
            [f"{done.path}/bin/python", *option, "-c", "import alpha"], env=environment, check=True
        )
    assert len(list(Path(done.path).rglob("*.pyc"))) >= 2
    assert verify(workshop.store, done.record.key, group=workshop.group, deep=True) == ()


def test_an_editable_source_whose_directory_moved_is_named(workshop: Workshop) -> None:
    made = workshop.editable("local")
    done = workshop.environment(made)
    assert verify(workshop.store, done.record.key, group=workshop.group) == ()
    os.rename(made.path, f"{made.path}-moved")
    (finding,) = verify(workshop.store, done.record.key, group=workshop.group)
    assert (finding.kind, finding.distribution, finding.path) == ("editable", "local", made.path)


def test_a_base_interpreter_that_is_gone_is_the_only_finding(bench: Bench) -> None:
    record = replace(bench.done.record, base=("/no/such/python", 1, 2, 3))
    os.unlink(bench.workshop.store.record(bench.key))
    records.write(bench.workshop.store, record)
    (finding,) = bench.verify()
    assert (finding.kind, finding.message) == ("base", "the base interpreter /no/such/python vanished")


def test_without_a_record_there_is_nothing_to_verify(bench: Bench) -> None:
    Path(bench.workshop.store.record(bench.key)).write_text("{")
    assert [item.kind for item in bench.verify()] == ["record"]
    os.unlink(bench.workshop.store.record(bench.key))
    assert [item.kind for item in bench.verify()] == ["record"]


def test_repair_puts_a_new_build_in_place_and_leaves_nothing_of_the_old(bench: Bench) -> None:
    workshop = bench.workshop
    truncated(bench)
    finishing.normalize(bench.root)
    finishing.close(bench.root)
    private = workshop.private(bench.key, bench.made)
    done = workshop.commit(private, bench.done.record.recipe, replace=True)
    assert done.path == bench.root
    assert layout.state(workshop.store, bench.key) == (State.READY, "")
    assert bench.verify(deep=True) == ()
    assert os.listdir(workshop.store.building) == os.listdir(workshop.store.trash) == []


def test_repair_is_refused_while_something_runs_from_it_unless_forced(bench: Bench) -> None:
    workshop = bench.workshop
    descriptor = leasing.lease(workshop.store.record(bench.key))
    private = workshop.private(bench.key, bench.made)
    try:
        with pytest.raises(EnvironmentInUse, match="--force"):
            workshop.commit(private, bench.done.record.recipe, replace=True)
        assert layout.state(workshop.store, bench.key) == (State.READY, "")
    finally:
        os.close(descriptor)
    with subprocess.Popen([f"{bench.root}/bin/python", "-c", "input()"], stdin=subprocess.PIPE) as process:
        with pytest.raises(EnvironmentInUse, match=f"process {process.pid}"):
            workshop.commit(private, bench.done.record.recipe, replace=True)
        workshop.commit(private, bench.done.record.recipe, replace=True, force=True)
        process.communicate(b"\n")
        assert process.returncode == 0
    assert bench.verify() == ()


@pytest.mark.parametrize("whose", ["a newer greenroom", "another kind of machine"])
def test_repair_leaves_alone_what_others_built(bench: Bench, whose: str) -> None:
    path = bench.workshop.store.record(bench.key)
    os.unlink(path)
    if whose == "a newer greenroom":
        Path(path).write_text('{"schema": 99}')
    else:
        records.write(bench.workshop.store, replace(bench.done.record, machine="linux-sparc64-glibc"))
    private = bench.workshop.private(bench.key, bench.made)
    with pytest.raises(RecordUnreadable, match=r"newer|built for linux-sparc64"):
        bench.workshop.commit(private, bench.done.record.recipe, replace=True, force=True)
    assert os.path.lexists(path)


def test_repair_builds_where_nothing_stands(bench: Bench) -> None:
    moving.discard(bench.workshop.store, bench.root)
    private = bench.workshop.private(bench.key, bench.made)
    bench.workshop.commit(private, bench.done.record.recipe, replace=True)
    assert bench.verify() == ()


@pytest.mark.parametrize("at_once", [True, False])
def test_two_directories_are_exchanged_with_and_without_the_kernels_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    if not at_once:
        monkeypatch.setattr(sys, "platform", "darwin")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
        (tmp_path / name).chmod(0o555)
    moving.exchange(f"{tmp_path}/one", f"{tmp_path}/two")
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["two"]
    assert [path.name for path in (tmp_path / "two").iterdir()] == ["one"]


def run_smoke(workshop: Workshop, *statements: str) -> list[tuple[str | None, str | None]]:
    done = workshop.environment(
        workshop.wheel("alpha", files={"alpha/needs.py": "import alpha.missing_engine\n"})
    )
    found = smoke(done.path, statements, group=workshop.group, variables=dict(os.environ))
    assert [item.statement for item in found] == list(statements)
    assert all(item.seconds >= 0 for item in found)
    return [(item.error, item.module) for item in found]


def test_statements_run_in_one_process_and_see_each_other(workshop: Workshop) -> None:
    assert (
        run_smoke(workshop, "import alpha", "print(alpha.__version__); X = 1", "assert X == 1")
        == [(None, None)] * 3
    )


def test_the_import_that_failed_is_named_and_the_rest_still_runs(workshop: Workshop) -> None:
    first, second = run_smoke(workshop, "import alpha.needs", "1")
    assert first == ("ModuleNotFoundError: No module named 'alpha.missing_engine'", "alpha.missing_engine")
    assert second == (None, None)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("this is no python", "SyntaxError: invalid syntax (<smoke>, line 1)"),
        ("import os; os.kill(os.getpid(), 11)", "the process was killed by signal 11"),
        ("import os; os._exit(4)", "the process ended with status 4"),
        ("import sys; sys.stdout.write('no newline'); 1/0", "ZeroDivisionError: division by zero"),
    ],
)
def test_whatever_a_statement_does_is_told(workshop: Workshop, statement: str, words: str) -> None:
    assert run_smoke(workshop, statement)[0][0] == words


def test_what_was_not_run_because_the_process_died_says_so(workshop: Workshop) -> None:
    found = run_smoke(workshop, "import os; os._exit(0)", "1")
    assert found[1][0] == "not run: an earlier statement ended the process"


def test_verify_runs_the_records_statements_when_it_is_asked_to(workshop: Workshop) -> None:
    made = workshop.wheel("alpha")
    recipe = workshop.recipe(made)
    key = keys.key(recipe)
    smokes = {"smoke": ("import alpha", "import alpha.nothing")}
    workshop.commit(workshop.private(key, made), recipe, build=smokes)
    assert verify(workshop.store, key, group=workshop.group) == ()
    (finding,) = verify(workshop.store, key, group=workshop.group, smoke=dict(os.environ))
    assert finding.kind == "smoke"
    assert "import alpha.nothing: failed after" in finding.text()
    assert "(import of alpha.nothing)" in finding.text()


def test_a_running_process_keeps_its_files_while_another_key_is_built(workshop: Workshop) -> None:
    old = workshop.wheel("alpha", "1", files={"alpha/late.py": "VALUE = 'old'\n"})
    new = workshop.wheel("alpha", "2", files={"alpha/late.py": "VALUE = 'new'\n"})
    first = workshop.environment(old)
    code = "import alpha; input(); import alpha.late; print(alpha.__version__, alpha.late.VALUE)"
    with subprocess.Popen(
        [f"{first.path}/bin/python", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        second = workshop.environment(new)
        assert process.communicate("\n")[0].split() == ["1", "old"]
    assert second.path != first.path
