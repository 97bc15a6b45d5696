/* sha1.c - see sha1.h. */
#include "sha1.h"

#include <string.h>

enum {
    SHA1_BLOCK = 16,
    SHA1_ROUNDS = 80,
    SHA1_SCHEDULE = 82, /* words: a block, and then threes until there is one for each round */
};

static const uint32_t sha1_initial[SHA1_WORDS] = {
    0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0,
};

static inline uint32_t rotate_left(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

/* The round function and constant of one of the four quarters of the 80 rounds. */
static inline uint32_t sha1_mix(int quarter, uint32_t b, uint32_t c, uint32_t d)
{
    switch (quarter) {
    case 0:
        return (d ^ (b & (c ^ d))) + 0x5a827999; /* choose */
    case 1:
        return (b ^ c ^ d) + 0x6ed9eba1; /* parity */
    case 2:
        return ((b & c) | (d & (b | c))) + 0x8f1bbcdc; /* majority */
    default:
        return (b ^ c ^ d) + 0xca62c1d6; /* parity */
    }
}

/* One round, in place: the caller moves the names a to e on instead of moving the words. */
static inline void sha1_round(int quarter, uint32_t a, uint32_t *b, uint32_t c, uint32_t d,
                              uint32_t *e, uint32_t w)
{
    *e += rotate_left(a, 5) + sha1_mix(quarter, *b, c, d) + w;
    *b = rotate_left(*b, 30);
}

/* Always inlined: else the quarter is told apart in every round. */
static inline __attribute__((always_inline)) void sha1_quarter(int quarter, uint32_t v[SHA1_WORDS],
                                                               const uint32_t *w)
{
    uint32_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4];
    for (int t = 0; t < SHA1_ROUNDS / 4; t += SHA1_WORDS) {
        sha1_round(quarter, a, &b, c, d, &e, w[t]);
        sha1_round(quarter, e, &a, b, c, &d, w[t + 1]);
        sha1_round(quarter, d, &e, a, b, &c, w[t + 2]);
        sha1_round(quarter, c, &d, e, a, &b, w[t + 3]);
        sha1_round(quarter, b, &c, d, e, &a, w[t + 4]);
    }
    v[0] = a;
    v[1] = b;
    v[2] = c;
    v[3] = d;
    v[4] = e;
}

/* The message schedule; w[0..15] is the block. A word depends on the third before it: three chains,
 * kept in registers, since vectors of them would wait for each other's stores. */
static void sha1_expand(uint32_t w[SHA1_SCHEDULE])
{
    uint32_t x = w[13], y = w[14], z = w[15];
    for (int t = SHA1_BLOCK; t < SHA1_ROUNDS; t += 3) {
        w[t] = x = rotate_left(x ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
        w[t + 1] = y = rotate_left(y ^ w[t - 7] ^ w[t - 13] ^ w[t - 15], 1);
        w[t + 2] = z = rotate_left(z ^ w[t - 6] ^ w[t - 12] ^ w[t - 14], 1);
    }
}

void sha1_short(const uint32_t *message, size_t words, uint32_t digest[SHA1_WORDS])
{
    uint32_t w[SHA1_SCHEDULE], v[SHA1_WORDS];

    memset(w, 0, SHA1_BLOCK * sizeof w[0]);
    memcpy(w, message, words * sizeof w[0]);
    w[words] = UINT32_C(1) << 31;
    w[SHA1_BLOCK - 1] = (uint32_t)words * 32;
    sha1_expand(w);

    memcpy(v, sha1_initial, sizeof v);
    sha1_quarter(0, v, w);
    sha1_quarter(1, v, w + 20);
    sha1_quarter(2, v, w + 40);
    sha1_quarter(3, v, w + 60);
    for (int i = 0; i < SHA1_WORDS; i++)
        digest[i] = sha1_initial[i] + v[i];
}
