/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles ranges into images, decodes these, and hands them to the writer. */
#include "collect/profilers/profilers.h"
#include "collect/ranges/ranges.h"

/*
 * The first Start takes about 1 ms per slot; each later Stop, Decode and Start takes 9 to 52 ms,
 * more for more counters, independent of the number of slots. More slots in a later SetConfig are
 * accepted, but then ranges are lost silently, so the number stays while the profiler is enabled.
 * Kernel replay slows down with the size of an image.
 */
enum {
	SMALL_SLOTS = 64,
	SMALL_IMAGE = 8 << 20, /* target size of an image in bytes */
	LARGE_SLOTS = 512,
	LARGE_IMAGE = 64 << 20,
	/* After so many full images, 512 slots take 0.6 s once, then save 10 ms for 64 launches. */
	SMALL_IMAGES = 32,
};

struct session {
	const struct profiling *profiling;
	struct profiler profiler;
	struct blank blank; /* copied for each segment */
	struct rotation rotation;
	struct segment present; /* with a row per range so far */
	uint32_t few_slots;     /* of the first images without a rotation */
	uint32_t most_slots;    /* after these, or after the first rounds of a rotation */
	uint32_t room;          /* how many ranges the present image takes */
	size_t pass;            /* of the present image, or of the next; 0: all passes */
	bool configured;        /* a present image exists */
	bool open;              /* a range is in progress */
	bool running;           /* between start and stop */
	bool selective;         /* runs only during recorded launches */
	bool broken;
	struct cache cache;
	struct timespec first; /* start of the first range of this image */
	size_t images;         /* number handed on */
	size_t full;           /* images that were full, since their size changed */
	struct counts counts;
	struct clocks clocks; /* as last read, and when */
	struct timespec clocks_at;
};

static bool rotates(const struct session *session)
{
	return session->rotation.passes > 0;
}

static bool fail(struct session *session)
{
	session->broken = true;
	return false;
}

static bool resume(struct session *session)
{
	session->running = session->profiler.ops->start(&session->profiler);
	return session->running || fail(session);
}

static bool pause_session(struct session *session)
{
	session->running = false;
	return session->profiler.ops->stop(&session->profiler) || fail(session);
}

static bool enable_again(struct profiler *profiler)
{
	profiler->ops->disable(profiler);
	return profiler->ops->enable(profiler);
}

/*
 * A profiler goes through the passes of its config image in order. Another order needs enabling it
 * again, which takes 0.2 s.
 */
static bool follow(struct session *session)
{
	struct profiler *profiler = &session->profiler;

	if (!session->pass || profiler->next_pass == ANY_PASS
	    || profiler->next_pass == session->pass - 1)
		return true;
	return enable_again(profiler);
}

/*
 * Images are small at first, and as long as the program does not fill them: large ones take long to
 * prepare, and memory.
 */
static uint32_t slots(const struct session *session)
{
	bool filled = session->full >= (rotates(session) ? 1 : SMALL_IMAGES);
	uint32_t room = rotates(session) ? rotation_room(&session->rotation, session->most_slots)
	                                 : session->most_slots;
	uint32_t present = session->profiler.slots ? session->profiler.slots : session->few_slots;

	return filled || room < present ? room : present;
}

/* Gives images room for so many ranges. */
static bool resize(struct session *session, uint32_t room)
{
	if (session->profiler.slots == room)
		return true;
	session->profiler.slots = room;
	session->full = 0;
	blank_clear(&session->blank);
	return enable_again(&session->profiler);
}

static bool configure(struct session *session)
{
	struct profiler *profiler = &session->profiler;

	profiler->image = session->present.image;
	profiler->image_size = session->present.image_size;
	profiler->pass = session->pass ? session->pass - 1 : 0;
	session->configured = follow(session) && profiler->ops->configure(profiler);
	return session->configured;
}

