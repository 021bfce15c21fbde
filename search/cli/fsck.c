/* fsck: what of a run folder is whole, and a new folder with that. */
#include "base/strbuf.h"
#include "cli/cli.h"
#include "render/table.h"
#include "run/run_dir.h"
#include "store/salvage.h"

#include <string.h>

enum state { WHOLE, DAMAGED, UNKNOWN };

static const char *const state_names[] = {"whole", "damaged", "unknown"};

/* What fsck says of a part of the folder. */
struct part {
    enum state state;
    char damage[600]; /* "": none */
};

static void set_part(struct part *part, enum state state, const struct error *error) {
    part->state = error->kind == ERROR_NONE ? WHOLE : state;
    snprintf(part->damage, sizeof part->damage, "%.*s", (int)sizeof part->damage - 1, error->text);
}

/* Whether the template's copy has the hash that the run recorded; fills `error` if not. */
static enum state verify_template(const char *run_dir, const struct config *config,
                                  struct error *error) {
    struct store *store = store_open(run_dir, STORE_READ, error);
    struct device_info device;
    char *recorded = NULL;
    struct hash now;
    char hash[HASH_TEXT_SIZE] = "";
    enum state state = UNKNOWN;
    if (store != NULL && run_dir_device(store, &device, error) > 0 &&
        store_meta_get(store, "template_hash", &recorded, error) > 0) {
        bool loaded = config_template_hash(config, &device, &now, error) == 0;
        bool same = loaded && strcmp(hash_print(now, hash), recorded) == 0;
        state = same ? WHOLE : DAMAGED;
        if (loaded && !same)
            error_set(error, "%s has hash %s, and the run began with %s: restore it from a copy",
                      config->template_folder, hash, recorded);
    } else if (error->kind == ERROR_NONE) {
        error_set(error, "%s/run.db does not record the template's hash or its device", run_dir);
    }
    free(recorded);
    store_close(store);
    return state;
}

static void check_files(const char *run_dir, struct part *config_part, struct part *template_part) {
    struct error error = {0};
    struct config *config = run_dir_read_config(run_dir, &error);
    enum state state = UNKNOWN;
    set_part(config_part, DAMAGED, &error);
    if (config != NULL)
        state = verify_template(run_dir, config, &error);
    else
        error_set(&error, "its cases are in the config");
    set_part(template_part, state, &error);
    config_free(config);
}

/* ---- salvaging ---- */

/* Copies a file or a folder of the run that exists. */
static int copy_part(const char *from_dir, const char *to_dir, const char *name,
                     struct error *error) {
    char from[PATH_SIZE], to[PATH_SIZE];
    if (path_join(from, from_dir, name, error) < 0 || path_join(to, to_dir, name, error) < 0)
        return -1;
    if (!path_exists(from))
        return 0;
    if (path_is_dir(from))
        return path_copy_tree(from, to, error);
    size_t size;
    char *bytes = path_read_file(from, (size_t)1 << 30, &size, error);
    int status = bytes != NULL ? path_write_file(to, bytes, size, error) : -1;
    free(bytes);
    return status;
}

static int make_copy(const char *run_dir, const char *out, struct error *error) {
    if (path_exists(out))
        return error_input(error, "fsck: %s exists already: --salvage names a new folder", out);
    return path_make_folder(out, error) < 0 || copy_part(run_dir, out, "config.json", error) < 0 ||
                   copy_part(run_dir, out, "template", error) < 0
               ? -1
               : 0;
}

/* ---- printing ---- */

static cJSON *part_json(const struct part *part) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "state=%s", state_names[part->state]);
    if (part->state != WHOLE)
        cJSON_AddStringToObject(object, "damage", part->damage);
    return object;
}

static void print_json(const char *run_dir, const struct part *config,
                       const struct part *template_part, const struct salvage *salvage,
                       bool whole) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "run=%s whole=%hhd", run_dir, whole);
    cJSON_AddItemToObject(object, "config", part_json(config));
    cJSON_AddItemToObject(object, "template", part_json(template_part));
    cJSON *tables = cJSON_AddArrayToObject(object, "tables");
    for (int t = 0; t < SALVAGE_TABLES; t++) {
        const struct salvage_table *table = &salvage->tables[t];
        cJSON *row = cJSON_CreateObject();
        json_add(row, "table=%s", table->name);
        cJSON_AddNumberToObject(row, "whole", (double)table->whole);
        cJSON_AddNumberToObject(row, "damaged", (double)table->damaged);
        if (table->first[0] != '\0')
            cJSON_AddStringToObject(row, "damage", table->first);
        cJSON_AddItemToArray(tables, row);
    }
    table_print_json(object, stdout);
}

static void print_part(const char *name, const struct part *part) {
    printf("%-11s  %s%s%s\n", name, state_names[part->state], part->state != WHOLE ? ": " : "",
           part->damage);
}

static void print_text(const struct part *config, const struct part *template_part,
                       const struct salvage *salvage) {
    print_part("config.json", config);
    print_part("template", template_part);
    for (int t = 0; t < SALVAGE_TABLES; t++) {
        const struct salvage_table *table = &salvage->tables[t];
        printf("%-11s  %lld rows are whole", table->name, (long long)table->whole);
        if (table->damaged > 0)
            printf(", %lld damaged; the first: %s", (long long)table->damaged, table->first);
        printf("\n");
    }
}

/* ---- the verb ---- */

static int run(const struct verb *verb, int argc, char **argv) {
    bool json = false;
    const char *out = NULL;
    const struct option_row rows[] = {
        OPTION("salvage", "OUT", "write what is whole into the new run folder OUT", &out),
        OPTION("json", NULL, "print one JSON object", &json),
        {0},
    };
    struct error error = {0};
    struct part config, template_part;
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct salvage *salvage = calloc(1, sizeof *salvage);
    if (salvage == NULL)
        BUG("out of memory");
    int status = out != NULL ? make_copy(argv[0], out, &error) : 0;
    if (status == 0)
        status = salvage_database(argv[0], out, salvage, &error);
    if (status < 0) {
        free(salvage);
        return error_report(&error);
    }
    check_files(argv[0], &config, &template_part);
    bool whole =
        config.state == WHOLE && template_part.state == WHOLE && salvage_damages(salvage) == 0;
    if (json)
        print_json(argv[0], &config, &template_part, salvage, whole);
    else
        print_text(&config, &template_part, salvage);
    free(salvage);
    return whole ? STATUS_DONE : STATUS_GATE;
}

const struct verb verb_fsck = {
    .name = "fsck",
    .arguments = "RUN [options]",
    .summary = "check a run folder, and salvage the intact rows of a damaged one",
    VERB_HELP(fsck),
    .run = run,
};
