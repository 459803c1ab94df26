"""One file container for everything a solver keeps: named arrays and metadata, checked and memory-mapped.

A file is a valid safetensors file (8 bytes little-endian header length, JSON header, raw little-endian
arrays). Its `__metadata__` holds one key, `container`, whose value is a JSON text with

    kind      what the arrays are, e.g. "flat-cfr-checkpoint"
    version   format version of that kind, an integer
    sha256    over kind, version, metadata and every array (name, dtype, shape, bytes; names ascending)
    metadata  whatever the kind defines

The arrays tile the data section without gaps, so no byte of a file escapes the checksum. A checksum shows damage, not
who wrote a file: readers of each kind check that what an intact file says makes sense, once, when they open it.
"""

import contextlib
import hashlib
import json
import math
import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from solver.records import shortened

_CONTAINER = "container"
_MAX_HEADER = 100_000_000
"""Bytes; safetensors allows no more either."""
_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
    "BOOL": "|b1",
}  # fmt: skip


class StorageError(ValueError):
    """A file that cannot be trusted: damaged, truncated, of another kind or version, or not written here."""


class OtherKindError(StorageError):
    """An intact header, but of a file that holds something else: `kind`."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def write_arrays(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    arrays: dict[str, np.ndarray],
    metadata: dict[str, Any],
) -> None:
    """Write `arrays` (name -> array of any shape) and JSON-serialisable `metadata` to `path`, atomically.

    The file appears complete or not at all: it is written beside `path`, flushed to disk and then moved
    over it, so a killed writer leaves at most a stray hidden temporary file. Equal input gives equal bytes.
    Raises ValueError if an array's dtype has no place in the format or the metadata is not plain JSON,
    OSError if the disk refuses.
    """
    target = Path(path)
    dense = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    for name, array in dense.items():
        if array.dtype.str not in _DTYPES.values():
            raise ValueError(f"array {name!r} has dtype {array.dtype}; allowed are bool, integers and floats")
    try:
        digest = _sha256(kind, version, dense, metadata)
    except TypeError as error:
        raise ValueError(f"metadata must be plain JSON: {error}") from None
    container = {"kind": kind, "version": version, "sha256": digest, "metadata": metadata}
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.touch(exist_ok=False)
        mode = temporary.stat().st_mode  # what the user's umask gives; save_file would leave 0600
        save_file(dense, temporary, metadata={_CONTAINER: _json(container)})
        temporary.chmod(mode)
        _flush(temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _flush(target.parent)  # makes the new name itself durable


def read_arrays(
    path: str | os.PathLike[str], kind: str, version: int, verify: bool = True
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the (read-only, memory-mapped) arrays and the metadata of a file of this `kind` and `version`.

    With `verify` the whole file is read once and its checksum compared; without, only the header is read.
    Raises StorageError with a one-line reason for anything but an intact file of that kind and version, and
    OSError if the file cannot be opened.
    """
    path = Path(path)
    header, container, data = _opened(path)
    found, metadata = (container["kind"], container["version"]), container["metadata"]
    if found[0] != kind:
        raise OtherKindError(f"{path}: holds a {shortened(found[0])}, not a {kind!r}", found[0])
    if found[1] != version:
        raise StorageError(
            f"{path}: format version {found[1]} of {kind!r}; this program reads version {version}"
        )
    try:
        arrays = _views(header, data)
        intact = not verify or _sha256(kind, version, arrays, metadata) == container["sha256"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StorageError(f"{path}: truncated, or damaged in its header") from None
    if not intact:
        raise StorageError(f"{path}: damaged (checksum differs)")
    return arrays, metadata


def stored_kind(path: str | os.PathLike[str]) -> str:
    """What kind of file it is, by its header. Raises StorageError and OSError as `read_arrays`."""
    kind: str = _opened(Path(path))[1]["kind"]
    return kind


def _opened(path: Path) -> tuple[dict[str, Any], dict[str, Any], np.ndarray]:
    """Header without the container, container with kind, version and metadata of the right types, and data bytes."""
    size = path.stat().st_size
    if size < 8:
        raise StorageError(f"{path}: not a solver file ({size} bytes)")
    # A plain view: indexing np.memmap itself costs a microsecond more each time.
    raw = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    data = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    if data > min(size, _MAX_HEADER):
        raise StorageError(f"{path}: not a solver file, or truncated inside its header")
    try:
        header = json.loads(raw[8:data].tobytes())
        container = json.loads(header.pop("__metadata__")[_CONTAINER])
        found = container["kind"], container["version"], container["metadata"], container["sha256"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StorageError(f"{path}: not a solver file, or damaged in its header") from None
    if type(found[0]) is not str or type(found[1]) is not int or not isinstance(found[2], dict):
        raise StorageError(f"{path}: not a solver file, or damaged in its header")
    return header, container, raw[data:]


def _views(header: dict[str, Any], data: np.ndarray) -> dict[str, np.ndarray]:
    """Return the arrays of the header as views of the data bytes; ValueError unless they tile them."""
    arrays, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        (first, last), shape, dtype = entry["data_offsets"], entry["shape"], np.dtype(_DTYPES[entry["dtype"]])
        if not all(type(number) is int and 0 <= number < 2**63 for number in (first, last, *shape)):
            raise ValueError("offsets and shapes are whole numbers")
        if first != end or last - first != dtype.itemsize * math.prod(shape):
            raise ValueError("arrays overlap, leave a gap or have another size than their shape says")
        if last > len(data):
            raise ValueError("an array ends after the file")
        arrays[name] = data[first:last].view(dtype).reshape(shape)
        if not arrays[name].flags.aligned:
            raise ValueError("an array begins where the machine cannot read its numbers")
        end = last
    if end != len(data):
        raise ValueError("data section has another length than the header says")
    return arrays


def _sha256(kind: str, version: int, arrays: dict[str, np.ndarray], metadata: dict[str, Any]) -> str:
    digest = hashlib.sha256(_json([kind, version, metadata]).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(_json([name, array.dtype.str, array.shape]).encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
