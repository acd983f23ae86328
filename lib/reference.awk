# SPDX-License-Identifier: BSD-2-Clause
# Makes the manual pages of section 3 from offpeak.h: a page for each group, and for each function and type a page
# that names its group's. Usage:
#
#   awk -f reference.awk -v folder=DIR -v version=0.1.0 -v date=2026-11-28 offpeak.h       writes DIR/NAME.3
#   awk -f reference.awk -v undocumented=1 offpeak.h                    prints groups and functions that no comment describes
#
# An item is a comment and the declarations below it, up to the next comment or an empty line. The first comment of a
# group, which no declaration follows, introduces it.

# ---- text as roff ---------------------------------------------------------------------------

function escaped(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text
}

# A line of a paragraph: hyphens stay such inside words, `names` are slanted, and functions bold.
function prose(text) {
	gsub(/\\/, "\\e", text)
	gsub(/--/, "\\-\\-", text)
	gsub(/`/, "\001", text)
	while (match(text, /\001[^\001]*\001/))
		text = substr(text, 1, RSTART - 1) "\\fI" substr(text, RSTART + 1, RLENGTH - 2) "\\fP" \
			substr(text, RSTART + RLENGTH)
	while (match(text, /(^|[^\\a-zA-Z_B])opk_[a-z0-9_]+\(\)/)) {
		start = RSTART + (substr(text, RSTART, 4) != "opk_")
		text = substr(text, 1, start - 1) "\\fB\002" substr(text, start + 4, RLENGTH - 6 - (start - RSTART)) \
			"\\fP()" substr(text, RSTART + RLENGTH)
	}
	gsub(/\002/, "opk_", text)
	return text ~ /^[.']/ ? "\\&" text : text
}

# A long line as several, none of which begins as a request does; a page can be read as it is, too.
function folded(text,    words, count, i, line, out) {
	count = split(text, words, " ")
	line = words[1]
	for (i = 2; i <= count; i++)
		if (length(line) + 1 + length(words[i]) > 78) {
			out = out line "\n"
			line = (words[i] ~ /^[.']/ ? "\\&" : "") words[i]
		} else
			line = line " " words[i]
	return out line
}

# The text of a comment: paragraphs, and lists of lines that begin with " - ".
function put_comment(text, page,    lines, count, i, in_list) {
	count = split(text, lines, "\n")
	for (i = 1; i <= count; i++) {
		if (lines[i] == "") {
			print ".PP" >page
			in_list = 0
		} else if (lines[i] ~ /^ *- /) {
			print ".IP \\(bu 2" >page
			sub(/^ *- /, "", lines[i])
			print folded(prose(lines[i])) >page
		} else {
			sub(/^ +/, "", lines[i])
			print folded(prose(lines[i])) >page
		}
	}
}

function put_code(text, page,    lines, count, i) {
	print ".PP\n.nf" >page
	count = split(text, lines, "\n")
	for (i = 1; i <= count; i++) {
		gsub(/\t/, "    ", lines[i])
		sub(/ +\\$/, " \\", lines[i])
		print (lines[i] ~ /^[.']/ ? "\\&" : "") escaped(lines[i]) >page
	}
	print ".fi" >page
}

# ---- items ----------------------------------------------------------------------------------

# Removes a comment that ends the line, and gives it to the item.
function without_comment(line,    at, text) {
	at = match(line, / *\/\* .* \*\/$/)
	if (!at)
		return line
	text = substr(line, RSTART, RLENGTH)
	gsub(/^ *\/\* | \*\/$/, "", text)
	item_comment = item_comment (item_comment == "" ? "" : "\n") text
	return substr(line, 1, at - 1)
}

function add_code(line) {
	item_code = item_code (item_code == "" ? "" : "\n") line
}

function add_name(name) {
	if (name == "" || name in group_of)
		return
	group_of[name] = group
	names[group] = names[group] (names[group] == "" ? "" : ", ") name
}

# A whole declaration, of one line or several: keeps its name.
function declared(text,    name) {
	gsub(/[\n\t ]+/, " ", text)
	if (match(text, /^(struct|enum|union) opk_[a-z0-9_]+ \{/)) {
		add_name(substr(text, index(text, "opk_"), RLENGTH - index(text, "opk_") - 1))
		return
	}
	if (text ~ /^(enum|struct|union)( [a-z0-9_A-Z]+)?( \{.*\})?;$/ || !match(text, /opk_[a-z0-9_]+\(/))
		return
	name = substr(text, RSTART, RLENGTH - 1)
	add_name(name)
	if (text !~ /^typedef /)
		waiting[++waiting_count] = name
}

# ---- code on lines that fit a page of 80 columns ----------------------------------------------

# Words on lines of at most WIDTH characters: the first begins with `first`, the others with `rest`.
function filled(text, first, rest, separator,    words, count, i, line, out) {
	count = split(text, words, separator)
	line = first words[1]
	for (i = 2; i <= count; i++) {
		line = line (separator == " " ? "" : substr(separator, 1, 1))
		if (length(line) + 1 + length(words[i]) <= WIDTH)
			line = line " " words[i]
		else {
			out = out line "\n"
			line = rest words[i]
		}
	}
	return out line
}

# A prototype or another declaration, which may be divided between arguments, and after the parenthesis.
function wrapped(text, indent,    at, name) {
	gsub(/[\n\t ]+/, " ", text)
	text = filled(text, indent, indent "        ", ", ")
	at = index(text, "\n") ? index(text, "\n") - 1 : length(text)
	if (at <= WIDTH)
		return text
	gsub(/\n +/, " ", text)
	name = substr(text, 1, index(text, "("))
	return name "\n" filled(substr(text, length(name) + 1), indent "        ", indent "        ", ", ")
}

# A comment above a member, on one line or several.
function comment_above(text, indent,    one) {
	one = indent "/* " text " */"
	return length(one) <= WIDTH ? one : indent "/*\n" filled(text, indent " * ", indent " * ", " ") "\n" indent " */"
}

# The lines of a struct or an enum that are too long: their comments come first, and texts are filled anew.
function fitted(text,    lines, count, i, out, line, tail, indent) {
	count = split(text, lines, "\n")
	for (i = 1; i <= count; i++) {
		line = lines[i]
		gsub(/\t/, "    ", line)
		match(line, /^ */)
		indent = substr(line, 1, RLENGTH)
		if (line ~ /^ *\/\*/) {
			while (line !~ /\*\/$/) {
				tail = lines[++i]
				sub(/^[\t ]*\*?/, "", tail)
				line = line (tail ~ /^\// ? " *" : "") tail
			}
			gsub(/^ *\/\* *| *\*\/$/, "", line)
			out = out comment_above(line, indent) "\n"
			continue
		}
		while (i < count && line !~ /[;{}]$|\*\/$|^[^(]*,$/ && lines[i + 1] !~ /^[\t ]*}/) {
			tail = lines[++i]
			sub(/^[\t ]+/, "", tail)
			line = line " " tail
		}
		if (length(line) > WIDTH && match(line, / *\/\* .* \*\/$/)) {
			tail = substr(line, RSTART, RLENGTH)
			line = substr(line, 1, RSTART - 1)
			gsub(/^ *\/\* | \*\/$/, "", tail)
			out = out comment_above(tail, indent) "\n"
		}
		out = out (length(line) > WIDTH ? wrapped(substr(line, length(indent) + 1), indent) : line) "\n"
	}
	return substr(out, 1, length(out) - 1)
}

# A macro, which goes on in the next line where it is too long, after its comment.
function continued(text,    above) {
	if (text ~ /\n/ || length(text) <= WIDTH)
		return text
	if (match(text, / *\/\* .* \*\/$/)) {
		above = substr(text, RSTART, RLENGTH)
		text = substr(text, 1, RSTART - 1)
		gsub(/^ *\/\* | \*\/$/, "", above)
		return comment_above(above, "") "\n" continued(text)
	}
	match(substr(text, 1, WIDTH - 2), /.* /)
	return substr(text, 1, RLENGTH) "\\\n        " substr(text, RLENGTH + 1)
}

function for_page(text) {
	return text ~ /^#/ ? continued(text) : text ~ /\{/ ? fitted(text) : wrapped(text, "")
}

function end_item(    i) {
	if (item_code == "" && item_comment != "" && !(group in intro)) {
		intro[group] = item_comment
		item_comment = ""
	}
	if (item_code == "")
		return
	for (i = 1; i <= waiting_count; i++)
		if (item_comment == "" && undocumented)
			print waiting[i]
	waiting_count = 0
	item_group[++items] = group
	code[items] = item_code
	comment[items] = item_comment
	item_code = item_comment = ""
}

# ---- the header -----------------------------------------------------------------------------

BEGIN {
	WIDTH = 71 # a page's text at 80 columns, less its margins
	group = groups[group_count = 1] = "liboffpeak"
	title[group] = "NVIDIA GPU hardware metrics without a GPU"
}

/SPDX-License/ { next }

/^#ifdef __cplusplus/ { skipping = 1 }
skipping {
	if (/^#(else|endif)/)
		skipping = 0
	next
}
/^#(if|endif|else|include)/ || /^#define [A-Z_]+$/ { next }

/^\/\* ---- / {
	end_item()
	sub(/^\/\* ---- /, "")
	sub(/ -+ \*\/$/, "")
	name = $0
	gsub(/ /, "-", name)
	group = groups[++group_count] = "opk-" tolower(name)
	title[group] = $0
	item_comment = ""
	next
}

in_comment {
	in_comment = $0 !~ /\*\/$/
	sub(/^ \*\/?/, "")
	sub(/^ /, "")
	sub(/ ?\*\/$/, "")
	if (in_comment || $0 != "")
		item_comment = item_comment (item_comment == "" ? "" : "\n") $0
	next
}

/^\/\*/ && body == "" {
	end_item()
	in_comment = $0 !~ /\*\/$/
	sub(/^\/\* ?/, "")
	sub(/ \*\/$/, "")
	item_comment = $0
	next
}

/^$/ && body == "" {
	end_item()
	next
}

# A declaration ends with the line that ends its statement, a macro's with the first line that goes not on.
{
	line = !/^#/ && body == "" || body ~ /\(/ && body !~ /\{/ ? without_comment($0) : $0
	body = body (body == "" ? "" : "\n") line
	if (body ~ /^#define/ ? line !~ /\\$/ : (body ~ /\{\n/ ? line ~ /^}/ : line ~ /;$/)) {
		declared(body)
		add_code(for_page(body))
		body = ""
	}
}

# ---- pages ----------------------------------------------------------------------------------

function put_head(page, name) {
	printf ".\\\" Made of offpeak.h.\n.TH %s 3 %s \"offpeak %s\" \"The offpeak library\"\n", toupper(name), date, version >page
	print ".ad l\n.nh\n.SH NAME" >page
	print folded(name (names[name] == "" ? "" : ", " names[name]) " \\- " escaped(title[name])) >page
	print ".SH SYNOPSIS\n.nf\n\\fB#include <offpeak.h>\\fP\n" >page
	print "cc ... $(pkg\\-config \\-\\-cflags \\-\\-libs liboffpeak)\n.fi\n.SH DESCRIPTION" >page
	put_comment(intro[name], page)
}

function put_page(name,    page, i) {
	page = folder "/" name ".3"
	put_head(page, name)
	for (i = 1; i <= items; i++) {
		if (item_group[i] != name)
			continue
		put_code(code[i], page)
		if (comment[i] == "")
			continue
		print ".RS 4" >page
		put_comment(comment[i], page)
		print ".RE" >page
	}
	put_others(name, page)
	close(page)
}

# Finds the groups whose functions this one's comments name.
function find_others(name, found,    i, text, other) {
	for (i = 1; i <= items; i++) {
		text = item_group[i] == name ? code[i] " " comment[i] : ""
		while (match(text, /opk_[a-z0-9_]+/)) {
			other = substr(text, RSTART, RLENGTH)
			if (other in group_of && group_of[other] != name)
				found[group_of[other]] = 1
			text = substr(text, RSTART + RLENGTH)
		}
	}
}

function put_others(name, page,    found, i, line) {
	if (name != groups[1])
		print ".SH RETURN VALUE\nAn int is an enum opk_status, 0 for success:\n.BR liboffpeak (3)\n" \
			"says what holds for all functions: errors, ownership, structs, threads." >page
	find_others(name, found)
	for (i = 1; i <= group_count; i++)
		if (groups[i] != name && (groups[i] in found || i == 1 || name == groups[1]))
			line = line (line == "" ? "" : ",\n") ".BR " escaped(groups[i]) " (3)"
	gsub(/\(3\),/, "(3),", line)
	print ".SH SEE ALSO\n" line >page
}

END {
	end_item()
	for (i = 2; undocumented && i <= group_count; i++)
		if (!(groups[i] in intro))
			print groups[i]
	if (undocumented)
		exit
	for (i = 1; i <= group_count; i++)
		put_page(groups[i])
	for (name in group_of) { # as functions and types are called
		page = folder "/" name ".3"
		print ".so man3/" group_of[name] ".3" >page
		close(page)
	}
}
