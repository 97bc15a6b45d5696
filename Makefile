# One entry for everything; `make help` lists the targets.
#
# A configuration is a tree of its own, build/<CONFIG>[-clang]/: release, debug (INVARIANT checks),
# asan and tsan (a sanitizer and INVARIANT checks), trace (records events),
# coverage (counts lines). `make CONFIG=debug` builds one; build/schedlab is always the release program.
# Settings for the command line: CC=gcc|clang, CONFIG=..., WERROR=1, EXTRA_CFLAGS=..., RUN=..., and V=1
# to see the commands.

SHELL := /bin/bash
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
JOBS ?= $(shell nproc)
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif

ifeq ($(origin CC),default)
CC := gcc
endif
CONFIG ?= release
WERROR ?= 0
EXTRA_CFLAGS ?=

COMPILER := $(if $(findstring clang,$(notdir $(CC))),clang,gcc)
ifeq ($(origin CXX),default)
CXX := $(if $(filter clang,$(COMPILER)),$(subst clang,clang++,$(CC)),$(subst gcc,g++,$(CC)))
endif
OUT := build/$(CONFIG)$(if $(filter clang,$(COMPILER)),-clang)
RELEASE := build/release$(if $(filter clang,$(COMPILER)),-clang)

# Packages ---------------------------------------------------------------------------------------

# A tool's package counts as missing only if the command is; a library's if the package is.
tool = $(if $(shell command -v $(1)),,$(2))
PACKAGES_BUILD = $(call tool,gcc,gcc) $(call tool,pkg-config,pkg-config) libc6-dev libpapi-dev libpfm4-dev \
    libjansson-dev libcyaml-dev libyaml-dev libgsl-dev libhwloc-dev libjemalloc-dev $(call tool,gnuplot,gnuplot-nox) \
    $(call tool,hyperfine,hyperfine) $(call tool,g++,g++) libbenchmark-dev libdw-dev
PACKAGES_TEST = $(PACKAGES_BUILD) libcmocka-dev $(call tool,clang,clang) \
    $(call tool,git,git) $(call tool,python3,python3) python3-pandas $(call tool,chromium,chromium) $(call tool,xz,xz-utils) $(call tool,gdb,gdb) \
    $(call tool,zsh,zsh) $(call tool,tsc,node-typescript) $(call tool,eslint,eslint)
PACKAGES_LINT = $(PACKAGES_TEST) $(call tool,clang-format,clang-format) $(call tool,clang-tidy,clang-tidy)
PACKAGES_COVERAGE = $(PACKAGES_TEST) $(call tool,gcovr,gcovr)
PACKAGES_PEERS = $(call tool,go,golang-go) $(call tool,g++,g++) $(call tool,clang,clang) libtbb-dev \
    libomp-dev libboost-fiber-dev
PACKAGES_AARCH64 = $(call tool,aarch64-linux-gnu-gcc,gcc-aarch64-linux-gnu) libc6-dev-arm64-cross \
    $(call tool,qemu-aarch64,qemu-user)

# Flags ------------------------------------------------------------------------------------------

# -iquote, not -I: <sched.h> must stay the C library's.
ROOTS := -iquote . -iquote sched_variants -iquote sched_variants/runtime -iquote sched_variants/machine
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifeq ($(WERROR),1)
WARNINGS += -Werror
endif

OPTIMIZE_release := -O2
OPTIMIZE_debug := -O1 -fno-omit-frame-pointer -DSCHEDLAB_DEBUG
OPTIMIZE_asan := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -DSCHEDLAB_ASAN -DSCHEDLAB_DEBUG
OPTIMIZE_tsan := -O1 -fno-omit-frame-pointer -fsanitize=thread -DSCHEDLAB_TSAN -DSCHEDLAB_TRACE -DSCHEDLAB_DEBUG
OPTIMIZE_trace := -O2 -DSCHEDLAB_TRACE
# Threads of the program count at once, so that counts are atomic.
OPTIMIZE_coverage := -O1 --coverage -fprofile-update=atomic
# With landing pads and signed return addresses; a processor that has neither takes them for nops.
OPTIMIZE_aarch64 := -O2 -mbranch-protection=standard
OPTIMIZE_sim := -O2 -fno-pie -DSCHEDLAB_SIM
OPTIMIZE_hunt := $(OPTIMIZE_sim) -DSCHEDLAB_HUNT -DSCHEDLAB_DEBUG
OPTIMIZE := $(OPTIMIZE_$(CONFIG))
# Compile lightly where speed is not asked: the tests, and the harness of programs that only run samples. gcc takes
# more variables for uninitialized there than at -O2, where it is asked.
LIGHT_sim := -Og -Wno-maybe-uninitialized
LIGHT_trace := $(LIGHT_sim)
LIGHT_hunt := $(LIGHT_sim)
LIGHT_asan := -O0 -Wno-maybe-uninitialized
LIGHT ?= $(LIGHT_$(CONFIG))
LIGHT_TESTS := $(if $(filter release debug,$(CONFIG)),-Og,$(if $(filter asan,$(CONFIG)),$(LIGHT)))
ifeq ($(origin CC),command line)
ifeq ($(shell command -v $(firstword $(CC))),)
$(error CC=$(CC) is not there; valid: gcc, clang, or the path of a compiler)
endif
endif
ifeq ($(OPTIMIZE),)
$(error CONFIG=$(CONFIG) is unknown; valid are release, debug, asan, tsan, sim, hunt, trace, coverage)
endif

# jemalloc comes before the C library, so that malloc is its; sanitizers bring an allocator themselves,
# and the cross build has none of the libraries.
ALLOCATOR := $(if $(filter release debug sim hunt trace coverage,$(CONFIG)),jemalloc)
# libdw: which line of the source an instruction of the simulated program comes from.
LIBRARIES := papi jansson libcyaml gsl hwloc $(ALLOCATOR) $(if $(filter sim hunt,$(CONFIG)),libdw)
RUNTIME_LDLIBS := $(if $(ALLOCATOR),-ljemalloc) -pthread -lm
ifneq ($(CONFIG),aarch64)
LIBRARY_CFLAGS := $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
# Archives where there are some: a short sample is half its start, and half of that is for shared libraries (the tables
# of libpfm, which PAPI uses, have 41,000 relocations). The allocator stays shared: a variant may ask for another.
LIBPFM := $(filter /%,$(shell $(CC) -print-file-name=libpfm.a))
ARCHIVED := papi pfm sde jansson cyaml yaml gsl gslcblas
archive = $(if $(filter $(1:-l%=%),$(ARCHIVED)),$(1:-l%=-l:lib%.a))
LIBRARY_LDLIBS := $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null) -lsde $(RUNTIME_LDLIBS)
LDLIBS := $(foreach word,$(patsubst -lpapi,-lpapi $(if $(LIBPFM),-lpfm),$(LIBRARY_LDLIBS)),\
    $(or $(if $(LIBPFM),$(call archive,$(word))),$(word)))
endif

# Profiles, sanitizers and --flame ask for lines and inlined functions, which -g1 has. Variables, which a debugger asks
# for, would add a third to the time of compiling. The runtime and the variants have them all the same: without the types
# of G, M and P harness/gdb/schedlab.py cannot read a process.
DEBUG_INFO := $(if $(filter debug,$(CONFIG)),-g,-g1)
DEBUG_TYPES := -g2
# A frame touches each of its pages, so that none steps over the guard page of a goroutine's stack. (gcc takes guards
# for 64 KiB on aarch64.)
PROBES = -fstack-clash-protection $(if $(filter aarch64,$(CONFIG)),--param=stack-clash-protection-guard-size=12)
# Not to be marked as fit for a shadow stack, by which the system would switch one on (ctx.h): some compilers mark by
# themselves.
NO_SHADOW_STACK := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),-fcf-protection=none)
CFLAGS = -std=gnu17 -D_GNU_SOURCE $(PROBES) $(DEBUG_INFO) $(OPTIMIZE) $(WARNINGS) -pthread $(EXTRA_CFLAGS) $(NO_SHADOW_STACK)
# A program at fixed addresses relocates nothing of its own when it starts.
LDFLAGS_release := -no-pie
LDFLAGS_debug := -no-pie
LDFLAGS_trace := -no-pie
# A process that ends by _exit() writes its counts first.
COVERAGE_EXIT := $(if $(filter coverage,$(CONFIG)),$(OUT)/tests/support/coverage_exit.o)
LDFLAGS_coverage := -no-pie -Wl,--wrap=_exit
# The stub that binds a function at its first call has no landing pad.
LDFLAGS_aarch64 := -Wl,-z,now
LDFLAGS = $(DEBUG_INFO) $(OPTIMIZE) -pthread $(LDFLAGS_$(CONFIG)) $(EXTRA_CFLAGS)
COMPILE = $(CC) $(CFLAGS) $(TYPED) $(LIGHTER) $(INSTRUMENTED) $(ROOTS) $(LIBRARY_CFLAGS)
OBJCOPY := $(shell $(CC) -print-prog-name=objcopy)
NM := $(shell $(CC) -print-prog-name=nm)

