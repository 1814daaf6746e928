"""Which versions a request admits, and when the driver's is taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.interpreters.requests import admits, choose, fits, is_path, request_of

ADMITTED = [
    # versions, partial and exact
    ("3", "3.13.2"),
    ("3.13", "3.13.2"),
    ("3.13", "3.13.0"),
    ("3.13.2", "3.13.2"),
    ("3.013.2", "3.13.2"),
    (" 3.13 ", "3.13.2"),
    ("3.13\n", "3.13.2"),
    ("3.14", "3.14.0rc1"),
    ("3.14.0rc1", "3.14.0rc1"),
    ("3.13.2", "3.13.2+"),
    # the implementation's name
    ("cpython", "3.13.2"),
    ("cpython@3.13", "3.13.2"),
    ("cpython3.13", "3.13.2"),
    ("cpython3.13.2", "3.13.2"),
    ("CPython@3.13", "3.13.2"),
    ("cpython@>=3.13", "3.13.2"),
    ("cpython>=3.13,<3.14", "3.13.2"),
    ("cpython @ 3.13", "3.13.2"),
    ("cpython 3.13", "3.13.2"),
    # specifier sets
    (">=3.13,<3.14", "3.13.2"),
    (" >= 3.13 , < 3.14 ", "3.13.2"),
    (">=3.11.2,<3.12", "3.11.7"),
    (">3.13", "3.13.2"),
    ("<4", "3.13.2"),
    ("==3.13.*", "3.13.2"),
    ("==3.13.2", "3.13.2"),
    ("===3.13.2", "3.13.2"),
    ("~=3.12", "3.13.2"),
    ("~=3.13.1", "3.13.2"),
    ("!=3.13.1", "3.13.2"),
    (">=3.10,!=3.12.*", "3.13.2"),
    (">=3.13", "3.14.0rc1"),
    (">=3.14.0rc1", "3.14.0rc1"),
    ("==3.14.*", "3.14.0rc1"),
    (">=3.10,", "3.13.2"),
    # files
    ("# which one\n3.13\n", "3.13.2"),
    ("3.13  # the lab's", "3.13.2"),
    ("3.13\n3.12\n", "3.13.2"),
    ("\n\n  \n3.13", "3.13.2"),
    ("\ufeff3.13\r\n", "3.13.2"),
]
NOT_ADMITTED = [
    ("3.12", "3.13.2"),
    ("4", "3.13.2"),
    ("3.1", "3.13.2"),
    ("3.13.14", "3.13.2"),
    ("3.13.2", "3.13.20"),
    ("3.14.0", "3.14.0rc1"),
    ("3.14.0rc1", "3.14.0"),
    ("3.14.0rc1", "3.14.0rc2"),
    ("cpython@3.12", "3.13.2"),
    ("cpython@>=3.14", "3.13.2"),
    (">=3.14", "3.13.2"),
    (">=3.14", "3.14.0rc1"),
    ("<3.13", "3.13.2"),
    (">3.13.2", "3.13.2"),
    ("==3.13", "3.13.2"),
    ("!=3.13.*", "3.13.2"),
    ("~=3.13.3", "3.13.2"),
    ("===3.13", "3.13.2"),
    (">=3.13,<3.13", "3.13.2"),
    ("3.12\n3.13", "3.13.2"),
    # other implementations and builds: uv's to understand
    ("pypy", "3.13.2"),
    ("pypy@3.10", "3.10.1"),
    ("pypy3.10", "3.10.1"),
    ("graalpy", "3.11.7"),
    ("graalpy@3.11", "3.11.7"),
    ("3.13t", "3.13.2"),
    ("3.13+freethreaded", "3.13.2"),
    ("cpython@3.13t", "3.13.2"),
    (">=3.13t", "3.13.2"),
    ("cpython-3.13.2-linux-x86_64-gnu", "3.13.2"),
    ("cp313", "3.13.2"),
    ("313", "3.13.2"),
    ("any", "3.13.2"),
    ("python3.13", "3.13.2"),
    # paths
    ("/usr/bin/python3.13", "3.13.2"),
    ("./python", "3.13.2"),
    ("~/python", "3.13.2"),
    # nonsense
    ("", "3.13.2"),
    ("   ", "3.13.2"),
    ("# 3.13", "3.13.2"),
    ("#3.13\n  # 3.13\n", "3.13.2"),
    ("system", "3.13.2"),
    ("v3.13", "3.13.2"),
    ("3.13.*", "3.13.2"),
    ("^3.13", "3.13.2"),
    ("3.13-dev", "3.13.2"),
    ("3.13 3.12", "3.13.2"),
    ("3. 13", "3.13.2"),
    ("3.13.2.1", "3.13.2"),
    (">=3.13 <3.14", "3.13.2"),
    (">=", "3.13.2"),
    (",", "3.13.2"),
    ("cpython@", "three"),
    ("\uff13.13", "3.13.2"),
    ("9" * 5000, "3.13.2"),
    (f">={'9' * 5000}", "3.13.2"),
    ("3.13; rm -rf /", "3.13.2"),
    ("\0", "3.13.2"),
    # versions that are none
    ("3.13", "3.13"),
    ("3.13", ""),
    ("3.13", "3.13.2.post1"),
    ("3.13", "pypy"),
    (">=3", "nonsense"),
]


def test_the_table_is_long_enough() -> None:
    assert len(ADMITTED) + len(NOT_ADMITTED) >= 60


@pytest.mark.parametrize(("request_", "version"), ADMITTED)
def test_is_admitted(request_: str, version: str) -> None:
    assert admits(request_, version)


@pytest.mark.parametrize(("request_", "version"), NOT_ADMITTED)
def test_is_not_admitted(request_: str, version: str) -> None:
    assert not admits(request_, version)


VERSIONS = st.builds(
    "{}.{}.{}{}".format,
    st.integers(2, 4),
    st.integers(0, 20),
    st.integers(0, 30),
    st.sampled_from(["", "a1", "b2", "rc1", "rc10"]),
)
PREFIXES = st.sampled_from(["", "cpython", "cpython@", "CPYTHON@", "cpython @ "])
SPACE = st.sampled_from(["", " ", "  ", "\t"])


@given(VERSIONS)
def test_an_exact_version_admits_itself(version: str) -> None:
    assert admits(version, version)
    assert admits(f"==={version}", version)
    assert admits(f">={version}", version)


@given(VERSIONS)
def test_a_partial_version_admits_what_starts_with_it(version: str) -> None:
    major, minor, _ = version.split(".", 2)
    assert admits(major, version)
    assert admits(f"{major}.{minor}", version)
    assert not admits(f"{major}.{minor}1", version)


@given(VERSIONS, VERSIONS)
def test_an_exact_version_admits_no_other(one: str, other: str) -> None:
    assert admits(one, other) == (one == other)


@given(request_=st.text(), version=st.text() | VERSIONS)
def test_nothing_makes_it_raise(request_: str, version: str) -> None:
    assert admits(request_, version) in {True, False}
    assert fits(request_, implementation="cpython", version=version, abi="cp313") in {True, False, None}
    choose(request_, version)
    request_of(request_)


@given(
    request_=st.sampled_from(["3.13", "3.13.2", ">=3.11,<3.14", "~=3.12", "!=3.13.1", "==3.13.*", "3.14"]),
    version=VERSIONS,
    prefix=PREFIXES,
    before=SPACE,
    after=SPACE,
)
def test_prefix_and_spaces_change_nothing(
    request_: str, version: str, prefix: str, before: str, after: str
) -> None:
    assert admits(f"{before}{prefix}{request_}{after}  # why\n3.99\n", version) == admits(request_, version)


@given(lower=VERSIONS, upper=VERSIONS, version=VERSIONS)
def test_the_order_of_specifiers_changes_nothing(lower: str, upper: str, version: str) -> None:
    assert admits(f">={lower},<{upper}", version) == admits(f"<{upper},>={lower}", version)


@pytest.mark.parametrize(
    ("request_", "driver", "chosen"),
    [
        (None, "3.11.7", "3.11.7"),
        ("", "3.11.7", "3.11.7"),
        ("# nothing\n", "3.11.7", "3.11.7"),
        (">=3.11.2,<3.12", "3.11.7", "3.11.7"),
        (">=3.13.14,<3.14", "3.13.15", "3.13.15"),
        (">=3.13.14,<3.14", "3.12.1", None),
        ("3.11", "3.11.7", "3.11.7"),
        ("3.11.2", "3.11.7", None),
        ("pypy@3.11", "3.11.7", None),
    ],
)
def test_the_drivers_exact_release_wins_whenever_it_is_admitted(
    request_: str | None, driver: str, chosen: str | None
) -> None:
    assert choose(request_, driver) == chosen


@pytest.mark.parametrize(
    ("request_", "implementation", "version", "abi", "fit"),
    [
        ("3.13", "cpython", "3.13.2", "cp313", True),
        ("3.13", "cpython", "3.13.2", "cp313t", False),
        ("3.13", "pypy", "3.13.2", "pypy313_pp80", False),
        (">=3.13", "cpython", "3.13.2", "cp313", True),
        (">=3.13", "cpython", "3.13.2", "cp313t", False),
        (">=3.13", "cpython", "3.12.2", "cp312", False),
        ("cpython@>=3.13", "cpython", "3.13.2", "cp313d", True),
        ("3.13t", "cpython", "3.13.2", "cp313t", True),
        ("3.13+freethreaded", "cpython", "3.13.2", "cp313td", True),
        ("3.13t", "cpython", "3.13.2", "cp313", False),
        ("3.13t", "cpython", "3.14.2", "cp314t", False),
        ("pypy@3.10", "pypy", "3.10.14", "pypy310_pp73", True),
        ("pypy", "pypy", "3.10.14", "pypy310_pp73", True),
        ("PyPy3.10", "pypy", "3.9.14", "pypy39_pp73", False),
        ("pypy@3.10", "cpython", "3.10.14", "cp310", False),
        ("graalpy", "graalpy", "3.11.7", "graalpy240_311_native", True),
        ("python3.13", "cpython", "3.13.2", "cp313", None),
        ("cp313", "cpython", "3.13.2", "cp313", None),
    ],
)
def test_another_interpreter_must_be_what_is_asked_for(
    request_: str, implementation: str, version: str, abi: str, fit: bool | None
) -> None:
    assert fits(request_, implementation=implementation, version=version, abi=abi) is fit


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("3.13\n", "3.13"),
        ("# c\n\n 3.12 # d\n3.11", "3.12"),
        ("", None),
        ("\n \n#\n", None),
        ("pypy@3.10", "pypy@3.10"),
        ("/opt/py#3/bin/python", "/opt/py#3/bin/python"),
    ],
)
def test_a_version_file_makes_one_request(text: str, request_: str | None) -> None:
    assert request_of(text) == request_


def test_paths_are_told_from_versions() -> None:
    assert all(map(is_path, ("/usr/bin/python3", "~/py", "./py", "~user/py", "bin/python")))
    assert not any(map(is_path, ("3.13", ">=3.1", "~=3.12", "pypy", "python3", "")))
