/* Compares an exported folder with its manifest. */
#include "base/memory.h"
#include "base/signature.h"
#include "device/cubin.h"
#include "export/export.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHANGES_NAMED = 8 };

struct comparison {
    cJSON *files; /* name: hash, of those that were not found yet; NULL: the manifest lists none */
    const cJSON *architectures; /* whose folders are exports of their own; NULL: there is one */
    bool whole;
    int count;
    struct strbuf *changes;
};

static void add_change(struct comparison *comparison, const char *name, const char *change) {
    if (comparison->count++ < CHANGES_NAMED)
        strbuf_print(comparison->changes, "%s%s %s", comparison->count > 1 ? ", " : "", name,
                     change);
}

/* True if the file has that digest, or that hash of an export of an earlier version. */
static bool is_unchanged(const char *path, const cJSON *digits) {
    char digest[DIGEST_TEXT_SIZE];
    char hash[HASH_TEXT_SIZE];
    size_t size;
    struct error ignored;
    char *bytes = cJSON_IsString(digits) ? path_read_file(path, SIZE_MAX, &size, &ignored) : NULL;
    bool same = bytes != NULL &&
                (strcmp(digits->valuestring, digest_print(bytes, size, digest)) == 0 ||
                 strcmp(digits->valuestring, hash_print(hash_bytes(bytes, size), hash)) == 0);
    free(bytes);
    return same;
}

/* The name within the folder of its architecture, if it is in one. */
static const char *name_in_part(const struct comparison *comparison, const char *name) {
    const cJSON *part;
    cJSON_ArrayForEach(part, comparison->architectures) {
        const size_t length = strlen(part->valuestring);
        if (strncmp(name, part->valuestring, length) == 0 && name[length] == '/')
            return name + length + 1;
    }
    return name;
}

/* Whether a file that is not listed could get into what is built: a source, or a makefile that make
   prefers to Makefile. The copy of the template is read whole. */