/* Starts an image with room for so many ranges. */
static bool start_with(struct session *session, uint32_t room)
{
	uint32_t batch = rotates(session) ? rotation_batch(&session->rotation, session->most_slots)
	                                  : room;

	if (!resize(session, room))
		return false;
	session->room = batch < room ? batch : room;
	session->present.count = 0;
	session->present.ranges = calloc(room, sizeof *session->present.ranges);
	return session->present.ranges
	       && blank_copy(&session->present, &session->blank, &session->profiler)
	       && configure(session) && (session->selective || resume(session));
}

/* Starts a fresh image for the present pass. Where a larger one fails, that of before may do. */
static bool start(struct session *session)
{
	uint32_t before = session->profiler.slots, room;

	if (rotates(session))
		session->pass = rotation_pass(&session->rotation) + 1;
	room = slots(session);
	if (start_with(session, room))
		return true;
	if (room <= before)
		return fail(session);
	say(0, "note: images stay at %" PRIu32 " ranges, as larger ones fail", before);
	segment_clear(&session->present);
	session->broken = false;
	session->most_slots = before;
	return start_with(session, before) || fail(session);
}

static bool prepare(struct session *session)
{
	/* Only a range for each launch, without replay, is so cheap that the next image matters. */
	bool large = rotates(session)
	             || (session->profiling->settings->mode == MODE_LAUNCH_RANGE
	                 && session->profiling->ops == &range_profiler);

	session->few_slots = image_ranges(&session->profiler, SMALL_IMAGE, SMALL_SLOTS);
	session->most_slots = large ? image_ranges(&session->profiler, LARGE_IMAGE, LARGE_SLOTS)
	                            : session->few_slots;
	session->profiler.slots = rotates(session)
	                                  ? rotation_room(&session->rotation, session->few_slots)
	                                  : session->few_slots;
	return session->profiler.ops->enable(&session->profiler) && start(session);
}

static void free_all(struct session *session)
{
	blank_clear(&session->blank);
	free(session->rotation.launch_us);
	segment_clear(&session->present);
	free(session);
}

/*
 * Whether the profiler would make other ranges, too: of unwanted launches, or of memsets (seen on
 * an H100 with 12.6, without replay by the GPU; not with 12.8 and later).
 */
static bool makes_other_ranges(const struct settings *settings)
{
	return settings_filter(settings)
	       || (settings->mode == MODE_LAUNCH_RANGE && target.cupti_version < CUPTI_12_8);
}

static struct rotation turns_take(struct rotation *kept)
{
	struct rotation turns = *kept;

	*kept = (struct rotation){ 0 };
	return turns;
}

struct session *session_new(const struct profiling *profiling, CUcontext context)
{
	const struct settings *settings = profiling->settings;
	size_t passes = profiling->set->meta->passes;
	struct session *session = calloc(1, sizeof *session);

	if (!session)
		return NULL;
	session->profiling = profiling;
	session->profiler = (struct profiler){
		.ops = profiling->ops,
		.images = &profiling->set->images,
		.context = context,
		.push = settings_push(settings),
		.kernel_replay = settings->mode == MODE_KERNEL_REPLAY,
	};
	if (settings->turns == TURNS_REPEAT && passes > 1)
		session->pass = 1;
	/* Another context goes on where the last one ended. */
	if (settings->turns == TURNS_ROTATE && profiling->turns->passes)
		session->rotation = turns_take(profiling->turns);
	else if (settings->turns == TURNS_ROTATE)
		session->rotation = (struct rotation){
			.passes = passes,
			.first = settings->pass ? settings->pass - 1 : 0,
			/*
			 * Runs of the program must divide its launches equally. Without memory all
			 * passes count as equal, too.
			 */
			.launch_us = settings->application ? NULL : calloc(passes, sizeof(double)),
		};
	session->selective = !session->profiler.push && makes_other_ranges(settings);
	if (prepare(session))
		return session;
	free_all(session);
	return NULL;
}

/* A row of the same context, of whose contents nothing is known. */
static struct opk_range row_like(const struct opk_range *known)
{
	return (struct opk_range){
		.device = known->device,
		.context = known->context,
		.process = known->process,
		.rank = known->rank,
		.pass = known->pass,
		.sm_mhz = known->sm_mhz,
		.memory_mhz = known->memory_mhz,
	};
}

