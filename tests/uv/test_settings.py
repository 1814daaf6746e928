"""Of the caller's settings only transport reaches uv."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.components import Index
from greenroom.errors import SettingsUnreadable
from greenroom.locks.model import BuildSettings
from greenroom.uv import settings
from greenroom.uv.settings import Ignored, Transport

if TYPE_CHECKING:
    from pathlib import Path


def _read(transport: Transport, *arguments: Any, **more: Any) -> dict[str, Any]:
    return tomllib.loads(settings.config_text(transport, *arguments, **more))


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """Return the place of the user's file."""
    path = tmp_path / "config/uv/uv.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Return the place of the machine's file."""
    path = tmp_path / "etc/uv/uv.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Return the variables that lead to both."""
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CONFIG_DIRS": f"{tmp_path / 'nowhere'}:{tmp_path / 'etc'}",
    }


def test_without_files_there_is_nothing(variables: dict[str, str]) -> None:
    assert _read(settings.transport(variables)) == {}


def test_transport_keys_are_taken_and_others_named(user: Path, variables: dict[str, str]) -> None:
    user.write_text(
        'index-url = "https://u:p@mirror/simple"\nnative-tls = true\ncache-dir = "/c"\noffline = false\n'
        'https-proxy = "http://proxy"\nconcurrent-downloads = 3\nexclude-newer = "2020-01-01"\n'
        'link-mode = "symlink"\npublish-url = "https://p"\noverride-dependencies = ["a==1"]\n'
        '[pip]\nno-deps = true\nextra-index-url = ["https://more"]\n'
    )
    transport = settings.transport(variables)
    assert _read(transport) == {
        "index-url": "https://u:p@mirror/simple",
        "extra-index-url": ["https://more"],
        "native-tls": True,
        "cache-dir": "/c",
        "offline": False,
        "https-proxy": "http://proxy",
        "concurrent-downloads": 3,
    }
    keys = ("pip.no-deps", "exclude-newer", "link-mode", "override-dependencies")
    assert sorted(transport.ignored, key=lambda one: one.key) == sorted(
        (Ignored(file=str(user), key=key) for key in keys), key=lambda one: one.key
    )


def test_the_users_values_win_and_lists_are_joined(
    user: Path, machine: Path, variables: dict[str, str]
) -> None:
    user.write_text(
        'keyring-provider = "subprocess"\nallow-insecure-host = ["a"]\n[[index]]\nname = "x"\nurl = "https://u"\n'
    )
    machine.write_text(
        'keyring-provider = "disabled"\nallow-insecure-host = ["b"]\nhttp-proxy = "http://m"\n'
        '[[index]]\nname = "x"\nurl = "https://m"\n[[index]]\nname = "y"\nurl = "https://y"\n'
    )
    transport = settings.transport(variables)
    assert _read(transport) == {
        "keyring-provider": "subprocess",
        "allow-insecure-host": ["a", "b"],
        "http-proxy": "http://m",
        "index": [{"name": "x", "url": "https://u"}, {"name": "y", "url": "https://y"}],
    }
    assert transport.files == (str(user), str(machine))


def test_the_place_below_home_counts_where_xdg_says_nothing(tmp_path: Path) -> None:
    place = tmp_path / ".config/uv/uv.toml"
    place.parent.mkdir(parents=True)
    place.write_text("offline = true\n")
    assert _read(settings.transport({"HOME": str(tmp_path)})) == {"offline": True}


def test_a_named_file_replaces_the_others(user: Path, tmp_path: Path, variables: dict[str, str]) -> None:
    user.write_text("offline = true\n")
    named = tmp_path / "named.toml"
    named.write_text('[[index]]\nname = "n"\nurl = "https://n"\n')
    transport = settings.transport(variables | {"UV_CONFIG_FILE": str(named)})
    assert _read(transport) == {"index": [{"name": "n", "url": "https://n"}]}


