/* Adds the kernels of an exported folder to a store. */
#include "base/log.h"
#include "base/memory.h"
#include "base/signature.h"
#include "base/statistics.h"
#include "device/device.h"
#include "device/kernel_names.h"
#include "export/export.h"
#include "wisdom/program.h"
#include "wisdom/wisdom.h"

#include <string.h>
#include <sys/stat.h>

enum { CUBIN_BYTES_MAX = 64 << 20 };

struct addition {
    struct wisdom_store *store;
    const char *folder;
    const struct wisdom_names *names;
    struct wisdom_counts *counts;
    struct manifest manifest;
    struct device_info device;
    int64_t written_at; /* of the manifest */
    struct shape shapes[CASES_MAX];
    struct template *templates[CASES_MAX];   /* by variant; variants of one solution share one */
    char codes[CASES_MAX][DIGEST_TEXT_SIZE]; /* by variant */
};

/* ---- the manifest ---- */

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const cJSON *member(const struct addition *it, const char *list, int index) {
    const cJSON *root = json_root(&it->manifest.document).value;
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, list), index);
}

/* The attributes that a template's expressions may read. */
static int read_device(struct addition *it, struct error *error) {
    const cJSON *root = json_root(&it->manifest.document).value;
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(root, "device");
    struct device_info *device = &it->device;
    *device =
        (struct device_info){.compute_capability = (int)number_of(from, "compute_capability"),
                             .sm_count = (int)number_of(from, "sm_count"),
                             .smem_per_block_optin = (int)number_of(from, "smem_per_block_optin"),
                             .smem_per_sm = (int)number_of(from, "smem_per_sm"),
                             .registers_per_sm = (int)number_of(from, "registers_per_sm"),
                             .threads_per_sm = (int)number_of(from, "threads_per_sm"),
                             .clusters_of_2 = (int)number_of(from, "clusters_of_2"),
                             .clusters_of_4 = (int)number_of(from, "clusters_of_4"),
                             .clusters_of_8 = (int)number_of(from, "clusters_of_8"),
                             .predicts = it->manifest.predicted};
    snprintf(device->name, sizeof device->name, "%s", text_of(from, "name"));
    snprintf(device->driver, sizeof device->driver, "%s", text_of(from, "driver"));
    snprintf(device->spec, sizeof device->spec, "%s", text_of(from, "spec"));
    if (device->compute_capability < 10 || device->sm_count < 1)
        return error_input(error,
                           "%s/manifest.json does not say what its device is: export the run again",
                           it->folder);
    return 0;
}

static int verify_folder(struct addition *it, struct error *error) {
    struct strbuf changes = {0};
    bool whole;
    struct stat status;
    char path[PATH_SIZE];
    int result = manifest_verify(&it->manifest, it->folder, &changes, &whole, error);
    if (result == 0 && changes.used > 0)
        result =
            error_refuse(error, "%s is not what was exported: %.900s: restore it, or export again",
                         it->folder, changes.bytes);
    if (result == 0 && path_join(path, it->folder, "manifest.json", error) < 0)
        result = -1;
    if (result == 0 && stat(path, &status) == 0)
        it->written_at = status.st_mtime;
    strbuf_release(&changes);
    return result;
}

/* ---- templates ---- */

static int read_shapes(struct addition *it, struct error *error) {
    /* An export has the solutions of its kernels alone, which the problem's default need not be. */
    const struct template_setting bare = {.solution = it->manifest.variants[0].solution};
    struct template *dimensions = template_load(it->manifest.template_folder, &bare, error);
    int status = dimensions != NULL ? 0 : -1;
    for (int c = 0; c < it->manifest.case_count && status == 0; c++)
        status = template_read_shape(dimensions, &it->manifest.cases[c].shape, NULL, &it->shapes[c],
                                     error);
    template_free(dimensions);
    return status;
}

