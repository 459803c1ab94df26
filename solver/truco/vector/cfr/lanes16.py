"""Sixteen float32 at once in numba: a value of its own, with +, -, x, larger-of, choice by comparison and sum.

A row of MAX_TIERS numbers is one vector register of the processor (two or four on older ones). LLVM does not make
such vectors of short loops over arrays itself, since it cannot know that the arrays are different ones. Positions are
flat indices into contiguous float32 arrays of any shape and are not checked.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 16
_intrinsic: Any = intrinsic  # its type would be that of the definition, with the typing context
_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_FAST = ("fast",)


class Lanes16(types.Type):
    """Sixteen float32."""

    def __init__(self) -> None:
        super().__init__(name="Lanes16")


lanes16 = Lanes16()


@register_model(Lanes16)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _operator(symbol: Any, method: str) -> None:
    class _Template(ConcreteTemplate):
        cases = (signature(lanes16, lanes16, lanes16),)

    infer_global(symbol)(_Template)

    @lower_builtin(symbol, lanes16, lanes16)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, method)(*args, flags=_FAST)


for _symbol, _method in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _operator(_symbol, _method)
    _operator(
        {operator.add: operator.iadd, operator.sub: operator.isub, operator.mul: operator.imul}[_symbol],
        _method,
    )


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    if kind.layout != "C":
        raise NotImplementedError(f"vectors of {kind}: only of arrays in C order")
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())


def _splat(builder: Any, number: Any) -> Any:
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    every = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, every)


@_intrinsic
def load(typing: Any, array: Any, at: Any) -> Any:
    """array[at : at + 16]."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        found = builder.load(_pointer(context, builder, sig.args[0], args[0], args[1]))
        found.align = 4
        return found

    return lanes16(array, types.int64), generate


@_intrinsic
def store(typing: Any, array: Any, at: Any, value: Any) -> Any:
    """array[at : at + 16] = value."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _pointer(context, builder, sig.args[0], args[0], args[1])).align = 4
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes16), generate


@_intrinsic
def store_first(typing: Any, array: Any, at: Any, value: Any, n: Any) -> Any:
    """array[at : at + n] = value[:n]."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        whole = ir.IntType(32)
        lanes = ir.VectorType(whole, LANES)
        nothing = ir.Constant(lanes, ir.Undefined)
        count = builder.insert_element(nothing, builder.trunc(args[3], whole), ir.Constant(whole, 0))
        count = builder.shuffle_vector(count, nothing, ir.Constant(lanes, [0] * LANES))
        mask = builder.icmp_signed("<", ir.Constant(lanes, list(range(LANES))), count)
        pointer = _pointer(context, builder, sig.args[0], args[0], args[1])
        kind = ir.FunctionType(ir.VoidType(), [_VECTOR, pointer.type, whole, mask.type])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.store.v16f32.p0")
        builder.call(function, [args[2], pointer, ir.Constant(whole, 4), mask])
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes16, types.int64), generate


@_intrinsic
def prefetch(typing: Any, array: Any, at: Any) -> Any:
    """Starts to fetch array[at] into the cache."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = context.make_array(sig.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        whole = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, whole, whole, whole])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, *(ir.Constant(whole, number) for number in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@_intrinsic
def splat(typing: Any, number: Any) -> Any:
    """The number in all lanes."""

    def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
        return _splat(builder, args[0])

    return lanes16(types.float32), generate


@_intrinsic
def larger(typing: Any, x: Any, y: Any) -> Any:
    """The larger of two, lane by lane."""

    def generate(_context: Any, builder: Any, _: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return lanes16(lanes16, lanes16), generate


@_intrinsic
def where_above(typing: Any, x: Any, least: Any, yes: Any, no: Any) -> Any:
    """`yes` in lanes where x > least, else `no`."""

    def generate(_context: Any, builder: Any, _: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[2], args[3])

    return lanes16(lanes16, lanes16, lanes16, lanes16), generate


@_intrinsic
def inverse(typing: Any, x: Any) -> Any:
    """1 / x, lane by lane."""

    def generate(_context: Any, builder: Any, _: Any, args: Any) -> Any:
        return builder.fdiv(ir.Constant(_VECTOR, [1.0] * LANES), args[0])

    return lanes16(lanes16), generate


@_intrinsic
def lane_sum(typing: Any, x: Any) -> Any:
    """Sum of all lanes."""

    def generate(_context: Any, builder: Any, _: Any, args: Any) -> Any:
        found, size = args[0], LANES
        while size > 1:
            size //= 2
            masks = [
                ir.Constant(ir.VectorType(ir.IntType(32), size), list(range(k, k + size))) for k in (0, size)
            ]
            nothing = ir.Constant(found.type, ir.Undefined)
            halves = [builder.shuffle_vector(found, nothing, mask) for mask in masks]
            found = builder.fadd(*halves, flags=_FAST)
        return builder.extract_element(found, ir.Constant(ir.IntType(32), 0))

    return types.float32(lanes16), generate


@_intrinsic
def transpose(typing: Any, out: Any, to: Any, array: Any, at: Any) -> Any:
    """Writes the 16 x 16 numbers from array[at] on to out[to] on, rows as columns."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        whole = args[1].type
        step = lambda first, k: builder.add(first, ir.Constant(whole, k * LANES))  # noqa: E731
        rows = []
        for k in range(LANES):
            row = builder.load(_pointer(context, builder, sig.args[2], args[2], step(args[3], k)))
            row.align = 4
            rows.append(row)
        size = LANES // 2
        while size > 0:
            # Swaps blocks off the diagonal of every 2 size x 2 size block.
            low = [k if k & size == 0 else k - size + LANES for k in range(LANES)]
            high = [k + size if k & size == 0 else k + LANES for k in range(LANES)]
            masks = [ir.Constant(ir.VectorType(ir.IntType(32), LANES), mask) for mask in (low, high)]
            for k in range(LANES):
                if k & size == 0:
                    pair = rows[k], rows[k + size]
                    rows[k], rows[k + size] = (builder.shuffle_vector(*pair, mask) for mask in masks)
            size //= 2
        for k, row in enumerate(rows):
            builder.store(row, _pointer(context, builder, sig.args[0], args[0], step(args[1], k))).align = 4
        return context.get_dummy_value()

    return types.void(out, types.int64, array, types.int64), generate