# One file is C++, the binding to Google Benchmark; only the program contains it.
CXXFLAGS = -std=gnu++17 $(DEBUG_INFO) $(OPTIMIZE) $(filter-out %-prototypes,$(WARNINGS)) -pthread $(EXTRA_CFLAGS)
COMPILE_CXX = $(CXX) $(CXXFLAGS) $(ROOTS)
MICRO_LDLIBS = -lbenchmark -lstdc++

# Sources ----------------------------------------------------------------------------------------

# The code that runs on the simulated machine (CONFIG=sim) calls back at each load, store, atomic
# and basic block. Else it is compiled as for real threads. It does not call back where a function
# is entered or left, so that a jump to a function stays a jump. On x86-64 gcc is told that the
# callbacks leave most registers alone. The program lies at fixed addresses.
HOOKS_KEEP := $(filter gcc-x86_64%,$(COMPILER)-$(shell $(CC) -dumpmachine))
INSTRUMENT_sim := -fsanitize=thread -fsanitize-coverage=trace-pc -U__SANITIZE_THREAD__ \
    $(if $(filter clang,$(COMPILER)),-gdwarf-aranges -mllvm -tsan-instrument-func-entry-exit=0,--param=tsan-instrument-func-entry-exit=0) \
    $(if $(HOOKS_KEEP),-mno-avx -include sched_variants/machine/sim/hook_calls.h)
HOOKS_FLAGS := $(if $(HOOKS_KEEP),-DHOOKS_KEEP -mgeneral-regs-only -ffixed-r8 -ffixed-r9 -ffixed-r10 -ffixed-r11)
INSTRUMENT_hunt := $(INSTRUMENT_sim)
INSTRUMENT := $(INSTRUMENT_$(CONFIG))
SIMULATED_CALLS := malloc calloc realloc free aligned_alloc posix_memalign memcpy memmove memset memcmp
# The data of instrumented code lie at addresses of their own, so that the rest of the program does
# not decide which of them share a line.
SIMULATED_READ := .rodata .rodata.str1.1 .rodata.str1.8 .rodata.cst4 .rodata.cst8 .rodata.cst16 .rodata.cst32
TEXT_sim := simulated_text
TEXT_hunt := $(TEXT_sim)
SIMULATED_NAMES := $(foreach name,$(SIMULATED_CALLS),--redefine-sym $(name)=sim_$(name)) \
    $(foreach name,$(SIMULATED_READ),--rename-section $(name)=simulated_rodata) \
    --rename-section .data=simulated_data --rename-section .bss=simulated_bss --localize-hidden \
    --rename-section .text=$(TEXT_sim) --rename-section .text.unlikely=$(TEXT_sim)
LDFLAGS_sim := -no-pie -Wl,--section-start=$(TEXT_sim)=0x8000000 -Wl,--section-start=workload_text=0xc000000 \
    -Wl,--section-start=simulated_rodata=0x10000000 \
    -Wl,--section-start=simulated_data=0x20000000 -Wl,--section-start=simulated_bss=0x30000000
LDFLAGS_hunt := $(LDFLAGS_sim)
MACHINE := $(or $(filter sim hunt,$(CONFIG)),native)
# The machine that hunts has the descriptors of the simulated one.
MACHINE_SOURCES := $(wildcard sched_variants/machine/$(MACHINE)/*.c) \
    $(if $(filter hunt,$(MACHINE)),$(patsubst %,sched_variants/machine/sim/%.c,fd file pipe poll socket switch))
RUNTIME_SOURCES := $(wildcard sched_variants/*.c sched_variants/*/*.c) $(MACHINE_SOURCES)
# Caches do not depend on the rest of the simulated machine: native tests and `micro` have them as well.
SIM_SOURCES := $(if $(filter native,$(MACHINE)),$(wildcard sched_variants/machine/sim/cache*.c))
WORKLOAD_SOURCES := $(wildcard workloads/*.c)
# Files that open fork/join frames are compiled once per policy, x.c to x.FJ_HELP.o and so on, and what
# x.c defines for others, PREFIX_x, is PREFIX_x_FJ_HELP there. Linked frames are addressed by the frame
# pointer and lie right above the callee's (sched_variants/runtime/linked.h).
POLICIES := FJ_GO FJ_HELP FJ_WORK FJ_LINKED
# Workloads have a serial elision, too.
policies_of = $(POLICIES) $(if $(filter workloads/%,$(1)),FJ_CALL)
FORKJOIN_SOURCES := $(shell grep -l 'struct fj_frame' workloads/*.c harness/micro/*.c tests/conform/conform_*.c) harness/scenarios/joins.c
no_red_zone = $(if $(filter x86_64%,$(shell $(1) -dumpmachine)),-mno-red-zone)
# The same instructions for all policies: with AVX compilers align frames in a way that linked ones cannot
# bear. gcc, besides, must leave no arguments on the stack across a spawn.
FLAGS_FJ := $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),-mno-avx) -Werror=vla -Walloca -Werror=alloca
FLAGS_FJ_LINKED := -fno-omit-frame-pointer $(call no_red_zone,$(CC)) \
    $(if $(filter gcc,$(COMPILER)),-fno-defer-pop -fno-combine-stack-adjustments)
# A sample starts on a simulated machine in another way than on real threads.
START_SOURCES := $(wildcard harness/models/machine_start_*.c)
HARNESS_SOURCES := $(filter-out harness/micro/% harness/peers/% harness/hunt/% harness/scenarios/% harness/hunter/% $(filter-out %_$(MACHINE).c,$(START_SOURCES)),$(wildcard harness/*.c harness/*/*.c))
GBENCH := $(wildcard harness/*/gbench.cc)
MICRO_SOURCES := harness/commands/cmd_micro.c harness/commands/cmd_bench.c $(wildcard harness/micro/*.c) $(GBENCH)
TEST_SOURCES := $(wildcard tests/*/test_*.c)
TEST_SCRIPTS := $(wildcard tests/program/test_*.sh)
C_FILES := $(wildcard sched_variants/*.[ch] sched_variants/*/*.[ch] sched_variants/machine/native/*.[ch] \
    sched_variants/machine/sim/*.[ch] sched_variants/machine/hunt/*.[ch] workloads/*.[ch] tests/*/*.[ch]) \
    $(filter-out harness/peers/%,$(wildcard harness/*.[ch] harness/*/*.[ch]))