static bool is_read_by_build(const char *name) {
    static const char *const kinds[] = {".c",   ".h", ".cu", ".cuh", ".hpp",   ".cpp", ".cubin",
                                        ".inc", ".s", ".S",  ".mk",  ".cmake", ".pc",  ".py"};
    const char *kind = strrchr(name, '.');
    if (strcmp(name, "makefile") == 0 || strcmp(name, "GNUmakefile") == 0 ||
        strcmp(name, "CMakeLists.txt") == 0 || strncmp(name, "template/", strlen("template/")) == 0)
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && kind != NULL; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

/* Every file below `path`. `make SOURCE=1` writes the folder source/. */
static int compare_folder(struct comparison *comparison, const char *path, const char *prefix,
                          struct error *error) {
    char **names;
    int count;
    int result = 0;
    if (path_list(path, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0; i++) {
        char file[PATH_SIZE];
        char name[PATH_SIZE];
        struct stat status;
        if (path_join(file, path, names[i], error) < 0 ||
            path_join(name, prefix, names[i], error) < 0) {
            result = -1;
            break;
        }
        cJSON *listed = cJSON_DetachItemFromObjectCaseSensitive(comparison->files, name);
        bool exists = lstat(file, &status) == 0;
        if (listed == NULL && exists && S_ISDIR(status.st_mode)) {
            if (strcmp(name_in_part(comparison, name), "source") != 0)
                result = compare_folder(comparison, file, name, error);
        } else if (listed == NULL) {
            if (comparison->whole && is_read_by_build(name_in_part(comparison, name)))
                add_change(comparison, name, "added");
        } else if (!exists || !S_ISREG(status.st_mode) || !is_unchanged(file, listed)) {
            add_change(comparison, name, "changed");
        }
        cJSON_Delete(listed);
    }
    path_list_free(names, count);
    return result;
}

/* The mark that the compiled genome left in the machine code. */
static void compare_mark(struct comparison *comparison, const struct manifest_variant *variant,
                         const char *folder) {
    char path[PATH_SIZE];
    char mark[20] = "";
    uint64_t value;
    size_t size;
    struct error ignored;
    if (variant->genome_mark == NULL || path_join(path, folder, variant->cubin, &ignored) < 0 ||
        !path_exists(path))
        return;
    char *cubin = path_read_file(path, SIZE_MAX, &size, &ignored);
    if (cubin != NULL && cubin_global_u64(cubin, size, TEMPLATE_TAG_SYMBOL, &value))
        snprintf(mark, sizeof mark, "%016llx", (unsigned long long)value);
    if (strcmp(mark, variant->genome_mark) != 0)
        add_change(comparison, variant->cubin, "not of its genome");
    free(cubin);
}

static bool lists_variant(const cJSON *files, const struct manifest_variant *variant) {
    return cJSON_HasObjectItem(files, variant->source) &&
           cJSON_HasObjectItem(files, variant->cubin) &&
           (variant->header == NULL || cJSON_HasObjectItem(files, variant->header));
}

/* ---- an architecture of several ---- */

/* Reads the manifest of the folder above, if that is an export of several architectures with this
   one among them. Returns 1 if it is, 0, or -1; after 1 the caller releases the document. */
static int read_above(const struct manifest *manifest, const char *folder, char above[PATH_SIZE],
                      struct json_document *document, struct error *error) {
    char path[PATH_SIZE], name[160];
    struct json format, own, list;
    if (path_join(above, folder, "..", error) < 0 ||
        path_join(path, above, "manifest.json", error) < 0)
        return -1;
    if (!path_exists(path))
        return 0;
    struct error ignored;
    if (json_read(document, path, &ignored) < 0)
        return 0; /* a manifest.json of something else */
    struct json root = json_root(document);
    bool found = false;
    if (json_find(&root, "format", &format) && json_find(&root, "name", &own) &&
        json_find(&root, "architectures", &list) && cJSON_IsString(own.value) &&
        format.value->valuedouble == MANIFEST_FORMAT_ARCHITECTURES)
        for (int i = 0; i < json_count(&list); i++) {
            const cJSON *part = cJSON_GetArrayItem(list.value, i);
            if (!cJSON_IsString(part))
                continue;
            snprintf(name, sizeof name, "%.60s_%.60s", own.value->valuestring, part->valuestring);
            found = found || strcmp(name, manifest->name) == 0;
        }
    if (!found)
        json_release(document);
    return found;
}

/* Compares all that is linked together: the folder above, with every architecture. */
static int compare_above(struct comparison *comparison, const struct json_document *document,
                         const char *above, struct error *error) {
    struct json root = json_root(document), files = {0}, list;
    json_find(&root, "architectures", &list);
    comparison->whole = json_find(&root, "files", &files);
    comparison->architectures = list.value;
    comparison->files = cJSON_Duplicate(files.value, 1);
    return compare_folder(comparison, above, "", error);
}

int manifest_verify(const struct manifest *manifest, const char *folder, struct strbuf *changes,
                    bool *whole, struct error *error) {
    struct json root = json_root(&manifest->document);
    struct json files = {0};
    struct comparison comparison = {.whole = json_find(&root, "files", &files), .changes = changes};
    for (int i = 0; i < manifest->variant_count; i++)
        comparison.whole = comparison.whole && lists_variant(files.value, &manifest->variants[i]);
    char above[PATH_SIZE];
    struct json_document document;
    int result = read_above(manifest, folder, above, &document, error);
    const bool of_several = result > 0;
    if (of_several)
        result = compare_above(&comparison, &document, above, error);
    else if (result == 0) {
        comparison.files = cJSON_Duplicate(files.value, 1);
        result = compare_folder(&comparison, folder, "", error);
    }
    for (const cJSON *file = comparison.files != NULL ? comparison.files->child : NULL;
         file != NULL; file = file->next)
        add_change(&comparison, file->string, "missing");
    for (int i = 0; i < manifest->variant_count; i++)
        compare_mark(&comparison, &manifest->variants[i], folder);
    if (comparison.count > CHANGES_NAMED)
        strbuf_print(changes, " and %d more", comparison.count - CHANGES_NAMED);
    cJSON_Delete(comparison.files);
    if (of_several)
        json_release(&document);
    *whole = comparison.whole;
    return result;
}

/* True if it lists files, each with a digest that cannot be forged. */
static bool lists_digests(const struct json_document *document) {
    struct json root = json_root(document);
    struct json files;
    if (!json_find(&root, "files", &files))
        return false;
    for (const cJSON *file = files.value->child; file != NULL; file = file->next)
        if (!cJSON_IsString(file) || strlen(file->valuestring) != DIGEST_TEXT_SIZE - 1)
            return false;
    return true;
}

/* What contains an architecture of several has a signature of its own. */
static int verify_above(const struct manifest *manifest, const char *folder, const char *key,
                        struct error *error) {
    char path[PATH_SIZE];
    struct json_document document;
    int status = read_above(manifest, folder, path, &document, error);
    if (status <= 0)
        return status;
    const bool listed = lists_digests(&document);
    json_release(&document);
    if (!listed)
        return error_refuse(error, "%s lists no digests of files: export it again", path);
    return path_join(path, path, "manifest.json", error) < 0 ? -1
                                                             : signature_verify(key, path, error);
}

int manifest_verify_signature(const char *folder, const char *key, struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, folder, "manifest.json", error) < 0)
        return -1;
    if (!path_exists(path))
        return error_input(error, "%s is no exported kernel: only those are signed", folder);
    if (signature_verify(key, path, error) < 0)
        return -1;
    struct manifest *manifest = xmalloc(sizeof *manifest);
    int result = manifest_read(manifest, folder, error);
    if (result == 0)
        result = verify_above(manifest, folder, key, error);
    if (result == 0 && !lists_digests(&manifest->document))
        result = error_refuse(error,
                              "%s is signed, but its manifest lists no digests of files, or those "
                              "of an earlier version, which can be forged: export it again",
                              folder);
    if (manifest->document.root != NULL)
        manifest_release(manifest);
    free(manifest);
    return result;
}
