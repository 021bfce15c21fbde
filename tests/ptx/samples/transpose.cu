// Transposes a matrix in tiles of 32 x 32, padded to avoid bank conflicts; blocks of 32 x 8 threads.
extern "C" __global__ void transpose(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int row = blockIdx.y * 32, column = blockIdx.x * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (row + j < rows && column + threadIdx.x < columns)
            tile[j][threadIdx.x] = in[(row + j) * columns + column + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8)
        if (column + j < columns && row + threadIdx.x < rows)
            out[(column + j) * rows + row + threadIdx.x] = tile[threadIdx.x][j];
}