static int load_templates(struct addition *it, struct error *error) {
    for (int v = 0; v < it->manifest.variant_count; v++) {
        const char *solution = it->manifest.variants[v].solution;
        const struct template_setting setting = {.solution = solution,
                                                 .device = &it->device,
                                                 .smem_limit = it->manifest.smem_limit,
                                                 .cases = it->shapes,
                                                 .case_count = it->manifest.case_count};
        for (int w = 0; w < v && it->templates[v] == NULL; w++)
            if (solution == NULL || strcmp(solution, it->manifest.variants[w].solution) == 0)
                it->templates[v] = it->templates[w];
        if (it->templates[v] == NULL)
            it->templates[v] = template_load(it->manifest.template_folder, &setting, error);
        if (it->templates[v] == NULL)
            return -1;
    }
    return 0;
}

static void free_templates(struct addition *it) {
    for (int v = 0; v < it->manifest.variant_count; v++) {
        bool shared = false;
        for (int w = 0; w < v; w++)
            shared = shared || it->templates[w] == it->templates[v];
        if (!shared)
            template_free(it->templates[v]);
    }
}

/* ---- codes ---- */

/* The first case of a variant, for which it was compiled. */
static int first_case(const struct addition *it, int variant) {
    for (int c = 0; c < it->manifest.case_count; c++)
        if (it->manifest.cases[c].variant == variant)
            return c;
    return -1;
}

/* Whether only a compiler knows what the machine code calls one of its kernels. */
static bool needs_compiler(const struct template *template) {
    for (int l = 0; l < template->launches.count; l++)
        if (kernel_is_expression(template->launches.launches[l].kernel))
            return true;
    return false;
}

static int write_code(struct addition *it, int variant, const void *cubin, size_t size,
                      struct strbuf *code, struct error *error) {
    const struct template *template = it->templates[variant];
    const int first = first_case(it, variant);
    struct genome genome;
    char *names = NULL;
    if (genome_parse(&genome, template->space, it->manifest.variants[variant].genome, error) < 0)
        return -1;
    if (needs_compiler(template) &&
        it->names->compile(it->names->context, template, &genome, first, &names, error) < 0)
        return -1;
    const struct program_source source = {.template = template,
                                          .genome = &genome,
                                          .case_index = first,
                                          .kernels = names,
                                          .cubin = cubin,
                                          .cubin_bytes = size};
    const int status = program_write(&source, code, error);
    free(names);
    return status;
}

static int put_code(struct addition *it, int variant, struct error *error) {
    char path[PATH_SIZE], hash[HASH_TEXT_SIZE];
    size_t size;
    struct strbuf code = {0}, interface = {0};
    const struct template *template = it->templates[variant];
    if (first_case(it, variant) < 0)
        return 0;
    if (path_join(path, it->folder, it->manifest.variants[variant].cubin, error) < 0)
        return -1;
    char *cubin = path_read_file(path, CUBIN_BYTES_MAX, &size, error);
    int status = cubin != NULL ? write_code(it, variant, cubin, size, &code, error) : -1;
    if (status == 0) {
        digest_print(code.bytes, code.used, it->codes[variant]);
        status = wisdom_store_put_code(it->store, WISDOM_CODES_TABLE, it->codes[variant], "",
                                       code.bytes, code.used, error);
    }
    if (status == 0)
        status = program_write_template(template, &interface, error);
    if (status == 0)
        status = wisdom_store_put_code(it->store, WISDOM_TEMPLATES_TABLE,
                                       hash_print(template->hash, hash), template->name,
                                       interface.bytes, interface.used, error);
    free(cubin);
    strbuf_release(&code);
    strbuf_release(&interface);
    return status;
}

/* ---- figures ---- */

/* Reads "1 to 8", or of a real dimension "0.25 to 1": bits of floats that are not negative have
   their order. Returns whether the value is within. */
