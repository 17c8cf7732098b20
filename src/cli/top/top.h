/* top.h: what the files of `reeve top` share.
 *
 * The server is asked, never waited for: each view has at most one request of a kind under way, answers become rows,
 * and a frame is drawn from rows. Events only say that it is time to ask again. So a server that is slow, busy or away
 * never stops the keys. */
#ifndef REEVE_TOP_H
#define REEVE_TOP_H

#include "cli.h"
#include "edit.h"
#include "lineout.h"
#include "out.h"
#include "screen.h"
#include "vec.h"

#define TOP_COLUMNS_MAX 8u
#define TOP_ROWS_MAX 1000u   /* things in one list; what is beyond is found by the filter of `reeve ls` */
#define TOP_LINES_MAX 5000u  /* of a log that is followed */
#define TOP_SAMPLES 64u      /* seconds of throughput remembered */
#define TOP_DEPTH_MAX 4u
#define TOP_TEXT_MAX 512u

enum top_kind {
    TOP_FLOWS, /* the panes, in the order of their tabs */
    TOP_WORKERS,
    TOP_QUESTIONS,
    TOP_SERVICES,
    TOP_DEAD,
    TOP_PANE_COUNT,
    TOP_JOBS = TOP_PANE_COUNT, /* of a flow */
    TOP_JOB,
    TOP_LOG,
    TOP_ASK, /* what someone must decide on */
    TOP_HELP,
    TOP_KIND_COUNT
};

struct top_row {
    struct slice id; /* what keys act on: a flow, job, worker or service */
    struct slice text[TOP_COLUMNS_MAX];
    uint8_t style[TOP_COLUMNS_MAX];
    uint32_t done, bad, active, total; /* of its bar */
    uint32_t upstream;                 /* of the bad ones: failed only because of another */
    bool has_items;                    /* of a foreach job */
    bool is_paused;
    bool is_line;        /* text[0] has the whole width */
    uint64_t question;   /* of a question: */
    uint32_t revision;
    struct slice hash, body;
};

struct top_part { /* rows that come with one answer */
    struct arena arena;
    struct vec rows; /* struct top_row */
    uint32_t request;
};

enum { TOP_PART_MAIN, TOP_PART_WHY, TOP_PART_LOG, TOP_PART_COUNT };

struct top_view {
    enum top_kind kind;
    char target[TOP_TEXT_MAX];
    struct top_part parts[TOP_PART_COUNT];
    char selected[TOP_TEXT_MAX]; /* id of the row that keys act on */
    uint32_t at, first;          /* the selected row, and the first that is shown, of those that pass the filter */
    char filter[64];
    char note[TOP_TEXT_MAX];     /* in place of rows, when there are none */
    bool is_dirty, is_answered, is_at_end; /* at_end: of a log: new lines come into view */
    uint32_t attempt, attempt_last; /* of a log: that is shown, and that was heard of */
    struct lineout_parts lines;
    int64_t asked_ms;
};

struct top_sample {
    int64_t ms;
    uint64_t started, succeeded, failed, syncs;
};

struct top_action { /* waits for a yes */
    enum wire_op op;
    char text[TOP_TEXT_MAX]; /* "cancel f3k9a" */
    char target[TOP_TEXT_MAX];
    char done[32]; /* "cancelled" */
    bool undo;
    uint8_t desired; /* of a service: enum wire_desired */
    uint64_t question;
    uint32_t revision;
    uint8_t hash[32];
    size_t hash_len;
    uint8_t verdict;
};

struct top {
    struct cli *c;
    struct screen screen;
    struct top_view panes[TOP_PANE_COUNT], deep[TOP_DEPTH_MAX];
    uint32_t pane, depth;
    /* the server */
    int64_t away_since_ms, tried_ms; /* 0 = it is there */
    uint32_t stats_request, events_request, action_request;
    int64_t ticked_ms;
    struct vec numbers; /* struct top_number, of the last stats */
    struct arena numbers_arena;
    struct top_sample samples[TOP_SAMPLES];
    uint32_t sample_count; /* ever; the last TOP_SAMPLES are there */
    uint32_t slots, slots_active, workers_here;
    /* the person */
    struct keys keys;
    struct edit filter;
    bool is_filtering, is_confirming, wants_out, is_stale; /* stale: a frame must be drawn */
    bool is_printing; /* one frame for a file: nothing is selected */
    struct top_action action;
    char message[TOP_TEXT_MAX];
    uint8_t message_style;
};

struct top_number {
    struct slice name;
    uint64_t amount;
};

/* top_view.c */
void top_view_init(struct top_view *v, enum top_kind kind, const char *target);
void top_view_fini(struct top_view *v);
void top_part_clear(struct top_part *p);
struct top_view *top_view(struct top *t); /* that is looked at */
bool top_is_list(enum top_kind kind);
struct top_row *top_row_at(const struct top_view *v, uint32_t i);
uint32_t top_row_count(const struct top_view *v);
/* Rows that pass the filter, as indices, in the arena; at least one slot. */
uint32_t *top_rows_shown(const struct top_view *v, struct arena *a, uint32_t *ret_count);
const struct top_row *top_selected(struct top *t); /* NULL = none */
void top_view_move(struct top *t, int64_t rows, bool to_edge);
void top_push(struct top *t, enum top_kind kind, const char *target);
void top_pop(struct top *t);

/* top_data.c: asking, and what answers say */
CHECKED enum err top_ask_view(struct top *t, struct top_view *v);
CHECKED enum err top_ask_stats(struct top *t);
CHECKED enum err top_hear(struct top *t, const struct client_frame *f);
uint64_t top_number(const struct top *t, const char *name);
void top_rates(const struct top *t, struct top_sample *ret_per_1000s); /* all zero while there is only one sample */

/* top_rows.c: messages as rows */
void top_rows_flows(struct top_view *v, const struct wire_listed *m, int64_t now_ms);
void top_rows_jobs(struct top_view *v, const struct wire_listed *m, int64_t now_ms);
void top_rows_workers(struct top_view *v, const struct wire_listed *m);
void top_rows_questions(struct top_view *v, const struct wire_listed *m, int64_t now_ms);
void top_rows_services(struct top_view *v, const struct wire_service_list *m, int64_t now_ms);
void top_rows_job(struct top_view *v, const struct wire_job_view *m);
void top_rows_why(struct top_view *v, const struct wire_reason *m);
void top_rows_log(struct top_view *v, enum top_kind kind, const struct wire_log_data *m);
void top_rows_ask(struct top_view *v, const struct top_row *question);
void top_rows_help(struct top_view *v);

/* top_draw.c */
void top_draw(struct top *t);
/* top_keys.c */
CHECKED enum err top_key(struct top *t, const struct key_press *key);
/* top.c */
CHECKED enum err top_act(struct top *t); /* sends the action that was agreed to */
int64_t top_now_ms(const struct top *t); /* monotonic */
int64_t top_wall_ms(const struct top *t);

#endif
