#include "base/random.h"

#include "base/error.h"

#include <inttypes.h>
#include <string.h>

uint64_t random_below(struct random *random, uint64_t bound) {
    if (bound == 0)
        BUG("random_below with a bound of 0");
    /* The first 2^64 mod bound outputs are rejected, so that the rest divides evenly. */
    uint64_t rejected = (0 - bound) % bound;
    uint64_t bits;
    do
        bits = random_next(random);
    while (bits < rejected);
    return bits % bound;
}

double random_uniform(struct random *random) {
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

void random_save(const struct random *random, char text[RANDOM_TEXT_SIZE]) {
    snprintf(text, RANDOM_TEXT_SIZE, "%016" PRIx64 ":%016" PRIx64 ":%016" PRIx64 ":%016" PRIx64,
             random->state_high, random->state_low, random->increment_high, random->increment_low);
}

int random_restore(struct random *random, const char *text, struct error *error) {
    struct random read;
    char printed[RANDOM_TEXT_SIZE];
    int fields = sscanf(text, "%" SCNx64 ":%" SCNx64 ":%" SCNx64 ":%" SCNx64, &read.state_high,
                        &read.state_low, &read.increment_high, &read.increment_low);
    if (fields == 4)
        random_save(&read, printed);
    /* sscanf is lenient: only text that prints back identically is accepted. */
    if (fields != 4 || strcmp(text, printed) != 0 || read.increment_low % 2 == 0)
        return error_set(error, "'%.100s' is not the state of a random generator", text);
    *random = read;
    return 0;
}
