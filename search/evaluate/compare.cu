// The comparator's kernels: inputs are filled, outputs compared and bytes summed up on the device, so that large
// cases cost milliseconds. They run on every backend, on the emulated device in its PTX interpreter.
//
// All are grid-stride loops over any number of blocks of 256 threads. Sums are over integers or are merged by
// atomics; the caller clears `result`.

typedef unsigned long long u64;
typedef unsigned int u32;

enum dtype { F16, BF16, F32, F64, U32, I32, I8, U8, I16, I64, E4M3, E5M2, BOOL }; // template.h's order

// ---- random numbers ----

// SplitMix64's finaliser (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014): hashing a
// counter gives a random number without state.
__device__ u64 split_mix(u64 word) {
    word += 0x9e3779b97f4a7c15ull;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
    return word ^ (word >> 31);
}

// N(0, 1) by Box and Muller; at most 6.7 from 0.
__device__ float normal(u64 seed, u64 index) {
    u64 bits = split_mix(seed + index * 0xd1342543de82ef95ull);
    float radius = ((u32)bits + 0.5f) * 2.3283064e-10f; // (0, 1)
    float angle = (u32)(bits >> 32) * 1.4629180e-9f;    // [0, 2 pi)
    if (radius < 1.2e-10f)
        radius = 1.2e-10f;
    return sqrtf(-2.0f * __logf(radius)) * __cosf(angle);
}