PEER_SOURCES := $(wildcard harness/peers/*.c harness/peers/*.cpp)
PEER_HEADERS := $(wildcard harness/peers/*.h workloads/uts_tree.h workloads/sha1.h workloads/leaves.h)

objects = $(addprefix $(OUT)/,$(addsuffix .o,$(basename $(filter-out $(FORKJOIN_SOURCES),$(1))) \
    $(foreach source,$(filter $(FORKJOIN_SOURCES),$(1)),$(addprefix $(basename $(source)).,$(call policies_of,$(source))))))
CORE_OBJECTS := $(call objects,$(RUNTIME_SOURCES) $(WORKLOAD_SOURCES))
# Most of the harness is the same for real threads, simulated machines and traces. The release build makes an archive
# of it, which all three programs link.
HARNESS_DIFFERS := $(shell awk -f harness/of_configuration.awk $(wildcard harness/*.[ch] harness/*/*.[ch] \
    sched_variants/*.h sched_variants/*/*.h sched_variants/*/*/*.h workloads/*.h))
HARNESS_SAME := $(filter-out harness/commands/main.c $(HARNESS_DIFFERS) $(START_SOURCES) $(MICRO_SOURCES),$(HARNESS_SOURCES))
# HARNESS=FILE takes an archive that exists already.
HARNESS ?= $(if $(filter release sim hunt trace,$(CONFIG)),$(RELEASE)/harness.a)
HARNESS_ARCHIVE := $(HARNESS)
SHARED_OBJECTS := $(CORE_OBJECTS) $(call objects,$(SIM_SOURCES)) \
    $(call objects,$(filter-out harness/commands/main.c $(MICRO_SOURCES) $(if $(HARNESS_ARCHIVE),$(HARNESS_SAME)),$(HARNESS_SOURCES))) \
    $(HARNESS_ARCHIVE)
SUPPORT_OBJECTS := $(OUT)/tests/support/support.o
# CASE=GLOB in the environment chooses among the tests of a program (tests/support/case.c).
CASE_OBJECTS := $(OUT)/tests/support/case.o
# gold links in half the time; ThreadSanitizer's or another architecture's program is left to the usual linker. Shared
# libraries take a third off again: a test program starts once.
LINKER := $(if $(filter release debug asan,$(CONFIG)),$(if $(shell command -v ld.gold),-fuse-ld=gold))
CASE_LDFLAGS := -Wl,--wrap=_cmocka_run_group_tests
CONFORMANCE_OBJECTS := $(call objects,$(wildcard tests/conform/*.c) harness/spec/outside.c harness/spec/promises.c harness/spec/void_knobs.c harness/spec/registry_check.c harness/base/memory.c harness/base/suggest.c harness/base/error.c harness/base/text.c \
    $(if $(filter sim,$(CONFIG)),harness/base/build_info.c harness/models/machine_start.c harness/models/machine_start_sim.c))
# Tests of the runtime link it alone, as conformance does, and are not linked anew for a change of the harness.
RUNTIME_TESTS := tests/runtime/test_knobs.c $(shell grep -LE '"(harness/|tests/support/fake_machine)' $(TEST_SOURCES))
# Programs lie beside one another, whatever room their source is in.
programs = $(addprefix $(OUT)/tests/,$(notdir $(basename $(1))))
TEST_PROGRAMS := $(call programs,$(TEST_SOURCES))
RUNTIME_PROGRAMS := $(call programs,$(RUNTIME_TESTS))
# A sanitizer's build has the tests in which its check can find something. For ThreadSanitizer these are tests of the
# runtime on several threads; its cache model, tests of memory taken and tests of one thread are left out. For
# AddressSanitizer exact orders and each knob's effect are left out; conformance runs the same code.
TESTS_tsan := $(filter-out $(addprefix %/test_,cache golden invariants memory queues sysmon_looks sim_fd waste),$(RUNTIME_PROGRAMS))
TESTS_asan := $(filter-out $(addprefix %/test_,golden knobs),$(TEST_PROGRAMS)) $(OUT)/schedlab
CONFORMANCE := $(OUT)/tests/conformance

# Building ---------------------------------------------------------------------------------------

SAY = $(if $(V),,@echo '  $(if $(filter %.o,$@),CC,LD) $@';)

.PHONY: trace hunt hunt-mutants validate help deps deps-test deps-lint deps-coverage deps-aarch64 deps-peers build run sweep repro repro-full docs reference disputes lessons scale micro bench peers audit report plots \
    check t test tests coverage test-all test-rest mutants fuzz budget test-slurm test-ssh lint format hooks \
    asan tsan clang aarch64 sim verdicts hunts clean new-variant always
always:

##@ To build and to measure
ifeq ($(CONFIG),release)
build: build/schedlab build/schedlab-sim ## Build build/schedlab and build/schedlab-sim (the default)
else
build: $(OUT)/schedlab
endif
tests: $(CONFORMANCE) $(or $(TESTS_$(CONFIG)),$(TEST_PROGRAMS) $(OUT)/schedlab)

build/schedlab: $(RELEASE)/schedlab always
	@test $< -ef $@ || ln -f $< $@

# The same sources for simulated machines. After the other program, with which it shares an archive.
SIM_PROGRAM := build/sim$(if $(filter clang,$(COMPILER)),-clang)/schedlab
build/schedlab-sim: build/schedlab always
	@$(MAKE) CONFIG=sim $(SIM_PROGRAM)
	@test $(SIM_PROGRAM) -ef $@ || ln -f $(SIM_PROGRAM) $@

# And for real threads that record what the scheduler does: no part of `build`, since nothing is measured with it.
TRACE_PROGRAM := build/trace$(if $(filter clang,$(COMPILER)),-clang)/schedlab
build/schedlab-trace: build/schedlab always
	@$(MAKE) CONFIG=trace $(TRACE_PROGRAM)
	@test $(TRACE_PROGRAM) -ef $@ || ln -f $(TRACE_PROGRAM) $@

# And for hunting wrong schedules of them: a program of its own, with scenarios beside the workloads.
HUNT_SOURCES := $(wildcard harness/hunter/*.c harness/hunt/*.c harness/scenarios/*.c)
HUNT_PROGRAM := build/hunt$(if $(filter clang,$(COMPILER)),-clang)/schedlab-hunt
build/schedlab-hunt: build/schedlab always
	@$(MAKE) CONFIG=hunt $(HUNT_PROGRAM)
	@test $(HUNT_PROGRAM) -ef $@ || ln -f $(HUNT_PROGRAM) $@

COMMANDS = $(subst ','\'',$(COMPILE) $(DEBUG_TYPES) $(LIGHT) $(LIGHT_TESTS) $(FLAGS_FJ) $(FLAGS_FJ_LINKED) $(COMPILE_CXX)$(if $(INSTRUMENT), $(INSTRUMENT) $(HOOKS_FLAGS) $(SIMULATED_NAMES)) $(LDFLAGS) $(LDLIBS))
# Holds the command that made the objects: a change of compiler or flags rebuilds, nothing else does.
# The empty settings keep out what the first object to ask for the file adds for itself.
$(OUT)/command: TYPED =
$(OUT)/command: INSTRUMENTED =
$(OUT)/command: LIGHTER =
$(OUT)/command: always
	@mkdir -p $(OUT)
ifneq ($(CONFIG),aarch64)
	@pkg-config --exists $(LIBRARIES) || \
	    { echo 'libraries are missing; "make deps" installs them, or says how' >&2; exit 1; }
endif
	@echo '$(COMMANDS)' | cmp -s - $@ || echo '$(COMMANDS)' >$@

# Holds what the program says about its own origin; only build_info.o depends on it.
VERSION := 1.0.0
GIT = $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)$(shell \
    test -z "$$(git status --porcelain -- Makefile sched_variants workloads harness 2>/dev/null)" || echo -dirty)
$(OUT)/origin.h: always $(OUT)/command
	@{ echo '#define SCHEDLAB_CC "$(shell $(CC) --version | head -n 1 | tr -d '\042\047')"'; \
	   echo '#define SCHEDLAB_CFLAGS "$(subst ",\",$(CFLAGS))"'; \
	   echo '#define SCHEDLAB_VERSION "$(VERSION)"'; \
	   echo '#define SCHEDLAB_GIT "$(GIT)"'; \
	   echo '#define SCHEDLAB_SOURCE_DIR "$(CURDIR)"'; } >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(call objects,harness/base/build_info.c): $(OUT)/origin.h
$(call objects,harness/base/build_info.c): EXTRA_INPUT = -include $(OUT)/origin.h

# The labels of memory orders in what is instrumented, with their lines.
LABELLED := $(filter-out sched_variants/machine/%,$(sort $(wildcard sched_variants/*.[ch] sched_variants/*/*.[ch])))
$(OUT)/labels.h: harness/hunt/labels.awk $(LABELLED)
	@mkdir -p $(@D)
	@LC_ALL=C awk -f harness/hunt/labels.awk $(LABELLED) >$@.new && mv $@.new $@
