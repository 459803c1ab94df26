"""Named tuples of arrays given to kernels as one address: kernels read from it the arrays that they use.

numba hands a named tuple to a kernel, and on to every kernel below, as some seven numbers an array. For thirty arrays
that takes longer to compile than most kernels, and longer to pass to a kernel called by address than it takes to run.
"""

from __future__ import annotations

import hashlib
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox

T = TypeVar("T", bound=NamedTuple)
_LAYOUT = 1
"""To be raised with every change of what a reference points at: kernels are kept by the names of their types."""


class ReferenceType(types.Type):
    """The type of a Reference in kernels, to a named tuple of numba type `target`."""

    def __init__(self, target: Any) -> None:
        self.target = target
        digest = hashlib.sha256(str(target).encode()).hexdigest()[:16]
        super().__init__(name=f"Reference{_LAYOUT}({digest})")


@register_model(ReferenceType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


class Reference(Generic[T]):
    """Where a named tuple of arrays lies. Kernels read its fields as those of the tuple; Python reads `value`."""

    def __init__(self, value: T) -> None:
        self.value = value
        self.kind = ReferenceType(typeof(value))
        # numba's array: two owners (none: this object keeps them alive), items, bytes an item, data, shape, strides.
        self._words = np.array(
            [word for a in value for word in (0, 0, a.size, a.itemsize, a.ctypes.data, *a.shape, *a.strides)],
            np.int64,
        )
        self.address: int = self._words.ctypes.data


@typeof_impl.register(Reference)
def _typeof(reference: Reference[Any], _: Any) -> ReferenceType:
    return reference.kind


@unbox(ReferenceType)
def _unbox(kind: Any, reference: Any, c: Any) -> Any:
    number = c.pyapi.object_getattr_string(reference, "address")
    value = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(value, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _Attributes(AttributeTemplate):
    key = ReferenceType

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        target = kind.target
        return target.types[target.fields.index(name)] if name in target.fields else None


@lower_getattr_generic(ReferenceType)
def _field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    target = kind.target
    place = target.fields.index(name)
    begin = builder.inttoptr(value, context.get_data_type(target).as_pointer())
    found = context.unpack_value(builder, target.types[place], cgutils.gep_inbounds(builder, begin, 0, place))
    return impl_ret_borrowed(context, builder, target.types[place], found)
