// Two blocks count in one word with atomics of block scope, which need not see each other.
// run: 2 blocks of 32 threads, 0
// buffer: counter 4 output
extern "C" __global__ void faulty(unsigned *counter) {
    atomicAdd_block(counter, 1); // expect: race-between-blocks
}
