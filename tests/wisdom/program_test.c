/*
 * The main property: for random genomes of every shipped template, at the cases of the configs,
 * libevotile_wisdom launches what template_launch_plan plans, from the file alone.
 */
#include "wisdom/example.h"
#include "wisdom/stand_in_driver.h"

#include "base/random.h"
#include "wisdom/evotile_wisdom.h"

#include <string.h>

/* What the launches are compared with. */
static struct {
    const struct launch_plan *plan;
    char *names;                  /* of kernels in the machine code */
    void *addresses[TENSORS_MAX]; /* by the template's tensor */
    int next;
} expected;

static void *tensor_address(int tensor) {
    return tensor < 0 || !expected.plan->tensors[tensor].present ? NULL
                                                                 : expected.addresses[tensor];
}

static void compare_map(const struct tensor_map *map, void *address, const void *parameter) {
    struct stand_in_map made;
    static const struct stand_in_map none;
    memcpy(&made, parameter, sizeof made);
    if (map->rank == 0) {
        assert_memory_equal(&made, &none, sizeof none);
        return;
    }
    assert_ptr_equal(made.address, address);
    assert_int_equal(made.rank, map->rank);
    assert_int_equal(made.swizzle, map->swizzle);
    assert_int_equal(made.element_bytes, map->element_bytes);
    for (int i = 0; i < map->rank; i++) {
        assert_int_equal(made.sizes[i], map->extents[i]);
        assert_int_equal(made.box[i], map->box[i]);
        if (i + 1 < map->rank)
            assert_int_equal(made.strides[i], map->strides[i]);
    }
}

static void compare_attributes(const CUlaunchConfig *config, const struct planned_launch *planned) {
    bool early = false, cooperative = false;
    int percent = 0;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            early = true;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            cooperative = true;
        if (attribute->id != CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
            continue;
        percent = (int)(attribute->value.accessPolicyWindow.hitRatio * 100 + 0.5f);
        assert_ptr_equal(attribute->value.accessPolicyWindow.base_ptr,
                         tensor_address(planned->window_tensor));
    }
    assert_int_equal(early, planned->early);
    assert_int_equal(cooperative, planned->cooperative);
    assert_int_equal(percent, planned->window_percent);
}

static void compare_launch(const CUlaunchConfig *config, const char *kernel, void **parameters) {
    assert_true(expected.next < expected.plan->launch_count);
    const struct planned_launch planned = planned_launch(expected.plan, expected.next++);
    const unsigned grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ},
                   block[] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    assert_string_equal(kernel, kernel_names_find(expected.names, planned.kernel));
    assert_memory_equal(grid, planned.grid, sizeof grid);
    assert_memory_equal(block, planned.block, sizeof block);
    assert_int_equal(config->sharedMemBytes, planned.smem_bytes);
    compare_attributes(config, &planned);
    for (int i = 0; i < planned.argument_count; i++) {
        const struct planned_argument *argument = &planned.arguments[i];
        if (argument->map >= 0)
            compare_map(&expected.plan->maps[argument->map],
                        tensor_address(expected.plan->template->maps[argument->map].tensor),
                        parameters[i]);
        else if (argument->tensor >= 0)
            assert_ptr_equal(*(void **)parameters[i], tensor_address(argument->tensor));
        else if (argument->scalar < 0)
            assert_memory_equal(parameters[i], &argument->value, (size_t)argument->size);
        else
            assert_int_equal(*(uint32_t *)parameters[i], 7 + argument->scalar);
    }
}

/* Lays the workspaces out as the library's caller sees them: one block, parts at multiples of 256.
 */
static int64_t place_tensors(const struct template *template) {
    char *workspace = (char *)0x40000000;
    int64_t used = 0;
    for (int t = 0; t < template->tensor_count; t++) {
        expected.addresses[t] = (void *)(uintptr_t)(0x1000000 * (t + 1));
        if (template->tensors[t].role != ROLE_WORKSPACE || !expected.plan->tensors[t].present)
            continue;
        expected.addresses[t] = workspace + used;
        used += (expected.plan->tensors[t].bytes + 255) / 256 * 256;
    }
    return used;
}

