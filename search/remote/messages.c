#include "remote/messages.h"

#include "base/json.h"
#include "base/memory.h"
#include "pool/protocol.h"

#include <string.h>

enum { CAPACITY_MAX = 100000 };

/* ---- checks ---- */

static int read_protocol_version(const struct json *root, struct error *error) {
    struct json value;
    int64_t protocol;
    if (json_require(root, "protocol", &value, error) < 0 ||
        json_integer(&value, &protocol, error) < 0)
        return -1;
    return protocol == QUEUE_PROTOCOL_VERSION
               ? 0
               : error_input(error,
                             "its evotile speaks protocol %lld of the queue, this one protocol %d: "
                             "install the same evotile on all hosts",
                             (long long)protocol, QUEUE_PROTOCOL_VERSION);
}

static int read_count(const struct json *object, const char *key, int64_t least, int64_t most,
                      int64_t *count, struct error *error) {
    struct json value;
    if (json_require(object, key, &value, error) < 0 || json_integer(&value, count, error) < 0)
        return -1;
    return *count >= least && *count <= most
               ? 0
               : json_error(&value, error, "must be from %lld to %lld", (long long)least,
                            (long long)most);
}

static int read_flag(const struct json *object, const char *key, bool *flag, struct error *error) {
    struct json value;
    return json_require(object, key, &value, error) < 0 ? -1 : json_bool(&value, flag, error);
}

/* Rejects control characters before the parser runs: its error messages quote the text. */
static int parse_checked(struct json_document *document, const char *what, const char *text,
                         struct error *error) {
    int length;
    if (find_control_character(text, &length) != NULL)
        return error_input(error, "%s contains a control character", what);
    return json_read_text(document, what, text, error);
}

/* Ids become part of subjects, keys and file names. */
static int read_id(const struct json *object, const char *key, char id[QUEUE_ID_SIZE],
                   struct error *error) {
    if (json_copy_text(object, key, id, QUEUE_ID_SIZE, error) < 0)
        return -1;
    return strlen(id) == QUEUE_ID_SIZE - 1 && strspn(id, "0123456789abcdef") == QUEUE_ID_SIZE - 1
               ? 0
               : json_error(object, error, "\"%s\" is not an id of 16 hexadecimal digits", key);
}

/* True for a relative path without ".", ".." and empty parts: it stays inside its folder. */
static bool is_relative_inside(const char *path) {
    for (const char *part = path;; part++) {
        size_t length = strcspn(part, "/");
        if (length == 0 || (length == 1 && *part == '.') ||
            (length == 2 && strncmp(part, "..", 2) == 0))
            return false;
        part += length;
        if (*part == '\0')
            return true;
    }
}

/* ---- platforms ---- */

bool platform_same(const struct platform *a, const struct platform *b, char why[256]) {
    const char *const parts[][3] = {{"device", a->device.name, b->device.name},
                                    {"driver", a->device.driver, b->device.driver},
                                    {"NVRTC", a->nvrtc, b->nvrtc},
                                    {"method", a->method, b->method}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i][1], parts[i][2]) != 0) {
            snprintf(why, 256, "%s is %.80s, not %.80s", parts[i][0], parts[i][1], parts[i][2]);
            return false;
        }
    snprintf(why, 256, "device has another size");
    return device_same_model(&a->device, &b->device);
}

/* A protocol message, to nest it in another. Frees `line`. */
static cJSON *message_json(char *line) {
    cJSON *object = cJSON_CreateRaw(line);
    free(line);
    return object;
}

static int read_message(const struct json *object, enum protocol_message_kind kind,
                        struct protocol_message *message, struct error *error) {
    char *line = cJSON_PrintUnformatted(object->value);
    if (line == NULL)
        BUG("out of memory");
    int status = protocol_read(line, message, error);
    free(line);
    if (status < 0 || message->kind == kind)
        return status;
    protocol_message_release(message);
    return json_error(object, error, "is another message");
}

static cJSON *platform_json(const struct platform *platform) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "device", message_json(protocol_print_device(&platform->device)));
    cJSON_AddStringToObject(object, "nvrtc", platform->nvrtc);
    cJSON_AddStringToObject(object, "method", platform->method);
    return object;
}

static int read_platform(const struct json *root, struct platform *platform, struct error *error) {
    static const char *const keys[] = {"device", "nvrtc", "method", NULL};
    struct json object, device;
    struct protocol_message message;
    if (json_require(root, "place", &object, error) < 0 ||
        json_check_keys(&object, keys, error) < 0 ||
        json_require(&object, "device", &device, error) < 0 ||
        json_copy_text(&object, "nvrtc", platform->nvrtc, sizeof platform->nvrtc, error) < 0 ||
        json_copy_text(&object, "method", platform->method, sizeof platform->method, error) < 0 ||
        read_message(&device, PROTOCOL_DEVICE, &message, error) < 0)
        return -1;
    platform->device = message.device;
    return 0;
}

