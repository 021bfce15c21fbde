/* Writes manifest.json: the provenance of the export. */
#include "base/json.h"
#include "base/signature.h"
#include "base/statistics.h"
#include "device/device.h"
#include "export/dispatch.h"

#include <math.h>
#include <string.h>

/* cJSON stores numbers as doubles, so integers beyond 2^53 are written as strings of digits. */
static void add_integer(cJSON *object, const char *key, int64_t number) {
    char digits[24];
    if (number <= INT64_C(1) << 53 && number >= -(INT64_C(1) << 53)) {
        cJSON_AddNumberToObject(object, key, (double)number);
        return;
    }
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    cJSON_AddStringToObject(object, key, digits);
}

static void add_hash(cJSON *object, const char *key, struct hash hash) {
    char text[HASH_TEXT_SIZE];
    cJSON_AddStringToObject(object, key, hash_print(hash, text));
}

/* Omits unknown (0) and non-finite numbers; JSON has no infinity. */
static void add_known(cJSON *object, const char *key, double number) {
    if (isfinite(number) && number > 0)
        cJSON_AddNumberToObject(object, key, number);
}

/* ---- the parts ---- */

static void add_device(cJSON *root, const struct template_setting *setting) {
    const struct device_info *device = setting->device;
    cJSON *object = cJSON_AddObjectToObject(root, "device");
    cJSON_AddStringToObject(object, "name", device->name);
    cJSON_AddStringToObject(object, "spec", device->spec);
    cJSON_AddStringToObject(object, "uuid", device->uuid);
    cJSON_AddStringToObject(object, "driver", device->driver);
    add_integer(object, "compute_capability", device->compute_capability);
    add_integer(object, "sm_count", device->sm_count);
    add_integer(object, "smem_per_block_optin", device->smem_per_block_optin);
    add_integer(object, "smem_per_sm", device->smem_per_sm);
    add_integer(object, "registers_per_sm", device->registers_per_sm);
    add_integer(object, "threads_per_sm", device->threads_per_sm);
    add_known(object, "clusters_of_2", device->clusters_of_2);
    add_known(object, "clusters_of_4", device->clusters_of_4);
    add_known(object, "clusters_of_8", device->clusters_of_8);
    add_integer(object, "memory_bytes", device->memory_bytes);
    add_integer(object, "l2_bytes", device->l2_bytes);
    add_known(object, "clock_mhz", device->clock_mhz);
}

static void add_key(cJSON *object, const struct key *key) {
    add_hash(object, "key_hash", key_hash(key));
    cJSON *parts = cJSON_AddObjectToObject(object, "key");
    for (int part = 0; part < KEY_PART_COUNT; part++)
        cJSON_AddStringToObject(parts, key_part_name((enum key_part)part), key->parts[part]);
}

static void add_resources(cJSON *object, const struct resources *resources) {
    cJSON *parts = cJSON_AddObjectToObject(object, "resources");
    add_integer(parts, "registers", resources->registers);
    add_integer(parts, "smem_bytes", resources->smem_bytes);
    add_integer(parts, "local_bytes", resources->local_bytes);
    add_integer(parts, "spill_bytes", resources->spill_bytes);
    add_integer(parts, "ctas_per_sm", resources->ctas_per_sm);
    cJSON_AddNumberToObject(parts, "occupancy", resources->occupancy);
}

/* Nothing without readings of the GPU's state. */
static void add_conditions(cJSON *object, const struct conditions *conditions) {
    if (conditions == NULL || conditions->sm_mhz_high <= 0)
        return;
    cJSON *parts = cJSON_AddObjectToObject(object, "conditions");
    if (conditions->sm_mhz > 0)
        add_integer(parts, "sm_mhz", conditions->sm_mhz);
    add_integer(parts, "sm_mhz_low", conditions->sm_mhz_low);
    add_integer(parts, "sm_mhz_high", conditions->sm_mhz_high);
    cJSON_AddNumberToObject(parts, "power_w", conditions->power_w);
    cJSON_AddBoolToObject(parts, "power_limited", conditions_power_limited(conditions));
}

