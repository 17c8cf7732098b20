/* decide_checkpoint.c: the journal was hashed up to a record, and the hash is signed. Whether the hash is right is not
 * for the core to say: it has no journal. That the chain has no gap is. */
#include "decide.h"
#include "panic.h"

enum err decide_checkpoint(struct decision *d, const struct command *cmd) {
    const struct cmd_checkpoint *c = &cmd->as.checkpoint;
    const struct checkpoint *last = &d->state->checkpoint;
    REQUIRE(c->chain.len == CHECKPOINT_HASH_BYTES);
    REQUIRE(c->key.len == CHECKPOINT_HASH_BYTES);
    REQUIRE(c->signature.len == CHECKPOINT_SIGNATURE_BYTES);
    if (c->number != last->number + 1)
        return refuse(d, ERR_STALE, "checkpoint %llu is there already", (unsigned long long)last->number);
    REQUIRE(last->number == 0 || c->from_lsn == last->upto_lsn + 1);
    REQUIRE(c->from_lsn > 0 && c->from_lsn <= c->upto_lsn);
    REQUIRE(c->upto_lsn <= d->state->lsn);
    struct rec_checkpoint *rec = &decide_record(d, REC_CHECKPOINT, NULL)->body.as_REC_CHECKPOINT;
    rec->number = c->number;
    rec->from_lsn = c->from_lsn;
    rec->upto_lsn = c->upto_lsn;
    rec->chain = c->chain;
    rec->key = c->key;
    rec->signature = c->signature;
    return ERR_OK;
}
