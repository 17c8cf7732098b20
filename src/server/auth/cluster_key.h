/* cluster_key.h: the key of a journal's secrets, in the file `cluster.key` of the data directory.
 *
 *     cluster.key --opens--> data key --opens--> secret of texts that this server proves (a record)
 *      (a file)             (a record) --keys--> hashes of tokens (records)
 *
 * So a journal, a snapshot or an archive without the file opens no door: it has ciphertext, and hashes that nobody can
 * compare anything with. Whoever has both may make an administrator. */
#ifndef REEVE_CLUSTER_KEY_H
#define REEVE_CLUSTER_KEY_H

#include "clock.h"
#include "digest.h"
#include "disk.h"
#include "record.h"

#define CLUSTER_KEY_NAME "cluster.key"

struct cluster_key {
    uint8_t bytes[SEAL_KEY_BYTES];
};

/* ERR_NOT_FOUND: there is none. */
CHECKED enum err cluster_key_load(struct disk *d, struct cluster_key *ret, struct why *why);
/* A new one, durable when this returns; readable by its owner only, as every file of the directory. */
CHECKED enum err cluster_key_make(struct disk *d, struct clock *clock, struct cluster_key *ret, struct why *why);

void secret_draw(struct clock *clock, uint8_t *to, size_t bytes);
/* One secret of 32 bytes as a record keeps it: bound to journal, shard, number and kind. `ret`: memory for it. */
#define SECRET_SEALED_BYTES SEAL_BYTES(SEAL_KEY_BYTES)
struct secret_place {
    uint64_t log;
    uint32_t shard;
    uint64_t number;
    enum secret_kind kind;
};
void secret_seal(struct hasher *h, struct clock *clock, const uint8_t key[SEAL_KEY_BYTES],
                 const struct secret_place *place, const uint8_t secret[SEAL_KEY_BYTES],
                 uint8_t ret[SECRET_SEALED_BYTES]);
/* False: another key, another place, or changed bytes. */
bool secret_open(struct hasher *h, const uint8_t key[SEAL_KEY_BYTES], const struct secret_place *place,
                 struct slice sealed, uint8_t ret[SEAL_KEY_BYTES]);

#endif
