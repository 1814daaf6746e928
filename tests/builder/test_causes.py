from __future__ import annotations

import pytest

from greenroom.builder import causes

UNSATISFIABLE = """\
Using Python 3.11.7 environment at: e
error: No solution found when resolving dependencies
  cause: Because no-such-package was not found in the package registry and you require no-such-package,
         we can conclude that your requirements are unsatisfiable.

hint: something long
"""
OLDER = """\
  × No solution found when resolving dependencies:
  ╰─▶ Because no-such-package was not found in the package registry and you
      require no-such-package, we can conclude that your requirements are unsatisfiable.
"""
BACKEND = """\
Building wheel...
Traceback (most recent call last):
  File "<string>", line 11, in <module>
ModuleNotFoundError: No module named 'torch'
error: Failed to build `/private/source`
  cause: The build backend returned an error
  cause: Call to `be.build_wheel` failed (exit status: 1)

hint: This error likely indicates that you need torch.
"""
INNER = """\
error: Failed to build `tinylib @ file:///lib`
  cause: The build backend returned an error
  cause: Call to `be.build_wheel` failed (exit status: 1)

         [stderr]
         Traceback (most recent call last):
           File "<string>", line 11, in <module>
         ModuleNotFoundError: No module named 'torch'

hint: whatever
"""


def test_uvs_chain_of_causes_becomes_one_line_without_its_hints() -> None:
    said = causes.cause(UNSATISFIABLE.splitlines())
    assert said.startswith(
        "No solution found when resolving dependencies: Because no-such-package was not found"
    )
    assert said.endswith("we can conclude that your requirements are unsatisfiable.")
    assert "hint" not in said


def test_the_older_form_with_arrows_says_the_same() -> None:
    said = causes.cause(OLDER.splitlines())
    assert said.startswith(
        "No solution found when resolving dependencies: Because no-such-package was not found"
    )
    assert said.endswith(
        "and you require no-such-package, we can conclude that your requirements are unsatisfiable."
    )


@pytest.mark.parametrize("text", [BACKEND, INNER])
def test_a_build_backends_last_line_is_part_of_the_cause(text: str) -> None:
    said = causes.cause(text.splitlines())
    assert said.endswith("No module named 'torch'")
    assert "Traceback" not in said
    assert "hint" not in said


def test_a_build_that_is_named_elsewhere_is_not_named_by_its_private_path() -> None:
    said = causes.cause(BACKEND.splitlines(), named=True)
    assert said.startswith("The build backend returned an error")
    assert "/private/source" not in said
    assert causes.cause(["error: Failed to build `/private/source`"], named=True)


def test_gits_fatal_line_is_the_cause() -> None:
    assert causes.cause(["Cloning into 'x'...", "fatal: repository 'y' does not exist"]) == (
        "repository 'y' does not exist"
    )


def test_without_an_error_line_the_last_words_count() -> None:
    assert causes.cause(["one", "two", ""]) == "two"
    assert causes.cause([]) == "it ended without a word"


def test_a_cause_has_an_end() -> None:
    assert len(causes.cause(["error: " + "x" * 5000])) == causes.LONGEST


def test_kinds_of_failures_are_recognised_in_uvs_words() -> None:
    assert causes.disk_is_full(["  cause: No space left on device (os error 28)"])
    assert not causes.disk_is_full(["error: it (os error 2)"])
    assert causes.fetched_what_is_not_pinned(["  cause: Hash mismatch for `x==1`"])
    assert causes.missing_from_cache(["hint: Packages were unavailable because the network was disabled."])
