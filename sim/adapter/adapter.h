/* adapter.h: the interpreter between the product and its judges. It turns records, commands, answers, effects and views
 * of core/ into the words of trace.h, hands them to the second model and to the checkers, and turns the world red when
 * one of them objects. It translates and decides nothing; it is the only file that knows both vocabularies. */
#ifndef REEVE_ADAPTER_H
#define REEVE_ADAPTER_H

#include "arena.h"
#include "batch.h"
#include "command.h"
#include "effect.h"
#include "trace.h"
#include "wtime.h"

struct world;
struct model;
struct check;
struct engine;
struct msg;

struct adapter {
    struct world *w;
    struct model *model;
    struct check *check;
    struct arena arena;   /* of one batch, or of one entry */
    uint64_t told_lsn;    /* last record the model knows */
};

void adapter_init(struct adapter *a, struct world *w);
void adapter_fini(struct adapter *a);

void adapter_batch(struct adapter *a, const struct batch *b, bool replayed);
void adapter_durable(struct adapter *a, uint64_t lsn);
void adapter_released(struct adapter *a, const struct effect *e, uint64_t epoch);
void adapter_crashed(struct adapter *a);
void adapter_restarted(struct adapter *a, uint64_t epoch, uint64_t head);

void adapter_asked(struct adapter *a, uint64_t call, const struct command *cmd, wall_time decided);
void adapter_answered(struct adapter *a, const struct msg *m); /* the answer has arrived */

/* Shows an entry that others made to the checkers; an error in their words. */
void adapter_judge(struct adapter *a, struct trace_entry *e);
enum trace_answer adapter_answer(enum err err);

void adapter_compare(struct adapter *a, const struct engine *e); /* the model must agree with every job */
void adapter_quiet(struct adapter *a, const struct engine *e);   /* the end of a run */

#endif