/* Adds an object with the files of a variant, its genome and its specialised dimensions. */
static cJSON *add_code(const struct export *export, int variant, cJSON *list) {
    const struct export_variant *exported = &export->request->variants[variant];
    const struct template *template = exported->template;
    char genome[GENOME_TEXT_SIZE];
    char text[VARIANT_FILE_SIZE], source[SOURCE_FILE_SIZE];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    if (export->solution_count > 1)
        cJSON_AddStringToObject(object, "solution", template->solution);
    cJSON_AddStringToObject(object, "source", source_file(export, template, source));
    cJSON_AddStringToObject(object, "header", variant_file(variant, "h", text));
    cJSON_AddStringToObject(object, "cubin", variant_file(variant, "cubin", text));
    genome_print(exported->genome, template->space, genome);
    cJSON_AddStringToObject(object, "genome", genome);
    snprintf(text, sizeof text, "%016llx",
             (unsigned long long)template_genome_tag(exported->genome));
    cJSON_AddStringToObject(object, "genome_mark", text);
    cJSON *specialised = cJSON_AddObjectToObject(object, "specialised");
    for (int d = 0; d < template->dimension_count; d++)
        if (template->dimensions[d].specialised)
            add_integer(specialised, template->dimensions[d].name,
                        template->cases[exported->case_index].values[d]);
    return object;
}

static int add_options(const struct export *export, int variant, cJSON *object,
                       struct error *error) {
    struct strbuf options = {0};
    char architecture[NAME_SIZE] = "";
    int result = variant_options(export, variant, architecture, &options, error);
    cJSON_AddStringToObject(object, "architecture", architecture);
    if (result == 0)
        cJSON_AddStringToObject(object, "options", options.bytes + (options.bytes[0] == ' '));
    strbuf_release(&options);
    return result;
}

static int add_variant_object(const struct export *export, int variant, cJSON *list,
                              struct error *error) {
    const struct export_variant *exported = &export->request->variants[variant];
    cJSON *object = add_code(export, variant, list);
    struct strbuf verified = {0};
    variant_verified(export, variant, &verified);
    cJSON_AddStringToObject(object, "verified", verified.bytes);
    strbuf_release(&verified);
    if (add_options(export, variant, object, error) < 0)
        return -1;
    add_key(object, exported->key);
    add_resources(object, &exported->resources);
    add_conditions(object, exported->conditions);
    cJSON_AddStringToObject(object, "checks", exported->checks);
    cJSON_AddStringToObject(object, "uses", exported->uses);
    return 0;
}

/* What says what is right, if that is the default genome. */
static int add_default_genome(const struct export *export, cJSON *root, struct error *error) {
    if (!has_default_reference(export))
        return 0;
    cJSON_AddStringToObject(root, "judged", template_passed(export->template, false));
    cJSON *references = cJSON_AddArrayToObject(root, "reference_units");
    for (int v = export->request->variant_count; v < count_all_variants(export); v++)
        if (add_options(export, v, add_code(export, v, references), error) < 0)
            return -1;
    return 0;
}

