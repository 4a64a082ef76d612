"""Every block of Python in the README and in the book is run, each page in one session."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import banach

ROOT = Path(__file__).resolve().parents[2]
# Pages of notebooks are run in test_notebooks.
NOTEBOOKS = {path.stem for path in (ROOT / "examples" / "notebooks").glob("*.py")}
PAGES = [
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if "```python\n" in path.read_text() and path.stem not in NOTEBOOKS
]


def prose(page: Path) -> str:
    """A page without its code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^<!--.*-->$", "", text, flags=re.MULTILINE)
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


def test_pages_are_found():
    assert {"README.md", "docs/auto.md", "docs/python.md", "docs/from-glmnet.md"} <= set(PAGES)


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


def test_the_glossary_has_the_headings_of_all_tables():
    X, y, _ = banach.datasets.make_sparse_linear(n_samples=40, n_features=6, n_informative=1, random_state=0)
    auto, lp = banach.AutoRegressor("quick").fit(X, y), banach.LpRegressor(p=1.1).fit(X, y)
    few = banach.SparseRegressor().fit(X, y)
    tables = [auto.contenders_, auto.relevance(), auto.pair_relevance(), auto.effects(1), auto.contributions(X[:1])]
    tables += [few.terms_, few.path_, few.stability(X, y), lp.top_features(2), lp.relevance()]
    tables += [banach.stability_selection(lp, X, y, n_pairs=2)]
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    known = re.findall(r"\*\*(.+?)\*\*", glossary) + re.findall(r"`(\w+)`", glossary)
    headings = {heading for table in tables for heading in table if not re.match(r"x\d", heading)}
    assert len(headings) > 20
    assert headings <= {word.lower() for word in known}
