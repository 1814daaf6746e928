"""The builder's small parts, each for itself."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import packaging.pylock
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.capabilities import needs_command

from greenroom.builder import copying, credentials, fetching, privatelock
from greenroom.builder.credentials import login_for
from greenroom.builder.logs import Log
from greenroom.builder.privatelock import Chosen
from greenroom.components import Index
from greenroom.errors import BuildFailed, FetchFailed
from greenroom.recipes import local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.index import Index as TestIndex

DIGEST = "a" * 64
SHOWN = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)


def chosen(name: str, location: str, index: str | None = None) -> Chosen:
    file = f"{name}-1.0-py3-none-any.whl"
    return Chosen(name=name, version="1.0", file=file, location=location, sha256=DIGEST, index=index)


def test_a_private_lock_is_a_valid_one_and_has_no_credentials() -> None:
    wheels = [
        chosen(
            "alpha",
            "https://bob:secret@host/files/alpha-1.0-py3-none-any.whl",
            "https://bob:secret@host/simple/",
        ),
        chosen("beta", "/store/wheels/beta-1.0-py3-none-any.whl"),
    ]
    text = privatelock.text(wheels, editable=[("gamma", "/src/gamma")])
    assert "secret" not in text
    parsed = packaging.pylock.Pylock.from_dict(tomllib.loads(text))
    assert [package.name for package in parsed.packages] == ["alpha", "beta", "gamma"]
    assert parsed.packages[2].directory is not None
    assert parsed.packages[2].directory.editable


@given(st.lists(SHOWN, max_size=5))
def test_any_path_survives_a_private_lock(parts: Sequence[str]) -> None:
    path = "/" + "/".join(part.replace("/", "_") for part in parts)
    text = privatelock.text([chosen("alpha", f"{path}/x.whl")], editable=[("beta", path)])
    packages = tomllib.loads(text)["packages"]
    assert packages[0]["wheels"][0]["path"] == f"{path}/x.whl"
    assert packages[1]["directory"]["path"] == path


def named(name: str, url: str) -> Index:
    return Index(name=name, url=url)


FIRST = {"UV_INDEX_FIRST_USERNAME": "a", "UV_INDEX_FIRST_PASSWORD": "1"}
SECOND = {"UV_INDEX_SECOND_ONE_USERNAME": "b", "UV_INDEX_SECOND_ONE_PASSWORD": "2"}
INDEXES = (named("first", "https://host/first/simple"), named("second-one", "https://host/second/simple"))


@pytest.mark.parametrize(
    ("url", "environ", "index", "expected"),
    [
        ("https://host/first/files/x.whl", FIRST | SECOND, None, ("a", "1")),
        ("https://host/second/files/x.whl", FIRST | SECOND, None, ("b", "2")),
        ("https://host/elsewhere/x.whl", FIRST | SECOND, "https://host/second/simple/", ("b", "2")),
        ("https://host/elsewhere/x.whl", SECOND, None, ("b", "2")),
        ("https://other/first/x.whl", FIRST, None, None),
        ("http://host/first/x.whl", FIRST, None, None),
        ("https://host:443/first/x.whl", FIRST, None, ("a", "1")),
        ("https://host:8443/first/x.whl", FIRST, None, None),
        ("https://c:3%40@host/x.whl", FIRST, None, ("c", "3@")),
        ("https://token@host/x.whl", FIRST, None, ("token", "")),
        ("https://d/x.whl", {"UV_INDEX_URL": "https://u:p@d/simple"}, None, ("u", "p")),
        ("https://d/x.whl", {"UV_EXTRA_INDEX_URL": "https://x/ https://u:p@d/simple"}, None, ("u", "p")),
        ("https://d/x.whl", {"UV_INDEX": "name=https://u:p@d/simple"}, None, ("u", "p")),
        ("https://d/x.whl", {}, None, None),
    ],
)
def test_credentials_are_found_where_uv_finds_them(
    url: str, environ: dict[str, str], index: str | None, expected: tuple[str, str] | None
) -> None:
    login = login_for(url, environ, INDEXES, index=index)
    assert (login and (login.user, login.password)) == expected
    assert "1" not in repr(login)


def test_netrc_is_asked_last(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("machine host login n password 9\n")
    environ = {"NETRC": str(tmp_path / "own")}
    login = login_for("https://host/x", environ)
    assert login is not None
    assert login.user == "n"
    first = login_for("https://host/first/x", environ | FIRST, INDEXES)
    assert first is not None
    assert first.user == "a"
    (tmp_path / "own").write_text("nonsense {")
    assert login_for("https://host/x", environ) is None


def test_a_bare_url_has_no_user() -> None:
    assert credentials.bare("https://u:p@host:1/x?y#z") == "https://host:1/x?y#z"


def test_two_logs_of_one_second_have_names_of_their_own(tmp_path: Path) -> None:
    logs = [Log(str(tmp_path), "key") for _ in range(3)]
    assert len({log.path for log in logs}) == 3
    for log in logs:
        log.close()
        assert stat.S_IMODE(Path(log.path).stat().st_mode) == 0o600


def test_a_log_masks_and_takes_lines_of_several_threads(tmp_path: Path) -> None:
    with Log(str(tmp_path), "key", ["S3CRET"]) as log:
        threads = [threading.Thread(target=log.write, args=(f"line {n} S3CRET",)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert log.write("https://u:p@host/") == "https://***@host/"
    log.write("too late")
    text = Path(log.path).read_text()
    assert "S3CRET" not in text
    assert "too late" not in text
    assert len(text.splitlines()) == 21


def test_a_copied_tree_is_what_its_digest_is_of(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for name in ("src/pkg/__pycache__", "build/lib", "pkg.egg-info", ".venv/bin", "empty"):
        (source / name).mkdir(parents=True)
    (source / "src/pkg/__init__.py").write_text("x")
    (source / "src/pkg/__pycache__/x.pyc").write_text("x")
    (source / "build/lib/old.py").write_text("x")
    (source / "run.sh").write_text("x")
    (source / "run.sh").chmod(0o755)
    (source / "inside").symlink_to("src/pkg")
    (source / "outside").symlink_to("../other.txt")
    (tmp_path / "other.txt").write_text("other")
    target = tmp_path / "a"
    copying.copy_tree(str(source), str(target))
    assert not (target / "build").exists()
    assert not (target / "src/pkg/__pycache__").exists()
    assert os.access(target / "run.sh", os.X_OK)
    assert (target / "inside").resolve() == (target / "src/pkg").resolve()
    assert (target / "outside").read_text() == "other"
    (source / "outside").unlink()
    (target / "outside").unlink()
    assert local.tree_digest(str(target)) == local.tree_digest(str(source))


@needs_command("git")
def test_a_copy_of_a_git_working_tree_knows_its_repository(tmp_path: Path) -> None:
    def git(*arguments: str, at: Path) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@e", "-C", str(at), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    source = tmp_path / "source"
    source.mkdir()
    (source / "x.py").write_text("x")
    git("init", "-q", at=source)
    git("add", ".", at=source)
    git("commit", "-q", "-m", "one", at=source)
    git("tag", "v1.2.3", at=source)
    before = {path: path.stat().st_mtime_ns for path in (source / ".git").rglob("*")}
    copying.copy_tree(str(source), str(tmp_path / "copy"))
    assert git("describe", "--tags", "--dirty", at=tmp_path / "copy") == "v1.2.3"
    (tmp_path / "copy/x.py").write_text("y")
    assert git("describe", "--tags", "--dirty", at=tmp_path / "copy") == "v1.2.3-dirty"
    git("worktree", "add", "-q", str(tmp_path / "linked"), at=source)
    copying.copy_tree(str(tmp_path / "linked"), str(tmp_path / "second"))
    assert git("describe", "--tags", "--dirty", at=tmp_path / "second") == "v1.2.3"
    git("worktree", "remove", str(tmp_path / "linked"), at=source)
    git("status", at=tmp_path / "copy")
    after = {path: path.stat().st_mtime_ns for path in (source / ".git").rglob("*") if path in before}
    changed = {path.name for path, stamp in after.items() if stamp != before[path]}
    assert "index" not in changed


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, {}),
        ({"HTTPS_PROXY": "http://p:1"}, {"https://": "http://p:1"}),
        ({"https_proxy": "p:1", "HTTPS_PROXY": "q:2"}, {"https://": "http://p:1"}),
        ({"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, {}),
        ({"ALL_PROXY": "p:1", "NO_PROXY": "*"}, {"all://": None}),
        (
            {"ALL_PROXY": "p:1", "NO_PROXY": "localhost, .inner.example,10.0.0.1"},
            {
                "all://": "http://p:1",
                "all://localhost": None,
                "all://*.localhost": None,
                "all://*.inner.example": None,
                "all://10.0.0.1": None,
            },
        ),
    ],
)
def test_proxy_variables_become_the_clients_routes(
    environ: dict[str, str], expected: dict[str, str | None]
) -> None:
    assert dict(fetching._proxies(environ)) == expected


def test_what_is_fetched_goes_through_the_named_proxy_and_not_through_the_processs_own(
    index: TestIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = index.add_wheel("alpha", "1.0")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    fetcher = fetching.Fetcher({})
    target = tmp_path / "file"

    def failing(cause: str, kind: type[BuildFailed], todo: str | None = None) -> BuildFailed:
        return kind(cause, components=(), key="", phase="download", log="", todo=todo)

    fetcher.fetch(index.file_url(file.name), str(target), sha256=file.sha256, failing=failing)
    assert target.read_bytes() == file.content
    fetcher.close()
    proxied = fetching.Fetcher({"HTTP_PROXY": "http://127.0.0.1:9"})
    with pytest.raises(FetchFailed):
        proxied.fetch(index.file_url(file.name), str(target), sha256=file.sha256, failing=failing)
    proxied.close()
    monkeypatch.undo()
