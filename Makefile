# evotile: one non-recursive makefile; all output under build/ (build/san with SAN=1). `make help`
# lists the targets. It calls itself only to start again once `make deps` has installed things.

.DEFAULT_GOAL := all
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:

PREFIX ?= /usr/local
SAN ?= 0
FUZZ ?= 0
FUZZ_RUNS ?= 1000000
MUTATIONS ?= 1000000

# ---- what is built from what ----

sources := $(shell find search -name '*.c' | sort)
cxx_sources := $(shell find search -name '*.cpp' | sort)
embedded := $(shell find search -name '*.cu' -o -name '*.in' | sort)
test_sources := $(shell find tests -name '*_test.c' -not -path 'tests/gpu/*' | sort)
gpu_sources := $(shell find tests/gpu -name '*_test.c' 2>/dev/null | sort)
proposer_sources := $(shell find proposers -name '*.c' | sort)
bench_sources := $(shell find tests/bench -name '*_bench.c' | sort)
fuzz_sources := $(shell find tests/fuzz -name '*_fuzz.c' 2>/dev/null | sort)

BUILD := build
ifeq ($(SAN),1)
BUILD := build/san
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
CC := gcc
CXX := g++
ifeq ($(FUZZ),1) # for libFuzzer: the library itself must report its branches
BUILD := build/fuzz
CC := clang
CXX := clang++
sanitize := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
unlike_gcc := -Wno-error -Wno-unknown-warning-option
endif

objects := $(sources:%.c=$(BUILD)/%.o) $(cxx_sources:%.cpp=$(BUILD)/%.o) \
           $(embedded:%=$(BUILD)/%.o)
library := $(BUILD)/libevotile.a
# What a program links to launch the kernels of a wisdom file; evotile checks with it what it packs.
wisdom_object := $(BUILD)/wisdom/evotile_wisdom.o
wisdom_libraries := $(addprefix $(BUILD)/wisdom/,libevotile_wisdom.a libevotile_wisdom.so evotile_wisdom.pc)
library_objects := $(filter-out $(BUILD)/search/main.o,$(objects)) $(wisdom_object)
tests := $(test_sources:%.c=$(BUILD)/%)
gpu_tests := $(gpu_sources:%.c=$(BUILD)/%)
fuzzers := $(fuzz_sources:%.c=$(BUILD)/%)
benches := $(bench_sources:%.c=$(BUILD)/%)
# A program for each file that lies in proposers/ itself; its folders are one library.
proposers := $(patsubst %.c,$(BUILD)/%,$(shell find proposers -maxdepth 1 -name '*.c' | sort))
proposer_objects := $(filter-out $(proposers:=.o),$(proposer_sources:%.c=$(BUILD)/%.o))
proposer_library := $(BUILD)/libproposers.a

# ---- the CUDA Toolkit: CUDA_HOME, else the folder of nvcc on PATH, else /usr/local/cuda ----

nvcc := $(realpath $(shell command -v nvcc 2>/dev/null))
CUDA_HOME ?= $(if $(nvcc),$(patsubst %/bin/,%,$(dir $(nvcc))),/usr/local/cuda)
# Where the program looks for NVRTC after the CUDA_HOME of its environment.
CUDA_HOME_AT_RUN ?= $(CUDA_HOME)

# The least version is 12.4, as cuda.h writes it.
define check_toolkit
have=$$(sed -n 's/^#define CUDA_VERSION *//p' $(CUDA_HOME)/include/cuda.h 2>/dev/null || true); \
if [ "$${have:-0}" -lt 12040 ] || [ ! -e $(CUDA_HOME)/include/nvrtc.h ]; then \
    echo "make: $(CUDA_HOME) holds no CUDA Toolkit of version 12.4 or later: get one from" \
         "https://developer.nvidia.com/cuda-downloads (no GPU or driver is needed to build) and run" \
         "make again, with CUDA_HOME=FOLDER if it lies elsewhere." >&2; exit 1; \
fi
endef

# ---- compiling ----