__device__ unsigned short to_f16(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

__device__ unsigned short to_bf16(float value) {
    u32 bits = __float_as_uint(value);
    if (value != value)
        return (unsigned short)(bits >> 16 | 0x7fffu); // the sum below would leave the NaNs
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// An 8-bit float with `fraction` bits of fraction: to nearest, ties to even, and at most `largest`, as cvt.satfinite
// does; NaN stays NaN. `scale`, 2 to the difference of the exponent biases, turns its exponent into a float's.
__device__ unsigned char to_f8(float value, int fraction, float scale, float largest) {
    u32 sign = __float_as_uint(value) >> 24 & 0x80u;
    if (value != value)
        return (unsigned char)(sign | 0x7fu);
    u32 bits = __float_as_uint(fminf(fabsf(value), largest) * scale);
    int shift = 23 - fraction;
    return (unsigned char)(sign | (bits + (1u << (shift - 1)) - 1u + (bits >> shift & 1u)) >> shift);
}

enum fill { NORMAL, CONSTANT, SPIKES, EXTREMES, NOT_A_NUMBER, COLUMN, FIRST, LAST }; // fill.h's order; fills.h follows

// Element i of a tensor with rows of `row` elements, as template.h describes each fill. `largest` is the dtype's;
// `pattern` is the same for all tensors of an input, `seed` differs.
__device__ float filled(int fill, float value, float largest, u64 seed, u64 pattern, u64 i, u64 row, u64 elements) {
    if (fill == CONSTANT)
        return value;
    float random = normal(seed, i);
    if (fill == NORMAL)
        return value * random;
    if (fill == NOT_A_NUMBER)
        return i == split_mix(seed) % elements ? __int_as_float(0x7fffffff) : value * random;
    if (fill == SPIKES) {
        u64 rows = elements / row;
        bool spike = i / row % 64 == pattern % (rows < 64 ? rows : 64) && i % row == split_mix(pattern) % row;
        return spike ? value : random;
    }
    if (fill != EXTREMES) {
        if (i % row != split_mix(pattern) % row)
            return random;
        bool leads = fill == COLUMN || (fill == FIRST ? i < row : i + row >= elements);
        return leads ? value : 0.0f;
    }
    // Neighbouring columns have opposite signs, and one element of each of two is an extreme: both signs occur,
    // if there is more than one row not in the same.
    u64 bits = split_mix(seed ^ (i * 0x9e3779b97f4a7c15ull));
    u64 one = split_mix(seed) % elements, other = one / row * row + (one % row + 1) % row;
    other = (other + row) % elements;
    if (bits % 256 != 0 && i != one && i != other)
        return random;
    return ((split_mix(seed) + i % row) & 1) ? value * largest : -value * largest;
}

// Stores the low bits of a hash as an element of a tensor of integers.
__device__ void store_integer(void *tensor, int dtype, u64 i, u64 bits) {
    switch (dtype) {
    case I64: ((u64 *)tensor)[i] = bits; break;
    case I16: ((unsigned short *)tensor)[i] = (unsigned short)bits; break;
    case I8:
    case U8: ((unsigned char *)tensor)[i] = (unsigned char)bits; break;
    case BOOL: ((unsigned char *)tensor)[i] = (unsigned char)(bits & 1); break;
    default: ((u32 *)tensor)[i] = (u32)bits; break;
    }
}

// Stores an element; in a tensor of integers a hash.
__device__ void store(void *tensor, int dtype, u64 i, float element, u64 seed) {
    switch (dtype) {
    case F16: ((unsigned short *)tensor)[i] = to_f16(element); break;
    case BF16: ((unsigned short *)tensor)[i] = to_bf16(element); break;
    case F32: ((float *)tensor)[i] = element; break;
    case F64: ((double *)tensor)[i] = element; break;
    case E4M3: ((unsigned char *)tensor)[i] = to_f8(element, 3, 0x1p-120f, 448.0f); break;
    case E5M2: ((unsigned char *)tensor)[i] = to_f8(element, 2, 0x1p-112f, 57344.0f); break;
    default: store_integer(tensor, dtype, i, split_mix(seed + i)); break;
    }
}

// Stores a number of a fill with structure: a whole one in a tensor of integers, else rounded to a float and then to
// the dtype.
__device__ void store_number(void *tensor, int dtype, u64 i, double number) {
    switch (dtype) {
    case F64: ((double *)tensor)[i] = number; break;
    case F16:
    case BF16:
    case F32:
    case E4M3:
    case E5M2: store(tensor, dtype, i, (float)number, 0); break;
    default: store_integer(tensor, dtype, i, (u64)(long long)number); break;
    }
}

// Stores an element of a fill with structure, from template/fills.h.in. `usual` is what a sparse tensor has where it is
// not zero.
__device__ void store_structured(void *tensor, int dtype, u64 i, u64 row, int fill, double value, double most, float usual,
                                 u64 seed) {
    if (fill != FILLED_SPARSE)
        store_number(tensor, dtype, i, fill_number(fill, value, most, seed, i, row));
    else if (fill_is_present(value, seed, i))
        store(tensor, dtype, i, usual, seed);
    else
        store_number(tensor, dtype, i, 0.0);
}

// Fills a tensor.
extern "C" __global__ void evotile_fill(void *tensor, int dtype, u64 elements, u64 row, int fill, double value, double most,
                                        float largest, u64 seed, u64 pattern) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += step)
        if (fill > LAST)
            store_structured(tensor, dtype, i, row, fill, value, most, normal(seed, i), seed);
        else
            store(tensor, dtype, i, filled(fill, (float)value, largest, seed, pattern, i, row, elements), seed);
}

// ---- poison ----

enum poison { POISON_NAN, POISON_RANDOM, POISON_NAN_F8 }; // compare.h's order; the last is for 8-bit floats

// Two halves that are NaN in every wider floating dtype, also as a float or as either half of a double: of any sign,
// with any of the fractions that these dtypes share. A halfword is 0x7ff0 and the sign, and 1 to 15.
__device__ u32 nan_word(u64 bits) {
    u32 fractions = 0x00010001u + (u32)(bits % 15) + ((u32)(bits / 15 % 15) << 16);
    return 0x7ff07ff0u | ((u32)bits & 0x80008000u) | fractions;
}

// Half of the words are random bits; the others are shifted by a random distance, because a counter that nothing
// cleared does harm where its value looks like one.
__device__ u32 random_word(u64 bits) {
    return (u32)bits >> ((bits >> 37 & 1) ? bits >> 32 & 31 : 0);
}

// Four bytes, each of which is the NaN of both 8-bit floats, of any sign.
__device__ u32 f8_nan_word(u64 bits) {
    return 0x7f7f7f7fu | ((u32)bits & 0x80808080u);
}

