# evotile: one non-recursive makefile; all output under build/ (build/san with SAN=1).
#
#   make            build/evotile            make check       every test that needs no GPU
#   make demo       the main job, a minute   make check-gpu   those that need one
#   make help       all targets

.DEFAULT_GOAL := all
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PREFIX ?= /usr/local
SAN ?= 0
BUILD := build$(if $(filter 1,$(SAN)),/san)
CC := gcc
CXX := g++

# The CUDA Toolkit: CUDA_HOME, else the folder of nvcc on PATH, else /usr/local/cuda.
CUDA_HOME ?= $(or $(patsubst %/bin/nvcc,%,$(realpath $(shell command -v nvcc 2>/dev/null))),/usr/local/cuda)

sources := $(shell find search -name '*.c' | sort)
cxx_sources := $(shell find search -name '*.cpp' | sort)
embedded := $(shell find search -name '*.cu' | sort)
objects := $(sources:%.c=$(BUILD)/%.o) $(cxx_sources:%.cpp=$(BUILD)/%.o) $(embedded:%.cu=$(BUILD)/%.cu.o)
library_objects := $(filter-out $(BUILD)/search/main.o,$(objects))
tests := $(patsubst %.c,$(BUILD)/%,$(shell find tests -name '*_test.c' | sort))
fuzzers := $(patsubst %.c,$(BUILD)/%,$(shell find tests/fuzz -name '*_fuzz.c' 2>/dev/null | sort))

packages := libcjson sqlite3 zlib
version := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
sanitize := $(if $(filter 1,$(SAN)),-fsanitize=address,undefined -fno-sanitize-recover=all)
CPPFLAGS += -Isearch -I$(CUDA_HOME)/include -D_GNU_SOURCE
CFLAGS ?= -O2 -g
warnings := -Wall -Wextra -Werror
LDLIBS += $(shell pkg-config --libs $(packages) 2>/dev/null) -lstdc++ -lm -ldl -lpthread
LDFLAGS += -Wl,-rpath,'$$ORIGIN/lib'

all: $(BUILD)/evotile

$(BUILD)/evotile: $(BUILD)/search/main.o $(BUILD)/libevotile.a
	$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/libevotile.a: $(library_objects)
	rm -f $@; ar crs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPPFLAGS) $(CFLAGS) $(warnings) $(sanitize) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(CPPFLAGS) $(CFLAGS) $(warnings) $(sanitize) -fno-exceptions -fno-rtti -MMD -MP -c -o $@ $<

$(BUILD)/tests/%_test: tests/%_test.c $(BUILD)/libevotile.a
	@mkdir -p $(@D)
	$(CC) -std=c11 $(CPPFLAGS) -Itests $(CFLAGS) $(warnings) $(sanitize) $(LDFLAGS) -MMD -MP -o $@ $< $(BUILD)/libevotile.a -lcmocka $(LDLIBS)

-include $(objects:.o=.d) $(tests:=.d)

.PHONY: all
