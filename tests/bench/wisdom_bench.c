/* How fast libevotile_wisdom loads a file of 10,000 entries and 64 kernels, opens a template of it,
   and picks: of repeated calls the fastest and the median, in CPU time, which other programs on the
   host disturb less than they do the clock. */
#include "wisdom/example.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "base/statistics.h"
#include "wisdom/evotile_wisdom.h"

enum {
    ENTRIES = 10000,
    KERNELS = 64,
    REPEATS = 51,
    PICKS = 20000,
    FIRST_PICKS = 2000,
    CUBIN_BYTES = 20000
};

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* A template, the dimensions that a program names, and how its 10,000 shapes differ: 100 values of
   each of two dimensions. */
struct subject {
    const char *folder, *name;
    const char *const *dimensions;
    int named[8]; /* which dimensions of the template these are */
    int named_count;
    struct shape shape; /* all dimensions, those included that follow another one by default */
    int across, up, follows_up; /* follows_up: -1, or a dimension that has the value of `up` */
};

static const struct evotile_wisdom_device device = {"NVIDIA H200", 9, 0, 132};
static const char *const rows_dimensions[] = {"ROWS", "COLS", NULL};
static const char *const attention_dimensions[] = {"B", "H", "S", "D", "CAUSAL", NULL};
static const struct subject subjects[] = {
    {"templates/softmax_rows", "softmax_rows", rows_dimensions, {0, 1}, 2, {{64, 1000}}, 0, 1, -1},
    /* B, H, H_KV, S, S_KV, D, CAUSAL, BF16, BSHD, LSE, SCALE, GAP, DV, ... */
    {"templates/attention_fwd",
     "attention_fwd",
     attention_dimensions,
     {0, 1, 3, 5, 6},
     5,
     {{2, 8, 8, 512, 512, 64, 1, 0, 0, 0, 0, 0, 64}},
     0,
     3,
     4},
};

static struct template *load_template(const struct subject *subject, struct error *error) {
    struct device_info device;
    const struct template_setting setting = {
        .device = &device, .smem_limit = 49152, .cases = &subject->shape, .case_count = 1};
    return device_describe("emulated:sm_90", &device, error) < 0
               ? NULL
               : template_load(subject->folder, &setting, error);
}

/* Codes of one program, and machine code of which each byte is another. */
static int put_codes(struct wisdom_store *store, const struct template *template,
                     char keys[KERNELS][DIGEST_TEXT_SIZE], struct error *error) {
    static char cubin[CUBIN_BYTES];
    const struct genome genome = genome_default(template->space);
    int status = 0;
    for (int k = 0; k < KERNELS && status == 0; k++) {
        struct strbuf code = {0};
        memset(cubin, k, sizeof cubin);
        snprintf(cubin, sizeof cubin, "kernel %d", k);
        const struct program_source source = {
            .template = template, .genome = &genome, .cubin = cubin, .cubin_bytes = sizeof cubin};
        status = program_write(&source, &code, error);
        digest_print(code.bytes, code.used, keys[k]);
        if (status == 0)
            status = wisdom_store_put_code(store, WISDOM_CODES_TABLE, keys[k], "", code.bytes,
                                           code.used, error);
        strbuf_release(&code);
    }
    return status;
}

static struct shape shape_of(const struct subject *subject, int entry) {
    struct shape shape = subject->shape;
    shape.values[subject->across] = 1 + entry % 100 * 37;
    shape.values[subject->up] = 8 + entry / 100 * 41;
    if (subject->follows_up >= 0)
        shape.values[subject->follows_up] = shape.values[subject->up];
    return shape;
}

/* The shape, then what is verified: of a compiled dimension its value, else the whole range. */
static void fill_values(const struct template *template, const struct shape *shape,
                        int64_t *values) {
    const int count = template->dimension_count;
    for (int d = 0; d < count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        const bool fixed = dimension->specialised || dimension->real || dimension->value_count > 0;
        values[d] = shape->values[d];
        values[count + d] = fixed ? values[d] : dimension->minimum;
        values[2 * count + d] = fixed ? values[d] : dimension->maximum;
    }
}