# What VERSION says; in a checkout of another commit than the one with that tag, the commit too. An unpacked tarball has
# no .git: `make dist` wrote the whole version into its VERSION.
release := $(shell cat VERSION)
ifneq ($(wildcard .git),)
described := $(shell git describe --always --exclude '*' --abbrev=8 --dirty 2>/dev/null || echo unknown)
commit := $(if $(shell git describe --tags --exact-match --match 'v$(release)' 2>/dev/null),,+$(described:-dirty=))
endif
packed := $(release)$(commit)
version := $(packed)$(if $(filter %-dirty,$(described)),-dirty)
CPPFLAGS += -Isearch -I. -I$(CUDA_HOME)/include -D_GNU_SOURCE -DEVOTILE_CUDA_HOME='"$(CUDA_HOME_AT_RUN)"'
CFLAGS ?= -O2 -g
# Hidden: what the engine calls `bind` must not stand in for libc's when the driver calls it.
visibility := -fvisibility=hidden
# gcc 12 takes what open_memstream fills for the address of a local variable.
# WERROR= for a compiler that warns of more than ours.
WERROR ?= -Werror
warnings := -Wall -Wextra $(WERROR) -Wno-dangling-pointer $(unlike_gcc)
# A frame stays small: data of more than a few KB is allocated, and a function with buffers for paths is not inlined
# into another one that has some. The sanitizers enlarge frames.
ifeq ($(SAN)$(FUZZ),00)
frames := -Wframe-larger-than=16384 --param large-stack-frame=4096 --param large-stack-frame-growth=25
endif
# Asked when something is linked, not before: `make deps` may have installed them meanwhile.
LDLIBS += $(shell pkg-config --libs libcjson sqlite3 zlib ncursesw libnats libsodium libmicrohttpd libcurl) -lstdc++ -lm -ldl -lpthread
# build/lib, as `make bundle` fills it, goes along to a machine that lacks these libraries. Not a RUNPATH, which would
# not serve the libraries of libraries. RPATH= where the libraries are the system's for certain, as in a Debian package.
RPATH ?= -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/lib'
LDFLAGS += -Wl,--as-needed $(RPATH)
quiet := $(if $(V),,@)# V=1 shows the commands
in_folder = [ -d $(@D) ] || mkdir -p $(@D);
compile_c = $(CC) -std=c11 $(CPPFLAGS) $(define_version) $(CFLAGS) $(visibility) $(warnings) $(sanitize) -MMD -MP
compile_cxx = $(CXX) -std=c++17 $(CPPFLAGS) $(CFLAGS) $(visibility) $(warnings) $(sanitize) -fno-exceptions \
              -fno-rtti -MMD -MP

all: $(BUILD)/evotile $(proposers) $(BUILD)/proposers/prompts $(wisdom_libraries) ## build/evotile and build/proposers

$(BUILD)/evotile: $(BUILD)/search/main.o $(library)
	@echo "  $@"
	$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(library): $(library_objects)
	@echo "  $@"
	$(quiet)rm -f $@; ar crs $@ $^

$(wisdom_object): wisdom/evotile_wisdom.c $(BUILD)/flags
	@$(in_folder) echo "  $@"
	$(quiet)$(CC) -std=gnu11 -I$(CUDA_HOME)/include $(CFLAGS) -fPIC $(visibility) $(warnings) $(frames) $(sanitize) -MMD -MP -c -o $@ $<

$(BUILD)/wisdom/libevotile_wisdom.a: $(wisdom_object)
	@echo "  $@"
	$(quiet)rm -f $@; ar crs $@ $^

$(BUILD)/wisdom/libevotile_wisdom.so: $(wisdom_object)
	@echo "  $@"
	$(quiet)$(CC) $(sanitize) -shared -Wl,-soname,libevotile_wisdom.so.1 -o $@ $^ -ldl -lm -lpthread

$(BUILD)/wisdom/evotile_wisdom.pc: wisdom/evotile_wisdom.pc.in $(BUILD)/flags
	@$(in_folder) echo "  $@"
	$(quiet)sed 's|@version@|$(version)|' $< >$@

$(proposer_library): $(proposer_objects)
	@echo "  $@"
	$(quiet)rm -f $@; ar crs $@ $^

$(proposers): %: %.o $(proposer_library) $(library)
	@echo "  $@"
	$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Where the programs look for them, beside themselves.
$(BUILD)/proposers/prompts:
	@mkdir -p $(@D); ln -srfn proposers/prompts $@

$(BUILD)/search/%.o $(BUILD)/proposers/%.o: private warnings += $(frames)
$(BUILD)/%.o: %.c $(BUILD)/flags
	@$(in_folder) echo "  $@"
	$(quiet)$(compile_c) -c -o $@ $<

$(BUILD)/%.o: %.cpp $(BUILD)/flags
	@$(in_folder) echo "  $@"
	$(quiet)$(compile_cxx) -c -o $@ $<

# What the engine compiles at run time (.cu) or writes out (.in) becomes read-only bytes between the
# symbols _binary_PATH_start and _binary_PATH_end: PATH is search_trial_judge_cu for search/evaluate/compare.cu.
$(BUILD)/%.cu.o: %.cu ; $(embed)
$(BUILD)/%.in.o: %.in ; $(embed)
define embed
@$(in_folder) echo "  $@"
$(quiet)ld -r -b binary -z noexecstack -o $@ $<
$(quiet)objcopy --rename-section .data=.rodata,alloc,load,readonly,data,contents $@
endef

# Their loops are the model's cost, and -O2 leaves most of them a number at a time.
$(patsubst %,$(BUILD)/search/%.o,base/cholesky strategy/covariance strategy/features strategy/likelihood strategy/surrogate): \
    private CFLAGS += -O3

# Only what names the version is compiled again when it changes.
versioned := $(patsubst %.c,$(BUILD)/%.o,$(shell grep -rl EVOTILE_VERSION search --include='*.c'))
$(versioned): private define_version = -DEVOTILE_VERSION='"$(version)"'
$(versioned): $(BUILD)/version

# These two files change only with their text: other flags or another toolkit recompile everything.
$(BUILD)/flags: text = $(compile_c) $(frames) $(CXX)
$(BUILD)/version: text = $(version)
$(BUILD)/flags $(BUILD)/version: FORCE
	@mkdir -p $(@D)
	@$(check_toolkit)
	@echo $(call quote,$(text)) | cmp -s - $@ || echo $(call quote,$(text)) > $@
quote = '$(subst ','\'',$(1))'

# Compiled apart from linking, so that a change of the library links a test again and compiles nothing; with -Og,
# because a test is compiled more often than its own code matters; there gcc knows fewer ranges of numbers, and takes
# texts for truncated that never are. Gold, where there is one, links the many tests in less than half the time.
test_linker := $(if $(shell command -v ld.gold),-fuse-ld=gold)
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags
	@$(in_folder) echo "  $@"
	$(quiet)$(compile_c) -Og -Wno-format-truncation -Itests -c -o $@ $<

$(BUILD)/tests/%_test: $(BUILD)/tests/%_test.o $(library)
	@echo "  $@"
	$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(test_linker) -o $@ $< $(library) -lcmocka $(LDLIBS)

$(BUILD)/tests/proposers/%_test: $(BUILD)/tests/proposers/%_test.o $(proposer_library) $(library)
	@echo "  $@"
	$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(test_linker) -o $@ $< $(proposer_library) $(library) -lcmocka $(LDLIBS)

# What it loads calls its stand-in for the CUDA runtime.
$(patsubst %,$(BUILD)/tests/export/frozen_%_test,check default references): private LDFLAGS += -rdynamic
# libevotile_wisdom finds their stand-in for the CUDA driver, as that of a program which links the driver.
$(patsubst %,$(BUILD)/tests/%,wisdom/program_test wisdom/pick_test fuzz/wisdom_fuzz): private LDFLAGS += -rdynamic

# The verb with a judge of the tests in place of evaluation_judge.
scripted_server := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/serve/scripted_server.c))
$(BUILD)/tests/serve/scripted_server: %: %.o $(library)
	@echo "  $@"
	$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) -o $@ $< $(library) $(LDLIBS)

$(BUILD)/tests/bench/%_bench: $(BUILD)/tests/bench/%_bench.o $(library)
	@echo "  $@"
	$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(test_linker) -o $@ $< $(library) -lcmocka $(LDLIBS)

