/* oscgroup_files.h: what is written into a control group and read out of it: the two versions of the interface, and
 * nothing about where groups are. */
#ifndef REEVE_OSCGROUP_FILES_H
#define REEVE_OSCGROUP_FILES_H

#include "proc.h"

enum oscgroup_version { OSCGROUP_V1 = 1, OSCGROUP_V2 = 2 };

/* What this group keeps: bits PROC_BIT(enum proc_limit). */
struct oscgroup_kind {
    enum oscgroup_version version;
    unsigned keeps;
};

/* The file that has to be writable for a limit to be kept. */
const char *oscgroup_files_control(enum oscgroup_version version, enum proc_limit limit);

/* Those of `l` that a group of this kind keeps go into the files of the directory. */
CHECKED enum err oscgroup_files_write(const char *dir, struct oscgroup_kind kind, const struct proc_limits *l,
                                      struct why *why);

/* Adds what the group knows to `usage`; what cannot be read stays as it is. */
void oscgroup_files_read(const char *dir, struct oscgroup_kind kind, struct proc_usage *usage);

/* Version 1: a process was killed for the memory of this group, or is about to be. */
bool oscgroup_files_is_oom(const char *dir);

/* One file as a whole, without its last line end; false: it cannot be read. */
bool oscgroup_files_get(const char *dir, const char *name, char *ret, size_t size);
/* 0, or errno. */
int oscgroup_files_put(const char *dir, const char *name, const char *text);

#endif
