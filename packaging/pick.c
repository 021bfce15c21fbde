/* Picks a kernel for 4 rows of 40 columns from app.wisdom, for packaging/try_packages: a program on a host that has
   libevotile_wisdom installed, and no GPU. */
#include <evotile_wisdom.h>
#include <stdio.h>

int main(void) {
    static const char *const dimensions[] = {"ROWS", "COLS", NULL};
    const struct evotile_wisdom_names names = {"softmax_rows", dimensions, NULL, NULL};
    const struct evotile_wisdom_device device = {"NVIDIA H200", 9, 0, 132};
    const int64_t shape[] = {4, 40};
    struct evotile_wisdom *wisdom;
    struct evotile_wisdom_kernel *kernel;
    struct evotile_wisdom_choice choice;
    struct evotile_wisdom_message message;
    char text[512];
    if (evotile_wisdom_load(&wisdom, "app.wisdom", &message) != 0 ||
        evotile_wisdom_open(&kernel, wisdom, &names, &device, &message) != 0) {
        fprintf(stderr, "%s\n", message.text);
        return 1;
    }
    const int status = evotile_wisdom_pick(kernel, shape, 0, &choice);
    if (status == 0) {
        evotile_wisdom_describe(&choice, text, sizeof text);
        puts(text);
    }
    evotile_wisdom_close(kernel);
    evotile_wisdom_free(wisdom);
    return status != 0;
}
