"""Kernels called by address: each is compiled once, apart from those that call it.

numba puts the code of every kernel that a kernel calls into it and optimises it there again, so that a tower of large
kernels costs their sum once a storey. A kernel that gets an `Entry` as an argument only knows where the other one
starts and which arguments it takes.
"""

from __future__ import annotations

import hashlib
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, errors
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox

_intrinsic: Any = intrinsic  # its type would be that of the definition, with the typing context


class EntryType(types.Type):
    """The type of an Entry in kernels; `arguments` are the numba types that it takes, `returns` what comes back."""

    def __init__(self, arguments: tuple[Any, ...], returns: Any) -> None:
        self.arguments, self.returns = arguments, returns
        digest = hashlib.sha256(str((arguments, returns)).encode()).hexdigest()[:16]
        super().__init__(name=f"Entry({digest})")


@register_model(EntryType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


class Entry:
    """Where a kernel starts that returns nothing or a number, compiled for arguments like `examples`; pass it to
    another kernel, which calls it with `call`.
    """

    def __init__(self, kernel: Any, *examples: Any) -> None:
        from numba import typeof

        arguments = tuple(typeof(example) for example in examples)
        kernel.compile(arguments)
        compiled = kernel.overloads[arguments]
        returns = compiled.signature.return_type
        if not isinstance(returns, types.NoneType | types.Boolean | types.Integer | types.Float):
            raise TypeError(f"{kernel.__name__} returns {returns}")
        self.compiled = compiled  # keeps the code alive
        self.address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        self.kind = EntryType(arguments, returns)


@typeof_impl.register(Entry)
def _typeof(entry: Entry, _: Any) -> EntryType:
    return entry.kind


@unbox(EntryType)
def _unbox(kind: Any, entry: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(entry, "address")
    value = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(value, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@_intrinsic
def call(typing: Any, entry: Any, arguments: Any) -> Any:
    """Calls an Entry with a tuple of arguments and returns what it returns.

    Arguments are converted to what it takes, or refused when compiling.
    """
    wanted, returns = entry.arguments, entry.returns
    if len(wanted) != len(arguments):
        raise errors.TypingError(f"{len(arguments)} arguments for a kernel that takes {len(wanted)}")
    for given, want in zip(arguments, wanted, strict=True):
        if typing.can_convert(given, want) is None:
            raise errors.TypingError(f"argument {given} for a kernel that takes {want}")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = [
            context.cast(builder, builder.extract_value(args[1], k), given, want)
            for k, (given, want) in enumerate(zip(signature.args[1], wanted, strict=True))
        ]
        kind = context.call_conv.get_function_type(returns, wanted)
        where = builder.inttoptr(args[0], kind.as_pointer())
        status, found = context.call_conv.call_function(builder, where, returns, wanted, values)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value() if returns == types.none else found

    return returns(entry, arguments), generate
