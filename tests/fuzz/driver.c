/*
 * driver: runs a fuzz target without libFuzzer, so that `make check` needs only gcc. It accepts the
 * libFuzzer options that tests/run_fuzz passes, runs every seed unchanged, then simple mutations of
 * them: flipped bits; removed, duplicated, moved and spliced pieces; interesting numbers and words
 * of JSON. It has no coverage feedback, which `make fuzz-coverage` has.
 *
 *     NAME_fuzz -runs=20000 -artifact_prefix=build/crash- SEEDS_FOLDER
 *
 * UNIT_RUNS inputs are a unit (long/units.h), whose number seeds them: processes share the work,
 * and with LONG_STATE a second call goes on where the first was stopped. The current input of a
 * process is in the file PREFIXinput-PID, which is removed at the end: if the file remains, its
 * content crashed the target or, after -timeout seconds, hung it.
 */
#include "long/units.h"

#include <dirent.h>
#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 16, SEEDS_MAX = 1024, UNIT_RUNS = 500 };

struct input {
    size_t size;
    uint8_t bytes[INPUT_MAX];
};

static uint64_t state;

/* xorshift64*: quality is irrelevant, but the sequence must be reproducible. */
static size_t below(size_t bound) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (size_t)((state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % (bound > 0 ? bound : 1);
}

static void insert(struct input *input, size_t at, const uint8_t *bytes, size_t count) {
    if (input->size + count > INPUT_MAX)
        return;
    memmove(input->bytes + at + count, input->bytes + at, input->size - at);
    memcpy(input->bytes + at, bytes, count);
    input->size += count;
}

static void erase(struct input *input, size_t at, size_t count) {
    memmove(input->bytes + at, input->bytes + at + count, input->size - at - count);
    input->size -= count;
}

/* A page of a database or of machine code that moves is only garbage. */
static void mutate_in_place(struct input *input) {
    size_t at = below(input->size);
    switch (below(4)) {
    case 0:
        input->bytes[at] ^= (uint8_t)(1 << below(8));
        break;
    case 1:
        input->bytes[at] = (uint8_t)below(256);
        break;
    case 2:
        memset(input->bytes + at, below(2) == 0 ? 0 : 0xff, 1 + below(8) % (input->size - at));
        break;
    default: {
        size_t from = below(input->size), longest = input->size - (from > at ? from : at);
        memmove(input->bytes + at, input->bytes + from, 1 + below(longest < 64 ? longest : 64));
    }
    }
}

static void mutate(struct input *input, const struct input *other) {
    static const char *const words[] = {"0",
                                        "-1",
                                        "1e999",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "4294967296",
                                        "\"",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "null",
                                        "/",
                                        "//",
                                        "/*",
                                        "*/",
                                        "true",
                                        "\\u0000",
                                        "(",
                                        ")",
                                        " % ",
                                        " / ",
                                        "?",
                                        "-",
                                        "\xff",
                                        "\n"};
    uint8_t piece[64];
    size_t at = below(input->size + 1);
    size_t left = input->size - at;
    size_t count = below(left < sizeof piece ? left + 1 : sizeof piece);
    switch (below(7)) {
    case 0:
        if (left > 0)
            input->bytes[at] ^= (uint8_t)(1 << below(8));
        break;
    case 1:
        if (left > 0)
            input->bytes[at] = (uint8_t)below(256);
        break;
    case 2:
        erase(input, at, count);
        break;
    case 3: /* duplicated elsewhere */
        memcpy(piece, input->bytes + at, count);
        insert(input, below(input->size + 1), piece, count);
        break;
    case 4:
    case 5: {
        const char *word = words[below(sizeof words / sizeof *words)];
        if (below(2) == 0)
            erase(input, at, below(left < 8 ? left + 1 : 8));
        insert(input, at, (const uint8_t *)word, strlen(word));
        break;
    }
    default: /* a piece of another seed */
        if (other->size > 0) {
            size_t from = below(other->size);
            size_t most = other->size - from < sizeof piece ? other->size - from : sizeof piece;
            insert(input, at, other->bytes + from, below(most + 1));
        }
    }
}

static int read_seeds(const char *folder, struct input *seeds) {
    int count = 0;
    DIR *directory = opendir(folder);
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL && count < SEEDS_MAX) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (file == NULL)
            continue;
        seeds[count].size = fread(seeds[count].bytes, 1, INPUT_MAX, file);
        fclose(file);
        count++;
    }
    if (directory != NULL)
        closedir(directory);
    return count;
}

