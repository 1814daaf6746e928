"""Bytecode once per source and interpreter: compiled, linked, and never another source's."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import pythons
from tests.support.capabilities import needs_python, needs_root

from greenroom.errors import CompileFailed, ProofFailed, StoreFailed
from greenroom.interpreters import discovery
from greenroom.recipes import keys
from greenroom.store import bytecode, compile_worker, compiling, layout, proof, rows
from greenroom.uv.process import Group

if TYPE_CHECKING:
    from tests.support.environments import Made, Workshop

    from greenroom.store.bytecode import Compiled

CODE = "def where():\n    return where.__code__.co_filename\n"


class Bench:
    """One environment under a private name, proven."""

    def __init__(self, workshop: Workshop, *made: Made, **options: Any) -> None:
        self.workshop, self.store = workshop, workshop.store
        self.recipe = workshop.recipe(*made, **options)
        self.root = workshop.private(keys.key(self.recipe), *made, link_mode="copy")
        self.site = f"{self.root}/{rows.site_packages(self.root)}"

    def compile(self, **options: Any) -> Compiled:
        proven = proof.prove(self.root, self.recipe, group=self.workshop.group, start=False)
        return bytecode.compile_into(
            self.store,
            self.root,
            self.workshop.interpreter,
            proven.sources,
            **{"group": self.workshop.group, "shipped": proven.shipped, **options},
        )

    def compiled(self, module: str) -> str:
        folder, _, name = f"{self.site}/{module}".rpartition("/")
        return f"{folder}/__pycache__/{name}.{self.workshop.interpreter.cache_tag}.pyc"

    def run(self, code: str) -> str:
        return subprocess.run(
            [f"{self.root}/bin/python", "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()

    @property
    def cache(self) -> str:
        target = self.workshop.interpreter
        return f"{self.store.bytecode}/{target.cache_tag}-{target.magic}"


def alpha(workshop: Workshop, **files: str | bytes) -> Made:
    return workshop.wheel("alpha", files={"alpha/code.py": CODE, **files})


def test_the_second_environment_links_what_the_first_one_compiled(workshop: Workshop) -> None:
    first = Bench(workshop, alpha(workshop))
    assert first.compile() == bytecode.Compiled(compiled=2, linked=2)
    second = Bench(workshop, alpha(workshop), workshop.wheel("beta", "2"))
    assert second.compile() == bytecode.Compiled(compiled=1, linked=3)
    assert os.path.samefile(first.compiled("alpha/code"), second.compiled("alpha/code"))


def test_equal_sources_are_compiled_once_wherever_they_stand(workshop: Workshop) -> None:
    made = workshop.wheel("alpha", files={f"alpha/{name}/__init__.py": "X = 1\n" for name in "abcd"})
    assert Bench(workshop, made).compile() == bytecode.Compiled(compiled=2, linked=5)


def test_the_interpreter_uses_it_and_shows_the_true_path(workshop: Workshop) -> None:
    bench = Bench(workshop, alpha(workshop))
    bench.compile()
    assert bench.run("import alpha.code as m; print(m.__cached__, m.where())") == (
        f"{bench.compiled('alpha/code')} {bench.site}/alpha/code.py"
    )
    with open(bench.compiled("alpha/code"), "rb") as file:
        content = file.read()
    assert content[4:8] == b"\1\0\0\0"
    assert os.fsencode(bench.root) not in content
    os.truncate(f"{bench.site}/alpha/code.py", 0)  # nothing compares it: it is the bytecode that runs
    assert bench.run("import alpha.code as m; print(m.where())").endswith("alpha/code.py")


def test_everybody_can_read_it_whatever_the_umask(workshop: Workshop) -> None:
    before = os.umask(0o077)
    try:
        bench = Bench(workshop, alpha(workshop))
        bench.compile()
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(bench.compiled("alpha/code")).st_mode) == 0o444


def test_what_is_no_python_is_left_out_and_not_tried_again(workshop: Workshop) -> None:
    broken: dict[str, str | bytes] = {
        "alpha/two.py": "print 'two'\n",
        "alpha/null.py": "X = '\0'\n",
        "alpha/coding.py": "# coding: klingon\n",
        "alpha/latin.py": b"X = '\xe4'\n",
    }
    bench = Bench(workshop, alpha(workshop, **broken))
    assert bench.compile() == bytecode.Compiled(compiled=2, linked=2)
    marks = list(Path(bench.cache).rglob("*.bad"))
    assert len(marks) == 4
    times = {path: path.stat().st_mtime_ns for path in marks}
    again = Bench(workshop, alpha(workshop, **broken))
    assert again.compile() == bytecode.Compiled(linked=2)
    assert {path: path.stat().st_mtime_ns for path in marks} == times


def test_a_source_that_is_not_what_its_record_says_never_gets_into_the_cache(workshop: Workshop) -> None:
    bench = Bench(workshop, alpha(workshop))
    with open(f"{bench.site}/alpha/code.py", "r+", encoding="ascii") as file:
        file.write("DEF")
    with pytest.raises(ProofFailed) as caught:
        bench.compile()
    (finding,) = caught.value.findings
    assert (finding.kind, finding.distribution, finding.path) == (
        "edited",
        "alpha",
        f"{rows.site_packages(bench.root)}/alpha/code.py",
    )
    honest = Bench(workshop, alpha(workshop))
    honest.compile()
    assert honest.run("import alpha.code as m; print(m.where())").endswith("code.py")


def test_disputed_sources_count_as_they_are_found(workshop: Workshop) -> None:
    one = workshop.wheel("one", files={"shared.py": "VALUE = 1\n"})
    two = workshop.wheel("two", files={"shared.py": "VALUE = 2\n"})
    first = Bench(workshop, one, two, last=("two",))
    first.compile()
    second = Bench(workshop, two, one, last=("one",))
    second.compile()
    code = "import shared; print(shared.VALUE)"
    assert (first.run(code), second.run(code)) == ("2", "1")


def test_bytecode_of_an_earlier_stage_is_replaced_with_its_source(workshop: Workshop) -> None:
    bench = Bench(workshop, alpha(workshop))
    bench.compile()
    target = bench.compiled("alpha/code")
    stale = bench.compiled("alpha/__init__")
    os.unlink(target)
    os.link(stale, target)  # another source's, unchecked: it would run instead
    bench.compile()
    assert bench.run("import alpha.code as m; print(m.where())").endswith("code.py")


def test_bytecode_that_a_wheel_brought_stays(workshop: Workshop) -> None:
    tag = workshop.interpreter.cache_tag
    shipped = f"alpha/__pycache__/code.{tag}.pyc"
    bench = Bench(workshop, alpha(workshop, **{shipped: "own"}))
    assert bench.compile() == bytecode.Compiled(compiled=1, linked=1)
    assert Path(f"{bench.site}/{shipped}").read_text() == "own"
    proof.prove(bench.root, bench.recipe, group=workshop.group)


@pytest.mark.parametrize("number", [errno.EPERM, errno.EXDEV, errno.ENOTSUP])
def test_what_cannot_be_linked_is_copied_and_counted(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    bench = Bench(workshop, alpha(workshop))
    bench.compile()
    again = Bench(workshop, alpha(workshop))
    monkeypatch.setattr(os, "link", refuse)
    assert again.compile() == bytecode.Compiled(copied=2)
    assert again.run("import alpha.code as m; print(m.__cached__)") == again.compiled("alpha/code")


def test_links_go_on_with_a_new_copy_when_a_file_has_all_it_may_have(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(workshop, alpha(workshop))
    bench.compile()
    again = Bench(workshop, alpha(workshop))
    link = os.link
    refused: list[str] = []

    def full(source: str, target: str, **options: Any) -> None:
        if not refused:
            refused.append(source)
            raise OSError(errno.EMLINK, "Too many links")
        link(source, target, **options)

    monkeypatch.setattr(os, "link", full)
    assert again.compile() == bytecode.Compiled(linked=2)
    same = [
        os.path.samefile(bench.compiled(f"alpha/{name}"), again.compiled(f"alpha/{name}"))
        for name in ("code", "__init__")
    ]
    assert sorted(same) == [False, True]


def test_files_that_collection_takes_away_meanwhile_are_compiled_again(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(workshop, alpha(workshop))
    bench.compile()
    (taken,) = [
        path
        for path in Path(bench.cache).rglob("*.pyc")
        if os.path.samefile(path, bench.compiled("alpha/code"))
    ]
    again = Bench(workshop, alpha(workshop))
    run = compiling.run
    calls: list[int] = []

    def taking(*arguments: Any, **options: Any) -> int:
        count = run(*arguments, **options)
        calls.append(count)
        if len(calls) == 1:
            taken.unlink()
        return count

    taken.unlink()
    monkeypatch.setattr(compiling, "run", taking)
    assert again.compile() == bytecode.Compiled(compiled=2, linked=2)
    assert calls == [1, 1]


@needs_python("3.9", "3.13")
@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_the_compiler_runs_on_other_interpreters(workshop: Workshop, version: str) -> None:
    target = discovery.inspect(pythons.python(version).path)
    bench = Bench(workshop, alpha(workshop))
    path = f"{rows.site_packages(bench.root)}/alpha/code.py"
    cache = f"{workshop.store.bytecode}/{target.cache_tag}-{target.magic}"
    os.makedirs(cache)
    digest = rows.file_digest(f"{bench.root}/{path}")
    sources = [(path, digest, "alpha")]
    assert (
        compiling.run(
            bench.root, cache, sources, target, group=workshop.group, jobs=2, scratch=str(workshop.directory)
        )
        == 1
    )
    code = (
        "import sys, importlib.machinery as m;"
        "l = m.SourcelessFileLoader('code', sys.argv[1]); print(l.get_code('code').co_names)"
    )
    cached = compiling.cached(cache, digest)
    found = subprocess.run([target.path, "-c", code, cached], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "('where',)"


def test_an_interpreter_without_bytecode_gets_none(workshop: Workshop) -> None:
    from dataclasses import replace

    target = replace(workshop.interpreter, cache_tag="")
    found = bytecode.compile_into(workshop.store, "/nowhere", target, (), group=workshop.group)
    assert found == bytecode.Compiled()


def test_a_compiler_that_dies_fails_the_build_with_its_last_words(workshop: Workshop, tmp_path: Path) -> None:
    from dataclasses import replace

    dying = tmp_path / "python"
    dying.write_text("#!/bin/sh\necho out of memory >&2\nkill -9 $$\n")
    dying.chmod(0o755)
    bench = Bench(workshop, alpha(workshop))
    os.makedirs(bench.cache)
    proven = proof.prove(bench.root, bench.recipe, group=workshop.group, start=False)
    with pytest.raises(CompileFailed, match="out of memory"):
        bytecode.compile_into(
            workshop.store,
            bench.root,
            replace(workshop.interpreter, path=str(dying)),
            proven.sources,
            group=workshop.group,
        )


def test_an_ended_run_compiles_nothing(workshop: Workshop) -> None:
    from greenroom.errors import GroupEnded

    bench = Bench(workshop, alpha(workshop))
    with Group() as group:
        group.end()
        with pytest.raises(GroupEnded):
            bench.compile(group=group)


def test_a_store_that_cannot_be_written_is_an_error_of_one_line(workshop: Workshop) -> None:
    bench = Bench(workshop, alpha(workshop))
    os.rmdir(workshop.store.bytecode)
    Path(workshop.store.bytecode).touch()
    with pytest.raises(StoreFailed, match="cannot link bytecode"):
        bench.compile()


def test_the_worker_stops_at_a_full_disk_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "x.py"
    source.write_text("X = 1\n")
    jobs = tmp_path / "jobs.json"
    jobs.write_text(json.dumps([[[rows.file_digest(str(source)), str(source)]]]))
    reading, writing = os.pipe()
    os.write(writing, (0).to_bytes(4, "little"))
    os.close(writing)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    assert compile_worker.main([str(jobs), str(tmp_path / "cache"), str(reading)]) == 1
    os.close(reading)
    assert json.loads(capsys.readouterr().out)["errno"] == errno.ENOSPC
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_the_worker_needs_the_standard_library_only_and_no_site(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.json"
    jobs.write_text("[]")
    found = subprocess.run(
        [sys.executable, "-I", "-S", compile_worker.__file__, str(jobs), str(tmp_path), "0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout) == {"compiled": 0}


@needs_root
def test_the_recipe_decides_whether_there_is_bytecode(workshop: Workshop) -> None:
    made = alpha(workshop)
    plain = workshop.environment(made)
    assert not list(Path(plain.path).rglob("__pycache__"))
    compiled = workshop.environment(made, bytecode=True)
    assert compiled.compiled == bytecode.Compiled(compiled=2, linked=2)
    assert layout.keys(workshop.store) == tuple(sorted((plain.record.key, compiled.record.key)))
