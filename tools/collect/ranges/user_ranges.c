/* SPDX-License-Identifier: BSD-2-Clause */
/* The ranges of each thread, by domain, and their paths; and ranges of the whole process. */
#include "collect/ranges/ranges.h"

enum { MAX_PATH_SIZE = 4096 };

struct nests {
	struct user_nest **list; /* sorted by domain */
	size_t count, capacity;
	char path[MAX_PATH_SIZE]; /* the last requested path */
};

/* Allocated at a thread's first push. */
static __thread struct nests *nests;
static pthread_key_t nests_key; /* frees them when the thread ends */
static pthread_once_t nests_once = PTHREAD_ONCE_INIT;
static const struct range_listener *listener;

void ranges_listen(const struct range_listener *wanted)
{
	__atomic_store_n(&listener, wanted, __ATOMIC_RELEASE);
}

/* The listener; without one, a listener that does nothing. */
static const struct range_listener *hearer(void)
{
	static const struct range_listener deaf = { 0 };
	const struct range_listener *to = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);

	return to ? to : &deaf;
}

/* A thread that ends takes its open ranges with it. */
static void end_nests(void *ended)
{
	nests = ended;
	for (size_t i = 0; i < nests->count; i++) {
		struct user_nest *nest = nests->list[i];

		nest->beyond = 0;
		while (nest->count)
			user_range_pop(nest->domain);
		free(nest->domain);
		free(nest);
	}
	free(nests->list);
	free(nests);
	nests = NULL;
}

static void make_key(void)
{
	pthread_key_create(&nests_key, end_nests);
}

static bool begin_nests(void)
{
	if (nests)
		return true;
	pthread_once(&nests_once, make_key);
	nests = calloc(1, sizeof *nests);
	if (nests)
		pthread_setspecific(nests_key, nests);
	return nests != NULL;
}

/* The domain's nest, or NULL; *at becomes its place in the list. */
static struct user_nest *find(size_t *at, const char *domain)
{
	for (*at = 0; nests && *at < nests->count; ++*at) {
		int order = strcmp(nests->list[*at]->domain, domain);

		if (order >= 0)
			return order ? NULL : nests->list[*at];
	}
	return NULL;
}

static struct user_nest *make(size_t at, const char *domain)
{
	opk_autofree struct user_nest *nest = opk_alloc(sizeof *nest);
	opk_autofree char *name = opk_strdup(domain);

	if (!nest || !name
	    || !opk_grow(&nests->list, &nests->capacity, nests->count, sizeof(void *)))
		return NULL;
	nest->domain = opk_take(name);
	memmove(&nests->list[at + 1], &nests->list[at], (nests->count++ - at) * sizeof(void *));
	return nests->list[at] = opk_take(nest);
}

static struct user_nest *find_or_make(const char *domain)
{
	struct user_nest *nest;
	size_t at;

	if (!begin_nests())
		return NULL;
	nest = find(&at, domain);
	return nest ? nest : make(at, domain);
}

int user_range_push(const char *domain, const char *name)
{
	const struct range_listener *to = hearer();
	struct user_nest *nest = find_or_make(domain);
	struct user_range *range;

	if (!nest)
		return -1;
	if (nest->count == USER_RANGE_DEPTH) {
		nest->beyond++;
		return -1;
	}
	range = &nest->ranges[nest->count];
	*range = (struct user_range){ nest->domain, strdup(name), clock_host_ns() };
	if (!range->name)
		return -1;
	nest->count++;
	if (to->pushed)
		to->pushed(nest);
	return (int)nest->count - 1;
}

int user_range_pop(const char *domain)
{
	const struct range_listener *to = hearer();
	size_t at;
	struct user_nest *nest = find(&at, domain);

	if (!nest)
		return -1;
	if (nest->beyond) {
		nest->beyond--;
		return USER_RANGE_DEPTH;
	}
	if (!nest->count)
		return -1;
	if (to->popping)
		to->popping(nest);
	free(nest->ranges[--nest->count].name);
	return (int)nest->count;
}

struct user_nest *const *user_nests(size_t *count)
{
	*count = nests ? nests->count : 0;
	return nests ? nests->list : NULL;
}

