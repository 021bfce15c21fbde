/* Reads manifest.json. */
#include "base/memory.h"
#include "base/strbuf.h"
#include "export/export.h"

#include <math.h>
#include <string.h>

enum { SOURCE_BYTES_MAX = 4 << 20 };

static const char *const root_keys[] = {
    "format",   "name",  "template",        "replay",           "device",    "smem_limit",
    "baseline", "units", "cases",           "ratio_to_default", "predicted", "ratio_to_baseline",
    "score_us", "files", "ratio_estimated", "objective",        "judged",    "reference_units",
    "dispatch", NULL};
static const char *const dispatch_keys[] = {"within", "genomes",       "exported_genomes", "fewest",
                                            "choice", "predicted",     "regret",           "unfit",
                                            "shapes", "regret_fitted", "ranges",           NULL};
/* The first one only if there is one solution. */
static const char *const template_keys[] = {"solution", "name", "hash", NULL};
static const char *const device_keys[] = {"name",
                                          "spec",
                                          "uuid",
                                          "driver",
                                          "sm_count",
                                          "compute_capability",
                                          "smem_per_sm",
                                          "registers_per_sm",
                                          "smem_per_block_optin",
                                          "l2_bytes",
                                          "threads_per_sm",
                                          "clusters_of_2",
                                          "clusters_of_4",
                                          "clusters_of_8",
                                          "memory_bytes",
                                          "clock_mhz",
                                          NULL};
/* The first one only if there are several solutions. */
static const char *const variant_keys[] = {
    "solution",    "source",       "header",  "cubin",      "genome", "genome_mark",
    "specialised", "architecture", "options", "key_hash",   "key",    "resources",
    "verified",    "checks",       "uses",    "conditions", NULL};
static const char *const case_keys[] = {"name",
                                        "shape",
                                        "unit",
                                        "p10_us",
                                        "p50_us",
                                        "p90_us",
                                        "placements",
                                        "placement_least_us",
                                        "placement_most_us",
                                        "energy_mj",
                                        "energy_error",
                                        "energy_watts",
                                        "idle_watts",
                                        "errors",
                                        "samples_us",
                                        "bytes",
                                        "tflops",
                                        "ratio_to_default",
                                        "ratio_to_baseline",
                                        "ratio_low",
                                        "ratio_high",
                                        "ctas",
                                        "operations",
                                        "tolerance",
                                        "limited_range",
                                        NULL};

static int need_string(const struct json *object, const char *key, const char **string,
                       struct error *error) {
    struct json value;
    return json_require(object, key, &value, error) < 0 ? -1 : json_string(&value, string, error);
}

static int need_integer(const struct json *object, const char *key, int64_t minimum,
                        int64_t maximum, int *number, struct error *error) {
    struct json value;
    int64_t wide;
    if (json_require(object, key, &value, error) < 0 || json_integer(&value, &wide, error) < 0)
        return -1;
    if (wide < minimum || wide > maximum)
        return json_error(&value, error, "must lie between %lld and %lld", (long long)minimum,
                          (long long)maximum);
    *number = (int)wide;
    return 0;
}

/* Reads a time or a ratio; 0 if the key is missing and not `needed`. */
static int read_positive(const struct json *object, const char *key, bool needed, double *number,
                         struct error *error) {
    struct json value;
    *number = 0;
    if (!json_find(object, key, &value))
        return needed ? json_require(object, key, &value, error) : 0;
    if (json_number(&value, number, error) < 0)
        return -1;
    return *number >= 0 ? 0 : json_error(&value, error, "must not be negative");
}

/* Reads the name of a file directly in the folder. */
static int need_file(const struct json *object, const char *key, const char **name,
                     struct error *error) {
    struct json value;
    if (json_require(object, key, &value, error) < 0 || json_string(&value, name, error) < 0)
        return -1;
    if (**name == '\0' || **name == '.' || strchr(*name, '/') != NULL)
        return json_error(&value, error, "must name a file in the kernel's own folder");
    return 0;
}

static int need_hash(const struct json *object, const char *key, struct hash *hash,
                     struct error *error) {
    struct json value;
    const char *digits;
    if (json_require(object, key, &value, error) < 0 || json_string(&value, &digits, error) < 0)
        return -1;
    return hash_parse(hash, digits) ? 0
                                    : json_error(&value, error, "must be 32 hexadecimal digits");
}

static int read_key(const struct json *variant, struct key *key, struct error *error) {
    const char *names[KEY_PART_COUNT + 1] = {NULL};
    struct json object;
    struct json hash_value;
    struct hash recorded;
    for (int part = 0; part < KEY_PART_COUNT; part++)
        names[part] = key_part_name((enum key_part)part);
    if (json_require(variant, "key", &object, error) < 0 ||
        json_check_keys(&object, names, error) < 0)
        return -1;
    for (int part = 0; part < KEY_PART_COUNT; part++) {
        const char *text;
        if (need_string(&object, names[part], &text, error) < 0)
            return -1;
        key_set(key, (enum key_part)part, text);
    }
    if (need_hash(variant, "key_hash", &recorded, error) < 0)
        return -1;
    if (hash_equal(recorded, key_hash(key)))
        return 0;
    json_find(variant, "key_hash", &hash_value);
    return json_error(&hash_value, error,
                      "is not the hash of \"key\": the manifest was edited; export again");
}