$(OUT)/harness/hunt/coverage.o: $(OUT)/labels.h
$(OUT)/harness/hunt/coverage.o: EXTRA_INPUT = -include $(OUT)/labels.h

$(OUT)/sched_variants/machine/sim/hooks.o $(OUT)/sched_variants/machine/hunt/hooks.o: EXTRA_INPUT = $(HOOKS_FLAGS)
# A switch pushes (runtime/ctx.h), so nothing may lie below the stack pointer of the function that it is a part of.
$(OUT)/sched_variants/runtime/proc.o $(OUT)/harness/micro/floors.o: EXTRA_INPUT = $(call no_red_zone,$(CC))

# Code that opens fork/join frames is measured, and keeps its flags.
$(call objects,$(filter-out $(FORKJOIN_SOURCES),$(HARNESS_SOURCES) $(wildcard harness/micro/*.c))): LIGHTER = $(LIGHT)
$(call objects,$(TEST_SOURCES)) $(CASE_OBJECTS): LIGHTER = $(LIGHT_TESTS)

$(OUT)/sched_variants/%.o: TYPED = $(DEBUG_TYPES)

# Code that runs on the simulated machine is instrumented, and gets memory from it.
$(OUT)/sched_variants/%.o $(OUT)/workloads/%.o: INSTRUMENTED = $(INSTRUMENT)
$(OUT)/sched_variants/machine/%.o: INSTRUMENTED =
SIMULATED = $(if $(INSTRUMENTED),&& $(OBJCOPY) $(SIMULATED_NAMES) $@)

$(OUT)/%.o: %.c $(OUT)/command
	@mkdir -p $(@D)
	$(SAY) $(COMPILE) $(EXTRA_INPUT) -MMD -MP -c -o $@ $< $(SIMULATED)

# Where a goroutine may be stopped by a signal (runtime/preempt.c): the code of workloads, in a section of
# its own. Not that of FJ_HELP and FJ_LINKED, which works on the worker itself; and none that names the word
# that tells a thread who it is, because its value would go along to another thread.
# The code has to be there, in .text: EXTRA_CFLAGS=-flto would leave it to the linker, and -ffunction-sections
# would give each function a section.
IN_TEXT := -fno-lto -fno-function-sections
INTERRUPTIBLE = $(OBJCOPY) --rename-section $(or $(TEXT_$(CONFIG)),.text)=workload_text $@ && \
    if $(NM) -u $@ | grep -q native_self_m; then echo '$@: $< calls machine_self(), and workloads must not' >&2; \
    rm $@; exit 1; fi
$(OUT)/workloads/%.o: workloads/%.c $(OUT)/command
	@mkdir -p $(@D)
	$(SAY) $(COMPILE) $(IN_TEXT) -MMD -MP -c -o $@ $< $(SIMULATED) && $(INTERRUPTIBLE)
$(OUT)/harness/hunt/lone.o: INSTRUMENTED = $(INSTRUMENT)
$(OUT)/harness/scenarios/%.o: INSTRUMENTED = $(INSTRUMENT)
$(OUT)/harness/scenarios/%.o: harness/scenarios/%.c $(OUT)/command
	@mkdir -p $(@D)
	$(SAY) $(COMPILE) $(IN_TEXT) -MMD -MP -c -o $@ $< $(SIMULATED) && $(INTERRUPTIBLE)

define policy_rule
$(OUT)/%.$(1).o: %.c $(OUT)/command
	@mkdir -p $$(@D)
	$$(SAY) $$(COMPILE) $$(if $$(filter workloads/% harness/scenarios/%,$$<),$(IN_TEXT)) $(FLAGS_FJ) $(FLAGS_$(1)) -DFJ_POLICY=$(1) $$(call renamed,$$(notdir $$*),$(1)) -MMD -MP -c -o $$@ $$< \
	    $$(SIMULATED) $$(if $$(filter workloads/% harness/scenarios/%,$$<),$(if $(filter FJ_GO FJ_WORK,$(1)),&& $$(INTERRUPTIBLE)))
endef
renamed = $(foreach prefix,workload micro crosses,-D$(prefix)_$(1)=$(prefix)_$(1)_$(2)) -D$(1)_cases=$(1)_cases_$(2)
$(foreach policy,$(POLICIES) FJ_CALL,$(eval $(call policy_rule,$(policy))))

# The registry also has to know which files are compiled once per policy. One check serves all
# configurations. It runs before the second make of a build starts, so that a mistake is printed
# once.
$(OUT)/workloads/registry.o build/schedlab-sim: | build/registry.checked
build/registry.checked: $(WORKLOAD_SOURCES)
	@mkdir -p $(@D)
	@sed -nE 's/.*X\((\w+), (GOROUTINE|FORKJOIN)\).*/\1 \2/p' workloads/registry.c | while read -r name style; do \
	    right=GOROUTINE has=no; \
	    case ' $(FORKJOIN_SOURCES) ' in *" workloads/$$name.c "*) right=FORKJOIN has=a ;; esac; \
	    [ $$style = $$right ] || { echo "workloads/registry.c: X($$name, $$style): expected $$right," \
	        "since workloads/$$name.c has $$has struct fj_frame" >&2; exit 1; }; \
	done
	@touch $@

$(OUT)/%.o: %.cc $(OUT)/command
	@mkdir -p $(@D)
	$(SAY) $(COMPILE_CXX) -MMD -MP -c -o $@ $<

ifeq ($(CONFIG),release)
$(RELEASE)/harness.a: $(call objects,$(HARNESS_SAME))
	$(SAY) rm -f $@ && $(AR) rcs $@ $^
else
$(RELEASE)/harness.a: always
	@$(MAKE) CONFIG=release $@
endif

$(OUT)/schedlab $(TEST_PROGRAMS) $(CONFORMANCE): $(COVERAGE_EXIT)
# Programs that run samples only time no single operations, and start sooner without Google Benchmark.
MICRO_LINKED := $(if $(filter sim trace,$(CONFIG)),,$(MICRO_SOURCES))
$(OUT)/schedlab: $(call objects,harness/commands/main.c) $(call objects,$(MICRO_LINKED)) $(SHARED_OBJECTS)
	$(SAY) $(CC) $(LDFLAGS) -o $@ $^ $(if $(MICRO_LINKED),$(MICRO_LDLIBS)) $(LDLIBS)
	$(call author_leave,$(CONFIG))
	$(file >build/author/abi,$(AUTHOR_ABI))

# A workload's file that opens frames, as policy_rule has it; NAME is the workload's.
define AUTHOR_POLICY
$(1)) # SOURCE OBJECT NAME
    $(CC) $(AUTHOR_FLAGS) $(INSTRUMENT) $(IN_TEXT) $(FLAGS_FJ) $(FLAGS_$(1)) -DFJ_POLICY=$(1) -D"workload_$$3=workload_$$3_$(1)" $(AUTHOR_ROOTS) -c -o "$$2" "$$1"
    $(if $(INSTRUMENT),$(OBJCOPY) $(SIMULATED_NAMES) "$$2")
    $(if $(filter FJ_GO FJ_WORK,$(1)),$(AUTHOR_INTERRUPTIBLE))
    ;;

endef
# The same as INTERRUPTIBLE.
define AUTHOR_INTERRUPTIBLE
$(OBJCOPY) --rename-section $(or $(TEXT_$(CONFIG)),.text)=workload_text "$$2"
    if $(NM) -u "$$2" | grep -q native_self_m; then
        echo "$$1 calls machine_self(), and workloads must not" >&2
        exit 1
    fi
endef
# How `schedlab build` compiles a variant or workload that lives outside the tree, and links a program with it (harness/author/):
# build/author/CONFIG.sh ACTION ROOT OBJECTS WORD..., where ROOT has sched_variants/ and OBJECTS the trees of objects.
define AUTHOR_SCRIPT
#!/bin/sh
# Made by the Makefile from its own variables.
set -eu
action=$$1 root=$$2 objects=$$3
shift 3
case $$action in
compile) # SOURCE OBJECT
    $(CC) $(AUTHOR_FLAGS) $(DEBUG_TYPES) $(INSTRUMENT) $(AUTHOR_ROOTS) -c -o "$$2" "$$1"
    $(if $(INSTRUMENT),$(OBJCOPY) $(SIMULATED_NAMES) "$$2")
    ;;
workload) # SOURCE OBJECT
    $(CC) $(AUTHOR_FLAGS) $(INSTRUMENT) $(IN_TEXT) $(AUTHOR_ROOTS) -c -o "$$2" "$$1"
    $(if $(INSTRUMENT),$(OBJCOPY) $(SIMULATED_NAMES) "$$2")
    $(AUTHOR_INTERRUPTIBLE)
    ;;
