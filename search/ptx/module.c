#include "ptx/decode.h"

#include "base/memory.h"
#include "ptx/half.h"

#include <stdlib.h>
#include <string.h>

static const char *copy_name(struct ptx_module *module, int name) {
    struct slice slice = module->ast->names[name].slice;
    char *text = arena_alloc(module->ast->arena, (size_t)slice.length + 1);
    memcpy(text, slice.text, (size_t)slice.length);
    return text;
}

static const struct module_variable *find_variable(const struct ptx_module *module, int name) {
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i].name == name)
            return &module->variables[i];
    return NULL;
}

/* Converts one element of an initialiser to bytes; a name stands for its address. */
static int initialiser_bits(const struct ptx_module *module, const struct operand *value,
                            enum type type, uint64_t *bits) {
    *bits = value->bits;
    if (value->kind == OPERAND_NAME) {
        const struct module_variable *variable = find_variable(module, value->name);
        bool known = variable || ast_find_function(module->ast, value->name);
        if (!known || type_bytes(type) != 8)
            return -1;
        *bits = variable ? *bits + variable->address : function_address(value->name);
    } else if (type == TYPE_F32 && value->kind == OPERAND_FLOAT64) {
        *bits = float_bits((float)bits_double(value->bits));
    } else if (type == TYPE_F64 && value->kind == OPERAND_FLOAT32) {
        *bits = double_bits(bits_float((uint32_t)value->bits));
    }
    return value->kind == OPERAND_SINK ? -1 : 0;
}

static int initialise_variable(struct ptx_module *module, const struct variable *variable,
                               const struct module_variable *allocated, struct error *error) {
    uint8_t *data = ptx_memory_host_bytes(module->memory, allocated->address, allocated->bytes);
    size_t bytes = (size_t)type_bytes(variable->type);
    memset(data, 0, allocated->bytes); /* elements without an initialiser are zero */
    ptx_memory_mark_written(module->memory, allocated->address, allocated->bytes);
    if ((uint64_t)variable->value_count * bytes > variable->bytes || bytes > 8)
        return error_set(error, "PTX: the initialiser of '%s' does not fit",
                         copy_name(module, variable->name));
    for (int i = 0; i < variable->value_count; i++) {
        uint64_t bits;
        if (initialiser_bits(module, &variable->values[i], variable->type, &bits) < 0)
            return error_set(error, "PTX: value %d of '%s' cannot be evaluated", i,
                             copy_name(module, variable->name));
        memcpy(data + (size_t)i * bytes, &bits, bytes);
    }
    return 0;
}

static bool is_module_variable(const struct variable *variable) {
    return variable->space == SPACE_GLOBAL || variable->space == SPACE_CONST;
}

static int allocate_variables(struct ptx_module *module, struct error *error) {
    struct ast *ast = module->ast;
    uint64_t total = 0;
    module->variables =
        arena_alloc(ast->arena, (size_t)ast->variable_count * sizeof *module->variables);
    for (int i = 0; i < ast->variable_count; i++) {
        const struct variable *variable = ast->variables[i];
        if (!is_module_variable(variable) || find_variable(module, variable->name))
            continue;
        total += variable->bytes;
        uint64_t address =
            total > 256 << 20
                ? 0
                : ptx_memory_allocate(module->memory, copy_name(module, variable->name),
                                      variable->bytes);
        if (!address)
            return error_set(error, "PTX: out of memory for '%s'",
                             copy_name(module, variable->name));
        module->variables[module->variable_count++] = (struct module_variable){
            variable->name, address, variable->bytes, variable->space == SPACE_CONST};
    }
    /* Initialisers may contain addresses, so they come after all variables have one. */
    for (int i = 0; i < ast->variable_count; i++) {
        const struct variable *variable = ast->variables[i];
        const struct module_variable *allocated = find_variable(module, variable->name);
        if (is_module_variable(variable) && allocated && allocated->bytes == variable->bytes &&
            initialise_variable(module, variable, allocated, error) < 0)
            return -1;
    }
    return 0;
}

