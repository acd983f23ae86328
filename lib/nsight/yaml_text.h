/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of YAML as a person would write them. libyaml's emitter can't write comments,
 * hence this file; what is written is read back as the same text.
 */
#ifndef OPK_YAML_TEXT_H
#define OPK_YAML_TEXT_H

#include "base/buf.h"
#include "base/strlist.h"

/* Text, with quotes where it needs them; bytes that are not UTF-8 become U+FFFD. */
void opk_yaml_put_text(struct opk_buf *out, const char *text);
/* "[a, b]" */
void opk_yaml_put_list(struct opk_buf *out, const struct opk_strlist *items);
/* "key: text" and a new line; long prose is folded. */
void opk_yaml_put_prose(struct opk_buf *out, size_t indent, const char *key, const char *text);
/* "# text", without a new line; a character that could end the comment becomes a blank. */
void opk_yaml_put_comment(struct opk_buf *out, const char *text);
void opk_yaml_put_indent(struct opk_buf *out, size_t indent);

#endif