# Fuzz targets: with libFuzzer in build/fuzz, else with a small driver that mutates the seeds.
fuzz_driver := $(if $(filter 1,$(FUZZ)),,$(BUILD)/tests/fuzz/driver.o)
fuzz_main := $(if $(filter 1,$(FUZZ)),-fsanitize=fuzzer)
$(BUILD)/tests/fuzz/%_fuzz: $(BUILD)/tests/fuzz/%_fuzz.o $(fuzz_driver) $(proposer_library) $(library)
	@echo "  $@"
	$(quiet)$(CC) $(CFLAGS) $(sanitize) $(LDFLAGS) $(test_linker) -o $@ $(filter %.o,$^) $(fuzz_main) $(proposer_library) $(library) $(LDLIBS)

.SECONDARY: $(tests:=.o) $(gpu_tests:=.o) $(fuzzers:=.o) $(benches:=.o) $(fuzz_driver)

-include $(objects:.o=.d) $(wisdom_object:.o=.d) $(proposer_objects:.o=.d) $(proposers:=.d) $(tests:=.d) $(gpu_tests:=.d) $(fuzzers:=.d) $(benches:=.d) $(fuzz_driver:.o=.d) $(scripted_server:=.d)

# ---- what the machine must have ----

needed := gcc g++ make git pkg-config diffutils libcjson-dev libsqlite3-dev libpcg-cpp-dev libcmocka-dev \
          zlib1g-dev libxxhash-dev libncurses-dev libnats-dev libsodium-dev libmicrohttpd-dev libcurl4-openssl-dev
needed_to_test := clang jq python3 python3-numpy tmux nats-server openssl minisign iproute2 curl python3-jsonschema
needed_to_fuzz := clang libclang-rt-dev
needed_for_deb := dpkg-dev debhelper dh-python pybuild-plugin-pyproject python3-all python3-setuptools lintian debootstrap
modules := libcjson sqlite3 zlib libxxhash cmocka ncursesw libnats libsodium libmicrohttpd libcurl

deps: ## install what is missing (Debian, Ubuntu) or name it
	@$(call install,$(needed))
	@$(check_toolkit)

deps-test: deps
	@$(call install,$(needed_to_test))

deps-fuzz: deps
	@$(call install,$(needed_to_fuzz))

deps-deb: deps
	@$(call install,$(needed_for_deb))

# A package that is there costs no network. A failing `apt-get update` alone is no failure: the
# lists at hand may do.
define install
if ! command -v dpkg-query >/dev/null; then \
    if pkg-config --exists $(modules) 2>/dev/null && echo '#include <pcg_random.hpp>' | $(CXX) -E -xc++ - >/dev/null 2>&1; \
    then exit 0; fi; \
    echo "make: not a Debian or Ubuntu: install what these packages hold, then run make again:" $(1) >&2; exit 1; \
fi; \
missing=; \
for package in $(1); do \
    [ "$$(dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null)" = installed ] || missing+=" $$package"; \
done; \
[ -n "$$missing" ] || exit 0; \
echo "installing$$missing"; \
root=; [ "$$(id -u)" = 0 ] || root=sudo; \
if [ -n "$$root" ] && ! command -v sudo >/dev/null; then \
    echo "make: neither root nor sudo here: let an administrator run: apt-get install$$missing" >&2; exit 1; \
fi; \
$$root apt-get update -qq || echo "make: warning: apt-get update failed: trying the lists at hand" >&2; \
$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null || { \
    echo "make: apt-get could not install$$missing: see above, fix it and run make again" >&2; exit 1; }
endef

# ---- tests ----

# What `make deps` installs must be there before anything is compiled; so these start make again after it.
remake := $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

check: deps-test ## every test that needs no GPU (SAN=1: with address and undefined-behaviour sanitizers)
	@$(remake) built
	@BUILD=$(BUILD) tests/run

check-long: deps-test ## those with full counts where `check` tries a sample (EVOTILE_LONG=1), check-kill, check-genomes and fuzz
	@$(remake) built
	@EVOTILE_LONG=1 LONG_STATE=$(CURDIR)/$(BUILD)/long TEST_SECONDS=3600 BUILD=$(BUILD) tests/run
	@$(remake) check-kill check-genomes fuzz

check-gpu: deps-test ## those and the tests that need a GPU (SKIP without one)
	@$(remake) built gpu-built
	@BUILD=$(BUILD) tests/run --gpu

check-kill: deps-test ## kill a run and resume it, KILLS (200) times
	@$(remake) built
	@KILLS=$(or $(KILLS),200) TEST_SECONDS=3600 BUILD=$(BUILD) tests/run resume/kill

