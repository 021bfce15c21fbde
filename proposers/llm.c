/* llm: asks a language model behind any OpenAI-compatible chat/completions endpoint. */
#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "proposers/chat/completion.h"
#include "proposers/chat/exchanges.h"
#include "proposers/chat/http.h"
#include "proposers/chat/redact.h"
#include "proposers/chat/reply.h"
#include "proposers/wire/program.h"
#include "proposers/wire/prompt.h"

#include <curl/curl.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum { BYTES_PER_TOKEN = 4 }; /* where a server does not count tokens */

static const char help[] =
    "Ask a language model for each proposal.\n"
    "\n"
    "Usage: llm [options]\n"
    "\n"
    "Reads requests of `evotile evolve` on standard input and asks any server that\n"
    "knows OpenAI's chat/completions. Three environment variables name it:\n"
    "\n"
    "  EVOTILE_LLM_URL     https://HOST/v1, or http://127.0.0.1:8000/v1\n"
    "  EVOTILE_LLM_MODEL   the model's name there\n"
    "  EVOTILE_LLM_KEY     the key, if the server wants one. It is sent to the\n"
    "                      server; it is not stored, logged or shown\n"
    "\n"
    "With --record each exchange is appended to FILE and synced before it is used; a\n"
    "question that FILE has is not asked, and not paid, again. With --replay FILE\n"
    "answers, by the proposal's number and its parent's hash, without a network.\n"
    "\n"
    "Limits count what FILE of --record holds, too. Where the server does not count\n"
    "tokens, four bytes are one.\n"
    "\n"
    "Example:\n"
    "  evotile evolve CONFIG --proposer 'llm --record run.exchanges --max-tokens 2000000'\n";

struct llm {
    /* options */
    const char *prompts, *record, *replay, *extra;
    int64_t max_tokens, reply_tokens, retries;
    double max_cost, prompt_price, completion_price, temperature, backoff_s, max_wait_s, idle_s;
    /* state */
    char prompt_folder[PATH_SIZE];
    const char *model;
    char *key;
    struct http_server server;
    struct exchanges exchanges; /* of --record or --replay */
    cJSON *extra_members;
    int64_t spent_tokens;
    double spent_cost;
};

/* ---- what it costs ---- */

struct spent {
    int64_t prompt, completion;
};

static double price_of(const struct llm *llm, struct spent spent) {
    return ((double)spent.prompt * llm->prompt_price +
            (double)spent.completion * llm->completion_price) /
           1e6;
}

static cJSON *tokens_of(const struct llm *llm, struct spent spent) {
    cJSON *tokens = cJSON_CreateObject();
    cJSON_AddNumberToObject(tokens, "prompt", (double)spent.prompt);
    cJSON_AddNumberToObject(tokens, "completion", (double)spent.completion);
    if (llm->prompt_price > 0 || llm->completion_price > 0)
        cJSON_AddNumberToObject(tokens, "cost", price_of(llm, spent));
    return tokens;
}

static int64_t estimate_tokens(size_t bytes) {
    return (int64_t)((bytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN);
}

/* How many tokens the reply may have, so that a question of `prompt` tokens stays within the
   limits. Fails if that leaves none. */
static int allow_reply(const struct llm *llm, int64_t prompt, int64_t *reply, struct error *error) {
    *reply = llm->reply_tokens;
    if (llm->max_tokens > 0) {
        int64_t left = llm->max_tokens - llm->spent_tokens - prompt;
        if (left <= 0)
            return error_input(error,
                               "the limit of %lld tokens is reached: %lld are spent, and the next "
                               "question has some %lld; raise --max-tokens",
                               (long long)llm->max_tokens, (long long)llm->spent_tokens,
                               (long long)prompt);
        *reply = *reply < left ? *reply : left;
    }
    if (llm->max_cost > 0) {
        double left = llm->max_cost - llm->spent_cost - (double)prompt * llm->prompt_price / 1e6;
        double most =
            llm->completion_price > 0 ? floor(left * 1e6 / llm->completion_price) : (double)*reply;
        if (left <= 0 || most < 1)
            return error_input(error,
                               "the limit of %g on the cost is reached: %.6g is spent; raise "
                               "--max-cost",
                               llm->max_cost, llm->spent_cost);
        *reply = (double)*reply < most ? *reply : (int64_t)most;
    }
    return 0;
}

/* ---- the question ---- */

static void add_message(cJSON *messages, const char *role, const char *text) {
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "role", role);
    cJSON_AddStringToObject(message, "content", text);
    cJSON_AddItemToArray(messages, message);
}

/* The messages alone: what makes two questions the same. */
static char *make_question(const struct prompt *prompt) {
    cJSON *messages = cJSON_CreateArray();
    add_message(messages, "system", prompt->system);
    add_message(messages, "user", prompt->user);
    return json_print_line(messages);
}

