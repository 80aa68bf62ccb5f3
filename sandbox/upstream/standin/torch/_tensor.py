"""The few tensor operations that a smoke test uses, on nested Python lists."""

import random

from . import cuda


class device:  # noqa: N801 - the real name
    """A device such as cpu or cuda:1."""

    def __init__(self, name, index=None):
        kind, _, number = str(name).partition(":")
        self.type = kind
        self.index = int(number) if number else index

    def __str__(self):
        return self.type if self.index is None else "{}:{}".format(self.type, self.index)

    def __repr__(self):
        return "device(type={!r}, index={!r})".format(self.type, self.index)

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(str(self))


def _place(where):
    chosen = device(where if where is not None else "cpu")
    if chosen.type == "cuda":
        cuda._require(chosen.index or 0)
        chosen.index = chosen.index or 0
    return chosen


def _build(shape, make):
    if not shape:
        return make()
    return [_build(shape[1:], make) for _ in range(shape[0])]


def _shape(data):
    return (len(data), *_shape(data[0])) if isinstance(data, list) and data else ((0,) if isinstance(data, list) else ())


def _zip(left, right, operation):
    if isinstance(left, list):
        other = right if isinstance(right, list) else [right] * len(left)
        return [_zip(a, b, operation) for a, b in zip(left, other)]
    return operation(left, right)


class Tensor:
    """A value on a device."""

    def __init__(self, data, where=None):
        self._data = data
        self.device = _place(where)

    @property
    def shape(self):
        return _shape(self._data)

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    def flat(self):
        """All elements in order."""
        found, stack = [], [self._data]
        while stack:
            item = stack.pop()
            if isinstance(item, list):
                stack.extend(reversed(item))
            else:
                found.append(item)
        return found

    def tolist(self):
        return self._data

    def item(self):
        return self.flat()[0]

    def sum(self):
        return Tensor(sum(self.flat()), self.device)

    def mean(self):
        values = self.flat()
        return Tensor(sum(values) / len(values), self.device)

    def to(self, where):
        return Tensor(self._data, where)

    def cuda(self, index=0):
        return self.to("cuda:{}".format(index))

    def cpu(self):
        return self.to("cpu")

    def _with(self, other, operation):
        value = other._data if isinstance(other, Tensor) else other
        return Tensor(_zip(self._data, value, operation), self.device)

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    __radd__ = __add__
    __rmul__ = __mul__

    def __matmul__(self, other):
        columns = list(zip(*other._data))
        rows = [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self._data]
        return Tensor(rows, self.device)

    def __eq__(self, other):
        return self._with(other, lambda a, b: a == b)

    __hash__ = None

    def all(self):
        return Tensor(all(self.flat()), self.device)

    def __bool__(self):
        return bool(self.item())

    def __float__(self):
        return float(self.item())

    def __repr__(self):
        suffix = ", device='{}'".format(self.device) if self.is_cuda else ""
        return "tensor({}{})".format(self._data, suffix)


def _sizes(size):
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else size


def tensor(data, device=None, dtype=None):
    return Tensor(data, device)


def full(size, value, device=None, dtype=None):
    return Tensor(_build(tuple(size), lambda: value), device)


def ones(*size, device=None, dtype=None):
    return full(_sizes(size), 1.0, device)


def zeros(*size, device=None, dtype=None):
    return full(_sizes(size), 0.0, device)


def rand(*size, device=None, dtype=None):
    return Tensor(_build(_sizes(size), random.random), device)


def arange(stop, device=None, dtype=None):
    return Tensor(list(range(stop)), device)