/* ---- descriptions ---- */

char *run_description_print(const struct run_description *description) {
    cJSON *root = cJSON_CreateObject();
    char hash[HASH_TEXT_SIZE];
    cJSON_AddNumberToObject(root, "protocol", QUEUE_PROTOCOL_VERSION);
    cJSON_AddStringToObject(root, "run", description->id);
    cJSON_AddStringToObject(root, "name", description->name);
    if (*description->solution != '\0')
        cJSON_AddStringToObject(root, "solution", description->solution);
    cJSON_AddNumberToObject(root, "patience_s", description->ack_wait_s);
    if (description->has_platform)
        cJSON_AddItemToObject(root, "place", platform_json(&description->platform));
    cJSON *files = cJSON_AddArrayToObject(root, "files");
    for (int f = 0; f < description->file_count; f++) {
        cJSON *file = cJSON_CreateObject();
        cJSON_AddStringToObject(file, "path", description->files[f].path);
        cJSON_AddNumberToObject(file, "bytes", (double)description->files[f].bytes);
        cJSON_AddStringToObject(file, "hash", hash_print(description->files[f].hash, hash));
        cJSON_AddItemToArray(files, file);
    }
    cJSON *champions = cJSON_AddArrayToObject(root, "champions");
    for (int c = 0; c < description->champion_count; c++)
        cJSON_AddItemToArray(champions,
                             message_json(protocol_print_champion(&description->champions[c])));
    return json_print_line(root);
}

static int read_file(const struct json *object, struct run_file *file, struct error *error) {
    static const char *const keys[] = {"path", "bytes", "hash", NULL};
    char hash[HASH_TEXT_SIZE];
    if (json_check_keys(object, keys, error) < 0 ||
        json_copy_text(object, "path", file->path, sizeof file->path, error) < 0 ||
        read_count(object, "bytes", 0, INT64_C(1) << 30, &file->bytes, error) < 0 ||
        json_copy_text(object, "hash", hash, sizeof hash, error) < 0)
        return -1;
    if (!is_relative_inside(file->path))
        return json_error(object, error, "\"path\" leads out of the run's folder");
    return hash_parse(&file->hash, hash) ? 0 : json_error(object, error, "\"hash\" is not a hash");
}

static int read_files(const struct json *root, struct run_description *description,
                      struct error *error) {
    struct json files;
    if (json_require(root, "files", &files, error) < 0 || json_is_array(&files, error) < 0)
        return -1;
    int count = json_count(&files);
    if (count < 1 || count > QUEUE_FILES_MAX)
        return json_error(&files, error, "must have 1 to %d files", QUEUE_FILES_MAX);
    description->files = xcalloc((size_t)count, sizeof *description->files);
    for (; description->file_count < count; description->file_count++) {
        struct json file = json_at(&files, description->file_count);
        if (read_file(&file, &description->files[description->file_count], error) < 0)
            return -1;
    }
    return 0;
}

static int read_champions(const struct json *root, struct run_description *description,
                          struct error *error) {
    struct json champions;
    struct protocol_message message;
    if (json_require(root, "champions", &champions, error) < 0 ||
        json_is_array(&champions, error) < 0)
        return -1;
    int count = json_count(&champions);
    if (count > GOALS_MAX)
        return json_error(&champions, error, "must have at most %d champions", GOALS_MAX);
    description->champions = xcalloc((size_t)count, sizeof *description->champions);
    for (; description->champion_count < count; description->champion_count++) {
        struct json champion = json_at(&champions, description->champion_count);
        if (read_message(&champion, PROTOCOL_CHAMPION, &message, error) < 0)
            return -1;
        if (!(message.champion.score_us > 0))
            return json_error(&champion, error, "has no score");
        description->champions[description->champion_count] = message.champion;
    }
    return 0;
}

/* It becomes the name of a folder. */
static int read_solution(const struct json *root, char path[SOLUTION_PATH_SIZE],
                         struct error *error) {
    struct json value;
    if (!json_find(root, "solution", &value))
        return 0;
    if (json_copy_text(root, "solution", path, SOLUTION_PATH_SIZE, error) < 0)
        return -1;
    return solution_files_is_path(path)
               ? 0
               : json_error(&value, error, "is not the path of a solution");
}

