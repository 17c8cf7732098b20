/* simdisk_impl.h: the insides of simdisk, shared by its two files and by nobody else. */
#ifndef REEVE_SIMDISK_IMPL_H
#define REEVE_SIMDISK_IMPL_H

#include "simdisk.h"
#include "vec.h"

#define SIM_NAME_MAX 96u

struct inode {
    uint8_t *current;
    uint8_t *durable;
    uint64_t current_len, current_slots;
    uint64_t durable_len, durable_slots;
    uint32_t handles;
};

/* A row of a name table. Directories are rows too. */
struct simdisk_entry {
    char name[SIM_NAME_MAX];
    uint32_t inode;
    bool is_dir;
};

/* One unsynced write to one sector: what the whole sector held after it. */
struct sector {
    uint32_t inode;
    uint64_t index;
    uint8_t bytes[SIMDISK_SECTOR];
};

/* One unsynced change of names: `from` (if any) goes, `to` (if any) becomes the inode. */
struct change {
    char from[SIM_NAME_MAX];
    char to[SIM_NAME_MAX];
    uint32_t inode;
    bool is_dir;
    bool from_waits, to_waits; /* for a sync of their directory */
};

struct handle {
    uint32_t inode;
    bool open, writable;
};

struct armed {
    enum simdisk_fault fault;
    uint64_t at_call;
};

struct simdisk {
    struct disk disk; /* first: the port's pointer is ours */
    uint64_t random;
    struct simdisk_chances chances;
    struct armed armed[SIMDISK_ANY + 1];
    uint64_t calls[SIMDISK_ANY + 1];
    void (*meanwhile)(void *ctx); /* NULL = nobody is there */
    void *meanwhile_ctx;
    uint64_t meanwhile_at;
    uint64_t budget_bytes;
    uint64_t slow_ms;
    bool dark;           /* the power is off */
    bool gone;           /* whoever used it is dead */
    struct vec inodes;   /* struct inode */
    struct vec current;  /* struct simdisk_entry */
    struct vec durable;  /* struct simdisk_entry */
    struct vec sectors;  /* struct sector */
    struct vec changes;  /* struct change */
    struct vec handles;  /* struct handle */
    struct vec locks;    /* struct simdisk_entry, only the name */
};

uint64_t simdisk_draw(struct simdisk *s);
struct simdisk_entry *simdisk_find(const struct vec *table, const char *name);
void simdisk_apply_change(struct vec *table, const struct change *c);
void simdisk_resize(uint8_t **at, uint64_t *len, uint64_t *slots, uint64_t to); /* new bytes are zero */
/* Puts one waiting sector into the durable image, up to `bytes` of it. */
void simdisk_settle(struct inode *n, const struct sector *x, size_t bytes);
void simdisk_reap(struct simdisk *s); /* frees the bytes of files nobody can reach */

static inline struct inode *simdisk_inode(const struct simdisk *s, uint32_t i) {
    return vec_at(&s->inodes, i);
}

#endif
