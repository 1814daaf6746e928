"""What questions answer: the form that scripts rely on, the words for people, the exit statuses."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.servers import test_contract
from tests.support import usual

from greenroom.cli.contract import answers, cluster, images, moves, reports, upkeep

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.index import Index
    from tests.support.workspace import Command

QUESTIONS: list[tuple[tuple[str, ...], type, int]] = [
    (("python", "app.A"), answers.Python, 0),
    (("python", "app.C"), answers.Python, 0),
    (("list",), answers.List, 0),
    (("status",), answers.Status, 0),
    (("status", "app.A"), answers.Status, 0),
    (("plan",), reports.Plan, 0),
    (("check",), reports.Check, 0),
    (("lock", "--check"), reports.Lock, 0),
    (("sync",), reports.Sync, 0),
    (("why", "app.A"), answers.Why, 0),
    (("diff", "app.A", "app.B"), answers.Diff, 1),
    (("diff", "app.A", "s1"), answers.Diff, 0),
    (("log", "app.A"), answers.Log, 0),
    (("log", "app.A", "--path"), answers.Log, 0),
    (("verify",), upkeep.Verify, 0),
    (("verify", "--deep"), upkeep.Verify, 0),
    (("gc", "--dry-run"), upkeep.Gc, 0),
    (("pack", "app.A", "-o", "a.tar.zst"), moves.Pack, 0),
    (("unpack", "a.tar.zst"), moves.Unpack, 0),
    (("push", "archives"), moves.Push, 0),
    (("init", "--dry-run"), reports.Init, 0),
    (("ray", "check"), cluster.Ray, 1),
    (("image", "plan"), images.Image, 0),
    (("image", "dockerfile"), images.Image, 0),
    (("image", "freeze"), images.Image, 0),
    (("image", "verify"), images.Image, 0),
]


def _conforms(data: object, form: Any) -> None:
    """Fail unless data has exactly the keys and types of a form."""
    again = json.loads(msgspec.json.encode(msgspec.convert(data, form)))
    assert again == data, "the answer has keys that the contract does not name"


def test_every_question_has_json_of_the_promised_form(greenroom: Command, built: Path) -> None:
    for words, form, status in QUESTIONS:
        answer = greenroom(*words, "--json", status=status)
        envelope = answer.json()
        assert sorted(envelope) == ["command", "data", "schema"], words
        assert (envelope["schema"], envelope["command"]) == (1, words[0])
        _conforms(envelope["data"], form)
        assert len(answer.lines) == 1, "one line for whoever reads lines"
    copy = greenroom("edit", "app.A", str(built / "copy"), "--json").json()
    _conforms(copy["data"], upkeep.Edit)


def test_the_contract_names_every_command_that_has_json() -> None:
    from greenroom.cli import grammar
    from greenroom.cli.parsing import command_parser

    asked = {words[0] for words, _, _ in QUESTIONS} | {"edit"}
    asked |= {words[0] for words, _ in test_contract.QUESTIONS} | set(test_contract.LINES)
    for command in grammar.COMMANDS:
        parser = command_parser(command, "x")
        getattr(grammar.module(command), f"add_{command}")(parser)
        has = any("--json" in action.option_strings for action in parser._actions)
        assert has == (command in asked), command


def test_every_part_of_the_contract_is_documented() -> None:
    for module in (answers, cluster, images, moves, reports, upkeep):
        for name in module.__all__:
            assert typing.is_typeddict(getattr(module, name))
            assert getattr(module, name).__doc__


def test_an_answer_is_the_same_with_and_without_a_snapshot(
    greenroom: Command, built: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "home" / ".cache" / "greenroom"
    for words in (("list",), ("status",), ("python", "s1"), ("python", "app.C"), ("sync",)):
        warm = greenroom(*words, "--json").stdout
        shutil.rmtree(cache)
        assert greenroom(*words, "--json").stdout == warm
    del built


def test_status_is_3_until_all_is_ready_and_names_what_to_type(greenroom: Command, app: Path) -> None:
    missing = greenroom("status", "app.A", "app.B", status=3)
    assert "2 missing" in missing.stdout
    assert "greenroom sync" in missing.stdout
    greenroom("sync", "app.A")
    greenroom("status", "app.A")
    greenroom("status", "app.C")
    assert greenroom("status", "--quiet", status=None).stdout == ""
    by_name = greenroom("status", "app.A", "app.B", "--by", "component", status=3)
    assert [line.split()[:2] for line in by_name.lines[:2]] == [["ready", "app.A"], ["missing", "app.B"]]
    del app


def test_list_says_where_each_component_runs(greenroom: Command, app: Path) -> None:
    lines = [line.split() for line in greenroom("list").lines]
    assert [line[:2] for line in lines] == [
        ["app.A", "actor"],
        ["app.B", "actor"],
        ["app.C", "actor"],
        ["s1", "server"],
    ]
    assert lines[2][2] == "driver"
    del app


def test_plan_says_what_sync_would_do_and_does_nothing(
    greenroom: Command, app: Path, store_path: Path
) -> None:
    told = greenroom("plan")
    assert "tinylib 2.0.0" in told.stdout
    assert "tinylib 1.1.1" in told.stdout
    assert "pylock.s1.toml" in told.stdout
    assert "2 environments to build" in told.stdout
    assert not store_path.exists()
    assert not (app / "greenroom.lock").exists()


def test_why_names_what_changed_package_by_package(greenroom: Command, built: Path) -> None:
    before = greenroom("why", "app.A").stdout
    assert "tinylib  2.0.0  wheel" in before
    assert "changed since" not in before
    declaration = built / "greenroom.toml"
    declaration.write_text(declaration.read_text().replace('"app.A" = ["a"]', '"app.A" = ["b"]'))
    assert "tinylib 2.0.0 → 1.1.1" in greenroom("why", "app.A").stdout
    assert "sha256" in greenroom("why", "app.A", "--verbose").stdout
    assert "driver" in greenroom("why", "app.C", status=2).stderr


def test_diff_compares_two_components(greenroom: Command, built: Path) -> None:
    assert "tinylib 2.0.0 → 1.1.1" in greenroom("diff", "app.A", "app.B", status=1).stdout
    assert "share" in greenroom("diff", "app.A", "s1").stdout
    del built


def test_log_is_complete_and_kept_after_a_failure(greenroom: Command, app: Path, index: Index) -> None:
    assert "greenroom sync app.A" in greenroom("log", "app.A", status=2).stderr
    index.fault("*tinylib-2.0.0*whl", status=404)
    failed = greenroom("sync", "app.A", status=1)
    log = greenroom("log", "app.A", "--path").stdout.strip()
    assert log in failed.stdout
    assert "404" in greenroom("log", "app.A").stdout
    assert Path(log).read_text().strip() == greenroom("log", "app.A").stdout.strip()
    del app


def test_verify_names_missing_and_edited_files_and_repair_mends_them(greenroom: Command, built: Path) -> None:
    environment = Path(greenroom("python", "app.A").stdout.strip()).parent.parent
    module = next(environment.rglob("tinylib/__init__.py"))
    module.parent.chmod(0o755)
    content = module.read_bytes()
    module.unlink()
    told = greenroom("verify", status=1)
    assert "tinylib/__init__.py" in told.stdout
    assert "1 not as proven" in told.stdout
    mended = greenroom("verify", "--repair")
    assert "1 repaired" in mended.stdout
    assert module.read_bytes() == content
    greenroom("verify", "--deep")
    assert greenroom("run", "app.A", "--", "tiny").stdout == "tiny 2.0.0\n"
    del built


def test_edit_makes_a_copy_whose_changes_stay_in_it(greenroom: Command, built: Path) -> None:
    copy = built / "copy"
    greenroom("edit", "app.A", str(copy))
    module = next(copy.rglob("tinylib/__init__.py"))
    module.write_text("__version__ = 'edited'\n")
    code = "import tinylib; print(tinylib.__version__)"
    run = subprocess.run([copy / "bin/python", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "edited\n"
    assert greenroom("run", "app.A", "--", "python", "-c", code).stdout == "2.0.0\n"
    assert "not empty" in greenroom("edit", "app.A", str(copy), status=2).stderr
    assert "driver" in greenroom("edit", "app.C", status=2).stderr


def test_gc_keeps_what_is_declared_and_removes_the_rest(greenroom: Command, built: Path) -> None:
    assert greenroom("gc", "--json").json()["data"]["stores"][0]["removed"] == []
    declaration = built / "greenroom.toml"
    declaration.write_text(declaration.read_text().replace('"app.B" = ["b"]\n', ""))
    greenroom("sync")
    first = greenroom("gc", "--dry-run", "--json").json()["data"]
    assert [item["kind"] for item in first["stores"][0]["removed"]][:1] == ["environment"]
    assert first["stores"][0]["freed"] > 0
    greenroom("gc")
    assert greenroom("gc", "--dry-run", "--json").json()["data"]["stores"][0]["removed"] == []
    greenroom("run", "app.A", "--", "tiny")
    for size in ("much", "-1", "inf", "nan"):
        assert "200G" in greenroom("gc", f"--max-size={size}", status=2).stderr


def test_init_writes_a_declaration_that_works(
    greenroom: Command, index: Index, project: Callable[..., Path], uv_lock: Callable[..., object]
) -> None:
    app = usual.write(index, project, uv_lock)
    (app / "greenroom.toml").unlink()
    dry = greenroom("init", "--dry-run").stdout
    assert not (app / "greenroom.toml").exists()
    told = greenroom("init").stdout
    assert (app / "greenroom.toml").read_text().strip() == dry.strip()
    assert "greenroom.toml" in told
    greenroom("list")
    assert greenroom("init", status=2).stderr.startswith("greenroom: ")


def test_schema_and_completion_are_for_other_programs(greenroom: Command) -> None:
    assert json.loads(greenroom("schema").stdout)["$schema"].startswith("https://json-schema.org/")
    for shell in ("bash", "zsh", "fish"):
        assert "greenroom" in greenroom("completion", shell).stdout


def test_a_shell_completes_commands_options_and_components(greenroom: Command, app: Path) -> None:
    def completions(line: str) -> set[str]:
        asked = {
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_STDOUT_FILENAME": str(app / "completions"),
            "_ARGCOMPLETE_IFS": "\n",
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
            "COMP_TYPE": "9",
        }
        greenroom(env=asked)
        return {word.strip() for word in (app / "completions").read_text().split("\n")}

    assert {"sync", "status"} <= completions("greenroom s")
    assert "--locked" in completions("greenroom sync --l")
    assert {"app.A", "app.B", "app.C"} <= completions("greenroom run app")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("synch",), "did you mean 'sync'?"),
        (("sync", "--lokced"), "--lokced"),
        (("list", "extra"), "extra"),
        (("python",), "NAME"),
        (("--json",), "needs a command"),
        (("--project",), "needs a command"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_status_2(
    greenroom: Command, words: tuple[str, ...], says: str
) -> None:
    told = greenroom(*words, status=2)
    assert says in told.stderr
    assert told.stderr.startswith("greenroom: ")
    assert told.stderr.count("\n") == 1
    assert told.stdout == "" or "--json" in words


@pytest.mark.parametrize("words", [("--help",), ("-h",), (), ("sync", "--help"), ("run", "--help")])
def test_help_has_examples_and_goes_to_stdout(greenroom: Command, words: tuple[str, ...]) -> None:
    told = greenroom(*words)
    assert "examples:" in told.stdout
    assert told.stderr == ""


def test_options_may_stand_before_and_behind_the_command(
    greenroom: Command, app: Path, tmp_path: Path
) -> None:
    here = greenroom("list", "--json").stdout
    assert greenroom("--project", app, "list", "--json", cwd=tmp_path).stdout == here
    assert greenroom("list", f"--project={app}", "--json", cwd=tmp_path).stdout == here
    assert greenroom("list", "--json", cwd=tmp_path, env={"GREENROOM_PROJECT": str(app)}).stdout == here
    assert (
        greenroom("--quiet", "list", "--project", app / "greenroom.toml", "--json", cwd=tmp_path).stdout
        == here
    )


def test_another_store_is_asked_for_by_option(greenroom: Command, app: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    greenroom("--store", other, "sync", "app.A")
    assert str(other) in greenroom("python", "app.A", "--store", other).stdout
    greenroom("python", "app.A", status=3)
    del app


def test_a_wrong_declaration_is_a_line_for_each_problem_and_json_has_them_too(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    project({"greenroom.toml": '[actor]\n[servers.x]\npaht = "y"\n'})
    told = greenroom("list", "--json", status=2)
    lines = told.stderr.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("greenroom: ") for line in lines)
    error = told.json()["error"]
    assert [each["message"] for each in error["errors"]] == [
        line.removeprefix("greenroom: ") for line in lines
    ]
    assert error["status"] == 2


def test_without_a_declaration_the_answer_names_init(greenroom: Command) -> None:
    for words in (("list",), ("sync",), ("python", "x"), ("run", "x", "--", "y"), ("why", "x"), ("check",)):
        assert "greenroom init" in greenroom(*words, status=2).stderr


def test_a_reader_that_stops_reading_is_no_error(greenroom: Command, built: Path) -> None:
    run = subprocess.run(
        ["bash", "-c", f"{greenroom.program} list | true; echo ${{PIPESTATUS[0]}}"],
        cwd=built,
        env=greenroom.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stderr == ""
    assert run.stdout.strip() in {"0", "141"}


def test_ctrl_c_is_status_130_and_leaves_nothing(
    greenroom: Command, app: Path, index: Index, store_path: Path
) -> None:
    fault = index.fault("*tinylib-2.0.0*whl", hang=True)
    running = greenroom.start("sync", "app.A")
    fault.wait()
    running.interrupt()
    stopped = running.wait(status=130)
    assert stopped.stderr.splitlines()[-1] == "greenroom: interrupted"
    assert "Traceback" not in stopped.stderr
    index.heal()
    greenroom("python", "app.A", status=3)
    assert not list((store_path / ".greenroom" / "building").iterdir())
    del app


def test_ctrl_c_while_locking_leaves_the_lock_as_it_was(greenroom: Command, app: Path, index: Index) -> None:
    fault = index.fault("*tinylib*", hang=True)
    running = greenroom.start("lock")
    fault.wait()
    running.interrupt()
    assert "Traceback" not in running.wait(status=130).stderr
    index.heal()
    assert sorted(path.name for path in app.iterdir() if "lock" in path.name) in (
        ["uv.lock"],
        ["greenroom.lock", "uv.lock"],
    )
    assert not list(app.glob("greenroom.lock/*"))
    assert not list(app.glob(".greenroom*"))


def test_a_vanished_working_directory_is_said(greenroom: Command, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"rmdir {gone}; exec {greenroom.program} list"
    run = subprocess.run(
        ["sh", "-c", line], cwd=gone, env=greenroom.env, capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert "working directory" in run.stderr
    assert run.stderr.count("\n") == 1


def test_names_that_no_encoding_can_say_do_not_stop_the_answer(
    greenroom: Command, project: Callable[..., Path]
) -> None:
    project({"greenroom.toml": '[servers."é→"]\npath = "srv"\n', "srv/requirements.txt": ""})
    for locale in ("C", "POSIX", "C.UTF-8"):
        env = {"LC_ALL": locale, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        assert greenroom("list", env=env).stdout


def test_colours_are_for_terminals_only_and_can_be_refused(greenroom: Command, built: Path) -> None:
    assert "\x1b[" not in greenroom("status").stdout

    def on_terminal(**more: str) -> str:
        words = ["script", "-qec", f"{greenroom.program} status", "/dev/null"]
        env = {**greenroom.env, "TERM": "xterm", **more}
        return subprocess.run(words, cwd=built, env=env, capture_output=True, text=True, check=True).stdout

    if shutil.which("script") is None:
        pytest.skip("script is not installed")
    assert "\x1b[32mready" in on_terminal()
    assert "\x1b[" not in on_terminal(NO_COLOR="1")


def test_sigterm_ends_it_with_everything_that_it_started(greenroom: Command, app: Path, index: Index) -> None:
    fault = index.fault("*tinylib-2.0.0*whl", hang=True)
    running = greenroom.start("sync", "app.A")
    fault.wait()
    os.kill(running.pid, signal.SIGTERM)
    running.wait(status=-signal.SIGTERM)
    index.heal()
    greenroom("sync", "app.A")
    del app
