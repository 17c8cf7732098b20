/* note.h: what the shim notes before a call changes something. Between note_begin and note_end no other thread of the
 * process changes files, so the log has the order of the changes. */
#ifndef REEVE_NOTE_H
#define REEVE_NOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "powercut.h"

/* A name as a call has it: below which directory, and in full. */
struct note_name {
    char path[POWERCUT_PATH_MAX];
    bool is_ours; /* below the directories that lose power */
    bool exists;
    struct stat st;  /* if it exists */
    uint64_t parent; /* inode */
};

void note_begin(void);
void note_end(void);

bool note_name(struct note_name *n, int dir, const char *name); /* false: none of ours */
bool note_file(int fd, struct stat *ret);                       /* false: none of ours */

void note_write(int fd, const struct stat *st, off_t offset, uint64_t bytes);
void note_size(int fd, const struct stat *st, uint64_t bytes); /* it gets another size */
void note_sync(int fd, uint64_t upto);
void note_sync_all(void);
uint64_t note_position(void); /* of the log, for note_sync; between begin and end */

/* What ails the disk at the moment: STATE/trouble, which may come and go while programs run. */
struct note_trouble {
    unsigned slow_us; /* that a sync of this file takes; 0 = as long as it does */
    bool fails;       /* a sync of it fails */
};
void note_trouble(int fd, struct note_trouble *ret);

void note_create(const struct note_name *n); /* after it was made */
void note_mkdir(const struct note_name *n);  /* likewise */
void note_remove(const struct note_name *n);
void note_rmdir(const struct note_name *n);
void note_rename(const struct note_name *from, const struct note_name *to);

#endif
