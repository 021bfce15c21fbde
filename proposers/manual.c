/* manual: asks a person, or any program that edits files. Writes the prompt and the parent's files
   to a folder, waits for a file named done, and answers with what was changed. */
#include "base/memory.h"
#include "base/path.h"
#include "proposers/wire/program.h"
#include "proposers/wire/prompt.h"
#include "proposers/wire/solution_folder.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { LINE_BYTES_MAX = 1 << 16 };

static const char help[] =
    "Ask a person for each proposal, or any program that edits files.\n"
    "\n"
    "Usage: manual [options]\n"
    "\n"
    "Reads requests of `evotile evolve` on standard input. For proposal N it writes\n"
    "\n"
    "  DIR/N/prompt.txt        the question\n"
    "  DIR/N/files/            the parent's files\n"
    "\n"
    "and waits. Edit the files, write one line of reason to DIR/N/hypothesis.txt, then\n"
    "create DIR/N/done (`touch`). Or leave the files and write a genome to\n"
    "DIR/N/genome.txt. A file DIR/N/skip, with a reason, in place of done refuses.\n"
    "\n"
    "Example:\n"
    "  evotile evolve CONFIG --proposer 'manual --folder proposals'\n";

struct manual {
    const char *folder; /* option */
    const char *prompts;
    char prompt_folder[PATH_SIZE];
};

/* The first line of a file, without blanks at its ends; NULL if there is none or it is empty. */
static char *read_first_line(const char *folder, const char *name) {
    char path[PATH_SIZE];
    struct error error = {0};
    if (path_join(path, folder, name, &error) < 0)
        return NULL;
    char *text = path_read_file(path, LINE_BYTES_MAX, NULL, &error);
    if (text == NULL)
        return NULL;
    size_t start = strspn(text, " \t\r\n"), length = strcspn(text + start, "\n");
    while (length > 0 && (unsigned char)text[start + length - 1] <= ' ')
        length--;
    char *line = length > 0 ? xstrndup(text + start, length) : NULL;
    free(text);
    return line;
}

/* Writes the question, unless it is there: a run that was killed asks it again, and the edits so
   far stay. `parent` names what was asked about. */
static int write_question(const struct manual *manual, const char *folder,
                          const struct request *request, struct error *error) {
    char path[PATH_SIZE];
    const char *hash = request_hash(request, 0);
    char *before = read_first_line(folder, "parent");
    if (before != NULL) {
        bool same = strcmp(before, hash) == 0;
        free(before);
        return same ? 0
                    : error_input(error,
                                  "%s holds a proposal for another parent: give each run its own "
                                  "--folder",
                                  folder);
    }
    struct prompt prompt;
    if (prompt_make(&prompt, manual->prompt_folder, request, error) < 0)
        return -1;
    int status = path_make_folder(folder, error);
    if (status == 0)
        status = path_join(path, folder, "prompt.txt", error);
    if (status == 0)
        status = path_write_file(path, prompt.user, strlen(prompt.user), error);
    prompt_release(&prompt);
    if (status < 0 || path_join(path, folder, "files", error) < 0 ||
        solution_folder_write(path, request_files(request, 0), error) < 0 ||
        path_join(path, folder, "parent", error) < 0)
        return -1;
    return path_write_file(path, hash, strlen(hash), error); /* last: all the others are there */
}

static bool has_file(const char *folder, const char *name) {
    char path[PATH_SIZE];
    struct error error = {0};
    return path_join(path, folder, name, &error) == 0 && path_exists(path);
}

/* Waits until `done` or `skip` appears. An error if the reader of the answers is gone. */
static int wait_for_edit(const char *folder, int watch, struct error *error) {
    while (!has_file(folder, "done") && !has_file(folder, "skip")) {
        char events[4096];
        struct pollfd polled[] = {{.fd = watch, .events = POLLIN}, {.fd = STDOUT_FILENO}};
        if (poll(polled, 2, -1) < 0 && errno != EINTR)
            return error_set(error, "cannot wait for %s/done: %s", folder, strerror(errno));
        if (polled[1].revents & (POLLERR | POLLHUP))
            return error_set(error, "the run that asked has ended");
        if ((polled[0].revents & POLLIN) && read(watch, events, sizeof events) < 0 &&
            errno != EINTR && errno != EAGAIN)
            return error_set(error, "cannot wait for %s/done: %s", folder, strerror(errno));
    }
    return 0;
}