check-queue: deps-test ## workers, server and network of a queue fail for SECONDS (600)
	@$(remake) all
	@python3 tests/remote/chaos.py --evotile $(BUILD)/evotile --seconds $(or $(SECONDS),600) --rows 1000000 --workers 8 --every 4 --restarts 2 --cut 30 --resume

check-genomes: deps-test ## GENOMES (100) random genomes of each variant on the emulated device
	@$(remake) built
	@GENOMES=$(or $(GENOMES),100) TEST_SECONDS=3600 BUILD=$(BUILD) tests/run emulated/genomes

mutants: deps-test ## break the sources in the places of tests/mutants.list, one at a time: do the tests notice?
	@$(remake) all
	@tests/mutants

built: all $(tests) $(fuzzers) $(scripted_server)
gpu-built: $(gpu_tests)

fuzz: deps-test ## MUTATIONS (1000000) of databases, configs, templates, manifests and messages, with SAN=1; can be resumed
	@$(remake) SAN=1 fuzz-built
	@LONG_STATE=$(CURDIR)/build/san/long BUILD=build/san tests/run_fuzz --files $(MUTATIONS)

fuzz-coverage: deps-fuzz ## every fuzz target FUZZ_RUNS (1000000) times with libFuzzer
	@$(remake) FUZZ=1 fuzz-built
	@BUILD=build/fuzz tests/run_fuzz $(FUZZ_RUNS)
fuzz-built: $(fuzzers)

bench-recorded: bench_recorded ## how fast a recorded space of 200 MB is read here
bench-reading: bench_reading ## how fast the verbs that read a run are on one of 200,000 trials
bench-watch: bench_watch ## how soon `watch` shows a run of 200,000 trials, and what it costs then
bench-emulated: bench_emulated ## how fast the emulated device runs attention here: ms a genome, instructions a second
bench-reference: $(BUILD)/tests/bench/reference_bench ## how long the reference and the plain kernel of CONFIG (configs/attention_h200.json) take on DEVICE (auto), and the plain kernel's error
	@$< $(or $(CONFIG),configs/attention_h200.json) $(or $(DEVICE),auto)
