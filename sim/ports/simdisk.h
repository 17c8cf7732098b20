/* simdisk.h: a disk in memory that forgets, tears and fails, behind port/disk.h.
 *
 * It keeps what a real disk may keep and nothing more:
 *
 *   a file   has a *durable* image and a *current* one. Reads see the current one. `write` changes it and leaves a
 *            list of unsynced writes, one per 512-byte sector touched; `sync` makes the file's list durable.
 *   a name   lives in two tables, durable and current. create, rename, remove and mkdir change the current one and
 *            wait in a list; `sync_dir` of the directory (both directories of a rename) makes them durable.
 *            Syncing a file does not make its name durable.
 *   a crash  decides for each waiting entry of both lists whether it reached the disk; what remains is the new
 *            durable and current state. Handles and locks are gone, as after a power cut.
 *   a failed sync   drops some of the unsynced sectors for good while reads still show them, as Linux does: only
 *            bytes written again afterwards can become durable.
 *
 * Everything follows from the seed: equal calls on equal disks give equal results, byte for byte. Not thread-safe.
 *
 * Typical use:
 *
 *     struct simdisk *s = simdisk_new(seed);
 *     struct disk *d = simdisk_disk(s);                  // hand it to whoever wants a disk
 *     simdisk_arm(s, SIMDISK_SYNC, SIMDISK_ERROR, 3);    // the fourth sync from now fails
 *     ...
 *     simdisk_crash(s, SIMDISK_RANDOM);                  // power cut; go on with the same `d`
 *     simdisk_free(s);
 */
#ifndef REEVE_SIMDISK_H
#define REEVE_SIMDISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk.h"

#define SIMDISK_SECTOR 512u

struct simdisk;

struct simdisk *simdisk_new(uint64_t seed);
void simdisk_free(struct simdisk *s);
struct disk *simdisk_disk(struct simdisk *s); /* the same pointer for the life of `s`, across crashes */
/* An equal disk: files, unsynced entries, faults, seed. Handles and locks are not copied. */
struct simdisk *simdisk_clone(const struct simdisk *s);

/* ---- faults ---------------------------------------------------------------------------------------------------- */

/* The calls of port/disk.h, for counting and for arming. */
enum simdisk_op {
    SIMDISK_OPEN,
    SIMDISK_SIZE,
    SIMDISK_READ,
    SIMDISK_WRITE,
    SIMDISK_SYNC,
    SIMDISK_ALLOCATE,
    SIMDISK_RENAME,
    SIMDISK_REMOVE,
    SIMDISK_MKDIR,
    SIMDISK_SYNC_DIR,
    SIMDISK_LIST,
    SIMDISK_LOCK,
    SIMDISK_SPACE,
    SIMDISK_ANY, /* every call, whatever it is */
};

enum simdisk_fault {
    SIMDISK_FINE,
    SIMDISK_ERROR,    /* ERR_IO; a write moved nothing or a part, a sync kept a random part of the sectors */
    SIMDISK_SHORT,    /* a read or write moves fewer bytes than asked (at least one); no effect on other calls */
    SIMDISK_NO_SPACE, /* ERR_NO_SPACE from write, allocate, open, mkdir; no effect on other calls */
    SIMDISK_SLOW,     /* adds simulated milliseconds, then works */
    SIMDISK_POWER,    /* the power fails inside this call: it and every later call is ERR_IO until simdisk_crash */
};

/* Chances per million calls, drawn from the seed. All zero after simdisk_new. */
struct simdisk_chances {
    uint32_t read_error_ppm;
    uint32_t read_short_ppm;
    uint32_t write_error_ppm;
    uint32_t write_short_ppm;
    uint32_t sync_error_ppm; /* sync and sync_dir */
    uint32_t slow_ppm;       /* of write, sync, sync_dir and allocate */
    uint32_t slow_ms_max;
};
void simdisk_chances_set(struct simdisk *s, const struct simdisk_chances *c);

/* One-shot: the call of kind `op` after `skip` more of them gets the fault. One armed fault per kind (a second arm of
 * the same kind replaces it); SIMDISK_FINE disarms. */
void simdisk_arm(struct simdisk *s, enum simdisk_op op, enum simdisk_fault fault, uint64_t skip);
/* Another process acts just before the call (of any kind) after `skip` more: `fn` is called once and may use the disk,
 * too; what it calls is counted. NULL = nobody does. */
void simdisk_meanwhile(struct simdisk *s, uint64_t skip, void (*fn)(void *ctx), void *ctx);
/* Calls of this kind since simdisk_new (or of all kinds): the way to know how many indices a test must walk. */
uint64_t simdisk_calls(const struct simdisk *s, enum simdisk_op op);

/* The disk's size: the sum of all file sizes may not exceed it. UINT64_MAX (the default) = endless. */
void simdisk_budget_set(struct simdisk *s, uint64_t bytes);
uint64_t simdisk_used(const struct simdisk *s);

/* Simulated milliseconds spent in slow calls since the last question: the owner advances its clock by them. */
uint64_t simdisk_slow_ms_take(struct simdisk *s);
bool simdisk_is_dark(const struct simdisk *s); /* its power went off in a call, and is not back */

/* ---- crash ----------------------------------------------------------------------------------------------------- */

enum simdisk_crash_policy {
    SIMDISK_KEEP_ALL,  /* as after kill -9 and a later sync: everything reached the disk */
    SIMDISK_DROP_ALL,  /* only what was synced */
    SIMDISK_RANDOM,    /* each unsynced sector and name by the seed; of several writes to a sector any may win */
    SIMDISK_RANDOM_TORN, /* as RANDOM, and a kept sector may hold a new beginning and an old end */
};
void simdisk_crash(struct simdisk *s, enum simdisk_crash_policy policy);

/* Unsynced sector writes waiting now, oldest first: bit i of the mask below is the i-th. */
uint32_t simdisk_unsynced(const struct simdisk *s);
/* Exhaustive tests: exactly the sector writes with their bit set are kept; all names and sizes are kept. `mask` holds
 * (simdisk_unsynced + 63) / 64 words. */
void simdisk_crash_mask(struct simdisk *s, const uint64_t *mask);
/* The process died, the machine did not: handles and locks are gone, unsynced writes stay unsynced. */
void simdisk_kill(struct simdisk *s);
/* The same for a process that still has to be taken apart: whatever it calls from now on fails and does nothing, until
 * simdisk_kill or simdisk_crash. */
void simdisk_gone(struct simdisk *s);

/* ---- the hand of a test ---------------------------------------------------------------------------------------- */

bool simdisk_exists(const struct simdisk *s, const char *name);
uint64_t simdisk_bytes(const struct simdisk *s, const char *name); /* its size; the file must exist */
/* Rot and human hands: these change both images at once. The file must exist (put makes it). */
void simdisk_flip_bit(struct simdisk *s, const char *name, uint64_t offset, uint32_t bit);
void simdisk_cut(struct simdisk *s, const char *name, uint64_t bytes); /* to this size, smaller than now */
void simdisk_put(struct simdisk *s, const char *name, const void *from, size_t len);
/* The current image; valid until the next call. */
const uint8_t *simdisk_peek(const struct simdisk *s, const char *name, uint64_t *ret_bytes);
/* A hash over the durable state (names and bytes): equal runs have equal digests. */
uint64_t simdisk_digest(const struct simdisk *s);

#endif
