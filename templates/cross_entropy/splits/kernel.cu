// The cross entropy of rows of logits:
//
//   loss[r] = log(sum over c of exp(logits[r][c])) - logits[r][labels[r]];  0 if labels[r] is -100
//
//   logits [ROWS, VOCABULARY]   float if F32, else bfloat16;  labels [ROWS] i64;  loss [ROWS] float
//
// One pass: each thread keeps the largest logit so far and the sum of exponentials relative to it,
// rescales the sum once for a batch of loads, and partial results merge as a tree. SPLITS blocks
// share a row; the blocks of a cluster, the last block to finish or a second kernel merge theirs.

#include "lib/last_block.cuh"
#include "lib/math.cuh"
#include "lib/packed.cuh"
#include "lib/pdl.cuh"
#include "lib/row_reduce.cuh"
#include "lib/row_vectors.cuh"
#include "lib/types.cuh"
#include "lib/widen.cuh"

// ---- Genes ----

#if !defined(THREADS) || !defined(ROW_THREADS) || !defined(VECTOR) || !defined(LOADS) ||           \
    !defined(MIN_CTAS) || !defined(SPLITS) || !defined(COMBINE) || !defined(STREAMING)
#error "a gene of cross_entropy is not defined: see genes in solution.json"
#endif

constexpr int threads = THREADS;         // threads per block
constexpr int row_threads = ROW_THREADS; // threads of a block that share a row
constexpr int width = VECTOR;            // logits per load
constexpr int loads = LOADS;             // loads of a thread in flight at once
constexpr int min_ctas = MIN_CTAS;
constexpr int splits = SPLITS; // blocks that share a row
constexpr bool streaming = STREAMING;
constexpr bool in_cluster = splits > 1 && COMBINE == COMBINE_CLUSTER;
constexpr bool by_last_block = splits > 1 && COMBINE == COMBINE_LAST;
constexpr bool by_kernel = splits > 1 && !in_cluster && !by_last_block;
constexpr bool by_pdl = by_kernel && COMBINE == COMBINE_EARLY;

// ---- Derived sizes and shared memory ----

using element = conditional_t<F32, float, bf16>;

constexpr int block_rows = threads / row_threads;
constexpr int stride = row_threads * width; // logits that a row's threads of a block load at once

#if SPLITS > 1 && COMBINE == COMBINE_CLUSTER
#define IN_CLUSTER __cluster_dims__(SPLITS, 1, 1)
#else
#define IN_CLUSTER
#endif

// The largest of some logits, and the sum of exp(logit - largest).
struct exponentials {
    static constexpr bool symmetric = false;
    float largest = minus_infinity, sum = 0.0f;

    // What a sum relative to `from` is multiplied by to be relative to `to`; 1 for -inf and -inf.
    static DEVICE float factor(float from, float to) {
        return from == to ? 1.0f : exp2_fast((from - to) * 1.4426950408889634f);
    }

    DEVICE void merge(const exponentials &other) {
        const float to = fmaxf(largest, other.largest);
        sum = sum * factor(largest, to) + other.sum * factor(other.largest, to);
        largest = to;
    }
};

__shared__ row_reduction<exponentials, threads, row_threads, in_cluster ? splits : 1>
    reduction_smem;

// ---- Steps ----

// Of the vectors at `column` and every stride behind it, one for each load in flight.
DEVICE exponentials of_batch(const element *row, int column, int end, int VOCABULARY) {
    packed<element, width> batch[loads];
#pragma unroll
    for (int load = 0; load < loads; ++load) {
        const int first = column + load * stride;
        // What another split has counts as outside of the row.
        batch[load] = load_row_vector<width, streaming>(row, first, first < end ? VOCABULARY : 0,
                                                        narrow<element>(minus_infinity));
    }
    exponentials of;
#pragma unroll
    for (int load = 0; load < loads; ++load)
#pragma unroll
        for (int i = 0; i < width; ++i)
            of.largest = fmaxf(of.largest, widen(batch[load].get(i)));
    const float from = of.largest == minus_infinity ? 0.0f : of.largest;
#pragma unroll
    for (int load = 0; load < loads; ++load)
#pragma unroll
        for (int i = 0; i < width; ++i)
            of.sum += exp2_fast((widen(batch[load].get(i)) - from) * 1.4426950408889634f);
    return of;
}

DEVICE float row_loss(const exponentials &of, float of_label) {
    return log2_fast(of.sum) * 0.6931471805599453f + (of.largest - of_label);
}

DEVICE void merge_splits(const exponentials *partials, const element *logits, const i64 *labels,
                         float *loss, int row, int VOCABULARY) {
    exponentials all;
    const i64 label = labels[row];
    if (label >= 0)
        for (int split = 0; split < splits; ++split)
            all.merge(partials[static_cast<i64>(row) * splits + split]);
    loss[row] =
        label < 0 ? 0.0f : row_loss(all, widen(logits[static_cast<i64>(row) * VOCABULARY + label]));
}

// ---- The schedule ----

extern "C" __global__ void IN_CLUSTER __launch_bounds__(threads, min_ctas)
    cross_entropy(const element *__restrict__ logits, const i64 *__restrict__ labels,
                  exponentials *partials, u32 *counters, float *loss, int ROWS, int VOCABULARY) {
    const int split = blockIdx.x % splits;
    const int row = blockIdx.x / splits * block_rows + threadIdx.x / row_threads;
    const i64 start = static_cast<i64>(row) * VOCABULARY;
    const i64 label = row < ROWS ? labels[row] : -100;
    // Vectors of the row, of which each split has a share.
    const int first_column = first_vector_column<width>(row, VOCABULARY);
    const int vectors = (VOCABULARY - first_column + width - 1) / width;
    const int share = (vectors + splits - 1) / splits * width;
    const int begin = first_column + split * share;
    const int end = label < 0 ? begin : min(begin + share, VOCABULARY);
    if constexpr (by_pdl)
        griddepcontrol_launch_dependents();
    reduction_smem.begin();

    const float of_label = label < 0 ? 0.0f : widen(logits[start + label]);
    exponentials own;
    for (int column = begin + static_cast<int>(threadIdx.x % row_threads) * width; column < end;
         column += loads * stride)
        own.merge(of_batch(logits + start, column, end, VOCABULARY));
    own = reduction_smem.reduce(own, 0);

    const bool first_thread = threadIdx.x % row_threads == 0 && row < ROWS;
    if constexpr (splits == 1 || in_cluster) {
        if (first_thread && split == 0)
            loss[row] = label < 0 ? 0.0f : row_loss(own, of_label);
    } else {
        if (first_thread)
            partials[static_cast<i64>(row) * splits + split] = own;
        if constexpr (by_last_block)
            if (arrive_is_last_block(counters + row, splits) && first_thread)
                merge_splits(partials, logits, labels, loss, row, VOCABULARY);
    }
}

extern "C" __global__ void __launch_bounds__(128)
    cross_entropy_combine(const exponentials *partials, const element *__restrict__ logits,
                          const i64 *__restrict__ labels, float *loss, int ROWS, int VOCABULARY) {
    const int row = blockIdx.x * 128 + threadIdx.x;
    if constexpr (by_pdl)
        griddepcontrol_wait(); // for the partial results
    if (row < ROWS)
        merge_splits(partials, logits, labels, loss, row, VOCABULARY);
}
