/* cluster_key.c: see cluster_key.h. */
#include "cluster_key.h"

#include "buf.h"
#include "diskio.h"
#include "hex.h"
#include "panic.h"
#include "small_file.h"

#define LINE_BYTES (2u * SEAL_KEY_BYTES + 1u) /* hex and a newline */

void secret_draw(struct clock *clock, uint8_t *to, size_t bytes) {
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = clock->random(clock);
        memcpy(to + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
}

enum err cluster_key_load(struct disk *d, struct cluster_key *ret, struct why *why) {
    uint8_t line[LINE_BYTES + 1];
    disk_file f;
    size_t got = 0;
    enum err e = d->ops->open(d, CLUSTER_KEY_NAME, DISK_READ, &f, why);
    if (e != ERR_OK) return e;
    e = diskio_read(d, f, 0, line, sizeof line, &got, why);
    d->ops->close(d, f);
    if (e != ERR_OK) return e;
    while (got > 0 && (line[got - 1] == '\n' || line[got - 1] == '\r')) got--;
    if (got != LINE_BYTES - 1 || !hex_read(slice_of(line, got), sizeof ret->bytes, ret->bytes))
        return why_set(why, ERR_CORRUPT,
                       CLUSTER_KEY_NAME " is damaged: expected %u hex digits. Restore the file from a backup",
                       LINE_BYTES - 1);
    return ERR_OK;
}

enum err cluster_key_make(struct disk *d, struct clock *clock, struct cluster_key *ret, struct why *why) {
    char line[LINE_BYTES + 1];
    secret_draw(clock, ret->bytes, sizeof ret->bytes);
    hex_write(slice_of(ret->bytes, sizeof ret->bytes), line);
    line[LINE_BYTES - 1] = '\n';
    return small_file_replace(d, CLUSTER_KEY_NAME, slice_of(line, LINE_BYTES), why);
}

/* ---- secrets ---- */

static struct slice place_bytes(const struct secret_place *p, struct buf *b) {
    buf_put_slice(b, SLICE("reeve secret"));
    buf_put_varint(b, p->log);
    buf_put_varint(b, p->shard);
    buf_put_varint(b, p->number);
    buf_put_varint(b, (uint64_t)p->kind);
    ENSURE(!b->full);
    return buf_slice(b);
}

void secret_seal(struct hasher *h, struct clock *clock, const uint8_t key[SEAL_KEY_BYTES],
                 const struct secret_place *place, const uint8_t secret[SEAL_KEY_BYTES],
                 uint8_t ret[SECRET_SEALED_BYTES]) {
    uint8_t nonce[SEAL_NONCE_BYTES];
    struct buf with;
    buf_init(&with, 128);
    secret_draw(clock, nonce, sizeof nonce);
    h->seal(h, key, nonce, place_bytes(place, &with), slice_of(secret, SEAL_KEY_BYTES), ret);
    buf_fini(&with);
}

bool secret_open(struct hasher *h, const uint8_t key[SEAL_KEY_BYTES], const struct secret_place *place,
                 struct slice sealed, uint8_t ret[SEAL_KEY_BYTES]) {
    struct buf with;
    if (sealed.len != SECRET_SEALED_BYTES) return false;
    buf_init(&with, 128);
    bool is_good = h->unseal(h, key, place_bytes(place, &with), sealed, ret);
    buf_fini(&with);
    return is_good;
}
