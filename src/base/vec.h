/* vec.h: a growing array of uint32_t, and a growing array of anything. */
#ifndef REEVE_VEC_H
#define REEVE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct u32vec {
    uint32_t *at;
    uint32_t count;
    uint32_t slots;
};

void u32vec_fini(struct u32vec *v);
/* Ends an array in steps: gives back about `bytes` of its memory. True when nothing is left. */
bool u32vec_release(struct u32vec *v, size_t bytes);
void u32vec_reserve(struct u32vec *v, uint32_t slots); /* exact: no slack is added */
void u32vec_push(struct u32vec *v, uint32_t value);    /* grows by half */
/* The first value of an array that has no memory yet goes to a place of its owner's: most arrays of some kinds never
 * have a second one. `place` lives and stays where it is as long as the array does. */
void u32vec_lend(struct u32vec *v, uint32_t *place, uint32_t value);

struct vec {
    uint8_t *at;
    uint32_t count;
    uint32_t slots;
    uint32_t elem_bytes;
};

void vec_init(struct vec *v, size_t elem_bytes);
void vec_fini(struct vec *v);
bool vec_release(struct vec *v, size_t bytes); /* as u32vec_release */
void vec_reserve(struct vec *v, uint32_t slots);
void *vec_push(struct vec *v); /* zeroed; valid until the next push */
static inline void *vec_at(const struct vec *v, uint32_t i) {
    return v->at + (size_t)i * v->elem_bytes;
}

#endif
