"""The rows of `make bench-attention`: the shapes, the groups whose means have an aim, and the folders of kernels/ that
hold a kernel for each row."""
import row_numbers

BENCH, SHAPE = "bench-attention", "(B,H,S,D)"
TEMPLATES = {"attention_fwd", "attention_fwd_hopper", "attention_decode"}  # whose kernels are rows
ALL_SMEM = 232448  # bytes of shared memory that a block may have on sm_90

# (B, H, S, and the aims of the plain and of the causal row: a duel's ratio to the fastest rival); D = 64
SQUARE = [(1, 1, 128, 1.54, 1.51), (1, 8, 512, 1.74, 1.78), (2, 8, 512, 1.6, 1.65), (4, 8, 512, 1.38, 1.42),
          (4, 16, 512, 1.22, 1.5), (8, 16, 512, 1.18, 1.35), (2, 16, 2048, 1.18, 1.22)]
WITH_AIMS = [({"B": b, "H": h, "S": s, "D": 64, "CAUSAL": causal}, aims[causal])
             for b, h, s, *aims in SQUARE for causal in (0, 1)] + [
    ({"B": 4, "H": 16, "S": 4096, "D": 64, "CAUSAL": 1}, 1.08), ({"B": 4, "H": 16, "S": 512, "D": 128}, 1.12),
    ({"B": 2, "H": 16, "S": 4096, "D": 128}, 1.04), ({"B": 2, "H": 16, "S": 4096, "D": 128, "CAUSAL": 1}, 1.05),
    ({"B": 1, "H": 32, "H_KV": 8, "S": 8192, "D": 128, "CAUSAL": 1}, 1.05),
    ({"B": 1, "H": 32, "H_KV": 8, "S": 1, "S_KV": 8192, "D": 128}, 1.35),
    ({"B": 16, "H": 32, "H_KV": 8, "S": 1, "S_KV": 4096, "D": 128}, 1.01)]
ROWS, AIMS = [row for row, _ in WITH_AIMS], [aim for _, aim in WITH_AIMS]

# Of the ratios of a group: which rows it has, the aim of their geometric mean, that of the least.
GROUPS = {"short": (lambda row: 1 < row["S"] <= 512 and row["D"] == 64, 1.5, 1.1),
          "long": (lambda row: row["S"] > 512 or (row["D"] == 128 and row["S"] > 1), 1.05, 1.0),
          "decode": (lambda row: row["S"] == 1, 1.15, 1.0)}

# The kernels of a folder are found by one search and exported together: its rows, template, solutions and shared memory in
# bytes, 0 for the 48 KB that every GPU has.
FOLDERS = {"attention_h200": (range(0, 14), "attention_fwd", ["hopper"], 0),
           "attention_long_h200": (range(14, 19), "attention_fwd", ["hopper"], ALL_SMEM),
           "attention_decode_h200": (range(19, 21), "attention_fwd", ["decode"], ALL_SMEM)}

RIVALS = ["fa4", "cudnn", "cudnn_frontend", "flash", "efficient"]
DECODE_RIVALS = ["fa4_split"]  # as well, where there is one query


def rivals_of(row):
    return RIVALS + (DECODE_RIVALS if in_group("decode", row) else [])


def in_group(name, row):
    return GROUPS[name][0](row)


def row_name(row):
    heads = f"{row['H']}:{row['H_KV']}" if "H_KV" in row else row["H"]
    length = f"1x{row['S_KV']}" if row["S"] == 1 else row["S"]
    return f"({row['B']},{heads},{length},{row['D']}){' causal' if row.get('CAUSAL') else ''}"


def chosen_rows(text):
    groups = {name: [index for index, row in enumerate(ROWS) if in_group(name, row)] for name in GROUPS}
    return row_numbers.chosen_rows(text, BENCH, list(map(row_name, ROWS)), groups)


def index_of(shape):
    """The row that a manifest's case is, or None: a dimension that the row does not name must have no effect."""
    for index, row in enumerate(ROWS):
        wanted = {"H_KV": row["H"], "S_KV": row["S"], "DV": row["D"], **row}
        if all(value == wanted.get(name, 0) for name, value in shape.items()) and wanted["B"] == shape.get("B"):
            return index
    return None