/* The input is in a mapped file, so that it survives a crash of the process. */
static uint8_t *map_input(const char *path) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    uint8_t *map = MAP_FAILED;
    if (descriptor >= 0 && ftruncate(descriptor, INPUT_MAX) == 0)
        map = mmap(NULL, INPUT_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (map == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    close(descriptor);
    return map;
}

/* ---- running ---- */

struct driver {
    struct input seeds[SEEDS_MAX], input;
    int seed_count;
    unsigned timeout;
    char prefix[4096];
    uint8_t *map; /* the file with the input */
};

static void run(struct driver *driver) {
    const struct input *input = &driver->input;
    /* A copy of the exact size, so that the sanitizer detects a read past its end. */
    uint8_t *copy = malloc(input->size > 0 ? input->size : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, input->bytes, input->size);
    memcpy(driver->map, input->bytes, input->size);
    memset(driver->map + input->size, 0, INPUT_MAX - input->size);
    alarm(driver->timeout);
    LLVMFuzzerTestOneInput(copy, input->size);
    alarm(0);
    free(copy);
}

static char input_path[4200];

static void remove_input(void) {
    unlink(input_path);
}

static void open_input(void *context) {
    struct driver *driver = context;
    snprintf(input_path, sizeof input_path, "%sinput-%d", driver->prefix, (int)getpid());
    driver->map = map_input(input_path);
    atexit(remove_input);
}

static bool run_unit(void *context, int unit, struct unit_result *result) {
    struct driver *driver = context;
    const struct input *seeds = driver->seeds;
    size_t count = (size_t)driver->seed_count;
    state = (uint64_t)unit * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int s = 0; unit == 0 && s < driver->seed_count; s++) {
        driver->input = seeds[s];
        run(driver);
    }
    for (int r = 0; r < UNIT_RUNS; r++) {
        const struct input *seed = &seeds[below(count)];
        bool in_place = memchr(seed->bytes, '\0', seed->size) != NULL && below(8) > 0;
        driver->input = *seed;
        for (size_t left = 1 + below(6); left > 0; left--)
            if (in_place)
                mutate_in_place(&driver->input);
            else
                mutate(&driver->input, &seeds[below(count)]);
        run(driver);
    }
    result->done = UNIT_RUNS;
    result->mark = (uint64_t)unit;
    return true;
}

int main(int argc, char **argv) {
    static struct driver driver; /* not initialised here: its 64 MB would be in the program */
    const char *name = strrchr(argv[0], '/');
    int64_t runs = 20000;
    driver.timeout = 20;
    strcpy(driver.prefix, "crash-");
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "-runs=", 6) == 0)
            runs = atol(argv[i] + 6);
        else if (strncmp(argv[i], "-timeout=", 9) == 0)
            driver.timeout = (unsigned)atoi(argv[i] + 9);
        else if (strncmp(argv[i], "-artifact_prefix=", 17) == 0)
            snprintf(driver.prefix, sizeof driver.prefix, "%s", argv[i] + 17);
        else if (argv[i][0] != '-')
            driver.seed_count = read_seeds(argv[i], driver.seeds);
    const struct units work = {.name = name != NULL ? name + 1 : argv[0],
                               .count = (int)((runs + UNIT_RUNS - 1) / UNIT_RUNS),
                               .each = UNIT_RUNS,
                               .context = &driver,
                               .open = open_input,
                               .run = run_unit};
    const struct units_total total = units_run(&work);
    printf("%ld mutations, %d crashes or hangs\n", total.done, total.lost);
    return total.lost == 0 && total.units == work.count ? 0 : 1;
}
