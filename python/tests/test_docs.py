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


@pytest.mark.parametrize("page", PAGES)
def test_every_snippet_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    session: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), session)


def test_the_readme_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    block, printed = re.search(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL).groups()
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed
