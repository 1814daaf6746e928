"""The proof sees what uv does not, and names it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from greenroom.errors import ClashError, ProofFailed
from greenroom.recipes import keys
from greenroom.store import contents, proof, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.environments import Made, Workshop

    from greenroom.recipes.model import Recipe
    from greenroom.store.model import Finding
    from greenroom.store.proof import Proof


class Bench:
    """One installed environment and its recipe."""

    def __init__(self, workshop: Workshop, *made: Made, **options: Any) -> None:
        self.workshop = workshop
        self.recipe: Recipe = workshop.recipe(*made, **options)
        self.root = workshop.private(keys.key(self.recipe), *made, link_mode="copy")
        self.site = f"{self.root}/{rows.site_packages(self.root)}"

    def prove(self, **options: Any) -> Proof:
        return proof.prove(self.root, self.recipe, group=self.workshop.group, **options)

    def fails(self, **options: Any) -> tuple[Finding, ...]:
        with pytest.raises(ProofFailed) as caught:
            self.prove(**options)
        assert "\n" not in str(caught.value)
        return caught.value.findings


@pytest.fixture
def bench(workshop: Workshop) -> Bench:
    alpha = workshop.wheel(
        "alpha", "1.2", scripts={"alpha": "alpha:main"}, files={"alpha/__init__.py": "def main(): print(7)\n"}
    )
    beta = workshop.wheel("Beta.Tool", "3", files={"beta_tool/data.txt": "x" * 100})
    return Bench(workshop, alpha, beta)


def test_a_complete_install_is_proven(bench: Bench) -> None:
    found = bench.prove(deep=True)
    assert [(item.name, item.version) for item in found.installed] == [("alpha", "1.2"), ("beta-tool", "3")]
    assert all(item.files and item.size for item in found.installed)
    assert sorted(os.listdir(f"{bench.root}/bin")) == sorted(
        name for name in os.listdir(f"{bench.root}/bin") if not name.startswith(".")
    )
    assert {path.rpartition("/")[2] for path, digest, _ in found.sources if digest} == {"__init__.py"}


def remove(bench: Bench) -> None:
    os.unlink(f"{bench.site}/beta_tool/data.txt")


def truncate(bench: Bench) -> None:
    os.truncate(f"{bench.site}/beta_tool/data.txt", 99)


def link(bench: Bench) -> None:
    path = f"{bench.site}/beta_tool/data.txt"
    os.rename(path, f"{bench.workshop.directory}/elsewhere")
    os.symlink(f"{bench.workshop.directory}/elsewhere", path)


def folder(bench: Bench) -> None:
    remove(bench)
    os.mkdir(f"{bench.site}/beta_tool/data.txt")


def info(bench: Bench) -> str:
    (name,) = (name for name in os.listdir(bench.site) if name.endswith("-3.dist-info"))
    return f"{bench.site}/{name}"


def no_record(bench: Bench) -> None:
    os.unlink(f"{info(bench)}/RECORD")


def no_metadata(bench: Bench) -> None:
    os.unlink(f"{info(bench)}/METADATA")


def nonsense_record(bench: Bench) -> None:
    with open(f"{info(bench)}/RECORD", "w", encoding="ascii") as file:
        file.write("one cell\n")


def uninstall(bench: Bench) -> None:
    bench.workshop.uv("pip", "uninstall", "-q", "--python", f"{bench.root}/bin/python", "beta-tool")


def another_version(bench: Bench) -> None:
    bench.workshop.install(bench.root, bench.workshop.wheel("Beta.Tool", "4"))


@pytest.mark.parametrize(
    ("damage", "kind", "words"),
    [
        (remove, "missing", "beta_tool/data.txt: is missing"),
        (truncate, "size", "beta_tool/data.txt: has 99 bytes, RECORD says 100"),
        (link, "type", "is a link to "),
        (folder, "type", "is no file"),
        (no_record, "record", "unreadable: No such file"),
        (no_metadata, "record", "unreadable: No such file"),
        (nonsense_record, "record", "RECORD has a row that is none: 'one cell'"),
        (uninstall, "absent", "beta-tool: is not installed"),
        (another_version, "version", "beta-tool: is 4, the recipe says 3"),
    ],
)
def test_damage_is_named_with_its_distribution(
    bench: Bench, damage: Callable[[Bench], None], kind: str, words: str
) -> None:
    damage(bench)
    findings = bench.fails()
    assert {item.distribution for item in findings} == {"beta-tool"}
    assert kind in {item.kind for item in findings}
    assert any(words in item.text() for item in findings), [item.text() for item in findings]


def test_an_edit_that_keeps_the_size_needs_the_deep_proof(bench: Bench) -> None:
    with open(f"{bench.site}/beta_tool/data.txt", "r+", encoding="ascii") as file:
        file.write("y")
    bench.prove()
    (finding,) = bench.fails(deep=True)
    assert (finding.kind, finding.distribution) == ("edited", "beta-tool")


def test_a_package_that_the_recipe_does_not_name_is_found(bench: Bench) -> None:
    bench.workshop.install(bench.root, bench.workshop.wheel("stray"))
    (finding,) = bench.fails()
    assert (finding.kind, finding.distribution) == ("unexpected", "stray")


def test_a_distribution_that_is_there_twice_is_found(bench: Bench) -> None:
    shutil.copytree(f"{bench.site}/alpha-1.2.dist-info", f"{bench.site}/Alpha-1.2.dist-info")
    assert "unexpected" in {item.kind for item in bench.fails()}


def test_a_pending_one_may_be_absent_and_no_other(workshop: Workshop) -> None:
    bench = Bench(workshop, workshop.wheel("alpha"), late=["late", "later"])
    bench.prove(pending=("late", "later"))
    (finding,) = bench.fails(pending=("late",))
    assert (finding.kind, finding.distribution) == ("absent", "later")


def test_versions_are_compared_by_their_meaning(workshop: Workshop) -> None:
    made = workshop.wheel("alpha", "2024.01.0")
    bench = Bench(workshop, made)
    entry = bench.recipe.distributions[0]
    other = workshop.recipe(
        type(made)(distribution=type(entry)(name="alpha", version="2024.1", content=entry.content), path="")
    )
    proof.prove(bench.root, other, group=workshop.group)


def rewrite_configuration(bench: Bench, old: str, new: str) -> None:
    with open(f"{bench.root}/pyvenv.cfg", encoding="utf-8") as file:
        text = file.read()
    assert old in text
    with open(f"{bench.root}/pyvenv.cfg", "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("relocatable = true", "", "does not say relocatable = true"),
        ("home = /", "home = /elsewhere/", "says home = /elsewhere/"),
        ("version_info = 3", "version_info = 2", "says version 2"),
    ],
)
def test_a_configuration_that_another_tool_wrote_is_found(
    bench: Bench, old: str, new: str, words: str
) -> None:
    rewrite_configuration(bench, old, new)
    assert any(words in item.message for item in bench.fails(start=False))


def test_an_environment_without_configuration_or_interpreter_is_found(bench: Bench) -> None:
    os.unlink(f"{bench.root}/pyvenv.cfg")
    assert ("config", "pyvenv.cfg") in {(item.kind, item.path) for item in bench.fails(start=False)}
    os.unlink(f"{bench.root}/bin/python")
    assert "start" in {item.kind for item in bench.fails()}


def test_an_interpreter_that_cannot_start_is_found_with_what_it_said(bench: Bench) -> None:
    with open(f"{bench.site}/broken.pth", "w", encoding="ascii") as file:
        file.write("import os; os.write(2, b'no accelerator here\\n'); os._exit(3)\n")
    (finding,) = bench.fails()
    assert (finding.kind, finding.path) == ("start", "bin/alpha")
    assert "no accelerator here" in finding.message


def test_output_of_start_up_files_is_no_harm(bench: Bench) -> None:
    with open(f"{bench.site}/chatty.pth", "w", encoding="ascii") as file:
        file.write("import sys; sys.stdout.write('hello without end of line')\n")
    bench.prove()


def test_the_interpreter_starts_as_the_console_scripts_start_it(bench: Bench) -> None:
    path = f"{bench.root}/bin/alpha"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("'python'", "'pythin'"))  # same size: the header starts nothing
    assert "start" in {item.kind for item in bench.fails()}


def test_an_environment_without_scripts_is_started_by_its_interpreter(workshop: Workshop) -> None:
    Bench(workshop, workshop.wheel("alpha")).prove()


def test_the_proof_writes_nothing_that_stays(bench: Bench) -> None:
    def files() -> list[str]:
        return sorted(
            os.path.join(folder, name) for folder, _, names in os.walk(bench.root) for name in names
        )

    before = files()
    bench.prove(deep=True)
    assert files() == before


@pytest.mark.parametrize("place", ["bin/tool", "{site}/x.pth", "{site}/alpha-1.2.dist-info/direct_url.json"])
def test_a_text_that_names_the_private_directory_is_found(bench: Bench, place: str) -> None:
    path = f"{bench.root}/{place.format(site=rows.site_packages(bench.root))}"
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"# ../../building/{os.path.basename(bench.root)}/bin\n")
    assert "private" in {item.kind for item in bench.fails(private=bench.root, start=False)}


def test_a_wheel_with_a_wrong_size_in_its_own_record_is_its_fault_when_a_fresh_one_is_the_same(
    workshop: Workshop,
) -> None:
    wrong = {"alpha/data.txt": "alpha/data.txt,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,1"}
    bench = Bench(workshop, workshop.wheel("alpha", files={"alpha/data.txt": "12345"}, recorded_as=wrong))
    before = bench.fails()
    assert [(item.kind, item.size) for item in before] == [("size", 5)]
    found = bench.prove(before=before)
    assert [(item.distribution, item.size) for item in found.faults] == [("alpha", 5)]
    os.truncate(f"{bench.site}/alpha/data.txt", 3)
    bench.fails(before=before)
    _, findings = proof.findings_of(bench.root, bench.recipe, group=workshop.group, faults=found.faults)
    assert [item.kind for item in findings] == ["size"]


def test_a_wheel_that_forgot_a_row_and_names_with_commas_are_no_fault(workshop: Workshop) -> None:
    files = {"alpha/forgotten.py": "X = 1\n", 'alpha/a, "b" ü.txt': "odd"}
    bench = Bench(workshop, workshop.wheel("alpha", files=files, unrecorded=["alpha/forgotten.py"]))
    found = bench.prove(deep=True)
    assert found.installed[0].files >= 6
    os.unlink(f'{bench.site}/alpha/a, "b" ü.txt')
    assert [item.kind for item in bench.fails()] == ["missing"]


def test_undisputed_digests_are_handed_to_the_compiler_and_disputed_ones_are_not(workshop: Workshop) -> None:
    one = workshop.wheel("alpha", files={"shared.py": "A = 1\n", "equal.py": "\n"})
    two = workshop.wheel("beta", files={"shared.py": "B = 22\n", "equal.py": "\n"})
    bench = Bench(workshop, one, two, last=("beta",))
    certain = {path.rpartition("/")[2]: bool(digest) for path, digest, _ in bench.prove().sources}
    assert certain == {"shared.py": False, "equal.py": True, "__init__.py": True}


def test_a_clash_without_a_winner_lists_all_owners(workshop: Workshop) -> None:
    made = [workshop.wheel(name, files={"shared.py": f"X = '{name}'\n"}) for name in ("one", "two", "three")]
    bench = Bench(workshop, *made)
    with pytest.raises(ClashError) as caught:
        bench.prove()
    assert [set(clash.owners) for clash in caught.value.clashes] == [{"one", "two", "three"}]
    assert "allow-clash" in str(caught.value)


def test_a_torn_file_of_a_clash_is_damage_and_not_only_a_clash(workshop: Workshop) -> None:
    made = [workshop.wheel(name, files={"shared.py": f"X = '{name}'\n"}) for name in ("one", "two")]
    bench = Bench(workshop, *made)
    os.truncate(f"{bench.site}/shared.py", 3)
    assert [item.kind for item in bench.fails()] == ["size"]


def test_an_environment_that_was_moved_through_a_symbolic_link_is_proven(bench: Bench) -> None:
    link = f"{bench.workshop.directory}/link"
    os.symlink(bench.workshop.store.building, link)
    proof.prove(f"{link}/{os.path.basename(bench.root)}", bench.recipe, group=bench.workshop.group)


def test_the_lowest_c_library_is_told_from_the_wheels_tags(workshop: Workshop) -> None:
    made = workshop.wheel("alpha", tag="py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64")
    other = workshop.wheel("beta", tag="py3-none-manylinux_2_5_x86_64")
    assert Bench(workshop, made, other).prove(start=False).libc == "2.17"


def test_owners_that_say_no_digest_do_not_clash() -> None:
    found = [
        rows.Found(name=name, version="1", info="", record="", rows=(("x", digest, -1),))
        for name, digest in (("one", ""), ("two", "abc"), ("three", ""))
    ]
    assert contents.clashes_of(contents.owned(found), ()) == {}