static int put_figures(struct wisdom_store *store, const struct subject *subject,
                       const struct template *template, char keys[KERNELS][DIGEST_TEXT_SIZE],
                       struct error *error) {
    struct strbuf interface = {0};
    char hash[HASH_TEXT_SIZE];
    hash_print(template->hash, hash);
    int status = program_write_template(template, &interface, error);
    if (status == 0)
        status = wisdom_store_put_code(store, WISDOM_TEMPLATES_TABLE, hash, template->name,
                                       interface.bytes, interface.used, error);
    for (int i = 0; i < ENTRIES && status == 0; i++) {
        const struct shape shape = shape_of(subject, i);
        char name[CASE_NAME_SIZE], genome[64];
        int64_t values[3 * DIMENSIONS_MAX];
        enum wisdom_put outcome;
        fill_values(template, &shape, values);
        template_print_shape(template, &shape, name);
        snprintf(genome, sizeof genome, "THREADS=%d", i % KERNELS);
        const struct wisdom_figure figure = {
            .template_name = template->name,
            .template_hash = hash,
            .device = "NVIDIA H200",
            .case_name = name,
            .code = keys[i % KERNELS],
            .driver = "580.1",
            .toolkit = "13.0",
            .compute_capability = 90,
            .sm_count = 132,
            .solution = "",
            .shape = "{}",
            .genome = genome,
            .architecture = "sm_90",
            .options = "",
            .checks = "",
            .conditions = "",
            .smem_limit = 49152,
            .p10_us = 3,
            .p50_us = 3,
            .p90_us = 3,
            .low_us = 3,
            .high_us = 3,
            .values = values,
            .values_bytes = 3 * (size_t) template->dimension_count * sizeof *values,
            .stale = "",
            .checked_driver = ""};
        status = wisdom_store_put(store, &figure, &outcome, error);
    }
    strbuf_release(&interface);
    return status;
}

static int make_file(const struct subject *subject, struct error *error) {
    static char keys[KERNELS][DIGEST_TEXT_SIZE];
    struct template *template = load_template(subject, error);
    struct wisdom_store *store =
        template != NULL ? wisdom_store_open(example_path("bench.db"), STORE_WRITE, error) : NULL;
    int status = store != NULL ? wisdom_store_begin(store, error) : -1;
    if (status == 0) {
        status = put_codes(store, template, keys, error);
        if (status == 0)
            status = put_figures(store, subject, template, keys, error);
        status = wisdom_store_end(store, status, error);
    }
    const double start = now_us();
    if (status == 0)
        example_pack(store, "bench.wisdom");
    printf("%s: packed in %.0f ms\n", subject->name, (now_us() - start) / 1e3);
    wisdom_store_close(store);
    template_free(template);
    return status;
}

/* Prints the nanoseconds of a pick, of shapes that are entries, or lie between them. */
static void time_picks(const struct evotile_wisdom_kernel *kernel, const struct subject *subject,
                       bool exact, int different) {
    static int64_t shapes[PICKS][8];
    struct random random;
    double ns[REPEATS], fastest = INFINITY;
    random_seed(&random, 1, 1);
    for (int i = 0; i < PICKS; i++) {
        struct shape shape = shape_of(subject, (int)random_below(&random, ENTRIES));
        shape.values[subject->across] += exact ? 0 : 5;
        shape.values[subject->up] += exact ? 0 : 7;
        for (int d = 0; d < subject->named_count; d++)
            shapes[i][d] = shape.values[subject->named[d]];
    }
    for (int r = 0; r < REPEATS; r++) {
        const double start = now_us();
        for (int i = 0; i < PICKS; i++) {
            struct evotile_wisdom_choice choice;
            if (evotile_wisdom_pick(kernel, shapes[i % different], 0, &choice) != 0 ||
                (choice.how == EVOTILE_WISDOM_EXACT) != exact ||
                choice.how == EVOTILE_WISDOM_NEAREST)
                abort();
        }
        ns[r] = (now_us() - start) * 1e3 / PICKS;
        fastest = fmin(fastest, ns[r]);
    }
    printf("  a pick of %4d shapes in turn, %s: %5.1f ns, median %5.1f ns\n", different,
           exact ? "each tuned for  " : "by the tree     ", fastest,
           statistics_median(ns, REPEATS));
}

