#include "evaluate/reference_program.h"

#include "base/memory.h"
#include "base/npy.h"
#include "evaluate/external_program.h"
#include "evaluate/tensor_files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROTOCOL = 1, KEPT_MAX = 32, KEPT_BYTES_MAX = 1 << 24 };

#define FOLDER "evotile-reference-" /* the process's id follows */

/* The outputs of one input, as the device gets them. */
struct kept {
    bool used;
    struct hash key;
    void *outputs[TENSORS_MAX];
};

struct reference_program {
    struct external_program program;
    const struct template *template;
    char folder[PATH_SIZE]; /* empty: none */
    int64_t id;             /* of the last question */
    int next;               /* in `kept` */
    struct kept kept[KEPT_MAX];
};

/* ---- starting ---- */

/* Removes the folders of processes that were killed. */
static void remove_old_folders(const char *parent) {
    char **names, path[PATH_SIZE];
    int count;
    struct error ignored = {0};
    if (path_list(parent, &names, &count, &ignored) < 0)
        return;
    for (int i = 0; i < count; i++) {
        long pid;
        if (sscanf(names[i], FOLDER "%ld-", &pid) == 1 && pid > 0 && kill((pid_t)pid, 0) < 0 &&
            errno == ESRCH && path_join(path, parent, names[i], &ignored) == 0)
            path_remove_tree(path, &ignored);
    }
    path_list_free(names, count);
}

static int make_folder(char folder[PATH_SIZE], struct error *error) {
    const char *temporary = getenv("TMPDIR");
    const char *const parents[] = {"/dev/shm", temporary != NULL ? temporary : "/tmp"};
    for (int i = 0; i < 2; i++) {
        remove_old_folders(parents[i]);
        snprintf(folder, PATH_SIZE, "%.4000s/" FOLDER "%ld-XXXXXX", parents[i], (long)getpid());
        if (mkdtemp(folder) != NULL)
            return 0;
    }
    folder[0] = '\0';
    return error_set(error, "cannot make a folder in %s: %s: set TMPDIR to one that can be written",
                     parents[1], strerror(errno));
}

static int begin(struct reference_program *it, struct error *error) {
    struct json_document document;
    struct json answer, name;
    cJSON *question = cJSON_CreateObject();
    cJSON_AddNumberToObject(question, "protocol", PROTOCOL);
    if (external_program_ask(&it->program, "begin", question, &document, &answer, error) < 0)
        return -1;
    int status = json_require(&answer, "reference", &name, error);
    json_release(&document);
    return status;
}

struct reference_program *reference_program_new(const struct template *template,
                                                struct error *error) {
    struct reference_program *it = xcalloc(1, sizeof *it);
    it->template = template;
    it->program = (struct external_program){
        .command = &template->reference_program, .role = "reference", .kind = ERROR_INPUT};
    if (make_folder(it->folder, error) == 0 && external_program_start(&it->program, error) == 0 &&
        begin(it, error) == 0)
        return it;
    reference_program_free(it);
    return NULL;
}

static void forget(struct kept *kept) {
    for (int t = 0; t < TENSORS_MAX; t++)
        free(kept->outputs[t]);
    *kept = (struct kept){0};
}

void reference_program_free(struct reference_program *it) {
    if (it == NULL)
        return;
    external_program_stop(&it->program);
    for (int i = 0; i < KEPT_MAX; i++)
        forget(&it->kept[i]);
    if (it->folder[0] != '\0')
        path_remove_tree(it->folder, &(struct error){0});
    free(it);
}

/* ---- one question ---- */

static int array_path(const struct reference_program *it, int t, char path[PATH_SIZE],
                      struct error *error) {
    char name[ARRAY_NAME_SIZE + 8], own[ARRAY_NAME_SIZE];
    snprintf(name, sizeof name, "%s.npy", template_array_name(it->template, t, own));
    return path_join(path, it->folder, name, error);
}

static bool is_computed(const struct template *template, int t) {
    return template->tensors[t].role == ROLE_OUTPUT || template->tensors[t].role == ROLE_MAGNITUDE;
}

/* Writes the inputs, and removes the outputs of the question before. */
static int write_arrays(const struct reference_program *it, const struct verify_case *one,
                        const struct buffers *buffers, int set, const struct launch_plan *plan,
                        cJSON *question, struct error *error) {
    cJSON *inputs = cJSON_AddObjectToObject(question, "inputs");
    cJSON *outputs = cJSON_AddArrayToObject(question, "outputs");
    for (int t = 0; t < it->template->tensor_count; t++) {
        const struct tensor *tensor = &it->template->tensors[t];
        const struct planned_tensor *planned = &plan->tensors[t];
        char path[PATH_SIZE], name[ARRAY_NAME_SIZE];
        if (array_path(it, t, path, error) < 0)
            return -1;
        if (tensor->role == ROLE_INPUT)
            cJSON_AddBoolToObject(inputs, template_array_name(it->template, t, name),
                                  planned->present);
        if (is_computed(it->template, t) && planned->present)
            cJSON_AddItemToArray(outputs, cJSON_CreateString(tensor->name));
        if (is_computed(it->template, t))
            unlink(path);
        else if (tensor->role == ROLE_INPUT && planned->present &&
                 tensor_file_write_input(one->device, buffers->tensors[set][t], planned, path,
                                         error) < 0)
            return -1;
    }
    return 0;
}

