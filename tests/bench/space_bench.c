/* Speed of counting and sampling the valid genomes of large spaces. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "space/space.h"

/* Nine genes with ten values each; optional constraints over `all` genes and between neighbours. */
static struct space *nine_genes(const char *all, const char *neighbours) {
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[10];
    char text[256];
    for (int i = 0; i < 10; i++)
        values[i] = i + 1;
    for (int i = 0; i < 9; i++) {
        snprintf(text, sizeof text, "G%d", i);
        space_add_integers(space, text, "", values, 10, 0, NULL, &error);
    }
    for (int i = 0; neighbours != NULL && i < 8; i++) {
        snprintf(text, sizeof text, "(3 * G%d + G%d) %% 10 < 2 + (G%d > 5)", i, i + 1, i);
        if (space_add_constraint(space, text, "", &error) < 0)
            BUG("%s", error.text);
    }
    if ((all != NULL && space_add_constraint(space, all, "", &error) < 0) ||
        space_seal(space, &error) < 0)
        BUG("%s", error.text);
    return space;
}

static void bench(const char *what, struct space *space) {
    enum { DRAWS = 100000 };
    struct random random;
    struct genome genome;
    uint64_t count;
    random_seed(&random, 1, 0);
    double start = clock_seconds();
    bool exact = space_count(space, 100000000, &count);
    double counted = clock_seconds();
    for (int i = 0; i < DRAWS; i++)
        space_sample(space, &random, &genome);
    double drawn = clock_seconds();
    printf("%-22s %.0e raw  %12llu valid%s  counted in %8.3f ms  sampled in %6.3f us\n", what,
           space_raw_count(space), (unsigned long long)count, exact ? "" : " (at least)",
           1e3 * (counted - start), 1e6 * (drawn - counted) / DRAWS);
    space_free(space);
}

int main(void) {
    bench("neighbours", nine_genes(NULL, "neighbours"));
    bench("a product of all", nine_genes("G0*G1*G2*G3*G4*G5*G6*G7*G8 <= 150000", NULL));
    bench("a sum of squares",
          nine_genes("G0*G0+G1*G1+G2*G2+G3*G3+G4*G4+G5*G5+G6*G6+G7*G7+G8*G8 == 200", NULL));
    return 0;
}
