/* An export of several architectures: an export of each, and a launcher that chooses among them. */
#include "base/memory.h"
#include "device/device.h"
#include "export/folder.h"
#include "export/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the files name ---- */

/* "sm_90a" is 9, 0, exact. */
static void add_capability(const char *architecture, cJSON *object) {
    char *rest;
    const long version = strtol(architecture + strlen("sm_"), &rest, 10);
    cJSON_AddNumberToObject(object, "major", (double)(version / 10));
    cJSON_AddNumberToObject(object, "minor", (double)(version % 10));
    cJSON_AddNumberToObject(object, "exact", *rest == 'a');
}

void add_parts(const struct export *export, cJSON *values) {
    cJSON *list = cJSON_AddArrayToObject(values, "parts");
    struct strbuf names = {0};
    cJSON_AddBoolToObject(values, "any_parts", export->part_count > 0);
    for (int i = 0; i < export->part_count; i++) {
        const struct export_part *part = &export->parts[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddItemToArray(list, object);
        cJSON_AddBoolToObject(object, "first", i == 0);
        cJSON_AddStringToObject(object, "architecture", part->architecture);
        cJSON_AddStringToObject(object, "part", part->name);
        cJSON_AddStringToObject(object, "device", part->request->setting->device->name);
        add_capability(part->architecture, object);
        strbuf_print(&names, "%s%s", i > 0 ? ", " : "", part->architecture);
    }
    if (export->part_count == 0)
        return;
    cJSON_AddStringToObject(values, "first_part", export->parts[0].name);
    embedded_add_text(values, "architectures", &names);
}

cJSON *values_with_architectures(const struct export *export, struct error *error) {
    char architecture[NAME_SIZE];
    if (export_architecture(export, architecture, error) < 0)
        return NULL;
    cJSON *values = embedded_values(export);
    add_parts(export, values);
    if (export->part_count == 0)
        cJSON_AddStringToObject(values, "architectures", architecture);
    return values;
}

/* ---- files ---- */

static int write_filled(const struct export *export, enum embedded_file file, struct strbuf *text) {
    cJSON *values = embedded_values(export);
    add_parts(export, values);
    if (file == EMBEDDED_ARCHITECTURES_MAKEFILE)
        add_libraries(export, values);
    embedded_fill(file, values, text);
    return 0;
}

static int write_chooser(const struct export *export, struct strbuf *text, struct error *error) {
    (void)error;
    return write_filled(export, EMBEDDED_ARCHITECTURES, text);
}

static int write_parts_makefile(const struct export *export, struct strbuf *text,
                                struct error *error) {
    (void)error;
    return write_filled(export, EMBEDDED_ARCHITECTURES_MAKEFILE, text);
}

static int write_which(const struct export *export, struct strbuf *text, struct error *error) {
    (void)error;
    return write_filled(export, EMBEDDED_WHICH, text);
}

static int write_top(const struct export *export, struct error *error) {
    static const struct {
        const char *name; /* a bare extension follows the export's name */
        export_writer *write;
    } files[] = {
        {".h", write_header},
        {".c", write_chooser},
        {"which.c", write_which},
        {"Makefile", write_parts_makefile},
        {"CMakeLists.txt", write_cmake},
        {".pc", write_pkg_config},
        {"manifest.json", write_architectures_manifest}, /* lists all the others */
    };
    if (write_frameworks(export, error) < 0)
        return -1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (write_export_file(export, files[i].name, files[i].write, error) < 0)
            return -1;
    return sign_export(export, error);
}

/* ---- parts ---- */

/* The later architecture first, and of one with and without an "a" the one with it. */
static int compare_parts(const void *a, const void *b) {
    const struct export_part *one = a, *other = b;
    const long difference = strtol(other->architecture + strlen("sm_"), NULL, 10) -
                            strtol(one->architecture + strlen("sm_"), NULL, 10);
    return difference != 0 ? (int)difference
                           : (int)(strlen(other->architecture) - strlen(one->architecture));
}

static int describe_parts(const struct export *export, const struct export_request *const *requests,
                          struct export_part *parts, struct error *error) {
    char *interface = header_interface(requests[0]->template);
    int status = 0;
    for (int i = 0; i < export->part_count && status == 0; i++) {
        const struct export one = {.request = requests[i], .template = requests[i]->template};
        struct export_part *part = &parts[i];
        char *own = header_interface(requests[i]->template);
        if (strcmp(own, interface) != 0 ||
            strcmp(requests[i]->template->name, requests[0]->template->name) != 0)
            status = error_input(error,
                                 "the runs are of two problems, %s and %s, or of two versions of "
                                 "one: export runs of the same template together",
                                 requests[0]->template->name, requests[i]->template->name);
        free(own);
        part->request = requests[i];
        if (status == 0)
            status = export_architecture(&one, part->architecture, error);
        if (status == 0 && snprintf(part->name, sizeof part->name, "%s_%s", export->name,
                                    part->architecture) >= (int)sizeof part->name)
            status =
                error_input(error, "the name %s is too long: choose another --out", export->name);
        for (int j = 0; j < i && status == 0; j++)
            if (strcmp(parts[j].architecture, part->architecture) == 0)
                status = error_input(error,
                                     "two runs have kernels for %s: give one run for each "
                                     "architecture",
                                     part->architecture);
    }
    free(interface);
    qsort(parts, (size_t) export->part_count, sizeof *parts, compare_parts);
    return status;
}

static int write_part(const struct export_part *part, const struct export_folder *folder,
                      struct error *error) {
    struct export_request request = *part->request;
    char path[PATH_SIZE], replay[PATH_SIZE + NAME_SIZE + 32];
    if (path_join(path, folder->temporary, part->architecture, error) < 0)
        return -1;
    snprintf(replay, sizeof replay, "evotile replay %s/%s", folder->folder, part->architecture);
    request.name = part->name;
    request.replay = replay;
    request.with = 0;
    return export_write(&request, path, error);
}

int export_write_architectures(const struct export_request *const *requests, int count,
                               const char *requested, struct error *error) {
    struct export_folder *folder = xmalloc(sizeof *folder);
    struct export_part *parts = xcalloc((size_t)count, sizeof *parts);
    char name[NAME_SIZE];
    struct export export = {.request = requests[0],
                            .template = requests[0]->template,
                            .folder = folder->temporary,
                            .part_count = count,
                            .parts = parts};
    int status = export_folder_open(folder, requested, requests[0]->force, error);
    if (status == 0) {
        export_make_name(folder->folder, name);
        export.name = requests[0]->name != NULL ? requests[0]->name : name;
        find_solutions(&export);
        status = describe_parts(&export, requests, parts, error);
    }
    if (status == 0)
        status = check_names(&export, error);
    if (status == 0)
        status = export_folder_create(folder, error);
    if (status == 0) {
        for (int i = 0; i < count && status == 0; i++)
            status = write_part(&parts[i], folder, error);
        if (status == 0)
            status = write_top(&export, error);
        status = export_folder_finish(folder, status, error);
    }
    free(parts);
    free(folder);
    return status;
}
