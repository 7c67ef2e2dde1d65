"""A fold as bytes: a Parquet file where pyarrow is there, else plain numpy buffers behind a header; never a pickle."""

from __future__ import annotations

import base64
import io
import json
import struct
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from pytest_cvaudit.errors import InputError
from pytest_cvaudit.model import Cell
from pytest_cvaudit.model.arrays import Labels, code_type
from pytest_cvaudit.model.folds import Fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from pytest_cvaudit.model.arrays import Marks

    Arrays = dict[str, NDArray[Any]]
    Meta = dict[str, Any]

PARQUET, PLAIN = ".parquet", ".fold"
_KEY = b"cvaudit"
_MAGIC = b"\xc7VF1"
_HEAD = struct.Struct("<4sII")  # magic, length of the header, checksum of all that follows
_LONGEST = 100


def fold_name(cell: Cell) -> str:
    """The name under which a fold is kept, without its suffix; long ones keep a checksum instead of their end."""
    parts = [quote(text, safe="") for text in (cell.repeat, cell.fold)]
    short = [part if len(part) <= _LONGEST else f"{part[:60]}~{zlib.crc32(part.encode()):08x}" for part in parts]
    return f"repeat={short[0]},fold={short[1]}"


def is_fold(name: str) -> bool:
    """Tell whether an entry is a fold."""
    return name.endswith((PARQUET, PLAIN))


def encode(fold: Fold, session: str) -> tuple[str, bytes]:
    """Return a fold's suffix and bytes."""
    meta = _meta(fold, session)
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return PLAIN, _to_plain(fold, meta)
    return PARQUET, _to_parquet(fold, meta)


def decode(name: str, data: bytes) -> tuple[Fold, str]:
    """Read a fold back, with the session that wrote it."""
    with _told(name):
        meta, arrays = _from_plain(data) if data[:4] == _MAGIC else _from_parquet(data)
        return _fold(meta, arrays), meta["session"]


