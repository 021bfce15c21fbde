// Calls through a table of functions, of virtual functions, and direct calls.
using operation = int (*)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int digits(int a, int b) {
    int counts[4] = {0, 0, 0, 0};
    for (int rest = a; rest > 0; rest /= b)
        counts[rest % b & 3]++;
    return counts[0] + 10 * counts[1] + 100 * counts[2] + 1000 * counts[3];
}
__device__ operation table[] = {plus, times, digits};
__constant__ operation both[] = {times, plus};

struct vector {
    float x[5];
};
using change = vector (*)(vector, float);
__device__ __noinline__ vector stretched(vector v, float by) {
    for (float &x : v.x)
        x *= by;
    return v;
}
__device__ __noinline__ vector moved(vector v, float by) {
    for (float &x : v.x)
        x += by;
    return v;
}

struct shape {
    int size;
    __device__ shape(int size) : size(size) {}
    __device__ virtual int area() const = 0;
    __device__ virtual int corners() const { return 4; }
};
struct square : shape {
    __device__ square(int size) : shape(size) {}
    __device__ int area() const override { return size * size; }
};
struct bar : shape {
    int height;
    __device__ bar(int size, int height) : shape(size), height(height) {}
    __device__ int area() const override { return size * height; }
    __device__ int corners() const override { return height ? 4 : 2; }
};

__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
// An array per call depth, whose address is passed to deeper calls.
__device__ __noinline__ int chain(const int *above, int depth) {
    int own[3] = {above[0] + depth, above[1] * 2, above[2] ^ depth};
    if (depth == 0)
        return own[0] + own[1] + own[2];
    const int below = chain(own, depth - 1);
    return below + own[depth % 3];
}

extern "C" __global__ void calls(const int *in, int *out, const float *vectors, float *changed) {
    const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
    out[i] = table[(i + x) % 3](x, 7);
    out[n + i] = both[blockIdx.x % 2](x, out[i]);
    const square one(x % 9);
    const bar two(x % 7, x % 3);
    const shape *any = i % 2 ? (const shape *)&one : &two;
    out[2 * n + i] = 10 * any->area() + any->corners();
    out[3 * n + i] = fibonacci(x % 11);
    if (x % 2)
        out[4 * n + i] = even(x % 13) + 2 * odd(x % 6);
    const int top[3] = {x, 1, i};
    out[5 * n + i] = chain(top, x % 6);
    const change how = x % 2 ? stretched : moved;
    vector v;
    for (int k = 0; k < 5; k++)
        v.x[k] = vectors[k];
    v = how(v, (float)x);
    for (int k = 0; k < 5; k++)
        changed[5 * i + k] = v.x[k];
}
