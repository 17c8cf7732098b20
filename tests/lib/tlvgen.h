/* tlvgen.h: values for described structs, drawn from random numbers or from the bytes of a fuzzer. */
#ifndef REEVE_TLVGEN_H
#define REEVE_TLVGEN_H

#include "arena.h"
#include "tlv.h"

struct tlvgen {
    uint64_t (*draw)(void *ctx); /* the next number */
    void *ctx;
    struct arena *arena;
    bool small; /* numbers and names from a handful, so that records meet each other */
    bool sparse; /* most fields are left out: a message with everything in it is refused by the first check */
    const char *const *words; /* with `small`: the handful of names; NULL = one of its own */
    uint32_t word_count;
};

/* Fills a struct with values that its table allows. */
void tlvgen_fill(struct tlvgen *g, const struct tlv_desc *d, void *ret);
uint64_t tlvgen_below(struct tlvgen *g, uint64_t below);
/* A message of that kind as bytes, in the arena. */
struct slice tlvgen_message(struct tlvgen *g, const struct tlv_desc *d);

/* Draws from bytes, one at a time; zeroes after the last. */
struct tlvgen_bytes {
    const uint8_t *at, *end;
};
uint64_t tlvgen_draw_byte(void *ctx);

#endif
