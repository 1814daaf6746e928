"""Archives go to a directory, a web server or a bucket and come back, or a clear error says why not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tests.support.shelf import Shelf

from greenroom.errors import ArchiveAbsent, PlaceFailed, PlaceRefused
from greenroom.store.archive.places import place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "cp311-" + "a" * 24
CONTENT = bytes(range(256)) * 5000


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    with Shelf() as shelf:
        yield shelf


@pytest.fixture
def bucket(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve a bucket that speaks S3's words, without S3's checks."""
    pytest.importorskip("obstore")
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT", shelf.url)
        patch.setenv("AWS_ALLOW_HTTP", "true")
        patch.setenv("AWS_REGION", "nowhere")
        patch.setenv("AWS_ACCESS_KEY_ID", "id")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "planted-secret")
        yield "s3://shelf/some/where"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "archive"
    path.write_bytes(CONTENT)
    return str(path)


def test_a_directory_keeps_archives(tmp_path: Path, file: str) -> None:
    for url in (str(tmp_path / "new/folder"), f"file://{tmp_path}/other%20folder"):
        place(url).put(KEY, file)
        assert b"".join(place(url).get(KEY)) == CONTENT
    assert [path.name for path in (tmp_path / "other folder").iterdir()] == [f"{KEY}.tar.zst"]


def test_a_web_server_keeps_archives(shelf: Shelf, file: str) -> None:
    there = place(f"{shelf.url}/some/where/")
    there.put(KEY, file)
    assert b"".join(there.get(KEY)) == CONTENT
    assert list(shelf.files) == [f"/some/where/{KEY}.tar.zst"]


def test_a_bucket_keeps_archives(shelf: Shelf, bucket: str, file: str) -> None:
    there = place(bucket)
    there.put(KEY, file)
    assert b"".join(there.get(KEY)) == CONTENT
    assert list(shelf.files) == [f"/shelf/some/where/{KEY}.tar.zst"]


def test_a_bucket_goes_on_where_it_broke_off(shelf: Shelf, bucket: str, file: str) -> None:
    there = place(bucket)
    there.put(KEY, file)
    shelf.cut = 700_000
    assert b"".join(there.get(KEY)) == CONTENT


def test_what_is_not_there_says_so(shelf: Shelf, bucket: str, tmp_path: Path) -> None:
    for url in (str(tmp_path / "nothing"), shelf.url, bucket):
        with pytest.raises(ArchiveAbsent, match=f"{KEY}.tar.zst: there is no such archive"):
            list(place(url).get(KEY))


def test_what_breaks_off_or_refuses_says_so(shelf: Shelf, file: str) -> None:
    there = place(f"{shelf.url}/x")
    there.put(KEY, file)
    shelf.cut = 1000
    with pytest.raises(PlaceFailed, match="broke off"):
        list(there.get(KEY))
    shelf.status = 403
    with pytest.raises(PlaceFailed, match="answers 403"):
        list(there.get(KEY))
    with pytest.raises(PlaceFailed, match="answers 403"):
        there.put(KEY, file)


def test_nobody_there_is_an_error_at_once(file: str) -> None:
    there = place("http://127.0.0.1:9/x")
    with pytest.raises(PlaceFailed, match="cannot be reached"):
        list(there.get(KEY))
    with pytest.raises(PlaceFailed, match="cannot be reached"):
        there.put(KEY, file)


def test_a_directory_that_cannot_be_written_says_so(file: str, tmp_path: Path) -> None:
    with pytest.raises(PlaceFailed, match="cannot be written: Not a directory"):
        place(f"{file}/below").put(KEY, file)
    (tmp_path / f"{KEY}.tar.zst").mkdir()
    with pytest.raises(PlaceFailed, match="cannot be read: Is a directory"):
        list(place(str(tmp_path)).get(KEY))


def test_logins_are_never_shown(shelf: Shelf) -> None:
    there = place(shelf.url.replace("//", "//me:planted-secret@"))
    with pytest.raises(ArchiveAbsent) as caught:
        list(there.get(KEY))
    assert "planted-secret" not in str(caught.value)
    assert "***@127.0.0.1" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://host/x", "recognise"),
        ("https://host/x?signature=planted-secret", "has no query"),
        ("az://container/x", "Account"),
    ],
)
def test_what_is_no_place_is_refused(url: str, says: str) -> None:
    pytest.importorskip("obstore")
    with pytest.raises(PlaceRefused, match=says) as caught:
        place(url)
    assert "planted-secret" not in str(caught.value)


def test_a_bucket_without_the_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(PlaceRefused, match=r"greenroom\[fetch\]"):
        place("s3://bucket/x")