// Stores the index-th word of `count` bytes, or the part of it that there is. A tensor may lie at any address.
__device__ void store_word(unsigned char *bytes, u64 index, u64 count, u32 word) {
    if (4 * index + 4 <= count && (u64)bytes % 4 == 0) {
        ((u32 *)bytes)[index] = word;
        return;
    }
    for (u64 i = 4 * index; i < count && i < 4 * index + 4; i++, word >>= 8)
        bytes[i] = (unsigned char)word;
}

// Fills `count` bytes, a function of the seed and of the position.
extern "C" __global__ void evotile_poison(unsigned char *bytes, u64 count, int poison, u64 seed) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; 4 * i < count; i += step) {
        u64 bits = split_mix(seed + i * 0xd1342543de82ef95ull);
        u32 word = poison == POISON_NAN      ? nan_word(bits)
                   : poison == POISON_NAN_F8 ? f8_nan_word(bits)
                                             : random_word(bits);
        store_word(bytes, i, count, word);
    }
}

// ---- changes between calls ----

enum change { CHANGE_MIXED, CHANGE_EVERY_ROW, CHANGE_NOTHING }; // carry_over.c's order
enum role { INPUT, OUTPUT, WORKSPACE };                         // template.h's order; others are not changed

// carry_over.c mirrors both.
struct changed_tensor {
    void *tensor;
    u64 elements, row, bytes;
    int dtype, role;
    u64 set;
    int fill, unused;
    double value, most;
};
struct change_control {
    u64 seed, generation, change;
};

// A new value of an element: what its fill may hold, `usual` if that is any number.
__device__ void change_element(const changed_tensor *it, u64 i, float usual, u64 seed) {
    if (it->fill > LAST)
        store_structured(it->tensor, it->dtype, i, it->row, it->fill, it->value, it->most, usual, seed);
    else
        store(it->tensor, it->dtype, i, usual, seed);
}

// Half of a random row, so that a kernel that knows an input by some of its elements does not see it.
__device__ void change_half_row(const changed_tensor *it, u64 seed, u64 thread, u64 step) {
    u64 half = (it->row + 1) / 2;
    u64 first = split_mix(seed) % (it->elements / it->row) * it->row + split_mix(seed + 1) % (it->row - half + 1);
    for (u64 i = thread; i < half; i += step)
        change_element(it, first + i, normal(seed, first + i), seed);
}

// One element of every row, to 5 or 6 of either sign, which normal fills reach: it matters although it is one.
__device__ void change_every_row(const changed_tensor *it, u64 seed, u64 thread, u64 step) {
    for (u64 r = thread; r < it->elements / it->row; r += step) {
        u64 i = r * it->row + split_mix(seed ^ r) % it->row;
        float size = 5.0f + (u32)split_mix(seed + i) * 2.3283064e-10f;
        change_element(it, i, r % 2 ? -size : size, seed);
    }
}

// Random bits in one 32-bit word of `interval`, at random.
__device__ void poison_words(const changed_tensor *it, u64 interval, u64 seed, u64 thread, u64 step) {
    for (u64 i = thread; 4 * i < it->bytes; i += step) {
        u64 bits = split_mix(seed + i * 0xd1342543de82ef95ull);
        if ((bits >> 50) % interval == 0)
            store_word((unsigned char *)it->tensor, i, it->bytes, random_word(bits));
    }
}

