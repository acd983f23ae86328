/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's own ranges: their stacks, NVTX's calls onto them, and the filter over them. And its
 * forks, and threads that are not its own.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "collect/ranges/nvtx_abi.h"
#include "collect/shared/shared.h"
#include "collect/ranges/ranges.h"
#include "testing.h"

DEFINE_FREED(nvtx_filter)

/* ---- stacks ----------------------------------------------------------------------------- */

/* Words in order: "+NAME", "+DOMAIN@NAME", "-", "-DOMAIN@"; the result, and the path. */
static const struct {
	struct here here;
	const char *words[8];
	int returned; /* by the last word */
	size_t count;
	const char *path;
} stack_rows[] = {
	{ HERE, { NULL }, 0, 0, "" },
	{ HERE, { "+a" }, 0, 1, "a" },
	{ HERE, { "+a", "+b" }, 1, 2, "a/b" },
	{ HERE, { "+a", "+b", "-" }, 1, 1, "a" },
	{ HERE, { "+a", "+b", "-", "-" }, 0, 0, "" },
	{ HERE, { "+a", "-", "-" }, -1, 0, "" },
	{ HERE, { "-" }, -1, 0, "" },
	{ HERE, { "-d@" }, -1, 0, "" },
	{ HERE, { "+a", "-d@" }, -1, 1, "a" },
	{ HERE, { "+d@a", "-" }, -1, 1, "d@a" },
	{ HERE, { "+" }, 0, 1, "" },
	{ HERE, { "+", "+b" }, 1, 2, "/b" },
	/* Each domain has its own levels, and the default one comes first. */
	{ HERE, { "+a", "+d@b", "+e@c" }, 0, 3, "a/d@b/e@c" },
	{ HERE, { "+N@init", "+step", "+forward" }, 1, 3, "step/forward/N@init" },
	{ HERE, { "+e@c", "+a", "+d@b", "+e@x", "+b" }, 1, 5, "a/b/d@b/e@c/e@x" },
	/* Separators inside names are escaped. */
	{ HERE, { "+a/b" }, 0, 1, "a\\/b" },
	{ HERE, { "+a\\", "+b" }, 1, 2, "a\\\\/b" },
	{ HERE, { "+/@b" }, 0, 1, "\\/@b" },
	/* Domains end in any order. */
	{ HERE, { "+d@a", "+e@b", "-d@" }, 0, 1, "e@b" },
	{ HERE, { "+a", "+d@x/y", "+b", "-d@" }, 0, 2, "a/b" },
	{ HERE, { "+a", "+d@x", "+b", "-d@", "-" }, 1, 1, "a" },
	{ HERE, { "+d@a", "+e@b", "+d@c", "-d@", "-d@" }, 0, 1, "e@b" },
};

static int do_word(const char *word)
{
	char domain[64] = "", *at;
	const char *name = word + 1;

	if (*name != '/' && (at = strchr(name, '@')) != NULL) {
		snprintf(domain, sizeof domain, "%.*s", (int)(at - name), name);
		name = at + 1;
	}
	return *word == '+' ? user_range_push(domain, name) : user_range_pop(domain);
}

/* The ranges of all domains. */
static size_t count_ranges(void)
{
	struct user_nest *const *nests;
	size_t count, ranges = 0;

	nests = user_nests(&count);
	for (size_t i = 0; i < count; i++)
		ranges += nests[i]->count;
	return ranges;
}

static void empty_stack(void)
{
	struct user_nest *const *nests;
	size_t count;

	nests = user_nests(&count);
	for (size_t i = 0; i < count; i++)
		while (nests[i]->count)
			user_range_pop(nests[i]->domain);
}

/* The first range of the thread. */
static const struct user_range *first_range(const char *domain)
{
	struct user_nest *const *nests;
	size_t count;

	nests = user_nests(&count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(nests[i]->domain, domain))
			return nests[i]->ranges;
	return NULL;
}