static void add_case(const struct export *export, int index, cJSON *list) {
    const struct checked_shape *checked = &export->checked[index];
    const struct export_case *exported = &export->request->cases[index];
    const struct latency *warm = &exported->outcome->warm;
    const struct errors *errors = &exported->outcome->errors;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    cJSON_AddStringToObject(object, "name", checked->name);
    cJSON_AddItemToObject(object, "shape", template_shape_json(export->template, &checked->shape));
    add_integer(object, "unit", exported->variant);
    cJSON_AddNumberToObject(object, "p10_us", warm->p10_us);
    cJSON_AddNumberToObject(object, "p50_us", warm->p50_us);
    cJSON_AddNumberToObject(object, "p90_us", warm->p90_us);
    if (exported->outcome->placements.count > 1) {
        add_integer(object, "placements", exported->outcome->placements.count);
        cJSON_AddNumberToObject(object, "placement_least_us",
                                exported->outcome->placements.least_us);
        cJSON_AddNumberToObject(object, "placement_most_us", exported->outcome->placements.most_us);
    }
    if (exported->outcome->energy.mj > 0) {
        cJSON_AddNumberToObject(object, "energy_mj", exported->outcome->energy.mj);
        cJSON_AddNumberToObject(object, "energy_error", exported->outcome->energy.error);
        cJSON_AddNumberToObject(object, "energy_watts", exported->outcome->energy.watts);
        cJSON_AddNumberToObject(object, "idle_watts", exported->outcome->energy.idle_watts);
    }
    cJSON_AddItemToObject(object, "samples_us",
                          cJSON_CreateDoubleArray(warm->samples_us, warm->sample_count));
    add_integer(object, "operations", checked->plan.operations);
    add_integer(object, "bytes", checked->plan.bytes);
    if (warm->p50_us > 0)
        cJSON_AddNumberToObject(object, "tflops",
                                (double)checked->plan.operations / warm->p50_us / 1e6);
    add_integer(object, "ctas", exported->outcome->ctas);
    add_known(object, "ratio_to_default", exported->ratio_to_default);
    add_known(object, "ratio_to_baseline", exported->ratio_to_baseline);
    add_known(object, "ratio_low", exported->ratio_low);
    add_known(object, "ratio_high", exported->ratio_high);
    cJSON *measured = cJSON_AddObjectToObject(object, "errors");
    cJSON_AddNumberToObject(measured, "relative_l2", errors->relative_l2);
    cJSON_AddNumberToObject(measured, "row_relative_l2", errors->row_relative_l2);
    cJSON_AddNumberToObject(measured, "max_absolute", errors->max_absolute);
    cJSON *bounds = cJSON_AddObjectToObject(object, "tolerance");
    cJSON_AddNumberToObject(bounds, "relative_l2", checked->bound.relative_l2);
    cJSON_AddNumberToObject(bounds, "row_relative_l2", checked->bound.row_relative_l2);
    cJSON_AddBoolToObject(object, "limited_range", checked->plan.limited_range);
}

