/* store.h: strings, numbers and sets that jobs and people share. Part of apply; the lookups serve decide and view.
 *
 * A namespace belongs to a tenant, or to one flow of a tenant and then ends with that flow. Each key has a version, the
 * LSN of the last change of its value, so that it rises also over deletion and rebirth; 0 stands for "not there". A key
 * may have a time to expire: from that moment decide and view take it as absent, though the record that removes it
 * comes a little later, by the tick. A set without members is not there. */
#ifndef REEVE_STORE_H
#define REEVE_STORE_H

#include "state.h"
#include "store_number.h"

void store_init(struct store *t);
void store_fini(struct store *t);
size_t store_bytes(const struct store *t);

/* ---- looking ---- */

/* The namespace of a flow, or (flow 0) of a tenant as a whole; 0 = it has no keys. */
uint32_t space_find(const struct store *t, uint32_t tenant, uint64_t flow);
uint32_t item_find(const struct store *t, uint32_t space, struct slice key);
uint32_t member_get(const struct store *t, uint32_t set, struct slice member);
static inline bool member_find(const struct store *t, uint32_t set, struct slice member) {
    return member_get(t, set, member) != 0;
}
uint64_t space_owner(uint32_t tenant, uint64_t flow); /* what a space is found by */
uint32_t item_space(const struct item *it);
struct slice item_key(const struct item *it);
/* The flow of a namespace, 0 = the tenant's own. */
uint64_t space_flow(const struct store_space *p);
static inline uint32_t item_members(const struct store *t, const struct item *it) {
    return it->kind == ITEM_SET ? set_at(t, it->as.set)->count : 0;
}
bool item_is_over(const struct item *it, wall_time now);

/* In order: the first item of a space at or behind a key; the first member of a set likewise. 0 = none. */
uint32_t item_seek(const struct store *t, uint32_t space, struct slice key, struct order_place *ret);
uint32_t item_next(const struct store *t, uint32_t space, struct order_place *place);
uint32_t member_seek(const struct store *t, uint32_t set, struct slice member, struct order_place *ret);
uint32_t member_next(const struct store *t, uint32_t set, struct order_place *place);
struct slice member_text(const struct store *t, uint32_t member);

/* Into the tables and out of them. An item enters as the number 0 without an expiry, and leaves as such. */
uint32_t item_insert(struct store *t, uint32_t space, struct slice key);
void item_remove(struct store *t, uint32_t item);
void member_insert(struct store *t, uint32_t set, struct slice member);
void member_remove(struct store *t, uint32_t set, uint32_t member);

/* What an item or a member costs its tenant, beside the bytes it has; a little more than it does. */
#define STORE_ITEM_COST 128u
#define STORE_MEMBER_COST 64u
uint64_t item_cost(const struct store *t, const struct item *it);

/* ---- apply ---- */

void store_set(struct state *s, const struct rec_store_set *r);
void store_delete(struct state *s, const struct rec_store_keys *r);
void store_members(struct state *s, const struct rec_store_members *r);
void store_expiry(struct state *s, const struct rec_store_expiry *r);
/* A flow leaves: its namespace is gone. */
void store_drop_flow(struct state *s, uint64_t flow);
/* Gives back memory of what was dropped, at most that many items and members. Changes no fact. */
void store_sweep(struct state *s, uint32_t budget);

/* ---- for the loader ---- */

/* An item as a snapshot has it; the key must be new. A set gets its members by store_load_member. */
uint32_t store_load_item(struct state *s, uint32_t tenant, uint64_t flow, const struct rec_store_entry *e,
                         uint64_t version);
void store_load_member(struct state *s, uint32_t item, struct slice member);

#endif
