/* machine_memory.c - see machine_memory.h. */
#include "harness/spec/machine_memory.h"

#include "machine.h"
#include "machine/no_memory.h"

#include <string.h>

void *machine_zalloc(size_t size)
{
    void *memory = machine_alloc(size, 64); /* of its own lines */
    if (!memory)
        machine_die(NO_MEMORY_TEXT, EXIT_ENVIRONMENT);
    return memset(memory, 0, size);
}