static void decode_kernels(struct ptx_module *module) {
    const struct ast *ast = module->ast;
    module->kernels =
        arena_alloc(ast->arena, (size_t)ast->function_count * sizeof *module->kernels);
    for (int i = 0; i < ast->function_count; i++) {
        const struct function *function = &ast->functions[i];
        if (!function->is_entry || !function->is_defined)
            continue;
        struct kernel *kernel = &module->kernels[module->kernel_count++];
        kernel->module = module;
        kernel->info.name = copy_name(module, function->name);
        uint64_t threads = 1;
        for (int axis = 0; axis < 3; axis++)
            threads *= function->max_block[axis];
        kernel->info.max_threads = threads > 1024 ? 1024 : (unsigned)threads;
        memcpy(kernel->info.required_block, function->required_block,
               sizeof function->required_block);
        memcpy(kernel->info.cluster, function->cluster, sizeof function->cluster);
        decode_kernel(module, kernel, function);
    }
}

struct ptx_module *ptx_module_new(const char *text, struct ptx_memory *memory,
                                  struct error *error) {
    struct ast *ast = ast_parse(text, error);
    if (!ast)
        return NULL;
    struct ptx_module *module = arena_alloc(ast->arena, sizeof *module);
    module->ast = ast;
    module->memory = memory;
    module->lanes = lanes_select();
    if (allocate_variables(module, error) < 0) {
        ptx_module_free(module);
        return NULL;
    }
    decode_kernels(module);
    return module;
}

void ptx_module_free(struct ptx_module *module) {
    if (!module)
        return;
    for (int i = 0; i < module->variable_count; i++)
        ptx_memory_release(module->memory, module->variables[i].address);
    for (int i = 0; i < module->kernel_count; i++) {
        struct kernel *kernel = &module->kernels[i];
        free(kernel->code);
        free(kernel->operands);
        free(kernel->targets);
        free(kernel->constants);
        free(kernel->specials);
        for (int j = 0; j < kernel->routine_count; j++)
            free(kernel->routines[j].registers);
        free(kernel->routines);
    }
    ast_free(module->ast);
}

const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module, const char *name) {
    for (int i = 0; i < module->kernel_count; i++)
        if (!strcmp(module->kernels[i].info.name, name))
            return &module->kernels[i].info;
    return NULL;
}

uint64_t ptx_module_variable(const struct ptx_module *module, const char *name, size_t *bytes) {
    int index = ast_find_name(module->ast, name);
    const struct module_variable *variable = index >= 0 ? find_variable(module, index) : NULL;
    if (!variable)
        return 0;
    *bytes = variable->bytes;
    return variable->address;
}

void *ptx_module_save(const struct ptx_module *module) {
    uint64_t total = 0, at = 0;
    for (int i = 0; i < module->variable_count; i++)
        total += module->variables[i].is_const ? 0 : module->variables[i].bytes;
    uint8_t *saved = total > 0 ? xmalloc(total) : NULL;
    for (int i = 0; i < module->variable_count; i++) {
        const struct module_variable *variable = &module->variables[i];
        if (variable->is_const)
            continue;
        memcpy(saved + at,
               ptx_memory_host_bytes(module->memory, variable->address, variable->bytes),
               variable->bytes);
        at += variable->bytes;
    }
    return saved;
}

void ptx_module_restore(const struct ptx_module *module, const void *saved) {
    const uint8_t *from = saved;
    for (int i = 0; saved != NULL && i < module->variable_count; i++) {
        const struct module_variable *variable = &module->variables[i];
        if (variable->is_const)
            continue;
        memcpy(ptx_memory_host_bytes(module->memory, variable->address, variable->bytes), from,
               variable->bytes);
        from += variable->bytes;
    }
}
