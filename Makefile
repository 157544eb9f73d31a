# wick: `make` builds build/wick; `make help` lists the rest.
#
# One non-recursive Makefile. Everything made goes below $(BUILD): builds with different flags live side by side.

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
SAN ?=
STATIC ?=
FUZZ_SECONDS ?= 60
FUZZ_TOTAL ?= 3600
FUZZ_JOBS ?= 2
DURATION ?= 1800

# ARCH=aarch64 is a cross build, with Debian's compiler, libraries of scripts/sysroot, and qemu to run what was built.
HOST_ARCH := $(shell uname -m)
ARCH ?= $(HOST_ARCH)
# What Linux and Debian call them; ARCH may come from the environment of someone who builds kernels.
override ARCH := $(patsubst x86,x86_64,$(patsubst amd64,x86_64,$(patsubst arm64,aarch64,$(ARCH))))
ifneq ($(ARCH),$(HOST_ARCH))
CROSS := $(ARCH)-linux-gnu-
endif

# Sanitizer, static and cross builds have folders of their own: their objects do not mix with the others.
BUILD ?= build$(if $(CROSS),-$(ARCH))$(if $(strip $(SAN)),-san)$(if $(filter yes,$(STATIC)),-static)

ifeq ($(origin CC),default)
CC := $(CROSS)gcc
endif
AR := $(CROSS)ar
FUZZ_CC ?= clang
CFLAGS ?= -O2 -g
LDFLAGS ?=
WICK_CFLAGS := -std=gnu17 -D_GNU_SOURCE -DWICK_VERSION='"$(VERSION)"' -Wall -Wextra -Wshadow -Wmissing-prototypes \
	-Wstrict-prototypes -Isrc -pthread
LIBS := -liberty -lz -llzma -lzstd -lm -pthread
ifneq ($(CROSS),)
SYSROOT ?= $(BUILD)/sysroot
CROSS_CFLAGS := -isystem $(SYSROOT)/usr/include
LDFLAGS += -L$(SYSROOT)/usr/lib/$(ARCH)-linux-gnu
EMULATOR := qemu-$(ARCH)
RUN := $(EMULATOR) -L $(SYSROOT)
BPF := no
endif
# header:Debian package
LIBRARIES := zlib.h:zlib1g-dev lzma.h:liblzma-dev zstd.h:libzstd-dev libiberty/demangle.h:libiberty-dev

# The BPF engine needs clang, bpftool and libbpf; without them (or with BPF=no) wick is built without it.
BPF_CLANG ?= $(firstword $(shell command -v clang 2>/dev/null))
BPFTOOL ?= $(firstword $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool 2>/dev/null))
ifneq ($(BPF),no)
LIBBPF := $(wildcard /usr/include/bpf/libbpf.h)
BPF := $(if $(and $(BPF_CLANG),$(BPFTOOL),$(LIBBPF),$(filter x86_64,$(ARCH))),yes,no)
endif
ifeq ($(BPF),yes)
WICK_CFLAGS += -I$(BUILD)/gen/bpf
LIBS := -lbpf -lelf $(LIBS)
else
WICK_CFLAGS += -DWICK_WITHOUT_ENGINE
endif

# What a static program cannot load: services for names of users, and libdebuginfod.
ifeq ($(STATIC),yes)
WICK_CFLAGS += -DWICK_STATIC
LDFLAGS += -static
endif
ifneq ($(strip $(SAN)),)
SAN_FLAGS := -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ifeq ($(CI),true)
WICK_CFLAGS += -Werror
endif
# V=1 shows the commands.
Q := $(if $(filter 1,$(V)),,@)
COMPILE := $(CC) $(WICK_CFLAGS) $(CROSS_CFLAGS) $(CFLAGS) $(SAN_FLAGS)
LINK := $(CC) $(CFLAGS) $(SAN_FLAGS) $(LDFLAGS)

# The engine, or what says that it is not there.
ENGINE := $(patsubst %,src/engine/bpf_%.c,counts engine load slabs supply symbols tables times \
	waits)
NO_ENGINE := src/engine/engine_absent.c
SOURCES := $(sort $(shell find src -name '*.c'))
SOURCES := $(filter-out src/bpf/%.bpf.c $(if $(filter yes,$(BPF)),$(NO_ENGINE),$(ENGINE)),$(SOURCES))
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gen/web.o

# The script of the pictures is the concatenation of these, in this order, in a function of its own.
WEB_JS := $(addprefix src/web/,core/data.js flame/state.js core/tree.js core/search.js core/layout.js flame/color.js \
	flame/labels.js flame/widgets.js flame/stage.js flame/toolbar.js flame/panel.js flame/popups.js \
	flame/input.js flame/flame.js)
