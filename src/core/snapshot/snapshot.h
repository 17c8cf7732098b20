/* snapshot.h: the durable state as a stream of objects, and back. Normative in docs/formats/snapshot.md.
 *
 * The digest is a sum of hashes over the very same objects: what a snapshot would forget, the digest does not see, and
 * what it keeps, the digest compares. */
#ifndef REEVE_SNAPSHOT_H
#define REEVE_SNAPSHOT_H

#include "objects.h"
#include "state.h"
#include "state_digest.h"

struct digest snapshot_digest(const struct state *s);
void digest_add(struct digest *d, enum object_kind kind, struct slice message);
CHECKED enum err snapshot_write(const struct state *s, snapshot_write_fn write, void *ctx, struct why *why);

struct loader;
struct loader *loader_new(struct state *into); /* a fresh state */
void loader_free(struct loader *l);
CHECKED enum err loader_feed(struct loader *l, struct slice piece, struct why *why);
CHECKED enum err loader_end(struct loader *l, struct why *why);

#endif
