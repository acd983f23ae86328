/* SPDX-License-Identifier: BSD-2-Clause */
/* Recordings that are kept for the next time that nothing has changed. */
#ifndef OPK_COLLECT_CACHE_H
#define OPK_COLLECT_CACHE_H

#include <dirent.h>
#include <sys/stat.h>

#include "base/sha256.h"
#include "base/strlist.h"
#include "collect/shared/shared.h"

/* What a recording depends on, part by part. */

struct key_part {
	char *name;                 /* for people: "argument 2", "library /lib/libm.so.6" */
	char hash[OPK_SHA256_TEXT]; /* of what it is */
	char *path;                 /* of a file; else NULL */
	unsigned argument;          /* of a file: the number of the argument that names it, or 0 */
	struct stat seen;           /* the file when it was read */
};

struct cache_key {
	struct key_part *items;
	size_t count, capacity;
};

/*
 * All that the run of this program depends on, as far as that can be known beforehand: `gpus` is
 * what probe_describe() says, `output` the recording's name. OPK_OK, or a message.
 */
int key_make(struct cache_key *key, const struct settings *settings, char **program,
             const char *gpus, const char *output);
void key_clear(struct cache_key *key);
/* The parts as one hash, with or without the files that arguments name. */
void key_hash(char out[OPK_SHA256_TEXT], const struct cache_key *key, bool files);
/* The existing file that an argument names, as FILE or NAME=FILE; NULL: none. */
const char *key_argument_file(const char *argument);
/* The files and variables of the key, for people and for the recording: free(). NULL: no memory. */
char *key_list(const struct cache_key *key);
/* Adds a part; false when out of memory. */
bool key_add_hash(struct cache_key *key, const char *name, const char *hash);
/* Whether it is the same file, and was not written to since. */
bool is_as_seen(const struct stat *now, const struct stat *seen);
/* Whether its file has other bytes by now, or can't be read. */
bool key_part_changed(const struct key_part *part);

/*
 * Adds the files that a program is made of: its own, and its interpreter where it is a script, and
 * the libraries that the loader will give it. OPK_OK, or a message.
 */
int program_files(struct opk_strlist *names, const char *program);

/* Files that the program opens as it runs. */

enum opened_kind {
	OPENED_LIBRARY, /* in memory at the end */
	OPENED_READ,    /* below folders of the program: cache_watch.c */
	OPENED_MADE,    /* named by an argument, and not there before: it may be gone again */
	OPENED_KINDS,
};

/* Before it: where its processes will list them, in the cache's folder. OPK_OK, or a message. */
int opened_begin(const char *folder);
/* After it: adds libraries with their hashes, unless `opened` is NULL, and removes the list. */
void opened_end(struct cache_key *opened);
/* Adds the files that can be read: some were there only during this run. */
void opened_add(struct cache_key *opened, const struct opk_strlist *paths, enum opened_kind kind);
/* The first that has changed; NULL: none has. */
const char *opened_changed(const struct cache_key *opened, enum opened_kind kind);

/* What was seen of the files below the program's folders; watched_clear(). */
struct watched {
	struct opk_strlist read; /* inputs that are not in the key */
	char *changed;           /* one that was written or removed after it was read; or NULL */
	char *unseen;            /* why not all could be seen; NULL: all was */
	bool failed;             /* out of memory: it lacks something of that */
};

/* Looks at them from now on. */
void watch_begin(const struct settings *settings, char **program, const struct cache_key *key);
/* Ends it. `found`, all zero, or NULL, receives what was seen; a second call finds nothing. */
void watch_end(struct watched *found, const struct cache_key *key);
void watched_clear(struct watched *found);
#define opk_autowatched __attribute__((cleanup(watched_clear)))

/* What ran, by two recordings of each process, compared: cache_verify.c. */

/*
 * OPK_OK where the same kernels ran as often in the same shapes, in both sets of recordings, else
 * OPK_EFAILED; a message in either case. The first of `before` is named for a comparison of values.
 */
int verify_recordings(const struct opk_strlist *before, const struct opk_strlist *now);

/* Files and folders of this user; links are not followed. */

/* Whether this user has such a file (S_IFREG) or folder (S_IFDIR). */
bool is_own(const char *path, mode_t kind);
/* A regular file of this user; only this user can read it where it is new. -1 with errno set. */
int own_open(const char *path, int flags);
/* A folder of this user, for readdir(); NULL: it is not one. */
DIR *own_folder(const char *path);
/* Whether --cache's folder can be written to by this user only. OPK_OK, or a message. */
int own_check(const char *folder);

/* A folder of entries, each a folder with the hash of its key for a name. */

/* What one entry holds. */
struct cache_entry {
	char *kept;                  /* when */
	char *unseen;                /* why not all files that were read are known; NULL: all are */
	struct opk_strlist hashes;   /* of its recordings, 0, 1 and so on */
	struct opk_strlist suffixes; /* what each one's name has more than that of -o: "-1234" */
	struct cache_key key;        /* names and hashes only */
	struct cache_key opened[OPENED_KINDS];
};

/* False where there is none, or it is damaged. */
bool store_read(struct cache_entry *entry, const char *folder, const char *hash);
void store_clear_entry(struct cache_entry *entry);
#define opk_autoentry __attribute__((cleanup(store_clear_entry)))
/* Copies its recordings to where -o says; false where one is damaged or can't be written. */
bool store_restore(const struct cache_entry *entry, const struct settings *settings,
                   const char *hash, const char *output);
/* The recordings of a run. */
struct recordings {
	const struct opk_strlist *names;
	const struct stat *seen; /* the files when they got these names */
	const char *output;      /* the name that -o says */
};
/* A new entry of that key, with what was opened and these recordings; NULL, or why it is not. */
const char *store_keep(const struct settings *settings, const char *hash,
                       const struct cache_entry *entry, const struct recordings *made);
/* Names the parts in which the most similar entry differs; NULL where there is no entry. */
char *store_nearest(const char *folder, const struct cache_key *key);

#endif
