// Neighbouring elements that one instruction loads or stores.
#ifndef EVOTILE_LIB_VECTOR
#define EVOTILE_LIB_VECTOR

#include "lib/types.cuh"

// At most 16 bytes; aligned to its own size.
template <typename element, int width> struct alignas(width * sizeof(element)) vector {
    element values[width];
};

// The vector that begins at `from`, which is aligned to the size of a vector.
template <int width, typename element>
DEVICE vector<element, width> load_vector(const element *from) {
    return *reinterpret_cast<const vector<element, width> *>(from);
}

template <int width, typename element>
DEVICE void store_vector(element *to, const vector<element, width> &value) {
    *reinterpret_cast<vector<element, width> *>(to) = value;
}

#endif
