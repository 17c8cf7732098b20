/* json_keys.h: the keys of the JSON objects that are open, to find one that occurs twice. Part of json_read.h.
 *
 * They are looked at when their object ends: few are compared each with each, by a mark made of length and last bytes;
 * many are sorted first. The time of a heapsort does not depend on luck, so no input makes this slow. */
#ifndef REEVE_JSON_KEYS_H
#define REEVE_JSON_KEYS_H

#include "arena.h"
#include "slice.h"

struct json_key;

struct json_keys {
    struct json_key *at; /* in the arena; those of outer objects first */
    uint32_t count, slots;
};

/* False when the arena is full. `offset` is where the key stands in the text. */
bool json_keys_add(struct json_keys *k, struct arena *arena, struct slice key, uint32_t offset);
/* Forgets the keys from `first` on, the object that has them is over. True when two of them are equal: *ret_offset is
 * then where a key stands that stood before. */
bool json_keys_end(struct json_keys *k, uint32_t first, uint32_t *ret_offset);

#endif
