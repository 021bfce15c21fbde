/* Which kernel libevotile_wisdom picks for a shape and a device, and what it refuses: files that
   are not whole, calls that do not fit. */
#include "wisdom/example.h"
#include "wisdom/stand_in_driver.h"

#include <pthread.h>
#include <sys/stat.h>

#define EVOTILE_WISDOM_FORMAT
#include "base/random.h"
#include "wisdom/evotile_wisdom.h"

#include <string.h>

static const char *const dimension_names[] = {"COLS", "ROWS", NULL}; /* not the template's order */
static const char *const tensor_names[] = {"x", "y", NULL};
static const struct evotile_wisdom_names names = {"softmax_rows", dimension_names, tensor_names,
                                                  NULL};
static const struct evotile_wisdom_device h200 = {"NVIDIA H200", 9, 0, 132};

/* ---- a store of three kernels ---- */

static struct template *load_template(const char *folder, const char *shapes) {
    struct error error = {0};
    struct json_document document;
    struct shape cases[CASES_MAX];
    struct device_info device;
    struct template *dimensions = template_load(folder, NULL, &error);
    assert_int_equal(device_describe("emulated:sm_90", &device, &error), 0);
    assert_int_equal(json_read_text(&document, "shapes", shapes, &error), 0);
    struct json root = json_root(&document);
    for (int c = 0; c < json_count(&root); c++) {
        struct json one = json_at(&root, c);
        if (template_read_shape(dimensions, &one, NULL, &cases[c], &error) < 0)
            fail_msg("%s", error.text);
    }
    const struct template_setting setting = {
        .device = &device, .smem_limit = 49152, .cases = cases, .case_count = json_count(&root)};
    struct template *template = template_load(folder, &setting, &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    json_release(&document);
    template_free(dimensions);
    return template;
}

static struct template *load_rows(const char *shapes) {
    return load_template("templates/softmax_rows", shapes);
}

static struct genome genome_of(const struct template *template, const char *text) {
    struct genome genome;
    struct error error = {0};
    if (genome_parse(&genome, template->space, text, &error) < 0)
        fail_msg("%s", error.text);
    return genome;
}

static const char *const genomes[] = {"THREADS=64", "THREADS=128", "THREADS=256"};

/* Case c is fastest with genome c % 3 on an H200; case 0 has other kernels on other devices, too.
 */
static void make_file(const char *file, bool widest) {
    struct template *template = load_rows("[ { \"ROWS\": 4, \"COLS\": 40 }, { \"ROWS\": 64, "
                                          "\"COLS\": 40 }, { \"ROWS\": 4, \"COLS\": 1000 }, "
                                          "{ \"ROWS\": 8, \"COLS\": 48 }, { \"ROWS\": 64, "
                                          "\"COLS\": 64 }, { \"ROWS\": 2, \"COLS\": 900 } ]");
    unlink(example_path("pick.db"));
    struct wisdom_store *store = example_store("pick.db", STORE_WRITE);
    for (int c = 0; c < template->case_count; c++)
        for (int g = 0; g < 3; g++) {
            const struct genome genome = genome_of(template, genomes[g]);
            example_put(store, template, &genome, c, widest,
                        (struct wisdom_figure){.p50_us = g == c % 3 ? 5 : 10 + g});
        }
    const struct genome last = genome_of(template, genomes[2]);
    example_put(store, template, &last, 0, widest,
                (struct wisdom_figure){.p50_us = 2, .device = "NVIDIA H100 PCIe", .sm_count = 114});
    example_put(store, template, &last, 0, widest,
                (struct wisdom_figure){.p50_us = 2,
                                       .device = "NVIDIA L4",
                                       .sm_count = 58,
                                       .compute_capability = 89,
                                       .architecture = "sm_89"});
    assert_int_equal(example_pack(store, file).added, 8);
    wisdom_store_close(store);
    template_free(template);
}

static struct evotile_wisdom *load(const char *file) {
    struct evotile_wisdom *wisdom;
    struct evotile_wisdom_message message;
    if (evotile_wisdom_load(&wisdom, example_path(file), &message) != 0)
        fail_msg("%s", message.text);
    return wisdom;
}

static struct evotile_wisdom_kernel *open_kernel(const struct evotile_wisdom *wisdom) {
    struct evotile_wisdom_kernel *kernel;
    struct evotile_wisdom_message message;
    if (evotile_wisdom_open(&kernel, wisdom, &names, &h200, &message) != 0)
        fail_msg("%s", message.text);
    return kernel;
}

static bool has_genome(const struct evotile_wisdom_choice *choice, int genome) {
    char text[512];
    evotile_wisdom_describe(choice, text, sizeof text);
    return strstr(text, genomes[genome]) != NULL;
}

/* ---- picking ---- */

static void shapes_get_their_kernels(void **state) {
    struct evotile_wisdom_choice choice;
    (void)state;
    make_file("wide.wisdom", true);
    struct evotile_wisdom *wisdom = load("wide.wisdom");
    struct evotile_wisdom_kernel *kernel = open_kernel(wisdom);
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){40, 4}, 0, &choice), 0);
    assert_int_equal(choice.how, EVOTILE_WISDOM_EXACT);
    assert_true(choice.p50_us == 5 && has_genome(&choice, 0));
    /* Between the shapes, the tree decides: it was fitted to all that was measured. */
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){50, 7}, 0, &choice), 0);
    assert_int_equal(choice.how, EVOTILE_WISDOM_TREE);
    assert_true(has_genome(&choice, 0));
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){50, 70}, 0, &choice), 0);
    assert_true(has_genome(&choice, 1));
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){980, 3}, 0, &choice), 0);
    assert_true(has_genome(&choice, 2));
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){-3, 3}, 0, &choice),
                     EVOTILE_WISDOM_NO_KERNEL);
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){INT64_MAX, INT64_MAX}, 0, &choice),
                     EVOTILE_WISDOM_NO_KERNEL);
    evotile_wisdom_close(kernel);
    evotile_wisdom_free(wisdom);
}

