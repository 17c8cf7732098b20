/* tlvgen.c: see tlvgen.h. */
#include "tlvgen.h"

#include <string.h>

#include "panic.h"

uint64_t tlvgen_draw_byte(void *ctx) {
    struct tlvgen_bytes *b = ctx;
    return b->at < b->end ? *b->at++ : 0;
}

uint64_t tlvgen_below(struct tlvgen *g, uint64_t below) {
    REQUIRE(below > 0);
    return g->draw(g->ctx) % below;
}

static uint64_t number(struct tlvgen *g) {
    if (g->small) {
        uint64_t n = g->draw(g->ctx) % 256;
        return n < 250 ? n % 5 : UINT64_MAX >> (n - 250) * 11; /* and now and then one that is large */
    }
    switch (g->draw(g->ctx) % 4) {
    case 0: return 0;
    case 1: return g->draw(g->ctx) % 200;
    case 2: return g->draw(g->ctx);
    default: return UINT64_MAX >> g->draw(g->ctx) % 64;
    }
}

static struct slice bytes(struct tlvgen *g, uint32_t max) {
    static const char *const names[] = {"", "a", "b", "default", "w", "acme", "k", "c"};
    if (g->small && g->words != NULL) {
        struct slice word = slice_str(g->words[g->draw(g->ctx) % g->word_count]);
        return max != 0 && word.len > max ? slice_of(word.ptr, max) : word;
    }
    if (g->small) return slice_str(names[g->draw(g->ctx) % 8]);
    uint64_t most = max == 0 || max > 300 ? 300 : max;
    uint64_t len = g->draw(g->ctx) % (g->draw(g->ctx) % 4 == 0 ? most + 1 : 12);
    uint8_t *at = arena_alloc(g->arena, len + 1);
    for (uint64_t i = 0; i < len; i++) at[i] = (uint8_t)g->draw(g->ctx);
    return slice_of(at, (size_t)len);
}

static struct slice hash(struct tlvgen *g) {
    if (g->draw(g->ctx) % 3 == 0) return slice_of(NULL, 0);
    uint8_t *at = arena_alloc(g->arena, 32);
    memset(at, (int)(g->draw(g->ctx) % 4), 32);
    return slice_of(at, 32);
}

static struct tlv_u32s numbers(struct tlvgen *g, uint32_t max) {
    uint32_t most = max == 0 || max > 20 ? 20 : max;
    uint32_t count = (uint32_t)(g->draw(g->ctx) % (g->small ? 3 : most + 1));
    uint32_t *at = ARENA_ARRAY(g->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) at[i] = (uint32_t)number(g);
    return (struct tlv_u32s){at, count};
}

static struct tlv_list list(struct tlvgen *g, const struct tlv_field *f) {
    uint32_t most = f->max == 0 || f->max > 4 ? 4 : f->max;
    uint32_t count = (uint32_t)(g->draw(g->ctx) % (most + 1));
    uint8_t *at = arena_alloc(g->arena, (size_t)f->sub->size * (count + 1));
    for (uint32_t i = 0; i < count; i++) tlvgen_fill(g, f->sub, at + (size_t)i * f->sub->size);
    return (struct tlv_list){at, count};
}

static void fill_field(struct tlvgen *g, const struct tlv_field *f, void *at) {
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL: *(bool *)at = g->draw(g->ctx) & 1; return;
    case TLV_ENUM: *(uint8_t *)at = (uint8_t)tlvgen_below(g, f->max); return;
    case TLV_U8: *(uint8_t *)at = (uint8_t)number(g); return;
    case TLV_U16: memcpy(at, &(uint16_t){(uint16_t)number(g)}, sizeof(uint16_t)); return;
    case TLV_U32: memcpy(at, &(uint32_t){(uint32_t)number(g)}, sizeof(uint32_t)); return;
    case TLV_U64: memcpy(at, &(uint64_t){number(g)}, sizeof(uint64_t)); return;
    case TLV_I64: memcpy(at, &(int64_t){(int64_t)number(g)}, sizeof(int64_t)); return;
    case TLV_TEXT:
    case TLV_BYTES: *(struct slice *)at = bytes(g, f->max); return;
    case TLV_HASH: *(struct slice *)at = hash(g); return;
    case TLV_U32S: *(struct tlv_u32s *)at = numbers(g, f->max); return;
    case TLV_MSG: tlvgen_fill(g, f->sub, at); return;
    case TLV_LIST: *(struct tlv_list *)at = list(g, f); return;
    case TLV_RAW: return;
    }
}

void tlvgen_fill(struct tlvgen *g, const struct tlv_desc *d, void *ret) {
    memset(ret, 0, d->size);
    for (uint32_t i = 0; i < d->field_count; i++)
        if (!g->sparse || d->field_count < 3 || g->draw(g->ctx) % 3 == 0)
            fill_field(g, &d->fields[i], (uint8_t *)ret + d->fields[i].offset);
}

struct slice tlvgen_message(struct tlvgen *g, const struct tlv_desc *d) {
    void *value = arena_alloc(g->arena, d->size);
    tlvgen_fill(g, d, value);
    struct buf out;
    buf_init(&out, (size_t)1 << 24);
    tlv_encode(d, value, &out);
    struct slice copy = arena_slice(g->arena, buf_slice(&out));
    buf_fini(&out);
    return copy;
}
