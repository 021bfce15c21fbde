// Rows of a packed matrix in vectors that are aligned in memory wherever a row begins: where the
// number of columns is no multiple of the vector, the first vector begins before the row, at a
// negative column, and the last one ends behind it. Such a vector is moved element by element.
//
// `aligned` promises that the number of columns is a multiple of the vector: then every vector is
// inside of the row, or outside, and a load has one test.
#ifndef EVOTILE_LIB_ROW_VECTORS
#define EVOTILE_LIB_ROW_VECTORS

#include "lib/packed.cuh"
#include "lib/types.cuh"

// The column where the first vector of a row begins: 0, or negative. `width` is a power of two, and
// the matrix begins at a multiple of a vector.
template <int width, bool aligned = false> DEVICE int first_vector_column(i64 row, int columns) {
    return aligned ? 0 : -static_cast<int>(row * columns & (width - 1));
}

template <int width, bool aligned> DEVICE bool is_whole_vector(int column, int columns) {
    return aligned ? column < columns : column >= 0 && column + width <= columns;
}

// Loads the vector at `column` of a row with `columns` elements; those outside of the row are
// `other`. streaming: the row is not read again, and leaves the caches first.
template <int width, bool streaming, bool aligned = false, typename element>
DEVICE packed<element, width> load_row_vector(const element *row, int column, int columns,
                                              element other = element{}) {
    using elements = packed<element, width>;
    using bits = typename elements::bits;
    elements loaded = elements::of(other);
    if (is_whole_vector<width, aligned>(column, columns)) {
        const bits *from = reinterpret_cast<const bits *>(row + column);
        if constexpr (streaming)
            loaded = __builtin_bit_cast(elements, __ldcs(from));
        else
            loaded = __builtin_bit_cast(elements, *from);
    } else if constexpr (!aligned) {
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (column + i >= 0 && column + i < columns)
                loaded.set(i, row[column + i]);
    }
    return loaded;
}

template <int width, bool streaming, bool aligned = false, typename element>
DEVICE void store_row_vector(element *row, int column, int columns,
                             const packed<element, width> &value) {
    using bits = typename packed<element, width>::bits;
    if (is_whole_vector<width, aligned>(column, columns)) {
        bits *to = reinterpret_cast<bits *>(row + column);
        if constexpr (streaming)
            __stcs(to, __builtin_bit_cast(bits, value));
        else
            *to = __builtin_bit_cast(bits, value);
    } else if constexpr (!aligned) {
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (column + i >= 0 && column + i < columns)
                row[column + i] = value.get(i);
    }
}

// The vector at `column` of an array with one element for each column. It is aligned only if
// `columns` is a multiple of the width.
template <int width, bool aligned, typename element>
DEVICE packed<element, width> load_column_vector(const element *from, int column, int columns) {
    if constexpr (aligned) {
        return load_row_vector<width, false, true>(from, column, columns);
    } else {
        packed<element, width> loaded = packed<element, width>::of(element{});
#pragma unroll
        for (int i = 0; i < width; ++i)
            if (column + i >= 0 && column + i < columns)
                loaded.set(i, from[column + i]);
        return loaded;
    }
}

#endif
