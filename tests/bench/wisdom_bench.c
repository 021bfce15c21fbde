/* How fast libevotile_wisdom loads a file of 10,000 entries and 64 kernels, opens a template of it,
   and picks: medians of repeated calls, on this host's CPU. */
#include "wisdom/example.h"

#include <string.h>
#include <time.h>

#include "base/random.h"
#include "base/statistics.h"
#include "wisdom/evotile_wisdom.h"

enum { ENTRIES = 10000, KERNELS = 64, REPEATS = 51, PICKS = 20000, CUBIN_BYTES = 20000 };

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static struct template *load_rows(struct error *error) {
    struct device_info device;
    struct shape shape = {{64, 1000, 0}};
    const struct template_setting setting = {
        .device = &device, .smem_limit = 49152, .cases = &shape, .case_count = 1};
    return device_describe("emulated:sm_90", &device, error) < 0
               ? NULL
               : template_load("templates/softmax_rows", &setting, error);
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

static void shape_of(int entry, int64_t values[9]) {
    const int64_t shape[] = {1 + entry % 100 * 37, 8 + entry / 100 * 41, 0};
    for (int d = 0; d < 3; d++) {
        values[d] = shape[d];
        values[3 + d] = 1;
        values[6 + d] = d < 2 ? 1 << 20 : 1;
    }
    values[5] = 0;
}

static int put_figures(struct wisdom_store *store, const struct template *template,
                       char keys[KERNELS][DIGEST_TEXT_SIZE], struct error *error) {
    struct strbuf interface = {0};
    char hash[HASH_TEXT_SIZE];
    hash_print(template->hash, hash);
    int status = program_write_template(template, &interface, error);
    if (status == 0)
        status = wisdom_store_put_code(store, WISDOM_TEMPLATES_TABLE, hash, template->name,
                                       interface.bytes, interface.used, error);
    for (int i = 0; i < ENTRIES && status == 0; i++) {
        char name[64], genome[64];
        int64_t values[9];
        enum wisdom_put outcome;
        shape_of(i, values);
        snprintf(name, sizeof name, "ROWS=%lld,COLS=%lld", (long long)values[0],
                 (long long)values[1]);
        snprintf(genome, sizeof genome, "THREADS=%d", i % KERNELS);
        const struct wisdom_figure figure = {.template_name = template->name,
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
                                             .values_bytes = sizeof values,
                                             .stale = "",
                                             .checked_driver = ""};
        status = wisdom_store_put(store, &figure, &outcome, error);
    }
    strbuf_release(&interface);
    return status;
}

static int make_file(struct error *error) {
    static char keys[KERNELS][DIGEST_TEXT_SIZE];
    struct template *template = load_rows(error);
    struct wisdom_store *store =
        template != NULL ? wisdom_store_open(example_path("bench.db"), STORE_WRITE, error) : NULL;
    int status = store != NULL ? wisdom_store_begin(store, error) : -1;
    if (status == 0) {
        status = put_codes(store, template, keys, error);
        if (status == 0)
            status = put_figures(store, template, keys, error);
        status = wisdom_store_end(store, status, error);
    }
    const double start = now_us();
    if (status == 0)
        example_pack(store, "bench.wisdom");
    printf("packed in %.0f ms\n", (now_us() - start) / 1e3);
    wisdom_store_close(store);
    template_free(template);
    return status;
}

/* Nanoseconds a pick, of shapes that are entries, or lie between them. */
static double time_picks(const struct evotile_wisdom_kernel *kernel, bool exact, int different) {
    static int64_t shapes[PICKS][2];
    struct random random;
    double ns[REPEATS];
    random_seed(&random, 1, 1);
    for (int i = 0; i < PICKS; i++) {
        int64_t values[9];
        shape_of((int)random_below(&random, ENTRIES), values);
        shapes[i][0] = values[0] + (exact ? 0 : 5);
        shapes[i][1] = values[1] + (exact ? 0 : 7);
    }
    const int count = exact ? PICKS : 2000;
    for (int r = 0; r < REPEATS; r++) {
        const double start = now_us();
        for (int i = 0; i < count; i++) {
            struct evotile_wisdom_choice choice;
            if (evotile_wisdom_pick(kernel, shapes[i % different], 0, &choice) != 0)
                abort();
        }
        ns[r] = (now_us() - start) * 1e3 / count;
    }
    return statistics_median(ns, REPEATS);
}

int main(void) {
    static const char *const dimensions[] = {"ROWS", "COLS", NULL};
    static const struct evotile_wisdom_names names = {"softmax_rows", dimensions, NULL, NULL};
    static const struct evotile_wisdom_device device = {"NVIDIA H200", 9, 0, 132};
    struct error error = {0};
    struct evotile_wisdom *wisdom;
    struct evotile_wisdom_kernel *kernel;
    struct evotile_wisdom_message message;
    double load_ms[REPEATS], open_ms[REPEATS];
    example_setup(NULL);
    if (make_file(&error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (int r = 0; r < REPEATS; r++) {
        const double start = now_us();
        if (evotile_wisdom_load(&wisdom, example_path("bench.wisdom"), &message) != 0)
            abort();
        load_ms[r] = (now_us() - start) / 1e3;
        const double loaded = now_us();
        if (evotile_wisdom_open(&kernel, wisdom, &names, &device, &message) != 0)
            abort();
        open_ms[r] = (now_us() - loaded) / 1e3;
        if (r + 1 < REPEATS) {
            evotile_wisdom_close(kernel);
            evotile_wisdom_free(wisdom);
        }
    }
    printf("%d entries, %d kernels: loaded in %.2f ms, a template opened in %.2f ms\n", ENTRIES,
           KERNELS, statistics_median(load_ms, REPEATS), statistics_median(open_ms, REPEATS));
    printf("a pick: %.0f ns of a tuned shape, %.0f ns between them; in turn of 16 shapes; of 2000: "
           "%.0f "
           "and %.0f ns\n",
           time_picks(kernel, true, 16), time_picks(kernel, false, 16),
           time_picks(kernel, true, 2000), time_picks(kernel, false, 2000));
    evotile_wisdom_close(kernel);
    evotile_wisdom_free(wisdom);
    example_teardown(NULL);
    return 0;
}
