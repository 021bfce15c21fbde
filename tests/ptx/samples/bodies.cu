// Accelerations of bodies that attract each other, tile by tile through shared memory.
extern "C" __global__ void bodies(const float4 *position, float4 *acceleration, int n) {
    __shared__ float4 tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    const float4 own = position[i];
    float x = 0, y = 0, z = 0;
    for (int first = 0; first < n; first += 64) {
        tile[threadIdx.x] = position[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            const float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            const float pull = tile[j].w * inverse * inverse * inverse;
            x += dx * pull;
            y += dy * pull;
            z += dz * pull;
        }
        __syncthreads();
    }
    acceleration[i] = make_float4(x, y, z, 0);
}
