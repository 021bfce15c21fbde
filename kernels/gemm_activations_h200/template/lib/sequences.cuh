// Sequences in a tensor [batches, heads, rows, columns]: each fills a batch, or all are packed in
// one, one behind the other, as FlashAttention's variable lengths are: sequence b then has the rows
// from cu_seqlens[b] to cu_seqlens[b + 1].
#ifndef EVOTILE_LIB_SEQUENCES
#define EVOTILE_LIB_SEQUENCES

#include "lib/strides.cuh"

// `count` rows of batch `batch`, from `first` on.
struct sequence_rows {
    int batch, first, count;
};

// `rows` are those of a batch; cu_seqlens is only read if sequences are packed.
template <bool packed>
DEVICE sequence_rows rows_of_sequence(int sequence, const int *cu_seqlens, int rows) {
    if constexpr (!packed)
        return {sequence, 0, rows};
    const int first = cu_seqlens[sequence];
    return {0, first, cu_seqlens[sequence + 1] - first};
}

// Offset of a sequence's first row in a head, in elements.
template <bool packed>
DEVICE u64 to_sequence(const strides &tensor, int batch, int head, int first) {
    return tensor.to_head(batch, head) + (packed ? multiply_wide(first, tensor.row) : 0);
}

#endif
