/* sha1.h - SHA-1 of messages that fit into one block, as the tree generator of uts.c needs it.
 *
 * Messages and digests are 32-bit words in the order and with the values that FIPS 180-4 gives
 * them: the first byte of the message is the most significant of word 0. So a digest can be part of
 * the next message without swapping bytes. A pure function; any stack, 400 bytes of it.
 *
 * Source: FIPS 180-4 s.6.1. No longer fit for security; here it is a random number generator.
 */
#ifndef SCHEDLAB_SHA1_H
#define SCHEDLAB_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum {
    SHA1_WORDS = 5,      /* of a digest */
    SHA1_SHORT_MAX = 13, /* words of the longest message: a block less end mark and length */
};

/* The digest of message[0 .. words - 1]; words <= SHA1_SHORT_MAX. The two may overlap. */
void sha1_short(const uint32_t *message, size_t words, uint32_t digest[SHA1_WORDS]);

#endif