bench-wisdom: bench_wisdom ## how fast a wisdom file of 10,000 entries is loaded here, and a kernel picked from it
bench-space: bench_space ## how fast the valid genomes of large spaces are counted and drawn here
SPACES ?= tests/spaces
STRATEGIES ?= auto,evolve,map,full,insight,free,random
comma := ,
searched = $(filter-out %_T4.json.gz,$(sort $(wildcard $(SPACES)/*.json.gz)))
bench-search: $(BUILD)/evotile ## STRATEGIES (all) on the recorded spaces in the folder SPACES (tests/spaces), SEEDS (50) runs each; then auto that learns from the others
	@$< simulate $(searched) --strategy $(STRATEGIES) --trials 400 --seeds $(or $(SEEDS),50)
	@printf '\nLearning from the other spaces of the same kernel\n'
	@$< simulate $(searched) --sources $(subst $() ,$(comma),$(searched)) --strategy auto --trials 400 --seeds $(or $(SEEDS),50)
bench-effects: ## how often the effects that an archive of STRATEGY (auto) states are true on the recorded spaces in SPACES (tests/spaces), SEEDS (10) searches each; EACH=1 prints each space
	@$(remake) $(BUILD)/tests/bench/effects_bench
	@EACH=$(EACH) $(BUILD)/tests/bench/effects_bench $(or $(STRATEGY),auto) $(or $(SEEDS),10) $(searched)
bench-attention: $(BUILD)/evotile ## attention against every rival, on a GPU; ROWS (1-21), RIVALS, SECONDS (0) of search a row from SEEDS and KERNELS (kernels), FREEZE=kernels exports; TABLE=1 prints what is stored
	@python3 tests/bench/attention.py --evotile $< --out $(or $(RESULTS),$(BUILD)/bench/attention) \
	    --rows '$(or $(ROWS),1-21)' --kernels $(or $(KERNELS),kernels) --seconds $(or $(SECONDS),0) \
	    $(RIVALS:%=--rivals %) --seeds $(or $(SEEDS),tests/bench/attention_seeds.txt) $(FREEZE:%=--freeze %) $(TABLE:%=--table) $(JSON:%=--json)
bench-kernels: $(BUILD)/evotile ## products and norms against every rival, on a GPU; ROWS (1-25) and all else as bench-attention has it
	@python3 tests/bench/kernels.py --evotile $< --out $(or $(RESULTS),$(BUILD)/bench/kernels) \
	    --rows '$(or $(ROWS),1-25)' --kernels $(or $(KERNELS),kernels) --seconds $(or $(SECONDS),0) \
	    $(RIVALS:%=--rivals %) $(SEEDS:%=--seeds %) $(FREEZE:%=--freeze %) $(TABLE:%=--table) $(JSON:%=--json)
bench-energy: $(BUILD)/evotile ## energy of two GENOMES (the default; BLOCK_N=32) in processes of their own, on a GPU
	@python3 tests/bench/energy.py --evotile $< --genomes '$(or $(GENOMES),;BLOCK_N=32)'
bench-power: ## what steady load does to the time of a call of SHAPE (2,16,4096,128), by PyTorch
	@python3 tests/bench/power.py --shape $(or $(SHAPE),2,16,4096,128)
bench-real-sizes: $(BUILD)/evotile ## searches of calls of 0.1 to 0.5 ms, SECONDS (180) each on DEVICE (cuda:0), and 10 replays of each champion
	@tests/bench/real_sizes.py --evotile $< --seconds $(or $(SECONDS),180) --device $(or $(DEVICE),cuda:0)
bench-dispatch: ## how long the launcher of an exported KERNEL takes to choose among its kernels, in ns on this CPU
	@tests/bench/dispatch.py $(or $(KERNEL),kernels/attention_h200)
bench-dispatch-fit: $(BUILD)/tests/bench/dispatch_fit_bench ## the regret of trees that are fitted again to the times of an exported KERNEL, at shapes that they have not seen
	@$< $(or $(KERNEL),kernels/attention_dispatch)
bench-predictions: $(BUILD)/evotile ## TRIALS (300) random genomes of CONFIGS (softmax, a decode, a sum) on DEVICE (auto), and how well predictions order them
	@python3 tests/bench/predictions.py --evotile $< --trials $(or $(TRIALS),300) --device $(or $(DEVICE),auto) \
	    $(if $(CONFIGS),--configs $(CONFIGS)) --out $(or $(OUT),results/predictions)
bench-near: $(BUILD)/evotile ## at most SECONDS (540) of search from nothing on DEVICE (auto), shared and apart: when each goal is near what the export KERNEL has
	@python3 tests/bench/until_near.py --evotile $< --kernel $(or $(KERNEL),kernels/attention_h200) --seconds $(or $(SECONDS),540) \
	    --device $(or $(DEVICE),auto) $(if $(VARIANTS),--variants $(VARIANTS)) --out $(or $(OUT),results/near) $(TABLE:%=--table)
bench-settle: ## how two kernels of SHAPE (2,16,4096,128) share a clock at the power limit, by PyTorch
	@python3 tests/bench/settle.py --shape $(or $(SHAPE),2,16,4096,128)
bench-independent: ## an exported attention KERNEL (kernels/attention_h200), timed by PyTorch and not by evotile
	@python3 tests/bench/independent.py $(or $(KERNEL),kernels/attention_h200)
bench-scale: $(BUILD)/evotile $(BUILD)/tests/gpu/duel_test ## trials/s on 1, 2, 4 and 8 GPUs, TRIALS (600) of CONFIG a GPU, and A/A duels beside each other
	@python3 tests/bench/scale.py --evotile $< --config $(or $(CONFIG),configs/attention_scale.json) \
	    --duels $(BUILD)/tests/gpu/duel_test --trials $(or $(TRIALS),600)
bench-queue: $(BUILD)/evotile ## how many trials a second a queue carries between 200 workers that run nothing, and what that takes
	@python3 tests/bench/queue_rate.py --evotile $<
bench-serve: $(scripted_server) ## how many requests a second a server carries whose judge answers at once, on a pipe and over HTTP
	@python3 tests/bench/serve_rate.py --server $<
bench-candidates: $(BUILD)/evotile ## how fast a server on DEVICE (cuda:0) judges new sources of attention: one after the other, and many at a time
	@python3 tests/bench/serve_candidates.py --evotile $< --device $(or $(DEVICE),cuda:0)
SPACE ?= tests/spaces/attention_H200.json.gz
bench-engineer: $(BUILD)/evotile ## EvoEngineer's setting on the recorded SPACE, AGAINST its default genome: 45 trials, 30 seeds
	@$< simulate $(SPACE) --strategy free,insight,full,auto,random --trials 45 --seeds 30 --against '$(or $(AGAINST),default)'
bench_%: deps
	@$(remake) $(BUILD)/tests/bench/$*_bench
	@$(BUILD)/tests/bench/$*_bench

# A benchmark that depends on earlier runs measures them.
bench-%: export EVOTILE_INDEX := none

floors: ## no file includes what lies above its floor
	tests/floors

formatted := $(shell find search wisdom proposers tests -name '*.[ch]' -o -name '*.cpp' -o -name '*.inc' | sort)
lint: ## whether clang-format has anything to say
	@command -v clang-format >/dev/null || { echo "make: lint needs clang-format: apt-get install clang-format" >&2; exit 1; }
	clang-format --dry-run --Werror $(formatted)

# ---- the main job, and carrying it elsewhere ----

demo: deps ## the main job in about a minute: results/demo and kernels/demo
	@$(remake) all
	@rm -rf results/demo
	$(BUILD)/evotile run configs/demo.json --out results/demo
	$(BUILD)/evotile board results/demo
	$(BUILD)/evotile export results/demo --out kernels/demo --force
	@if ldconfig -p | grep -q 'libcuda\.so\.1'; \
	then verify='make -C kernels/demo check                build the exported kernel with nvcc alone and verify it'; \
	else verify='make -C kernels/demo                      build the exported kernel with nvcc alone; `make check` there needs a GPU'; fi; \
	printf '%s\n' "" "What next:" \
	    "  $(BUILD)/evotile replay results/demo         verify and time the best genome again" \
	    "  $$verify" \
	    "  $(BUILD)/evotile run configs/attention_l4.json --time 8h --out results/overnight"

bundle: $(BUILD)/evotile ## build/lib: the shared libraries to carry along with build/evotile
	mkdir -p $(BUILD)/lib
	ldd $< | awk '$$1 ~ /^lib(cjson|sqlite3|xxhash|z|ncursesw|tinfo|nats|sodium|ssl|crypto|protobuf-c|microhttpd|gnutls|nettle|hogweed|gmp|p11-kit|idn2|unistring|tasn1|ffi|stdc\+\+)\./ && $$3 !~ /build\/lib\// { print $$3 }' | xargs -r cp -L -t $(BUILD)/lib

install: all ## to PREFIX (/usr/local), below DESTDIR; removes what an earlier installation left there
	@packaging/install $(BUILD) '$(DESTDIR)$(PREFIX)'

uninstall: ## remove what `make install` put there
	@packaging/install --remove '$(DESTDIR)$(PREFIX)'

# ---- releases ----

dist: ## build/dist/evotile-VERSION.tar.gz of the last commit, the same bytes each time, and SHA256SUMS
	@packaging/dist $(packed) build/dist

deb: deps-deb dist ## build/dist/evotile_VERSION_amd64.deb, libevotile-wisdom-dev and python3-evotile, of that tarball
	@CUDA_HOME=$(CUDA_HOME) packaging/deb $(packed) build/dist

check-deb: deb ## install, use, upgrade and remove these packages in fresh roots, as root; a toolkit's folder is seen there
	@CUDA_HOME=$(CUDA_HOME) packaging/try_packages $(packed) build/dist

clean: ## remove build/
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

FORCE:
.PHONY: bench-effects all deps deps-test deps-fuzz deps-deb check check-deb dist deb uninstall check-long check-gpu check-kill check-queue check-genomes mutants built gpu-built fuzz fuzz-coverage fuzz-built floors lint bench-emulated bench-energy bench-power bench-real-sizes bench-settle bench-reference bench-search bench-engineer bench-attention bench-kernels bench-independent bench-scale bench-queue bench-serve bench-candidates demo bundle bench-dispatch bench-dispatch-fit bench-wisdom bench-predictions bench-near \
        install clean help FORCE
