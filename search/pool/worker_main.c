#include "pool/worker_main.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/sandbox.h"
#include "device/emulated.h"
#include "pool/compile_guard.h"
#include "pool/image_file.h"
#include "pool/loaded_templates.h"
#include "pool/protocol.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct worker {
    FILE *out;
    char *line; /* the last line read */
    size_t line_size;
    struct worker_start start;
    struct worker_images files; /* for the next request */
    struct loaded_templates loaded;
    struct loaded_config opponent; /* of the last duel's opponent, if it has another config */
    struct device *device;         /* NULL: a compile worker */
};

/* ---- messages ---- */

/* Only messages go to the pipe: what a library prints goes to standard error. */
static void open_pipe(struct worker *worker) {
    worker->out = fdopen(dup(STDOUT_FILENO), "w");
    dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void send_message(struct worker *worker, char *line) {
    fputs(line, worker->out);
    fputc('\n', worker->out);
    fflush(worker->out);
    free(line);
}

/* Returns 1 with a message, 0 at end of file (the parent has exited), -1 with `error`. */
static int read_message(struct worker *worker, struct protocol_message *message,
                        struct error *error) {
    if (getline(&worker->line, &worker->line_size, stdin) <= 0)
        return 0;
    worker->line[strcspn(worker->line, "\n")] = '\0';
    return protocol_read(worker->line, message, error) < 0 ? -1 : 1;
}

static int read_start(struct worker *worker, struct error *error) {
    struct protocol_message message;
    int status = read_message(worker, &message, error);
    if (status == 1 && message.kind != PROTOCOL_START)
        BUG("a worker's first message is not a start");
    if (status == 1)
        worker->start = message.start;
    return status;
}

/* ---- starting ---- */

static void handle_signals(bool under_tool) {
    /* Not under a tool: it may start us from a thread that exits immediately, and the
       parent-death signal follows the thread. */
    if (!under_tool)
        process_die_with_parent();
    signal(SIGINT, SIG_IGN); /* the parent handles a ^C in the terminal */
    signal(SIGTERM, SIG_IGN);
}

/* Not for a worker that opens a GPU, whose driver may do what it likes, nor with the library of a
   profiler such as Nsight Systems inside, which writes its files from here. An emulated device's
   worker may start a baseline's program, which writes where such programs do. No file that is made
   may be larger than FILE_BYTES_MAX. */
static void enter_sandbox(const struct worker_start *start, const char *cache_folder) {
    enum { FILE_BYTES_MAX = 1 << 30 };
    const struct rlimit limit = {FILE_BYTES_MAX, FILE_BYTES_MAX};
    const char *temporary = getenv("TMPDIR"), *home = getenv("HOME");
    const char *folders[] = {cache_folder, "/dev/null", NULL, NULL, NULL, NULL, NULL};
    bool is_emulated = strncmp(start->device.spec, "emulated:", strlen("emulated:")) == 0;
    if (start->under_tool || (start->has_device && !is_emulated) ||
        getenv("NVTX_INJECTION64_PATH") != NULL)
        return;
    if (start->has_device) {
        folders[2] = "/tmp";
        folders[3] = "/dev/shm";
        folders[4] = home != NULL ? home : "/tmp";
        folders[5] = temporary != NULL ? temporary : "/tmp";
    }
    signal(SIGXFSZ, SIG_IGN); /* a write fails with EFBIG instead */
    setrlimit(RLIMIT_FSIZE, &limit);
    sandbox_enter(start->has_device, folders);
}

/* Fills `info` with the worker's device, calibrated; a compile worker's is the one it was given. */
static int start_worker(struct worker *worker, const struct image_cache *cache,
                        struct device_info *info, struct error *error) {
    const struct worker_start *start = &worker->start;
    worker->loaded = (struct loaded_templates){
        .device_info = &start->device, .cache = cache, .budget = resource_budget_default()};
    if (start->has_device) {
        if ((worker->device = device_open(start->device.spec, error)) == NULL)
            return -1;
        if (worker->device->backend == &emulated_backend)
            emulated_set_threads(worker->device, start->threads);
        worker->loaded.device = worker->device;
        worker->loaded.device_info = &worker->device->info;
    }
    compile_guard_install();
    struct loaded_template *own =
        loaded_templates_find(&worker->loaded, start->config_path, start->template_folder, error);
    if (own == NULL)
        return -1;
    if (own->evaluator != NULL && !start->under_tool)
        evaluator_warn_if_gpu_shared(own->evaluator);
    *info = *worker->loaded.device_info;
    return 0;
}

/* A compile worker has loaded its compiler and its template. From now on it reads what candidates
   may include, and no other file: a source can ask the compiler whether a file is there. */
static int restrict_reading(struct worker *worker, const char *cache_folder, struct error *error) {
    enum { HEADERS_MAX = 4, FOLDERS_MAX = 16 };
    const char *folders[FOLDERS_MAX] = {cache_folder, "/usr", "/lib", "/lib64",
                                        "/proc",      "/sys", "/dev"};
    char config[PATH_SIZE], problem[PATH_SIZE], library[PATH_SIZE], solution[NAME_SIZE];
    const struct worker_start *start = &worker->start;
    int count = 0;
    if (start->has_device || start->under_tool)
        return 0;
    if (path_parent(config, start->config_path, error) < 0 ||
        template_split_path(start->template_folder, problem, solution, error) < 0 ||
        template_library(library, problem, error) < 0)
        return -1;
    while (folders[count] != NULL)
        count++;
    folders[count++] = config;
    folders[count++] = problem;
    folders[count++] = library;
    nvrtc_header_folders(compiler_nvrtc(worker->loaded.items[0]->compiler), &folders[count],
                         HEADERS_MAX);
    sandbox_restrict_reading(folders);
    return 0;
}

static void release_worker(struct worker *worker) {
    loaded_templates_release(&worker->loaded);
    if (worker->device != NULL)
        device_close(worker->device);
    loaded_config_release(&worker->opponent);
    worker_start_release(&worker->start);
    free(worker->line);
    fclose(worker->out);
}

/* ---- working ---- */

/* Loads the opponent's config if it has one of its own, and names its settings in the request. The
   config is kept for the next duel. */
static int load_opponent(struct worker *worker, struct trial_opponent *opponent,
                         struct error *error) {
    struct loaded_config *loaded = &worker->opponent;
    if (opponent->config == NULL)
        return 0;
    if (!loaded_config_is(loaded, opponent->config, opponent->template_folder)) {
        loaded_templates_close_opponent(&worker->loaded);
        loaded_config_release(loaded);
        if (loaded_config_read(loaded, opponent->config, opponent->template_folder, error) < 0)
            return -1;
    }
    opponent->settings = &loaded->settings;
    return 0;
}

/* Reads the machine code that a compile worker made; false, with a warning, if there is none that
   can be read. */
static bool read_images(struct loaded_template *loaded, const char *path, int goal,
                        struct device_image images[CASES_MAX]) {
    struct error error = {0};
    if (*path == '\0')
        return false;
    const struct template *template = compiler_template(loaded->compiler, goal, &error);
    if (template != NULL && image_file_read(path, template->source, images, &error) == 0)
        return true;
    log_warn("the device worker compiles: %s", error.text);
    return false;
}

/* The pool keeps the machine code of champions of its own template only. */
static void read_champion(struct worker *worker, struct loaded_template *loaded,
                          const struct trial_opponent *opponent) {
    struct device_image images[CASES_MAX];
    if (!evaluator_has_champion(loaded->evaluator, opponent->goal, &opponent->genome) &&
        read_images(loaded, worker->files.champion, opponent->goal, images))
        evaluator_set_champion(loaded->evaluator, opponent->goal, &opponent->genome, images);
}

static int compile_trial(struct worker *worker, struct loaded_template *loaded,
                         struct trial_request *request, struct device_image images[CASES_MAX],
                         struct trial_result *result, struct error *error) {
    struct error unwritten = {0};
    int status = compiler_build(loaded->compiler, request, images, result, error);
    if (status == 0 && *worker->files.candidate != '\0' &&
        image_file_write(worker->files.candidate, images, &unwritten) < 0)
        log_warn("the machine code is not handed on: %s", unwritten.text);
    return status;
}

static int evaluate_trial(struct worker *worker, struct loaded_template *loaded,
                          struct trial_request *request, struct device_image images[CASES_MAX],
                          struct trial_result *result, struct error *error) {
    if (load_opponent(worker, &request->opponent, error) < 0)
        return -1;
    read_champion(worker, loaded, &request->opponent);
    bool compiled = read_images(loaded, worker->files.candidate, request->goal, images);
    int status = (compiled ? compiler_adopt : compiler_build)(loaded->compiler, request, images,
                                                              result, error);
    return status == 0 ? evaluator_run(loaded->evaluator, request, images, result, error) : status;
}

static struct loaded_template *
find_loaded(struct worker *worker, const struct trial_request *request, struct error *error) {
    bool own = request->template_folder == NULL;
    return loaded_templates_find(&worker->loaded, own ? worker->start.config_path : request->config,
                                 own ? worker->start.template_folder : request->template_folder,
                                 error);
}

/* A template that came with the request is the candidate's: what is wrong with it is a verdict, and
   so is what fails with it on a device that is still there. The run's own template was read before
   the run started, and such an error ends the worker. */
static int blame_template(struct worker *worker, const struct trial_request *request,
                          struct trial_result *result, const struct error *error) {
    const struct loaded_template *own = worker->loaded.items[0];
    if (request->template_folder == NULL ||
        (error->kind != ERROR_INPUT &&
         (own->evaluator == NULL || !evaluator_is_sound(own->evaluator))))
        return -1;
    trial_add_gate(result, "template", false, 0, "%.150s", error->text);
    trial_set_verdict(result, VERDICT_INVALID, error->text);
    return 0;
}

/* Returns 0 with a result, whatever its verdict; -1 with `error`. */
static int run_trial(struct worker *worker, struct trial_request *request,
                     struct trial_result *result, struct error *error) {
    struct device_image images[CASES_MAX] = {0};
    trial_result_init(result, request);
    snprintf(result->worker, sizeof result->worker, "%s",
             worker->device != NULL ? worker->device->info.spec : "compile");
    compile_guard_prepare(fileno(worker->out), request, result->worker, &worker->loaded.budget);
    struct loaded_template *loaded = find_loaded(worker, request, error);
    int status = loaded == NULL ? -1
                                : (worker->device != NULL ? evaluate_trial : compile_trial)(
                                      worker, loaded, request, images, result, error);
    if (status < 0)
        status = blame_template(worker, request, result, error);
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&images[c]);
    return status < 0 ? -1 : 0;
}

