// The acceleration of each body by all others; a thread has one body. The problem says what `real`
// is. A body does not attract itself: their distance is zero.
extern "C" __global__ void nbody_reference(const float *position, const float *mass,
                                           real *acceleration, int N, float softening) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= N)
        return;
    real sum[3] = {};
    for (int j = 0; j < N; ++j) {
        real offset[3], squared = softening;
        for (int axis = 0; axis < 3; ++axis) {
            offset[axis] = real(position[3 * j + axis]) - real(position[3 * i + axis]);
            squared += offset[axis] * offset[axis];
        }
        const real scale = mass[j] / (squared * sqrt(squared));
        for (int axis = 0; axis < 3; ++axis)
            sum[axis] += offset[axis] * scale;
    }
    for (int axis = 0; axis < 3; ++axis)
        acceleration[3 * i + axis] = sum[axis];
}
