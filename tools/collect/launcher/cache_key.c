/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists what a recording depends on, as hashes. */
#include "base/terminal.h"
#include "collect/launcher/cache.h"
#include "collect/launcher/launcher.h"

static struct key_part *add(struct cache_key *key, char *name)
{
	struct key_part *part = name ? opk_list_add(key) : NULL;

	if (!part) {
		free(name);
		say(0, "out of memory");
		return NULL;
	}
	/* A name is one line of a file. */
	opk_terminal_defuse(name);
	part->name = name;
	return part;
}

/* Takes the name over. An unset variable differs from an empty one. */
static int add_text(struct cache_key *key, char *name, const char *text)
{
	struct key_part *part = add(key, name);
	struct opk_sha256 hash;

	if (!part)
		return OPK_EFAILED;
	opk_sha256_begin(&hash);
	opk_sha256_add(&hash, text ? "=" : "", text != NULL);
	opk_sha256_add(&hash, text ? text : "", text ? strlen(text) : 0);
	opk_sha256_end(&hash, part->hash);
	return OPK_OK;
}

bool key_add_hash(struct cache_key *key, const char *name, const char *hash)
{
	struct key_part *part = add(key, opk_strdup(name));

	if (part)
		snprintf(part->hash, sizeof part->hash, "%s", hash);
	return part != NULL;
}

/* False with errno set. */
static bool read_part(struct key_part *part)
{
	opk_autoclose int fd = open(part->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &part->seen))
		return false;
	errno = EINVAL;
	return S_ISREG(part->seen.st_mode) && opk_sha256_file(part->hash, fd);
}

/* Takes the name over. */
static int add_file(struct cache_key *key, char *name, const char *path, unsigned argument)
{
	struct key_part *part = add(key, name);

	if (!part)
		return OPK_EFAILED;
	part->path = opk_strdup(path);
	part->argument = argument;
	if (part->path && read_part(part))
		return OPK_OK;
	return say(OPK_EFAILED, "%s: %s", path, strerror(errno));
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool is_as_seen(const struct stat *now, const struct stat *seen)
{
	return now->st_dev == seen->st_dev && now->st_ino == seen->st_ino
	       && now->st_size == seen->st_size && is_same_time(now->st_mtim, seen->st_mtim);
}

bool key_part_changed(const struct key_part *part)
{
	struct key_part now = { .path = part->path };

	if (!stat(part->path, &now.seen) && is_as_seen(&now.seen, &part->seen)
	    && is_same_time(now.seen.st_ctim, part->seen.st_ctim))
		return false;
	return !read_part(&now) || strcmp(now.hash, part->hash);
}

/* ---- offpeak-collect, its set and its options */

static int add_own_files(struct cache_key *key, const struct settings *settings)
{
	opk_autofree char *library = launcher_library();

	if (!library)
		return OPK_EFAILED;
	TRY(add_file(key, opk_strdup("offpeak's library"), library, 0));
	TRY(add_file(key, opk_strdup("offpeak-collect"), "/proc/self/exe", 0));
	TRY(add_text(key, opk_strdup("offpeak's version"), opk_version()));
	return settings->set_path ? add_file(key, opk_strdup("set"), settings->set_path, 0)
	                          : OPK_OK;
}

static int add_settings(struct cache_key *key)
{
	for (size_t i = 0; i < SETTINGS_TOTAL; i++) {
		const struct setting *row = &settings_table[i];
		const char *text = getenv(row->variable);

		if (!(row->uses & NOT_KEYED) && text)
			TRY(add_text(key, opk_printf("option --%s", row->name), text));
	}
	return OPK_OK;
}

/* ---- the program */

static int add_program(struct cache_key *key, const char *program)
{
	opk_autostrlist struct opk_strlist names = { 0 };

	TRY(program_files(&names, program));
	for (size_t i = 0; i < names.count; i++)
		TRY(add_file(key,
		             opk_printf("%s %s", i ? "library or interpreter" : "program",
		                        names.items[i]),
		             names.items[i], 0));
	return OPK_OK;
}

/* A pipe's contents can't be known beforehand; terminals and /dev/null have none. */
static int add_stdin(struct cache_key *key)
{
	struct stat info;
	char offset[24];

	if (fstat(STDIN_FILENO, &info) || S_ISCHR(info.st_mode) || S_ISDIR(info.st_mode))
		return OPK_OK;
	if (!S_ISREG(info.st_mode))
		return say(OPK_EFAILED,
		           "note: stdin is a pipe, and what comes from it is not known: say "
		           "</dev/null or <FILE");
	snprintf(offset, sizeof offset, "%jd", (intmax_t)lseek(STDIN_FILENO, 0, SEEK_CUR));
	TRY(add_text(key, opk_strdup("stdin's offset"), offset));
	/* Open it anew, so that the program's offset stays. */
	return add_file(key, opk_strdup("stdin"), "/proc/self/fd/0", 0);
}

static int add_directory(struct cache_key *key)
{
	char folder[PATH_MAX];

	if (!getcwd(folder, sizeof folder))
		return say(OPK_EFAILED, "the current folder: %s", strerror(errno));
	return add_text(key, opk_strdup("current folder"), folder);
}

const char *key_argument_file(const char *argument)
{
	const char *value = strchr(argument, '=');
	struct stat info;

	if (!stat(argument, &info))
		return S_ISREG(info.st_mode) ? argument : NULL;
	return value && !stat(value + 1, &info) && S_ISREG(info.st_mode) ? value + 1 : NULL;
}

static int add_arguments(struct cache_key *key, char **program)
{
	for (unsigned i = 0; program[i]; i++) {
		const char *file = i ? key_argument_file(program[i]) : NULL;

		TRY(add_text(key, opk_printf("argument %u", i), program[i]));
		if (file)
			TRY(add_file(key, opk_printf("file %s", file), file, i));
	}
	return OPK_OK;
}

/* ---- other dependencies */

static int add_variables(struct cache_key *key, const struct settings *settings)
{
	static const char *const always[] = { RECORDED_VARIABLES, "LD_LIBRARY_PATH", "LD_PRELOAD" };
	opk_autofree char *chosen = opk_strdup(settings->cache_env ? settings->cache_env : "");
	char *rest = chosen, *name;

	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		/* The number differs for each job. */
		if (strcmp(always[i], "SLURM_JOB_ID"))
			TRY(add_text(key, opk_printf("variable %s", always[i]), getenv(always[i])));
	}
	while ((name = strsep(&rest, "\n")) != NULL) {
		if (*name)
			TRY(add_text(key, opk_printf("variable %s", name), getenv(name)));
	}
	return OPK_OK;
}

