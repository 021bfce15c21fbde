"""Records the answers of take_columns: python3 record.py writes the .npy files beside it."""
import os
import numpy

folder = os.path.dirname(os.path.abspath(__file__))
random = numpy.random.default_rng(1)


def record(name, rows, cols, taken):
    x = random.standard_normal((rows, cols)).astype(numpy.float32)
    columns = random.integers(0, cols, taken).astype(numpy.int32)  # indices, which random bits would not be
    y = numpy.take(x.astype(numpy.float64), columns, axis=1)
    for array, what in ((x, "x"), (columns, "columns"), (y, "y")):
        numpy.save(os.path.join(folder, "%s_%s.npy" % (name, what)), array)


record("first", 6, 40, 9)
record("second", 6, 40, 9)
record("small", 1, 3, 2)