/* Cuts a path that is too long. */
static char *put(char *at, const char *end, const char *text, const char *escaped)
{
	for (; *text && at + 2 < end; text++) {
		if (strchr(escaped, *text))
			*at++ = '\\';
		*at++ = *text;
	}
	return at;
}

static char *put_range(char *at, const char *end, const struct user_range *range)
{
	at = put(at, end, range->domain, "/\\@");
	at = put(at, end, *range->domain ? "@" : "", "");
	return put(at, end, range->name, "/\\");
}

char *user_range_text(const struct user_range *range)
{
	size_t size = 2 * (strlen(range->domain) + strlen(range->name)) + 4;
	char *text = malloc(size);

	if (text)
		*put_range(text, text + size, range) = '\0';
	return text;
}

/* *any: names were put before these, maybe empty ones. */
static char *put_nest(char *at, const char *end, bool *any, const struct user_nest *nest)
{
	for (size_t i = 0; i < nest->count; i++) {
		at = put(at, end, *any ? "/" : "", "");
		at = put_range(at, end, &nest->ranges[i]);
		*any = true;
	}
	return at;
}

const char *user_nest_path(const struct user_nest *nest)
{
	bool any = false;

	*put_nest(nests->path, nests->path + MAX_PATH_SIZE, &any, nest) = '\0';
	return nests->path;
}

const char *user_range_path(void)
{
	char *at = nests ? nests->path : NULL;
	bool any = false;

	if (!nests)
		return "";
	for (size_t i = 0; i < nests->count; i++)
		at = put_nest(at, nests->path + MAX_PATH_SIZE, &any, nests->list[i]);
	*at = '\0';
	return nests->path;
}

/* ---- ranges of the whole process, which overlap freely: open ones, by their ids ------------ */

struct started {
	uint64_t id;
	struct user_range range;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static OPK_LIST(struct started) open_ranges;
static uint64_t last_id;

static void hold(void)
{
	pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

/* When the process forks, no other thread may have the lock, or be changing the list. */
static void mind_forks(void)
{
	pthread_atfork(hold, unlock, unlock);
}

static void lock(void)
{
	pthread_once(&once, mind_forks);
	hold();
}

/* The id of the range, or 0 if memory is out. */
static uint64_t add(const struct user_range *range)
{
	struct started started = {
		.range = { .domain = strdup(range->domain),
		           .name = strdup(range->name),
		           .begun_ns = clock_host_ns() },
	};
	struct started *room;

	lock();
	room = started.range.domain && started.range.name ? opk_list_add(&open_ranges) : NULL;
	if (room) {
		started.id = ++last_id;
		*room = started;
	}
	unlock();
	if (!started.id) {
		free(started.range.domain);
		free(started.range.name);
	}
	return started.id;
}

uint64_t started_range_begin(const char *domain, const char *name)
{
	const struct range_listener *to = hearer();
	struct user_range range = { .domain = (char *)domain, .name = (char *)name };
	uint64_t id = add(&range);

	if (to->started && id)
		to->started(id, &range);
	return id;
}

void started_range_end(uint64_t id)
{
	const struct range_listener *to = hearer();
	struct started ended = { 0 };

	lock();
	for (size_t i = 0; i < open_ranges.count; i++) {
		if (open_ranges.items[i].id != id)
			continue;
		ended = open_ranges.items[i];
		open_ranges.items[i] = open_ranges.items[--open_ranges.count];
		break;
	}
	unlock();
	if (to->ended && ended.id)
		to->ended(id, &ended.range);
	free(ended.range.domain);
	free(ended.range.name);
}

bool started_range_match(const struct nvtx_filter *filter)
{
	bool found = false;

	lock();
	for (size_t i = 0; i < open_ranges.count && !found; i++)
		found = nvtx_filter_match_started(filter, &open_ranges.items[i].range);
	unlock();
	return found;
}

/* ---- offpeak_range.h ----------------------------------------------------------------------- */

EXPORT void offpeak_collect_push(const char *name)
{
	user_range_push("", name);
}

EXPORT void offpeak_collect_pop(void)
{
	user_range_pop("");
}
