/* progress.c: see progress.h. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "out.h"

#define LEAST_BYTES (8u << 20) /* what is smaller is there at once */
#define DRAW_MS 100
#define BAR_CELLS 20u

static int64_t now_ms(const struct progress *p) {
    return p->cli->world->clock->mono(p->cli->world->clock).ms;
}

void progress_begin(struct progress *p, const struct cli *c, const char *what, uint64_t total) {
    const char *slash = strrchr(what, '/');
    *p = (struct progress){.cli = c, .what = slash != NULL ? slash + 1 : what, .total = total};
    p->is_wanted = !c->json && isatty(STDERR_FILENO) && (total == 0 || total >= LEAST_BYTES);
    p->started_ms = now_ms(p);
}

static void draw(const struct progress *p, uint64_t done, int64_t took_ms) {
    char text[OUT_TIME_BYTES], of[OUT_TIME_BYTES], rate[OUT_TIME_BYTES];
    fputs("\r\033[K", stderr);
    out_clean(stderr, (struct slice){(const uint8_t *)p->what, strnlen(p->what, BAR_CELLS)});
    fputc(' ', stderr);
    for (uint32_t i = 0; p->total > 0 && i < BAR_CELLS; i++) {
        bool is_done = i < done * BAR_CELLS / p->total;
        fputs(is_done ? "━" : "─", stderr);
    }
    fprintf(stderr, " %s", out_bytes(done, text));
    if (p->total > 0) fprintf(stderr, " of %s", out_bytes(p->total, of));
    if (took_ms > 0) fprintf(stderr, ", %s/s", out_bytes(done * 1000 / (uint64_t)took_ms, rate));
    fflush(stderr);
}

void progress_step(struct progress *p, uint64_t done) {
    int64_t now = now_ms(p);
    if (!p->is_wanted || done < LEAST_BYTES || (p->is_drawn && now < p->drawn_ms + DRAW_MS)) return;
    draw(p, done, now - p->started_ms);
    p->drawn_ms = now;
    p->is_drawn = true;
}

void progress_end(struct progress *p) {
    if (!p->is_drawn) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->is_drawn = false;
}
