// Softmax of rows:  y[r][c] = exp(x[r][c] - max of row r) / sum over the row of the same.
//
// Plain: a block has one row, which its threads read three times. Nothing is optimised.

extern "C" __global__ void softmax_rows(const float *x, float *y, int COLS) {
    __shared__ float partial[THREADS];
    const int thread = threadIdx.x;
    const float *from = x + (long long)blockIdx.x * COLS;
    float *to = y + (long long)blockIdx.x * COLS;

    float largest = from[0];
    for (int column = thread; column < COLS; column += THREADS)
        largest = fmaxf(largest, from[column]);
    partial[thread] = largest;
    __syncthreads(); // every thread has written its largest element
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            partial[thread] = fmaxf(partial[thread], partial[thread + half]);
        __syncthreads(); // the upper half has been read
    }
    largest = partial[0];
    __syncthreads(); // every thread has read the result

    float sum = 0.0f;
    for (int column = thread; column < COLS; column += THREADS)
        sum += expf(from[column] - largest);
    partial[thread] = sum;
    __syncthreads(); // every thread has written its sum
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            partial[thread] = partial[thread] + partial[thread + half];
        __syncthreads(); // the upper half has been read
    }
    sum = partial[0];

    for (int column = thread; column < COLS; column += THREADS)
        to[column] = expf(from[column] - largest) / sum;
}