TEST(stacks)
{
	for (size_t i = 0; i < COUNT(stack_rows); i++) {
		const char *const *word = stack_rows[i].words;
		size_t count;
		int returned = 0;

		for (; *word; word++)
			returned = do_word(*word);
		count = count_ranges();
		ck_row(&stack_rows[i], returned == stack_rows[i].returned, "returned %d", returned);
		ck_row(&stack_rows[i], count == stack_rows[i].count, "%zu ranges", count);
		ck_row(&stack_rows[i], !strcmp(user_range_path(), stack_rows[i].path), "path %s",
		       user_range_path());
		empty_stack();
	}
}

TEST(names_are_copied)
{
	char domain[] = "d", name[] = "n";

	user_range_push(domain, name);
	domain[0] = name[0] = 'x';
	ck_assert_uint_eq(count_ranges(), 1);
	ck_assert_str_eq(first_range("d")->domain, "d");
	ck_assert_str_eq(first_range("d")->name, "n");
	empty_stack();
}

static size_t allocations;

static void *counting(void *old, size_t size)
{
	allocations++;
	return realloc(old, size);
}

/* A domain's nest is allocated with its first range in the thread. */
TEST(nests_are_kept)
{
	opk_set_realloc(counting);
	ck_assert_int_eq(user_range_push("d", "n"), 0);
	ck_assert_uint_ge(allocations, 2);
	allocations = 0;
	ck_assert_int_eq(user_range_push("d", "n"), 1);
	empty_stack();
	ck_assert_int_eq(user_range_push("d", "n"), 0);
	ck_assert_uint_eq(allocations, 0);
	empty_stack();
	opk_set_realloc(NULL);
}

/* Below the maximum depth ranges are only counted, and pops still match. */
TEST(deeper_than_the_stack)
{
	for (int i = 0; i < USER_RANGE_DEPTH; i++)
		ck_assert_int_eq(user_range_push("", "x"), i);
	for (int i = 0; i < 10; i++)
		ck_assert_int_lt(user_range_push("", "beyond"), 0);
	ck_assert_uint_eq(count_ranges(), USER_RANGE_DEPTH);
	/* Other domains still have room. */
	ck_assert_int_eq(user_range_push("d", "x"), 0);
	ck_assert_int_eq(user_range_pop("d"), 0);
	ck_assert_ptr_null(strstr(user_range_path(), "beyond"));
	for (int i = 0; i < 10; i++)
		ck_assert_int_ge(user_range_pop(""), 0);
	for (int i = USER_RANGE_DEPTH; i-- > 0;)
		ck_assert_int_eq(user_range_pop(""), i);
	ck_assert_int_eq(user_range_pop(""), -1);
	ck_assert_int_eq(user_range_push("", "again"), 0);
	ck_assert_str_eq(user_range_path(), "again");
	empty_stack();
}

/* A path that is too long is cut; names themselves are not. */
TEST(long_names)
{
	static char name[6000];
	size_t length;

	memset(name, '/', sizeof name - 1);
	user_range_push("", "outer");
	user_range_push("", name);
	length = strlen(user_range_path());
	ck_assert_uint_gt(length, 4000);
	ck_assert_uint_lt(length, 4200);
	/* The cut is not inside an escape. */
	ck_assert_int_eq(user_range_path()[length - 1], '/');
	ck_assert_uint_eq(strlen(first_range("")[1].name), sizeof name - 1);
	user_range_push("", "inner");
	ck_assert_uint_lt(strlen(user_range_path()), 4200);
	user_range_pop("");
	user_range_pop("");
	ck_assert_str_eq(user_range_path(), "outer");
	empty_stack();
}

/* ---- listeners -------------------------------------------------------------------------- */

static char heard[256];

static void hear(const char *what, const struct user_nest *nest)
{
	size_t used = strlen(heard);

	snprintf(heard + used, sizeof heard - used, "%s%zu:%s ", what, nest->count,
	         user_nest_path(nest));
}

