// Rows of a packed matrix in vectors that are aligned in memory wherever a row begins: where the
// number of columns is no multiple of the vector, the first vector begins before the row, at a
// negative column, and the last one ends behind it. Such a vector is moved element by element.
#ifndef EVOTILE_LIB_ROW_VECTORS
#define EVOTILE_LIB_ROW_VECTORS

#include "lib/types.cuh"
#include "lib/vector.cuh"

// The unsigned type of as many bytes as a vector, which one instruction moves.
template <int bytes> struct vector_bits;
template <> struct vector_bits<2> { using type = u16; };
template <> struct vector_bits<4> { using type = u32; };
template <> struct vector_bits<8> { using type = uint2; };
template <> struct vector_bits<16> { using type = uint4; };

// The column where the first vector of a row begins: 0, or negative. `width` is a power of two, and
// the matrix begins at a multiple of a vector.
template <int width> DEVICE int first_vector_column(i64 row, int columns) {
    return -static_cast<int>(row * columns & (width - 1));
}

template <int width> DEVICE bool is_whole_vector(int column, int columns) {
    return column >= 0 && column + width <= columns;
}

// Loads the vector at `column` of a row with `columns` elements; those outside of the row are
// `other`. streaming: the row is not read again, and leaves the caches first.
template <int width, bool streaming, typename element>
DEVICE vector<element, width> load_row_vector(const element *row, int column, int columns,
                                              element other = element{}) {
    using elements = vector<element, width>;
    using bits = typename vector_bits<sizeof(elements)>::type;
    if (is_whole_vector<width>(column, columns)) {
        if constexpr (streaming)
            return __builtin_bit_cast(elements,
                                      __ldcs(reinterpret_cast<const bits *>(row + column)));
        else
            return load_vector<width>(row + column);
    }
    elements loaded;
#pragma unroll
    for (int i = 0; i < width; ++i)
        loaded.values[i] = column + i >= 0 && column + i < columns ? row[column + i] : other;
    return loaded;
}

template <int width, bool streaming, typename element>
DEVICE void store_row_vector(element *row, int column, int columns,
                             const vector<element, width> &value) {
    using bits = typename vector_bits<width * sizeof(element)>::type;
    if (is_whole_vector<width>(column, columns)) {
        if constexpr (streaming)
            __stcs(reinterpret_cast<bits *>(row + column), __builtin_bit_cast(bits, value));
        else
            store_vector<width>(row + column, value);
        return;
    }
#pragma unroll
    for (int i = 0; i < width; ++i)
        if (column + i >= 0 && column + i < columns)
            row[column + i] = value.values[i];
}

// The vector at `column` of an array with one element for each column. It is aligned only if
// `columns` is a multiple of the width.
template <int width, typename element>
DEVICE vector<element, width> load_column_vector(const element *from, int column, int columns) {
    if (columns % width == 0)
        return load_row_vector<width, false>(from, column, columns);
    vector<element, width> loaded;
#pragma unroll
    for (int i = 0; i < width; ++i)
        loaded.values[i] = column + i >= 0 && column + i < columns ? from[column + i] : element{};
    return loaded;
}

#endif
