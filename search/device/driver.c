#include "device/driver.h"

#include <dlfcn.h>

#define TEXT(x)   #x
#define SYMBOL(x) TEXT(x)

int driver_open(struct driver *driver, struct error *error) {
    *driver = (struct driver){.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (driver->library == NULL)
        return error_set(
            error, "no NVIDIA driver (libcuda.so.1): install it, or use --device emulated:sm_89");
#define X(name)                                                                                    \
    driver->name = (__typeof__(&name))dlsym(driver->library, SYMBOL(name));                        \
    if (driver->name == NULL) {                                                                    \
        driver_close(driver);                                                                      \
        return error_set(error,                                                                    \
                         "the NVIDIA driver lacks %s: update it to one of CUDA 12.4 or later",     \
                         SYMBOL(name));                                                            \
    }
    DRIVER_FUNCTIONS(X)
#undef X
    return 0;
}

void driver_close(struct driver *driver) {
    if (driver->library != NULL)
        dlclose(driver->library);
    *driver = (struct driver){0};
}

const char *driver_error_name(const struct driver *driver, CUresult status) {
    const char *name = NULL;
    if (driver->cuGetErrorName(status, &name) != CUDA_SUCCESS || name == NULL)
        return "an unknown error";
    return name;
}
