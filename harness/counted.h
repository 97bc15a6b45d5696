/* counted.h - "1 sample", "2 samples".
 *
 * Who calls: everything that tells people how many of something there are.
 */
#ifndef SCHEDLAB_COUNTED_H
#define SCHEDLAB_COUNTED_H

#include <stdint.h>

struct counted {
    char s[64];
};

/* The number and the noun, which has an s where it is not one. A noun of several words is in the
 * plural by its last one: counted(3, "hardware thread"). A struct, so that a call can stand in an
 * argument list. */
struct counted counted(uint64_t count, const char *noun);

#endif
