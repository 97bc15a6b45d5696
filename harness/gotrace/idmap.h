/* idmap.h - numbers by numbers: open addressing with linear probing, half of the slots free.
 *
 * Callers: learn.c and gotext.c. All zero is empty. Keys are not 0.
 */
#ifndef SCHEDLAB_IDMAP_H
#define SCHEDLAB_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
    uint64_t key, value;
};

struct idmap {
    struct idmap_slot *slots;
    size_t mask, count;
};

/* The value of the key; NULL if there is none. Valid until the next idmap_put(). */
uint64_t *idmap_get(const struct idmap *map, uint64_t key);

/* The value of the key, made with 0 if there is none. */
uint64_t *idmap_put(struct idmap *map, uint64_t key);

void idmap_free(struct idmap *map);

#endif