/* What was edited; NULL with an error that says what is missing. */
static cJSON *read_edit(const char *folder, const struct request *request, struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, folder, "files", error) < 0)
        return NULL;
    cJSON *changes = solution_folder_changes(path, request_files(request, 0), error);
    if (changes == NULL)
        return NULL;
    char *hypothesis = read_first_line(folder, "hypothesis.txt");
    char *genome = read_first_line(folder, "genome.txt");
    cJSON *answer = NULL;
    if (hypothesis == NULL)
        error_input(error, "%s/hypothesis.txt needs a line that says why this is faster", folder);
    else if (changes->child != NULL && genome != NULL)
        error_input(error, "%s has changed files and a genome.txt: propose one of them", folder);
    else if (changes->child == NULL && genome == NULL)
        error_input(error, "nothing differs from the parent in %s/files", folder);
    else
        answer = proposal_new(request, hypothesis);
    if (answer != NULL && genome != NULL) {
        cJSON_AddStringToObject(answer, "genome", genome);
    } else if (answer != NULL) {
        cJSON_AddItemToObject(answer, "files", changes);
        changes = NULL;
    }
    cJSON_Delete(changes);
    free(hypothesis);
    free(genome);
    return answer;
}

static cJSON *answer_skip(const char *folder, struct error *error) {
    char *reason = read_first_line(folder, "skip");
    error_input(error, "skipped%s%.400s", reason != NULL ? ": " : "", reason != NULL ? reason : "");
    free(reason);
    return NULL;
}

/* Waits for an edit until one is complete: what is missing is said, and `done` taken away. */
static cJSON *take_edit(const char *folder, int watch, const struct request *request,
                        struct error *error) {
    for (;;) {
        char done[PATH_SIZE];
        struct error missing = {0};
        if (wait_for_edit(folder, watch, error) < 0)
            return NULL;
        if (has_file(folder, "skip"))
            return answer_skip(folder, error);
        cJSON *answer = read_edit(folder, request, &missing);
        if (answer != NULL)
            return answer;
        /* Taken away before it is said, so that the next one is not. */
        if (path_join(done, folder, "done", error) < 0)
            return NULL;
        if (unlink(done) < 0) {
            error_set(error, "cannot remove %s: %s: remove it by hand", done, strerror(errno));
            return NULL;
        }
        fprintf(stderr, "manual: %s; then create done again\n", missing.text);
    }
}

static cJSON *propose_edit(void *context, const struct request *request, struct error *error) {
    const struct manual *manual = context;
    char folder[PATH_SIZE], name[32];
    snprintf(name, sizeof name, "%lld", (long long)request->number);
    if (path_join(folder, manual->folder, name, error) < 0 ||
        write_question(manual, folder, request, error) < 0)
        return NULL;
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch < 0 || inotify_add_watch(watch, folder, IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
        error_set(error, "cannot watch %s: %s: raise fs.inotify.max_user_watches", folder,
                  strerror(errno));
        if (watch >= 0)
            close(watch);
        return NULL;
    }
    fprintf(stderr, "manual: edit %s/files, write hypothesis.txt, then create done there\n",
            folder);
    cJSON *answer = take_edit(folder, watch, request, error);
    close(watch);
    return answer;
}

int main(int argc, char **argv) {
    struct manual manual = {.folder = "proposals"};
    struct error error = {0};
    const struct program_option options[] = {
        {"folder", "DIR", "where questions and edits lie (default: proposals)", PROGRAM_TEXT,
         &manual.folder},
        {"prompts", "DIR", "the prompts' files (default: those that come with it)", PROGRAM_TEXT,
         &manual.prompts},
        {0},
    };
    const struct program program = {.name = "manual", .about = help, .options = options};
    int status = program_options(&program, argc, argv);
    if (status >= 0)
        return status;
    if (prompt_folder(manual.prompt_folder, manual.prompts, &error) < 0) {
        fprintf(stderr, "manual: %s\n", error.text);
        return 2;
    }
    return program_run(&program, stdin, stdout, propose_edit, &manual);
}
