/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder of kept recordings. An entry is a folder with numbered recordings and a file "entry",
 * which has their hashes and the parts of the key. Entries appear and disappear by a rename, so
 * that several runs can use the folder at the same time.
 */
#include <sys/file.h>

#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

static const char first_line[] = "offpeak-cache 1";
enum { MOST_ENTRY = 64 << 20 }; /* limit of the file "entry", in bytes */

/* ---- reading ---------------------------------------------------------------------------- */

static bool is_hash(const char *text)
{
	return strlen(text) == OPK_SHA256_TEXT - 1 && !text[strspn(text, "0123456789abcdef")];
}

/* Cuts "WORD REST" after WORD, and returns REST. */
static char *split(char *text)
{
	char *rest = text + strcspn(text, " ");

	if (*rest)
		*rest++ = '\0';
	return rest;
}

/* The suffixes of offpeak-collect: nothing, or hexadecimal numbers, each after a "-". */
static bool is_suffix(const char *text)
{
	while (*text == '-' && strspn(text + 1, "0123456789abcdef"))
		text += 1 + strspn(text + 1, "0123456789abcdef");
	return !*text;
}

static const char *const opened_words[OPENED_KINDS] = { "opened", "read", "made" };

static bool take_text(char **to, const char *text)
{
	free(*to);
	*to = opk_strdup(text);
	return *to != NULL;
}

static bool take_line(struct cache_entry *entry, char *word)
{
	char *rest = split(word);
	const char *name;

	if (!strcmp(word, "kept"))
		return take_text(&entry->kept, rest);
	if (!strcmp(word, "unseen"))
		return take_text(&entry->unseen, rest);
	name = split(rest);
	if (!is_hash(rest))
		return false;
	if (!strcmp(word, "recording"))
		return is_suffix(name) && opk_strlist_add(&entry->hashes, rest)
		       && opk_strlist_add(&entry->suffixes, name);
	for (size_t i = 0; i < OPENED_KINDS; i++)
		if (!strcmp(word, opened_words[i]))
			return key_add_hash(&entry->opened[i], name, rest);
	return !strcmp(word, "part") && key_add_hash(&entry->key, name, rest);
}

static bool parse(struct cache_entry *entry, char *text)
{
	size_t length = strlen(first_line);
	char *line;

	if (strncmp(text, first_line, length) || text[length] != '\n')
		return false;
	text += length + 1;
	while ((line = strsep(&text, "\n")) != NULL && *line)
		if (!take_line(entry, line))
			return false;
	return entry->kept && entry->hashes.count;
}

bool store_read(struct cache_entry *entry, const char *folder, const char *hash)
{
	opk_autofree char *whole = opk_printf("%s/%s", folder, hash);
	opk_autofree char *path = opk_printf("%s/%s/entry", folder, hash);
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	opk_autofree void *text = NULL;
	char found[OPK_SHA256_TEXT] = "";
	size_t size;

	*entry = (struct cache_entry){ 0 };
	if (!path || !whole || !is_own(whole, S_IFDIR) || !is_own(path, S_IFREG)
	    || opk_ctx_new(&ctx, NULL) || opk_read_small_file(&text, &size, ctx, path, MOST_ENTRY))
		return false;
	if (parse(entry, text))
		key_hash(found, &entry->key, true);
	if (!strcmp(found, hash))
		return true;
	store_clear_entry(entry);
	return false;
}

void store_clear_entry(struct cache_entry *entry)
{
	free(entry->kept);
	free(entry->unseen);
	opk_strlist_clear(&entry->hashes);
	opk_strlist_clear(&entry->suffixes);
	key_clear(&entry->key);
	for (size_t i = 0; i < OPENED_KINDS; i++)
		key_clear(&entry->opened[i]);
	*entry = (struct cache_entry){ 0 };
}

/* ---- copying ---------------------------------------------------------------------------- */

/* Writes all bytes to a sink and computes their hash; false if reading or writing fails. */
static bool copy(char hash[OPK_SHA256_TEXT], int from, opk_sink_fn *write_to, void *to)
{
	struct opk_sha256 sha;
	uint8_t piece[1 << 15];
	ssize_t size;

	opk_sha256_begin(&sha);
	while ((size = read(from, piece, sizeof piece)) != 0) {
		if (size < 0 && errno != EINTR)
			return false;
		if (size < 0)
			continue;
		opk_sha256_add(&sha, piece, (size_t)size);
		if (write_to(to, piece, (size_t)size))
			return false;
	}
	opk_sha256_end(&sha, hash);
	return true;
}