/* Outside what was verified, a caller must ask for it. */
static void only_verified_shapes_are_served(void **state) {
    struct evotile_wisdom_choice choice;
    (void)state;
    make_file("narrow.wisdom", false);
    struct evotile_wisdom *wisdom = load("narrow.wisdom");
    struct evotile_wisdom_kernel *kernel = open_kernel(wisdom);
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){40, 5}, 0, &choice),
                     EVOTILE_WISDOM_UNVERIFIED);
    assert_int_equal(
        evotile_wisdom_pick(kernel, (int64_t[]){40, 5}, EVOTILE_WISDOM_TAKE_UNVERIFIED, &choice),
        0);
    assert_int_equal(choice.how, EVOTILE_WISDOM_NEAREST);
    assert_true(has_genome(&choice, 0));
    /* That one caller asked gives another one nothing. */
    assert_int_equal(
        evotile_wisdom_pick(kernel, (int64_t[]){40, 6}, EVOTILE_WISDOM_TAKE_UNVERIFIED, &choice),
        0);
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){40, 6}, 0, &choice),
                     EVOTILE_WISDOM_UNVERIFIED);
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){40, 64}, 0, &choice), 0);
    assert_true(has_genome(&choice, 1));
    evotile_wisdom_close(kernel);
    evotile_wisdom_free(wisdom);
}

