/*
 * Every form of every instruction that the emulated device supports (tests/ptx/forms), on a
 * GPU and on the emulated device, over the same operands: equal bit for bit, or within the table's
 * bounds where PTX leaves the result open. Prints every form that differs; with OUT, writes for
 * every form to $OUT/opcodes.txt the worst difference, its bound, the number of results beyond it
 * and the total, the operands of the worst one, and some of the others. EVOTILE_FORMS: only forms
 * with this substring in the name; EVOTILE_SEED: other operands; EVOTILE_BLOCKS (128): blocks of
 * 128 threads.
 */
/* cmocka needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/forms/bench.h"

#define EMULATED "emulated:sm_90"

static void write_table(const struct form_list *list, const struct form_result *results) {
    char path[512];
    if (getenv("OUT") == NULL)
        return;
    snprintf(path, sizeof path, "%s/opcodes.txt", getenv("OUT"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < list->count; i++) {
        char name[2 * FORM_TEXT];
        form_name(&list->forms[i], name);
        fprintf(file, "%s\t%g\t%g\t%ld\t%ld\t%s%s\n", name, results[i].worst_ulps,
                list->forms[i].row->ulps, results[i].mismatches, results[i].compared,
                results[i].failure, results[i].worst);
        for (int j = 0; j < FORM_SAMPLES && *results[i].samples[j]; j++)
            fprintf(file, "\t%s\n", results[i].samples[j]);
    }
    fclose(file);
}

static void keep_only(struct form_list *list, const char *part) {
    int kept = 0;
    for (int i = 0; i < list->count; i++)
        if (part == NULL || strstr(list->forms[i].opcode, part) != NULL)
            list->forms[kept++] = list->forms[i];
    list->count = kept;
}

static int setting(const char *name, int otherwise) {
    return getenv(name) != NULL ? atoi(getenv(name)) : otherwise;
}

static void devices_agree(void **state) {
    const char *device = getenv("EVOTILE_DEVICE");
    const struct form_plan plan = {.one = EMULATED,
                                   .other = device ? device : "cuda:0",
                                   .threads = setting("EVOTILE_BLOCKS", 128) * FORM_THREADS,
                                   .seed = (uint64_t)setting("EVOTILE_SEED", 0),
                                   .jobs = processes_jobs()};
    struct form_list list;
    (void)state;
    form_list_make(&list);
    keep_only(&list, getenv("EVOTILE_FORMS"));
    struct form_result *results = forms_judge(&list, &plan);
    write_table(&list, results);
    int bad = forms_report(&list, results, stdout);
    print_message("%d forms, %d of them differ\n", list.count, bad);
    forms_release(results, &list);
    form_list_free(&list);
    assert_int_equal(bad, 0);
}

int main(void) {
    const char *spec = getenv("EVOTILE_DEVICE");
    const struct CMUnitTest tests[] = {cmocka_unit_test(devices_agree)};
    struct device_info device;
    struct error error = {0};
    if (device_describe(spec ? spec : "cuda:0", &device, &error) < 0) {
        printf("no GPU: %s\n", error.text);
        return 77;
    }
    if (device.compute_capability != 90) {
        printf("%s is not sm_90, which some forms need\n", device.name);
        return 77;
    }
    printf("%s, driver %s\n", device.name, device.driver);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
