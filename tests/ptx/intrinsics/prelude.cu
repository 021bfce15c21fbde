// What the lists of calls beside it begin with: each becomes a kernel of its own.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda/atomic>

struct operands {
    float f, f1, f2, f3;
    double d, d1, d2, d3;
    int i, i1, i2;
    unsigned u, u1, u2;
    long long l, l1, l2;
    unsigned long long q, q1, q2;
    long n, n1;
    unsigned long m, m1;
    short s, s1;
    unsigned short t, t1;
    char c;
    unsigned char k;
    bool o;
    __half h, h1, h2;
    __nv_bfloat16 b, b1, b2;
    __half2 h2_0, h2_1, h2_2;
    __nv_bfloat162 b2_0, b2_1, b2_2;
    float2 f2_0;
    double2 d2_0;
    char4 c4_0, c4_1;
    uchar4 u4_0, u4_1;
    short2 s2_0;
    ushort2 t2_0;
};
struct places {
    float *f;
    double *d;
    int *i;
    unsigned *u;
    long long *l;
    unsigned long long *q;
    short *s;
    unsigned short *t;
    char *c;
    bool *o, *o1;
    __half *h;
    __nv_bfloat16 *b;
    __half2 *h2_;
    __nv_bfloat162 *b2_;
    int4 *i4;
    double2 *d2;
};

#define OPERANDS                                                                                   \
    auto [f, f1, f2, f3, d, d1, d2, d3, i, i1, i2, u, u1, u2, l, l1, l2, q, q1, q2, n, n1, m, m1,  \
          s, s1, t, t1, c, k, o, h, h1, h2, b, b1, b2, h2_0, h2_1, h2_2, b2_0, b2_1, b2_2, f2_0,   \
          d2_0, c4_0, c4_1, u4_0, u4_1, s2_0, t2_0] = in;
#define NAMED(number, ...)                                                                         \
    extern "C" __global__ void function_##number(const operands in, const places at, void *out) {  \
        OPERANDS __VA_ARGS__;                                                                      \
    }
#define NUMBERED(number, ...) NAMED(number, __VA_ARGS__)
// A statement, and a call whose value is kept.
#define DO(...)  NUMBERED(__LINE__, __VA_ARGS__)
#define CALL(...) NUMBERED(__LINE__, keep(out, __VA_ARGS__))
template <class value> __device__ void keep(void *out, value it) { *(value *)out = it; }


// Statements on arrays, of a thread.
#define MORE_NAMED(number, ...)                                                                    \
    extern "C" __global__ void function_##number(                                                  \
        int *p, float *f, double *d, unsigned *u, unsigned long long *q, __half *h,                \
        __nv_bfloat16 *b, __half2 *h2, __nv_bfloat162 *b2, short *s, unsigned short *t) {          \
        const int lane = threadIdx.x;                                                                 \
        __VA_ARGS__;                                                                               \
    }
#define MORE_NUMBERED(number, ...) MORE_NAMED(number, __VA_ARGS__)
#define MORE(...)                  MORE_NUMBERED(__LINE__, __VA_ARGS__)
