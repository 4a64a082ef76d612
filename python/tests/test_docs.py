"""Every block of Python in the README and in the guide is run, each page in one session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/index.md", "docs/choosing.md", "docs/python.md"]


def prose(page: Path) -> str:
    """A page without its code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^    .*$", "", re.sub(r"`[^`]*`", "", text), flags=re.MULTILINE)


@pytest.mark.parametrize("page", sorted(path.relative_to(ROOT) for path in ROOT.glob("docs/**/*.md")), ids=str)
def test_no_inner_product_is_taken_for_a_tag(page):
    # A browser shows nothing of <w, x> where it is not code.
    assert re.findall(r"<[A-Za-z/][^>]*>", prose(ROOT / page)) == []


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder to write to, with the examples in it as in a checkout."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize("page", PAGES)
def test_every_snippet_runs(page):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    session: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), session)


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_what_is_shown_is_printed(page, capsys):
    # A block of Python and, right below it, a block of text. Such a block needs none of those before it.
    pattern = r"^```python\n((?:(?!^```).)*)^```\n\n```text\n(.*?)^```"
    shown = re.findall(pattern, (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert shown
    for block, printed in shown:
        exec(compile(block, page, "exec"), {})
        assert capsys.readouterr().out == printed