// Changes the tensors of all sets, a row of blocks each. `round` distinguishes the launches of one graph. If the
// control says so nothing changes: the same elements get the same values each time.
//
// Mixed changes alternate. Little in all inputs is for kernels that look at a part of each row; much in one row, and
// few words of the outputs, for those that look which rows differ, or at a part of their output.
extern "C" __global__ void evotile_change(const changed_tensor *tensors, const change_control *control, u64 round) {
    const changed_tensor *it = tensors + blockIdx.y;
    u64 change = control->change, generation = change == CHANGE_NOTHING ? 0 : split_mix(control->generation) + round;
    bool one_row = change == CHANGE_MIXED && (control->generation + round) % 2 == 0;
    u64 seed = split_mix(split_mix(control->seed + generation) + blockIdx.y);
    u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;
    if (it->role == INPUT && one_row)
        change_half_row(it, seed, thread, step);
    else if (it->role == INPUT)
        change_every_row(it, seed, thread, step);
    else if (it->role == OUTPUT && change == CHANGE_MIXED)
        poison_words(it, one_row ? 64 : 2, seed, thread, step);
    else if (change == CHANGE_MIXED && (it->set + control->generation) % 2 == 0) // half of the sets keep theirs
        poison_words(it, 1, seed, thread, step);
}

// One thread: the next replay of the graph changes other elements.
extern "C" __global__ void evotile_next_change(change_control *control) {
    ++control->generation;
}

// ---- comparison ----

__device__ float from_f16(u32 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((unsigned short)bits));
    return value;
}

// A float's exponent and three bits of its fraction, with a smaller bias; it has one NaN of each sign and no infinity.
__device__ float from_e4m3(u32 bits) {
    float value = __uint_as_float((bits & 0x7fu) << 20) * 0x1p120f;
    if ((bits & 0x7fu) == 0x7fu)
        value = __uint_as_float(0x7fffffffu);
    return bits & 0x80u ? -value : value;
}

// An element of 64 bits may have lost its last ones: see difference.
__device__ double element(const void *tensor, int dtype, u64 i) {
    switch (dtype) {
    case F16: return from_f16(((const unsigned short *)tensor)[i]);
    case BF16: return __uint_as_float((u32)((const unsigned short *)tensor)[i] << 16);
    case F32: return ((const float *)tensor)[i];
    case F64: return ((const double *)tensor)[i];
    case U32: return ((const u32 *)tensor)[i];
    case I8: return ((const signed char *)tensor)[i];
    case U8:
    case BOOL: return ((const unsigned char *)tensor)[i]; // a true that is not 1 differs
    case I16: return ((const short *)tensor)[i];
    case I64: return (double)((const long long *)tensor)[i];
    case E4M3: return from_e4m3(((const unsigned char *)tensor)[i]);
    case E5M2: return from_f16((u32)((const unsigned char *)tensor)[i] << 8);
    default: return ((const int *)tensor)[i];
    }
}

// Converts a tensor: to the nearest number of a floating dtype; of an integer dtype, whose numbers are whole.
extern "C" __global__ void evotile_convert(const void *from, int from_dtype, void *to, int to_dtype, u64 elements) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += step) {
        double value = element(from, from_dtype, i);
        if (from_dtype == to_dtype && to_dtype == I64) // a double does not hold every one
            ((u64 *)to)[i] = ((const u64 *)from)[i];
        else if (to_dtype == F64)
            ((double *)to)[i] = value;
        else if (to_dtype == F16 || to_dtype == BF16 || to_dtype == F32 || to_dtype == E4M3 || to_dtype == E5M2)
            store(to, to_dtype, i, (float)value, 0);
        else
            store_integer(to, to_dtype, i, (u64)(long long)rint(value));
    }
}

// Not 0 if they differ, although a double does not hold every i64.
__device__ double difference(long long a, long long b) {
    return a >= b ? (double)((u64)a - (u64)b) : -(double)((u64)b - (u64)a);
}

// compare.h mirrors this. Maxima are of nonnegative doubles: their bits order as integers do.
struct comparison {
    double error_squares, reference_squares;
    u64 worst_row_bits;         // relative L2 of a row
    u64 worst_element_bits;     // absolute
    u64 largest_reference_bits; // absolute
    u64 not_finite;             // elements that are NaN or infinite where the reference is not, or vice versa
    u64 reference_not_finite;   // elements of the reference that are NaN or infinite
    u64 not_zero;               // nonzero elements of the output
    u64 false_zeros;            // zeros where neither the plain kernel's output nor a normal reference is one
    u64 elements;               // that were compared
    double products;            // of errors and references
    double row_fourths;         // squares of each row's reference_squares
    double limit_squares;       // of what elements may be off by, as are the next two
    u64 worst_row_limit_bits;   // relative L2 of a row
    u64 worst_limit_bits;       // absolute
    u64 worst_excess_bits;      // an element's error / its limit
    u64 outside;                // elements that are off by more than their limit
    u64 small_magnitudes;       // elements of the reference that are larger than their magnitude
};