static void the_nearest_device_is_named(void **state) {
    struct evotile_wisdom *wisdom = load("wide.wisdom");
    struct evotile_wisdom_kernel *kernel;
    struct evotile_wisdom_message message;
    int same;
    (void)state;
    static const struct {
        struct evotile_wisdom_device device;
        const char *of; /* NULL: none runs */
    } rows[] = {{{"NVIDIA H200", 9, 0, 132}, "NVIDIA H200"},
                {{"NVIDIA H200 NVL", 9, 0, 132}, "NVIDIA H200"},
                {{"NVIDIA H100 PCIe", 9, 0, 114}, "NVIDIA H100 PCIe"},
                {{"NVIDIA GH200", 9, 0, 116}, "NVIDIA H100 PCIe"},
                {{"NVIDIA L40S", 8, 9, 142}, "NVIDIA L4"},
                {{"NVIDIA A100", 8, 0, 108}, NULL},
                {{"NVIDIA B200", 10, 0, 148}, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int status = evotile_wisdom_open(&kernel, wisdom, &names, &rows[i].device, &message);
        assert_int_equal(status, rows[i].of != NULL ? 0 : EVOTILE_WISDOM_NO_DEVICE);
        if (rows[i].of == NULL) {
            assert_non_null(strstr(message.text, rows[i].device.name));
            continue;
        }
        assert_string_equal(evotile_wisdom_tuned_on(kernel, &same)->name, rows[i].of);
        assert_int_equal(same, strcmp(rows[i].of, rows[i].device.name) == 0);
        assert_int_equal(message.text[0] == '\0', same);
        evotile_wisdom_close(kernel);
    }
    evotile_wisdom_free(wisdom);
}

static void names_that_do_not_fit_are_refused(void **state) {
    struct evotile_wisdom *wisdom = load("wide.wisdom");
    struct evotile_wisdom_kernel *kernel;
    struct evotile_wisdom_message message;
    struct evotile_wisdom_choice choice;
    static const char *const only_rows[] = {"ROWS", NULL}, *const wrong[] = {"ROWS", "WIDTH", NULL},
                             *const twice[] = {"ROWS", "COLS", "ROWS", NULL},
                             *const no_x[] = {"q", NULL},
                             *const all[] = {"F32", "ROWS", "COLS", NULL};
    const struct {
        struct evotile_wisdom_names names;
        const char *says; /* NULL: fits */
    } rows[] = {
        {{"softmax_rows", only_rows, tensor_names, NULL}, "needs the dimension COLS"},
        {{"softmax_rows", wrong, tensor_names, NULL}, "no dimension WIDTH: name those of"},
        {{"softmax_rows", twice, tensor_names, NULL}, "only one dimension ROWS"},
        {{"softmax_rows", dimension_names, no_x, NULL}, "no tensor q: name those of x, y"},
        {{"softmax_rows", dimension_names, tensor_names, no_x}, "no scalar q"},
        {{"layer_norm", dimension_names, tensor_names, NULL}, "has no kernels of layer_norm"},
        {{"softmax_rows", all, NULL, NULL}, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int status = evotile_wisdom_open(&kernel, wisdom, &rows[i].names, &h200, &message);
        if (rows[i].says != NULL) {
            assert_int_equal(status, EVOTILE_WISDOM_NO_TEMPLATE);
            assert_non_null(strstr(message.text, rows[i].says));
            continue;
        }
        assert_int_equal(status, 0);
        assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){0, 4, 40}, 0, &choice), 0);
        assert_int_equal(choice.how, EVOTILE_WISDOM_EXACT);
        evotile_wisdom_close(kernel);
    }
    evotile_wisdom_free(wisdom);
}

/* A dimension of real numbers is passed, compared and printed as a float; its default is the
   template's. */
static void real_dimensions_are_floats(void **state) {
    static const char *const all[] = {"ROWS", "COLS", "EPSILON", NULL}, *const sizes[] = {
                                                                            "ROWS", "COLS", NULL};
    struct template *template =
        load_template("templates/layer_norm/rows", "[ { \"ROWS\": 3, \"COLS\": 64 } ]");
    const struct genome genome = genome_default(template->space);
    struct evotile_wisdom_message message;
    struct evotile_wisdom_choice choice;
    char text[512];
    (void)state;
    unlink(example_path("real.db"));
    struct wisdom_store *store = example_store("real.db", STORE_WRITE);
    example_put(store, template, &genome, 0, false, (struct wisdom_figure){.p50_us = 3});
    example_pack(store, "real.wisdom");
    wisdom_store_close(store);
    struct evotile_wisdom *wisdom = load("real.wisdom");
    for (int named = 0; named < 2; named++) {
        const struct evotile_wisdom_names with = {template->name, named ? all : sizes, NULL, NULL};
        struct evotile_wisdom_kernel *kernel;
        assert_int_equal(evotile_wisdom_open(&kernel, wisdom, &with, &h200, &message), 0);
        int64_t shape[] = {3, 64, evotile_wisdom_real(1e-5f)};
        assert_int_equal(evotile_wisdom_pick(kernel, shape, 0, &choice), 0);
        assert_int_equal(choice.how, EVOTILE_WISDOM_EXACT);
        evotile_wisdom_describe(&choice, text, sizeof text);
        assert_non_null(strstr(text, "EPSILON=1e-05"));
        shape[2] = evotile_wisdom_real(2e-5f);
        assert_int_equal(evotile_wisdom_pick(kernel, shape, 0, &choice),
                         named ? EVOTILE_WISDOM_UNVERIFIED : 0);
        shape[2] = evotile_wisdom_real(-1.0f);
        assert_int_equal(evotile_wisdom_pick(kernel, shape, 0, &choice),
                         named ? EVOTILE_WISDOM_NO_KERNEL : 0);
        evotile_wisdom_close(kernel);
    }
    evotile_wisdom_free(wisdom);
    template_free(template);
}

