/* corrupt.h: what a file might say and no engine of ours ever wrote: a record too many behind a journal, a snapshot
 * with something else in one of its objects. Checksums and digests are right, so that only the sense can be refused.
 *
 *     MISFIT(r, REC_RETRIED, "not there", .flow = 77);
 *     FORGED(r, OBJ_SERVICE, snap_service, "of nobody", o->tenant = SLICE("x"));
 *     FORGED(r, OBJ_FLOW, snap_flow, "a flow twice", forge.copies = nth == 0 ? 2 : 1);
 *
 * In a forgery `o` is an object of that kind, `nth` says which (from 0); with FITTING and SOUND nothing is refused. */
#ifndef REEVE_CORRUPT_H
#define REEVE_CORRUPT_H

#include "engine_fixture.h"

#include "objects.h"
#include "record.h"

/* The batch of one record that would follow what the engine has. */
struct batch corrupt_batch(const struct engine *e, struct slice records);
/* Replays the journal so far and then one record more. */
enum err corrupt_replay(const struct fixture *r, const struct record *record, struct why *why);

/* A snapshot of the rig, object by object. */
struct corrupt {
    const struct fixture *rig;
    struct buf snapshot, changed;
    struct cursor left;
    struct arena arena;
    struct digest digest;
    uint64_t objects;
    uint32_t seen[OBJ_KIND_END];
    enum object_kind kind; /* of the object at hand, from here on; 0 = none yet */
    uint32_t copies;       /* how often it is written: 1 */
    union {
#define X(kind, number, type, word, text) struct type as_##type;
        OBJECT_TABLE(X)
#undef X
    } object;
};

void corrupt_begin(struct corrupt *f, const struct fixture *r);
bool corrupt_next(struct corrupt *f);
/* Loads what came of it: refused with a text that has the word in it, or taken (NULL). */
void corrupt_end(struct corrupt *f, const char *word, int line);
/* Bytes of a described struct, for the texts inside an object; they live as long as the forgery. */
struct slice corrupt_bytes(struct corrupt *f, const struct tlv_desc *desc, const void *value);

#define CORRUPT_RECORD(r, kind_, wanted_, word_, ...)                                                           \
    do {                                                                                                        \
        struct record record_ = {.kind = (kind_), .version = RECORD_VERSION, .body.as_##kind_ = {__VA_ARGS__}}; \
        struct why why_ = {""};                                                                                 \
        enum err got_ = corrupt_replay(r, &record_, &why_);                                                     \
        if (got_ != (wanted_)) fail_msg("line %d: %s: %s", __LINE__, err_word(got_), why_.text);                \
        if (!strstr(why_.text, word_)) fail_msg("line %d: %s", __LINE__, why_.text);                            \
    } while (0)
#define MISFIT(r, kind_, word_, ...) CORRUPT_RECORD(r, kind_, ERR_CORRUPT, word_, __VA_ARGS__)
#define FITTING(r, kind_, ...) CORRUPT_RECORD(r, kind_, ERR_OK, "", __VA_ARGS__)

/* Several changes at once: each is a CHANGE, of the objects of one kind. */
#define FORGED_BY(r, word_, ...)                   \
    do {                                           \
        struct corrupt forge;                      \
        corrupt_begin(&forge, r);                  \
        while (corrupt_next(&forge)) {             \
            uint32_t nth = forge.seen[forge.kind]; \
            (void)nth;                             \
            __VA_ARGS__                            \
            forge.seen[forge.kind]++;              \
        }                                          \
        corrupt_end(&forge, word_, __LINE__);      \
    } while (0)
#define CHANGE(kind_, type_, ...)                   \
    if (forge.kind == (kind_)) {                    \
        struct type_ *o = &forge.object.as_##type_; \
        (void)o;                                    \
        __VA_ARGS__;                                \
    }
#define FORGED(r, kind_, type_, word_, ...) FORGED_BY(r, word_, CHANGE(kind_, type_, __VA_ARGS__))
#define SOUND(r, kind_, type_, ...) FORGED(r, kind_, type_, NULL, __VA_ARGS__)

#endif