$(foreach policy,$(POLICIES),$(call AUTHOR_POLICY,$(policy)))
forks) # OBJECT
    $(NM) -u "$$1" | grep -qwE 'fj_(begin_region|end_region|spawn_go|sync_park)'
    ;;
list) # SOURCE OBJECT FLAG...
    source=$$1 object=$$2
    shift 2
    $(CC) $(AUTHOR_FLAGS) $(LIGHT) $(AUTHOR_ROOTS) "$$@" -c -o "$$object" "$$source"
    ;;
join) # OBJECT PART...
    object=$$1
    shift
    $(CC) -r -nostdlib -o "$$object" "$$@"
    ;;
defines) # OBJECT SYMBOL
    $(NM) -g --defined-only "$$1" | grep -qw "$$2"
    ;;
link) # PROGRAM LIST VARIANT...
    program=$$1 list=$$2
    shift 2
    $(CC) $(LDFLAGS) -o "$$program" "$$list" $(patsubst build/%,"$$objects"/%,$(filter-out %/harness/spec/outside.o,$^)) "$$@" \
        $(if $(MICRO_LINKED),$(MICRO_LDLIBS)) $(LDLIBS)
    ;;
esac
endef
author_leave = $(shell mkdir -p build/author)$(file >build/author/$(1).sh,$(AUTHOR_SCRIPT))
AUTHOR_FLAGS = $(filter-out -Werror,$(CFLAGS))
AUTHOR_ROOTS = $(subst -iquote ,-iquote "$$root"/,$(ROOTS) -iquote workloads) -I "$$root" -I "$$root"/include/schedlab -I "$$root"/include
AUTHOR_ABI = $(shell $(CC) -dumpmachine) $(shell cat include/schedlab/*.h sched_variants/*.h sched_variants/runtime/*.h sched_variants/machine/*.h \
    sched_variants/machine/*/self.h workloads/*.h | sha256sum | cut -c 1-16)

# It compiles what reads specifications; the archive has the rest of the harness.
$(OUT)/schedlab-hunt: $(call objects,$(HUNT_SOURCES) harness/options/cli.c harness/host/allocator.c harness/base/build_info.c harness/sample/source_line.c \
    $(addprefix harness/trace/,diff_words.c trace_crop.c trace_services.c trace_state.c trace_story.c) \
    $(addprefix harness/spec/,spec.c knobs.c outside.c machine_memory.c peer_table.c promises.c) \
    $(addprefix harness/models/,machine_start.c machine_start_hunt.c)) $(CORE_OBJECTS) $(HARNESS_ARCHIVE)
	$(SAY) $(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)
	$(call author_leave,$(CONFIG))

# Tests of the harness take what they use out of an archive.
$(OUT)/tests/parts.a: $(filter %.o,$(SHARED_OBJECTS))
	$(SAY) rm -f $@ && $(AR) rcsT $@ $^

.SECONDEXPANSION:
$(TEST_PROGRAMS): $(OUT)/tests/%: $$(call objects,$$(wildcard tests/*/$$*.c)) $(CASE_OBJECTS) $(SUPPORT_OBJECTS)
	$(SAY) $(CC) $(LDFLAGS) $(LINKER) $(CASE_LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) \
	    -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka $(TEST_LDLIBS) $(LIBRARY_LDLIBS)
$(RUNTIME_PROGRAMS): $(CORE_OBJECTS)
$(filter-out $(RUNTIME_PROGRAMS),$(TEST_PROGRAMS)): $(OUT)/tests/parts.a $(HARNESS_ARCHIVE)
$(OUT)/tests/test_cache: $(call objects,$(SIM_SOURCES))

$(OUT)/tests/test_knobs: $(patsubst %,$(OUT)/tests/runtime/knobs_%.o,queue forkjoin static sync timers threads fence inject)
$(OUT)/tests/test_invariants: $(patsubst %,$(OUT)/tests/runtime/breaks_%.o,queues bwos g workers sync cache) $(call objects,$(SIM_SOURCES))
$(OUT)/tests/test_gbench: $(call objects,$(GBENCH))
$(OUT)/tests/test_gbench: TEST_LDLIBS = $(MICRO_LDLIBS)
$(OUT)/tests/test_micro_clock: $(OUT)/harness/micro/micro_clock.o
$(OUT)/tests/test_hunt_linear: $(OUT)/harness/hunt/linear.o
$(OUT)/tests/test_hunt_parts: $(patsubst %,$(OUT)/harness/hunt/%.o,orders parts processes)
$(OUT)/tests/test_waste: $(OUT)/sched_variants/machine/sim/waste.o

# Loops on simulated cores against formulas: CONFIG=sim only.
$(OUT)/tests/sim/sim_kernels.o: INSTRUMENTED = $(INSTRUMENT)
$(OUT)/tests/sim_formulas: $(patsubst %,$(OUT)/tests/sim/%.o,sim_formulas sim_kernels wake_formulas) $(CASE_OBJECTS) $(SUPPORT_OBJECTS) $(SHARED_OBJECTS)
	$(SAY) $(CC) $(LDFLAGS) $(CASE_LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS)
# A producer whose workers sleep, likewise.
$(OUT)/tests/sim_wakes: $(OUT)/tests/sim/sim_wakes.o $(CASE_OBJECTS) $(SUPPORT_OBJECTS) $(SHARED_OBJECTS)
	$(SAY) $(CC) $(LDFLAGS) $(CASE_LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS)

# The machine that looks for wrong schedules, with known ones: CONFIG=hunt only.
$(OUT)/tests/hunt/hunt_kernels.o: INSTRUMENTED = $(INSTRUMENT)
$(OUT)/tests/hunt_machine: $(patsubst %,$(OUT)/tests/hunt/%.o,hunt_machine hunt_kernels litmus_table) $(CASE_OBJECTS) $(CORE_OBJECTS)
	$(SAY) $(CC) $(LDFLAGS) $(CASE_LDFLAGS) -o $@ $^ -lcmocka $(LDLIBS)

# The runtime alone, no third-party library: the cross build runs the same program. For simulated machines it reads models.
$(CONFORMANCE): $(CONFORMANCE_OBJECTS) $(SUPPORT_OBJECTS) $(CORE_OBJECTS) $(if $(filter sim,$(CONFIG)),$(HARNESS_ARCHIVE))
	$(SAY) $(CC) $(LDFLAGS) $(LINKER) -o $@ $^ $(if $(filter sim,$(CONFIG)),$(LDLIBS),$(RUNTIME_LDLIBS))
	$(if $(filter release,$(CONFIG)),$(call author_leave,conformance))
	$(if $(filter sim,$(CONFIG)),$(call author_leave,conformance-sim))

new-variant: ## NAME=mine FROM=gmp: begin a variant as a copy of another one, with its places in the tree
	@harness/author/new_variant.sh '$(NAME)' '$(FROM)'

# Peers: the workloads on other runtimes, a program each. A peer whose runtime this machine lacks is
# named and left out; nothing else depends on peers. They get the flags of the release
# configuration.

