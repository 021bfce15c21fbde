/* model check: how well predictions with the parameters in force agree with what was measured. */
#include "cli/model.h"

#include "base/memory.h"
#include "base/path.h"
#include "cli/cli.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* What one kind of launch executes, over all of its blocks. */
static cJSON *launch_json(const struct prediction_input *input) {
    const struct {
        const char *name;
        double number;
    } figures[] = {
        {"times", input->times},
        {"blocks", input->blocks},
        {"threads", input->threads},
        {"cluster", input->cluster},
        {"registers", input->resources.registers},
        {"smem_bytes", input->resources.smem_bytes},
        {"spill_bytes", input->resources.spill_bytes},
        {"ctas_per_sm", input->resources.ctas_per_sm},
        {"warp_instructions", input->warp_instructions},
        {"matrix_operations", input->matrix_operations},
        {"special_functions", input->special_functions},
        {"shared_wavefronts", input->shared_wavefronts},
        {"barriers", input->barriers},
        {"load_bytes", input->load_bytes},
        {"store_bytes", input->store_bytes},
        {"async_bytes", input->async_bytes},
        {"local_bytes", input->local_bytes},
        {"remote_bytes", input->remote_bytes},
        {"sectors", input->sectors},
        {"l2_sectors", input->l2_sectors},
        {"dram_bytes", input->dram_bytes},
        {"critical_path_cycles", input->critical_path_cycles},
        {"longest_critical_path_cycles", input->longest_critical_path_cycles},
        {"loading_cycles", input->loading_cycles},
        {"early", input->early},
    };
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        cJSON_AddNumberToObject(object, figures[i].name, figures[i].number);
    return object;
}

static cJSON *call_json(const struct prediction_call *call, const struct device_info *info) {
    cJSON *object = cJSON_CreateObject(), *launches = cJSON_CreateArray();
    cJSON_AddNumberToObject(object, "predicted_us", predict_call_us(info, call));
    cJSON_AddNumberToObject(object, "clears", call->clears);
    cJSON_AddNumberToObject(object, "clear_bytes", call->clear_bytes);
    for (int i = 0; i < call->count; i++)
        cJSON_AddItemToArray(launches, launch_json(&call->launches[i]));
    cJSON_AddItemToObject(object, "launches", launches);
    return object;
}

static cJSON *trial_json(struct model_trials *trials, const struct measured_trial *it,
                         struct error *error) {
    char text[GENOME_TEXT_SIZE], goal[CASE_NAME_SIZE];
    const struct template *template =
        model_trials_template(trials, it->run, it->request.goal, error);
    if (template == NULL)
        return NULL;
    cJSON *object = cJSON_CreateObject(), *cases = cJSON_CreateArray();
    genome_print(&it->request.genome, template->space, text);
    config_goal_name(trials->configs[it->run], it->request.goal, goal);
    cJSON_AddStringToObject(object, "run", trials->paths[it->run]);
    cJSON_AddStringToObject(object, "goal", goal);
    cJSON_AddStringToObject(object, "genome", text);
    cJSON_AddNumberToObject(object, "measured_us", it->score_us);
    cJSON_AddNumberToObject(object, "predicted_us", it->predicted_us);
    for (int c = 0; c < it->trace->case_count; c++)
        cJSON_AddItemToArray(cases, call_json(&it->trace->calls[c], &trials->info));
    cJSON_AddItemToObject(object, "cases", cases);
    return object;
}

static int write_lines(struct model_trials *trials, const char *path, struct error *error) {
    char *text = NULL;
    size_t size;
    int status = 0;
    FILE *out = xopen_memstream(&text, &size);
    for (int i = 0; i < trials->count && status == 0; i++) {
        cJSON *object = trial_json(trials, &trials->all[i], error);
        char *line = object != NULL ? cJSON_PrintUnformatted(object) : NULL;
        status = line != NULL ? 0 : -1;
        if (line != NULL)
            fprintf(out, "%s\n", line);
        free(line);
        cJSON_Delete(object);
    }
    fclose(out);
    status = status == 0 ? path_write_file(path, text, size, error) : -1;
    free(text);
    return status;
}

int model_check(struct model_trials *trials, const char *out, bool json, struct error *error) {
    if (trials->count == 0)
        return error_input(error, "no trial could be traced: give a run with valid trials");
    for (int i = 0; i < trials->count; i++)
        trials->all[i].predicted_us = trace_predicted_us(trials->all[i].trace, &trials->info);
    if (out != NULL && write_lines(trials, out, error) < 0)
        return -1;
    struct table *table = model_trials_accuracy(trials);
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "device", trials->info.name);
        cJSON_AddItemToObject(object, "rows", table_json(table));
        table_print_json(object, stdout);
    } else {
        printf("%s, predicted with the parameters in force\n\n", trials->info.name);
        table_print(table, TABLE_TEXT, stdout);
    }
    table_free(table);
    return 0;
}
