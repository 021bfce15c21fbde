/* What is written for the frameworks that call the kernel: which files `with` asks for. */
#include "export/internal.h"

#include <stdio.h>
#include <string.h>

/* Words that a tensor, a dimension or a scalar cannot have for a name there: of Python, and of what
   is written around them. */
static const char *const reserved[] = {
    "False",     "None",   "True",     "as",       "assert",   "async",     "await",   "def",
    "del",       "elif",   "except",   "finally",  "from",     "global",    "import",  "in",
    "is",        "lambda", "nonlocal", "pass",     "raise",    "with",      "yield",   "call",
    "fall_back", "given",  "reason",   "returned", "result",   "results",   "shape",   "stack",
    "status",    "stream", "tensors",  "torch",    "jax",      "np",        "present", "arguments",
    "scratch",   "why",    "names",    "arrays",   "in_place", "workspace", "self",    NULL};
/* Modules that NAME.py would take the place of, in the folder that Python then looks in. */
static const char *const modules[] = {"torch",     "jax", "numpy", "ctypes",
                                      "importlib", "os",  "sys",   NULL};

static bool is_reserved(const char *name, const char *const *words) {
    while (*words != NULL && strcmp(*words, name) != 0)
        words++;
    return *words != NULL;
}

int check_framework_names(const struct export *export, struct error *error) {
    const struct template *template = export->template;
    const char *bad = NULL;
    if (export->request->with == 0)
        return 0;
    for (int d = 0; d < template->dimension_count; d++)
        if (is_reserved(template->dimensions[d].name, reserved))
            bad = template->dimensions[d].name;
    for (int t = 0; t < template->tensor_count; t++)
        if (is_parameter(&template->tensors[t]) && is_reserved(template->tensors[t].name, reserved))
            bad = template->tensors[t].name;
    for (int s = 0; s < template->scalar_count; s++)
        if (is_reserved(template->scalars[s].name, reserved))
            bad = template->scalars[s].name;
    if (bad != NULL)
        return error_input(
            error,
            "%s: --with: \"%s\" has another meaning in the code for frameworks: rename "
            "it, or export without --with",
            template->document.file, bad);
    if (is_reserved(export->name, modules))
        return error_input(error,
                           "--with: a kernel named %s would take the place of that Python module: "
                           "choose another --out",
                           export->name);
    return 0;
}

int write_frameworks(const struct export *export, struct error *error) {
    static const struct {
        const char *name;
        unsigned with; /* any of them asks for it */
        export_writer *write;
    } files[] = {
        {"_call.h", ~0u, write_call_header},
        {"_call.c", ~0u, write_call},
        {"_ctypes.py", EXPORT_WITH_CTYPES, write_ctypes_module},
        {"_torch.cpp", EXPORT_WITH_TORCH, write_torch_source},
        {".py", EXPORT_WITH_TORCH, write_torch_module},
        {"_jax.cpp", EXPORT_WITH_JAX, write_jax_source},
        {"_jax.py", EXPORT_WITH_JAX, write_jax_module},
        {"build_wheel.py", ~0u, write_wheel_builder},
        {"pyproject.toml", ~0u, write_pyproject},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if ((export->request->with & files[i].with) == 0)
            continue;
        if (write_export_file(export, files[i].name, files[i].write, error) < 0)
            return -1;
    }
    return 0;
}
