#include "template/divide.h"

#include "base/json.h"
#include "base/path.h"
#include "space/genome.h"
#include "space/space.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Keys of template.json that are the solution's; "format", "about", "derived", "constraints" and
   "tensors" are divided, and the rest is the problem's (template/problem.c has the table). */
static const char *const of_solution[] = {
    "specialised", "genes",    "macros", "insights", "tensor_maps",          "options",
    "source",      "launches", "niches", "relaxed",  "architecture_variant", "pathologies"};

/* ---- names that an expression reads ---- */

static bool lists_name(const cJSON *object, const char *name, size_t length) {
    const cJSON *member;
    cJSON_ArrayForEach(member, object) {
        if (strlen(member->string) == length && strncmp(member->string, name, length) == 0)
            return true;
    }
    return false;
}

/* Whether an expression reads a gene, or a derived quantity of the solution. */
static bool reads_solution(const cJSON *expression, const cJSON *genes, const cJSON *derived) {
    const char *at = cJSON_IsString(expression) ? expression->valuestring : "";
    while (*at != '\0') {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_')
            length++;
        if (length > 0 && (lists_name(genes, at, length) || lists_name(derived, at, length)))
            return true;
        at += length > 0 ? length : 1;
    }
    return false;
}

/* ---- dividing ---- */

static void move_member(cJSON *from, const char *key, cJSON *to) {
    cJSON *member = cJSON_DetachItemFromObjectCaseSensitive(from, key);
    if (member != NULL)
        cJSON_AddItemToObject(to, key, member);
}

static void divide_derived(cJSON *problem, cJSON *solution) {
    const cJSON *genes = cJSON_GetObjectItemCaseSensitive(solution, "genes");
    cJSON *derived = cJSON_GetObjectItemCaseSensitive(problem, "derived");
    cJSON *own = cJSON_AddObjectToObject(solution, "derived");
    cJSON *next;
    for (cJSON *item = derived != NULL ? derived->child : NULL; item != NULL; item = next) {
        next = item->next;
        if (reads_solution(item, genes, own)) {
            cJSON_DetachItemViaPointer(derived, item);
            cJSON_AddItemToObject(own, item->string, item);
        }
    }
}

static void divide_constraints(cJSON *problem, cJSON *solution) {
    const cJSON *genes = cJSON_GetObjectItemCaseSensitive(solution, "genes");
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(solution, "derived");
    cJSON *constraints = cJSON_GetObjectItemCaseSensitive(problem, "constraints");
    cJSON *own = cJSON_AddArrayToObject(solution, "constraints");
    cJSON *next;
    for (cJSON *item = constraints != NULL ? constraints->child : NULL; item != NULL; item = next) {
        next = item->next;
        if (reads_solution(cJSON_GetObjectItemCaseSensitive(item, "require"), genes, derived))
            cJSON_AddItemToArray(own, cJSON_DetachItemViaPointer(constraints, item));
    }
}

/* A tensor without a role is a workspace. */
static void divide_tensors(cJSON *problem, cJSON *solution) {
    cJSON *tensors = cJSON_GetObjectItemCaseSensitive(problem, "tensors");
    cJSON *workspaces = cJSON_AddObjectToObject(solution, "workspaces");
    cJSON *next;
    for (cJSON *item = tensors != NULL ? tensors->child : NULL; item != NULL; item = next) {
        const cJSON *role = cJSON_GetObjectItemCaseSensitive(item, "role");
        next = item->next;
        if (role != NULL && !(cJSON_IsString(role) && strcmp(role->valuestring, "workspace") == 0))
            continue;
        cJSON_DetachItemViaPointer(tensors, item);
        cJSON_DeleteItemFromObjectCaseSensitive(item, "role");
        cJSON_AddItemToObject(workspaces, item->string, item);
    }
}

static void set_format(cJSON *object) {
    cJSON_DeleteItemFromObjectCaseSensitive(object, "format");
    cJSON_AddNumberToObject(object, "format", 2);
}

/* Takes what is the solution's out of `problem`. */
static cJSON *divide_root(cJSON *problem, const char *name) {
    cJSON *solution = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof of_solution / sizeof *of_solution; i++)
        move_member(problem, of_solution[i], solution);
    cJSON_DeleteItemFromObjectCaseSensitive(solution, "relaxed");
    cJSON_DeleteItemFromObjectCaseSensitive(solution, "niches");
    divide_derived(problem, solution);
    divide_constraints(problem, solution);
    divide_tensors(problem, solution);
    cJSON_AddItemToObject(
        solution, "about",
        cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(problem, "about"), false));
    set_format(problem);
    set_format(solution);
    cJSON_AddStringToObject(problem, "default_solution", name);
    return solution;
}

/* ---- files ---- */

static int write_tree(const cJSON *root, const char *folder, const char *name,
                      struct error *error) {
    char path[PATH_SIZE];
    char *text = json_print(cJSON_Duplicate(root, true));
    int status = path_join(path, folder, name, error);
    if (status == 0)
        status = path_write_unsynced(path, text, strlen(text), error);
    free(text);
    return status;
}

int template_divide(const char *from, const char *to, const char *solution, struct error *error) {
    struct json_document document;
    char path[PATH_SIZE];
    if (path_join(path, from, "template.json", error) < 0 || json_read(&document, path, error) < 0)
        return -1;
    cJSON *problem = cJSON_Duplicate(json_root(&document).value, true);
    json_release(&document);
    cJSON *own = divide_root(problem, solution);
    int status = path_join(path, to, solution, error);
    if (status == 0 && (path_copy_files(from, to, "template.json", error) < 0 ||
                        path_copy_files(from, path, "template.json", error) < 0 ||
                        write_tree(problem, to, "problem.json", error) < 0 ||
                        write_tree(own, path, "solution.json", error) < 0))
        status = -1;
    cJSON_Delete(problem);
    cJSON_Delete(own);
    return status;
}