PEER_FLAGS = -D_GNU_SOURCE -g $(OPTIMIZE_release) -Wall -Wextra -Wshadow $(if $(filter 1,$(WERROR)),-Werror) -pthread \
    $(EXTRA_CFLAGS) -iquote .
PEER_LDLIBS := $(shell pkg-config --libs jemalloc 2>/dev/null) -lm
PEER_OBJECTS := build/peers/sha1.o build/peers/leaves.o

# $(call peer,TEST,PACKAGES,COMMAND): COMMAND makes the program if TEST succeeds.
peer = @if $(1) >/dev/null 2>&1; then $(if $(V),set -x,echo '  LD $@'); $(3); \
    else echo 'peer:$(@F) is not built: it needs what Debian calls $(2)'; rm -f $@; fi
has_header = printf '\043include <$(2)>\n' | $(1) -std=c++17 -fsyntax-only -x c++ -
has_openmp = printf '\043include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }' | \
    $(1) -fopenmp -x c -o build/peers/.probe-$(1) -

build/peers/command: always
	@mkdir -p $(@D)
	@echo '$(PEER_FLAGS) $(PEER_LDLIBS)' | cmp -s - $@ || echo '$(PEER_FLAGS) $(PEER_LDLIBS)' >$@

$(PEER_OBJECTS): build/peers/%.o: workloads/%.c workloads/%.h build/peers/command
	$(SAY) gcc -std=gnu17 $(PEER_FLAGS) -c -o $@ $<

build/peers/go: $(addprefix harness/peers/,peer.go go.go waits.go order.go) build/peers/command
	$(call peer,command -v go,golang-go,GO111MODULE=off GOCACHE=$(CURDIR)/build/peers/.cache \
	    go build -o $@ $(filter %.go,$^))
build/peers/tbb: harness/peers/tbb.cpp $(PEER_OBJECTS) $(PEER_HEADERS)
	$(call peer,$(call has_header,g++,tbb/task_group.h),libtbb-dev and g++, \
	    g++ -std=c++17 $(PEER_FLAGS) -o $@ $< $(PEER_OBJECTS) -ltbb $(PEER_LDLIBS))
build/peers/boost: harness/peers/boost.cpp $(PEER_OBJECTS) $(PEER_HEADERS)
	$(call peer,$(call has_header,g++,boost/fiber/all.hpp),libboost-fiber-dev and g++, \
	    g++ -std=c++17 $(PEER_FLAGS) -o $@ $< $(PEER_OBJECTS) -lboost_fiber -lboost_context $(PEER_LDLIBS))
build/peers/gomp: harness/peers/openmp.c $(PEER_OBJECTS) $(PEER_HEADERS)
	$(call peer,$(call has_openmp,gcc),gcc, \
	    gcc -std=gnu17 -fopenmp $(PEER_FLAGS) -o $@ $< $(PEER_OBJECTS) $(PEER_LDLIBS))
build/peers/omp: harness/peers/openmp.c $(PEER_OBJECTS) $(PEER_HEADERS)
	$(call peer,$(call has_openmp,clang),libomp-dev and clang, \
	    clang -std=gnu17 -fopenmp $(PEER_FLAGS) -o $@ $< $(PEER_OBJECTS) $(PEER_LDLIBS))
build/peers/pthreads: harness/peers/pthreads.c $(PEER_OBJECTS) $(PEER_HEADERS)
	$(call peer,command -v gcc,gcc,gcc -std=gnu17 $(PEER_FLAGS) -o $@ $< $(PEER_OBJECTS) $(PEER_LDLIBS))

# Floors: the workloads without a scheduler; the context switch is the project's own, which pushes, also
# in functions that call nothing else.
build/peers/core: harness/peers/floor_core.c sched_variants/runtime/ctx.h $(PEER_OBJECTS) $(PEER_HEADERS)
	$(call peer,command -v gcc,gcc,gcc -std=gnu17 $(PEER_FLAGS) $(NO_SHADOW_STACK) $(call no_red_zone,gcc) $(ROOTS) -o $@ $< \
	    $(PEER_OBJECTS) $(PEER_LDLIBS))
build/peers/epoll: harness/peers/floor_epoll.c $(PEER_OBJECTS) $(PEER_HEADERS)
	$(call peer,command -v gcc,gcc,gcc -std=gnu17 $(PEER_FLAGS) -o $@ $< $(PEER_OBJECTS) $(PEER_LDLIBS))
build/peers/line build/peers/futex: harness/peers/floor_pair.c $(PEER_OBJECTS) $(PEER_HEADERS)
	$(call peer,command -v gcc,gcc,gcc -std=gnu17 $(PEER_FLAGS) $(if $(filter %futex,$@),-DFLOOR_FUTEX) \
	    -o $@ $< $(PEER_OBJECTS) $(PEER_LDLIBS))

.PRECIOUS: $(OUT)/%.o
-include $(shell find $(OUT) -name '*.d' 2>/dev/null)

# Targets for people --------------------------------------------------------------------------------

help: ## List what can be made
	@printf 'What can be made, in the order in which one needs it:\n'
	@sed -nE 's/^##@ (.*)/\n\1/p; s/^([a-z0-9._ -]+):.*## (.*)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | \
	    awk -F '\t' 'NF < 2 { print; next } length($$1) > 38 { print $$1; $$1 = "" } { printf "%-40s%s\n", $$1, $$2 }'
	@echo
	@echo 'Settings: CC=gcc|clang CONFIG=release|debug|asan|tsan|coverage WERROR=1 EXTRA_CFLAGS=... RUN=results/... V=1'

deps: PACKAGES = $(PACKAGES_BUILD)
deps-test: PACKAGES = $(PACKAGES_TEST)
deps-lint: PACKAGES = $(PACKAGES_LINT)
deps-coverage: PACKAGES = $(PACKAGES_COVERAGE)
deps-aarch64: PACKAGES = $(PACKAGES_AARCH64)
deps-peers: PACKAGES = $(PACKAGES_PEERS)
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300
deps deps-test deps-lint deps-coverage deps-aarch64 deps-peers:
	@command -v dpkg-query >/dev/null || \
	    { echo "not a Debian system; needs what Debian calls: $(strip $(PACKAGES))" >&2; exit 1; }; \
	missing= known=" $$(dpkg-query -W -f '$${db:Status-Status}:$${Package} ' $(PACKAGES) 2>/dev/null)"; \
	for package in $(PACKAGES); do \
	    case "$$known" in *" installed:$$package "*) ;; *) missing="$$missing $$package" ;; esac; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" != 0 ]; then \
	    echo "packages are missing; type: sudo apt-get install$$missing" >&2; exit 1; \
	fi; \
	echo "installing$$missing"; \
	install() { $(APT) install --no-install-recommends $$missing </dev/null >/dev/null; }; \
	install 2>/dev/null || { $(APT) update </dev/null >/dev/null && install; }

deps: ## Install missing Debian packages (as root; else print the command)

WORKLOAD ?= fib
run: build ## Seven samples of each variant, as a table: make run WORKLOAD=fib,n=25
	build/schedlab run $(WORKLOAD)

sweep: ## The default comparison: install, build, measure, draw, report (8 min at most)
	@$(MAKE) deps
	@$(MAKE) build
	build/schedlab sweep harness/sweeps/default.yaml

repro: build ## All experiments on design decisions, in the quick form, with verdicts
	build/schedlab repro --quick

repro-full: build ## The same until intervals are narrow, with what takes long
	build/schedlab repro --full
	@echo 'make reference RUN=FOLDER makes it the committed reference, and writes the documents anew'

# With the verdicts and figures of the committed references; tests/program/test_repro_docs.sh says whether they are.
REFERENCE := results/reference/repro
docs: disputes ## Write docs/EXPERIMENTS.md, docs/experiments/ and docs/DISPUTES.md anew from the experiments' files
	@command -v xz >/dev/null || { echo 'xz is missing: apt-get install xz-utils' >&2; exit 1; }
	@mkdir -p build/reference && xz -dc $(REFERENCE)/repro.json.xz >build/reference/repro.json
	build/schedlab repro --catalogue docs --reference build/reference

