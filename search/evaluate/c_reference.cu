// What a template's C reference finds when it is compiled as device code: the part of C's library that references use,
// and C's conversions from void *, which C++ does not have. c_reference.c appends the reference.

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

#undef NAN
#undef INFINITY
#undef HUGE_VAL
#define NAN      __longlong_as_double(0x7ff8000000000000ll)
#define INFINITY __longlong_as_double(0x7ff0000000000000ll)
#define HUGE_VAL INFINITY

struct evotile_pointer {
    void *address;
    evotile_pointer(void *address) : address(address) {}
    template <class T> operator T *() const { return static_cast<T *>(address); }
};

__device__ char *evotile_heap, *evotile_heap_end;

static evotile_pointer evotile_malloc(size_t bytes) {
    char *allocated = evotile_heap;
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > evotile_heap_end - allocated)
        return nullptr;
    evotile_heap += bytes;
    return allocated;
}

static evotile_pointer evotile_calloc(size_t count, size_t bytes) {
    evotile_pointer allocated = evotile_malloc(count * bytes);
    if (allocated.address)
        memset(allocated.address, 0, count * bytes);
    return allocated;
}

#define malloc evotile_malloc
#define calloc evotile_calloc
#define free(pointer) ((void)(pointer))
#define abort() __trap()
#define restrict
#define assert(holds) ((void)0)

// Overloaded in C++: an argument of an integer type would be ambiguous.
#define ldexp(x, exponent) ldexp(static_cast<double>(x), exponent)
#define pow(x, y)  pow(static_cast<double>(x), static_cast<double>(y))
#define fmax(x, y) fmax(static_cast<double>(x), static_cast<double>(y))
#define fmin(x, y) fmin(static_cast<double>(x), static_cast<double>(y))
#define exp(x)     exp(static_cast<double>(x))
#define log(x)     log(static_cast<double>(x))
#define sqrt(x)    sqrt(static_cast<double>(x))
#define fabs(x)    fabs(static_cast<double>(x))
#define tanh(x)    tanh(static_cast<double>(x))
#define erf(x)     erf(static_cast<double>(x))
