/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * splice IN.opk OUT.opk MEMBERS [COUNTS [BAKED [RANGES]]]: a copy whose metadata have these JSON
 * members besides, as '"version":2,"hidden":["a__b.sum"]', its counts those, and what it says of
 * its values these. They are written as they are, valid or not. Empty: none. Members of values
 * count before those of the same name that are there. RANGES is a file with a line for each table
 * of ranges, which replaces it.
 */
#include "container/door.h"
#include "program.h"

/* A JSON object, with more members after its first brace, or before its last one. */
static char *extend(const char *object, size_t size, const char *members, int first)
{
	char *text = malloc(size + strlen(members) + 2);

	if (first)
		sprintf(text, "{%s,%.*s", members, (int)size - 1, object + 1);
	else
		sprintf(text, "%.*s,%s}", (int)size - 1, object, members);
	return text;
}

static void read_line(void **data, size_t *size, const char *path)
{
	static FILE *file;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (!file)
		file = fopen(path, "r");
	length = file ? getline(&line, &room, file) : -1;
	if (length < 0)
		exit(1);
	*data = line;
	*size = (size_t)length;
}

static void copy(struct opk_writer *writer, const struct opk_file *file, size_t section,
                 char *const *members)
{
	uint32_t type = opk_file_section(file, section)->type;
	const char *added = type == OPK_SECTION_META    ? members[0]
	                    : type == OPK_SECTION_STATS ? members[1]
	                    : type == OPK_SECTION_BAKED ? members[2]
	                                                : NULL;
	char *text = NULL;
	void *data;
	size_t size;

	if (type == OPK_SECTION_RANGES && members[3])
		read_line(&data, &size, members[3]);
	else
		must(opk_file_read(&data, &size, ctx, file, section));
	if (added && *added) {
		text = extend(data, size, added, type == OPK_SECTION_BAKED);
		must(opk_writer_add(writer, type, text, strlen(text)));
	} else {
		must(opk_writer_add(writer, type, data, size));
	}
	free(text);
	free(data);
}

int main(int argc, char **argv)
{
	char *members[4] = { NULL };
	struct opk_writer *writer;
	struct opk_file *file;

	if (argc < 4 || argc > 7 || opk_ctx_new(&ctx, NULL))
		return 1;
	for (int i = 3; i < argc; i++)
		members[i - 3] = argv[i];
	must(opk_file_open(&file, ctx, argv[1]));
	remove(argv[2]);
	must(opk_writer_new(&writer, ctx, argv[2]));
	for (size_t i = 0; i < opk_file_section_count(file); i++)
		copy(writer, file, i, members);
	must(opk_writer_finish(writer));
	opk_writer_free(writer);
	opk_file_free(file);
	opk_ctx_free(ctx);
	return 0;
}