static bool is_same(const char *path, const char *wanted)
{
	opk_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char hash[OPK_SHA256_TEXT];

	return fd >= 0 && opk_sha256_file(hash, fd) && !strcmp(hash, wanted);
}

/* A new recording is as private as the kept one; one that replaces another keeps its mode. */
static int create(struct opk_newfile *file, struct opk_ctx *ctx, const char *path, int like)
{
	struct stat info;

	TRY(opk_newfile_create(file, ctx, path, opk_check_output, OPK_OUTPUT_RECORDING));
	return fstat(like, &info) || !(info.st_mode & 077) ? opk_newfile_make_private(file)
	                                                   : OPK_OK;
}

static bool restore(struct opk_newfile *file, const struct settings *settings, struct opk_ctx *ctx,
                    const char *from, const char *wanted, const char *to)
{
	opk_autoclose int fd = own_open(from, O_RDONLY);
	char hash[OPK_SHA256_TEXT];

	if (!is_same(to, wanted))
		outputs_note_older(settings, to);
	if (fd < 0 || create(file, ctx, to, fd))
		return say(false, "note: cache: %s",
		           fd < 0 ? strerror(errno) : opk_error_message(ctx, 0));
	if (!copy(hash, fd, opk_newfile_write, file))
		return say(false, "note: cache: can't copy %s to %s", from, to);
	return !strcmp(hash, wanted) || say(false, "note: cache: %s is damaged", from);
}

static bool restore_all(struct opk_newfile *files, const struct cache_entry *entry,
                        const struct settings *settings, struct opk_ctx *ctx, const char *folder,
                        const char *output)
{
	size_t count = entry->hashes.count;
	opk_autofree struct opk_newfile **all = opk_alloc_array(count, sizeof *all);

	for (size_t i = 0; all && i < count; i++) {
		opk_autofree char *from = opk_printf("%s/%zu", folder, i);
		char to[PATH_MAX];

		recording_name(to, output, entry->suffixes.items[i]);
		all[i] = &files[i];
		if (!from || !restore(&files[i], settings, ctx, from, entry->hashes.items[i], to))
			return false;
	}
	return all && !opk_newfiles_commit(all, count);
}

bool store_restore(const struct cache_entry *entry, const struct settings *settings,
                   const char *hash, const char *output)
{
	size_t count = entry->hashes.count;
	opk_autofree struct opk_newfile *files = opk_alloc_array(count, sizeof *files);
	opk_autofree char *folder = opk_printf("%s/%s", settings->cache, hash);
	opk_autofree char *used = opk_printf("%s/%s/entry", settings->cache, hash);
	opk_auto(opk_ctx) struct opk_ctx *ctx = NULL;
	bool good = files && folder && used && !launcher_ctx_new(&ctx, settings)
	            && restore_all(files, entry, settings, ctx, folder, output);

	for (size_t i = 0; files && i < count; i++)
		opk_newfile_discard(&files[i]);
	/* Record the time of last use. */
	if (good)
		utimensat(AT_FDCWD, used, NULL, 0);
	return good;
}

/* ---- keeping ---------------------------------------------------------------------------- */

static int write_to_fd(void *fd, const void *data, size_t size)
{
	return opk_write_all(*(int *)fd, data, size) ? OPK_OK : OPK_EFAILED;
}

static const char *reason(void)
{
	return errno ? strerror(errno) : "out of memory";
}

