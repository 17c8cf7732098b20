/* oslisteners.c: see oslisteners.h.
 *
 * /proc/net/tcp and tcp6 have a line for each socket of this network namespace, with its inode; /proc/PID/fd has a link
 * "socket:[inode]" for each socket that a process holds:
 *
 *     127.0.0.1:8080 LISTEN inode 4711      /proc/1234/fd/3 -> socket:[4711]      so 1234 answers at 8080
 *
 * The kernel hands out the listening sockets first, so that the first line of another state ends the reading: a machine
 * with many connections pays nothing for them. A process whose descriptors may not be read could hold any socket: then
 * the owner is unknown, never guessed. */
#include "oslisteners.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash.h"
#include "osprocs.h"
#include "vec.h"

#define STATE_LISTEN 0x0Au
#define LINE_BYTES 512
#define ADDRESS_BYTES 33 /* an IPv6 address in hexadecimal digits */

/* A container's port is held by its runtime's process on behalf of the container, which the service may well have
 * started: whose it is cannot be told. */
static const char *const proxies[] = {"docker-proxy"};

struct listening {
    char address[ADDRESS_BYTES]; /* as the kernel writes it */
    uint64_t inode;
};

/* "sl: address:port address:port state queues timer retransmits uid timeout inode ...", the first line says so. */
static void table_read(const char *path, uint32_t port, struct vec *ret) {
    char line[LINE_BYTES];
    FILE *f = fopen(path, "re");
    bool has_head = f != NULL && fgets(line, sizeof line, f) != NULL;
    while (has_head && fgets(line, sizeof line, f) != NULL) {
        struct listening l;
        unsigned local = 0, state = 0;
        unsigned long long inode = 0;
        int got = sscanf(line, " %*u: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %llu",
                         l.address, &local, &state, &inode);
        if (got != 4 || state != STATE_LISTEN) break;
        l.inode = inode;
        if (local == port) *(struct listening *)vec_push(ret) = l;
    }
    if (f != NULL) (void)fclose(f);
}

static uint64_t number_of(const struct vec *sockets) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < sockets->count; i++) {
        const struct listening *l = vec_at(sockets, i);
        all ^= hash64(&l->inode, sizeof l->inode, 0);
    }
    return all;
}

uint64_t oslisteners_at(uint32_t port) {
    struct vec sockets;
    vec_init(&sockets, sizeof(struct listening));
    table_read("/proc/net/tcp", port, &sockets);
    table_read("/proc/net/tcp6", port, &sockets);
    uint64_t all = number_of(&sockets);
    vec_fini(&sockets);
    return all;
}

/* ---- whose they are ---- */

static void keep_only(struct vec *sockets, const char *address, const char *or_address) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sockets->count; i++) {
        const struct listening *l = vec_at(sockets, i);
        if (strcmp(l->address, address) != 0 && strcmp(l->address, or_address) != 0) continue;
        memmove(vec_at(sockets, kept++), l, sizeof *l);
    }
    sockets->count = kept;
}

/* Those that a connection to 127.0.0.1 may come to. One of IPv6 at any address takes it if there is none of IPv4: there
 * cannot be both, unless that one takes IPv6 only. */
static void answering_read(uint32_t port, struct vec *ret) {
    char loopback[ADDRESS_BYTES], mapped[ADDRESS_BYTES];
    snprintf(loopback, sizeof loopback, "%08X", htonl(INADDR_LOOPBACK));
    snprintf(mapped, sizeof mapped, "0000000000000000%08X%s", htonl(0xFFFF), loopback);
    table_read("/proc/net/tcp", port, ret);
    keep_only(ret, loopback, "00000000");
    if (ret->count > 0) return;
    table_read("/proc/net/tcp6", port, ret);
    keep_only(ret, mapped, "00000000000000000000000000000000");
}

static bool is_among(const struct vec *sockets, uint64_t inode) {
    for (uint32_t i = 0; i < sockets->count; i++)
        if (((const struct listening *)vec_at(sockets, i))->inode == inode) return true;
    return false;
}

