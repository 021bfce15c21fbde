"""A stand-in for PyTorch where it is not installed: the few functions that the references of tests/python use, over NumPy. It is no
PyTorch: it shows that evotile.flashinfer and evotile.kernelbench call what they should, not that PyTorch answers so."""
import numpy


class dtype:
    def __init__(self, name):
        self.name, self.is_floating_point = name, name.startswith(("float", "bfloat"))

    def __str__(self):
        return "torch." + self.name


float64, float32, int64, int32, uint8 = map(dtype, ("float64", "float32", "int64", "int32", "uint8"))
bfloat16 = dtype("bfloat16")  # computes as float32
bool = dtype("bool")
KINDS = {one.name: one for one in (float64, float32, int64, int32, uint8, bool)}


class Tensor:
    def __init__(self, array):
        self.data_ = numpy.asarray(array)
        self.dtype = KINDS[self.data_.dtype.name]
        self.shape = self.data_.shape
        self.data = self

    def made(self, array):
        return Tensor(array)

    def to(self, kind):
        return Tensor(self.data_.astype({"bfloat16": "float32"}.get(kind.name, kind.name)))

    def copy_(self, other):
        self.data_[...] = other.data_

    def __getitem__(self, at):
        return Tensor(self.data_[at.data_ if isinstance(at, Tensor) else at])

    def __setitem__(self, at, value):
        self.data_[at] = value.data_ if isinstance(value, Tensor) else value


def numpy_of(value):
    return value.data_ if isinstance(value, Tensor) else value


for operator in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "eq", "ne", "or", "gt"):
    def method(self, other, name=f"__{operator}__"):
        return Tensor(getattr(self.data_, name)(numpy_of(other)))
    setattr(Tensor, f"__{operator}__", method)

Tensor.pow = lambda self, power: Tensor(self.data_ ** power)
Tensor.mean = lambda self, dim=None, keepdim=False: Tensor(self.data_.mean(axis=dim, keepdims=keepdim))
Tensor.sum = lambda self, dim=None: Tensor(self.data_.sum(axis=dim))
Tensor.min, Tensor.max = (lambda self: Tensor(self.data_.min())), (lambda self: Tensor(self.data_.max()))
Tensor.all = lambda self: Tensor(self.data_.all())
Tensor.item = lambda self: self.data_.item()
Tensor.numel = lambda self: self.data_.size
Tensor.dim = lambda self: self.data_.ndim
Tensor.reshape = lambda self, *shape: Tensor(self.data_.reshape(shape[0] if len(shape) == 1 else shape))
Tensor.detach = Tensor.cpu = lambda self: self
Tensor.double = lambda self: self.to(float64)
Tensor.numpy = lambda self: self.data_


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __call__(self, function):
        return function


generator = numpy.random.RandomState(0)


def manual_seed(seed):
    generator.seed(seed)


def from_numpy(array):
    return Tensor(array)


def as_tensor(value):
    return value if isinstance(value, Tensor) else Tensor(value)


def rand(*shape):
    return Tensor(generator.random_sample(shape).astype("float32"))


def zeros(shape, dtype=float32):
    return Tensor(numpy.zeros(shape, dtype.name))


def rsqrt(value):
    return Tensor(value.data_ ** -0.5)


def relu(value):
    return Tensor(numpy.maximum(value.data_, 0))


from . import nn  # noqa: E402