static int read_description(const struct json *root, struct run_description *description,
                            struct error *error) {
    static const char *const keys[] = {"protocol", "run",   "name",      "solution", "patience_s",
                                       "place",    "files", "champions", NULL};
    struct json platform, patience;
    if (json_is_object(root, error) < 0 || read_protocol_version(root, error) < 0 ||
        json_check_keys(root, keys, error) < 0 ||
        read_id(root, "run", description->id, error) < 0 ||
        json_copy_text(root, "name", description->name, sizeof description->name, error) < 0 ||
        read_solution(root, description->solution, error) < 0 ||
        json_require(root, "patience_s", &patience, error) < 0 ||
        json_number(&patience, &description->ack_wait_s, error) < 0 ||
        read_files(root, description, error) < 0 || read_champions(root, description, error) < 0)
        return -1;
    if (!(description->ack_wait_s >= 0.1 && description->ack_wait_s <= 3600))
        return json_error(&patience, error, "must be from 0.1 to 3600");
    description->has_platform = json_find(root, "place", &platform);
    return description->has_platform ? read_platform(root, &description->platform, error) : 0;
}

int run_description_parse(struct run_description *description, const char *text,
                          struct error *error) {
    struct json_document document;
    *description = (struct run_description){0};
    if (parse_checked(&document, "a run's description", text, error) < 0)
        return -1;
    struct json root = json_root(&document);
    int status = read_description(&root, description, error);
    json_release(&document);
    if (status < 0)
        run_description_release(description);
    return status;
}

void run_description_release(struct run_description *description) {
    free(description->files);
    free(description->champions);
    description->files = NULL;
    description->champions = NULL;
    description->file_count = description->champion_count = 0;
}

/* ---- heartbeats ---- */

char *heartbeat_print(const struct heartbeat *heartbeat) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "protocol", QUEUE_PROTOCOL_VERSION);
    cJSON_AddStringToObject(root, "worker", heartbeat->worker);
    cJSON_AddStringToObject(root, "host", heartbeat->host);
    cJSON_AddItemToObject(root, "place", platform_json(&heartbeat->platform));
    cJSON_AddNumberToObject(root, "devices", heartbeat->devices);
    cJSON_AddNumberToObject(root, "capacity", heartbeat->capacity);
    cJSON_AddNumberToObject(root, "in_flight", heartbeat->in_flight);
    cJSON_AddBoolToObject(root, "leaving", heartbeat->leaving);
    return json_print_line(root);
}

/* Reads who sent it, even if the rest is invalid. */
static void read_sender(const struct json *root, struct heartbeat *heartbeat) {
    struct error ignored;
    if (read_id(root, "worker", heartbeat->worker, &ignored) < 0 ||
        json_copy_text(root, "host", heartbeat->host, sizeof heartbeat->host, &ignored) < 0)
        *heartbeat->worker = *heartbeat->host = '\0';
}

static int read_heartbeat(const struct json *root, struct heartbeat *heartbeat,
                          struct error *error) {
    static const char *const keys[] = {"protocol", "worker",    "host",    "place", "devices",
                                       "capacity", "in_flight", "leaving", NULL};
    int64_t devices, capacity, in_flight;
    if (json_is_object(root, error) < 0)
        return -1;
    read_sender(root, heartbeat);
    if (read_protocol_version(root, error) < 0 || json_check_keys(root, keys, error) < 0 ||
        read_id(root, "worker", heartbeat->worker, error) < 0 ||
        json_copy_text(root, "host", heartbeat->host, sizeof heartbeat->host, error) < 0 ||
        read_platform(root, &heartbeat->platform, error) < 0 ||
        read_count(root, "devices", 0, DEVICES_MAX, &devices, error) < 0 ||
        read_count(root, "capacity", 0, CAPACITY_MAX, &capacity, error) < 0 ||
        read_count(root, "in_flight", 0, CAPACITY_MAX, &in_flight, error) < 0 ||
        read_flag(root, "leaving", &heartbeat->leaving, error) < 0)
        return -1;
    heartbeat->devices = (int)devices;
    heartbeat->capacity = (int)capacity;
    heartbeat->in_flight = (int)in_flight;
    return 0;
}

int heartbeat_parse(struct heartbeat *heartbeat, const char *text, struct error *error) {
    struct json_document document;
    *heartbeat = (struct heartbeat){0};
    if (parse_checked(&document, "a worker's heartbeat", text, error) < 0)
        return -1;
    struct json root = json_root(&document);
    int status = read_heartbeat(&root, heartbeat, error);
    json_release(&document);
    return status;
}
