// Waits for a flag that no thread sets.
// run: 1 blocks of 32 threads, 0
// buffer: flag 4 output
extern "C" __global__ void faulty(volatile int *flag) {
    while (*flag == 0) // expect: endless-loop
        ;
}
