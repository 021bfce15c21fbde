/* The export's Makefile. */
#include "freeze/parts.h"

#include <string.h>

static const char rules[] = "all: lib$(NAME).a check.bin\n"
                            "\n"
                            "lib$(NAME).a: $(objects)\n"
                            "\trm -f $@\n"
                            "\t$(NVCC) --lib -o $@ $^\n"
                            "\n"
                            "check.bin: check.o reference.o lib$(NAME).a\n"
                            "\t$(NVCC) -o $@ $^ -lm\n"
                            "\n"
                            "check: check.bin\n"
                            "\t./check.bin\n"
                            "\n"
                            "bench: check.bin\n"
                            "\t./check.bin --bench\n"
                            "\n";

int write_makefile(const struct export *export, struct text *text, struct error *error) {
    char architecture[NAME_SIZE] = "";
    char stem[STEM_SIZE];
    struct text flags = {0};
    for (int unit = 0; unit < export->request->unit_count; unit++) {
        struct text options = {0};
        if (unit_options(export, unit, architecture, &options, error) < 0) {
            text_release(&options);
            text_release(&flags);
            return -1;
        }
        text_print(&flags, "%s.o: %s.cu\n\t$(NVCC) $(GENCODE)%s -c -o $@ $<\n\n",
                   unit_stem(unit, stem), unit_stem(unit, stem), options.bytes);
        text_release(&options);
    }
    text_print(
        text,
        "# %s: nvcc alone builds it. Written by evotile: do not edit.\n"
        "#\n"
        "#   make         lib%s.a, to link with -lcudart, and check.bin\n"
        "#   make check   proves the kernel right against the CPU reference\n"
        "#   make bench   proves it and times it beside the recorded latencies\n"
        "#\n"
        "# ARCH is what the kernel was tuned for; `make ARCH=sm_89` builds it for another.\n\n"
        "NAME := %s\n"
        "ARCH ?= %s\n"
        "CUDA_HOME ?= /usr/local/cuda\n"
        "NVCC ?= $(or $(shell command -v nvcc),$(CUDA_HOME)/bin/nvcc)\n"
        "GENCODE := -gencode=arch=$(ARCH:sm_%%=compute_%%),code=$(ARCH)\n"
        "CFLAGS := -O3 -Xcompiler -Wall,-Wextra\n"
        "objects := $(NAME).o",
        export->name, export->name, export->name, architecture);
    for (int unit = 0; unit < export->request->unit_count; unit++)
        text_print(text, " %s.o", unit_stem(unit, stem));
    text_print(text, "\n\n.PHONY: all check bench clean\n\n%s", rules);
    text_print(text, "# The options that evotile compiled the kernel with.\n%s", flags.bytes);
    text_print(text, "$(NAME).o: $(NAME).c $(NAME).h\n"
                     "check.o: check.c cases.h $(NAME).h\n"
                     "$(NAME).o check.o reference.o: %%.o: %%.c\n"
                     "\t$(NVCC) $(CFLAGS) -c -o $@ $<\n\n"
                     "clean:\n"
                     "\trm -f *.o lib$(NAME).a check.bin\n");
    text_release(&flags);
    return 0;
}
