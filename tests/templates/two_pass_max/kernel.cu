// The largest of N floats in two passes of one source; template.json describes the genes.

namespace first {
#define THREADS THREADS_1
#define ITEMS ITEMS_1
#include "pass.inc"
#undef THREADS
#undef ITEMS
} // namespace first

namespace second {
#define THREADS (FAULT == FAULT_OTHER_THREADS ? 2 * THREADS_2 : THREADS_2)
#define ITEMS 1
#include "pass.inc"
#undef THREADS
#undef ITEMS
} // namespace second
