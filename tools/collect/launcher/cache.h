/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings that are kept for later runs in which nothing has changed. */
#ifndef OPK_COLLECT_CACHE_H
#define OPK_COLLECT_CACHE_H

#include <sys/stat.h>

#include "base/sha256.h"
#include "collect/shared/shared.h"

/* What a recording depends on, in parts. */

struct key_part {
	char *name;                 /* for people: "argument 2", "library /lib/libm.so.6" */
	char hash[OPK_SHA256_TEXT]; /* of the contents */
	char *path;                 /* of a file; else NULL */
	unsigned argument;          /* of a file: the number of the argument that names it, or 0 */
	struct stat seen;           /* the file's state when it was read */
};

struct cache_key {
	struct key_part *items;
	size_t count, capacity;
};

/*
 * Everything known beforehand that the program's run depends on: `gpus` is the text of
 * probe_describe(), `output` the recording's name. OPK_OK, or a message.
 */
int key_make(struct cache_key *key, const struct settings *settings, char **program,
             const char *gpus, const char *output);
void key_clear(struct cache_key *key);
/* One hash of the parts, with or without the files that arguments name. */
void key_hash(char out[OPK_SHA256_TEXT], const struct cache_key *key, bool files);
/* The existing file that an argument names, as FILE or NAME=FILE; NULL: none. */
const char *key_argument_file(const char *argument);
/* The files and variables of the key, for people and the recording: free(). NULL: no memory. */
char *key_list(const struct cache_key *key);
/* Adds a part; false when out of memory. */
bool key_add_hash(struct cache_key *key, const char *name, const char *hash);
/* Whether both are the state of one file, unmodified in between. */
bool is_as_seen(const struct stat *now, const struct stat *seen);
/* Whether the part's file has changed, or can't be read. */
bool key_part_changed(const struct key_part *part);

/*
 * Adds the files of a program: the program itself, the interpreter of a script, and the libraries
 * that the loader finds for it. OPK_OK, or a message.
 */
int program_files(struct opk_strlist *names, const char *program);

/* Files that the program opens while it runs. */

enum opened_kind {
	OPENED_LIBRARY, /* in memory at the end */
	OPENED_READ,    /* below folders of the program: cache_watch.c */
	OPENED_MADE,    /* named by an argument and new; may be gone again */
	OPENED_KINDS,
};

/* Before the program: prepares the list in the cache's folder. OPK_OK, or a message. */
int opened_begin(const char *folder);
/*
 * After the program: adds libraries with hashes, unless `opened` is NULL; removes the list. False:
 * it was gone, or is empty.
 */
bool opened_end(struct cache_key *opened);
/* Adds the readable files: some existed only during this run. */
void opened_add(struct cache_key *opened, const struct opk_strlist *paths, enum opened_kind kind);
/* The first changed file; NULL: none. */
const char *opened_changed(const struct cache_key *opened, enum opened_kind kind);

/* What was seen of files below the program's folders; watched_clear(). */
struct watched {
	struct opk_strlist read; /* inputs that are not in the key */
	char *changed;           /* a file that was written or removed after it was read; or NULL */
	char *unseen;            /* why not all could be seen; NULL: all was seen */
	bool failed;             /* out of memory: the lists are incomplete */
};

/* Begins to watch these files. */
void watch_begin(const struct settings *settings, char **program, const struct cache_key *key);
/* Stops watching. `found`, zeroed, or NULL, receives the result; a second call finds nothing. */
void watch_end(struct watched *found, const struct cache_key *key);
void watched_clear(struct watched *found);
#define opk_autowatched __attribute__((cleanup(watched_clear)))

/* cache_verify.c: compares what ran in two recordings of each process. */

/*
 * OPK_OK if both sets of recordings have the same kernels, each as often and in the same shapes;
 * otherwise, or if there are none, OPK_EFAILED. Prints a message in either case.
 */
int verify_recordings(const struct opk_strlist *before, const struct opk_strlist *now);

/* Files and folders of this user; links are not followed. */

/* Whether the path is a file (S_IFREG) or folder (S_IFDIR) of this user. */
bool is_own(const char *path, mode_t kind);
/* Opens this user's regular file; a new file is readable only by this user. -1 with errno set. */
int own_open(const char *path, int flags);
/* Opens a folder of this user, for readdir(); NULL: the path is something else. */
DIR *own_folder(const char *path);
/* Whether only this user can write to --cache's folder. OPK_OK, or a message. */
int own_check(const char *folder);

/* A folder of entries; each entry is a folder named after the hash of its key. */

/* The contents of an entry. */
struct cache_entry {
	char *kept;                  /* time of keeping */
	char *unseen;                /* why not all files that were read are known; or NULL */
	struct opk_strlist hashes;   /* of its recordings, 0, 1 and so on */
	struct opk_strlist suffixes; /* each one's addition to the name of -o: "-1234" */
	struct cache_key key;        /* names and hashes only */
	struct cache_key opened[OPENED_KINDS];
};

/* False if there is no entry, or a damaged one. */
bool store_read(struct cache_entry *entry, const char *folder, const char *hash);
void store_clear_entry(struct cache_entry *entry);
#define opk_autoentry __attribute__((cleanup(store_clear_entry)))
/* Copies the recordings to the name of -o; false if one is damaged or can't be written. */
bool store_restore(const struct cache_entry *entry, const struct settings *settings,
                   const char *hash, const char *output);
/* The recordings of a run. */
struct recordings {
	const struct opk_strlist *names;
	const struct stat *seen; /* the files' states when they got these names */
	const char *output;      /* the name from -o */
};
/* Adds an entry with that key, opened files and recordings; NULL, or the error. */
const char *store_keep(const struct settings *settings, const char *hash,
                       const struct cache_entry *entry, const struct recordings *made);
/* Names the parts in which the most similar entry differs; NULL: no entry. */
char *store_nearest(const char *folder, const struct cache_key *key);

#endif
