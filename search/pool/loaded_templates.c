#include "pool/loaded_templates.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

int loaded_config_read(struct loaded_config *loaded, const char *path, const char *template_folder,
                       struct error *error) {
    loaded->config = config_from_file(path, template_folder, error);
    if (loaded->config == NULL)
        return -1;
    loaded->path = xstrdup(path);
    loaded->template_folder = xstrdup(template_folder);
    evaluation_settings_from_config(&loaded->settings, loaded->config);
    return 0;
}

bool loaded_config_is(const struct loaded_config *loaded, const char *path,
                      const char *template_folder) {
    return loaded->path != NULL && strcmp(loaded->path, path) == 0 &&
           strcmp(loaded->template_folder, template_folder) == 0;
}

void loaded_config_release(struct loaded_config *loaded) {
    evaluation_settings_release(&loaded->settings);
    config_free(loaded->config);
    free(loaded->path);
    free(loaded->template_folder);
    *loaded = (struct loaded_config){0};
}

static void free_template(struct loaded_template *one) {
    evaluator_free(one->evaluator);
    compiler_free(one->compiler);
    loaded_config_release(&one->files);
    free(one);
}

static int load_template(struct loaded_templates *loaded, struct loaded_template *one,
                         const char *config, const char *template_folder, struct error *error) {
    if (loaded_config_read(&one->files, config, template_folder, error) < 0)
        return -1;
    one->compiler = compiler_new(&one->files.settings, loaded->device_info, loaded->cache, error);
    if (one->compiler == NULL)
        return -1;
    nvrtc_set_budget(compiler_nvrtc(one->compiler), &loaded->budget);
    if (loaded->device == NULL)
        return 0;
    one->evaluator = loaded->count == 0
                         ? evaluator_new(&one->files.settings, loaded->device, one->compiler, error)
                         : evaluator_new_beside(loaded->items[0]->evaluator, &one->files.settings,
                                                one->compiler, error);
    return one->evaluator != NULL ? 0 : -1;
}

/* Makes room for one more: the one that was not used for longest is freed, but never the first. */
static void make_room(struct loaded_templates *loaded) {
    int oldest = 1;
    if (loaded->count < LOADED_TEMPLATES_MAX)
        return;
    for (int i = 2; i < loaded->count; i++)
        if (loaded->items[i]->last_used < loaded->items[oldest]->last_used)
            oldest = i;
    free_template(loaded->items[oldest]);
    loaded->items[oldest] = loaded->items[--loaded->count];
}

struct loaded_template *loaded_templates_find(struct loaded_templates *loaded, const char *config,
                                              const char *template_folder, struct error *error) {
    struct loaded_template *found = NULL;
    for (int i = 0; i < loaded->count && found == NULL; i++)
        if (loaded_config_is(&loaded->items[i]->files, config, template_folder))
            found = loaded->items[i];
    if (found == NULL) {
        make_room(loaded);
        found = xcalloc(1, sizeof *found);
        if (load_template(loaded, found, config, template_folder, error) < 0) {
            free_template(found);
            return NULL;
        }
        loaded->items[loaded->count++] = found;
    }
    found->last_used = ++loaded->uses;
    return found;
}

void loaded_templates_close_opponent(struct loaded_templates *loaded) {
    for (int i = 0; i < loaded->count; i++)
        if (loaded->items[i]->evaluator != NULL)
            evaluator_close_other(loaded->items[i]->evaluator);
}

void loaded_templates_release(struct loaded_templates *loaded) {
    while (loaded->count > 0)
        free_template(loaded->items[--loaded->count]);
}
