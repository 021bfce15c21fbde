/*
 * loaded_templates: what a worker has loaded to judge candidates: the run's own config and
 * template, and the last few others that requests named. Private to worker_main.c.
 *
 *     struct loaded_templates loaded = {.device = NULL};
 *     struct loaded_template *one = loaded_templates_find(&loaded, "config.json", "axpy", &error);
 *     loaded_templates_release(&loaded);
 */
#ifndef EVOTILE_POOL_LOADED_TEMPLATES_H
#define EVOTILE_POOL_LOADED_TEMPLATES_H

#include "evaluate/evaluator.h"
#include "pool/settings.h"

/* A config in memory, with the settings made from it. */
struct loaded_config {
    char *path, *template_folder; /* NULL: none */
    struct config *config;
    struct evaluation_settings settings;
};

/* The caller releases it, also after a failure. */
int loaded_config_read(struct loaded_config *loaded, const char *path, const char *template_folder,
                       struct error *error);
bool loaded_config_is(const struct loaded_config *loaded, const char *path,
                      const char *template_folder);
void loaded_config_release(struct loaded_config *loaded);

struct loaded_template {
    struct loaded_config files;
    struct compiler *compiler;
    struct evaluator *evaluator; /* NULL: in a compile worker */
    uint64_t last_used;
};

/* Each keeps modules on the device. */
enum { LOADED_TEMPLATES_MAX = 5 };

struct loaded_templates {
    struct device *device;                 /* NULL: of a compile worker */
    const struct device_info *device_info; /* to compile for */
    const struct image_cache *cache;
    struct resource_budget budget; /* of a compilation */
    uint64_t uses;
    int count;
    struct loaded_template *items[LOADED_TEMPLATES_MAX]; /* the first is the run's own, and stays */
};

/* The template, loaded if it is not yet: the one that was not used for longest makes room. NULL
   with `error`; of kind ERROR_INPUT if the files are to blame. */
struct loaded_template *loaded_templates_find(struct loaded_templates *loaded, const char *config,
                                              const char *template_folder, struct error *error);
/* Frees what evaluators keep for duels against the last opponent that has its own config. */
void loaded_templates_close_opponent(struct loaded_templates *loaded);
void loaded_templates_release(struct loaded_templates *loaded);

#endif