/*
 * If there are fewer ranges than rows, the last ranges were dropped. If there are more, launches
 * came by a call without a callback, and it is unknown which row belongs to which range.
 */
static void match_rows(struct session *session)
{
	struct segment *present = &session->present;
	size_t found = profiler_count(&session->profiler, present->count), used = present->count;
	struct opk_range known = present->ranges[0], *grown;

	for (size_t i = found > used ? 0 : found; i < used; i++)
		segments_clear_range(&present->ranges[i]);
	present->count = found < used ? found : used;
	session->counts.drops[DROP_PROFILER] += used - present->count;
	if (found <= used)
		return;
	grown = realloc(present->ranges, found * sizeof *grown);
	if (!grown) {
		fail(session);
		return;
	}
	present->ranges = grown;
	for (present->count = 0; present->count < found; present->count++)
		grown[present->count] = row_like(&known);
}

static void decode(struct session *session)
{
	if (session->running && !pause_session(session))
		return;
	session->configured = false;
	/*
	 * CUPTI refuses to decode if there was no range. The legacy profiler's session with the
	 * image must still end, since there can't be two sessions.
	 */
	if (!session->present.count) {
		if (session->profiler.in_session)
			session->profiler.ops->disable(&session->profiler);
		return;
	}
	if (session->profiler.ops->decode(&session->profiler))
		match_rows(session);
	else
		fail(session);
}

/*
 * The mean time from launch to launch, if there are enough to tell. The first launch also waited
 * for the image.
 */
static void note_speed(struct session *session)
{
	const struct segment *present = &session->present;
	enum { ENOUGH = 7 };
	size_t more = present->count - 1;
	uint64_t first = present->ranges[0].end_ns, last = present->ranges[more].end_ns;

	if (more >= ENOUGH && last > first)
		rotation_note(&session->rotation, (double)(last - first) / 1e3 / (double)more);
}

/* Hands the image and its rows to the writer, or frees them if there is nothing to write. */
static void hand_on(struct session *session)
{
	if (!session->broken && session->present.count) {
		session->counts.ranges += session->present.count;
		session->images++;
		segments_add(session->profiling->segments, &session->present);
		session->present = (struct segment){ 0 };
		return;
	}
	session->counts.drops[DROP_PROFILER] += session->present.count;
	segment_clear(&session->present);
}

/* `cut`: the program ended the image, not the time. */
static void finish_image(struct session *session, bool cut)
{
	bool used = session->present.count > 0;

	cut = cut && session->present.count < session->room;
	session->full += session->present.count >= session->room;
	if (rotates(session) && used)
		note_speed(session);
	session->rotation.launches += session->present.count;
	decode(session);
	hand_on(session);
	/* A pass with an empty image keeps its turn. */
	if (rotates(session) && used)
		rotation_next(&session->rotation, cut);
}

void session_flush(struct session *session)
{
	if (session->broken || session->open || !session->present.count)
		return;
	finish_image(session, false);
	/* If passes are selected, the next range chooses its own. */
	if (!session->broken && session->profiling->settings->turns != TURNS_REPEAT)
		start(session);
}

void session_select(struct session *session, size_t pass)
{
	if (session->open || session->pass == pass)
		return;
	session_suspend(session);
	session->pass = pass;
}

void session_suspend(struct session *session)
{
	if (!session->broken && !session->open && session->configured)
		finish_image(session, true);
}

/* Makes room for another range: the next image, and with rotation the next pass. */
static bool make_room(struct session *session)
{
	if (session->present.count >= session->room)
		session_suspend(session);
	return !session->broken && (session->configured || start(session));
}

static bool push(struct session *session)
{
	char name[16];

	snprintf(name, sizeof name, "%ju",
	         (uintmax_t)(session->counts.ranges + session->present.count));
	return session->profiler.ops->push(&session->profiler, name) || fail(session);
}