/* Adds the hash of every file below `path`, by its name relative to the export's folder. */
static int add_files(cJSON *list, const char *path, const char *prefix, struct error *error) {
    char **names;
    int count;
    int result = 0;
    if (path_list(path, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0; i++) {
        char file[PATH_SIZE];
        char name[PATH_SIZE];
        size_t size;
        if (path_join(file, path, names[i], error) < 0 ||
            path_join(name, prefix, names[i], error) < 0) {
            result = -1;
        } else if (path_is_dir(file)) {
            result = add_files(list, file, name, error);
        } else {
            char *bytes = path_read_file(file, SIZE_MAX, &size, error);
            result = bytes != NULL ? 0 : -1;
            char digest[DIGEST_TEXT_SIZE];
            if (bytes != NULL)
                cJSON_AddStringToObject(list, name, digest_print(bytes, size, digest));
            free(bytes);
        }
    }
    path_list_free(names, count);
    return result;
}

/* The geometric mean over the cases, by their weights; 0 if one is unknown. */
static double mean_ratio(const struct export *export, bool baseline) {
    double ratios[CASES_MAX], weights[CASES_MAX];
    const int count = export->template->case_count;
    for (int c = 0; c < count; c++) {
        const struct export_case *exported = &export->request->cases[c];
        ratios[c] = baseline ? exported->ratio_to_baseline : exported->ratio_to_default;
        weights[c] = exported->outcome->weight > 0 ? exported->outcome->weight : 1;
        if (!(ratios[c] > 0))
            return 0;
    }
    return statistics_weighted_geometric_mean(ratios, weights, count);
}

/* Whether duels measured the ratio to the baseline of every case. */
static bool has_duels(const struct export *export) {
    for (int c = 0; c < export->template->case_count; c++)
        if (export->request->cases[c].ratio_low <= 0)
            return false;
    return true;
}

/* Of one solution its hash; of several, of all of them. */
static struct hash join_hashes(const struct export *export) {
    if (export->solution_count == 1)
        return export->template->hash;
    struct hasher *hasher = hasher_new();
    for (int s = 0; s < export->solution_count; s++)
        hasher_add(hasher, &export->solutions[s]->hash, sizeof export->solutions[s]->hash);
    return hasher_finish(hasher);
}

static int fill_manifest(const struct export *export, cJSON *root, struct error *error) {
    const struct export_request *request = export->request;
    const struct template *template = export->template;
    const bool several = export->solution_count > 1;
    add_integer(root, "format", several ? MANIFEST_FORMAT_SOLUTIONS : MANIFEST_FORMAT);
    cJSON_AddStringToObject(root, "name", export->name);
    cJSON *described = cJSON_AddObjectToObject(root, "template");
    cJSON_AddStringToObject(described, "name", template->name);
    if (template->solution[0] != '\0' && !several)
        cJSON_AddStringToObject(described, "solution", template->solution);
    add_hash(described, "hash", join_hashes(export));
    cJSON_AddStringToObject(root, "replay", request->replay);
    add_device(root, request->setting);
    add_integer(root, "smem_limit", request->setting->smem_limit);
    cJSON_AddBoolToObject(root, "predicted", request->predicted);
    if (minimised_counts_work(template->objective))
        cJSON_AddStringToObject(root, "objective", minimised_objective(template->objective));
    add_known(root, "score_us", request->score_us);
    add_known(root, "ratio_to_default", mean_ratio(export, false));
    if (request->baseline != NULL) {
        cJSON_AddStringToObject(root, "baseline", request->baseline);
        add_known(root, "ratio_to_baseline", mean_ratio(export, true));
        cJSON_AddBoolToObject(root, "ratio_estimated", !has_duels(export));
    }
    cJSON *variants = cJSON_AddArrayToObject(root, "units");
    for (int variant = 0; variant < request->variant_count; variant++)
        if (add_variant_object(export, variant, variants, error) < 0)
            return -1;
    if (add_default_genome(export, root, error) < 0)
        return -1;
    cJSON *cases = cJSON_AddArrayToObject(root, "cases");
    for (int c = 0; c < template->case_count; c++)
        add_case(export, c, cases);
    dispatch_add_manifest(export, root);
    return add_files(cJSON_AddObjectToObject(root, "files"), export->folder, "", error);
}

int write_architectures_manifest(const struct export *export, struct strbuf *text,
                                 struct error *error) {
    cJSON *root = cJSON_CreateObject();
    add_integer(root, "format", MANIFEST_FORMAT_ARCHITECTURES);
    cJSON_AddStringToObject(root, "name", export->name);
    cJSON_AddStringToObject(cJSON_AddObjectToObject(root, "template"), "name",
                            export->template->name);
    cJSON *parts = cJSON_AddArrayToObject(root, "architectures");
    for (int i = 0; i < export->part_count; i++)
        cJSON_AddItemToArray(parts, cJSON_CreateString(export->parts[i].architecture));
    int status = add_files(cJSON_AddObjectToObject(root, "files"), export->folder, "", error);
    char *printed = json_print(root);
    strbuf_print(text, "%s\n", printed);
    free(printed);
    return status;
}

int write_manifest(const struct export *export, struct strbuf *text, struct error *error) {
    cJSON *root = cJSON_CreateObject();
    if (fill_manifest(export, root, error) < 0) {
        cJSON_Delete(root);
        return -1;
    }
    char *printed = json_print(root);
    strbuf_print(text, "%s\n", printed);
    free(printed);
    return 0;
}
