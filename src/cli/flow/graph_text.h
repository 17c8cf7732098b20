/* graph.h: a flow as a picture: its jobs, who needs whom, and the state of each.
 *
 * As a tree, jobs come in their order, parents first, each under the parent that comes last; what else it needs stands
 * beside it: every job is one line, however the graph looks. Where there is no room for that, jobs that are equally far
 * from the beginning are one line together. */
#ifndef REEVE_GRAPH_TEXT_H
#define REEVE_GRAPH_TEXT_H

#include "cli.h"
#include "map.h"
#include "out.h"
#include "vec.h"

#define GRAPH_JOBS_MAX 5000u /* more is no picture */

struct graph_text_job {
    struct slice name; /* without the flow */
    struct slice state, cause; /* cause: of a foreach job what its items do */
    uint32_t attempt;
    uint32_t items; /* of a foreach job: how many */
    uint32_t *parents; /* positions */
    uint32_t parent_count;
    bool is_known; /* its parents are */
    bool is_item;
    uint32_t layer;
    uint32_t under;       /* position + 1 of the parent that it hangs under; 0 = none */
    uint32_t first, next; /* children that hang under it, position + 1 */
};

struct graph_text {
    struct cli *c;
    struct slice flow, name;
    struct vec jobs; /* struct graph_text_job */
    struct index by_name;
    struct arena arena;
    uint32_t root_first; /* those under none */
    uint32_t layer_count;
    bool unfolds;     /* items are jobs of the picture, each under its foreach job */
    struct slice only; /* this job and its items alone; empty = all */
};

/* Where it is drawn. */
struct graph_pen {
    void (*put)(void *ctx, enum out_colour colour, struct slice text);
    void (*end_line)(void *ctx);
    void *ctx;
};

void graph_init(struct graph_text *g, struct cli *c);
void graph_fini(struct graph_text *g);
/* Asks for the flow and for all that is not known of it yet; answers to other requests are dropped meanwhile. */
CHECKED enum err graph_load(struct graph_text *g, struct slice target);
/* A job has changed; false: it is not known, or it is an item that is counted with its foreach job. */
bool graph_change(struct graph_text *g, const struct wire_event *event);

void graph_draw_tree(const struct graph_text *g, const struct graph_pen *pen);                   /* a line per job */
void graph_draw_layers(const struct graph_text *g, uint32_t lines, const struct graph_pen *pen); /* so many at most */
/* How many jobs are in which state: the legend, on one line. */
void graph_draw_legend(const struct graph_text *g, const struct graph_pen *pen);

#endif
