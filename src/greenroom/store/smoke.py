"""Run the statements that an environment promises to run, on the node that has what they need."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from greenroom.uv.process import Group

__all__ = ["Smoke", "smoke"]

_DEADLINE = 900.0
"""Seconds for all statements: a first import of a large framework from a cold disk takes minutes."""
_MARK = "greenroom-smoke "
_BODY = f"""
import json, sys, time
def failing(error):
    last = ""
    trace = error.__traceback__
    while trace is not None:
        where = trace.tb_frame.f_code.co_filename
        if not where.startswith("<"):
            last = "%s:%d" % (where, trace.tb_lineno)
        trace = trace.tb_next
    return last
def say(**facts):
    sys.stdout.flush()
    print("\\n{_MARK}" + json.dumps(facts), flush=True)
names = {{"__name__": "__main__"}}
for number, statement in enumerate(json.loads(sys.argv[1])):
    say(number=number)
    began = time.perf_counter()
    try:
        exec(compile(statement, "<smoke>", "exec"), names)
    except BaseException as error:
        name = getattr(error, "name", None) if isinstance(error, ImportError) else None
        text = type(error).__name__ + ": " + str(error)
        say(number=number, seconds=time.perf_counter() - began, error=text, name=name, where=failing(error))
    else:
        say(number=number, seconds=time.perf_counter() - began, error=None, name=None, where="")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smoke:
    """How one statement ended."""

    statement: str
    seconds: float
    error: str | None
    """Type and text of the exception, or how the process ended; None: it ran."""
    module: str | None = None
    """The import that failed, when one did."""
    where: str = ""
    """File and line of the innermost frame in a file."""


def smoke(
    root: str, statements: Sequence[str], *, group: Group, variables: Mapping[str, str]
) -> tuple[Smoke, ...]:
    """Run statements one after the other in one process of an environment.

    A later one sees what an earlier one imported. When the process dies, the one that ran is named and
    the rest counts as not run.

    :param root: the environment's directory, absolute.
    :param variables: the whole environment of the process, as a component's launch has it.
    :raises GroupEnded: the run was ended meanwhile.
    :raises ProgramNotStarted: the interpreter cannot be started.
    """
    lines: list[str] = []
    outcome = group.run(
        [f"{root}/bin/python", "-c", _BODY, json.dumps(list(statements))],
        cwd=os.path.realpath(root),
        env=variables,
        on_line=lines.append,
        deadline=time.monotonic() + _DEADLINE,
    )
    said = [json.loads(line.removeprefix(_MARK)) for line in lines if line.startswith(_MARK)]
    ended = {facts["number"]: facts for facts in said if "seconds" in facts}
    begun = {facts["number"] for facts in said}
    if outcome.late:
        death = f"still running after {_DEADLINE:.0f} s"
    elif outcome.status < 0:
        death = f"the process was killed by signal {-outcome.status}"
    else:
        death = f"the process ended with status {outcome.status}"
    results = []
    for number, statement in enumerate(statements):
        facts = ended.get(number)
        if facts is None:
            error = death if number in begun else "not run: an earlier statement ended the process"
            results.append(Smoke(statement=statement, seconds=0.0, error=error))
        else:
            results.append(_ended(statement, facts))
    return tuple(results)


def _ended(statement: str, facts: Mapping[str, object]) -> Smoke:
    error, module, seconds = facts["error"], facts["name"], facts["seconds"]
    return Smoke(
        statement=statement,
        seconds=round(seconds, 3) if isinstance(seconds, float) else 0.0,
        error=str(error) if error is not None else None,
        module=str(module) if module is not None else None,
        where=str(facts["where"]),
    )