/* The first pick of a shape finds what the later ones look up. */
static void time_first_picks(const struct evotile_wisdom *wisdom, const struct subject *subject) {
    const struct evotile_wisdom_names names = {subject->name, subject->dimensions, NULL, NULL};
    double ns[REPEATS], fastest = INFINITY;
    for (int r = 0; r < REPEATS; r++) {
        struct evotile_wisdom_kernel *kernel;
        struct evotile_wisdom_message message;
        struct evotile_wisdom_choice choice;
        if (evotile_wisdom_open(&kernel, wisdom, &names, &device, &message) != 0)
            abort();
        const double start = now_us();
        for (int i = 0; i < FIRST_PICKS; i++) {
            struct shape shape = shape_of(subject, i * (ENTRIES / FIRST_PICKS));
            int64_t given[8];
            shape.values[subject->across] += 5;
            shape.values[subject->up] += 7;
            for (int d = 0; d < subject->named_count; d++)
                given[d] = shape.values[subject->named[d]];
            if (evotile_wisdom_pick(kernel, given, 0, &choice) != 0)
                abort();
        }
        ns[r] = (now_us() - start) * 1e3 / FIRST_PICKS;
        fastest = fmin(fastest, ns[r]);
        evotile_wisdom_close(kernel);
    }
    printf("  the first pick of each of %d shapes, by the tree: %5.1f ns, median %5.1f ns\n",
           FIRST_PICKS, fastest, statistics_median(ns, REPEATS));
}

/* Loads and opens repeatedly; the last ones stay. */
static void time_opening(const struct subject *subject, struct evotile_wisdom **wisdom,
                         struct evotile_wisdom_kernel **kernel) {
    const struct evotile_wisdom_names names = {subject->name, subject->dimensions, NULL, NULL};
    struct evotile_wisdom_message message;
    double load_ms[REPEATS], open_ms[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        const double start = now_us();
        if (evotile_wisdom_load(wisdom, example_path("bench.wisdom"), &message) != 0)
            abort();
        load_ms[r] = (now_us() - start) / 1e3;
        const double loaded = now_us();
        if (evotile_wisdom_open(kernel, *wisdom, &names, &device, &message) != 0)
            abort();
        open_ms[r] = (now_us() - loaded) / 1e3;
        if (r + 1 < REPEATS) {
            evotile_wisdom_close(*kernel);
            evotile_wisdom_free(*wisdom);
        }
    }
    printf("%s: %d entries, %d kernels: loaded in %.2f ms, opened in %.2f ms\n", subject->name,
           ENTRIES, KERNELS, statistics_median(load_ms, REPEATS),
           statistics_median(open_ms, REPEATS));
}

static void time_subject(const struct subject *subject) {
    struct error error = {0};
    struct evotile_wisdom *wisdom;
    struct evotile_wisdom_kernel *kernel;
    example_setup(NULL);
    if (make_file(subject, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    time_opening(subject, &wisdom, &kernel);
    time_first_picks(wisdom, subject);
    for (int exact = 1; exact >= 0; exact--)
        for (int different = 16; different <= 2000; different *= 125)
            time_picks(kernel, subject, exact, different);
    evotile_wisdom_close(kernel);
    evotile_wisdom_free(wisdom);
    example_teardown(NULL);
}

int main(void) {
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        time_subject(&subjects[i]);
    return 0;
}