static void pushed(struct user_nest *nest)
{
	hear("+", nest);
}

static void popping(struct user_nest *nest)
{
	hear("-", nest);
}

static const struct range_listener listener = { .pushed = pushed, .popping = popping };

TEST(listeners)
{
	user_range_push("", "before");
	ranges_listen(&listener);
	do_word("+a");
	do_word("+d@b");
	do_word("-");
	do_word("-");
	do_word("-");
	do_word("-d@");
	ranges_listen(NULL);
	do_word("+unheard");
	empty_stack();
	ck_assert_str_eq(heard, "+2:before/a +1:d@b -2:before/a -1:before -1:d@b ");
}

TEST(own_header)
{
	offpeak_collect_push("step");
	ck_assert_str_eq(user_range_path(), "step");
	offpeak_collect_pop();
	ck_assert_str_eq(user_range_path(), "");
}

/* ---- threads ---------------------------------------------------------------------------- */

static pthread_barrier_t barrier;

/* Never returns, so that a leak checker does not report its stack. */
static void *other_thread(void *path)
{
	size_t count = count_ranges();

	user_range_push("", "other");
	snprintf(path, 64, "%zu %s", count, user_range_path());
	pthread_barrier_wait(&barrier);
	pause();
	return NULL;
}

TEST(threads_have_their_own)
{
	static char path[64];
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	user_range_push("", "mine");
	ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, path), 0);
	pthread_barrier_wait(&barrier);
	ck_assert_str_eq(path, "0 other");
	ck_assert_str_eq(user_range_path(), "mine");
	empty_stack();
}

/* ---- NVTX ------------------------------------------------------------------------------- */

enum { TABLE_SIZE = 16 };

/* The program's side of NVTX: slots that the tool fills, and tables of their addresses. */
static nvtx_function core[TABLE_SIZE], core2[TABLE_SIZE];
static nvtx_function *core_slots[TABLE_SIZE + 1], *core2_slots[TABLE_SIZE + 1];
static unsigned table_size;

static int get_module_table(int module, nvtx_function ***table, unsigned *size)
{
	*table = module == NVTX_MODULE_CORE ? core_slots : core2_slots;
	*size = table_size;
	return module == NVTX_MODULE_CORE || module == NVTX_MODULE_CORE2;
}

static struct nvtx_callbacks callbacks;

static const void *get_table(uint32_t id)
{
	return id == NVTX_TABLE_CALLBACKS && callbacks.size ? &callbacks : NULL;
}

static int initialize(unsigned size)
{
	for (size_t i = 0; i < TABLE_SIZE; i++) {
		core[i] = core2[i] = NULL;
		core_slots[i] = &core[i];
		core2_slots[i] = &core2[i];
	}
	table_size = size;
	callbacks = (struct nvtx_callbacks){ sizeof callbacks, get_module_table };
	return InitializeInjectionNvtx2(get_table);
}

/* Calls the tool's functions as NVTX's header does. */
#define CALL(table, id, result, ...) ((result(*)(__VA_ARGS__))(void *)(table)[id])

static int push_event(const char *domain, int type, const void *message)
{
	struct nvtx_attributes event = { .version = 3, .size = sizeof event, .message_type = type };

	event.message.registered = message;
	if (domain)
		return CALL(core2, NVTX_CORE2_RANGE_PUSH_EX, int, const void *,
		            const struct nvtx_attributes *)(domain, &event);
	return CALL(core, NVTX_CORE_RANGE_PUSH_EX, int, const struct nvtx_attributes *)(&event);
}