# The runs in the folder stay where they are: only their figures are kept.
reference: build ## Make RUN, a folder of `schedlab repro`, the committed reference, and write the documents anew
	@test -f '$(RUN)/repro.json' || { echo 'RUN="$(RUN)" has no repro.json; valid: a folder that `make repro` wrote' >&2; exit 2; }
	@command -v xz >/dev/null || { echo 'xz is missing: apt-get install xz-utils' >&2; exit 1; }
	xz -9e -c '$(RUN)/repro.json' >build/repro.json.xz
	cp '$(RUN)/environment.json' $(REFERENCE)
	mv build/repro.json.xz $(REFERENCE)
	build/schedlab repro --catalogue docs --reference '$(RUN)'
	@$(MAKE) docs

disputes: build ## Write docs/DISPUTES.md anew from the disputes' files and their committed records
	@command -v xz >/dev/null || { echo 'xz is missing: apt-get install xz-utils' >&2; exit 1; }
	@mkdir -p build/disputes && xz -dc results/reference/disputes/repro.json.xz >build/disputes/repro.json
	build/schedlab repro --catalogue docs --reference build/disputes disputes

lessons: build ## Write docs/lessons/ anew: a page per lesson, with its runs, and their index
	build/schedlab lesson --pages docs/lessons

trace: build build/schedlab-trace ## Build build/schedlab-trace too: `schedlab trace --machine native` runs it

hunt: build build/schedlab-hunt ## Build build/schedlab-hunt too: `schedlab hunt` looks for wrong schedules with it

install: build trace hunt ## Install below PREFIX (/usr/local): program, data, manual pages, completions; DESTDIR is honoured
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' harness/install/install.sh install build

uninstall: ## Remove what `make install` with the same PREFIX and DESTDIR installed
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' harness/install/install.sh uninstall build

scale: build ## Time and memory of a thousand to ten million goroutines (8 min, 7 GB)
	build/schedlab sweep harness/sweeps/scale.yaml

MICRO ?= --benchmark_min_time=0.02 --benchmark_repetitions=5 --medians
micro: build ## Time single operations, as a table and in build/micro.json: make micro MICRO=--benchmark_filter=chan
	build/schedlab micro $(MICRO) --benchmark_out=build/micro.json

# QUICK=1: three samples have no interval, and what counting costs stays open.
bench: build built-peers ## Speed beside peers and floors, price of counting, fences and simulating, operations over floors (13 min; QUICK=1: less)
	@rm -rf build/bench && mkdir -p build/bench
	build/schedlab sweep harness/sweeps/peers.yaml $(if $(QUICK),--reps 3) --results build/bench --no-report
	build/schedlab sweep harness/sweeps/bench-counters.yaml $(if $(QUICK),--reps 6) --results build/bench \
	    --name counters --no-report
	build/schedlab sweep harness/sweeps/bench-fence.yaml $(if $(QUICK),--reps 6) --results build/bench \
	    --name fence --no-report
	build/schedlab micro --benchmark_min_time=0.02 --benchmark_repetitions=$(if $(QUICK),3,9) --medians \
	    --benchmark_out=build/bench/micro.json >build/bench/micro.txt
	@{ build/schedlab bench --speed build/bench/peers-* --counting build/bench/counters-* \
	    --micro build/bench/micro.json --simulator $(if $(QUICK),3,9) && fence=$$(echo build/bench/fence-*) && \
	    echo && build/schedlab compare --each $$fence:variant=gmp \
	    $$fence:variant=gmp,fence=submitter/variant=gmp,fence=sleeper; } | tee build/bench/bench.txt

peers: ## Build the workloads on Go, oneTBB, OpenMP, Boost.Fiber, pthreads; installs what is missing
	@$(MAKE) deps-peers || echo 'building the peers that need nothing more'
	@$(MAKE) built-peers

PEERS := go tbb gomp omp boost pthreads
FLOORS := core line futex epoll
built-peers: $(addprefix build/peers/,$(PEERS) $(FLOORS))
	@echo 'built:' $$(cd build/peers && ls $(PEERS) 2>/dev/null | sed 's/^/peer:/') $(FLOORS:%=floor:%)

# Holds the simulated machine against what is known from elsewhere; docs/VALIDATION.md. Claims that
# do not hold are printed; they do not fail the target. It takes the one of three calibrations that
# fits the core distance of the native cells.
VALIDATE := build/validate
validate: build ## Hold the simulated machine against formulas, valgrind, this machine and published curves (26 min)
	@command -v valgrind >/dev/null || { echo 'valgrind is missing: apt-get install valgrind' >&2; exit 1; }
	@rm -rf $(VALIDATE) && mkdir -p $(VALIDATE)
	@$(MAKE) CONFIG=sim build/sim/tests/sim_formulas
	build/sim/tests/sim_formulas --json $(VALIDATE)/formulas.json >$(VALIDATE)/formulas.txt 2>&1 || \
	    test -s $(VALIDATE)/formulas.json
	harness/audit/validate_cachegrind.sh build $(VALIDATE)/misses.tsv
	build/schedlab calibrate --output $(VALIDATE)/host-1.yaml >$(VALIDATE)/calibrate-1.txt
	build/schedlab sweep harness/sweeps/validate.yaml --results $(VALIDATE) --name native --no-report
	for i in 2 3; do build/schedlab calibrate --output $(VALIDATE)/host-$$i.yaml >$(VALIDATE)/calibrate-$$i.txt || exit 1; done
	i=$$(harness/audit/validate_distance.sh $(VALIDATE)/native-* $(VALIDATE)) && \
	    cp $(VALIDATE)/host-$$i.yaml $(VALIDATE)/host.yaml && cp $(VALIDATE)/calibrate-$$i.txt $(VALIDATE)/calibrate.txt
	build/schedlab sweep harness/sweeps/validate.yaml --machine sim:$(VALIDATE)/host.yaml --reps 1 \
	    --results $(VALIDATE) --name simulated --no-report
	harness/audit/validate_replay.sh build/schedlab sim:$(VALIDATE)/host.yaml >$(VALIDATE)/replays.md
	build/schedlab sweep harness/sweeps/validate-curves.yaml --results $(VALIDATE) --name curves --no-report
	build/schedlab repro E10 E13 --quick --machine sim --results $(VALIDATE) --name tables
	build/schedlab repro harness/audit/outside.yaml --quick --results $(VALIDATE) --name outside --no-report
	@build/schedlab validate --formulas $(VALIDATE)/formulas.json --misses $(VALIDATE)/misses.tsv \
	    --native $(VALIDATE)/native-* --simulated $(VALIDATE)/simulated-* --curves $(VALIDATE)/curves-* \
	    --outside $(VALIDATE)/outside-*/repro.json --tables $(VALIDATE)/tables-*/repro.json \
	    --output $(VALIDATE) | tee $(VALIDATE)/claims.txt; exit $${PIPESTATUS[0]}
	gnuplot -c plots/validate.gp $(VALIDATE) $(VALIDATE)

