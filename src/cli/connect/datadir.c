/* datadir.c: see datadir.h. */
#include "datadir.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES_MAX 4096u
#define ADDRESS_BYTES_MAX 512u
#define FOLDERS_MAX 64u /* levels that are searched upwards */

bool datadir_line(const char *data, const char *name, char *ret, size_t size) {
    char path[PATH_BYTES_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", data, name) >= sizeof path) return false;
    FILE *f = fopen(path, "re");
    if (f == NULL) return false;
    bool got = fgets(ret, (int)size, f) != NULL;
    (void)fclose(f);
    if (got) ret[strcspn(ret, "\r\n")] = 0;
    return got && ret[0] != 0;
}

/* In a parent folder only a directory of our own counts: what others put into /tmp is not ours to talk to. */
bool datadir_near(char *ret, size_t size) {
    struct stat st;
    size_t len = 0;
    (void)snprintf(ret, size, ".reeve");
    if (stat(ret, &st) == 0) return S_ISDIR(st.st_mode);
    for (uint32_t level = 0; level < FOLDERS_MAX; level++) {
        len += (size_t)snprintf(ret + len, size - len, "../");
        if (len + sizeof ".reeve" > size) return false;
        memcpy(ret + len, ".reeve", sizeof ".reeve");
        if (stat(ret, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid()) return true;
    }
    return false;
}

/* ---- addresses ---- */

static const char *without_tls(const char *address) {
    return strncmp(address, "tls:", 4) == 0 ? address + 4 + strspn(address + 4, "/") : address;
}

static bool is_loopback(const char *host, size_t len) {
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]", "::1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == len && strncasecmp(host, names[i], len) == 0) return true;
    return false;
}

static bool is_same_place(const char *a, const char *b) {
    a = without_tls(a);
    b = without_tls(b);
    const char *port_a = strrchr(a, ':'), *port_b = strrchr(b, ':');
    if (port_a == NULL || port_b == NULL || strcmp(port_a, port_b) != 0) return false;
    size_t len_a = (size_t)(port_a - a), len_b = (size_t)(port_b - b);
    if (is_loopback(a, len_a) && is_loopback(b, len_b)) return true;
    return len_a == len_b && strncasecmp(a, b, len_a) == 0;
}

static bool is_same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

bool datadir_listens(const char *data, const char *address) {
    char own[PATH_BYTES_MAX];
    if (strncmp(address, "unix:", 5) == 0)
        return (size_t)snprintf(own, sizeof own, "%s/reeve.sock", data) < sizeof own && is_same_file(own, address + 5);
    return datadir_line(data, "address", own, ADDRESS_BYTES_MAX) && is_same_place(own, address);
}

void datadir_token(const char *data, const char *name, const char *address, char *ret, size_t size) {
    if (!datadir_listens(data, address) || !datadir_line(data, name, ret, size)) ret[0] = 0;
}