static bool read_range(const char *text, bool real, int64_t value, int64_t *least, int64_t *most) {
    long long from, to;
    float ends[2];
    if (!real && sscanf(text, "%lld to %lld", &from, &to) == 2) {
        *least = from;
        *most = to;
    } else if (real && sscanf(text, "%f to %f", &ends[0], &ends[1]) == 2 && ends[0] >= 0) {
        uint32_t bits[2];
        memcpy(bits, ends, sizeof bits);
        *least = bits[0];
        *most = bits[1];
    } else
        return false;
    return *least <= value && value <= *most;
}

/* "B 1 to 8, S 1 to 512", as the manifest has the ranges of the dimensions that are not compiled
   in. One that it does not name, and a shape outside, has the value of the shape alone. */
static void read_verified(const struct template *template, const char *verified,
                          const struct shape *shape, int64_t *values) {
    const int count = template->dimension_count;
    for (int d = 0; d < count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        char name[NAME_SIZE + 2];
        int64_t least, most;
        values[d] = values[count + d] = values[2 * count + d] = shape->values[d];
        snprintf(name, sizeof name, "%s ", dimension->name);
        for (const char *at = verified, *next; at != NULL; at = next) {
            next = strstr(at, ", ");
            next = next != NULL ? next + 2 : NULL;
            if (strncmp(at, name, strlen(name)) == 0 &&
                read_range(at + strlen(name), dimension->real, shape->values[d], &least, &most)) {
                values[count + d] = least;
                values[2 * count + d] = most;
            }
        }
    }
}

static void read_samples(const cJSON *of, struct wisdom_figure *figure) {
    const cJSON *samples = cJSON_GetObjectItemCaseSensitive(of, "samples_us");
    const int count = cJSON_GetArraySize(samples);
    double *us = xcalloc((size_t)count + 1, sizeof *us);
    int used = 0;
    const cJSON *sample;
    cJSON_ArrayForEach(sample, samples) if (cJSON_IsNumber(sample)) us[used++] =
        sample->valuedouble;
    if (used > 0)
        statistics_median_interval(us, used, &figure->low_us, &figure->high_us);
    free(us);
}

static void read_conditions(const cJSON *unit, char *text, size_t size) {
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(unit, "conditions");
    text[0] = '\0';
    if (from != NULL)
        snprintf(text, size, "%.0f MHz (%.0f to %.0f), up to %.0f W%s", number_of(from, "sm_mhz"),
                 number_of(from, "sm_mhz_low"), number_of(from, "sm_mhz_high"),
                 number_of(from, "power_w"),
                 cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(from, "power_limited"))
                     ? ", at the power limit"
                     : "");
}

/* What a variant took at a shape. `of`: the case in the manifest, with its samples. */
static int put_figure(struct addition *it, int v, const struct shape *at, const cJSON *of,
                      const double us[3], struct error *error) {
    const struct manifest_variant *variant = &it->manifest.variants[v];
    const struct template *template = it->templates[v];
    const cJSON *unit = member(it, "units", v);
    char name[CASE_NAME_SIZE], hash[HASH_TEXT_SIZE], conditions[160];
    int64_t values[3 * DIMENSIONS_MAX];
    enum wisdom_put outcome;
    cJSON *object = template_shape_json(template, at);
    char *shape = cJSON_PrintUnformatted(object);
    template_print_shape(template, at, name);
    read_verified(template, text_of(unit, "verified"), at, values);
    read_conditions(unit, conditions, sizeof conditions);
    struct wisdom_figure figure = {
        .template_name = template->name,
        .template_hash = hash_print(template->hash, hash),
        .device = it->device.name,
        .case_name = name,
        .code = it->codes[v],
        .driver = variant->key.parts[KEY_DRIVER],
        .toolkit = variant->key.parts[KEY_NVRTC],
        .compute_capability = it->device.compute_capability,
        .sm_count = it->device.sm_count,
        .solution = variant->solution != NULL ? variant->solution : "",
        .shape = shape,
        .genome = variant->genome,
        .architecture = text_of(unit, "architecture"),
        .options = variant->key.parts[KEY_OPTIONS],
        .checks = text_of(unit, "checks"),
        .conditions = conditions,
        .smem_limit = it->manifest.smem_limit,
        .p10_us = us[0],
        .p50_us = us[1],
        .p90_us = us[2],
        .predicted = it->manifest.predicted,
        .measured_at = it->written_at,
        .values = values,
        .values_bytes = 3 * template->dimension_count * (int64_t)sizeof *values,
        .stale = "",
        .checked_driver = "",
    };
    read_samples(of, &figure);
    const int status = wisdom_store_put(it->store, &figure, &outcome, error);
    it->counts->added += status == 0 && outcome == WISDOM_ADDED;
    it->counts->better += status == 0 && outcome == WISDOM_BETTER;
    it->counts->kept += status == 0 && outcome == WISDOM_KEPT;
    cJSON_free(shape);
    cJSON_Delete(object);
    return status;
}

