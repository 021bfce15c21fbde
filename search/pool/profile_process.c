#include "pool/profile_process.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/process.h"
#include "pool/loaded_templates.h"
#include "pool/profile_candidate.h"
#include "pool/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct profile_process {
    struct process child;
};

/* ---- the parent ---- */

static void send_line(struct profile_process *it, char *line) {
    process_send(&it->child, line); /* a dead child shows as end of file */
    free(line);
}

struct profile_process *profile_process_start(const struct profile_process_settings *settings,
                                              const struct trial_request *request,
                                              struct error *error) {
    const char *const argv[] = {settings->program, POOL_PROFILE, settings->device->spec, NULL};
    struct profile_process *it = xcalloc(1, sizeof *it);
    const struct worker_start start = {.has_device = true,
                                       .under_tool = true,
                                       .device = *settings->device,
                                       .config_path = (char *)settings->config_path,
                                       .template_folder = (char *)settings->template_folder};
    if (process_start_relayed(&it->child, argv, error) < 0) {
        free(it);
        return NULL;
    }
    send_line(it, protocol_print_start(&start));
    send_line(it, protocol_print_request(request));
    return it;
}

int profile_process_descriptor(const struct profile_process *it) {
    return it->child.from;
}

static cJSON *nothing_counted(const char *missing) {
    cJSON *counters = cJSON_CreateObject();
    cJSON_AddArrayToObject(counters, "kernels");
    cJSON_AddStringToObject(counters, "missing", missing);
    return counters;
}

cJSON *profile_process_read(struct profile_process *it) {
    process_read_output(&it->child);
    const char *line = it->child.buffer != NULL ? process_next_line(&it->child) : NULL;
    cJSON *counters = line != NULL ? cJSON_Parse(line) : NULL;
    return counters == NULL && it->child.ended ? nothing_counted("the profiling process ended")
                                               : counters;
}

void profile_process_free(struct profile_process *it) {
    if (it == NULL)
        return;
    process_stop(&it->child, it->child.ended ? 1 : 0, NULL);
    free(it);
}

/* ---- the child ---- */

static cJSON *profile_json(const struct profile *profile, const char *missing) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "kernels",
                          profile_kernels_json(profile->kernels, profile->count));
    if (missing[0] != '\0')
        cJSON_AddStringToObject(object, "missing", missing);
    else
        cJSON_AddNullToObject(object, "missing");
    return object;
}

static int run_profile(const struct worker_start *start, const struct trial_request *request,
                       struct profile *profile, char missing[PROFILE_MISSING_SIZE],
                       struct error *error) {
    struct loaded_config loaded = {0};
    struct template *template = NULL;
    char program[PATH_SIZE];
    int status = -1;
    if (path_program(program, error) == 0 &&
        loaded_config_read(&loaded, start->config_path, start->template_folder, error) == 0)
        template = evaluation_template(&loaded.settings, request->goal, &start->device, error);
    if (template != NULL) {
        const struct profile_candidate settings = {.program = program,
                                                   .config_path = start->config_path,
                                                   .template_folder = start->template_folder,
                                                   .device = &start->device,
                                                   .template = template};
        status = profile_candidate_run(&settings, request, profile, missing, error);
    }
    template_free(template);
    loaded_config_release(&loaded);
    return status;
}

static int read_message(enum protocol_message_kind kind, struct protocol_message *message,
                        struct error *error) {
    char *line = NULL;
    size_t size = 0;
    bool is_read = getline(&line, &size, stdin) > 0;
    if (is_read)
        line[strcspn(line, "\n")] = '\0';
    int status = is_read ? protocol_read(line, message, error) : -1;
    free(line);
    if (status == 0 && message->kind != kind)
        BUG("a profiling process was sent another message");
    return status;
}

int profile_process_main(void) {
    struct protocol_message start, request;
    struct error error = {0};
    char missing[PROFILE_MISSING_SIZE];
    struct profile *profile = xcalloc(1, sizeof *profile);
    process_die_with_parent();
    /* What ncu prints does not go to the parent. */
    FILE *out = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (read_message(PROTOCOL_START, &start, &error) < 0)
        return EXIT_FAILURE;
    if (read_message(PROTOCOL_REQUEST, &request, &error) < 0)
        return EXIT_FAILURE;
    cJSON *counters = run_profile(&start.start, &request.request, profile, missing, &error) == 0
                          ? profile_json(profile, missing)
                          : nothing_counted(error.text);
    char *text = json_print_line(counters);
    fprintf(out, "%s\n", text);
    fclose(out);
    free(text);
    free(profile);
    protocol_message_release(&request);
    protocol_message_release(&start);
    return EXIT_SUCCESS;
}