def test_no_file_is_read_where_the_user_wants_none(user: Path, variables: dict[str, str]) -> None:
    user.write_text("offline = true\n")
    assert settings.transport(variables | {"UV_NO_CONFIG": "1"}) == Transport()


@pytest.mark.parametrize("content", [b"offline = ", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_a_file_that_is_no_toml_is_an_error_that_names_it(
    user: Path, variables: dict[str, str], content: bytes
) -> None:
    user.write_bytes(content)
    with pytest.raises(SettingsUnreadable, match=str(user)):
        settings.transport(variables)


@pytest.mark.parametrize("content", ["index = 1", "pip = 1", "index = [1]", "[index]\nx = 1"])
def test_a_wrong_type_is_no_crash(user: Path, variables: dict[str, str], content: str) -> None:
    user.write_text(content + "\n")
    assert _read(settings.transport(variables)) == {}


@pytest.mark.parametrize(
    ("named", "written", "expected"),
    [("", "", False), ("1", "", True), ("", "offline = true", True), ("0", "offline = true", False)],
)
def test_offline_is_known(
    user: Path, variables: dict[str, str], named: str, written: str, expected: bool
) -> None:
    user.write_text(written + "\n")
    variables |= {"UV_OFFLINE": named} if named else {}
    assert settings.offline(variables, settings.transport(variables)) is expected


def test_the_declarations_indexes_come_first_and_win_name_and_default(
    user: Path, variables: dict[str, str]
) -> None:
    user.write_text(
        '[[index]]\nname = "own"\nurl = "https://theirs"\n'
        '[[index]]\nname = "d"\nurl = "https://d"\ndefault = true\n'
        '[[index]]\nname = "kept"\nurl = "https://kept"\ndefault = false\nauthenticate = "always"\n'
    )
    own = Index(name="own", url="https://own", explicit=True)
    default = Index(name="main", url="https://main", default=True)
    assert _read(settings.transport(variables), (own, default))["index"] == [
        {"name": "own", "url": "https://own", "explicit": True},
        {"name": "main", "url": "https://main", "default": True},
        {"name": "kept", "url": "https://kept", "default": False, "authenticate": "always"},
    ]


def test_build_settings_are_spelled_as_uv_does() -> None:
    build = BuildSettings(
        no_build_isolation=("flash",),
        extra_build_requires=(("flash", (("torch", True), ("ninja>1", False))),),
        extra_build_variables=(("flash", (("A", "1"),)),),
        config_settings=(("x", '"1"'), ("y", '["a", "b"]'), ("z", "plain"), ("n", "7")),
        config_settings_package=(("flash", (("k", "v"),)),),
        build_constraints=("setuptools<70",),
        no_binary=(":all:",),
        no_build=("a", "b"),
    )
    assert _read(Transport(), (), build) == {
        "no-build-isolation-package": ["flash"],
        "extra-build-dependencies": {"flash": [{"requirement": "torch", "match-runtime": True}, "ninja>1"]},
        "extra-build-variables": {"flash": {"A": "1"}},
        "config-settings": {"x": "1", "y": ["a", "b"], "z": "plain", "n": "7"},
        "config-settings-package": {"flash": {"k": "v"}},
        "build-constraint-dependencies": ["setuptools<70"],
        "no-binary": True,
        "no-build-package": ["a", "b"],
    }


def test_more_keys_win_and_none_is_left_out(user: Path, variables: dict[str, str]) -> None:
    user.write_text('cache-dir = "/theirs"\n')
    text = _read(settings.transport(variables), cache_dir="/own", offline=True, link_mode=None)
    assert text == {"cache-dir": "/own", "offline": True}


DECIDING = (
    *("UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_PROJECT_ENVIRONMENT", "UV_TARGET", "UV_OVERRIDE", "UV_CONSTRAINT"),
    *("UV_NO_DEPS", "UV_NO_SYNC", "UV_FROZEN", "VIRTUAL_ENV", "CONDA_PREFIX", "UV_LINK_MODE", "PIP_TARGET"),
    *(
        "PYTHONPATH",
        "PYTHONHOME",
        "UV_CONFIG_FILE",
        "UV_EXCLUDE_NEWER",
        "UV_BUILD_CONSTRAINT",
        "CFLAGS",
        "CC",
    ),
    *("UV_NO_BINARY", "UV_RESOLUTION", "UV_PRERELEASE", "UV_INDEX_STRATEGY", "PIP_INDEX_URL", "UV_ENV_FILE"),
    *(
        "UV_TORCH_BACKEND",
        "UV_COMPILE_BYTECODE",
        "UV_PUBLISH_TOKEN",
        "GIT_DIR",
        "LD_PRELOAD",
        "UV_WORKING_DIR",
    ),
)


@pytest.mark.parametrize("name", DECIDING)
def test_what_decides_content_or_place_is_not_passed(name: str) -> None:
    assert name not in settings.variables({name: "x"}) or settings.variables({name: "x"})[name] != "x"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "PATH",
            "HOME",
            "LC_ALL",
            "XDG_CACHE_HOME",
            "https_proxy",
            "SSL_CERT_FILE",
            "NETRC",
            "SSH_AUTH_SOCK",
        ),
        *("GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL"),
        *("UV_EXTRA_INDEX_URL", "UV_INDEX_PRIV_USERNAME", "UV_INDEX_PRIV_PASSWORD", "UV_KEYRING_PROVIDER"),
        *("UV_OFFLINE", "UV_CACHE_DIR", "UV_HTTP_TIMEOUT", "UV_CONCURRENT_BUILDS", "UV_INSECURE_HOST"),
    ],
)
def test_what_transport_needs_is_passed(name: str) -> None:
    assert settings.variables({name: "/x"})[name] == "/x"