/* ---- calls ---- */

static void calls_that_do_not_fit_are_refused(void **state) {
    struct evotile_wisdom *wisdom = load("wide.wisdom");
    struct evotile_wisdom_kernel *kernel = open_kernel(wisdom);
    struct evotile_wisdom_choice choice;
    void *good[] = {(void *)0x1000, (void *)0x2000}, *odd[] = {(void *)0x1001, (void *)0x2000},
         *absent[] = {NULL, (void *)0x2000};
    (void)state;
    assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){40, 4}, 0, &choice), 0);
    stand_in = (struct stand_in){.context = 0};
    assert_int_equal(evotile_wisdom_launch(&choice, &(struct evotile_wisdom_call){.tensors = good}),
                     EVOTILE_WISDOM_NO_DRIVER);
    stand_in.context = 1;
    assert_int_equal(evotile_wisdom_launch(&choice, &(struct evotile_wisdom_call){.tensors = odd}),
                     EVOTILE_WISDOM_MISALIGNED);
    assert_int_equal(
        evotile_wisdom_launch(&choice, &(struct evotile_wisdom_call){.tensors = absent}),
        EVOTILE_WISDOM_NO_ARGUMENT);
    assert_int_equal(stand_in.loads, 0);
    stand_in.fail_with = CUDA_ERROR_LAUNCH_FAILED;
    assert_int_equal(evotile_wisdom_launch(&choice, &(struct evotile_wisdom_call){.tensors = good}),
                     CUDA_ERROR_LAUNCH_FAILED);
    assert_string_equal(evotile_wisdom_status_text(CUDA_ERROR_LAUNCH_FAILED),
                        "unspecified launch failure");
    stand_in.fail_with = 0;
    assert_int_equal(evotile_wisdom_launch(&choice, &(struct evotile_wisdom_call){.tensors = good}),
                     0);
    assert_int_equal(stand_in.loads, 1);
    assert_int_equal(stand_in_mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    evotile_wisdom_close(kernel);
    assert_int_equal(stand_in.unloads, 1);
    evotile_wisdom_free(wisdom);
}

enum { THREADS = 4, LAUNCHES_EACH = 200 };

static void *launch_many(void *kernel) {
    struct evotile_wisdom_choice choice;
    void *tensors[] = {(void *)0x1000, (void *)0x2000};
    for (int i = 0; i < LAUNCHES_EACH; i++)
        if (evotile_wisdom_pick(kernel, (int64_t[]){40, i % 2 ? 4 : 64}, 0, &choice) != 0 ||
            evotile_wisdom_launch(&choice, &(struct evotile_wisdom_call){.tensors = tensors}) != 0)
            return kernel;
    return NULL;
}

/* ---- picks that are kept ---- */

enum { PICKED = 24000 }; /* more than are kept */

struct picked {
    int64_t shape[2];
    unsigned flags;
    int status;
    struct evotile_wisdom_choice choice;
};

