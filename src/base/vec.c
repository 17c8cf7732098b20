/* vec.c: growing arrays. They grow by half: cheaper in memory than doubling, still a constant cost per push. */
#include "vec.h"

#include <stdlib.h>
#include <string.h>

#include "panic.h"

#define SLOTS_MIN 4u

static uint32_t slots_grown(uint32_t slots) {
    if (slots < SLOTS_MIN) return SLOTS_MIN;
    REQUIRE(slots <= UINT32_MAX / 2);
    return slots + slots / 2;
}

static void *slots_resize(void *at, uint32_t slots, size_t elem_bytes) {
    void *moved = reallocarray(at, slots, elem_bytes);
    if (!moved) PANIC("out of memory");
    return moved;
}

/* Values without slots: the memory is lent. */
static bool is_lent(const struct u32vec *v) {
    return v->slots == 0;
}

void u32vec_lend(struct u32vec *v, uint32_t *place, uint32_t value) {
    REQUIRE(v->at == NULL && v->count == 0);
    *place = value;
    *v = (struct u32vec){.at = place, .count = 1};
}

void u32vec_fini(struct u32vec *v) {
    if (!is_lent(v)) free(v->at);
    *v = (struct u32vec){0};
}

/* What is left of that many after a step of `bytes`. A large block shrinks in place. */
static uint32_t slots_without(uint32_t slots, size_t bytes, size_t elem_bytes) {
    uint64_t step = bytes / elem_bytes + 1;
    return slots > step ? slots - (uint32_t)step : 0;
}

bool u32vec_release(struct u32vec *v, size_t bytes) {
    uint32_t left = slots_without(v->slots, bytes, sizeof *v->at);
    if (left == 0) {
        u32vec_fini(v);
        return true;
    }
    v->slots = left;
    if (v->count > v->slots) v->count = v->slots;
    v->at = slots_resize(v->at, v->slots, sizeof *v->at);
    return false;
}

void u32vec_reserve(struct u32vec *v, uint32_t slots) {
    if (slots <= v->slots || slots <= v->count) return;
    uint32_t *lent = is_lent(v) ? v->at : NULL;
    v->at = slots_resize(lent ? NULL : v->at, slots, sizeof *v->at);
    for (uint32_t i = 0; lent && i < v->count; i++) v->at[i] = lent[i];
    v->slots = slots;
}

void u32vec_push(struct u32vec *v, uint32_t value) {
    if (v->count >= v->slots) u32vec_reserve(v, slots_grown(v->slots));
    v->at[v->count++] = value;
}

void vec_init(struct vec *v, size_t elem_bytes) {
    REQUIRE(elem_bytes > 0);
    REQUIRE(elem_bytes <= UINT32_MAX);
    *v = (struct vec){.elem_bytes = (uint32_t)elem_bytes};
}

void vec_fini(struct vec *v) {
    free(v->at);
    *v = (struct vec){.elem_bytes = v->elem_bytes};
}

bool vec_release(struct vec *v, size_t bytes) {
    v->slots = slots_without(v->slots, bytes, v->elem_bytes);
    if (v->slots == 0) {
        vec_fini(v);
        return true;
    }
    if (v->count > v->slots) v->count = v->slots;
    v->at = slots_resize(v->at, v->slots, v->elem_bytes);
    return false;
}

void vec_reserve(struct vec *v, uint32_t slots) {
    REQUIRE(v->elem_bytes > 0);
    if (slots <= v->slots) return;
    v->at = slots_resize(v->at, slots, v->elem_bytes);
    v->slots = slots;
}

void *vec_push(struct vec *v) {
    if (v->count == v->slots) vec_reserve(v, slots_grown(v->slots));
    return memset(vec_at(v, v->count++), 0, v->elem_bytes);
}
