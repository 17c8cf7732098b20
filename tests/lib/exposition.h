/* exposition.h: a strict reader of what Prometheus is told (text format 0.0.4). Everything that a lenient reader would
 * let pass fails the test. */
#ifndef REEVE_EXPOSITION_H
#define REEVE_EXPOSITION_H

#include <stddef.h>
#include <stdint.h>

#define EXPOSITION_NAME_MAX 200u

struct exposed { /* one line */
    char series[EXPOSITION_NAME_MAX]; /* name and labels, as they stand there */
    char family[EXPOSITION_NAME_MAX]; /* the name of its TYPE */
    char type[16];
    double value;
};

struct exposition {
    struct exposed *all;
    uint32_t count;
};

void exposition_read(struct exposition *x, const char *text); /* fails the test */
void exposition_free(struct exposition *x);
const struct exposed *exposition_find(const struct exposition *x, const char *series); /* NULL */
double exposition_value(const struct exposition *x, const char *series);               /* it must be there */

#endif
