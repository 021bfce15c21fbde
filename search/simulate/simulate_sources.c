#include "simulate/simulate_sources.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "session/task_distance.h"

#include <stdlib.h>
#include <string.h>

struct simulate_sources {
    int space_count;
    struct source **lists; /* by space */
    int *counts;
};

static void add_space(struct source *source, const struct space *space,
                      const struct recorded *recorded) {
    char genome[GENOME_TEXT_SIZE];
    for (int64_t row = 0; row < recorded->row_count; row++) {
        genome_print(&recorded->genomes[row], recorded->space, genome);
        source_add(source, space, genome, recorded->times_us[row]);
    }
    source_seal(source);
}

static bool same_kernel(const struct recorded *a, const struct recorded *b) {
    return *a->kernel_name == '\0' || *b->kernel_name == '\0' ||
           strcmp(a->kernel_name, b->kernel_name) == 0;
}

/* Adds a file to the sources of every space of its kernel but its own. */
static int add_file(struct simulate_sources *sources, const char *file, char *const *paths,
                    struct recorded *const *spaces, struct error *error) {
    struct recorded *recorded = recorded_read(file, error);
    bool used = false; /* or it is one of the spaces, which may be the only one */
    if (recorded == NULL)
        return -1;
    for (int i = 0; i < sources->space_count; i++) {
        struct source source = {0};
        if (strcmp(file, paths[i]) == 0) {
            used = true;
            continue;
        }
        if (!same_kernel(recorded, spaces[i]))
            continue;
        snprintf(source.name, sizeof source.name, "%s", path_name(file));
        source.distance = task_recorded_distance(spaces[i]->device_name, recorded->device_name);
        add_space(&source, spaces[i]->space, recorded);
        if (!source_is_usable(&source)) {
            source_release(&source);
            continue;
        }
        used = true;
        sources->lists[i] = xgrow(sources->lists[i], sources->counts[i], sizeof source);
        sources->lists[i][sources->counts[i]++] = source;
    }
    recorded_free(recorded);
    if (!used)
        log_warn("%s is a source of no space: it is of another kernel, or has none of their genes",
                 file);
    return 0;
}

struct simulate_sources *simulate_sources_read(const char *files, char *const *paths,
                                               struct recorded *const *spaces, int space_count,
                                               struct error *error) {
    struct simulate_sources *sources = xcalloc(1, sizeof *sources);
    char *text = xstrdup(files), *rest = text;
    int status = 0;
    sources->space_count = space_count;
    sources->lists = xcalloc((size_t)space_count, sizeof *sources->lists);
    sources->counts = xcalloc((size_t)space_count, sizeof *sources->counts);
    for (char *file; status == 0 && (file = strsep(&rest, ",")) != NULL;)
        status = add_file(sources, file, paths, spaces, error);
    free(text);
    if (status == 0)
        return sources;
    simulate_sources_free(sources);
    return NULL;
}

void simulate_sources_free(struct simulate_sources *sources) {
    if (sources == NULL)
        return;
    for (int i = 0; i < sources->space_count; i++) {
        for (int s = 0; s < sources->counts[i]; s++)
            source_release(&sources->lists[i][s]);
        free(sources->lists[i]);
    }
    free(sources->lists);
    free(sources->counts);
    free(sources);
}

const struct source *const *simulate_sources_lists(const struct simulate_sources *sources) {
    return (const struct source *const *)sources->lists;
}

const int *simulate_sources_counts(const struct simulate_sources *sources) {
    return sources->counts;
}