def test_relative_places_are_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"UV_CACHE_DIR": "cache", "SSL_CERT_FILE": "/etc/x.pem", "PATH": "bin:/bin::.:/usr/bin"}
    passed = settings.variables(environ)
    assert passed["UV_CACHE_DIR"] == str(tmp_path / "cache")
    assert passed["SSL_CERT_FILE"] == "/etc/x.pem"
    assert passed["PATH"] == "/bin:/usr/bin"


def test_relative_places_in_a_file_are_relative_to_it(user: Path, variables: dict[str, str]) -> None:
    user.write_text(
        'find-links = ["wheels", "/abs", "https://x/y"]\ncache-dir = "c"\n'
        '[[index]]\nname = "local"\nurl = "simple"\nformat = "flat"\n'
    )
    text = _read(settings.transport(variables))
    assert text["find-links"] == [f"{user.parent}/wheels", "/abs", "https://x/y"]
    assert text["cache-dir"] == f"{user.parent}/c"
    assert text["index"] == [{"name": "local", "url": f"{user.parent}/simple", "format": "flat"}]


def test_nothing_waits_for_an_answer_on_the_terminal() -> None:
    passed = settings.variables({})
    assert (passed["SSH_ASKPASS"], passed["SSH_ASKPASS_REQUIRE"]) == ("false", "force")
    assert passed["GIT_TERMINAL_PROMPT"] == "0"
    assert settings.variables({"SSH_ASKPASS": "/usr/bin/ask"})["SSH_ASKPASS"] == "/usr/bin/ask"


def test_a_tiny_lock_timeout_is_raised_and_declared_variables_win() -> None:
    passed = settings.variables({"UV_LOCK_TIMEOUT": "3"}, {"CFLAGS": "-O0", "HOME": "/h"})
    assert int(passed["UV_LOCK_TIMEOUT"]) >= 3600
    assert (passed["CFLAGS"], passed["HOME"]) == ("-O0", "/h")


@given(st.dictionaries(st.text(min_size=1), st.text(), max_size=5))
def test_unknown_variables_never_pass(environ: dict[str, str]) -> None:
    unknown = {f"X_{name}": value for name, value in environ.items()}
    assert settings.variables(unknown) == settings.variables({})