/* A process that has ended holds nothing, but while its parent has not heard of it, only root may look. */
static bool has_ended(uint32_t pid) {
    char path[64], text[LINE_BYTES];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *f = fopen(path, "re");
    size_t got = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL) (void)fclose(f);
    text[got] = 0;
    const char *end = strrchr(text, ')'); /* "pid (name) state ..." */
    return end == NULL || strlen(end) < 3 || end[2] == 'Z' || end[2] == 'X';
}

/* Whether the process holds one of the sockets; UNKNOWN: that is not for us to see. */
static enum proc_port process_look(uint32_t pid, const struct vec *sockets) {
    char path[64], link[64];
    enum proc_port found = PROC_PORT_FOREIGN;
    snprintf(path, sizeof path, "/proc/%u/fd", pid);
    DIR *dir = opendir(path);
    if (dir == NULL) return has_ended(pid) ? PROC_PORT_FOREIGN : PROC_PORT_UNKNOWN;
    for (struct dirent *entry = readdir(dir); entry != NULL && found != PROC_PORT_OWN; entry = readdir(dir)) {
        if (entry->d_name[0] == '.') continue;
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);
        link[len > 0 ? len : 0] = 0;
        if (strncmp(link, "socket:[", 8) == 0 && is_among(sockets, strtoull(link + 8, NULL, 10))) found = PROC_PORT_OWN;
    }
    (void)closedir(dir);
    return found;
}

static enum proc_port tree_look(pid_t root, const struct vec *sockets) {
    struct u32vec pids = {0};
    enum proc_port found = PROC_PORT_FOREIGN;
    osprocs_below(root, NULL, &pids);
    for (uint32_t i = 0; i < pids.count && found != PROC_PORT_OWN; i++) {
        enum proc_port one = process_look(pids.at[i], sockets);
        if (one != PROC_PORT_FOREIGN) found = one;
    }
    u32vec_fini(&pids);
    return found;
}

static void name_read(uint32_t pid, char ret[16]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/comm", pid);
    FILE *f = fopen(path, "re");
    if (f == NULL || fgets(ret, 16, f) == NULL) ret[0] = 0;
    if (f != NULL) (void)fclose(f);
    ret[strcspn(ret, "\n")] = 0;
}

/* Which process of the machine holds them; FOREIGN with its pid and name, or UNKNOWN. */
static enum proc_port holder_find(const struct vec *sockets, struct oslisteners_seen *ret) {
    enum proc_port found = PROC_PORT_UNKNOWN;
    DIR *dir = opendir("/proc");
    if (dir == NULL) return found;
    for (struct dirent *entry = readdir(dir); entry != NULL && found == PROC_PORT_UNKNOWN; entry = readdir(dir)) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (pid == 0 || process_look(pid, sockets) != PROC_PORT_OWN) continue;
        ret->holder = pid;
        name_read(pid, ret->name);
        found = PROC_PORT_FOREIGN;
    }
    (void)closedir(dir);
    for (size_t i = 0; i < sizeof proxies / sizeof proxies[0]; i++)
        if (found == PROC_PORT_FOREIGN && strcmp(ret->name, proxies[i]) == 0) found = PROC_PORT_UNKNOWN;
    return found;
}

/* Foreign sockets are looked at again each time, but for their holder: a process may be given one by another. */
enum proc_port oslisteners_owner(uint32_t port, pid_t root, struct oslisteners_seen *seen, struct why *why) {
    struct vec sockets;
    vec_init(&sockets, sizeof(struct listening));
    answering_read(port, &sockets);
    uint64_t number = number_of(&sockets);
    bool is_new = number != seen->sockets;
    if (is_new) *seen = (struct oslisteners_seen){.sockets = number};
    if (sockets.count > 0 && (is_new || seen->owner == PROC_PORT_FOREIGN)) {
        seen->owner = tree_look(root, &sockets);
        if (is_new && seen->owner == PROC_PORT_FOREIGN) seen->owner = holder_find(&sockets, seen);
    }
    vec_fini(&sockets);
    if (seen->owner == PROC_PORT_FOREIGN)
        (void)why_set(why, ERR_STATE, "port %u is held by process %u (%s), not by this service", port, seen->holder,
                      seen->name);
    return seen->owner;
}
