// y = sqrt(|x| + 1); template.json describes the genes. REAL, LOAD and BOUNDS are texts, STOP is a number of type double.

constexpr int vector = sizeof(LOAD) / sizeof(float);
static_assert(STOP > 0, "an iteration ends");

__device__ float root_of(float x) {
    const REAL square = (x < 0 ? -x : x) + 1;
    REAL root = square;
    for (int step = 0; step < 64; ++step) {
        const REAL change = (root - square / root) / 2;
        root -= change;
        if (change <= REAL(STOP) * root)
            break;
    }
    return root;
}

extern "C" __global__ void BOUNDS newton_root(const float *x, float *y, int count) {
    const int i = (blockIdx.x * THREADS + threadIdx.x) * vector;
    if (i + vector <= count) {
        LOAD values = *(const LOAD *)(x + i);
        for (int v = 0; v < vector; ++v)
            ((float *)&values)[v] = root_of(((const float *)&values)[v]);
        *(LOAD *)(y + i) = values;
    } else {
        for (int v = 0; v < vector; ++v)
            if (i + v < count)
                y[i + v] = root_of(x[i + v]);
    }
}
