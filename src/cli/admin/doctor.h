/* doctor.h: what `reeve doctor` found, one line per fact: fine, worth knowing, or a problem; and what to do about it.
 *
 * What the server knows is asked by verb_doctor.c. What only this machine knows (the disk, the kernel, files) is found
 * by program/doctor_machine.c, which adds its lines through `cli_world.doctor`. */
#ifndef REEVE_DOCTOR_H
#define REEVE_DOCTOR_H

#include "cli.h"
#include "vec.h"

enum doctor_state { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_PROBLEM, DOCTOR_STATE_COUNT };

struct doctor_line {
    enum doctor_state state;
    const char *check;         /* a word */
    struct slice text, advice; /* advice: empty = nothing is to be done */
};

struct doctor {
    struct cli *cli;
    const char *data; /* the directory that is looked at */
    struct vec lines; /* struct doctor_line */
};

/* The advice of the line that was added last is set by doctor_advise. */
void doctor_add(struct doctor *d, enum doctor_state state, const char *check, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void doctor_advise(struct doctor *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
