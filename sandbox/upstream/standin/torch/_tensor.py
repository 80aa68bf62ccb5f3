"""The few tensor operations that a smoke test uses, on nested Python lists."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

from . import cuda


class device:
    """A device such as cpu or cuda:1."""

    def __init__(self, name: object, index: int | None = None) -> None:
        kind, _, number = str(name).partition(":")
        self.type = kind
        self.index = int(number) if number else index

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type={self.type!r}, index={self.index!r})"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def _place(where: object) -> device:
    chosen = device("cpu" if where is None else where)
    if chosen.type == "cuda":
        chosen.index = chosen.index or 0
        cuda._require(chosen.index)
    return chosen


def _build(shape: tuple[int, ...], make: Callable[[], float]) -> Any:
    return [_build(shape[1:], make) for _ in range(shape[0])] if shape else make()


def _shape(data: Any) -> tuple[int, ...]:
    if not isinstance(data, list):
        return ()
    return (len(data), *_shape(data[0])) if data else (0,)


def _pairwise(left: Any, right: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if not isinstance(left, list):
        return operation(left, right)
    other = right if isinstance(right, list) else [right] * len(left)
    return [_pairwise(left[i], other[i], operation) for i in range(len(left))]


class Tensor:
    """A value on a device."""

    def __init__(self, data: Any, where: object = None) -> None:
        self._data = data
        self.device = _place(where)

    @property
    def shape(self) -> tuple[int, ...]:
        return _shape(self._data)

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    def flat(self) -> list[Any]:
        """All elements in order."""
        found = []
        stack = [self._data]
        while stack:
            item = stack.pop()
            if isinstance(item, list):
                stack.extend(reversed(item))
            else:
                found.append(item)
        return found

    def tolist(self) -> Any:
        return self._data

    def item(self) -> Any:
        return self.flat()[0]

    def sum(self) -> Tensor:
        return Tensor(sum(self.flat()), self.device)

    def mean(self) -> Tensor:
        return Tensor(sum(self.flat()) / len(self.flat()), self.device)

    def all(self) -> Tensor:
        return Tensor(all(self.flat()), self.device)

    def to(self, where: object) -> Tensor:
        return Tensor(self._data, where)

    def cuda(self, index: int = 0) -> Tensor:
        return self.to(f"cuda:{index}")

    def cpu(self) -> Tensor:
        return self.to("cpu")

    def _with(self, other: object, operation: Callable[[Any, Any], Any]) -> Tensor:
        value = other._data if isinstance(other, Tensor) else other
        return Tensor(_pairwise(self._data, value, operation), self.device)

    def __add__(self, other: object) -> Tensor:
        return self._with(other, operator.add)

    def __sub__(self, other: object) -> Tensor:
        return self._with(other, operator.sub)

    def __mul__(self, other: object) -> Tensor:
        return self._with(other, operator.mul)

    __radd__ = __add__
    __rmul__ = __mul__

    def __matmul__(self, other: Tensor) -> Tensor:
        columns = [[row[j] for row in other._data] for j in range(len(other._data[0]))]
        rows = [[sum(map(operator.mul, row, column)) for column in columns] for row in self._data]
        return Tensor(rows, self.device)

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        return self._with(other, operator.eq)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __repr__(self) -> str:
        suffix = f", device='{self.device}'" if self.is_cuda else ""
        return f"tensor({self._data}{suffix})"


def _sizes(size: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else size


def tensor(data: Any, device: object = None, **_options: object) -> Tensor:
    return Tensor(data, device)


def full(size: Any, value: float, device: object = None, **_options: object) -> Tensor:
    return Tensor(_build(tuple(size), lambda: value), device)


def ones(*size: Any, device: object = None, **_options: object) -> Tensor:
    return full(_sizes(size), 1.0, device)


def zeros(*size: Any, device: object = None, **_options: object) -> Tensor:
    return full(_sizes(size), 0.0, device)


def rand(*size: Any, device: object = None, **_options: object) -> Tensor:
    return Tensor(_build(_sizes(size), random.random), device)


def arange(stop: int, device: object = None, **_options: object) -> Tensor:
    return Tensor(list(range(stop)), device)
