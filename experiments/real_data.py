"""Makes the real data that are shipped from the packages that they come from, the same bytes on every machine.

    pip download --no-deps scanpy==1.11.5 chemotools==0.5.0
    pip install h5py numpy
    python experiments/real_data.py scanpy-1.11.5-py3-none-any.whl chemotools-0.5.0-py3-none-any.whl

The README beside each file says where the data come from and under which licence.
"""

import csv
import gzip
import io
import sys
import zipfile
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).parent.parent
CELL_TYPES = {"CD14+ Monocyte": "monocyte", "CD19+ B": "B cell", "CD56+ NK": "NK cell", "Dendritic": "dendritic cell"}
CELLS_PER_TYPE = 100


def main() -> None:
    scanpy, chemotools = (zipfile.ZipFile(path) for path in sys.argv[1:3])
    write("crates/banach-cli/data/blood_cells.csv.gz", blood_cells(scanpy))
    write("python/banach/data/fermentation.csv.gz", fermentation(chemotools))


def blood_cells(wheel: zipfile.ZipFile) -> list[list[object]]:
    """The first 100 cells of four types: their type, the molecules counted in them, and the counts of 765 genes."""
    file = h5py.File(io.BytesIO(wheel.read("scanpy/datasets/10x_pbmc68k_reduced.h5ad")))
    cells, types = file["obs"][:], [name.decode() for name in file["uns/bulk_labels_categories"][:]]
    genes = [name.decode() for name, *_ in file["raw.var"][:]]
    shape = len(cells), len(genes)
    logs = np.zeros(shape)
    begins = file["raw.X/indptr"][:]
    logs[np.repeat(np.arange(shape[0]), np.diff(begins)), file["raw.X/indices"][:]] = file["raw.X/data"][:]

    # The package has log(1 + 10,000 count/total), rounded to three decimals; counts are whole numbers again.
    counts = np.expm1(logs) * cells["n_counts"][:, None] / 10_000
    whole = np.rint(counts)
    assert np.abs(np.log1p(10_000 * whole / cells["n_counts"][:, None]) - logs).max() < 6e-4
    rows: list[list[object]] = [["cell_type", "total_count", *genes]]
    left = dict.fromkeys(CELL_TYPES, CELLS_PER_TYPE)
    for cell, row in zip(cells, whole.astype(int), strict=True):
        kind = types[cell["bulk_labels"]]
        if left.get(kind, 0) > 0:
            left[kind] -= 1
            rows.append([CELL_TYPES[kind], int(cell["n_counts"]), *row])
    return rows


def fermentation(wheel: zipfile.ZipFile) -> list[list[object]]:
    """Glucose, and the spectrum, of 21 samples; numbers as they are in the package."""
    tables = []
    for name in ("train_hplc", "train_spectra"):
        text = wheel.read(f"chemotools/datasets/data/{name}.csv").decode()
        tables.append(list(csv.reader(io.StringIO(text))))
    return [left + right for left, right in zip(*tables, strict=True)]


def write(name: str, rows: list[list[object]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    packed = gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0)
    (ROOT / name).write_bytes(packed)
    print(f"{name}: {len(rows) - 1} rows, {len(rows[0])} columns, {len(packed)} bytes")


if __name__ == "__main__":
    main()
