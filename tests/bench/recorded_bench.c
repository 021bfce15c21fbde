/* Speed of reading a recorded space: a Kernel Tuner cache of 200 MB (uncompressed, 32 samples per
   row), plain and gzip; compared with cJSON parsing the same text. */
#include <cjson/cJSON.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/random.h"
#include "device/recorded.h"

enum { GENES = 8, VALUES = 8, SAMPLES = 32, MEGABYTE = 1000000, SIZE_MB = 200 };

/* Writes a cache of about `room` bytes; the buffer must have room for one more row. */
static size_t write_cache(char *text, size_t room) {
    struct random random;
    size_t used = 0;
    random_seed(&random, 1, 0);
    used += (size_t)sprintf(text, "{\n\"device_name\": \"bench\",\n\"kernel_name\": \"bench\",\n"
                                  "\"tune_params_keys\": [");
    for (int gene = 0; gene < GENES; gene++)
        used += (size_t)sprintf(text + used, "%s\"parameter_%d\"", gene > 0 ? ", " : "", gene);
    used += (size_t)sprintf(text + used, "],\n\"cache\": {\n");
    for (unsigned row = 0; used < room - 4096; row++) {
        used += (size_t)sprintf(text + used, "%s\"%u\": {", row > 0 ? ",\n" : "", row);
        for (int gene = 0; gene < GENES; gene++)
            used += (size_t)sprintf(text + used, "\"parameter_%d\": %u, ", gene,
                                    1 << (row >> 3 * gene & 7));
        used += (size_t)sprintf(text + used, "\"time\": %.17g, \"times\": [",
                                1 + random_uniform(&random));
        for (int i = 0; i < SAMPLES; i++)
            used += (size_t)sprintf(text + used, "%s%.16g", i > 0 ? ", " : "",
                                    1 + random_uniform(&random));
        used += (size_t)sprintf(text + used,
                                "], \"compile_time\": %.17g, \"verification_time\": 0, "
                                "\"benchmark_time\": %.17g, \"strategy_time\": 0, "
                                "\"timestamp\": \"2023-06-26 23:16:17.515623+00:00\"}",
                                500 + random_uniform(&random), 900 + random_uniform(&random));
    }
    return used + (size_t)sprintf(text + used, "}\n}\n");
}

static void time_reading(const char *what, const char *path, size_t size) {
    struct error error = {0};
    clock_t processor = clock();
    double start = clock_seconds();
    struct recorded *recorded = recorded_read(path, &error);
    double seconds = clock_seconds() - start;
    double worked = (double)(clock() - processor) / CLOCKS_PER_SEC;
    if (recorded == NULL)
        BUG("%s", error.text);
    printf("%-8s %5.2f s, CPU time %5.2f s: %4.0f MB/s, %lld rows\n", what, seconds, worked,
           (double)size / MEGABYTE / worked, (long long)recorded->row_count);
    recorded_free(recorded);
}

int main(void) {
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    char plain[PATH_SIZE];
    char packed[PATH_SIZE + 3];
    struct error error = {0};
    size_t room = (size_t)SIZE_MB * MEGABYTE + 4096;
    char *text = malloc(room + 4096);
    if (text == NULL)
        BUG("out of memory");
    size_t size = write_cache(text, room);
    snprintf(plain, sizeof plain, "%s/recorded_bench.%d.json", temporary, (int)getpid());
    snprintf(packed, sizeof packed, "%s.gz", plain);
    gzFile out = gzopen(packed, "wb1");
    if (path_write_file(plain, text, size, &error) < 0 || out == NULL ||
        gzwrite(out, text, (unsigned)size) != (int)size || gzclose(out) != Z_OK)
        BUG("cannot write %s: %s", plain, error.text);
    printf("a Kernel Tuner cache of %zu MB\n", size / MEGABYTE);
    time_reading("plain", plain, size);
    time_reading("gzip", packed, size);
    clock_t processor = clock();
    cJSON *root = cJSON_ParseWithLength(text, size);
    printf("cJSON    parsing the uncompressed text: CPU time %5.2f s\n",
           (double)(clock() - processor) / CLOCKS_PER_SEC);
    cJSON_Delete(root);
    free(text);
    unlink(plain);
    unlink(packed);
    return 0;
}
