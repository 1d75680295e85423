/* Reads what a stub library shall do from the file "answers" in the library's own folder. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void beside(const char *name, char *path, size_t size) {
    Dl_info info;
    dladdr((void *)beside, &info);
    const char *end = strrchr(info.dli_fname, '/');
    snprintf(path, size, "%.*s/%s", (int)(end - info.dli_fname), info.dli_fname, name);
}

/* The value of a line "key=value"; the fallback where there is no such line. */
static const char *text(const char *key, const char *fallback) {
    static char line[4096];
    char path[4096];
    beside("answers", path, sizeof path);
    FILE *file = fopen(path, "r");
    if (file == NULL) return fallback;
    const char *value = fallback;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == '=') {
            value = line + strlen(key) + 1;
            break;
        }
    }
    fclose(file);
    return value;
}

static int number(const char *key, int fallback) {
    const char *value = text(key, NULL);
    return value == NULL ? fallback : atoi(value);
}

/* Each call adds a line, so that tests can count and find the process. */
static void note(const char *what) {
    char path[4096];
    beside("calls", path, sizeof path);
    FILE *file = fopen(path, "a");
    if (file == NULL) return;
    fprintf(file, "%s %d %d\n", what, (int)getpid(), (int)getpgrp());
    fclose(file);
}

/* The n-th item of a list with commas, copied; 0 where the list is shorter. */
static int item(const char *list, int index, char *into, size_t size) {
    for (; index > 0; index--) {
        list = strchr(list, ',');
        if (list == NULL) return 0;
        list++;
    }
    if (*list == 0) return 0;
    snprintf(into, size, "%.*s", (int)strcspn(list, ","), list);
    return 1;
}

static int count(const char *key) {
    char scratch[64];
    int items = 0;
    while (item(text(key, ""), items, scratch, sizeof scratch)) items++;
    return items;
}

/* Holds the pipe "life" open until this process and its children are gone. */
static void live(void) {
    char path[4096];
    beside("life", path, sizeof path);
    (void)!open(path, O_WRONLY);
}

static void misbehave(const char *how) {
    if (strcmp(how, "hang") == 0) {
        live();
        if (fork() == 0) note("grandchild");
        for (;;) pause();
    }
    if (strcmp(how, "crash") == 0) kill(getpid(), SIGSEGV);
    if (strcmp(how, "leave") == 0) {
        int ready[2];
        char byte;
        if (pipe(ready) != 0) abort();
        if (fork() == 0) {
            live();
            note("grandchild");
            /* All but the pipes "ready" and "life": the answer must not wait for this process. */
            for (int fd = 0; fd < ready[0]; fd++) close(fd);
            close(ready[0]);
            close(ready[1]);
            for (;;) pause();
        }
        close(ready[1]);
        (void)!read(ready[0], &byte, 1);
        close(ready[0]);
    }
    if (strcmp(how, "flood") == 0) {
        static char block[65536];
        memset(block, 'x', sizeof block);
        for (int fd = 3; fd < 64; fd++) {
            while (write(fd, block, sizeof block) > 0) continue;
        }
    }
    if (strcmp(how, "print") == 0) {
        printf("{\"report\": \"printed by the library\"}\n");
        fflush(stdout);
    }
}