/* Shapes of every kind: tuned, between, unverified, of no kernel; with both flags. */
static struct picked *draw_picks(const struct evotile_wisdom_kernel *kernel) {
    static const int64_t odd[] = {0, -3, INT64_MIN, INT64_MAX, INT64_C(1) << 32};
    struct picked *picks = xcalloc(PICKED, sizeof *picks);
    struct random random;
    random_seed(&random, 26, 2);
    for (int i = 0; i < PICKED; i++) {
        for (int d = 0; d < 2; d++)
            picks[i].shape[d] = random_below(&random, 50) == 0
                                    ? odd[random_below(&random, 5)]
                                    : (int64_t)random_below(&random, d == 0 ? 1100 : 70);
        picks[i].flags = random_below(&random, 4) == 0 ? EVOTILE_WISDOM_TAKE_UNVERIFIED : 0;
        picks[i].status =
            evotile_wisdom_pick(kernel, picks[i].shape, picks[i].flags, &picks[i].choice);
    }
    return picks;
}

static bool is_same_pick(const struct evotile_wisdom_kernel *kernel, const struct picked *picked) {
    const struct evotile_wisdom_choice *a = &picked->choice;
    struct evotile_wisdom_choice b;
    const int status = evotile_wisdom_pick(kernel, picked->shape, picked->flags, &b);
    if (status != 0 || picked->status != 0)
        return status == picked->status;
    return b.kernel == kernel && a->entry == b.entry && a->how == b.how &&
           a->predicted == b.predicted && a->p50_us == b.p50_us &&
           memcmp(a->shape, b.shape, 3 * sizeof *a->shape) == 0;
}

/* A kernel that was just opened says of each pick by itself what another one says after all. */
static void the_same_pick_is_the_same_again(void **state) {
    (void)state;
    for (int file = 0; file < 2; file++) {
        struct evotile_wisdom *wisdom = load(file == 0 ? "wide.wisdom" : "narrow.wisdom");
        struct evotile_wisdom_kernel *kernel = open_kernel(wisdom);
        struct picked *picks = draw_picks(kernel);
        int served = 0;
        for (int i = 0; i < PICKED; i++) {
            assert_true(is_same_pick(kernel, &picks[i]));
            served += picks[i].status == 0;
        }
        assert_in_range(served, PICKED / 10, PICKED * 99 / 100);
        for (int i = 0; i < PICKED; i += 97) {
            struct evotile_wisdom_kernel *fresh = open_kernel(wisdom);
            assert_true(is_same_pick(fresh, &picks[i]));
            evotile_wisdom_close(fresh);
        }
        free(picks);
        evotile_wisdom_close(kernel);
        evotile_wisdom_free(wisdom);
    }
}

struct pick_work {
    const struct evotile_wisdom_kernel *kernel;
    const struct picked *picks;
    int step;
};

/* In an order of its own: the step has no divisor in common with their number. */
static void *pick_many(void *of) {
    const struct pick_work *work = of;
    for (int i = 0, at = 0; i < PICKED; i++, at = (at + work->step) % PICKED)
        if (!is_same_pick(work->kernel, &work->picks[at]))
            return of;
    return NULL;
}

