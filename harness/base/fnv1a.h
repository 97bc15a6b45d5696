/* fnv1a.h - the hash FNV-1a of 64 bits, for names of things and for telling lines apart.
 *
 * Source: Fowler, Noll, Vo (RFC 9923). Not for texts that an adversary chooses.
 */
#ifndef SCHEDLAB_FNV1A_H
#define SCHEDLAB_FNV1A_H

#include <stddef.h>
#include <stdint.h>

#define FNV1A_SEED UINT64_C(0xcbf29ce484222325)

/* The hash of these bytes behind those of an earlier hash; the first call gets FNV1A_SEED. */
static inline uint64_t fnv1a(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
