"""The plugin as Ray's agent calls it."""

from __future__ import annotations

import ast
import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from greenroom import __version__
from greenroom.ray import explain, plugin
from greenroom.ray.plugin import GreenroomPlugin, NotProvided

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.gate import Gate
    from tests.support.index import Index
    from tests.support.workspace import Command

LOGGER = logging.getLogger("test")


class _Context:
    def __init__(self) -> None:
        self.env_vars: dict[str, str] = {}
        self.py_executable = "base"


def _wanted(**more: Any) -> dict[str, Any]:
    source = {"component": "app.A", "declaration": "/nowhere/greenroom.toml", "store": "/nowhere/store"}
    return {"greenroom": {"key": "cp311-" + "a" * 24, "source": {**source, **more}}}


def test_it_imports_the_standard_library_and_rays_base_class_only() -> None:
    tree = ast.parse(Path(str(plugin.__file__)).read_text(encoding="utf-8"))
    found = {
        name
        for node in tree.body
        for inner in ast.walk(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for name in (
            [alias.name for alias in inner.names]
            if isinstance(inner, ast.Import)
            else [str(inner.module)]
            if isinstance(inner, ast.ImportFrom)
            else []
        )
    }
    assert {name for name in found if name.partition(".")[0] not in sys.stdlib_module_names} == {
        "ray._private.runtime_env.plugin"
    }


@pytest.mark.parametrize("value", [None, 3, [], {}, {"key": "x"}, {"source": {}}])
def test_a_value_of_another_form_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="greenroom: "):
        GreenroomPlugin.validate({"greenroom": value})


def test_it_names_no_uris_and_deletes_nothing() -> None:
    made = GreenroomPlugin()
    assert made.get_uris(_wanted()) == []
    assert made.get_uris({}) == []
    assert made.delete_uri("x", LOGGER) == 0


def test_a_probe_and_the_drivers_interpreter_need_nothing() -> None:
    made, context = GreenroomPlugin(), _Context()
    values: tuple[dict[str, Any], ...] = ({"probe": True}, {"key": None, "source": {}})
    for value in values:
        env = {"greenroom": value}
        made.validate(env)
        asyncio.run(made.create(None, env, context, LOGGER))
        made.modify_context([], env, context, LOGGER)
    assert context.env_vars == {"GREENROOM_RAY_PLUGIN": __version__}
    assert context.py_executable == "base"


def test_an_environment_that_is_there_costs_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "cp311-" + "a" * 24
    (tmp_path / key / "bin").mkdir(parents=True)
    for name in ("greenroom.json", "bin/python"):
        (tmp_path / key / name).touch()
    monkeypatch.setattr(plugin, "_provided", None)
    made, context = GreenroomPlugin(), _Context()
    env = _wanted(store=str(tmp_path)) | {"py_executable": f"env -u X {tmp_path}/{key}/bin/python"}
    asyncio.run(made.create(None, env, context, LOGGER))
    made.modify_context([], env, context, LOGGER)
    assert context.py_executable == env["py_executable"]
    assert context.env_vars["VIRTUAL_ENV"] == f"{tmp_path}/{key}"
    assert context.env_vars["PATH"] == f"{tmp_path}/{key}/bin:${{PATH}}"
    # A job's key overrules an actor's own path: the plugin decides last.
    env["py_executable"] = "/usr/bin/python3"
    made.modify_context([], env, context, LOGGER)
    assert context.py_executable == f"{tmp_path}/{key}/bin/python"


def test_a_failure_is_remembered_for_rays_further_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    provided = plugin._provided

    async def counted(*arguments: Any) -> dict[str, Any]:
        calls.append(arguments)
        return await provided(*arguments)

    monkeypatch.setattr(plugin, "_provided", counted)
    made = GreenroomPlugin()
    messages = []
    for _ in range(3):
        with pytest.raises(NotProvided) as caught:
            asyncio.run(made.create(None, _wanted(), _Context(), LOGGER))
        messages.append(explain(caught.value))
    assert len(calls) == 1
    assert len(set(messages)) == 1
    assert "its declaration /nowhere/greenroom.toml is not here" in str(messages[0])
    monkeypatch.setattr(plugin, "_REMEMBERED", 0.0)
    with pytest.raises(NotProvided):
        asyncio.run(made.create(None, _wanted(), _Context(), LOGGER))
    assert len(calls) == 2, "later it is tried anew"


def test_a_name_alone_needs_a_declaration_on_the_node() -> None:
    with pytest.raises(NotProvided, match="GREENROOM_PROJECT"):
        asyncio.run(GreenroomPlugin().create(None, {"greenroom": "app.A"}, _Context(), LOGGER))


@pytest.fixture
def held(
    greenroom: Command, index: Index, project: Callable[..., Path], environ: dict[str, str], gate: Gate
) -> dict[str, Any]:
    """Return the runtime environment of an actor whose build stands at the gate."""
    index.add_sdist("slow", "1.0", gate=gate)
    app = project({"greenroom.toml": '[actors]\n"app.A" = { dependencies = ["slow"] }\n'})
    greenroom("lock")
    (planned,) = greenroom("plan", "--json").json()["data"]["environments"]
    env = _wanted(declaration=str(app / "greenroom.toml"), store=environ["GREENROOM_STORE"])
    env["greenroom"]["key"] = planned["key"]
    return env


@pytest.mark.parametrize("limit", [None, "2"])
def test_a_build_that_is_cancelled_or_takes_too_long_ends_its_processes(
    held: dict[str, Any],
    environ: dict[str, str],
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
    limit: str | None,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    if limit is not None:
        monkeypatch.setenv("GREENROOM_RAY_LIMIT", limit)

    async def build() -> None:
        task = asyncio.create_task(GreenroomPlugin().create(None, held, _Context(), LOGGER))
        if limit is None:
            await asyncio.to_thread(gate.wait)
            task.cancel()
        await task

    with pytest.raises((asyncio.CancelledError, NotProvided)) as caught:
        asyncio.run(build())
    if limit is not None:
        assert "GREENROOM_RAY_LIMIT" in str(caught.value)
    assert not list(Path(environ["GREENROOM_STORE"]).glob("*/greenroom.json"))
    monkeypatch.undo()


def test_explain_finds_the_sentence_in_rays_words() -> None:
    text = "Traceback (most recent call last):\n  File x\ngreenroom.ray.plugin.NotProvided: the environment\n"
    error = RuntimeError(f"{text}greenroom: app.A: install failed: no (do it)\n")
    assert explain(error) == "app.A: install failed: no (do it)"
    outer = ValueError("wrapped")
    outer.__cause__ = error
    assert explain(outer) == "app.A: install failed: no (do it)"
    assert explain(ValueError(json.dumps({"greenroom": 1}))) is None
