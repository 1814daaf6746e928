"""What is written in an environment says whether a cluster takes workers from it; names say which actor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from greenroom import errors
from greenroom.ray import naming, preflight, runtime_env
from greenroom.ray.preflight import Versions

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = Versions(ray="2.60.0", python="3.11.7")
METADATA = """\
Metadata-Version: 2.1
Name: ray
Requires-Dist: click
Requires-Dist: star_lette; extra == "serve"
Requires-Dist: pandas; extra == "data"
Requires-Dist: never; extra == "serve" and python_version < "3"

Requires-Dist: in-the-text; extra == "serve"
"""


@pytest.fixture
def environment(tmp_path: Path) -> str:
    for name in ("ray-2.60.0", "click-8.1", "Odd.Name-1.0"):
        folder = tmp_path / "lib/python3.11/site-packages" / f"{name}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(METADATA if name.startswith("ray") else "")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("ray", "python", "allowed", "kinds"),
    [
        ("2.60.0", "3.11.7", False, []),
        ("2.59.0", "3.11.7", False, [errors.RayMismatch]),
        ("2.60.0", "3.11.2", False, [errors.PatchMismatch]),
        ("2.59.0", "3.11.2", False, [errors.PatchMismatch, errors.RayMismatch]),
        ("2.59.0", "3.11.2", True, []),
        ("2.60.0", "3.12.1", True, [errors.MinorMismatch]),
        (None, "3.11.7", True, [errors.RayMissing]),
    ],
)
def test_each_difference_is_an_error_of_its_own(
    ray: str | None, python: str, kinds: list[type], *, allowed: bool
) -> None:
    found = preflight.problems("a.A", Versions(ray=ray, python=python), CLUSTER, allow_mismatch=allowed)
    assert [type(error) for error in found] == kinds


def test_dist_info_folders_are_enough(environment: str) -> None:
    assert preflight.installed(environment) == {"ray": "2.60.0", "click": "8.1", "odd-name": "1.0"}
    assert preflight.installed(f"{environment}/nowhere") == {}
    preflight.check("a.A", environment, "3.11.7", CLUSTER)


def test_an_extra_is_looked_for_package_by_package(environment: str) -> None:
    with pytest.raises(errors.RayExtraMissing, match=r"lacks star-lette of ray\[serve\]"):
        preflight.check("a.A", environment, "3.11.7", CLUSTER, needs=["serve"])
    assert preflight.lacking(environment, "data", preflight.installed(environment)) == ("pandas",)


class Outer:
    class Inner:
        pass


def test_an_actor_is_known_by_its_class_and_module() -> None:
    assert naming.candidates("a.B") == ("a.B",)
    assert naming.candidates(Outer.Inner) == (f"{__name__}.Outer.Inner",)
    with pytest.raises(errors.NotAnActor):
        naming.candidates(3)


def test_what_a_script_defines_is_looked_for_under_the_scripts_name(monkeypatch: pytest.MonkeyPatch) -> None:
    import __main__

    worker = type("Worker", (), {"__module__": "__main__"})
    monkeypatch.setattr(__main__, "__spec__", None)
    monkeypatch.setattr(__main__, "__file__", "/x/train.py", raising=False)
    assert naming.candidates(worker) == ("train.Worker", "__main__.Worker")


def test_a_job_under_uv_run_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_RUN_RECURSION_DEPTH", "1")
    with pytest.raises(errors.UvRunHookActive, match="RAY_ENABLE_UV_RUN_RUNTIME_ENV=0"):
        runtime_env("a.A")
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    with pytest.raises(errors.DeclarationNotFound):
        runtime_env("a.A", project="/")