/* Adds lines NAME<tab>VALUE; libcupti is a file. */
static int add_gpus(struct cache_key *key, const char *facts)
{
	opk_autofree char *text = opk_strdup(facts);
	char *rest = text, *name;

	while ((name = strsep(&rest, "\n")) != NULL) {
		char *value = strchr(name, '\t');

		if (!value)
			continue;
		*value++ = '\0';
		TRY(strcmp(name, "cupti") ? add_text(key, opk_strdup(name), value)
		                          : add_file(key, opk_strdup("libcupti"), value, 0));
	}
	return OPK_OK;
}

/* Hidden files belong to editors and git; Python writes __pycache__ as it runs. */
static int is_input(const struct dirent *entry)
{
	return *entry->d_name != '.' && strcmp(entry->d_name, "__pycache__");
}

/* Where to look for inputs, except recordings of runs and the cache itself. */
struct inputs {
	struct cache_key *key;
	const char *output, *cache;
};

static bool is_ours(const struct inputs *inputs, const char *path)
{
	opk_autofree char *real = realpath(path, NULL);
	opk_autofree char *suffix = real ? recording_suffix(real, inputs->output) : NULL;

	return suffix || opk_is_same_file(path, inputs->cache);
}

static int add_input(const struct inputs *inputs, const char *path, bool named);

static int add_folder(const struct inputs *inputs, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_input, alphasort), code = OPK_OK;

	if (count < 0)
		return say(OPK_EFAILED, "%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		opk_autofree char *name = opk_printf("%s/%s", path, entries[i]->d_name);

		if (!code && name && !is_ours(inputs, name))
			code = add_input(inputs, name, false);
		code = name ? code : OPK_ENOMEM;
		free(entries[i]);
	}
	free(entries);
	return code;
}