static void threads_keep_picks_at_once(void **state) {
    static const int steps[THREADS] = {1, PICKED - 1, 7, 7};
    struct evotile_wisdom *wisdom = load("wide.wisdom");
    struct evotile_wisdom_kernel *alone = open_kernel(wisdom), *shared = open_kernel(wisdom);
    struct picked *picks = draw_picks(alone);
    struct pick_work work[THREADS];
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct pick_work){shared, picks, steps[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, pick_many, &work[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    free(picks);
    evotile_wisdom_close(alone);
    evotile_wisdom_close(shared);
    evotile_wisdom_free(wisdom);
}

/* In a stream capture too, each machine code is loaded once. */
static void threads_share_a_kernel(void **state) {
    struct evotile_wisdom *wisdom = load("wide.wisdom");
    struct evotile_wisdom_kernel *kernel = open_kernel(wisdom);
    pthread_t threads[THREADS];
    (void)state;
    stand_in = (struct stand_in){.context = 1, .capturing = 1};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, kernel), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(stand_in.loads, 2);
    assert_int_equal(stand_in.launches, THREADS * LAUNCHES_EACH);
    evotile_wisdom_close(kernel);
    evotile_wisdom_free(wisdom);
}

/* ---- files ---- */

static char *bytes;
static size_t size;

static void read_good(void) {
    struct error error = {0};
    bytes = path_read_file(example_path("wide.wisdom"), 1 << 24, &size, &error);
    assert_non_null(bytes);
}

/* Loads a file of these bytes, and launches with it as far as that goes. Returns the first status
   that is not 0. */
static int use_file(const char *of, size_t count, struct evotile_wisdom_message *message) {
    struct evotile_wisdom *wisdom;
    struct evotile_wisdom_kernel *kernel;
    struct evotile_wisdom_choice choice;
    struct error error = {0};
    void *tensors[] = {(void *)0x1000, (void *)0x2000};
    assert_int_equal(path_write_unsynced(example_path("bad.wisdom"), of, count, &error), 0);
    int status = evotile_wisdom_load(&wisdom, example_path("bad.wisdom"), message);
    if (status != 0)
        return status;
    status = evotile_wisdom_open(&kernel, wisdom, &names, &h200, message);
    for (int rows = 4; rows <= 64 && status == 0; rows += 60) {
        for (int columns = 40; columns <= 1000 && status == 0; columns += 960) {
            status = evotile_wisdom_pick(kernel, (int64_t[]){columns, rows}, 0, &choice);
            if (status == 0)
                status = evotile_wisdom_launch(&choice,
                                               &(struct evotile_wisdom_call){.tensors = tensors});
        }
        if (status != 0)
            break;
    }
    evotile_wisdom_close(kernel);
    evotile_wisdom_free(wisdom);
    return status;
}

static void is_one_line(const struct evotile_wisdom_message *message) {
    assert_true(message->text[0] != '\0' && strchr(message->text, '\n') == NULL &&
                strlen(message->text) < sizeof message->text - 1);
}

static void cut_files_are_refused(void **state) {
    struct evotile_wisdom_message message;
    (void)state;
    read_good();
    stand_in = (struct stand_in){.context = 1};
    const size_t step = getenv("EVOTILE_LONG") != NULL ? 1 : 97;
    for (size_t count = 0; count < size; count += count < 512 ? 7 : step) {
        assert_int_equal(use_file(bytes, count, &message), EVOTILE_WISDOM_BAD_FILE);
        is_one_line(&message);
    }
    free(bytes);
}

/* Wherever a byte changes, what it is of is not used. A code that no launch here needs may pass. */
static void changed_files_are_refused(void **state) {
    struct evotile_wisdom_message message;
    struct random random;
    (void)state;
    read_good();
    random_seed(&random, 26, 1);
    const uint64_t index = ((struct wisdom_header *)bytes)->index_bytes;
    int passed = 0;
    for (int i = 0; i < 400; i++) {
        const size_t at = random_below(&random, i % 2 ? index : size);
        const char was = bytes[at];
        bytes[at] = (char)(was ^ (1 << random_below(&random, 8)));
        const int status = use_file(bytes, size, &message);
        if (at < index)
            assert_int_equal(status, EVOTILE_WISDOM_BAD_FILE);
        passed += status == 0;
        bytes[at] = was;
    }
    assert_true(passed < 60);
    assert_int_equal(use_file(bytes, size, &message), 0);
    free(bytes);
}

/* Of the codes, only that of another architecture is not used here. */
static void changed_codes_are_refused(void **state) {
    struct evotile_wisdom_message message;
    (void)state;
    read_good();
    const struct wisdom_header *header = (struct wisdom_header *)bytes;
    const struct wisdom_code *codes =
        (struct wisdom_code *)(bytes + header->sections[WISDOM_CODES].offset);
    for (int of_machine_code = 0; of_machine_code < 2; of_machine_code++) {
        int passed = 0, machines = 0;
        for (uint64_t i = 0; i < header->sections[WISDOM_CODES].count; i++) {
            const struct wisdom_program *program =
                (struct wisdom_program *)(bytes + codes[i].offset);
            char *last = bytes + codes[i].offset + codes[i].bytes - 1;
            if (of_machine_code && program->cubin_bytes == 0)
                continue;
            last -= of_machine_code ? 0 : program->cubin_bytes;
            *last ^= 1;
            passed += use_file(bytes, size, &message) == 0;
            machines++;
            *last ^= 1;
        }
        assert_int_equal(machines, of_machine_code ? 4 : 5);
        assert_int_equal(passed, 1);
    }
    free(bytes);
}

/* The figure of a shape is the fastest that was measured; a faster prediction does not replace it,
   and a figure that gate found stale is not packed. */
static void the_best_measured_kernel_is_packed(void **state) {
    struct template *template = load_rows("[ { \"ROWS\": 4, \"COLS\": 40 } ]");
    struct evotile_wisdom_choice choice;
    struct wisdom_figures figures;
    struct error error = {0};
    (void)state;
    unlink(example_path("best.db"));
    struct wisdom_store *store = example_store("best.db", STORE_WRITE);
    for (int g = 0; g < 3; g++) {
        const struct genome genome = genome_of(template, genomes[g]);
        example_put(store, template, &genome, 0, true,
                    (struct wisdom_figure){.p50_us = 3 - g, .predicted = g == 2});
    }
    for (int stale = 0; stale < 2; stale++) {
        example_pack(store, "best.wisdom");
        struct evotile_wisdom *wisdom = load("best.wisdom");
        struct evotile_wisdom_kernel *kernel = open_kernel(wisdom);
        assert_int_equal(evotile_wisdom_pick(kernel, (int64_t[]){40, 4}, 0, &choice), 0);
        assert_true(has_genome(&choice, stale ? 0 : 1) && !choice.predicted);
        evotile_wisdom_close(kernel);
        evotile_wisdom_free(wisdom);
        assert_int_equal(wisdom_store_read(store, &figures, &error), 0);
        for (int i = 0; i < figures.count; i++)
            if (strstr(figures.items[i].genome, genomes[1]) != NULL)
                assert_int_equal(
                    wisdom_store_mark(store, figures.items[i].id, "wrong", "580.1", 0, &error), 0);
        wisdom_figures_release(&figures);
    }
    wisdom_store_close(store);
    template_free(template);
}

static void seal(char *file) {
    struct wisdom_header *header = (struct wisdom_header *)file;
    memset(header->digest, 0, sizeof header->digest);
    digest_bytes(file, header->index_bytes, header->digest);
}

static void *section(char *file, enum wisdom_section which) {
    return file + ((struct wisdom_header *)file)->sections[which].offset;
}

/* Files whose digest is right, and which lie about what is in them. */
static void lying_files_are_refused(void **state) {
    struct evotile_wisdom_message message;
    (void)state;
    read_good();
    char *file = xmalloc(size);
    for (int lie = 0; lie < 23; lie++) {
        memcpy(file, bytes, size);
        struct wisdom_header *header = (struct wisdom_header *)file;
        struct wisdom_group *group = section(file, WISDOM_GROUPS);
        struct wisdom_entry *entry = section(file, WISDOM_ENTRIES);
        struct wisdom_node *node = section(file, WISDOM_NODES);
        struct wisdom_code *code = section(file, WISDOM_CODES);
        struct wisdom_template *template = section(file, WISDOM_TEMPLATES);
        switch (lie) {
        case 0:
            header->sections[WISDOM_NODES].offset = header->sections[WISDOM_ENTRIES].offset;
            break;
        case 1:
            header->sections[WISDOM_VALUES].count = UINT64_MAX / 8 + 2;
            break;
        case 2:
            header->sections[WISDOM_ENTRIES].count--;
            break;
        case 3:
            header->sections[WISDOM_CODES].offset = UINT64_MAX - 7;
            break;
        case 4:
            code[1].offset = code[0].offset;
            break;
        case 5:
            code[0].bytes = UINT64_MAX - 15;
            break;
        case 6:
            code[header->sections[WISDOM_CODES].count - 1].bytes += 16;
            break;
        case 7:
            entry->code = (uint32_t)header->sections[WISDOM_CODES].count;
            break;
        case 8:
            entry->genome = (uint32_t)header->sections[WISDOM_TEXT].count;
            break;
        case 9:
            entry->genome = 3; /* the middle of a text */
            break;
        case 10:
            entry->p50_us = -1;
            break;
        case 11:
            group->entry_count = UINT32_MAX;
            break;
        case 12:
            group->first_value = 3;
            break;
        case 13:
            group->template_index = 7;
            break;
        case 14:
            template->code = UINT32_MAX;
            break;
        case 15:
            ((char *)section(file, WISDOM_TEXT))[header->sections[WISDOM_TEXT].count - 1] = 'x';
            break;
        case 16:
            memcpy((int64_t *)section(file, WISDOM_VALUES) + group[1].first_value,
                   (int64_t *)section(file, WISDOM_VALUES) + group[1].first_value + 9,
                   3 * sizeof(int64_t));
            break; /* two entries of one shape; the second device has six */
        case 17:
            for (uint64_t n = 0; n < header->sections[WISDOM_NODES].count; n++)
                node[n].then = 0; /* a walk that never ends */
            break;
        case 18:
            for (uint64_t n = 0; n < header->sections[WISDOM_NODES].count; n++)
                node[n].factors[0] = 24;
            break;
        case 19:
            for (uint64_t n = 0; n < header->sections[WISDOM_NODES].count; n++)
                node[n].order_count = UINT32_MAX;
            break;
        case 20:
            ((uint32_t *)section(file, WISDOM_ORDERS))[0] = 6; /* the group has six entries */
            break;
        case 21:
            header->index_bytes = 8;
            break;
        case 22:
            ((struct wisdom_device *)section(file, WISDOM_DEVICES))->major = 1 << 30;
            break;
        }
        if (lie != 21)
            seal(file);
        if (use_file(file, size, &message) != EVOTILE_WISDOM_BAD_FILE)
            fail_msg("lie %d is believed", lie);
        is_one_line(&message);
    }
    free(file);
    free(bytes);
}

static void foreign_files_are_refused(void **state) {
    struct evotile_wisdom_message message;
    struct evotile_wisdom *wisdom;
    (void)state;
    read_good();
    struct wisdom_header *header = (struct wisdom_header *)bytes;
    header->version = 2;
    assert_int_equal(use_file(bytes, size, &message), EVOTILE_WISDOM_BAD_FILE);
    assert_non_null(strstr(message.text, "has version 2, and this library reads version 1"));
    header->version = 1;
    header->byte_order = 0x04030201;
    assert_int_equal(use_file(bytes, size, &message), EVOTILE_WISDOM_BAD_FILE);
    assert_non_null(strstr(message.text, "another byte order"));
    assert_int_equal(use_file("SQLite format 3", 16, &message), EVOTILE_WISDOM_BAD_FILE);
    assert_non_null(strstr(message.text, "is no wisdom file"));
    assert_int_equal(use_file("", 0, &message), EVOTILE_WISDOM_BAD_FILE);
    assert_non_null(strstr(message.text, "is empty"));
    assert_int_equal(symlink("wide.wisdom", example_path("link")), 0);
    assert_int_equal(mkfifo(example_path("pipe"), 0600), 0);
    static const char *const others[] = {"link", "pipe", ".", "nowhere"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(evotile_wisdom_load(&wisdom, example_path(others[i]), &message),
                         EVOTILE_WISDOM_BAD_FILE);
        assert_null(wisdom);
        assert_non_null(strstr(message.text, "cannot read "));
        is_one_line(&message);
        assert_int_equal(evotile_wisdom_load(&wisdom, example_path(others[i]), NULL),
                         EVOTILE_WISDOM_BAD_FILE);
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_get_their_kernels),
        cmocka_unit_test(only_verified_shapes_are_served),
        cmocka_unit_test(the_nearest_device_is_named),
        cmocka_unit_test(names_that_do_not_fit_are_refused),
        cmocka_unit_test(real_dimensions_are_floats),
        cmocka_unit_test(calls_that_do_not_fit_are_refused),
        cmocka_unit_test(the_same_pick_is_the_same_again),
        cmocka_unit_test(threads_keep_picks_at_once),
        cmocka_unit_test(threads_share_a_kernel),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(changed_files_are_refused),
        cmocka_unit_test(changed_codes_are_refused),
        cmocka_unit_test(the_best_measured_kernel_is_packed),
        cmocka_unit_test(lying_files_are_refused),
        cmocka_unit_test(foreign_files_are_refused),
    };
    return cmocka_run_group_tests(tests, example_setup, example_teardown);
}