RUN ?= $(shell ls -dt results/*/samples.jsonl 2>/dev/null | head -n 1 | xargs -r dirname)
audit: build ## Measure whether comparisons made here can be believed; the report of RUN then shows it (12 min)
	build/schedlab audit; status=$$?; $(if $(RUN),build/schedlab report $(RUN);) exit $$status

report: build ## Redo tables, figures and report of RUN (default: the newest run)
	build/schedlab report $(RUN)

plots: report ## Another name of `make report`

##@ To change something: check after each change, test before a commit, test-all before it is shared
PARTS_check := checks unit short
PARTS_test := checks unit conformance sim scripts
PARTS_rest := asan tsan clang aarch64 verdicts hunts lint
check: ## Release build, checks of the source, unit tests, short conformance: a minute after a change
	@$(MAKE) deps-test
	@$(MAKE) $(addprefix built-,$(PARTS_check))
	@tests/run.sh $(PARTS_check)

t: ## One test, or one case: make t T=deque; make t T=conformance CASE='gmp/*wake*'; without T a list
	+@CONFIG=$(CONFIG) CC='$(CC)' SEED='$(SEED)' tests/one.sh '$(T)' '$(CASE)'

test: ## All unit tests, conformance on real threads and on a simulated machine, all scripts (10 min)
	@$(MAKE) deps-test
	@$(MAKE) $(addprefix built-,$(PARTS_test))
	@tests/run.sh $(PARTS_test)

test-all: ## make test; then both sanitizers, clang, aarch64, lint, the verdicts of all experiments, 10^5 hunts (25 min)
	@$(MAKE) test; first=$$?; $(MAKE) test-rest && exit $$first

test-rest: ## What test-all does after make test; counts what make test has counted too
	@$(MAKE) deps-lint deps-aarch64
	@$(MAKE) $(addprefix built-,$(PARTS_rest))
	@tests/run.sh --append $(PARTS_rest)

asan tsan clang aarch64 sim verdicts hunts: ## One part of test-all by itself: a build and its tests
	@$(MAKE) deps-test
	@$(MAKE) built-$@
	@tests/run.sh $@

coverage: ## Lines that unit tests and short conformance run, by folder, and a page in build/coverage/report (2 min)
	@$(MAKE) deps-coverage
	@$(MAKE) tests CONFIG=coverage
	@find build/coverage -name '*.gcda' -delete
	@tests/run.sh coverage; status=$$?; tests/coverage.sh && exit $$status

mutants: ## Plant each bug of tests/mutants/ and see that its test finds it (4 min); one: MUTANT=GLOB
	@$(MAKE) deps-test
	@$(MAKE) tests
	@tests/mutants/run.sh $(MUTANT)

hunt-mutants: hunt ## Plant each bug of tests/hunt/mutants/ and print how soon `schedlab hunt` finds it (10 min); one: MUTANT=GLOB
	@tests/hunt/mutants.sh --seeds $(if $(SEEDS),$(SEEDS),20) $(MUTANT)

FUZZ_COUNT ?= 2000
FUZZ_SEED ?= $(shell date +%s)
fuzz: ## Random sweeps, models, experiments, specifications, records, under AddressSanitizer: FUZZ_SEED=... FUZZ_COUNT=2000 (3 min)
	@$(MAKE) deps-test
	@$(MAKE) CONFIG=asan build/asan/tests/test_fuzz
	FUZZ_SEED=$(FUZZ_SEED) FUZZ_COUNT=$(FUZZ_COUNT) build/asan/tests/test_fuzz

budget: ## Write tests/budget.tsv anew from the times of the last test-all (build/test-times.tsv)
	@tests/budget.sh

.PHONY: built-peers built-harness $(addprefix built-,$(sort $(PARTS_check) $(PARTS_test) $(PARTS_rest)))
built-checks built-lint: ;
built-harness:
	@$(MAKE) CONFIG=release $(if $(filter clang,$(COMPILER)),CC=gcc) build/release/harness.a
built-unit: built-harness
	@$(MAKE) tests CONFIG=release
built-short built-conformance: built-unit ;
# One after the other: two makes must not build the same objects.
built-scripts built-verdicts built-hunts: built-unit
	@$(MAKE) build
	@$(MAKE) CONFIG=sim build/sim/tests/sim_formulas build/sim/tests/sim_wakes build/sim/tests/conformance
	@$(MAKE) build/schedlab-trace
	@$(MAKE) build/schedlab-hunt
	@$(MAKE) CONFIG=hunt build/hunt/tests/hunt_machine
	@$(MAKE) built-peers
built-sim: built-scripts ;
built-asan built-tsan: built-%:
	@$(MAKE) tests CONFIG=$*
# clang compiles all that runs under the scheduler, and links gcc's harness: lint has clang's warnings about the harness.
built-clang: built-harness
	@$(MAKE) CONFIG=release CC=clang HARNESS=build/release/harness.a LIGHT=-O0 build/release-clang/schedlab \
	    build/release-clang/tests/conformance
built-aarch64:
	@$(MAKE) deps-aarch64
	@$(MAKE) CONFIG=aarch64 CC=aarch64-linux-gnu-gcc build/aarch64/tests/conformance

test-slurm: build ## A sweep on a real cluster of Slurm, started on loopback (as root; 2 min)
	tests/program/slurm.sh build/schedlab

test-ssh: build ## A sweep by GNU parallel over ssh, to two sshd started on loopback (3 min)
	tests/program/ssh.sh build/schedlab

# Versions of clang-format lay out the same file differently; that of Debian 12 counts.
FORMAT_VERSION := 14
lint: ## clang-format, clang-tidy, direction of includes, style; DEEP=1: the analyzer in tests too, to its own bounds, five times as long
	@$(MAKE) deps-lint
	@for check in tests/check/check_*.sh; do $$check || exit 1; done
	@if clang-format --version | grep -q 'version $(FORMAT_VERSION)\.'; then \
	    clang-format --dry-run -Werror $(C_FILES) $(PEER_SOURCES) $(PEER_HEADERS); \
	else echo 'layout not checked: it takes clang-format $(FORMAT_VERSION)'; fi
	@$(MAKE) tidy

# Ten files to a process: to start one takes as long as to look at a short file. make tidy FILES=harness/sample/child.c
.PHONY: tidy
FILES ?= $(filter %.c,$(C_FILES))
TIDY_SIM := $(wildcard sched_variants/machine/sim/*.c sched_variants/machine/hunt/*.c)
# $(call tidied,FILES,CHECKS,FLAGS)
tidied = printf '%s\n' $(1) | xargs -r -n 10 -P $(JOBS) sh -c 'clang-tidy --quiet $(2) "$$@" -- $(3) -std=gnu17 -D_GNU_SOURCE \
    -DSCHEDLAB_DEBUG $(filter-out -Werror,$(WARNINGS)) $(ROOTS) $(LIBRARY_CFLAGS) -include $(OUT)/origin.h -include $(OUT)/labels.h 2>/dev/null' tidy
tidy: BOUND = $(if $(DEEP),,-Xclang -analyzer-config -Xclang max-nodes=5000)
tidy: $(OUT)/origin.h $(OUT)/labels.h
	@$(call tidied,$(filter $(TIDY_SIM),$(FILES)),,$(BOUND) -DSCHEDLAB_SIM -DSCHEDLAB_HUNT)
	@$(call tidied,$(filter-out tests/% $(TIDY_SIM),$(FILES)),,$(BOUND))
	@$(call tidied,$(filter tests/%,$(FILES)),$(if $(DEEP),,--checks=-clang-analyzer-*),$(BOUND))

# Each file as the first of these builds compiles it. Peers are compiled and linked at once, so their lines are written here.
compile_commands.json: always ## For clangd and clang-tidy -p: how each C file is compiled
	@set -o pipefail; { $(MAKE) -nB V=1 CONFIG=release CC=gcc tests build/release/schedlab && \
	    $(MAKE) -nB V=1 CONFIG=coverage CC=gcc build/coverage/tests/support/coverage_exit.o && \
	    $(MAKE) -nB V=1 CONFIG=sim CC=gcc HARNESS=build/release/harness.a build/sim/schedlab build/sim/tests/sim_formulas build/sim/tests/sim_wakes && \
	    $(MAKE) -nB V=1 CONFIG=hunt CC=gcc HARNESS=build/release/harness.a build/hunt/schedlab-hunt build/hunt/tests/hunt_machine && \
	    printf '%s\n' $(foreach file,$(PEER_SOURCES),'$(if $(filter %.c,$(file)),gcc -std=gnu17 -fopenmp,g++ -std=c++17) \
	        $(PEER_FLAGS) $(ROOTS) -c -o build/peers/$(basename $(notdir $(file))).o $(file)'); } | \
	    awk -v folder='$(CURDIR)' -f harness/compile_commands.awk >$@.new && mv $@.new $@

hooks: ## Have git lay out and check what is committed (.githooks/pre-commit)
	git config core.hooksPath .githooks

format: ## Let clang-format rewrite all C files
	clang-format -i $(C_FILES) $(PEER_SOURCES) $(PEER_HEADERS)

clean: ## Remove build/
	rm -rf build
