"""Executes the notebooks of examples/notebooks and writes the pages of the book that show them, with what they print and draw.

make notebooks                            # all
python experiments/notebooks.py genomics  # one; needs python/requirements-notebooks.txt

Their sources are scripts with cells, which editors and jupytext open as notebooks. Cells with the tag remove-cell hold the prose to what the
other cells find, and are executed but not shown. The executed notebooks themselves go to target/notebooks.
"""

import base64
import sys
import textwrap
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "examples" / "notebooks"
EXECUTED = ROOT / "target" / "notebooks"
WIDTH = 92


def main() -> None:
    names = sys.argv[1:] or sorted(source.stem for source in SOURCES.glob("*.py"))
    EXECUTED.mkdir(parents=True, exist_ok=True)
    for name in names:
        notebook = jupytext.read(SOURCES / f"{name}.py")
        client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(EXECUTED)}})
        client.execute()
        nbformat.write(notebook, EXECUTED / f"{name}.ipynb")
        (ROOT / "docs" / f"{name}.md").write_text(page(notebook, name))
        print(f"docs/{name}.md")


def page(notebook, name: str) -> str:
    """Prose as it is, code, what it printed, and pictures, which go to docs/images."""
    parts, pictures = [], 0
    for cell in notebook.cells:
        if "remove-cell" in cell.metadata.get("tags", []):
            continue
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(fenced("python", cell.source))
        printed = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
        if printed:
            parts.append(fenced("text", "\n".join(map(wrapped, printed.splitlines()))))
        drawn = [output.data["image/png"] for output in cell.outputs if "image/png" in output.get("data", {})]
        for picture in drawn:
            pictures += 1
            file = f"images/{name}-{pictures}.png"
            (ROOT / "docs" / file).write_bytes(base64.b64decode(picture))
            parts.append(f"![{caption(cell.source)}]({file})")
        if any(output.get("name") == "stderr" for output in cell.outputs):
            sys.exit(f"{name}: a cell prints to standard error:\n{cell.source}")
    parts.append(f"<!-- Written by `make notebooks` from examples/notebooks/{name}.py: change that. -->")
    return "\n\n".join(parts) + "\n"


def wrapped(line: str) -> str:
    """Sentences fit the page; rows of tables, which have columns, stay."""
    return line.rstrip() if "  " in line.strip() else textwrap.fill(line, WIDTH)


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def caption(source: str) -> str:
    """The titles of a picture."""
    titles = [part.split('"')[1] for part in source.split("title=")[1:]]
    return "; ".join(titles)


if __name__ == "__main__":
    main()