WEB_CSS := src/web/flame/flame.css

COMMANDS := record top fold flame diff report script doctor containers
MAN_PAGES := $(BUILD)/man/wick.1 $(COMMANDS:%=$(BUILD)/man/wick-%.1)
COMPLETIONS := $(BUILD)/completions/wick.bash $(BUILD)/completions/_wick

UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(filter-out tests/fuzz/replay.c,$(sort $(wildcard tests/fuzz/*.c))))
FUZZ_HEADERS := $(wildcard tests/fuzz/*.h)
REPLAYERS := $(FUZZERS:%=$(BUILD)/tests/fuzz/%)

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all deps deps-build demo test test-programs bench bench-unwind lint format \
	fuzz fuzz-corpus fuzz-long soak install uninstall deb dist clean help
.PHONY: images FORCE

##: build wick, its man pages and shell completions
all: $(BUILD)/wick $(MAN_PAGES) $(COMPLETIONS)

# --- the program ---

$(BUILD)/wick: $(BUILD)/obj/cmd/main.o $(BUILD)/libwick.a
	@echo '  LINK $@'
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# Tests and fuzzers take from it what they use.
$(BUILD)/libwick.a: $(filter-out $(BUILD)/obj/cmd/main.o,$(OBJECTS))
	@rm -f $@
	@echo '  AR   $@'
	$(Q)$(AR) rcs $@ $^

$(BUILD)/obj/%.o: src/%.c $(BUILD)/flags | $(BUILD)/libraries
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

$(BUILD)/gen/web.c: scripts/embed $(BUILD)/gen/flame.js $(WEB_CSS)
	@echo '  GEN  $@'
	$(Q)scripts/embed '#include "render/web.h"' web_flame_js $(BUILD)/gen/flame.js web_flame_css $(WEB_CSS) >$@

$(BUILD)/gen/flame.js: $(WEB_JS) Makefile
	@mkdir -p $(@D)
	@echo '  GEN  $@'
	$(Q){ printf '(() => {\n"use strict";\n'; cat $(WEB_JS); printf '})();\n'; } >$@

##: build build-static/wick, which runs in any container: it needs no library
static:
	@scripts/deps build
	@$(MAKE) --no-print-directory STATIC=yes static-program

.PHONY: static static-program
static-program: $(BUILD)/wick
	@strip $<
	@ls -l $< | awk '{ printf "%s: %.1f MB\n", $$NF, $$5 / 1e6 }'

# --- the programs that wick loads into the kernel ---

$(BUILD)/gen/bpf/wick.bpf.o: src/bpf/wick.bpf.c \
		$(wildcard src/bpf/*.h src/arch/*.h src/arch/*/*.h src/trace/word.h) Makefile
	@mkdir -p $(@D)
	@echo '  BPF  $@'
	$(Q)$(BPF_CLANG) -g -O2 -target bpf -D__$(ARCH)__ -Isrc -I/usr/include/$(ARCH)-linux-gnu \
		-Wall -Wextra -Wshadow -Wstrict-prototypes -c -o $@ $<

$(BUILD)/gen/bpf/wick.skel.h: $(BUILD)/gen/bpf/wick.bpf.o
	@echo '  GEN  $@'
	$(Q)$(BPFTOOL) gen skeleton $< name wick_bpf >$@

$(BUILD)/obj/engine/bpf_load.o $(BUILD)/fuzz/obj/engine/bpf_load.o: $(BUILD)/gen/bpf/wick.skel.h

# Changes when the flags do, so that everything is compiled with the same ones.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$(subst ",\",$(COMPILE))" | cmp -s - $@ || printf '%s\n' "$(subst ",\",$(COMPILE))" >$@

$(BUILD)/libraries: scripts/libraries
	@mkdir -p $(@D)
	@CC='$(CC) $(CROSS_CFLAGS) $(CFLAGS)' MAKE='make$(if $(CROSS), ARCH=$(ARCH))' scripts/libraries $(LIBRARIES)
	@touch $@

$(BUILD)/man/wick.1: $(BUILD)/wick
	@mkdir -p $(@D)
	@echo '  GEN  $@'
	$(Q)$(RUN) $(BUILD)/wick help --man >$@

$(BUILD)/man/wick-%.1: $(BUILD)/wick
	@mkdir -p $(@D)
	@echo '  GEN  $@'
	$(Q)$(RUN) $(BUILD)/wick help --man $* >$@

$(BUILD)/completions/wick.bash: $(BUILD)/wick
	@mkdir -p $(@D)
	@echo '  GEN  $@'
	$(Q)$(RUN) $(BUILD)/wick help --completion bash >$@

$(BUILD)/completions/_wick: $(BUILD)/wick
	@mkdir -p $(@D)
	@echo '  GEN  $@'
	$(Q)$(RUN) $(BUILD)/wick help --completion zsh >$@

# --- what must be installed ---

##: install the packages for building and testing with apt (as root or with sudo)
deps: $(if $(CROSS),deps-build)
	scripts/deps build test

##: install the packages for building with apt; with ARCH=aarch64, for a cross build
deps-build: $(if $(CROSS),$(SYSROOT))
	scripts/deps build $(if $(CROSS),cross-$(ARCH))

ifneq ($(CROSS),)
$(SYSROOT): scripts/sysroot
	scripts/sysroot $(ARCH) $@
endif

# --- trying it ---

##: record a sample program and draw build/demo/flamegraph.svg
demo:
	@scripts/deps build demo
	@$(MAKE) --no-print-directory BUILD='$(BUILD)' $(BUILD)/wick
	@scripts/demo $(BUILD)

##: compare wick with perf, FlameGraph, inferno and others; see bench/README.md
bench: $(BUILD)/wick $(BUILD)/bench/symbolize
	WICK='$(abspath $(BUILD)/wick)' bench/run

##: draw the images of the documents again
images: $(BUILD)/wick
	scripts/images $(BUILD)

$(BUILD)/bench/%: bench/%.c $(BUILD)/libwick.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -o $@ $< $(LDFLAGS) $(BUILD)/libwick.a $(LIBS)

##: measure building unwind tables (of FILES) and unwinding a stack
bench-unwind: $(BUILD)/bench/unwind
	$< $(or $(FILES),$(wildcard /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 \
		/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 /usr/bin/node))

# --- tests ---

# In a cross build, those that cannot run under an emulator are left out (tests/unit/emulated.txt).
ifneq ($(CROSS),)
UNIT_LEFT_OUT := $(shell awk '$$2 == "all" { print $$1 }' tests/unit/emulated.txt)
UNIT_TESTS := $(filter-out $(UNIT_LEFT_OUT:%=$(BUILD)/tests/unit/test_%),$(UNIT_TESTS))
UNIT_FLAGS := $(BUILD)/tests/emulated.o -Wl,--wrap=_cmocka_run_group_tests
# With -L, qemu would map / too.
UNIT_FLAGS += -Wl,--dynamic-linker=$(abspath $(SYSROOT))/lib/ld-linux-$(ARCH).so.1 \
	-Wl,-rpath,$(abspath $(SYSROOT))/lib/$(ARCH)-linux-gnu:$(abspath $(SYSROOT))/usr/lib/$(ARCH)-linux-gnu

$(UNIT_TESTS): $(BUILD)/tests/emulated.o
$(BUILD)/tests/emulated.o: tests/unit/emulated.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(COMPILE) -c -o $@ $<
endif

$(BUILD)/tests/unit/%: tests/unit/%.c $(BUILD)/libwick.a $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(COMPILE) -Itests/unit -MMD -MP -o $@ $< $(UNIT_FLAGS) $(LDFLAGS) $(BUILD)/libwick.a -lcmocka $(LIBS)

# Where libdw is, the unwind tables are held against it; without, that test is skipped.
ifneq ($(if $(CROSS),,$(wildcard /usr/include/elfutils/libdw.h)),)
$(BUILD)/tests/unit/test_unwind_libdw: LIBS += -ldw -lelf
endif

# The harness with a main() that runs files through it: no fuzzer needed to rerun a corpus.
$(BUILD)/tests/fuzz/%: tests/fuzz/%.c tests/fuzz/replay.c $(FUZZ_HEADERS) $(BUILD)/libwick.a $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(COMPILE) -o $@ $< tests/fuzz/replay.c $(LDFLAGS) $(BUILD)/libwick.a $(LIBS)

test-programs: all $(UNIT_TESTS) $(if $(CROSS),,$(REPLAYERS))

##: run all tests; ends with "N passed, N failed". SAN=address,undefined uses sanitizers. With ARCH=aarch64: unit tests
test: $(if $(CROSS),deps-build)
	@scripts/deps build test || echo "going on without: tests that need it are skipped" >&2
	@$(MAKE) --no-print-directory BUILD='$(BUILD)' SAN='$(SAN)' test-programs
	@$(if $(CROSS),RUN='$(EMULATOR)') tests/run $(BUILD) $(if $(CROSS),unit)

##: run the corpora of the fuzzers (part of test)
fuzz-corpus: $(REPLAYERS)
	@tests/run $(BUILD) fuzz

##: fuzz every parser for FUZZ_SECONDS (60) each; findings go to build/fuzz/
fuzz: $(FUZZERS:%=fuzz-%)

# Everything is compiled once more, by clang, with the counters that libFuzzer looks at.
FUZZ_COMPILE := $(FUZZ_CC) $(WICK_CFLAGS) -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_OBJECTS := $(patsubst src/%.c,$(BUILD)/fuzz/obj/%.o,$(filter-out src/cmd/main.c,$(SOURCES)))
$(BUILD)/fuzz/obj/%.o: src/%.c | $(BUILD)/libraries
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(FUZZ_COMPILE) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/obj/libwick.a: $(FUZZ_OBJECTS) $(BUILD)/obj/gen/web.o
	@rm -f $@
	@echo '  AR   $@'
	$(Q)$(AR) rcs $@ $^

$(BUILD)/fuzz/bin/%: tests/fuzz/%.c $(FUZZ_HEADERS) $(BUILD)/fuzz/obj/libwick.a
	@mkdir -p $(@D)
	@echo '  LINK $@'
	$(Q)$(FUZZ_COMPILE) -fsanitize=fuzzer -o $@ $< $(BUILD)/fuzz/obj/libwick.a $(LIBS)

.PRECIOUS: $(BUILD)/fuzz/bin/%
fuzz-%: $(BUILD)/fuzz/bin/%
	@mkdir -p $(BUILD)/fuzz/found/$* $(BUILD)/fuzz/crashes
	$< -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 -max_len=65536 -print_final_stats=1 \
		-artifact_prefix=$(BUILD)/fuzz/crashes/$*- $(BUILD)/fuzz/found/$* $(wildcard tests/fuzz/corpus/$*)

##: fuzz every parser for an hour in total on two cores (FUZZ_TOTAL, FUZZ_JOBS); ends with a table
fuzz-long: $(FUZZERS:%=$(BUILD)/fuzz/bin/%)
	@FUZZ_TOTAL='$(FUZZ_TOTAL)' FUZZ_JOBS='$(FUZZ_JOBS)' tests/fuzz/long $(BUILD) $(FUZZERS)

##: record the whole system for DURATION (1800) seconds under load; ends with a table. Needs root
soak: $(BUILD)/wick
	DURATION='$(DURATION)' tests/soak/run $(BUILD)/wick

##: check formatting, static analysis, includes, shell and web scripts, words
lint: $(BUILD)/gen/flame.js
	@tests/lint/run $<

##: format the C sources with clang-format
format:
	clang-format -i $$(find src tests bench examples -name '*.[ch]' -not -path '*/corpus/*')

# --- installing ---

##: install to $(DESTDIR)$(PREFIX), by default /usr/local
install: all
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/man/man1' '$(DESTDIR)$(PREFIX)/share/doc/wick' \
		'$(DESTDIR)$(PREFIX)/share/bash-completion/completions' '$(DESTDIR)$(PREFIX)/share/zsh/site-functions'
	install -m 755 $(BUILD)/wick '$(DESTDIR)$(PREFIX)/bin/wick'
	install -m 644 $(MAN_PAGES) '$(DESTDIR)$(PREFIX)/share/man/man1/'
	install -m 644 $(BUILD)/completions/wick.bash '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/wick'
	install -m 644 $(BUILD)/completions/_wick '$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_wick'
	install -m 644 README.md NEWS.md LICENSE '$(DESTDIR)$(PREFIX)/share/doc/wick/'

##: build build/wick_VERSION_ARCH.deb, with apt's packages for building
deb:
	@scripts/deps build deb
	@$(MAKE) --no-print-directory BUILD='$(BUILD)' all
	@packaging/deb $(BUILD) $(VERSION)

##: build build/wick-VERSION.tar.gz from the files that git knows
dist:
	@mkdir -p $(BUILD)
	@git ls-files -z | tar --null --files-from=- --transform 's|^|wick-$(VERSION)/|' --sort=name \
		--owner=0 --group=0 --numeric-owner --mtime="@$$(git log -1 --format=%ct)" -cf - | \
		gzip -9n >$(BUILD)/wick-$(VERSION).tar.gz
	@echo '$(BUILD)/wick-$(VERSION).tar.gz'

##: remove the installed files
uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/wick' '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/wick' \
		'$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_wick' \
		$(MAN_PAGES:$(BUILD)/man/%='$(DESTDIR)$(PREFIX)/share/man/man1/%')
	rm -rf '$(DESTDIR)$(PREFIX)/share/doc/wick'

##: remove build/, build-san/ and the like
clean:
	rm -rf build build-san build-static build-aarch64 build-aarch64-san

##: show this list
help:
	@awk '/^##: / { text = substr($$0, 5); next } \
		text != "" { split($$0, part, ":"); printf "make %-12s %s\n", part[1], text; text = "" }' Makefile

FORCE:

-include $(OBJECTS:.o=.d) $(FUZZ_OBJECTS:.o=.d) $(UNIT_TESTS:%=%.d)
