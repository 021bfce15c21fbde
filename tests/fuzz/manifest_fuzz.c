/* Any text as the manifest.json of an exported kernel: it is read, or rejected with a position; if
   it is read, its sources, shapes, genomes and regret are, too, or give an error, and the regret is
   drawn. Runs in the top folder. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "export/export.h"
#include "report/pictures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/evotile-fuzz-XXXXXX", path[sizeof folder + 16];
static struct template *dimensions;

static void discard(void) {
    template_free(dimensions);
    unlink(path);
    rmdir(folder);
}

static void open_folder(void) {
    struct error error = {0};
    dimensions = template_load("templates/attention_fwd", NULL, &error);
    if (dimensions == NULL || mkdtemp(folder) == NULL)
        abort();
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    atexit(discard);
}

static void check_error(int status, const struct error *error) {
    if (status >= 0)
        return;
    if (error->kind == ERROR_NONE || error->text[0] == '\0')
        BUG("failed without a reason");
    for (const unsigned char *at = (const unsigned char *)error->text; *at != '\0'; at++)
        if ((*at < 0x20 && *at != '\n') || *at == 0x7f)
            BUG("a terminal would obey '%s'", error->text);
}

static void use_regret(const struct manifest *manifest) {
    struct error error = {0};
    struct manifest_regret regret;
    const int status = manifest_read_regret(manifest, &regret, &error);
    check_error(status, &error);
    if (status < 0)
        return;
    struct regret_map *map = regret_map_new(&regret.shapes, manifest->tree);
    if (map != NULL) {
        free(picture_regret(map));
        table_free(regret_map_table(map));
    }
    regret_map_free(map);
    regret_shapes_release(&regret.shapes);
}

static void use(const struct manifest *manifest) {
    struct error error = {0};
    struct strbuf changes = {0};
    bool whole;
    for (int v = 0; v < manifest->variant_count; v++) {
        char *source = manifest_read_source(manifest, folder, v, &error);
        check_error(source != NULL ? 0 : -1, &error);
        free(source);
    }
    for (int c = 0; c < manifest->case_count; c++) {
        struct shape shape;
        int status =
            template_read_shape(dimensions, &manifest->cases[c].shape, NULL, &shape, &error);
        check_error(status, &error);
    }
    use_regret(manifest);
    check_error(manifest_verify(manifest, folder, &changes, &whole, &error), &error);
    free(changes.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    struct manifest manifest;
    if (*path == '\0')
        open_folder();
    if (path_write_unsynced(path, data, size, &error) < 0)
        BUG("%s", error.text);
    int status = manifest_read(&manifest, folder, &error);
    if (status < 0 && strstr(error.text, folder) == NULL)
        BUG("refused without a place: %s", error.text);
    check_error(status, &error);
    if (status == 0) {
        use(&manifest);
        manifest_release(&manifest);
    }
    return 0;
}
