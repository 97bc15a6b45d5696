/* machine_file.h - a simulated machine, as a file says it.
 *
 * Callers: machine_spec.c, list, calibrate for what it could not measure. The file is YAML,
 * harness/machines/NAME.yaml or any other; its keys are those of machine_keys.h, those with a
 * point in their name as a mapping:
 *
 *     title: Ryzen 7 7700X          # one line, for lists
 *     cores: 8
 *     clock: 5.4 GHz
 *     l1: {size: 32 KiB, ways: 8, hit: 1 cycle, replacement: plru}
 *     clean: {near: 20 ns, socket: 70 ns, remote: 190 ns}
 *     vm: {wake: 6.8 us}            # prices of the kernel in a virtual machine (host=vm); may lack
 *     sources:                      # where the numbers are from; each of them has one
 *       - of: [cores, clock, l1.size, l1.ways]
 *         source: AMD, product page of the Ryzen 7 7700X
 *       - of: [l2, l3]              # all keys of l2 and l3
 *         source: measured by schedlab calibrate on ...
 *
 * All keys must be there but lookahead, which is otherwise as long as it may be.
 */
#ifndef SCHEDLAB_MACHINE_FILE_H
#define SCHEDLAB_MACHINE_FILE_H

#include "harness/base/error.h"
#include "harness/models/machine_keys.h"

struct machine_source {
    char **of; /* keys, or what stands before the point in them */
    unsigned of_count;
    char *source;
};

struct machine_file {
    char *title;
    struct machine_source *sources;
    unsigned sources_count;
    struct machine_values values;
    struct machine_values vm; /* prices that are others in a virtual machine; none given: no such */
    struct sim_model model; /* what the values make; its name is that of the file, without .yaml */
};

/* Reads and checks the file at path. NULL if anything about it is wrong; then error
 * has a line "PATH:LINE: what, and what is valid" for each mistake. */
struct machine_file *machine_file_load(const char *path, struct error *error);
void machine_file_free(struct machine_file *file);

/* The source of a key's value. NULL: the file names none, as for a lookahead that is not given. */
const char *machine_file_source(const struct machine_file *file, const struct machine_key *key);

/* True if the file has prices of a virtual machine (vm), which have one source together. */
bool machine_file_has_vm(const struct machine_file *file);
const char *machine_file_vm_source(const struct machine_file *file);

#endif