def decode_head(name: str, data: bytes) -> tuple[Fold, str]:
    """Read a fold back without its rows and ids: the labels and the columns of scores."""
    with _told(name):
        meta = _plain_meta(data)[0] if data[:4] == _MAGIC else _parquet_meta(_parquet_file(data))
        arrays: Arrays = {
            each: np.zeros((0, len(about["names"])) if about["sets"] else 0, dtype=np.uint8)
            for each, about in meta["labels"].items()
        }
        if meta["columns"] is not None:
            arrays["y_score"] = np.zeros((0, meta["columns"]))
        return _fold({**meta, "train": None}, arrays), meta["session"]


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Let what cannot be read be one line with the name of the entry."""
    try:
        yield
    except InputError as error:
        raise error.at(name) from None
    except (ValueError, KeyError, TypeError, IndexError, struct.error, zlib.error) as error:
        raise InputError(f"damaged: {str(error).splitlines()[0]}", name) from error


def _meta(fold: Fold, session: str) -> Meta:
    score = fold.score
    return {
        "version": 1,
        "session": session,
        "fold": fold.cell.fold,
        "repeat": fold.cell.repeat,
        "labels": {
            name: {"names": labels.names, "sets": labels.sets is not None, "textual": labels.textual}
            for name, labels in (("y_true", fold.truth), ("y_pred", fold.predicted))
            if labels is not None
        },
        "columns": None if score is None or score.ndim == 1 else score.shape[1],
        "classes": fold.classes,
        "train": None if fold.train is None else _packed(fold.train),
        "trained": dict(fold.trained),
    }


def _fold(meta: Meta, arrays: Arrays) -> Fold:
    labels = {}
    for name, about in meta["labels"].items():
        rows = {"sets": arrays[name]} if about["sets"] else {"codes": arrays[name]}
        labels[name] = Labels(tuple(about["names"]), **rows, textual=about["textual"])
    return Fold(
        Cell(meta["fold"], meta["repeat"]), labels["y_true"], labels.get("y_pred"), arrays.get("y_score"),
        arrays.get("id"), None if meta["train"] is None else _unpacked(meta["train"]), meta["trained"],
        None if meta["classes"] is None else tuple(meta["classes"]),
    )  # fmt: skip


def _packed(marks: Marks) -> Meta:
    """Training ids as text: in order, as steps, they shrink to almost nothing."""
    if marks.dtype == object:
        return {"texts": _base64(json.dumps(sorted(marks.tolist())).encode())}
    steps = np.diff(np.sort(marks), prepend=np.int64(0))
    return {"steps": _base64(np.asarray(steps, dtype="<i8").tobytes())}


def _unpacked(packed: Mapping[str, str]) -> Marks:
    if "texts" in packed:
        return np.array(json.loads(_unbase64(packed["texts"])), dtype=object)
    return np.cumsum(np.frombuffer(_unbase64(packed["steps"]), dtype="<i8"))


def _base64(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode("ascii")


def _unbase64(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def _to_parquet(fold: Fold, meta: Meta) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def same(text: str) -> Any:
        return pa.DictionaryArray.from_arrays(np.zeros(len(fold.truth), dtype=np.int8), [text])

    columns = {"repeat": same(fold.cell.repeat), "fold": same(fold.cell.fold)}
    for name, labels in (("y_true", fold.truth), ("y_pred", fold.predicted)):
        if labels is not None:
            columns[name] = _label_column(labels)
    if fold.score is not None:
        flat = pa.array(np.ascontiguousarray(fold.score).reshape(-1))
        width = meta["columns"]
        columns["y_score"] = flat if width is None else pa.FixedSizeListArray.from_arrays(flat, width)
    if fold.ids is not None:
        columns["id"] = pa.array(fold.ids)
    table = pa.table(columns)
    texts = [name for name in ("repeat", "fold", "y_true", "y_pred") if name in columns]
    buffer = io.BytesIO()
    options = {"use_dictionary": texts, "write_statistics": False, "store_schema": False, "write_page_checksum": True}
    with pq.ParquetWriter(buffer, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_KEY: json.dumps(meta)})
    return buffer.getvalue()


def _label_column(labels: Labels) -> Any:
    import pyarrow as pa

    names = pa.array(labels.names, type=pa.string())
    if labels.codes is not None:
        return pa.DictionaryArray.from_arrays(pa.array(labels.codes), names)
    assert labels.sets is not None
    rows, columns = np.nonzero(labels.sets)
    times = labels.sets[rows, columns]
    offsets = np.concatenate([[0], np.cumsum(labels.sets.sum(axis=1, dtype=np.int64))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), names.take(pa.array(np.repeat(columns, times))))


def _parquet_file(data: bytes) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError("reading this recording needs pyarrow: pip install 'pytest-cvaudit[parquet]'") from error
    try:
        return pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from error


def _parquet_meta(file: Any) -> Meta:
    meta: Meta = json.loads(file.metadata.metadata[_KEY])
    return meta


def _from_parquet(data: bytes) -> tuple[Meta, Arrays]:
    file = _parquet_file(data)
    meta = _parquet_meta(file)
    import pyarrow as pa

    try:
        table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from error
    arrays: Arrays = {}
    for name, about in meta["labels"].items():
        column = table[name].combine_chunks()
        arrays[name] = _sets_of(column, about["names"]) if about["sets"] else _codes_of(column, about["names"])
    if "y_score" in table.column_names:
        column, width = table["y_score"].combine_chunks(), meta["columns"]
        arrays["y_score"] = (column if width is None else column.flatten()).to_numpy(zero_copy_only=False)
        if width is not None:
            arrays["y_score"] = arrays["y_score"].reshape(-1, width)
    if "id" in table.column_names:
        arrays["id"] = table["id"].combine_chunks().to_numpy(zero_copy_only=False)
    return meta, arrays


def _codes_of(column: Any, names: list[str]) -> NDArray[Any]:
    coded = column.dictionary_encode()
    position = {name: index for index, name in enumerate(names)}
    here = np.array([position[name] for name in coded.dictionary.to_pylist()], dtype=code_type(len(names)))
    codes: NDArray[Any] = here[coded.indices.to_numpy(zero_copy_only=False)]
    return codes


def _sets_of(column: Any, names: list[str]) -> NDArray[np.uint8]:
    counts = np.zeros((len(column), len(names)), dtype=np.uint8)
    if len(column.flatten()):
        rows = np.repeat(np.arange(len(column)), column.value_lengths().to_numpy(zero_copy_only=False))
        np.add.at(counts, (rows, _codes_of(column.flatten(), names)), 1)
    return counts


def _to_plain(fold: Fold, meta: Meta) -> bytes:
    arrays: Arrays = {}
    for name, labels in (("y_true", fold.truth), ("y_pred", fold.predicted)):
        rows = None if labels is None else labels.codes if labels.sets is None else labels.sets
        if rows is not None:
            arrays[name] = rows
    if fold.score is not None:
        arrays["y_score"] = fold.score
    if fold.ids is not None and fold.ids.dtype == object:
        meta = {**meta, "ids": _base64(json.dumps(fold.ids.tolist()).encode())}
    elif fold.ids is not None:
        arrays["id"] = fold.ids
    little = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    shapes = {name: (array.dtype.str, array.shape) for name, array in little.items()}
    header = json.dumps({**meta, "arrays": shapes}).encode()
    body = b"".join([header, *(array.tobytes() for array in little.values())])
    return _HEAD.pack(_MAGIC, len(header), zlib.crc32(body)) + body


def _plain_meta(data: bytes) -> tuple[Meta, int]:
    """The header, and where it ends."""
    _, length, checksum = _HEAD.unpack_from(data)
    if zlib.crc32(data[_HEAD.size :]) != checksum:
        raise ValueError("its checksum is wrong")
    start = _HEAD.size + length
    return json.loads(data[_HEAD.size : start]), start


def _from_plain(data: bytes) -> tuple[Meta, Arrays]:
    meta, start = _plain_meta(data)
    arrays: Arrays = {}
    for name, (kind, shape) in meta["arrays"].items():
        number = int(np.prod(shape))
        little = np.frombuffer(data, dtype=np.dtype(kind), count=number, offset=start)
        arrays[name] = little.astype(little.dtype.newbyteorder("=")).reshape(shape)
        start += little.nbytes
    if "ids" in meta:
        arrays["id"] = np.array(json.loads(_unbase64(meta["ids"])), dtype=object)
    return meta, arrays
