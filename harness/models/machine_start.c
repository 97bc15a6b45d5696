/* machine_start.c - see machine_start.h. */
#include "harness/models/machine_start.h"

#include "harness/base/fnv1a.h"
#include "harness/models/machine_spec.h"
#include "harness/spec/outside.h"
#include "machine.h"
#include "workloads/workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, PROGRAMS_KEPT = 4 };

bool machine_text_is_simulated(const char *text)
{
    return text && strncmp(text, "sim:", 4) == 0;
}

/* The path of this program; "" if that cannot be known. */
static void self_path(char path[PATH_SIZE])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_SIZE - 1);
    path[length > 0 ? length : 0] = '\0';
}

/* The program at path, open; -1 if it is a script, whose interpreter would have to open it anew. */
static int program_open(const char *path)
{
    static const char elf[4] = {0x7f, 'E', 'L', 'F'};
    char begin[sizeof elf];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
        memcmp(begin, elf, sizeof elf) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Keeps the program at path open and names the open file, so that all samples of this process run
 * one program, even if it is built anew or removed meanwhile. False if there is none to execute. */
static bool program_keep_open(char *path, size_t path_size)
{
    static struct {
        char path[PATH_SIZE];
        int fd;
    } kept[PROGRAMS_KEPT];
    size_t i = 0;
    while (i < PROGRAMS_KEPT && *kept[i].path && strcmp(kept[i].path, path) != 0)
        i++;
    bool known = i < PROGRAMS_KEPT && *kept[i].path;
    if (!known && access(path, X_OK) != 0)
        return false;
    if (!known && i < PROGRAMS_KEPT && (kept[i].fd = program_open(path)) >= 0) {
        snprintf(kept[i].path, sizeof kept[i].path, "%s", path);
        known = true;
    }
    if (known)
        snprintf(path, path_size, "/proc/self/fd/%d", kept[i].fd);
    return true;
}

/* This program, or the one of that name beside `program`, NULL being this one; of an installed
 * program it lies in PREFIX/libexec/schedlab. */
static bool program_beside(bool is_this, const char *program, const char *name, char *path,
                           size_t path_size)
{
    char self[PATH_SIZE];
    self_path(self);
    if (is_this) {
        snprintf(path, path_size, "%s", self);
        return true;
    }
    if (!program)
        program = self;
    const char *slash = strrchr(program, '/');
    int folder = slash ? (int)(slash - program) + 1 : 0;
    snprintf(path, path_size, "%.*s../libexec/schedlab/%s", folder, program, name);
    if (program_keep_open(path, path_size))
        return true;
    snprintf(path, path_size, "%.*s%s", folder, program, name);
    return program_keep_open(path, path_size);
}

bool machine_sim_program(const char *program, char *path, size_t path_size, struct error *error)
{
    return program_beside(machine_is_simulated(), program, "schedlab-sim", path, path_size) ||
           error_set(error, "cannot execute %s, which runs simulated machines; `make` builds it",
                     path);
}

/* A program with code from outside the tree is linked of what its file has. */
static const char *and_again(void)
{
    return outside_variants[0] || outside_workloads[0]
               ? ", and `schedlab build` your file again for it"
               : "";
}

bool machine_trace_program(const char *program, char *path, size_t path_size, struct error *error)
{
    return program_beside(MACHINE_KEEPS_EVENTS && !machine_is_simulated(), program,
                          "schedlab-trace", path, path_size) ||
           error_set(
               error,
               "cannot execute %s, which records what real threads do; `make trace` builds it%s",
               path, and_again());
}

bool machine_hunt_program(char *path, size_t path_size, struct error *error)
{
    return program_beside(false, NULL, "schedlab-hunt", path, path_size) ||
           error_set(error,
                     "cannot execute %s, which looks for wrong schedules; `make hunt` builds it%s",
                     path, and_again());
}

void machine_record_values(json_t *record, const struct sim_model *model)
{
    json_t *values = machine_model_to_json(model);
    char *all = json_dumps(values, JSON_COMPACT);
    json_object_set_new(record, "model",
                        json_sprintf("%016" PRIx64, fnv1a(FNV1A_SEED, all, strlen(all))));
    json_object_set_new(record, "cores", json_integer(model->cores));
    json_object_set_new(record, "lookahead_ps", json_integer(model->lookahead_ps));
    free(all);
    json_decref(values);
}

uint64_t machine_rep_seed(uint64_t seed, unsigned repetition)
{
    /* 31 bits: short enough to be typed again. */
    return repetition == 0 ? seed : digest_mix(seed + repetition) >> 33;
}
