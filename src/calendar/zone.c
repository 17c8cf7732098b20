/* zone.c: see zone.h. */
#include "zone.h"

#include "buf.h"
#include "civil.h"
#include "zone_rule.h"

#define HEADER_BYTES 44u
#define COUNT_MAX 8192u

struct transition {
    int64_t at;
    int32_t offset; /* from then on */
};

struct zone {
    int32_t first_offset; /* before the first transition */
    uint32_t count;
    bool has_rule;
    struct zone_rule rule;
    struct transition transitions[];
};

struct header {
    uint8_t version;
    uint32_t utc_count, standard_count, leap_count, time_count, type_count, char_count;
};

static uint64_t big_endian(struct cursor *c, size_t bytes) {
    struct slice s = cursor_bytes(c, bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < s.len; i++) value = value << 8 | s.ptr[i];
    return value;
}

static bool read_header(struct cursor *c, struct header *ret) {
    if (cursor_left(c) < HEADER_BYTES || !slice_eq(cursor_bytes(c, 4), SLICE("TZif"))) return false;
    ret->version = cursor_u8(c);
    cursor_bytes(c, 15);
    uint32_t *const counts[] = {&ret->utc_count,  &ret->standard_count, &ret->leap_count,
                                &ret->time_count, &ret->type_count,     &ret->char_count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        *counts[i] = (uint32_t)big_endian(c, 4);
        if (*counts[i] > COUNT_MAX) return false;
    }
    return true;
}

static void skip_body(struct cursor *c, const struct header *h, size_t time_bytes) {
    cursor_bytes(c, h->time_count * time_bytes + h->time_count + h->type_count * 6u + h->char_count +
                        h->leap_count * (time_bytes + 4) + h->standard_count + h->utc_count);
}

/* Times, the type of each, then the types with their offsets. */
static bool read_transitions(struct cursor *c, const struct header *h, size_t time_bytes, struct zone *z) {
    struct slice times = cursor_bytes(c, h->time_count * time_bytes);
    struct slice kinds = cursor_bytes(c, h->time_count);
    struct slice types = cursor_bytes(c, h->type_count * 6u);
    if (c->bad || h->type_count == 0) return false;
    struct cursor time = cursor_of(times);
    for (uint32_t i = 0; i <= h->time_count; i++) { /* the one behind the last stands for the type before the first */
        uint32_t kind = i < h->time_count ? kinds.ptr[i] : 0;
        if (kind >= h->type_count) return false;
        struct cursor type = cursor_of(slice_of(types.ptr + kind * 6u, 6));
        int32_t offset = (int32_t)(uint32_t)big_endian(&type, 4);
        if (offset < -CIVIL_DAY || offset > CIVIL_DAY) return false;
        if (i == h->time_count) {
            z->first_offset = offset;
            break;
        }
        uint64_t raw = big_endian(&time, time_bytes);
        int64_t at = time_bytes == 8 ? (int64_t)raw : (int64_t)(int32_t)(uint32_t)raw;
        if (i > 0 && at <= z->transitions[i - 1].at) return false;
        z->transitions[i] = (struct transition){at, offset};
    }
    z->count = h->time_count;
    return true;
}

static bool read_footer(struct cursor *c, struct zone *z) {
    if (cursor_u8(c) != '\n') return false;
    const uint8_t *end = cursor_left(c) ? memchr(c->at, '\n', cursor_left(c)) : NULL;
    if (end == NULL) return false;
    struct slice text = slice_of(c->at, (size_t)(end - c->at));
    z->has_rule = text.len > 0;
    return text.len == 0 || zone_rule_read(text, &z->rule);
}

enum err zone_open(struct slice file, struct arena *arena, struct zone **ret, struct why *why) {
    struct cursor c = cursor_of(file);
    struct header h;
    size_t time_bytes = 4;
    if (!read_header(&c, &h)) return why_set(why, ERR_CORRUPT, "this is no time-zone file");
    if (h.version >= '2') { /* the first body is for old readers; the second has wide times and a rule */
        skip_body(&c, &h, time_bytes);
        time_bytes = 8;
        if (c.bad || !read_header(&c, &h)) return why_set(why, ERR_CORRUPT, "the time-zone file is cut short");
    }
    if (h.leap_count) return why_set(why, ERR_UNSUPPORTED, "this zone counts leap seconds, which no clock here does");
    struct zone *z = arena_alloc(arena, sizeof *z + h.time_count * sizeof z->transitions[0]);
    struct cursor body = c;
    skip_body(&c, &h, time_bytes);
    if (!read_transitions(&body, &h, time_bytes, z) || c.bad || (time_bytes == 8 && !read_footer(&c, z)))
        return why_set(why, ERR_CORRUPT, "the time-zone file is damaged");
    *ret = z;
    return ERR_OK;
}

static const struct zone without_file;
const struct zone *const zone_utc = &without_file;

/* ---- spans ---- */

/* The span of the rule that holds a moment, as if it had always been in force. */
static struct zone_span rule_span(const struct zone_rule *rule, int64_t utc) {
    if (!rule->has_summer) return (struct zone_span){ZONE_BEGIN, ZONE_END, rule->winter_offset};
    struct zone_span span = {ZONE_BEGIN, ZONE_END, rule->winter_offset};
    int32_t year = civil_of(utc).year;
    for (int32_t y = year - 1; y <= year + 1; y++) {
        const struct transition changes[] = {
            {zone_rule_moment(&rule->to_summer, y, rule->winter_offset), rule->summer_offset},
            {zone_rule_moment(&rule->to_winter, y, rule->summer_offset), rule->winter_offset},
        };
        for (size_t i = 0; i < 2; i++) {
            /* Of changes at one moment the later one of the year wins: "summer all year" ends where it begins anew. */
            if (changes[i].at <= utc && changes[i].at >= span.from) {
                span.from = changes[i].at;
                span.offset = changes[i].offset;
            }
            if (changes[i].at > utc && changes[i].at < span.until) span.until = changes[i].at;
        }
    }
    return span;
}

static uint32_t count_until(const struct zone *z, int64_t utc) { /* transitions at or before */
    uint32_t low = 0, high = z->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (z->transitions[middle].at <= utc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct zone_span zone_at(const struct zone *z, int64_t utc) {
    uint32_t before = count_until(z, utc);
    struct zone_span span = {
        .from = before ? z->transitions[before - 1].at : ZONE_BEGIN,
        .until = before < z->count ? z->transitions[before].at : ZONE_END,
        .offset = before ? z->transitions[before - 1].offset : z->first_offset,
    };
    if (before < z->count || !z->has_rule) return span;
    struct zone_span ruled = rule_span(&z->rule, utc);
    if (ruled.from < span.from) ruled.from = span.from;
    return ruled;
}

bool zone_name_is_fit(struct slice name) {
    bool after_slash = true;
    if (name.len == 0 || name.len > ZONE_NAME_BYTES_MAX) return false;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t b = name.ptr[i];
        bool letter = (b >= '0' && b <= '9') || ((b | 32) >= 'a' && (b | 32) <= 'z');
        if (b == '/' ? after_slash : !letter && b != '_' && b != '+' && b != '-') return false;
        after_slash = b == '/';
    }
    return !after_slash;
}
