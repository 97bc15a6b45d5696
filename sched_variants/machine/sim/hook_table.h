/* hook_table.h - the functions that compilers call in instrumented code but for blocks and
 * fences, in terms of a few that the machine has defined before it includes this:
 *
 *   access_by(address, size, access, pc)  a plain access within a line is about to be made
 *   range(start, size, access, pc)        likewise, of any length
 *   rmw(at, size, order, pc)              a read-modify-write is about to be made
 *   UPDATES(at, order, writes)            a read-modify-write is, and writes or only reads
 *   STORE_BY(at, order)                   an atomic store is, in its hook
 *   STORED(at, value, order)              the value that memory holds after it
 *   LOAD(bits, type)                      the hook of an atomic load
 *
 * Callers: hooks.c of each machine whose code is instrumented.
 *   Source: gcc's and LLVM's tsan_interface_atomic.h, for the names.
 */
#include <string.h>

/* Plain loads and stores ---------------------------------------------------------------------- */

#define ACCESS(name, size, access)                                                                 \
    void HOOK(name)(const void *address);                                                          \
    void HOOK(name)(const void *address)                                                           \
    {                                                                                              \
        access_by((uintptr_t)address, size, access, PC);                                           \
    }
#define ACCESSES(size)                                                                             \
    ACCESS(read##size, size, SIM_READ)                                                             \
    ACCESS(write##size, size, SIM_WRITE)                                                           \
    ACCESS(volatile_read##size, size, SIM_READ)                                                    \
    ACCESS(volatile_write##size, size, SIM_WRITE)                                                  \
    ACCESS(unaligned_read##size, size, SIM_READ)                                                   \
    ACCESS(unaligned_write##size, size, SIM_WRITE)                                                 \
    ACCESS(unaligned_volatile_read##size, size, SIM_READ)                                          \
    ACCESS(unaligned_volatile_write##size, size, SIM_WRITE)                                        \
    void HOOK(read_write##size)(const void *address);                                              \
    void HOOK(read_write##size)(const void *address)                                               \
    {                                                                                              \
        access_by((uintptr_t)address, size, SIM_READ, PC);                                         \
        access_by((uintptr_t)address, size, SIM_WRITE, PC);                                        \
    }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void HOOK(read_range)(const void *start, size_t size);
void HOOK(read_range)(const void *start, size_t size)
{
    range(start, size, SIM_READ, PC);
}

void HOOK(write_range)(const void *start, size_t size);
void HOOK(write_range)(const void *start, size_t size)
{
    range(start, size, SIM_WRITE, PC);
}

/* Atomics ------------------------------------------------------------------------------------- */

#define FETCH(bits, type, name, expression)                                                        \
    type HOOK(atomic##bits##_##name)(volatile type * at, type value, morder order);                \
    type HOOK(atomic##bits##_##name)(volatile type * at, type value, morder order)                 \
    {                                                                                              \
        rmw(at, sizeof *at, order, PC);                                                            \
        UPDATES(at, order, true)                                                                   \
        type old = *at;                                                                            \
        *at = (type)(expression);                                                                  \
        return old;                                                                                \
    }
#define COMPARE(bits, type, name)                                                                  \
    int HOOK(atomic##bits##_##name)(volatile type * at, type * expected, type value, morder order, \
                                    morder failed);                                                \
    int HOOK(atomic##bits##_##name)(volatile type * at, type * expected, type value, morder order, \
                                    morder failed)                                                 \
    {                                                                                              \
        (void)failed;                                                                              \
        rmw(at, sizeof *at, order, PC);                                                            \
        UPDATES(at, *at == *expected ? order : failed, *at == *expected)                           \
        if (*at == *expected) {                                                                    \
            *at = value;                                                                           \
            return 1;                                                                              \
        }                                                                                          \
        *expected = *at;                                                                           \
        return 0;                                                                                  \
    }
#define ATOMICS(bits, type)                                                                        \
    LOAD(bits, type)                                                                               \
    void HOOK(atomic##bits##_store)(volatile type * at, type value, morder order);                 \
    void HOOK(atomic##bits##_store)(volatile type * at, type value, morder order)                  \
    {                                                                                              \
        STORE_BY(at, order)                                                                        \
        *at = STORED(at, value, order);                                                            \
    }                                                                                              \
    FETCH(bits, type, exchange, value)                                                             \
    FETCH(bits, type, fetch_add, old + value)                                                      \
    FETCH(bits, type, fetch_sub, old - value)                                                      \
    FETCH(bits, type, fetch_and, old &value)                                                       \
    FETCH(bits, type, fetch_or, old | value)                                                       \
    FETCH(bits, type, fetch_xor, old ^ value)                                                      \
    FETCH(bits, type, fetch_nand, ~(old & value))                                                  \
    COMPARE(bits, type, compare_exchange_strong)                                                   \
    COMPARE(bits, type, compare_exchange_weak)                                                     \
    type HOOK(atomic##bits##_compare_exchange_val)(volatile type * at, type expected, type value,  \
                                                   morder order, morder failed);                   \
    type HOOK(atomic##bits##_compare_exchange_val)(volatile type * at, type expected, type value,  \
                                                   morder order, morder failed)                    \
    {                                                                                              \
        (void)failed;                                                                              \
        rmw(at, sizeof *at, order, PC);                                                            \
        UPDATES(at, *at == expected ? order : failed, *at == expected)                             \
        type old = *at;                                                                            \
        if (old == expected)                                                                       \
            *at = value;                                                                           \
        return old;                                                                                \
    }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void HOOK(atomic_signal_fence)(morder order);
void HOOK(atomic_signal_fence)(morder order)
{
    (void)order;
}

/* The C library's functions that touch memory ------------------------------------------------- */

void *sim_memcpy(void *to, const void *from, size_t size);
void *sim_memcpy(void *to, const void *from, size_t size)
{
    range(from, size, SIM_READ, PC);
    range(to, size, SIM_WRITE, PC);
    return memcpy(to, from, size);
}

void *sim_memmove(void *to, const void *from, size_t size);
void *sim_memmove(void *to, const void *from, size_t size)
{
    range(from, size, SIM_READ, PC);
    range(to, size, SIM_WRITE, PC);
    return memmove(to, from, size);
}

void *sim_memset(void *to, int byte, size_t size);
void *sim_memset(void *to, int byte, size_t size)
{
    range(to, size, SIM_WRITE, PC);
    return memset(to, byte, size);
}

int sim_memcmp(const void *a, const void *b, size_t size);
int sim_memcmp(const void *a, const void *b, size_t size)
{
    range(a, size, SIM_READ, PC);
    range(b, size, SIM_READ, PC);
    return memcmp(a, b, size);
}
