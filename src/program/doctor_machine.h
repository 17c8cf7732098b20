/* doctor_machine.h: what `reeve doctor` finds on this machine, for a server with this data directory: the directory
 * and its files, the disk, the clock, the limits of the process, and what the kernel has for sandboxes and limits. */
#ifndef REEVE_DOCTOR_MACHINE_H
#define REEVE_DOCTOR_MACHINE_H

struct doctor;

void doctor_machine(struct doctor *d);

#endif