/* The names of a caller that passes everything, in the template's order. */
struct caller {
    const char *dimensions[DIMENSIONS_MAX + 1], *tensors[TENSORS_MAX + 1],
        *scalars[SCALARS_MAX + 1];
    void *addresses[TENSORS_MAX];
    uint64_t values[SCALARS_MAX];
    const void *value_addresses[SCALARS_MAX];
};

static void fill_caller(struct caller *caller, const struct template *template) {
    int count = 0;
    *caller = (struct caller){0};
    for (int d = 0; d < template->dimension_count; d++)
        caller->dimensions[d] = template->dimensions[d].name;
    for (int t = 0; t < template->tensor_count; t++)
        if (!template->tensors[t].of_output &&
            (template->tensors[t].role == ROLE_INPUT || template->tensors[t].role == ROLE_OUTPUT)) {
            caller->tensors[count] = template->tensors[t].name;
            caller->addresses[count++] = tensor_address(t);
        }
    for (int s = 0; s < template->scalar_count; s++) {
        caller->scalars[s] = template->scalars[s].name;
        caller->values[s] = 7 + (uint64_t)s;
        caller->value_addresses[s] = &caller->values[s];
    }
}

static void launch_and_compare(const struct template *template, const struct genome *genome,
                               int c) {
    struct launch_plan plan;
    struct error error = {0};
    struct evotile_wisdom *wisdom;
    struct evotile_wisdom_kernel *kernel;
    struct evotile_wisdom_choice choice;
    struct evotile_wisdom_message message;
    struct caller caller;
    const struct evotile_wisdom_device device = {"NVIDIA H200", 9, 0, 132};
    assert_int_equal(template_launch_plan(template, genome, c, &plan, &error), 0);
    expected.plan = &plan;
    expected.names = example_names(template);
    expected.next = 0;
    const int64_t workspace = place_tensors(template);
    fill_caller(&caller, template);
    const struct evotile_wisdom_names names = {template->name, caller.dimensions, caller.tensors,
                                               caller.scalars};
    if (evotile_wisdom_load(&wisdom, example_path("one.wisdom"), &message) != 0 ||
        evotile_wisdom_open(&kernel, wisdom, &names, &device, &message) != 0)
        fail_msg("%s: %s", template->name, message.text);
    assert_string_equal(message.text, "");
    assert_int_equal(evotile_wisdom_pick(kernel, template->cases[c].values, 0, &choice), 0);
    assert_int_equal(choice.how, EVOTILE_WISDOM_EXACT);
    assert_int_equal(evotile_wisdom_workspace(&choice), workspace);
    struct evotile_wisdom_call call = {.tensors = caller.addresses,
                                       .scalars = caller.value_addresses,
                                       .workspace = (void *)0x40000000,
                                       .workspace_bytes = workspace};
    const int status = evotile_wisdom_launch(&choice, &call);
    if (status != 0)
        fail_msg("%s, case %d: %s", template->name, c, evotile_wisdom_status_text(status));
    assert_int_equal(expected.next, plan.launch_count);
    if (workspace > 0) {
        call.workspace_bytes--;
        assert_int_equal(evotile_wisdom_launch(&choice, &call), EVOTILE_WISDOM_NO_ARGUMENT);
    }
    free(expected.names);
    evotile_wisdom_close(kernel);
    evotile_wisdom_free(wisdom);
}

/* One genome at one case: packed alone, loaded and launched. */
static void check_genome(const struct template *template, const struct genome *genome, int c) {
    unlink(example_path("one.db"));
    struct wisdom_store *store = example_store("one.db", STORE_WRITE);
    example_put(store, template, genome, c, false, (struct wisdom_figure){.p50_us = 5});
    example_pack(store, "one.wisdom");
    wisdom_store_close(store);
    launch_and_compare(template, genome, c);
}

/* A valid genome at random; counting all to draw one evenly would take longer than the test. */
static bool draw_genome(const struct space *space, struct random *random, struct genome *genome) {
    for (int attempt = 0; attempt < 400; attempt++) {
        *genome = genome_default(space);
        for (int g = 0; g < space->gene_count; g++)
            if (random_below(random, 3) == 0)
                genome->value[g] = (uint8_t)random_below(random, (uint64_t)space->genes[g].count);
        genome_canonicalise(genome, space);
        if (space_check(space, genome, NULL))
            return true;
    }
    return false;
}

