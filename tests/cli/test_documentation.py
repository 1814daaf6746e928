"""The page of commands is made from the parsers and the contract, so that it cannot be wrong."""

from __future__ import annotations

import ast
import inspect
import os
from argparse import SUPPRESS, Action
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from greenroom.builder import events
from greenroom.cli import grammar
from greenroom.cli.contract import answers, cluster, images, moves, reports, servers, upkeep
from greenroom.cli.parsing import command_parser

PAGE = Path(__file__).parents[2] / "docs/commands.md"
COMMON = {"--project", "--store", "--quiet", "--verbose", "--no-progress", "--help"}
HEAD = Path(__file__).parents[1] / "data/commands-head.md"
FORMS = {
    "python": answers.Python,
    "list": answers.List,
    "status": answers.Status,
    "plan": reports.Plan,
    "check": reports.Check,
    "lock": reports.Lock,
    "sync": reports.Sync,
    "why": answers.Why,
    "diff": answers.Diff,
    "log": answers.Log,
    "verify": upkeep.Verify,
    "edit": upkeep.Edit,
    "gc": upkeep.Gc,
    "pack": moves.Pack,
    "unpack": moves.Unpack,
    "push": moves.Push,
    "init": reports.Init,
    "up": servers.Servers,
    "ps": servers.Servers,
    "restart": servers.Servers,
    "stop": servers.Servers,
    "down": servers.Servers,
    "wait": servers.Servers,
    "url": servers.Url,
    "config": servers.Config,
    "image": images.Image,
    "ray": cluster.Ray,
}


def _page() -> str:
    from greenroom.project.launching import REMOVED

    lines = [
        HEAD.read_text(encoding="utf-8")
        .replace("{events}", _events())
        .replace("{removed}", ", ".join(f"`{name}`" for name in REMOVED))
        .rstrip("\n")
    ]
    for group, commands in grammar.GROUPS.items():
        lines += ["", f"## {group}"]
        for command, (_, summary) in commands.items():
            lines += _command(command, summary)
    return "\n".join(lines) + "\n"


def _events() -> str:
    lines = ["| `event` | keys | says |", "|---|---|---|"]
    for event in get_args(events.Event):
        keys = ", ".join(f"`{field.name}`" for field in fields(event) if field.name != "at")
        says = str(event.__doc__).splitlines()[0].replace("``", "`")
        lines.append(f"| `{event.__name__.lower()}` | {keys} | {says} |")
    return "\n".join(lines)


def _command(command: str, summary: str) -> list[str]:
    parser = command_parser(command, summary)
    getattr(grammar.module(command), f"add_{command}")(parser)
    own = [action for action in parser._actions if not COMMON & set(action.option_strings)]
    usage = " ".join(["greenroom", command, *(word for action in own if (word := _usage(action)))])
    if command in {"run", "exec"}:
        usage += " -- COMMAND [ARGUMENT ...]"
    lines = ["", f"### {command}", "", f"{summary[0].upper()}{summary[1:]}.", "", f"    {usage}", ""]
    lines += [f"- {_words(action)}: {action.help}" for action in own if action.help != SUPPRESS]
    examples = str(parser.epilog or "").splitlines()[1:]
    lines += ["", "```sh", *(line.strip() for line in examples), "```"]
    return lines + (_form(FORMS[command]) if command in FORMS else [])


def _usage(action: Action) -> str:
    if not action.option_strings:
        name = str(action.metavar or "|".join(action.choices or ()))
        return f"[{name} ...]" if action.nargs == "*" else f"[{name}]" if action.nargs == "?" else name
    option = action.option_strings[-1]
    return f"[{option}]" if action.nargs == 0 else f"[{option} {_value(action)}]"


def _value(action: Action) -> str:
    return str(action.metavar or "|".join(action.choices or ()))


def _words(action: Action) -> str:
    if not action.option_strings:
        return f"`{_value(action)}`"
    value = "" if action.nargs == 0 else f" {_value(action)}"
    return ", ".join(f"`{option}{value}`" for option in action.option_strings)


def _form(form: Any, indent: str = "") -> list[str]:
    """Return the keys of a form with their types and what is said of them; forms inside below it."""
    module = inspect.getmodule(form)
    assert isinstance(module, ModuleType)
    tree = ast.parse(inspect.getsource(form)).body[0]
    assert isinstance(tree, ast.ClassDef)
    lines = [] if indent else ["", "JSON `data`:", ""]
    for number, node in enumerate(tree.body):
        if not isinstance(node, ast.AnnAssign):
            continue
        kind = ast.unparse(node.annotation)
        following = tree.body[number + 1] if number + 1 < len(tree.body) else None
        said = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            said = f": {following.value.value!s}".replace("``", "`")
        inner = [name for name in vars(module) if name in kind.replace("[", " ").replace("]", " ").split()]
        shown = kind
        for name in inner:
            shown = shown.replace(name, "object")
        lines.append(f"{indent}- `{ast.unparse(node.target)}` ({shown}){said}")
        for name in inner:
            lines += _form(getattr(module, name), indent + "  ")
    return lines


def test_the_page_of_commands_is_up_to_date() -> None:
    page = _page()
    if "GREENROOM_TEST_WRITE" in os.environ:
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page
