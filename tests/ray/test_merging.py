"""What a caller, a job and a parent actor bring to a runtime environment, and what cannot be joined."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.errors import RuntimeEnvConflict
from greenroom.project.launching import REMOVED
from greenroom.ray.merging import REFUSED, merged

PATH = "/store/cp311-x/bin/python"
OWN: dict[str, Any] = {
    "interpreter": PATH,
    "greenroom": {"key": "cp311-x", "source": {"component": "a.A", "variables": []}},
    "env_vars": {"VIRTUAL_ENV": "/store/cp311-x"},
}


def _merged(
    more: dict[str, Any] | None = None, inherited: dict[str, Any] | None = None, **own: str
) -> dict[str, Any]:
    mine = OWN | {"env_vars": OWN["env_vars"] | own}
    return merged(mine, more or {}, inherited or {}, actor="a.A")


@given(
    fields=st.dictionaries(
        st.sampled_from(["working_dir", "py_modules", "excludes", "worker_process_setup_hook"]),
        st.text(min_size=1),
    ),
    variables=st.dictionaries(st.sampled_from(["A", "B", "UV_PYTHON", "PYTHONPATH"]), st.text()),
)
def test_the_callers_fields_survive_and_the_interpreter_is_ours(
    fields: dict[str, str], variables: dict[str, str]
) -> None:
    found = _merged({**fields, "env_vars": variables})
    assert fields.items() <= found.items()
    assert variables.items() <= found["env_vars"].items()
    words = found["py_executable"].split()
    assert words[-1] == PATH
    removed = set(words[2:-1:2])
    assert removed == set(REMOVED) - found["env_vars"].keys(), "what is set is not removed again"


@pytest.mark.parametrize("field", [*REFUSED, "py_executable", "greenroom"])
def test_a_field_that_wants_another_interpreter_is_refused_with_its_owner(field: str) -> None:
    with pytest.raises(RuntimeEnvConflict, match=f"{field}.*the call"):
        _merged({field: "x"})
    if field in REFUSED:
        with pytest.raises(RuntimeEnvConflict, match=f"{field}.*the job"):
            _merged(inherited={field: "x"})
    else:
        _merged(inherited={field: "x"})  # an actor's own overrides the job's


def test_the_same_interpreter_and_an_absent_field_are_no_conflict() -> None:
    _merged({"py_executable": PATH, "pip": None}, {"conda": None})


def test_ray_waits_as_long_as_it_takes_unless_the_caller_says_otherwise() -> None:
    assert _merged()["config"] == {"setup_timeout_seconds": -1}
    config = {"setup_timeout_seconds": 5, "eager_install": False}
    assert _merged({"config": config})["config"] == config


@pytest.mark.parametrize(
    ("more", "inherited", "own", "behind"),
    [
        ({}, {}, {}, "${PATH}"),
        ({}, {"env_vars": {"PATH": "/job"}}, {}, "/job"),
        ({}, {"env_vars": {"PATH": "/job"}}, {"PATH": "/declared"}, "/declared"),
        ({"env_vars": {"PATH": "/call"}}, {"env_vars": {"PATH": "/job"}}, {"PATH": "/declared"}, "/call"),
        ({}, {"env_vars": {"PATH": "/p/bin:/job", "VIRTUAL_ENV": "/p"}}, {}, "/job"),
    ],
)
def test_the_environments_bin_is_first_on_path(
    more: dict[str, Any], inherited: dict[str, Any], own: dict[str, str], behind: str
) -> None:
    assert _merged(more, inherited, **own)["env_vars"]["PATH"] == f"/store/cp311-x/bin:{behind}"


def test_a_child_gets_no_declared_variable_of_its_parent() -> None:
    parent = {
        "env_vars": {"PARENT": "1", "JOB": "2", "PYTHONPATH": "/parent"},
        "greenroom": {"key": "k", "source": {"variables": ["PARENT", "PYTHONPATH"]}},
    }
    found = _merged(inherited=parent)
    assert "-u PARENT " in found["py_executable"]
    assert "-u JOB " not in found["py_executable"]
    assert found["env_vars"]["PYTHONPATH"] == ""


def test_the_jobs_own_pythonpath_counts() -> None:
    assert _merged(inherited={"env_vars": {"PYTHONPATH": "/x"}})["env_vars"]["PYTHONPATH"] == "/x"


def test_a_virtual_env_of_somebody_else_is_refused() -> None:
    with pytest.raises(RuntimeEnvConflict, match="VIRTUAL_ENV"):
        _merged({"env_vars": {"VIRTUAL_ENV": "/other"}})