/* Takes the config. Of the first cases, every solution. */
static int check_config(struct config *config, const struct device_info *device, int genomes) {
    struct error error = {0};
    struct random random;
    int checked = 0;
    random_seed(&random, 1, 2);
    for (int goal = 0; goal < config_rivals(config); goal++) {
        struct template *template = config_load_template(config, goal, device, &error);
        if (template == NULL)
            fail_msg("%s: %s", config->path, error.text);
        for (int g = 0; g < genomes && template_has_kernel(template); g++) {
            struct genome genome = genome_default(template->space);
            if (g > 0 && !draw_genome(template->space, &random, &genome))
                continue;
            if (!template_genome_is_valid(template, &genome, 0))
                continue;
            check_genome(template, &genome,
                         (int)random_below(&random, (uint64_t) template->case_count));
            checked++;
        }
        template_free(template);
    }
    config_free(config);
    return checked;
}

static void launches_are_planned(void **state) {
    static const char *const configs[] = {"attention_decode",
                                          "attention_decode_paged",
                                          "attention_hopper",
                                          "attention_l4",
                                          "attention_varlen",
                                          "convolution_2d",
                                          "cross_entropy",
                                          "gemm_f32",
                                          "gemm_h200",
                                          "layer_norm",
                                          "nbody",
                                          "quantized_gemv",
                                          "reduce_sum",
                                          "softmax",
                                          "spmv_csr",
                                          "stencil_2d",
                                          "transpose"};
    struct device_info device;
    struct error error = {0};
    const int genomes = getenv("EVOTILE_LONG") != NULL ? 200 : 4;
    int checked = 0;
    (void)state;
    assert_int_equal(device_describe("emulated:sm_90", &device, &error), 0);
    stand_in = (struct stand_in){.context = 1, .on_launch = compare_launch};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "configs/%s.json", configs[i]);
        struct config *config = config_load(path, NULL, &error);
        if (config == NULL)
            fail_msg("%s", error.text);
        checked += check_config(config, &device, genomes);
    }
    assert_true(checked > 30);
}

/* What no shipped template has: repeats whose tensors change places, variables, scalars. */
static void unusual_launches_are_planned(void **state) {
    static const struct {
        const char *name, *shape;
        int memsets, copies; /* of a call */
    } rows[] = {{"heat_steps", "{ \"ROWS\": 3, \"COLS\": 100, \"STEPS\": 7 }", 0, 0},
                {"heat_steps", "{ \"ROWS\": 3, \"COLS\": 100, \"STEPS\": 1 }", 0, 0},
                {"constant_filter", "{ \"H\": 30, \"W\": 50 }", 0, 1},
                {"weighted_pick", "{ \"ROWS\": 70, \"COLS\": 50 }", 0, 0},
                {"scaled_add", "{ \"ROWS\": 7, \"COLS\": 50, \"BIAS\": 1 }", 0, 0}};
    struct device_info device;
    struct error error = {0};
    (void)state;
    assert_int_equal(device_describe("emulated:sm_90", &device, &error), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512], folder[PATH_SIZE];
        stand_in = (struct stand_in){.context = 1, .on_launch = compare_launch};
        snprintf(folder, sizeof folder, "tests/templates/%s", rows[i].name);
        snprintf(text, sizeof text, "{ \"template\": \"%s\", \"cases\": [ %s ] }", rows[i].name,
                 rows[i].shape);
        struct config *config = config_from_text(rows[i].name, text, folder, &error);
        if (config == NULL)
            fail_msg("%s", error.text);
        const int checked = check_config(config, &device, 3);
        assert_true(checked > 0);
        assert_int_equal(stand_in.memsets, checked * rows[i].memsets);
        assert_int_equal(stand_in.copies, checked * rows[i].copies);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_are_planned),
                                       cmocka_unit_test(unusual_launches_are_planned)};
    return cmocka_run_group_tests(tests, example_setup, example_teardown);
}