TEST(nvtx_fills_tables)
{
	static const unsigned filled[] = { 4, 5, 6, 7, 8, 9, 10, 11 },
			      filled2[] = { 2, 3, 4, 5, 10, 11, 12, 13, 14 };
	size_t count = 0, count2 = 0;

	ck_assert_int_eq(initialize(TABLE_SIZE), 1);
	for (size_t i = 0; i < COUNT(filled); i++)
		ck_assert_ptr_nonnull((void *)core[filled[i]]);
	for (size_t i = 0; i < COUNT(filled2); i++)
		ck_assert_ptr_nonnull((void *)core2[filled2[i]]);
	for (size_t i = 0; i < TABLE_SIZE; i++) {
		count += core[i] != NULL;
		count2 += core2[i] != NULL;
	}
	ck_assert_uint_eq(count, COUNT(filled));
	ck_assert_uint_eq(count2, COUNT(filled2));
	/* An older NVTX has shorter tables. */
	ck_assert_int_eq(initialize(10), 1);
	ck_assert_ptr_nonnull((void *)core[9]);
	ck_assert_ptr_null((void *)core[10]);
	callbacks.size = sizeof callbacks - 1;
	ck_assert_int_eq(InitializeInjectionNvtx2(get_table), 0);
	callbacks.size = 0;
	ck_assert_int_eq(InitializeInjectionNvtx2(get_table), 0);
}