/* The solution: the variant's own, or that of the manifest's template. */
static int read_solution(const struct manifest *manifest, const struct json *value,
                         struct manifest_variant *variant, struct error *error) {
    struct json root = json_root(&manifest->document), template, solution;
    if (manifest->format == MANIFEST_FORMAT_SOLUTIONS)
        return json_check_keys(value, variant_keys, error) < 0
                   ? -1
                   : need_file(value, "solution", &variant->solution, error);
    return json_check_keys(value, variant_keys + 1, error) < 0 ||
                   json_require(&root, "template", &template, error) < 0 ||
                   (json_find(&template, "solution", &solution) &&
                    need_file(&template, "solution", &variant->solution, error) < 0)
               ? -1
               : 0;
}

static int read_variant(const struct manifest *manifest, const struct json *value,
                        struct manifest_variant *variant, struct error *error) {
    struct json header; /* exports of earlier versions have a source for each variant instead */
    struct json mark;
    if (read_solution(manifest, value, variant, error) < 0 ||
        need_file(value, "source", &variant->source, error) < 0 ||
        need_file(value, "cubin", &variant->cubin, error) < 0 ||
        (json_find(value, "header", &header) &&
         need_file(value, "header", &variant->header, error) < 0) ||
        need_string(value, "genome", &variant->genome, error) < 0 ||
        (json_find(value, "genome_mark", &mark) &&
         json_string(&mark, &variant->genome_mark, error) < 0) ||
        (json_find(value, "specialised", &variant->specialised) &&
         json_is_object(&variant->specialised, error) < 0))
        return -1;
    return read_key(value, &variant->key, error);
}

/* A number beyond 2^53 is a string. */
static int read_operations(const struct json *object, double *number, struct error *error) {
    struct json value;
    int64_t operations = 0;
    if (json_find(object, "operations", &value) && json_integer(&value, &operations, error) < 0)
        return -1;
    *number = (double)operations;
    return 0;
}

/* The tree, whose kernels are the variants. */
static int read_dispatch(struct manifest *manifest, const struct json *root, struct error *error) {
    struct json object, choice;
    if (!json_find(root, "dispatch", &object))
        return 0;
    if (json_is_object(&object, error) < 0 || json_check_keys(&object, dispatch_keys, error) < 0 ||
        json_require(&object, "choice", &choice, error) < 0)
        return -1;
    struct tree *tree = xmalloc(sizeof *tree);
    if (tree_read(tree, &choice, error) < 0) {
        free(tree);
        return -1;
    }
    manifest->tree = tree;
    json_find(&object, "ranges", &manifest->ranges);
    return tree->kernel_count == manifest->variant_count
               ? 0
               : json_error(&choice, error, "chooses among %d kernels, and there are %d",
                            tree->kernel_count, manifest->variant_count);
}

static int read_case(const struct json *value, int variant_count, struct manifest_case *to,
                     struct error *error) {
    if (json_check_keys(value, case_keys, error) < 0 ||
        json_require(value, "shape", &to->shape, error) < 0 ||
        json_is_object(&to->shape, error) < 0 ||
        need_integer(value, "unit", 0, variant_count - 1, &to->variant, error) < 0 ||
        read_positive(value, "p10_us", true, &to->p10_us, error) < 0 ||
        read_positive(value, "p50_us", true, &to->p50_us, error) < 0 ||
        read_positive(value, "p90_us", true, &to->p90_us, error) < 0 ||
        read_operations(value, &to->operations, error) < 0 ||
        read_positive(value, "ratio_to_default", false, &to->ratio_to_default, error) < 0 ||
        read_positive(value, "ratio_to_baseline", false, &to->ratio_to_baseline, error) < 0)
        return -1;
    return 0;
}

static int need_list(const struct json *root, const char *key, struct json *list,
                     struct error *error) {
    if (json_require(root, key, list, error) < 0 || json_is_array(list, error) < 0)
        return -1;
    if (json_count(list) < 1 || json_count(list) > CASES_MAX)
        return json_error(list, error, "must have 1 to %d entries", CASES_MAX);
    return 0;
}

static int read_lists(struct manifest *manifest, const struct json *root, struct error *error) {
    struct json list;
    if (need_list(root, "units", &list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&list); i++) {
        struct json value = json_at(&list, i);
        manifest->variant_count++;
        if (read_variant(manifest, &value, &manifest->variants[i], error) < 0)
            return -1;
    }
    if (need_list(root, "cases", &list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&list); i++) {
        struct json value = json_at(&list, i);
        manifest->case_count++;
        if (read_case(&value, manifest->variant_count, &manifest->cases[i], error) < 0)
            return -1;
    }
    return 0;
}

