/* What is written for the frameworks that call the kernel: which files `with` asks for. */
#include "export/internal.h"

#include <stdio.h>

int write_frameworks(const struct export *export, struct error *error) {
    static const struct {
        const char *name; /* what begins with a dot or _ follows the export's name */
        unsigned with;    /* any of them asks for it */
        int (*write)(const struct export *export, struct strbuf *text, struct error *error);
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
        struct strbuf text = {0};
        char name[NAME_SIZE + 16];
        if ((export->request->with & files[i].with) == 0)
            continue;
        const bool ending = files[i].name[0] == '.' || files[i].name[0] == '_';
        snprintf(name, sizeof name, "%s%s", ending ? export->name : "", files[i].name);
        if (write_text(export, name, files[i].write(export, &text, error), &text, error) < 0)
            return -1;
    }
    return 0;
}
