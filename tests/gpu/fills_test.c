/* Fills with structure on a GPU: the same bytes as on the host and in an exported check. */
#define FILLS_DEVICE "cuda:0"
#include "../evaluate/fills_test.c"
