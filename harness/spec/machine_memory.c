/* machine_memory.c - see machine_memory.h. */
#include "harness/spec/machine_memory.h"

#include "harness/base/memory.h"
#include "machine.h"

#include <stdlib.h>
#include <string.h>

void *machine_zalloc(size_t size)
{
    void *memory = machine_alloc(size, 64); /* of its own lines */
    if (!memory)
        memory_die();
    return memset(memory, 0, size);
}
