/* metrics_doc.c: writes docs/metrics.md from the table of metrics (metric.h).
 *
 *     metrics_doc < docs/src/metrics.head.md */
#include <stdio.h>

#include "metric.h"

static void put_bounds(const struct metric *m) {
    printf("`%s`, seconds: ", m->name);
    for (uint32_t i = 0; i < m->bound_count; i++)
        printf("%s%g", i > 0 ? ", " : "", (double)m->bounds[i] / (double)m->per_second);
    printf("\n");
}

static void put_rows(const struct metric *all, uint32_t count, bool ours) {
    printf(
        ours ? "| metric | type | lasts | label | in the stats | what it is |\n| --- | --- | --- | --- | --- | --- |\n"
             : "| metric | type | label | what it is here |\n| --- | --- | --- | --- |\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct metric *m = &all[i];
        if ((m->of == NULL) != ours) continue;
        printf("| `%s` | %s |", m->name, metric_type_words[m->type]);
        if (ours) printf(" %s |", metric_life_words[m->life]);
        printf(" %s |", m->label != NULL ? m->label : "");
        if (ours && m->stat == NULL) printf(" |");
        if (ours && m->stat != NULL && m->type == METRIC_HISTOGRAM)
            printf(" `%s` with `_%s_sum`, `_count` |", m->stat, m->per_second == 1000 ? "ms" : "us");
        else if (ours && m->stat != NULL)
            printf(" `%s%s` |", m->stat, m->label != NULL ? "_WORD" : "");
        printf(" %s |\n", m->text);
    }
}

int main(void) {
    uint32_t count;
    const struct metric *all = metric_table(&count);
    int c;
    while ((c = getchar()) != EOF) putchar(c);
    printf("## Ours\n\n");
    put_rows(all, count, true);
    printf("\n## The same by the names of Orion and Cordum\n\n");
    put_rows(all, count, false);
    printf("\n## Bounds of histograms\n\n");
    for (uint32_t i = 0; i < count; i++)
        if (all[i].type == METRIC_HISTOGRAM && all[i].of == NULL) {
            printf("- ");
            put_bounds(&all[i]);
        }
    return ferror(stdout) != 0;
}
