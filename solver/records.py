"""Dataclasses from JSON values that anybody may have written: each field is checked against its declared type."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from reprlib import Repr
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
_REPR = Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 60


def shortened(value: object) -> str:
    """`repr` of a value in a line of bounded length, for messages."""
    return _REPR.repr(value)


def read_record(cls: type[T], values: object) -> T:
    """A dataclass from a dict of JSON values, lists becoming tuples where the fields say so.

    Fields may be int (64 bits), float (finite; whole numbers are taken), str, bool, None, other such dataclasses,
    lists, tuples and dicts of these, unions, and Any. Raises ValueError naming a field that is missing, unknown or of
    another type, and what the class itself raises for values out of range.
    """
    if not isinstance(values, dict):
        raise ValueError(f"is {shortened(values)}, not a table of fields")
    types = _types(cast(Hashable, cls))
    for name in values:
        if name not in types:
            raise ValueError(f"has an unknown field {shortened(name)}")
    found = {}
    for field in fields(cls):  # type: ignore[arg-type]
        if field.name in values:
            found[field.name] = _as(types[field.name], values[field.name], field.name)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"has no field {field.name}")
    return cls(**found)


def _read_part(cls: type, value: object, where: str) -> Any:
    try:
        return read_record(cls, value)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


@cache
def _types(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _as(wanted: Any, value: Any, where: str) -> Any:
    """The value as the wanted type; ValueError naming `where` if it is another."""
    origin, inner = get_origin(wanted), get_args(wanted)
    if wanted is Any:
        return value
    if is_dataclass(wanted):
        return _read_part(cast(type, wanted), value, where)
    if origin in (Union, UnionType):
        return _as_one_of(inner, value, where)
    if wanted is int and type(value) is int and -(2**63) <= value < 2**63:
        return value
    if wanted is float and type(value) in (int, float) and abs(value) <= 1e300 and math.isfinite(value):
        return float(value)
    if wanted in (str, bool, NoneType) and type(value) is wanted:
        return value
    if origin is dict and isinstance(value, dict):
        return {key: _as(inner[1], item, f"{where}[{shortened(key)}]") for key, item in value.items()}
    if origin in (list, tuple) and isinstance(value, list | tuple):
        same = origin is list or inner[1:] == (...,)
        if same or len(inner) == len(value):
            parts = zip(inner[:1] * len(value) if same else inner, value, strict=True)
            return origin(_as(part, item, f"{where}[{k}]") for k, (part, item) in enumerate(parts))
    raise ValueError(f"{where} is {shortened(value)}, not {_name(wanted)}")


def _as_one_of(types: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and NoneType in types:
        return None
    rest = [part for part in types if part is not NoneType]
    if len(rest) == 1:
        return _as(rest[0], value, where)
    for part in rest:
        try:
            return _as(part, value, where)
        except ValueError:
            continue
    raise ValueError(f"{where} is {shortened(value)}, not {' or '.join(map(_name, types))}")


def _name(wanted: Any) -> str:
    words = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", NoneType: "null"}
    return words.get(wanted, str(wanted).replace("typing.", ""))
