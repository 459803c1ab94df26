"""Eight sums at once in numba: a row of a float64 array [rows, LANES] as one vector of the processor.

LLVM does not make vectors of such short loops itself, since it cannot know that the arrays are different ones.
Each operation combines rows of arrays with factors: `put` writes the sum of its terms to row i of `out`, `add` adds
it, `top` keeps the larger in each lane. `join` is how options make the value of a node: it writes the first (fresh),
keeps the larger of the exploiter's own (mine) and adds the other's. A term is (array, row, factor). Row numbers are
not checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from solver.jit import inner

LANES = 8
"""Vectors of the other's reach that are answered at once."""
_intrinsic: Any = intrinsic  # its type would be that of the definition, with the typing context
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ROW = types.Array(types.float64, 2, "C")


def _row(context: Any, builder: Any, array: Any, index: Any) -> Any:
    data = context.make_array(_ROW)(context, builder, array).data
    first = builder.mul(index, ir.Constant(index.type, LANES))
    return builder.bitcast(builder.gep(data, [first]), _VECTOR.as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    found = builder.load(pointer)
    found.align = 8
    return found


def _store(builder: Any, value: Any, pointer: Any) -> None:
    builder.store(value, pointer).align = 8


def _splat(builder: Any, number: Any) -> Any:
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    every = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, every)


def _combination(mode: str, terms: int) -> Any:
    """Signature and code of an operation with so many terms."""
    term = (_ROW, types.int64, types.float64)
    flags = (types.boolean, types.boolean) if mode == "join" else ()
    signature = types.void(_ROW, types.int64, *flags, *term * terms)

    def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
        out = _row(context, builder, args[0], args[1])
        begin = 2 + len(flags)
        total = None
        for at in range(begin, begin + 3 * terms, 3):
            found = _load(builder, _row(context, builder, args[at], args[at + 1]))
            product = builder.fmul(found, _splat(builder, args[at + 2]))
            total = product if total is None else builder.fadd(total, product)
        if mode == "add":
            total = builder.fadd(_load(builder, out), total)
        elif mode == "top":
            total = _larger(builder, total, _load(builder, out))
        elif mode == "join":
            old = _load(builder, out)
            joined = builder.select(args[3], _larger(builder, total, old), builder.fadd(old, total))
            total = builder.select(args[2], total, joined)
        _store(builder, total, out)
        return context.get_dummy_value()

    return signature, generate


def _larger(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", x, y), x, y)


@_intrinsic
def put1(typing: Any, out: Any, i: Any, x: Any, j: Any, f: Any) -> Any:
    """out[i] = f x[j]."""
    return _combination("put", 1)


@_intrinsic
def add1(typing: Any, out: Any, i: Any, x: Any, j: Any, f: Any) -> Any:
    """out[i] += f x[j]."""
    return _combination("add", 1)


@_intrinsic
def top1(typing: Any, out: Any, i: Any, x: Any, j: Any, f: Any) -> Any:
    """out[i] = max(out[i], f x[j])."""
    return _combination("top", 1)


@_intrinsic
def join1(typing: Any, out: Any, i: Any, fresh: Any, mine: Any, x: Any, j: Any, f: Any) -> Any:
    """f x[j] joined to out[i]."""
    return _combination("join", 1)


@_intrinsic
def put2(typing: Any, out: Any, i: Any, x: Any, j: Any, f: Any, y: Any, k: Any, g: Any) -> Any:
    """out[i] = f x[j] + g y[k]."""
    return _combination("put", 2)


@_intrinsic
def join2(
    typing: Any, out: Any, i: Any, fresh: Any, mine: Any, x: Any, j: Any, f: Any, y: Any, k: Any, g: Any
) -> Any:
    """f x[j] + g y[k] joined to out[i]."""
    return _combination("join", 2)


@_intrinsic
def put3(
    typing: Any, out: Any, i: Any, x: Any, j: Any, f: Any, y: Any, k: Any, g: Any, z: Any, m: Any, h: Any
) -> Any:
    """out[i] = f x[j] + g y[k] + h z[m]."""
    return _combination("put", 3)


@_intrinsic
def add3(
    typing: Any, out: Any, i: Any, x: Any, j: Any, f: Any, y: Any, k: Any, g: Any, z: Any, m: Any, h: Any
) -> Any:
    """out[i] += f x[j] + g y[k] + h z[m]."""
    return _combination("add", 3)


@_intrinsic
def join3(
    typing: Any, out: Any, i: Any, fresh: Any, mine: Any, x: Any, j: Any, f: Any, y: Any, k: Any, g: Any, z: Any,
    m: Any, h: Any,
) -> Any:  # fmt: skip
    """f x[j] + g y[k] + h z[m] joined to out[i]."""
    return _combination("join", 3)


@_intrinsic
def fill(typing: Any, out: Any, i: Any, number: Any) -> Any:
    """out[i] = number in all lanes."""

    def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
        _store(builder, _splat(builder, args[2]), _row(context, builder, args[0], args[1]))
        return context.get_dummy_value()

    return types.void(_ROW, types.int64, types.float64), generate


@_intrinsic
def is_zero(typing: Any, x: Any, j: Any) -> Any:
    """Whether x[j] is 0 in all lanes."""

    def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
        found = _load(builder, _row(context, builder, args[0], args[1]))
        live = builder.fcmp_unordered("!=", found, ir.Constant(_VECTOR, [0.0] * LANES))
        bits = builder.bitcast(live, ir.IntType(LANES))
        return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, 0))

    return types.boolean(_ROW, types.int64), generate


@inner
def join_rows(
    out: np.ndarray, at: int, below: np.ndarray, first: int, n: int, worth: float, fresh: bool, mine: bool
) -> None:
    """n rows of worth x below, from `first` on, joined to those of out from `at` on."""
    for i in range(n):
        join1(out, at + i, fresh, mine, below, first + i, worth)
