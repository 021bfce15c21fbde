"""The rows of `make bench-kernels`: products and norms of a model, the groups whose means have an aim, and the folders of
kernels/ that hold a kernel for each row. attention_rows.py has the same for attention."""
import row_numbers

BENCH, SHAPE = "bench-kernels", "shape"
TEMPLATES = {"gemm", "add_rms_norm"}  # whose kernels are rows
ALL_SMEM = 232448  # bytes of shared memory that a block may have on sm_90

WEIGHTS = [(4096, 4096), (14336, 4096), (4096, 14336)]  # N and K, as F.linear stores them
EPILOGUES = {0: "", 1: " bias", 2: " GELU", 3: " SiLU", 4: " residual"}
PLAIN = [{"M": m, "N": n, "K": k, "TRANS_B": 1} for m in (1, 16, 128, 512, 4096) for n, k in WEIGHTS] + [
    {"M": 1000, "N": 1000, "K": 1000}, {"M": 512, "N": 512, "K": 64, "BATCH": 64}]
FUSED = [{"M": m, "N": n, "K": k, "TRANS_B": 1, "EPILOGUE": epilogue}
         for m in (16, 4096) for n, k, epilogue in ((14336, 4096, 2), (14336, 4096, 3), (4096, 14336, 4))]
NORMS = [{"ROWS": 8192, "COLS": 4096}, {"ROWS": 16, "COLS": 8192}]
ROWS = PLAIN + FUSED + NORMS

# Of the ratios of a group: which rows it has, the aim of their geometric mean, that of the least.
GROUPS = {"products": (lambda row: "M" in row and "EPILOGUE" not in row, 1.0, 0.93),
          "fused": (lambda row: "EPILOGUE" in row, 1.0, 0.93),
          "silu": (lambda row: row.get("EPILOGUE") == 3, 1.15, 1.15),  # for cuBLASLt a kernel of its own
          "norms": (lambda row: "ROWS" in row, 1.0, 1.0)}
AIMS = [1.15 if row.get("EPILOGUE") == 3 else 1.0 if "ROWS" in row else 0.93 for row in ROWS]

# The kernels of a folder are found by one search and exported together: its rows, template, solutions and shared memory
# in bytes.
FEW = sum(row["M"] <= 16 for row in PLAIN)  # the first rows, which gemv can do, too
CUBE = PLAIN.index({"M": 1000, "N": 1000, "K": 1000})
FUSED_ROWS = range(len(PLAIN), len(PLAIN + FUSED))
ACTIVATIONS = [row for row in FUSED_ROWS if ROWS[row]["M"] == 4096 and ROWS[row]["EPILOGUE"] in (2, 3)]  # GELU and SiLU
FOLDERS = {"gemm_few_rows_h200": (range(FEW), "gemm", ["gemv", "mma", "hopper"], ALL_SMEM),
           "gemm_1000_h200": ([CUBE], "gemm", ["mma", "hopper"], ALL_SMEM),
           "gemm_h200": ([row for row in range(FEW, len(PLAIN)) if row != CUBE], "gemm", ["mma", "hopper"], ALL_SMEM),
           "gemm_epilogues_h200": ([row for row in FUSED_ROWS if row not in ACTIVATIONS], "gemm", ["mma", "hopper"], ALL_SMEM),
           "gemm_activations_h200": (ACTIVATIONS, "gemm", ["mma", "hopper"], ALL_SMEM),
           "add_rms_norm_h200": (range(len(PLAIN + FUSED), len(ROWS)), "add_rms_norm", ["rows"], 0)}


def rivals_of(row):
    if "ROWS" in row:
        return ["eager", "compiled", "cudnn_frontend"]
    return ["cublaslt", "eager", "compiled", "cudnn_frontend"] + (["addmm_gelu"] if row.get("EPILOGUE") == 2 else [])


def in_group(name, row):
    return GROUPS[name][0](row)


def row_name(row):
    if "ROWS" in row:
        return f"add_rms_norm ({row['ROWS']},{row['COLS']})"
    batch = f"{row['BATCH']} x " if "BATCH" in row else ""
    return f"{batch}({row['M']},{row['N']},{row['K']}){EPILOGUES[row.get('EPILOGUE', 0)]}"


def chosen_rows(text):
    groups = {name: [index for index, row in enumerate(ROWS) if in_group(name, row)] for name in GROUPS}
    return row_numbers.chosen_rows(text, BENCH, list(map(row_name, ROWS)), groups)


def index_of(shape):
    """The row that a manifest's case is, or None: a dimension that the row does not name has its default."""
    for index, row in enumerate(ROWS):
        wanted = {"BATCH": 1, "BF16": 1, "EPSILON": shape.get("EPSILON"), **row}
        if all(value == wanted.get(name, 0) for name, value in shape.items()) and set(row) <= set(shape):
            return index
    return None