/* True if the device can still be used after the trial. */
static bool device_survived(const struct worker *worker, const struct outcome *outcome) {
    return worker->device == NULL || worker->device->info.predicts ||
           (outcome->verdict != VERDICT_CRASHED && outcome->verdict != VERDICT_TIMEOUT);
}

static int answer_request(struct worker *worker, struct trial_request *request,
                          struct error *error) {
    struct trial_result result;
    int status = run_trial(worker, request, &result, error);
    if (status == 0)
        send_message(worker, protocol_print_result(&result));
    bool device_lost = status == 0 && !device_survived(worker, &result.outcome);
    trial_result_release(&result);
    if (device_lost)
        _exit(EXIT_FAILURE); /* the context is lost: cleaning up through the driver can hang */
    return status;
}

static int serve_requests(struct worker *worker, struct error *error) {
    struct protocol_message message;
    int status;
    while ((status = read_message(worker, &message, error)) == 1) {
        if (message.kind == PROTOCOL_IMAGES) {
            worker->files = message.images;
            continue;
        }
        if (message.kind != PROTOCOL_REQUEST)
            BUG("a worker was sent something other than a request");
        status = answer_request(worker, &message.request, error);
        worker->files = (struct worker_images){0};
        trial_request_release(&message.request);
        if (status < 0)
            break;
    }
    return status;
}

int worker_main(const struct image_cache *cache, const char *cache_folder) {
    struct worker worker = {0};
    struct error error = {0};
    struct device_info info;
    signal(SIGPIPE, SIG_IGN); /* write reports a dead baseline process, end of file a dead parent */
    open_pipe(&worker);
    int status = read_start(&worker, &error);
    if (status == 1) {
        handle_signals(worker.start.under_tool);
        enter_sandbox(&worker.start, cache_folder);
        status = start_worker(&worker, cache, &info, &error);
        if (status == 0)
            status = restrict_reading(&worker, cache_folder, &error);
        if (status == 0) {
            send_message(&worker, protocol_print_device(&info));
            status = serve_requests(&worker, &error);
        }
    }
    if (status < 0)
        send_message(&worker, protocol_print_failure(&error));
    release_worker(&worker);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
