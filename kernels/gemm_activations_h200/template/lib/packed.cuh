// Neighbouring elements as the words that one load moves. They stay packed until they are used: if
// elements were unpacked where they are loaded, two of them would take two registers instead of
// one, and a thread would wait for each load before it issues the next one.
#ifndef EVOTILE_LIB_PACKED
#define EVOTILE_LIB_PACKED

#include "lib/types.cuh"
#include "lib/widen.cuh"

// The unsigned type of as many bytes as a vector, which one instruction moves.
template <int bytes> struct vector_bits;
template <> struct vector_bits<2> { using type = u16; };
template <> struct vector_bits<4> { using type = u32; };
template <> struct vector_bits<8> { using type = uint2; };
template <> struct vector_bits<16> { using type = uint4; };

// `width` elements: a power of two, and at most 16 bytes.
template <typename element, int width> struct alignas(width * sizeof(element)) packed {
    static constexpr int bytes = width * sizeof(element);
    static constexpr bool in_pairs = sizeof(element) == 2 && width > 1; // two elements a word
    using bits = typename vector_bits<bytes>::type;
    using word = conditional_t<bytes == 2, u16, u32>;

    word words[bytes / sizeof(word)];

    DEVICE element get(int i) const {
        if constexpr (in_pairs)
            return __builtin_bit_cast(element, static_cast<u16>(words[i / 2] >> i % 2 * 16));
        else
            return __builtin_bit_cast(element, words[i]);
    }

    // The same element in every place.
    static DEVICE packed of(element value) {
        packed result;
#pragma unroll
        for (word &each : result.words)
            if constexpr (in_pairs)
                each = __builtin_bit_cast(u16, value) * 0x10001u;
            else
                each = __builtin_bit_cast(word, value);
        return result;
    }

    DEVICE void set(int i, element value) {
        if constexpr (in_pairs) {
            const u32 own = static_cast<u32>(__builtin_bit_cast(u16, value)) << i % 2 * 16;
            words[i / 2] = (words[i / 2] & 0xffff0000u >> i % 2 * 16) | own;
        } else {
            words[i] = __builtin_bit_cast(word, value);
        }
    }

    // Rounded to nearest even.
    static DEVICE packed rounded(const float (&values)[width]) {
        packed result;
        if constexpr (in_pairs) {
#pragma unroll
            for (int i = 0; i < width; i += 2)
                result.words[i / 2] = narrow_pair<element>(values[i], values[i + 1]);
        } else {
#pragma unroll
            for (int i = 0; i < width; ++i)
                result.words[i] = __builtin_bit_cast(word, narrow<element>(values[i]));
        }
        return result;
    }
};

#endif