/* Copies a recording into the new entry, as private as it is; NULL, or the error. */
static const char *keep(char hash[OPK_SHA256_TEXT], const char *recording, const struct stat *seen,
                        const char *path)
{
	opk_autoclose int from = open(recording, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	opk_autoclose int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct stat info;

	if (from < 0 || to < 0 || !copy(hash, from, write_to_fd, &to) || fstat(from, &info))
		return reason();
	if (!is_as_seen(&info, seen))
		return "another run has written to the recording meanwhile";
	return !fchmod(to, info.st_mode & 0777) || errno == EPERM ? NULL : reason();
}

static bool write_text(const char *folder, const char *name, const struct opk_buf *text)
{
	opk_autofree char *path = opk_printf("%s/%s", folder, name);
	opk_autoclose int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
	                            : -1;

	return fd >= 0 && !text->failed && opk_write_all(fd, text->data, text->size);
}

static void add_parts(struct opk_buf *text, const char *word, const struct cache_key *key)
{
	for (size_t i = 0; i < key->count; i++)
		opk_buf_add_printf(text, "%s %s %s\n", word, key->items[i].hash,
		                   key->items[i].name);
}

/* Adds a recording and its line; NULL, or the error. */
static const char *add_recording(struct opk_buf *text, const char *folder,
                                 const struct recordings *made, size_t i)
{
	const char *name = made->names->items[i], *problem;
	opk_autofree char *path = opk_printf("%s/%zu", folder, i);
	/* If another run took the name meanwhile, a single recording has another name now. */
	opk_autofree char *suffix = made->names->count == 1 ? opk_strdup("")
	                                                    : recording_suffix(name, made->output);
	char hash[OPK_SHA256_TEXT];

	if (!path || !suffix)
		return "out of memory";
	problem = keep(hash, name, &made->seen[i], path);
	if (!problem)
		opk_buf_add_printf(text, "recording %s %s\n", hash, suffix);
	return problem;
}

/* Fills the new entry; it gets its name when it is complete. NULL, or the error. */
static const char *fill(const char *folder, const struct cache_entry *entry,
                        const struct recordings *made)
{
	opk_autobuf struct opk_buf text = { 0 };
	time_t now = time(NULL);
	char kept[32];
	struct tm utc;

	strftime(kept, sizeof kept, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	opk_buf_add_printf(&text, "%s\nkept %s\n", first_line, kept);
	if (entry->unseen)
		opk_buf_add_printf(&text, "unseen %s\n", entry->unseen);
	for (size_t i = 0; i < made->names->count; i++) {
		const char *problem = add_recording(&text, folder, made, i);

		if (problem)
			return problem;
	}
	add_parts(&text, "part", &entry->key);
	for (size_t i = 0; i < OPENED_KINDS; i++)
		add_parts(&text, opened_words[i], &entry->opened[i]);
	return write_text(folder, "entry", &text) ? NULL : reason();
}

/* Removes an entry, which has no folders in it; of a link, only the link. */
static void remove_folder(const char *path)
{
	opk_autoclosedir DIR *folder = own_folder(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL)
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (rmdir(path) && errno == ENOTDIR)
		unlink(path);
}

/* Removes an older entry with that name: it may be damaged. */
static bool put_in_place(const char *from, const char *to)
{
	opk_autofree char *aside = opk_printf("%s-old", from);

	if (!rename(from, to))
		return true;
	if (!aside || (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
	    || rename(to, aside))
		return false;
	if (!rename(from, to)) {
		remove_folder(aside);
		return true;
	}
	return false;
}

/* The size of the files in a folder, and the entry's time of last use. */
static uint64_t weigh(struct timespec *used, const char *path)
{
	opk_autoclosedir DIR *folder = own_folder(path);
	struct dirent *entry;
	uint64_t size = 0;
	struct stat info;

	*used = (struct timespec){ 0 };
	while (folder && (entry = readdir(folder)) != NULL) {
		if (fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW)
		    || !S_ISREG(info.st_mode))
			continue;
		size += (uint64_t)info.st_size;
		if (!strcmp(entry->d_name, "entry"))
			*used = info.st_mtim;
	}
	return size;
}

/*
 * The size of all entries, which are folders of this user; *oldest, NULL before, becomes the least
 * recently used one, except `spared`.
 */
static uint64_t survey(char **oldest, const char *path, const char *spared)
{
	opk_autoclosedir DIR *folder = opendir(path);
	struct timespec first = { 0 }, used;
	struct dirent *entry;
	uint64_t size = 0;

	while (folder && (entry = readdir(folder)) != NULL) {
		opk_autofree char *name = is_hash(entry->d_name)
		                                  ? opk_printf("%s/%s", path, entry->d_name)
		                                  : NULL;

		if (!name || !is_own(name, S_IFDIR))
			continue;
		size += weigh(&used, name);
		if (strcmp(entry->d_name, spared) && (!*oldest || clock_is_before(used, first))) {
			free(*oldest);
			*oldest = opk_take(name);
			first = used;
		}
	}
	return size;
}

/* After how many days to remove a file or folder: remains of killed runs, lists of outputs. */
static int days_of(const char *name)
{
	const char *dash = strrchr(name, '-'), *dot = strrchr(name, '.');

	if (!strncmp(name, "new-", 4) || (dash && !strcmp(dash, "-old")))
		return 1;
	return dot && !strcmp(dot, ".outputs") ? 90 : 0;
}

/* Whether the run whose list of libraries this is still runs. */
static bool is_in_use(const char *path)
{
	opk_autoclose int fd = own_open(path, O_RDONLY);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

static void sweep(const char *path)
{
	enum { DAY = 24 * 60 * 60 };
	opk_autoclosedir DIR *folder = opendir(path);
	struct dirent *entry;
	struct stat info;

	while (folder && (entry = readdir(folder)) != NULL) {
		opk_autofree char *name = opk_printf("%s/%s", path, entry->d_name);
		int days = days_of(entry->d_name);

		if (!name || !days || lstat(name, &info) || info.st_uid != geteuid()
		    || info.st_mtim.tv_sec > time(NULL) - days * DAY)
			continue;
		if (S_ISDIR(info.st_mode))
			remove_folder(name);
		else if (!is_in_use(name))
			unlink(name);
	}
}

static void shrink(const char *folder, const char *spared, uint64_t limit)
{
	for (;;) {
		opk_autofree char *oldest = NULL, *aside = NULL;

		if (survey(&oldest, folder, spared) <= limit || !oldest)
			return;
		aside = opk_printf("%s-old", oldest);
		if (!aside || rename(oldest, aside))
			return;
		remove_folder(aside);
	}
}

const char *store_keep(const struct settings *settings, const char *hash,
                       const struct cache_entry *entry, const struct recordings *made)
{
	opk_autofree char *temporary = opk_printf("%s/new-XXXXXX", settings->cache);
	opk_autofree char *path = opk_printf("%s/%s", settings->cache, hash);
	const char *problem;
	struct timespec used;

	if (!temporary || !path)
		return "out of memory";
	if (!mkdtemp(temporary))
		return strerror(errno);
	problem = fill(temporary, entry, made);
	if (!problem && weigh(&used, temporary) > settings->cache_limit)
		problem = "it is larger than --cache-limit";
	else if (!problem && !put_in_place(temporary, path))
		problem = strerror(errno);
	if (problem)
		remove_folder(temporary);
	else
		shrink(settings->cache, hash, settings->cache_limit);
	sweep(settings->cache);
	return problem;
}

/* ---- differences ------------------------------------------------------------------------ */

static const struct key_part *find(const struct cache_key *key, const char *name, size_t from)
{
	for (size_t i = 0; i < key->count; i++) {
		const struct key_part *part = &key->items[(from + i) % key->count];

		if (!strcmp(part->name, name))
			return part;
	}
	return NULL;
}

/* Adds the names of parts of `a` that `b` lacks, or, unless `absent`, that differ in `b`. */
static bool add_differences(struct opk_strlist *names, const struct cache_key *a,
                            const struct cache_key *b, bool absent)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct key_part *other = find(b, a->items[i].name, i);

		if (!other || (!absent && strcmp(other->hash, a->items[i].hash)))
			if (!opk_strlist_add(names, a->items[i].name))
				return false;
	}
	return true;
}

static char *tell(const struct opk_strlist *names, const char *kept)
{
	enum { SHOWN = 5 };
	opk_autobuf struct opk_buf text = { 0 };

	for (size_t i = 0; i < names->count && i < SHOWN; i++)
		opk_buf_add_printf(&text, "%s%s", i ? ", " : "", names->items[i]);
	if (names->count > SHOWN)
		opk_buf_add_printf(&text, " and %zu more", names->count - SHOWN);
	opk_buf_add_printf(&text, " (against what was kept at %s)", kept);
	return opk_buf_take_text(&text);
}

char *store_nearest(const char *path, const struct cache_key *key)
{
	opk_autoclosedir DIR *folder = opendir(path);
	struct dirent *found;
	char *text = NULL;
	size_t least = SIZE_MAX;

	while (folder && (found = readdir(folder)) != NULL) {
		opk_autostrlist struct opk_strlist names = { 0 };
		opk_autoentry struct cache_entry entry = { 0 };

		if (!is_hash(found->d_name) || !store_read(&entry, path, found->d_name))
			continue;
		if (add_differences(&names, key, &entry.key, false)
		    && add_differences(&names, &entry.key, key, true) && names.count < least) {
			least = names.count;
			free(text);
			text = tell(&names, entry.kept);
		}
	}
	return text;
}