/* Whether the shape is a case that the variant serves. */
static bool is_case_of(const struct addition *it, const struct shape *shape, int variant) {
    const size_t bytes = (size_t)it->templates[variant]->dimension_count * sizeof(int64_t);
    for (int c = 0; c < it->manifest.case_count; c++)
        if (it->manifest.cases[c].variant == variant &&
            memcmp(it->shapes[c].values, shape->values, bytes) == 0)
            return true;
    return false;
}

/* What every variant took at the shapes of a measured dispatcher (`export --within`): a row of
   times, of which null is one of a variant that does not take the shape. A case has its own
   samples. */
static int put_dispatch(struct addition *it, struct error *error) {
    const struct json root = json_root(&it->manifest.document);
    struct json dispatch, list, at;
    if (!json_find(&root, "dispatch", &dispatch) || !json_find(&dispatch, "shapes", &list))
        return 0;
    for (int s = 0; s < json_count(&list); s++) {
        const struct json row = json_at(&list, s);
        const cJSON *times = cJSON_GetObjectItemCaseSensitive(row.value, "us");
        struct shape shape;
        if (json_require(&row, "shape", &at, error) < 0 ||
            template_read_shape(it->templates[0], &at, NULL, &shape, error) < 0)
            return -1;
        for (int v = 0; v < it->manifest.variant_count && it->codes[v][0] != '\0'; v++) {
            const cJSON *time = cJSON_GetArrayItem(times, v);
            const double us = cJSON_IsNumber(time) && time->valuedouble > 0 ? time->valuedouble : 0;
            if (us > 0 && !is_case_of(it, &shape, v) &&
                put_figure(it, v, &shape, NULL, (const double[]){0, us, 0}, error) < 0)
                return -1;
        }
    }
    return 0;
}

static int put_case(struct addition *it, int c, struct error *error) {
    const struct manifest_case *of = &it->manifest.cases[c];
    const double us[] = {of->p10_us, of->p50_us, of->p90_us};
    return put_figure(it, of->variant, &it->shapes[c], member(it, "cases", c), us, error);
}

int wisdom_add(struct wisdom_store *store, const char *folder, const struct wisdom_names *names,
               struct wisdom_counts *counts, struct error *error) {
    struct addition *it = xcalloc(1, sizeof *it);
    it->store = store;
    it->folder = folder;
    it->names = names;
    it->counts = counts;
    int status = manifest_read(&it->manifest, folder, error);
    if (status < 0) {
        free(it);
        return -1;
    }
    if (verify_folder(it, error) < 0 || read_device(it, error) < 0 || read_shapes(it, error) < 0 ||
        load_templates(it, error) < 0)
        status = -1;
    if (status == 0)
        status = wisdom_store_begin(store, error);
    if (status == 0) {
        for (int v = 0; v < it->manifest.variant_count && status == 0; v++)
            status = put_code(it, v, error);
        for (int c = 0; c < it->manifest.case_count && status == 0; c++)
            status = put_case(it, c, error);
        if (status == 0)
            status = put_dispatch(it, error);
        status = wisdom_store_end(store, status, error);
    }
    free_templates(it);
    manifest_release(&it->manifest);
    free(it);
    return status;
}