// What an element may be off by: absolute + relative * |wanted| + of_magnitude * magnitude.
struct tolerance {
    bool given;
    double relative, absolute, of_magnitude;
    const double *magnitudes; // may be null
};

__device__ bool is_finite(double value) {
    return value - value == 0.0;
}

template <typename value_type> __device__ value_type warp_sum(value_type value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

__device__ double larger(double a, double b) {
    return a > b ? a : b;
}

__device__ double warp_max(double value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value = larger(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

// What a thread, a warp or a block found. Results are merged by atomics once per block: with one per row, or even one
// per thread, the atomics of a case of a million elements take half a millisecond.
struct tally {
    double error_squares, reference_squares, products, row_fourths;
    double worst_row, worst_element, largest_reference;
    u32 not_finite, reference_not_finite, not_zero, false_zeros, elements;
    double limit_squares, worst_row_limit, worst_limit, worst_excess;
    u32 outside, small_magnitudes;
};

// Judges an element by the tolerance and returns its limit; one that is not finite counts as 0. The sums of both are
// not exact: a magnitude may be 2^-30 less than its element.
__device__ double add_limit(tally &found, const tolerance &allowed, u64 i, double error, double size) {
    double limit = allowed.absolute + allowed.relative * size;
    if (allowed.magnitudes) {
        double magnitude = allowed.magnitudes[i];
        limit += allowed.of_magnitude * magnitude;
        found.small_magnitudes += !(magnitude >= size * (1.0 - 0x1p-30));
    }
    limit = is_finite(limit) ? limit : 0.0;
    bool outside = !(error <= limit);
    found.outside += outside;
    found.worst_excess = larger(found.worst_excess, limit > 0.0 ? error / limit : outside ? 1e300 : 0.0);
    found.worst_limit = larger(found.worst_limit, limit);
    return limit;
}

// Sums over elements of a row.
struct row_sums {
    double error_squares, reference_squares, products, limit_squares;
};

// Adds the thread's elements from `first` to `end` - 1 of a row, and returns the sums of the warp's. Elements whose
// reference has the bits `unwritten` are left out, unless these are 0. An i64 has a reference of i64.
__device__ row_sums add_elements(tally &found, const void *output, int dtype, const double *reference, const void *plain,
                                 u64 first, u64 end, double smallest_normal, u64 unwritten, const tolerance &allowed) {
    row_sums sums = {};
    for (u64 i = first + threadIdx.x % 32; i < end; i += 32) {
        double wanted = reference[i];
        long long whole = __double_as_longlong(wanted);
        if (unwritten != 0 && (u64)whole == unwritten)
            continue;
        double got = element(output, dtype, i);
        if (dtype == I64)
            wanted = (double)whole;
        found.elements++;
        found.not_zero += got != 0.0;
        if (!is_finite(wanted) || !is_finite(got)) {
            found.reference_not_finite += !is_finite(wanted);
            found.not_finite += got != wanted && (got == got || wanted == wanted);
            continue;
        }
        double error = dtype == I64 ? difference(((const long long *)output)[i], whole) : got - wanted;
        double size = fabs(wanted);
        sums.error_squares += error * error;
        sums.reference_squares += wanted * wanted;
        sums.products += error * wanted;
        found.worst_element = larger(found.worst_element, fabs(error));
        found.largest_reference = larger(found.largest_reference, size);
        found.false_zeros += got == 0.0 && size >= smallest_normal && plain && element(plain, dtype, i) != 0.0;
        if (allowed.given) {
            double limit = add_limit(found, allowed, i, fabs(error), size);
            sums.limit_squares += limit * limit;
        }
    }
    sums.error_squares = warp_sum(sums.error_squares);
    sums.reference_squares = warp_sum(sums.reference_squares);
    sums.products = warp_sum(sums.products);
    sums.limit_squares = allowed.given ? warp_sum(sums.limit_squares) : 0.0;
    return sums;
}

// Adds a row of `row` elements. Errors are relative to the reference, but at least to `smallest_normal` in every
// element: below it a dtype has no relative precision, and a reference of zeros has no magnitude.
__device__ void add_row(tally &found, const row_sums &sums, u64 row, double smallest_normal) {
    double squares = larger(sums.reference_squares, (double)row * smallest_normal * smallest_normal);
    found.worst_row = larger(found.worst_row, sqrt(sums.error_squares / squares));
    found.worst_row_limit = larger(found.worst_row_limit, sqrt(sums.limit_squares / squares));
    found.error_squares += sums.error_squares;
    found.reference_squares += sums.reference_squares;
    found.products += sums.products;
    found.row_fourths += sums.reference_squares * sums.reference_squares;
    found.limit_squares += sums.limit_squares;
}

__device__ void merge_max(u64 *bits, double value) {
    if (value > 0.0)
        atomicMax(bits, (u64)__double_as_longlong(value));
}

__device__ void merge_count(u64 *total, u32 count) {
    if (count > 0)
        atomicAdd(total, (u64)count);
}

__device__ void merge(comparison *result, const tally &found) {
    atomicAdd(&result->error_squares, found.error_squares);
    atomicAdd(&result->reference_squares, found.reference_squares);
    atomicAdd(&result->products, found.products);
    atomicAdd(&result->row_fourths, found.row_fourths);
    merge_max(&result->worst_row_bits, found.worst_row);
    merge_max(&result->worst_element_bits, found.worst_element);
    merge_max(&result->largest_reference_bits, found.largest_reference);
    merge_count(&result->not_finite, found.not_finite);
    merge_count(&result->reference_not_finite, found.reference_not_finite);
    merge_count(&result->not_zero, found.not_zero);
    merge_count(&result->false_zeros, found.false_zeros);
    merge_count(&result->elements, found.elements);
}

__device__ void merge_limits(comparison *result, const tally &found) {
    atomicAdd(&result->limit_squares, found.limit_squares);
    merge_max(&result->worst_row_limit_bits, found.worst_row_limit);
    merge_max(&result->worst_limit_bits, found.worst_limit);
    merge_max(&result->worst_excess_bits, found.worst_excess);
    merge_count(&result->outside, found.outside);
    merge_count(&result->small_magnitudes, found.small_magnitudes);
}

__device__ void add_tally(tally &to, const tally &from) {
    to.error_squares += from.error_squares;
    to.reference_squares += from.reference_squares;
    to.products += from.products;
    to.row_fourths += from.row_fourths;
    to.worst_row = larger(to.worst_row, from.worst_row);
    to.worst_element = larger(to.worst_element, from.worst_element);
    to.largest_reference = larger(to.largest_reference, from.largest_reference);
    to.not_finite += from.not_finite;
    to.reference_not_finite += from.reference_not_finite;
    to.not_zero += from.not_zero;
    to.false_zeros += from.false_zeros;
    to.elements += from.elements;
    to.limit_squares += from.limit_squares;
    to.worst_row_limit = larger(to.worst_row_limit, from.worst_row_limit);
    to.worst_limit = larger(to.worst_limit, from.worst_limit);
    to.worst_excess = larger(to.worst_excess, from.worst_excess);
    to.outside += from.outside;
    to.small_magnitudes += from.small_magnitudes;
}

// Adds what the lanes of each warp found to the result, through shared memory; what add_row adds is the same in all
// lanes.
__device__ void merge_block(comparison *result, tally &found, bool limited) {
    __shared__ tally of_warp[8];
    found.worst_element = warp_max(found.worst_element);
    found.largest_reference = warp_max(found.largest_reference);
    found.not_finite = warp_sum(found.not_finite);
    found.reference_not_finite = warp_sum(found.reference_not_finite);
    found.not_zero = warp_sum(found.not_zero);
    found.false_zeros = warp_sum(found.false_zeros);
    found.elements = warp_sum(found.elements);
    if (limited) {
        found.worst_limit = warp_max(found.worst_limit);
        found.worst_excess = warp_max(found.worst_excess);
        found.outside = warp_sum(found.outside);
        found.small_magnitudes = warp_sum(found.small_magnitudes);
    }
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = found;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int w = 1; w < blockDim.x / 32; w++)
        add_tally(found, of_warp[w]);
    merge(result, found);
    if (limited)
        merge_limits(result, found);
}

// This thread's warp in the grid, and how many there are.
__device__ u64 grid_warp() {
    return ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

__device__ u64 grid_warps() {
    return (u64)gridDim.x * (blockDim.x / 32);
}

// A warp for each of `parts` of each row of `row` elements. With more than one part a row, their sums go to `of_parts`
// and evotile_compare_rows, launched next, adds the rows. `plain`, the plain kernel's output, may be null.
extern "C" __global__ void evotile_compare(const void *output, int dtype, const double *reference, const void *plain,
                                           u64 rows, u64 row, u64 parts, double smallest_normal, u64 unwritten,
                                           int given, double relative, double absolute, double of_magnitude,
                                           const double *magnitudes, row_sums *of_parts, comparison *result) {
    const tolerance allowed = {given != 0, relative, absolute, of_magnitude, magnitudes};
    const u64 part = (row + parts - 1) / parts;
    tally found = {};
    for (u64 p = grid_warp(); p < rows * parts; p += grid_warps()) {
        u64 first = p / parts * row + p % parts * part, row_end = (p / parts + 1) * row;
        u64 end = first + part < row_end ? first + part : row_end;
        row_sums sums =
            add_elements(found, output, dtype, reference, plain, first, end, smallest_normal, unwritten, allowed);
        if (parts == 1)
            add_row(found, sums, row, smallest_normal);
        else if (threadIdx.x % 32 == 0)
            of_parts[p] = sums;
    }
    merge_block(result, found, allowed.given);
}

// A warp for each row adds its parts.
extern "C" __global__ void evotile_compare_rows(const row_sums *of_parts, u64 rows, u64 row, u64 parts,
                                                double smallest_normal, int given, comparison *result) {
    tally found = {};
    for (u64 r = grid_warp(); r < rows; r += grid_warps()) {
        row_sums sums = {};
        for (u64 p = r * parts + threadIdx.x % 32; p < (r + 1) * parts; p += 32) {
            sums.error_squares += of_parts[p].error_squares;
            sums.reference_squares += of_parts[p].reference_squares;
            sums.products += of_parts[p].products;
            sums.limit_squares += of_parts[p].limit_squares;
        }
        sums.error_squares = warp_sum(sums.error_squares);
        sums.reference_squares = warp_sum(sums.reference_squares);
        sums.products = warp_sum(sums.products);
        sums.limit_squares = warp_sum(sums.limit_squares);
        add_row(found, sums, row, smallest_normal);
    }
    merge_block(result, found, given != 0);
}

// The index-th group of eight bytes; the last group may be shorter.
__device__ u64 read_eight_bytes(const unsigned char *bytes, u64 index, u64 count) {
    if (8 * index + 8 <= count && (u64)bytes % 8 == 0)
        return ((const u64 *)bytes)[index];
    u64 bits = 0;
    for (u64 i = 8 * index; i < count && i < 8 * index + 8; i++)
        bits |= (u64)bytes[i] << 8 * (i % 8);
    return bits;
}

// The sum of a hash of every (position, eight bytes): independent of the order, and changed by any change of the bytes.
// `salt` distinguishes spans that are added into one result.
extern "C" __global__ void evotile_checksum(const unsigned char *bytes, u64 count, u64 salt, u64 *result) {
    u64 step = (u64)gridDim.x * blockDim.x;
    u64 sum = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; 8 * i < count; i += step)
        sum += split_mix(split_mix(salt + i) ^ read_eight_bytes(bytes, i, count));
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0)
        atomicAdd(result, sum);
}