/* The answer must be to this question, and the only one. */
static int check_answer(struct reference_program *it, const struct json *answer,
                        struct error *error) {
    struct json value;
    int64_t id;
    if (json_require(answer, "id", &value, error) < 0 || json_integer(&value, &id, error) < 0)
        return -1;
    if (id != it->id)
        return error_input(error,
                           "the reference's program %s answered question %lld when it was asked "
                           "%lld: each answer has the question's \"id\"",
                           external_program_name(&it->program), (long long)id, (long long)it->id);
    return 0;
}

static int ask(struct reference_program *it, cJSON *question, struct error *error) {
    struct json_document document;
    struct json answer;
    if (external_program_is_ahead(&it->program)) {
        cJSON_Delete(question);
        return error_input(error,
                           "the reference's program %s printed more than one line for question "
                           "%lld: print the answer alone, and all else on standard error",
                           external_program_name(&it->program), (long long)it->id);
    }
    cJSON_AddNumberToObject(question, "id", (double)++it->id);
    cJSON_AddStringToObject(question, "folder", it->folder);
    if (external_program_ask(&it->program, "compute", question, &document, &answer, error) < 0)
        return -1;
    int status = check_answer(it, &answer, error);
    json_release(&document);
    return status;
}

/* Adds a scalar's number, of its bytes, by name. */
static void add_scalar(const struct scalar *scalar, int64_t bytes, cJSON *of_case) {
    char number[32];
    float narrow;
    double wide;
    memcpy(&narrow, &bytes, sizeof narrow);
    memcpy(&wide, &bytes, sizeof wide);
    if (scalar->dtype == DTYPE_F32 || scalar->dtype == DTYPE_F64)
        snprintf(number, sizeof number, "%.17g", scalar->dtype == DTYPE_F32 ? narrow : wide);
    else
        snprintf(number, sizeof number, "%lld",
                 (long long)(scalar->dtype == DTYPE_I32 ? (int32_t)bytes : bytes));
    cJSON_AddRawToObject(of_case, scalar->name, number);
}

static int compute(struct reference_program *it, const struct verify_case *one,
                   const struct buffers *buffers, int set, const struct launch_plan *plan,
                   struct kept *kept, struct error *error) {
    cJSON *question = cJSON_CreateObject();
    cJSON *of_case = template_shape_json(one->template, &one->template->cases[one->case_index]);
    for (int s = 0; s < one->template->scalar_count; s++)
        add_scalar(&one->template->scalars[s], buffers->scalars[set][s], of_case);
    cJSON_AddItemToObject(question, "case", of_case);
    if (write_arrays(it, one, buffers, set, plan, question, error) < 0) {
        cJSON_Delete(question);
        return -1;
    }
    if (ask(it, question, error) < 0)
        return -1;
    for (int t = 0; t < it->template->tensor_count; t++) {
        char path[PATH_SIZE];
        if (!is_computed(it->template, t) || !plan->tensors[t].present)
            continue;
        if (array_path(it, t, path, error) < 0)
            return -1;
        kept->outputs[t] =
            tensor_file_read_output(path, it->template->tensors[t].name, &plan->tensors[t], error);
        if (kept->outputs[t] == NULL)
            return error_prefix(error, "the reference's program %s",
                                external_program_name(&it->program));
    }
    return 0;
}

/* ---- results by input ---- */

static struct hash input_key(const struct verify_case *one, const struct buffers *buffers,
                             int set) {
    struct hasher *hasher = hasher_new();
    const struct shape *shape = &one->template->cases[one->case_index];
    hasher_add(hasher, shape, sizeof *shape);
    hasher_add(hasher, &buffers->inputs[set], sizeof buffers->inputs[set]);
    hasher_add(hasher, buffers->scalars[set], sizeof buffers->scalars[set]);
    return hasher_finish(hasher);
}

static const struct kept *find_kept(const struct reference_program *it, struct hash key) {
    for (int i = 0; i < KEPT_MAX; i++)
        if (it->kept[i].used && hash_equal(it->kept[i].key, key))
            return &it->kept[i];
    return NULL;
}

static size_t output_bytes(const struct template *template, const struct launch_plan *plan) {
    size_t bytes = 0;
    for (int t = 0; t < template->tensor_count; t++)
        if (is_computed(template, t) && plan->tensors[t].present)
            bytes += (size_t)plan->tensors[t].bytes;
    return bytes;
}

static int write_outputs(const struct verify_case *one, const struct planned_buffers *run,
                         const struct kept *kept, struct error *error) {
    for (int t = 0; t < one->template->tensor_count; t++)
        if (kept->outputs[t] != NULL &&
            one->device->backend->write(one->device, run->buffers.tensors[0][t], kept->outputs[t],
                                        (size_t)run->plan.tensors[t].bytes, error) < 0)
            return -1;
    return 0;
}

int reference_program_run(struct reference_program *it, const struct verify_case *one,
                          const struct buffers *buffers, int set, const struct planned_buffers *run,
                          struct error *error) {
    const struct hash key = input_key(one, buffers, set);
    const struct kept *found = find_kept(it, key);
    if (found != NULL)
        return write_outputs(one, run, found, error);
    struct kept computed = {.used = true, .key = key};
    int status = compute(it, one, buffers, set, &run->plan, &computed, error);
    if (status == 0)
        status = write_outputs(one, run, &computed, error);
    if (status < 0 || output_bytes(it->template, &run->plan) > KEPT_BYTES_MAX / KEPT_MAX) {
        forget(&computed);
        return status < 0 ? error_prefix(error, "%s", one->template->document.file) : 0;
    }
    struct kept *slot = &it->kept[it->next++ % KEPT_MAX];
    forget(slot);
    *slot = computed;
    return 0;
}
