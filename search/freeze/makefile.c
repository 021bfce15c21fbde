/* The export's Makefile. */
#include "freeze/parts.h"

#include <string.h>

static const char rules[] =
    "CUDA_HOME ?= /usr/local/cuda\n"
    "NVCC ?= $(or $(shell command -v nvcc),$(CUDA_HOME)/bin/nvcc)\n"
    "BIN2C ?= $(dir $(realpath $(shell command -v $(NVCC))))bin2c\n"
    "CFLAGS := -O3 -Xcompiler -Wall,-Wextra\n"
    "\n"
    "ifeq ($(SOURCE),1)\n"
    "from := source/\n"
    "else ifneq ($(ARCH),$(TUNED_ARCH))\n"
    "$(error the machine code is for $(TUNED_ARCH): make SOURCE=1 ARCH=$(ARCH) compiles "
    "kernel.cu)\n"
    "endif\n"
    "\n"
    ".DELETE_ON_ERROR:\n"
    ".SECONDARY:\n"
    ".PHONY: all check bench clean FORCE\n"
    "\n"
    "all: lib$(NAME).a check.bin\n"
    "\n"
    "check: check.bin\n"
    "\t./check.bin\n"
    "\n"
    "bench: check.bin\n"
    "\t./check.bin --bench\n"
    "\n"
    "lib$(NAME).a: $(NAME).o $(addprefix $(from),$(units:=_cubin.o))\n"
    "\trm -f $@\n"
    "\t$(NVCC) --lib -o $@ $^\n"
    "\n"
    "check.bin: check.o reference.o lib$(NAME).a\n"
    "\t$(NVCC) -o $@ $^ -lcuda -lm\n"
    "\n"
    "check.o: cases.h\n"
    "check.o $(NAME).o: $(NAME).h\n"
    "%.o: %.c .build\n"
    "\t$(NVCC) $(CFLAGS) -D$(PREFIX)_ARCH=$(ARCH) -c -o $@ $<\n"
    "\n"
    "source/%_cubin.c: %.cu .build\n"
    "\tmkdir -p source\n"
    "\t$(NVCC) -arch=$(ARCH) $(options) -cubin -o source/$*.cubin $<\n"
    "\t$(BIN2C) --const --type longlong --name $(NAME)_$*_cubin source/$*.cubin >$@\n"
    "\n"
    "# Changes when another build is asked for, and then everything is made anew.\n"
    ".build: FORCE\n"
    "\t@echo '$(from) $(ARCH) $(NVCC)' | cmp -s - $@ || echo '$(from) $(ARCH) $(NVCC)' >$@\n"
    "\n"
    "clean:\n"
    "\trm -rf *.o lib$(NAME).a check.bin source .build\n"
    "\n";

int write_makefile(const struct export *export, struct text *text, struct error *error) {
    char architecture[NAME_SIZE] = "";
    char stem[STEM_SIZE];
    struct text units = {0};
    struct text flags = {0};
    struct text upper = {0};
    int result = 0;
    for (int unit = 0; unit < export->request->unit_count && result == 0; unit++) {
        struct text options = {0};
        result = unit_options(export, unit, architecture, &options, error);
        text_print(&units, " %s", unit_stem(unit, stem));
        text_print(&flags, "source/%s_cubin.c: options :=%s\n", stem, options.bytes);
        text_release(&options);
    }
    add_upper(export, &upper);
    text_print(
        text,
        "# %s: nvcc alone builds it. Written by evotile: do not edit.\n"
        "#\n"
        "#   make            lib%s.a, to link with -lcudart -lcuda, and check.bin: the machine "
        "code\n"
        "#                   that was timed, for %s\n"
        "#   make check      proves the kernel right against the CPU reference\n"
        "#   make bench      proves it and times it beside the recorded latencies\n"
        "#   make SOURCE=1   the same, but of kernel.cu as it is now, compiled by nvcc; with\n"
        "#                   ARCH=sm_89 for another GPU. It may be slower: nvcc makes other "
        "machine\n"
        "#                   code than NVRTC, by which it was tuned\n\n"
        "NAME := %s\n"
        "PREFIX := %s\n"
        "TUNED_ARCH := %s\n"
        "ARCH ?= $(TUNED_ARCH)\n"
        "units :=%s\n%s"
        "# The options that evotile compiled the kernel with.\n%s",
        export->name, export->name, architecture, export->name, upper.bytes, architecture,
        units.bytes, rules, flags.bytes);
    text_release(&units);
    text_release(&flags);
    text_release(&upper);
    return result;
}