static char *make_body(const struct llm *llm, const char *question, int64_t reply_tokens) {
    cJSON *body = cJSON_CreateObject(), *options = cJSON_CreateObject();
    const cJSON *extra;
    cJSON_AddStringToObject(body, "model", llm->model);
    cJSON_AddItemToObject(body, "messages", cJSON_Parse(question));
    cJSON_AddTrueToObject(body, "stream");
    cJSON_AddTrueToObject(options, "include_usage");
    cJSON_AddItemToObject(body, "stream_options", options);
    cJSON_AddNumberToObject(body, "max_tokens", (double)reply_tokens);
    if (llm->temperature >= 0)
        cJSON_AddNumberToObject(body, "temperature", llm->temperature);
    cJSON_ArrayForEach(extra, llm->extra_members) {
        cJSON_DeleteItemFromObjectCaseSensitive(body, extra->string);
        if (!cJSON_IsNull(extra))
            cJSON_AddItemToObject(body, extra->string, cJSON_Duplicate(extra, true));
    }
    return json_print_line(body);
}

/* ---- asking ---- */

static bool take_bytes(void *context, const char *bytes, size_t count) {
    return completion_feed(context, bytes, count);
}

static void wait_seconds(double seconds) {
    struct timespec left = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

/* Asks once. Returns 0 with the reply, without secrets; -1 with an error and whether to try again.
 */
static int ask_once(struct llm *llm, const char *question, struct spent *spent, char **reply,
                    struct http_result *result, struct error *error) {
    struct completion completion = {.secret = llm->key};
    int64_t prompt = estimate_tokens(strlen(question)), reply_tokens;
    *result = (struct http_result){0};
    if (allow_reply(llm, prompt, &reply_tokens, error) < 0)
        return -1;
    char *body = make_body(llm, question, reply_tokens);
    int status = http_ask(&llm->server, body, take_bytes, &completion, result, error);
    bool answered = result->status == 200;
    free(body);
    if (status == 0 || (answered && completion.is_done))
        status = completion_end(&completion, error);
    if (answered) {
        struct spent now = {completion.prompt_tokens, completion.completion_tokens};
        if (!completion.has_usage)
            now = (struct spent){prompt, estimate_tokens(completion.text.used)};
        spent->prompt += now.prompt;
        spent->completion += now.completion;
        llm->spent_tokens += now.prompt + now.completion;
        llm->spent_cost += price_of(llm, now);
    }
    if (status == 0)
        *reply = redact_text(completion.text.bytes, llm->key);
    result->worth_retrying =
        result->worth_retrying || completion.is_cut || completion.message[0] != '\0';
    completion_release(&completion);
    return status;
}

/* Asks until an answer comes, a try is useless or there were enough. */
static int ask(struct llm *llm, const char *question, struct spent *spent, char **reply,
               struct error *error) {
    double backoff_s = llm->backoff_s;
    for (int64_t attempt = 0;; attempt++) {
        struct http_result result;
        struct error failed = {0};
        if (ask_once(llm, question, spent, reply, &result, &failed) == 0)
            return 0;
        double wait_s = result.retry_after_s > backoff_s ? result.retry_after_s : backoff_s;
        *error = failed;
        if (!result.worth_retrying)
            return -1;
        if (attempt >= llm->retries)
            return error_prefix(error, "after %lld tries", (long long)attempt + 1);
        if (result.retry_after_s > llm->max_wait_s)
            return error_prefix(error, "the server asks to wait %.0f s, more than --max-wait",
                                result.retry_after_s);
        fprintf(stderr, "llm: %s; trying again in %.3g s\n", failed.text, wait_s);
        wait_seconds(wait_s);
        backoff_s = 2 * backoff_s < llm->max_wait_s ? 2 * backoff_s : llm->max_wait_s;
    }
}

/* The answer to a question that is asked now; never NULL. */
static cJSON *ask_model(struct llm *llm, const struct request *request, const char *question,
                        struct error *error) {
    struct spent spent = {0};
    char *reply = NULL;
    cJSON *answer = NULL;
    if (ask(llm, question, &spent, &reply, error) == 0)
        answer = reply_parse(reply, request, error);
    cJSON *tokens = tokens_of(llm, spent);
    if (answer == NULL)
        answer = proposal_error(request, error->text);
    if (spent.prompt + spent.completion > 0) /* also of an answer that is an error: it was paid */
        cJSON_AddItemToObject(answer, "tokens", cJSON_Duplicate(tokens, true));
    const struct exchange exchange = {question, reply, answer, tokens};
    if (llm->record != NULL && exchanges_add(&llm->exchanges, request, &exchange, error) < 0) {
        cJSON_Delete(answer);
        answer = NULL;
    }
    cJSON_Delete(tokens);
    free(reply);
    return answer;
}

static cJSON *propose_answer(void *context, const struct request *request, struct error *error) {
    struct llm *llm = context;
    struct prompt prompt;
    if (llm->replay != NULL)
        return exchanges_find(&llm->exchanges, request, NULL, error);
    if (prompt_make(&prompt, llm->prompt_folder, request, error) < 0)
        return NULL;
    char *question = make_question(&prompt);
    struct error unknown = {0};
    cJSON *answer =
        llm->record != NULL ? exchanges_find(&llm->exchanges, request, question, &unknown) : NULL;
    if (answer == NULL)
        answer = ask_model(llm, request, question, error);
    free(question);
    prompt_release(&prompt);
    return answer;
}

/* ---- the program ---- */

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

static int open_server(struct llm *llm, struct error *error) {
    const char *url = variable("EVOTILE_LLM_URL");
    llm->model = variable("EVOTILE_LLM_MODEL");
    if (url == NULL || llm->model == NULL)
        return error_input(error,
                           "set EVOTILE_LLM_URL and EVOTILE_LLM_MODEL, or use --replay FILE");
    return http_server_init(&llm->server, url, llm->key, llm->idle_s, error);
}

static int check_options(struct llm *llm, struct error *error) {
    if (llm->record != NULL && llm->replay != NULL)
        return error_input(error, "--record and --replay exclude each other");
    if (llm->max_cost > 0 && llm->prompt_price <= 0 && llm->completion_price <= 0)
        return error_input(error, "--max-cost needs --prompt-price and --completion-price");
    if (llm->reply_tokens < 1)
        return error_input(error, "--reply-tokens must be at least 1");
    if (llm->extra == NULL)
        return 0;
    llm->extra_members = cJSON_Parse(llm->extra);
    return cJSON_IsObject(llm->extra_members)
               ? 0
               : error_input(error, "--extra needs a JSON object such as {\"top_p\": 0.9}");
}

static int open_all(struct llm *llm, struct error *error) {
    /* Taken out of the environment, where other processes of this user could read it. */
    char *key = getenv("EVOTILE_LLM_KEY");
    if (key != NULL && *key != '\0') {
        llm->key = xstrdup(key);
        explicit_bzero(key, strlen(key));
    }
    const char *path = llm->record != NULL ? llm->record : llm->replay;
    llm->exchanges.file = -1;
    if (check_options(llm, error) < 0 ||
        prompt_folder(llm->prompt_folder, llm->prompts, error) < 0 ||
        (llm->replay == NULL && open_server(llm, error) < 0) ||
        (path != NULL && exchanges_open(&llm->exchanges, path, llm->record != NULL, error) < 0))
        return -1;
    if (llm->record != NULL)
        exchanges_sum(&llm->exchanges, &llm->spent_tokens, &llm->spent_cost);
    return 0;
}

static void close_all(struct llm *llm) {
    http_server_release(&llm->server);
    exchanges_close(&llm->exchanges);
    cJSON_Delete(llm->extra_members);
    if (llm->key != NULL)
        explicit_bzero(llm->key, strlen(llm->key));
    free(llm->key);
}

int main(int argc, char **argv) {
    struct llm llm = {.reply_tokens = 16384,
                      .retries = 6,
                      .temperature = -1,
                      .backoff_s = 1,
                      .max_wait_s = 120,
                      .idle_s = 300};
    struct error error = {0};
    const struct program_option options[] = {
        {"record", "FILE", "append each exchange to FILE", PROGRAM_TEXT, &llm.record},
        {"replay", "FILE", "answer from FILE of --record", PROGRAM_TEXT, &llm.replay},
        {"prompts", "DIR", "the prompts' files (default: those that come with it)", PROGRAM_TEXT,
         &llm.prompts},
        {"max-tokens", "N", "stop before N tokens are exceeded (default: no limit)",
         PROGRAM_INTEGER, &llm.max_tokens},
        {"max-cost", "X", "stop before the cost X is exceeded, by the prices", PROGRAM_NUMBER,
         &llm.max_cost},
        {"prompt-price", "X", "of a million tokens of a prompt", PROGRAM_NUMBER, &llm.prompt_price},
        {"completion-price", "X", "of a million tokens of a reply", PROGRAM_NUMBER,
         &llm.completion_price},
        {"reply-tokens", "N", "the longest reply (default: 16384)", PROGRAM_INTEGER,
         &llm.reply_tokens},
        {"temperature", "T", "of the model (default: the server's)", PROGRAM_NUMBER,
         &llm.temperature},
        {"extra", "JSON", "further members of the request; null takes one away", PROGRAM_TEXT,
         &llm.extra},
        {"retries", "N", "tries after a failure that may pass (default: 6)", PROGRAM_INTEGER,
         &llm.retries},
        {"backoff", "S", "first wait before a try, which doubles (default: 1)", PROGRAM_NUMBER,
         &llm.backoff_s},
        {"max-wait", "S", "longest wait before a try (default: 120)", PROGRAM_NUMBER,
         &llm.max_wait_s},
        {"idle", "S", "a silent connection is cut after S seconds (default: 300)", PROGRAM_NUMBER,
         &llm.idle_s},
        {0},
    };
    const struct program program = {.name = "llm", .about = help, .options = options};
    int status = program_options(&program, argc, argv);
    if (status >= 0)
        return status;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (open_all(&llm, &error) == 0) {
        status = program_run(&program, stdin, stdout, propose_answer, &llm);
    } else {
        fprintf(stderr, "llm: %s\n", error.text);
        status = error.kind == ERROR_INPUT ? 2 : 1;
    }
    close_all(&llm);
    curl_global_cleanup();
    return status;
}
