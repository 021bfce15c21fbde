#include "device/device_db.h"

#include "base/json_fields.h"
#include "base/memory.h"
#include "base/path.h"
#include "device/predict.h"

#include <string.h>

#define REQUIRED(member, kind, minimum, maximum)                                                   \
    JSON_FIELD_REQUIRED(struct device_info, member, #member, kind, minimum, maximum)
#define OPTIONAL(member, kind, minimum, maximum)                                                   \
    JSON_FIELD(struct device_info, member, #member, kind, minimum, maximum)

static const struct json_field fields[] = {
    REQUIRED(sm_count, INT, 1, 4096),
    REQUIRED(smem_per_block, INT, 1024, 1 << 24),
    REQUIRED(smem_per_block_optin, INT, 1024, 1 << 24),
    REQUIRED(smem_per_sm, INT, 1024, 1 << 24),
    REQUIRED(registers_per_sm, INT, 1024, 1 << 24),
    REQUIRED(threads_per_sm, INT, 32, 1 << 16),
    REQUIRED(blocks_per_sm, INT, 1, 1 << 10),
    OPTIONAL(clusters_of_2, INT, 1, 4096),
    OPTIONAL(clusters_of_4, INT, 1, 4096),
    OPTIONAL(clusters_of_8, INT, 1, 4096),
    REQUIRED(memory_bytes, INT64, 1 << 20, 1e15),
    REQUIRED(l2_bytes, INT, 1 << 10, INT32_MAX),
    REQUIRED(clock_mhz, DOUBLE, 1, 1e5),
    REQUIRED(dram_gb_per_s, DOUBLE, 0.1, 1e6),
    OPTIONAL(l2_partitions, INT, 1, 16),
    OPTIONAL(l2_gb_per_s, DOUBLE, 0.1, 1e6),
    REQUIRED(tensor_tflops, DOUBLE, 0.01, 1e6),
    REQUIRED(fp32_tflops, DOUBLE, 0.01, 1e6),
    OPTIONAL(launch_us, DOUBLE, 0, 1e3),
    OPTIONAL(l1_cycles, DOUBLE, 1, 1e4),
    OPTIONAL(l2_cycles, DOUBLE, 1, 1e4),
    OPTIONAL(dram_cycles, DOUBLE, 1, 1e4),
    {0},
};
static const char *const other_keys[] = {"about", "name", "architecture", NULL};

/* Parses "sm_89". */
static int read_architecture(const struct json *root, int *compute_capability,
                             struct error *error) {
    struct json value;
    const char *text;
    char rest;
    if (json_require(root, "architecture", &value, error) < 0 ||
        json_string(&value, &text, error) < 0)
        return -1;
    if (sscanf(text, "sm_%3d%c", compute_capability, &rest) != 1 || *compute_capability < 50)
        return json_error(&value, error, "must be an architecture such as \"sm_89\"");
    return 0;
}

static int read_info(const struct json *root, struct device_info *info, struct error *error) {
    *info = (struct device_info){.predicts = true};
    if (json_fields_check_keys(root, fields, other_keys, error) < 0 ||
        json_copy_text(root, "name", info->name, sizeof info->name, error) < 0 ||
        read_architecture(root, &info->compute_capability, error) < 0)
        return -1;
    snprintf(info->spec, sizeof info->spec, "emulated:sm_%d", info->compute_capability);
    return json_fields_read(root, fields, info, error);
}

static int read_file(const char *path, struct device_info *info, struct error *error) {
    struct json_document document;
    struct device_info read;
    if (json_read(&document, path, error) < 0)
        return -1;
    struct json root = json_root(&document);
    int result = read_info(&root, &read, error);
    json_release(&document);
    if (result == 0)
        *info = read;
    return result;
}

static int find_folder(char folder[PATH_SIZE], struct error *error) {
    char own[PATH_SIZE];
    char beside[PATH_SIZE];
    char installed[PATH_SIZE];
    const char *environment_folder = getenv("EVOTILE_DEVICES");
    if (path_program_folder(own, error) < 0 ||
        path_join(beside, own, "../configs/devices", error) < 0 ||
        path_join(installed, own, "../share/evotile/configs/devices", error) < 0)
        return -1;
    const char *const places[] = {environment_folder != NULL ? environment_folder
                                                             : "configs/devices",
                                  "configs/devices", beside, installed};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (path_is_dir(places[i]))
            return path_join(folder, "", places[i], error);
    return error_set(error, "there is no folder of device files: set EVOTILE_DEVICES to one, such "
                            "as configs/devices in evotile's sources");
}

/* ---- fitted parameters ---- */

static int read_fitted_parameters(const char *path, struct device_info *info, struct error *error) {
    const char *keys[PREDICTION_PARAMETERS + 3] = {"about", "name"};
    struct json_document document;
    struct json value;
    int result = 0;
    for (int i = 0; i < PREDICTION_PARAMETERS; i++)
        keys[2 + i] = prediction_parameters[i].name;
    if (json_read(&document, path, error) < 0)
        return -1;
    struct json root = json_root(&document);
    result = json_check_keys(&root, keys, error);
    for (int i = 0; i < PREDICTION_PARAMETERS && result == 0; i++) {
        const struct prediction_parameter_row *row = &prediction_parameters[i];
        double number = 0;
        if (!json_find(&root, row->name, &value)) /* fitted by a version without this parameter */
            continue;
        if (json_number(&value, &number, error) < 0)
            result = -1;
        else if (!(number >= row->minimum * 0.999 && number <= row->maximum * 1.001))
            result =
                json_error(&value, error, "must lie between %g and %g", row->minimum, row->maximum);
        info->model[i] = number;
    }
    json_release(&document);
    return result;
}

int device_db_write_fitted(const char *path, const char *about, const struct device_info *info,
                           struct error *error) {
    char *text = NULL, folder[PATH_SIZE];
    size_t size;
    FILE *out = xopen_memstream(&text, &size);
    fprintf(out, "{\n  \"about\": \"%s\",\n  \"name\": \"%s\"", about, info->name);
    for (int i = 0; i < PREDICTION_PARAMETERS; i++)
        fprintf(out, ",\n  \"%s\": %.4g", prediction_parameters[i].name, info->model[i]);
    fprintf(out, "\n}\n");
    fclose(out);
    int result = path_parent(folder, path, error) < 0 || path_make_folder(folder, error) < 0 ||
                         path_write_file(path, text, size, error) < 0
                     ? -1
                     : 0;
    free(text);
    return result;
}

static int fitted_path(char path[PATH_SIZE], const char *folder, const char *name,
                       struct error *error) {
    char fitted[PATH_SIZE];
    return path_join(fitted, folder, "fitted", error) < 0 ||
                   path_join(path, fitted, name, error) < 0
               ? -1
               : 0;
}

/* Finds the device file of an architecture; `fitted` gets the path of its fitted parameters, which
   may not exist. */
static int find_device_file(int compute_capability, struct device_info *info,
                            char fitted[PATH_SIZE], struct error *error) {
    char folder[PATH_SIZE];
    char path[PATH_SIZE];
    char known_devices[256] = "";
    char **names;
    int count;
    int result = 0;
    bool found = false;
    if (find_folder(folder, error) < 0 || path_list(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0 && !found; i++) {
        struct device_info candidate;
        size_t length = strlen(names[i]);
        size_t used = strlen(known_devices);
        if (length < 5 || strcmp(names[i] + length - 5, ".json") != 0)
            continue;
        if (path_join(path, folder, names[i], error) < 0 ||
            read_file(path, &candidate, error) < 0) {
            result = -1;
        } else if (candidate.compute_capability == compute_capability) {
            found = true;
            *info = candidate;
            result = fitted_path(fitted, folder, names[i], error);
        } else if (strstr(known_devices, candidate.spec) == NULL) {
            snprintf(known_devices + used, sizeof known_devices - used, "%s%s",
                     used > 0 ? ", " : "", candidate.spec);
        }
    }
    path_list_free(names, count);
    if (result == 0 && !found)
        return error_input(error,
                           "%s has no device of sm_%d: there are %s; add a file for yours, or "
                           "choose one of these",
                           folder, compute_capability,
                           *known_devices != '\0' ? known_devices : "none");
    return result;
}

int device_db_find(int compute_capability, struct device_info *info, struct error *error) {
    char fitted[PATH_SIZE];
    if (find_device_file(compute_capability, info, fitted, error) < 0)
        return -1;
    return path_exists(fitted) ? read_fitted_parameters(fitted, info, error) : 0;
}

int device_db_fitted_path(int compute_capability, char path[PATH_SIZE], struct error *error) {
    struct device_info info;
    return find_device_file(compute_capability, &info, path, error);
}

int device_db_find_like(const struct device_info *device, struct device_info *info,
                        struct error *error) {
    if (device_db_find(device->compute_capability, info, error) < 0)
        return -1;
    info->sm_count = device->sm_count;
    return 0;
}