/* Each architecture's folder is what replay and gate read. */
static int refuse_architectures(const struct json *root, const char *folder, struct error *error) {
    struct json list;
    char names[256] = "";
    if (json_require(root, "architectures", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&list); i++) {
        struct json item = json_at(&list, i);
        const char *name;
        if (json_string(&item, &name, error) < 0)
            return -1;
        text_append(names, sizeof names, "%s%s/%s", i > 0 ? ", " : "", folder, name);
    }
    return error_input(error,
                       "%s holds kernels of several architectures: name one of its folders, %s",
                       folder, names);
}

static int read_header(struct manifest *manifest, const struct json *root, const char *folder,
                       struct error *error) {
    struct json value;
    if (json_is_object(root, error) < 0 || json_require(root, "format", &value, error) < 0 ||
        need_integer(root, "format", 0, INT32_MAX, &manifest->format, error) < 0)
        return -1;
    if (manifest->format == MANIFEST_FORMAT_ARCHITECTURES)
        return refuse_architectures(root, folder, error);
    if (manifest->format != MANIFEST_FORMAT && manifest->format != MANIFEST_FORMAT_SOLUTIONS)
        return json_error(&value, error, "this evotile reads manifests of format %d to %d, not %d",
                          MANIFEST_FORMAT, MANIFEST_FORMAT_ARCHITECTURES, manifest->format);
    if (json_check_keys(root, root_keys, error) < 0 ||
        need_string(root, "name", &manifest->name, error) < 0 ||
        json_require(root, "template", &value, error) < 0 ||
        json_check_keys(&value, template_keys + (manifest->format == MANIFEST_FORMAT_SOLUTIONS),
                        error) < 0 ||
        need_file(&value, "name", &manifest->template_name, error) < 0 ||
        need_hash(&value, "hash", &manifest->template_hash, error) < 0 ||
        path_join(manifest->template_folder, folder, "template", error) < 0 ||
        path_join(manifest->template_folder, manifest->template_folder, manifest->template_name,
                  error) < 0 ||
        json_require(root, "device", &value, error) < 0 ||
        json_check_keys(&value, device_keys, error) < 0 ||
        need_string(&value, "name", &manifest->device, error) < 0 ||
        need_integer(root, "smem_limit", 0, INT32_MAX, &manifest->smem_limit, error) < 0 ||
        json_require(root, "predicted", &value, error) < 0 ||
        json_bool(&value, &manifest->predicted, error) < 0 ||
        read_positive(root, "score_us", false, &manifest->score_us, error) < 0)
        return -1;
    if (json_find(root, "baseline", &value) && json_string(&value, &manifest->baseline, error) < 0)
        return -1;
    return 0;
}

int manifest_read(struct manifest *manifest, const char *folder, struct error *error) {
    char path[PATH_SIZE];
    *manifest = (struct manifest){0};
    if (path_join(path, folder, "manifest.json", error) < 0 ||
        json_read(&manifest->document, path, error) < 0)
        return -1;
    struct json root = json_root(&manifest->document);
    struct json files;
    if (read_header(manifest, &root, folder, error) == 0 &&
        read_lists(manifest, &root, error) == 0 && read_dispatch(manifest, &root, error) == 0 &&
        (!json_find(&root, "files", &files) || json_is_object(&files, error) == 0))
        return 0;
    manifest_release(manifest);
    return -1;
}

/* ---- files ---- */

static char *read_file(const char *folder, const char *name, struct error *error) {
    char path[PATH_SIZE];
    return path_join(path, folder, name, error) < 0
               ? NULL
               : path_read_file(path, SOURCE_BYTES_MAX, NULL, error);
}

/* Replaces the line of `source` that includes the header by the header's text. */
static char *inline_header(const struct manifest_variant *variant, int number, const char *source,
                           const char *header, struct error *error) {
    struct strbuf text = {0};
    char include[NAME_SIZE + sizeof "#include \"\"\n"];
    snprintf(include, sizeof include, "#include \"%.*s\"\n", NAME_SIZE, variant->header);
    const char *at = strstr(source, include);
    if (at == NULL) {
        error_input(error, "%s does not include %s: was it edited? Export it again",
                    variant->source, variant->header);
        return NULL;
    }
    strbuf_print(&text, "#define EVOTILE_VARIANT %d\n", number);
    strbuf_add(&text, source, (size_t)(at - source));
    strbuf_add(&text, header, strlen(header));
    strbuf_add(&text, at + strlen(include), strlen(at + strlen(include)));
    return text.bytes;
}

char *manifest_read_source(const struct manifest *manifest, const char *folder, int variant,
                           struct error *error) {
    const struct manifest_variant *of = &manifest->variants[variant];
    char *source = read_file(folder, of->source, error);
    if (source == NULL || of->header == NULL)
        return source;
    char *header = read_file(folder, of->header, error);
    char *text = header != NULL ? inline_header(of, variant + 1, source, header, error) : NULL;
    free(header);
    free(source);
    return text;
}

void manifest_release(struct manifest *manifest) {
    for (int i = 0; i < manifest->variant_count; i++)
        key_release(&manifest->variants[i].key);
    if (manifest->tree != NULL)
        tree_release(manifest->tree);
    free(manifest->tree);
    json_release(&manifest->document);
    *manifest = (struct manifest){0};
}
