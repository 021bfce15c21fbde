#include "evaluate/recorded_answers.h"

#include "evaluate/tensor_files.h"

#include <stdlib.h>

/* Reads a recorded file with one of the functions of tensor_files.h and writes it to the device. */
static int write_file(struct device *device, const struct template *template,
                      const struct recorded_answer *answer, int t,
                      const struct planned_tensor *tensor, uint64_t address,
                      void *(*read)(const char *path, const char *name,
                                    const struct planned_tensor *tensor, struct error *error),
                      struct error *error) {
    char path[PATH_SIZE], shape[CASE_NAME_SIZE], own[ARRAY_NAME_SIZE];
    const char *name = template_array_name(template, t, own);
    if (answer->files[t] == NULL) {
        template_print_shape(template, &answer->shape, shape);
        return error_input(error, "%s: the answer to %s has no file of \"%s\": record it",
                           template->document.file, shape, name);
    }
    if (path_join(path, template->folder, answer->files[t], error) < 0)
        return -1;
    void *stored = read(path, name, tensor, error);
    if (stored == NULL)
        return error_prefix(error, "%s", template->folder);
    int status = device->backend->write(device, address, stored, (size_t)tensor->bytes, error);
    free(stored);
    return status;
}

static const struct recorded_answer *find(const struct launch_plan *plan, uint64_t seed,
                                          struct error *error) {
    const struct shape shape = launch_plan_shape(plan);
    const struct recorded_answer *answer = template_answer(plan->template, &shape, seed);
    char text[CASE_NAME_SIZE];
    if (answer == NULL) {
        template_print_shape(plan->template, &shape, text);
        error_input(error, "%s: there is no answer to %s", plan->template->document.file, text);
    }
    return answer;
}

int recorded_answers_fill(struct buffers *buffers, int set, uint64_t seed, struct error *error) {
    const struct recorded_answer *answer = find(buffers->plan, seed, error);
    for (int t = 0; answer != NULL && t < buffers->template->tensor_count; t++)
        if (buffers->plan->tensors[t].present && buffers->template->tensors[t].role == ROLE_INPUT &&
            write_file(buffers->device, buffers->template, answer, t, &buffers->plan->tensors[t],
                       buffers->tensors[set][t], tensor_file_read_input, error) < 0)
            return -1;
    return answer != NULL ? 0 : -1;
}

int recorded_answers_run(const struct verify_case *one, const struct buffers *buffers, int set,
                         const struct planned_buffers *run, struct error *error) {
    const struct recorded_answer *answer = find(&run->plan, buffers->seeds[set], error);
    for (int t = 0; answer != NULL && t < one->template->tensor_count; t++)
        if (run->plan.tensors[t].present && one->template->tensors[t].role == ROLE_OUTPUT &&
            write_file(one->device, one->template, answer, t, &run->plan.tensors[t],
                       run->buffers.tensors[0][t], tensor_file_read_answer, error) < 0)
            return -1;
    return answer != NULL ? 0 : -1;
}