bool session_begin(struct session *session, const struct opk_range *row, CUstream stream)
{
	bool flushes = session->profiling->settings->caches != CACHES_NONE;

	if (session->open)
		return false;
	if (session->broken || !make_room(session)
	    || (flushes && !cache_flush(&session->cache, stream))) {
		session->counts.drops[DROP_PROFILER]++;
		return false;
	}
	if (!session->present.count)
		session->first = clock_now();
	if (rotates(session))
		rotation_saw(&session->rotation, row);
	session->present.ranges[session->present.count] = *row;
	session->present.ranges[session->present.count].pass = (uint32_t)session->pass;
	if (session->profiler.push ? !push(session) : session->selective && !resume(session)) {
		session->counts.drops[DROP_PROFILER]++;
		return false;
	}
	/* Not what was prepared before. */
	session->present.ranges[session->present.count].start_ns = clock_host_ns();
	session->present.count++;
	session->open = true;
	tally->ranges++;
	return true;
}

/* Reading clocks takes a while, and they change slowly; an idle GPU has other clocks. */
static void note_clocks(struct session *session, struct opk_range *row)
{
	static const double good_s = 0.05;

	if (session->present.count == 1 || clock_seconds_since(&session->clocks_at) > good_s) {
		session->clocks = clocks_read(row->device);
		session->clocks_at = clock_now();
	}
	row->sm_mhz = session->clocks.sm_mhz;
	row->memory_mhz = session->clocks.memory_mhz;
}

void session_end(struct session *session)
{
	struct opk_range *row;
	uint64_t now;

	if (!session->open)
		return;
	session->open = false;
	if (session->profiler.push && !session->profiler.ops->pop(&session->profiler))
		fail(session);
	if (session->selective)
		pause_session(session);
	row = &session->present.ranges[session->present.count - 1];
	/* The host's clock may have been set back. */
	now = clock_host_ns();
	row->end_ns = now > row->start_ns ? now : row->start_ns;
	note_clocks(session, row);
	if (session->profiling->settings->mode == MODE_USER_RANGE)
		row->duration_ns = row->end_ns - row->start_ns;
}

void session_cancel(struct session *session)
{
	struct opk_range *row;

	session_end(session);
	if (!session->present.count)
		return;
	row = &session->present.ranges[session->present.count - 1];
	segments_clear_range(row);
	if (session->profiler.push) {
		/* The range remains in the image, empty, and is not one of its kernel. */
		struct opk_range failed = row_like(row);

		failed.name = strdup("a launch that failed");
		failed.launch = row->launch;
		failed.start_ns = row->start_ns;
		failed.end_ns = row->end_ns;
		*row = failed;
		return;
	}
	session->present.count--;
	tally->ranges--;
}

/* Keeps the turns of a session that ends; of several those that went least far. */
static void turns_keep(struct rotation *kept, struct rotation *ended)
{
	bool first = !kept->turn || ended->turn < kept->turn;
	struct rotation *less = first ? kept : ended;

	free(less->launch_us);
	if (first)
		*kept = *ended;
	*ended = (struct rotation){ 0 };
}

void session_report_turns(const struct profiling *profiling)
{
	const struct rotation *turns = profiling->turns;

	/* Repeated runs of the program bring the other passes. */
	if (turns->turn && !rotation_is_round(turns) && !profiling->settings->application)
		say(0,
		    "note: %zu of the %zu passes had no launches, as there were %" PRIu64
		    ": what needs them is nan; %s",
		    turns->passes - turns->turn, turns->passes, turns->launches,
		    profiling->set->rotates
		            ? "--prefer fewest has fewer passes, --replay kernel takes all passes of each launch"
		            : "--replay kernel takes all passes of each launch");
}

void session_close(struct session *session, struct counts *counts)
{
	/* The program ends inside a range: end the range, too. */
	session_end(session);
	session_suspend(session);
	turns_keep(session->profiling->turns, &session->rotation);
	session->counts.drops[DROP_PROFILER] += session->present.count;
	session->profiler.ops->disable(&session->profiler);
	counts_add(counts, &session->counts);
	free_all(session);
}

double session_age(const struct session *session)
{
	return session->present.count ? clock_seconds_since(&session->first) : 0;
}