TEST(nvtx_default_domain)
{
	initialize(TABLE_SIZE);
	ck_assert_int_eq(CALL(core, NVTX_CORE_RANGE_PUSH_A, int, const char *)("ascii"), 0);
	ck_assert_int_eq(CALL(core, NVTX_CORE_RANGE_PUSH_W, int,
	                      const wchar_t *)(L"w\u00e9\u20ac\U0001f600"),
	                 1);
	ck_assert_str_eq(user_range_path(), "ascii/w\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	ck_assert_int_eq(push_event(NULL, NVTX_MESSAGE_ASCII, "event"), 2);
	ck_assert_int_eq(push_event(NULL, NVTX_MESSAGE_WIDE, L"wide"), 3);
	ck_assert_int_eq(push_event(NULL, NVTX_MESSAGE_ASCII, NULL), 4);
	ck_assert_ptr_nonnull(strstr(user_range_path(), "/event/wide/"));
	for (int i = 4; i >= -1; i--)
		ck_assert_int_eq(CALL(core, NVTX_CORE_RANGE_POP, int, void)(), i);
	CALL(core, NVTX_CORE_RANGE_PUSH_A, int, const char *)(NULL);
	CALL(core, NVTX_CORE_RANGE_PUSH_W, int, const wchar_t *)(NULL);
	CALL(core, NVTX_CORE_RANGE_PUSH_EX, int, const void *)(NULL);
	ck_assert_str_eq(user_range_path(), "//");
	empty_stack();
}

TEST(nvtx_domains)
{
	char *a, *w, *string, *wide_string;

	initialize(TABLE_SIZE);
	a = CALL(core2, NVTX_CORE2_DOMAIN_CREATE_A, char *, const char *)("lib");
	w = CALL(core2, NVTX_CORE2_DOMAIN_CREATE_W, char *, const wchar_t *)(L"\u00e9");
	string = CALL(core2, NVTX_CORE2_REGISTER_STRING_A, char *, const char *,
	              const char *)(a, "reg");
	wide_string = CALL(core2, NVTX_CORE2_REGISTER_STRING_W, char *, const char *,
	                   const wchar_t *)(a, L"wreg");
	push_event(a, NVTX_MESSAGE_REGISTERED, string);
	push_event(w, NVTX_MESSAGE_REGISTERED, wide_string);
	push_event(a, NVTX_MESSAGE_ASCII, "x");
	ck_assert_str_eq(user_range_path(), "lib@reg/lib@x/\xc3\xa9@wreg");
	ck_assert_int_eq(CALL(core2, NVTX_CORE2_RANGE_POP, int, const char *)(w), 0);
	/* A domain may be destroyed before its ranges end. */
	CALL(core2, NVTX_CORE2_DOMAIN_DESTROY, void, char *)(w);
	ck_assert_str_eq(user_range_path(), "lib@reg/lib@x");
	ck_assert_int_eq(CALL(core2, NVTX_CORE2_RANGE_POP, int, const char *)(a), 1);
	/* NULL is the default domain. */
	CALL(core2, NVTX_CORE2_RANGE_PUSH_EX, int, const char *, const void *)(NULL, NULL);
	ck_assert_str_eq(user_range_path(), "/lib@reg");
	ck_assert_int_eq(CALL(core2, NVTX_CORE2_RANGE_POP, int, const char *)(NULL), 0);
	CALL(core2, NVTX_CORE2_DOMAIN_DESTROY, void, char *)(a);
	ck_assert_str_eq(user_range_path(), "lib@reg");
	empty_stack();
	free(string);
	free(wide_string);
}

/* NCCL pushes a range with the domain's function, and ends it with the extension's. */
TEST(nvtx_payloads)
{
	nvtx_function slots[8] = { 0 };
	struct nvtx_segment segment = { .slot_count = COUNT(slots), .slots = slots };
	struct nvtx_extension extension = { .version = 3,
		                            .size = sizeof extension,
		                            .id = NVTX_EXTENSION_PAYLOAD,
		                            .segment_count = 1,
		                            .segments = &segment };
	uint64_t id;

	initialize(TABLE_SIZE);
	ck_assert_int_eq(InitializeInjectionNvtxExtension(&extension), 1);
	ck_assert(!slots[2] && !slots[7]);
	push_event("NCCL", NVTX_MESSAGE_ASCII, "init");
	ck_assert_int_eq(CALL(slots, NVTX_PAYLOAD_RANGE_PUSH, int, const char *, const void *,
	                      size_t)("NCCL", NULL, 0),
	                 1);
	ck_assert_str_eq(user_range_path(), "NCCL@init/NCCL@");
	for (int i = 1; i >= -1; i--)
		ck_assert_int_eq(CALL(slots, NVTX_PAYLOAD_RANGE_POP, int, const char *,
		                      const void *, size_t)("NCCL", NULL, 0),
		                 i);
	id = CALL(slots, NVTX_PAYLOAD_RANGE_START, uint64_t, const char *, const void *,
	          size_t)("NCCL", NULL, 0);
	ck_assert_uint_gt(id, 0);
	CALL(slots, NVTX_PAYLOAD_RANGE_END, void, const char *, uint64_t, const void *, size_t)
	("NCCL", id, NULL, 0);
	/* An earlier version has fewer functions, and other extensions have others. */
	segment.slot_count = NVTX_PAYLOAD_RANGE_POP;
	memset(slots, 0, sizeof slots);
	ck_assert_int_eq(InitializeInjectionNvtxExtension(&extension), 1);
	ck_assert(slots[NVTX_PAYLOAD_RANGE_PUSH] && !slots[NVTX_PAYLOAD_RANGE_POP]);
	extension.id = 1;
	slots[NVTX_PAYLOAD_RANGE_PUSH] = NULL;
	ck_assert_int_eq(InitializeInjectionNvtxExtension(&extension), 1);
	ck_assert(!slots[NVTX_PAYLOAD_RANGE_PUSH]);
	extension.size--;
	ck_assert_int_eq(InitializeInjectionNvtxExtension(&extension), 0);
}

static char processes[256]; /* calls of the listener for process ranges */

static void hear_start(uint64_t id, const struct user_range *range)
{
	opk_autofree char *text = user_range_text(range);
	size_t used = strlen(processes);

	snprintf(processes + used, sizeof processes - used, "+%ju:%s ", (uintmax_t)id, text);
}

static void hear_end(uint64_t id, const struct user_range *range)
{
	size_t used = strlen(processes);

	ck_assert_uint_gt(range->begun_ns, 0);
	snprintf(processes + used, sizeof processes - used, "-%ju ", (uintmax_t)id);
}

static bool matches_started(const char *text)
{
	freed(nvtx_filter) *filter = nvtx_filter_new(text);
	bool matches = started_range_match(filter);

	return matches;
}

TEST(ranges_of_the_process)
{
	static const struct range_listener hears = { .started = hear_start, .ended = hear_end };
	static const char *const named[] = { "a", "d@b\\/c", "x\nd@b\\/c", "*", "d@*", "d@" };
	static const char *const not_named[] = { "a/", "[a",  "a]",    "d@a", "w",
		                                 "b",  "d@b", "d@b/c", "e@" };
	uint64_t a, b, w;

	ck_assert_int_eq(initialize(TABLE_SIZE), 1);
	ranges_listen(&hears);
	a = CALL(core, NVTX_CORE_RANGE_START_A, uint64_t, const char *)("a");
	b = CALL(core2, NVTX_CORE2_RANGE_START_EX, uint64_t, const char *,
	         const struct nvtx_attributes *)("d", &(struct nvtx_attributes){
							      .message_type = NVTX_MESSAGE_ASCII,
							      .message.ascii = "b/c" });
	w = CALL(core, NVTX_CORE_RANGE_START_W, uint64_t, const wchar_t *)(L"\u00e9");
	for (size_t i = 0; i < COUNT(named); i++)
		ck_assert_msg(matches_started(named[i]), "%s", named[i]);
	for (size_t i = 0; i < COUNT(not_named); i++)
		ck_assert_msg(!matches_started(not_named[i]), "%s", not_named[i]);
	CALL(core, NVTX_CORE_RANGE_END, void, uint64_t)(a);
	CALL(core, NVTX_CORE_RANGE_END, void, uint64_t)(a);
	ck_assert(!matches_started("a"));
	CALL(core2, NVTX_CORE2_RANGE_END, void, const char *, uint64_t)("d", b);
	CALL(core, NVTX_CORE_RANGE_END, void, uint64_t)(w);
	ranges_listen(NULL);
	ck_assert(!matches_started("*"));
	ck_assert_str_eq(processes, "+1:a +2:d@b\\/c +3:\u00e9 -1 -2 -3 ");
	ck_assert_str_eq(user_range_path(), "");
}

/* ---- the filter ------------------------------------------------------------------------- */

static const struct {
	struct here here;
	const char *filter;
	const char *ranges[6]; /* "NAME" or "DOMAIN@NAME", outermost first */
	bool matches;
} filter_rows[] = {
	{ HERE, "a", { NULL }, false },
	{ HERE, "a", { "a" }, true },
	{ HERE, "a", { "b" }, false },
	{ HERE, "a", { "aa" }, false },
	{ HERE, "a", { "x", "a", "y" }, true },
	{ HERE, "a/", { "x", "a", "y" }, true },
	{ HERE, "a/b", { "a", "b" }, true },
	{ HERE, "a/b", { "b", "a" }, false },
	{ HERE, "a/b", { "a", "x", "b" }, false },
	{ HERE, "a/b", { "a" }, false },
	{ HERE, "a/b/", { "x", "a", "b", "y" }, true },
	{ HERE, "a/b", { "a", "a", "b" }, true },
	/* '[' is the outermost range of its domain, ']' the innermost. */
	{ HERE, "[a", { "a", "b" }, true },
	{ HERE, "[a", { "b", "a" }, false },
	{ HERE, "[a", { "d@b", "a" }, true },
	{ HERE, "a]", { "b", "a" }, true },
	{ HERE, "a]", { "a", "b" }, false },
	{ HERE, "a]", { "a", "d@b" }, true },
	{ HERE, "[a/b]", { "a", "b" }, true },
	{ HERE, "[a/b]", { "a", "b", "c" }, false },
	{ HERE, "[a]", { "a", "a" }, false },
	/* '*' matches any number of ranges. */
	{ HERE, "a/*/b", { "a", "b" }, true },
	{ HERE, "a/*/b", { "a", "x", "y", "b" }, true },
	{ HERE, "a/*/b", { "b", "a" }, false },
	{ HERE, "[a/*/b]", { "a", "b", "b" }, true },
	{ HERE, "[*/b]", { "a", "b" }, true },
	{ HERE, "[*/b]", { "b", "a" }, false },
	{ HERE, "*", { NULL }, true },
	{ HERE, "*", { "a" }, true },
	{ HERE, "a/*", { "a" }, true },
	{ HERE, "a/*]", { "a", "b", "c" }, true },
	{ HERE, "a/*/b/*/c", { "a", "b", "x", "c" }, true },
	{ HERE, "a/*/b/*/c", { "a", "c", "x", "b" }, false },
	{ HERE, "a*", { "ab" }, false },
	/* Domains. */
	{ HERE, "d@a", { "d@a" }, true },
	{ HERE, "d@a", { "a" }, false },
	{ HERE, "a", { "d@a" }, false },
	{ HERE, "d@a/b", { "d@a", "x", "e@y", "d@b" }, true },
	{ HERE, "d@[a", { "x", "d@a" }, true },
	{ HERE, "@a", { "a" }, true },
	{ HERE, "a/b@c", { "a", "b@c" }, false },
	{ HERE, "d@", { "a", "d@b" }, true },
	{ HERE, "d@", { "a" }, false },
	{ HERE, "d@", { NULL }, false },
	{ HERE, "d@*", { "x", "d@b", "d@c" }, true },
	{ HERE, "d@*", { "a" }, false },
	{ HERE, "d@\ne@", { "e@a" }, true },
	{ HERE, "d\\@@", { "d@@a" }, true },
	/* Escapes. */
	{ HERE, "a\\/b", { "a/b" }, true },
	{ HERE, "a\\/b", { "a", "b" }, false },
	{ HERE, "\\*", { "*" }, true },
	{ HERE, "\\*", { "a" }, false },
	{ HERE, "\\[a", { "x", "[a" }, true },
	{ HERE, "a\\]", { "a]", "x" }, true },
	{ HERE, "a\\\\", { "a\\" }, true },
	{ HERE, "d\\@a", { "a" }, false },
	{ HERE, "d\\/e@a", { "d/e@a" }, true },
	/* One pattern a line; any of them may match. */
	{ HERE, "a\nb", { "b" }, true },
	{ HERE, "a\nb\n", { "a" }, true },
	{ HERE, "a\nb", { "c" }, false },
	{ HERE, "d@a\n[b]", { "x", "d@a" }, true },
	/* Invalid filters. */
	{ HERE, "", { NULL }, false },
	{ HERE, "/", { NULL }, false },
	{ HERE, "[", { NULL }, false },
	{ HERE, "]", { NULL }, false },
	{ HERE, "[]", { NULL }, false },
	{ HERE, "@", { NULL }, false },
	{ HERE, "a]b", { NULL }, false },
	{ HERE, "a]]", { NULL }, false },
	{ HERE, "\na", { NULL }, false },
	{ HERE, "a\n\nb", { NULL }, false },
	{ HERE, "a\n]", { NULL }, false },
};

/* Whether the filter is invalid, as in the table's first rows. */
static bool is_none(const char *filter)
{
	static const char *const none[] = { "",    "/",   "[",   "]",      "[]",  "@",
		                            "a]b", "a]]", "\na", "a\n\nb", "a\n]" };

	for (size_t i = 0; i < COUNT(none); i++)
		if (!strcmp(none[i], filter))
			return true;
	return false;
}

/* The domain ends at the last '@': "d/e@a" is range a. */
static size_t make_ranges(struct user_range *ranges, const char *const *texts, char *room)
{
	size_t count = 0;

	for (; texts[count]; count++) {
		char *text = strcpy(room, texts[count]), *at = strrchr(text, '@');

		ranges[count] = (struct user_range){ .domain = (char *)"", .name = text };
		if (at) {
			*at = '\0';
			ranges[count] = (struct user_range){ .domain = text, .name = at + 1 };
		}
		room += strlen(texts[count]) + 1;
	}
	return count;
}

TEST(filters)
{
	for (size_t i = 0; i < COUNT(filter_rows); i++) {
		freed(nvtx_filter) *filter = nvtx_filter_new(filter_rows[i].filter);
		struct user_range ranges[8];
		char room[256];
		size_t count = make_ranges(ranges, filter_rows[i].ranges, room);

		ck_row(&filter_rows[i], (filter == NULL) == is_none(filter_rows[i].filter), "%s",
		       filter ? "a filter" : "no filter");
		if (filter)
			ck_row(&filter_rows[i],
			       nvtx_filter_match(filter, ranges, count) == filter_rows[i].matches,
			       "%s", filter_rows[i].matches ? "does not match" : "matches");
	}
}

/* The maximum number of parts, and one more. */
TEST(long_filters)
{
	char text[80] = "";

	for (int i = 0; i < 32; i++)
		strcat(text, "a/");
	for (int more = 0; more < 2; more++) {
		struct nvtx_filter *filter = nvtx_filter_new(text);

		/* A filter with too many parts is refused, not cut. */
		ck_assert_msg((filter == NULL) == (more == 1), "%s", text);
		nvtx_filter_free(filter);
		strcat(text, "a/");
	}
}

/* ---- threads and forks --------------------------------------------------------------------- */

/* NULL: it is not known as our own. */
static void *tell_number(void *data)
{
	*(uint32_t *)data = (uint32_t)syscall(SYS_gettid);
	return thread_is_own(*(uint32_t *)data, clock_host_ns()) ? data : NULL;
}

/* The number of a thread that has ended may be another one's later. */
TEST(own_threads_end)
{
	enum { MORE_THAN_ARE_KNOWN = 300, HOUR_S = 3600 };
	uint64_t hour_ns = (uint64_t)HOUR_S * 1000000000;
	uint32_t number = 0;
	pthread_t thread;
	void *known;

	for (int i = 0; i < MORE_THAN_ARE_KNOWN; i++) {
		ck_assert(thread_start(&thread, tell_number, &number));
		pthread_join(thread, &known);
		ck_assert_ptr_nonnull(known);
		ck_assert(thread_is_own(number, clock_host_ns() - hour_ns));
		ck_assert(!thread_is_own(number, clock_host_ns() + hour_ns));
	}
	ck_assert(!thread_is_own((uint32_t)getpid(), clock_host_ns()));
	ck_assert(!thread_is_own(0, 0));
}

static atomic_bool loads;

static void *load_slowly(void *data)
{
	opk_autoloading bool begun = loading_begin();

	loads = true;
	usleep(100000);
	loads = false;
	return data;
}

/* 0: a child was not forked while a library was loaded; it can load some, and fork, too. */
static int fork_twice(void)
{
	int status = 1;
	pid_t child = fork();

	if (!child && !loads) {
		load_slowly(NULL);
		child = fork();
		if (child)
			waitpid(child, &status, 0);
		_exit(child ? status != 0 : 0);
	}
	if (!child)
		_exit(2);
	waitpid(child, &status, 0);
	return status;
}

TEST(forks_wait_while_libraries_are_loaded)
{
	pthread_t thread;

	ck_assert(thread_start(&thread, load_slowly, NULL));
	while (!loads)
		usleep(1000);
	ck_assert_int_eq(fork_twice(), 0);
	ck_assert(!loads);
	pthread_join(thread, NULL);
}

/* As where the driver starts a program while it is loaded. */
TEST(who_loads_may_fork)
{
	opk_autoloading bool begun = loading_begin();

	ck_assert(begun);
	ck_assert_int_eq(fork_twice(), 0);
}