/* Adds a link's text, and the file that it leads to; folders behind links are not searched. */
static int add_link(const struct inputs *inputs, const char *path)
{
	char target[PATH_MAX];
	ssize_t length = readlink(path, target, sizeof target - 1);
	struct stat info;

	if (length < 0)
		return say(OPK_EFAILED, "%s: %s", path, strerror(errno));
	target[length] = '\0';
	TRY(add_text(inputs->key, opk_printf("input %s, a link", path), target));
	return stat(path, &info) || !S_ISREG(info.st_mode)
	               ? OPK_OK
	               : add_file(inputs->key, opk_printf("input %s", path), path, 0);
}

/* Below the named folder, only files, folders and links count. */
static int add_input(const struct inputs *inputs, const char *path, bool named)
{
	struct stat info;

	if (named ? stat(path, &info) : lstat(path, &info))
		return say(named ? OPK_EUSAGE : OPK_EFAILED, "--cache-input %s: %s", path,
		           strerror(errno));
	if (S_ISDIR(info.st_mode))
		return add_folder(inputs, path);
	if (S_ISREG(info.st_mode))
		return add_file(inputs->key, opk_printf("input %s", path), path, 0);
	if (S_ISLNK(info.st_mode))
		return add_link(inputs, path);
	return named ? say(OPK_EUSAGE, "--cache-input %s: neither a file nor a folder", path)
	             : OPK_OK;
}

static int add_inputs(const struct inputs *inputs, const char *lines)
{
	opk_autofree char *text = opk_strdup(lines ? lines : "");
	char *rest = text, *path;

	while ((path = strsep(&rest, "\n")) != NULL) {
		if (*path)
			TRY(add_input(inputs, path, true));
	}
	return OPK_OK;
}

int key_make(struct cache_key *key, const struct settings *settings, char **program,
             const char *gpus, const char *output)
{
	TRY(add_inputs(&(struct inputs){ key, output, settings->cache }, settings->cache_inputs));
	TRY(add_own_files(key, settings));
	TRY(add_settings(key));
	TRY(add_program(key, *program));
	TRY(add_directory(key));
	TRY(add_stdin(key));
	TRY(add_arguments(key, program));
	TRY(add_variables(key, settings));
	return add_gpus(key, gpus);
}

/* The name of a part to list; NULL: parts of offpeak and the GPU, and libraries. */
static const char *listed(const struct key_part *part)
{
	static const char *const known[] = { "program ", "file ", "input ", "stdin", "variable " };
	static const char variable[] = "variable ";

	if (!strncmp(part->name, variable, strlen(variable))
	    && !getenv(part->name + strlen(variable)))
		return NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strncmp(part->name, known[i], strlen(known[i])))
			return part->name;
	return NULL;
}

char *key_list(const struct cache_key *key)
{
	enum { MOST_TEXT = 4000 };
	opk_autobuf struct opk_buf text = { 0 };
	size_t more = 0, libraries = 0;

	for (size_t i = 0; i < key->count; i++) {
		const char *name = listed(&key->items[i]);

		libraries += !strncmp(key->items[i].name, "library", strlen("library"));
		if (name && text.size < MOST_TEXT)
			opk_buf_add_printf(&text, "%s%s", text.size ? ", " : "", name);
		else
			more += name != NULL;
	}
	if (more)
		opk_buf_add_printf(&text, " and %zu more", more);
	opk_buf_add_printf(&text, "; %zu %s", libraries,
	                   libraries == 1 ? "library or interpreter"
	                                  : "libraries and interpreters");
	return opk_buf_take_text(&text);
}

void key_clear(struct cache_key *key)
{
	for (size_t i = 0; i < key->count; i++) {
		free(key->items[i].name);
		free(key->items[i].path);
	}
	free(key->items);
	*key = (struct cache_key){ 0 };
}

void key_hash(char out[OPK_SHA256_TEXT], const struct cache_key *key, bool files)
{
	struct opk_sha256 hash;

	opk_sha256_begin(&hash);
	for (size_t i = 0; i < key->count; i++) {
		const struct key_part *part = &key->items[i];

		if (part->argument && !files)
			continue;
		opk_sha256_add(&hash, part->name, strlen(part->name) + 1);
		opk_sha256_add(&hash, part->hash, sizeof part->hash);
	}
	opk_sha256_end(&hash, out);
}
