"""What a user would run instead of spmv_csr: cuSPARSE by PyTorch's product of a sparse matrix, and the sum of its terms by
index_add_, compiled. torch_baseline.py times it."""
import torch

NAME = "sparse CSR product"


def inputs(case):
    """A matrix drawn as in setup.cu."""
    rows, cols, nonzeros = case["ROWS"], case["COLS"], case["NONZEROS"]
    most = max(1, min(65536, cols * rows // nonzeros))
    weights = (65536 // torch.randint(1, 65537, (rows,), device="cuda")).clamp(max=most)
    weights = weights * (torch.randint(0, 4, (rows,), device="cuda") != 0)
    ends = weights.cumsum(0)
    starts = (ends - weights).double() * nonzeros / ends[-1].clamp(min=1)
    row_start = torch.cat([starts.int(), torch.full((1,), nonzeros, device="cuda", dtype=torch.int32)])
    lengths = row_start.diff()
    row_of = torch.repeat_interleave(lengths)  # of each element
    place = torch.arange(nonzeros, device="cuda") - row_start[row_of] + torch.rand(nonzeros, device="cuda", dtype=torch.float64)
    columns = (place * cols / lengths[row_of]).int().clamp(max=cols - 1)
    values = torch.randn(nonzeros, device="cuda")
    matrix = torch.sparse_csr_tensor(row_start, columns, values, (rows, cols))
    return matrix, row_of, columns, values, torch.randn(cols, device="cuda")


def product(matrix, row_of, columns, values, x):
    return matrix @ x


def added(matrix, row_of, columns, values, x):
    return add_terms(matrix.shape[0], row_of, columns, values, x)


def index_add(rows, row_of, columns, values, x):
    return torch.zeros(rows, device=x.device).index_add_(0, row_of, values * x[columns])


add_terms = torch.compile(index_add, dynamic=False)  # without the sparse matrix, which is not compiled

IMPLEMENTATIONS = {"eager": product, "compiled": added}
