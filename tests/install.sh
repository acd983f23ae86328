#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# make install into a prefix that configure was not told, what is there, a program that is linked with it, and make uninstall; a static
# library; what configure refuses; and that the tarball has all files.
cold=yes
. "${SOURCE:?}/tests/tap.sh"
. "$SOURCE/tests/documents.sh"

is_long || skip_all 'installing takes minutes: make check-long'
command -v pkg-config >/dev/null || skip_all 'there is no pkg-config'
if nm -D "$BUILD/.libs/liboffpeak.so" 2>/dev/null | grep -q __asan_init; then
	skip_all 'a sanitized library'
fi
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR PKG_CONFIG_PATH
sections=$("$OFFPEAK" info "$simple" --table sections --format csv | sed 1d | wc -l)
sets=$(find "$SOURCE/data/sets" -name '*.yaml' | wc -l)
cat >program.c <<'END'
#include <offpeak.h>
#include <stdio.h>
int main(void)
{
	struct opk_ctx *ctx;
	struct opk_file *file;
	struct opk_listing *sections, *sets;
	if (opk_ctx_new(&ctx, NULL) || opk_file_open(&file, ctx, RECORDING) || opk_set_list(&sets, ctx, NULL))
		return 1;
	if (opk_file_list(&sections, ctx, file, OPK_FILE_SECTIONS))
		return 1;
	printf("%zu %zu\n", opk_listing_count(sections), opk_listing_count(sets));
	opk_listing_free(sections);
	opk_listing_free(sets);
	opk_file_free(file);
	opk_ctx_free(ctx);
	return 0;
}
END

# in_build FOLDER ARGUMENTS...: make there.
in_build() {
	tap_folder=$1
	shift
	make -s -C "$tap_folder" "$@"
}

# config PREFIX OPTIONS...: what pkg-config says of the library there.
config() {
	tap_prefix=$1
	shift
	PKG_CONFIG_PATH=$(dirname "$(find "$tap_prefix" -name liboffpeak.pc)") pkg-config "$@" liboffpeak
}

# program PREFIX OPTIONS...: links the program with the library there.
program() {
	tap_prefix=$1
	shift
	# shellcheck disable=SC2046,SC2086 # several words in each
	${CC:-cc} -o program -DRECORDING="\"$simple\"" $(config "$tap_prefix" --cflags) program.c $(config "$tap_prefix" --libs "$@")
}

section 'make install prefix=...'
prefix=$tmp/usr
mkdir -p "$prefix/share/offpeak"
echo mine >"$prefix/share/offpeak/mine"
(umask 077 && in_build "$BUILD" install prefix="$prefix") >log 2>&1
same 'make install' "$? $(grep -i error log)" '0 '
same 'files that others cannot read' "$(find "$prefix" -type f ! -perm -044 ! -name mine)" ''
same 'libtool files' "$(find "$prefix" -name '*.la')" ''
same 'pkg-config: prefix' "$(config "$prefix" --variable=prefix)" "$prefix"
same 'pkg-config: version' "$(config "$prefix" --modversion)" "$("$OFFPEAK" --version | awk '{ print $2 }')"
same 'pkg-config: what only a static library needs' "$(config "$prefix" --libs | sed 's/ *$//')" "-L$prefix/lib -loffpeak"
same 'the library' "$(cd "$prefix/lib" && echo liboffpeak.*)" 'liboffpeak.so liboffpeak.so.0 liboffpeak.so.0.0.0'
same 'its name' "$(readelf -d "$prefix/lib/liboffpeak.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" liboffpeak.so.0
same 'symbols without a version' "$(nm -D --defined-only "$prefix/lib/liboffpeak.so" | awk '$2 != "A" && $3 !~ /@@OFFPEAK_[0-9.]+$/')" ''
pass 'a program of the shared library' program "$prefix"
same 'what it prints' "$(LD_LIBRARY_PATH=$prefix/lib ./program)" "$sections $sets"
same 'sets of the same place' "$("$prefix/bin/offpeak" sets --format csv | wc -l)" "$((sets + 1))"
for page in offpeak offpeak-eval; do
	pass "man $page" test -s "$prefix/share/man/man1/$page.1"
done
if [ -x "$prefix/bin/offpeak-collect" ]; then
	pass 'the collector finds its library' "$prefix/bin/offpeak-collect" --best-effort -c "$simple" -o run.opk -- true
fi

# Links between pages, also to pictures and examples.
pages=$prefix/share/doc/offpeak
same 'links of installed pages' "$(lost_links "$pages"/*.md)" ''
same 'some links' "$(grep -c '](install.md)' "$pages/README.md" | sed 's/[1-9].*/some/')" some

section 'make uninstall'
touch "$prefix/lib/liboffpeak.so.9"
pass 'make uninstall' in_build "$BUILD" uninstall prefix="$prefix"
same 'what is left' "$(cd "$prefix" && { find . ! -type d; find . -name '*offpeak*'; } | sort -u)" './lib/liboffpeak.so.9
./share/offpeak
./share/offpeak/mine'

section 'DESTDIR and libdir'
pass 'make install' in_build "$BUILD" install DESTDIR="$tmp/stage" prefix=/opt/offpeak libdir=/opt/offpeak/lib64
same 'outside of it' "$(find stage ! -type d | grep -v '^stage/opt/offpeak/')" ''
same 'pkg-config: libdir' "$(config stage --variable=libdir)" /opt/offpeak/lib64
pass 'make uninstall' in_build "$BUILD" uninstall DESTDIR="$tmp/stage" prefix=/opt/offpeak libdir=/opt/offpeak/lib64
same 'what is left' "$(find stage ! -type d; find stage -name '*offpeak*' ! -path stage/opt/offpeak)" ''

section 'the tarball'
pass 'make dist' in_build "$BUILD" dist
mv "$BUILD"/offpeak-*.tar.gz first.tar.gz
tar -tzf first.tar.gz | sed 's|^[^/]*/||' | grep -v '/$' | sort >packed
if [ -e "$SOURCE/.git" ] && command -v git >/dev/null; then
	git -C "$SOURCE" ls-files | grep -v '\.git[a-z]*$' | sort >files
	same 'files that it lacks' "$(comm -23 files packed)" ''
	same 'files that are not of the checkout' "$(comm -13 files packed |
		grep -vE '^(Makefile.in|aclocal.m4|build-aux/[a-z.-]*|config.h.in|configure|m4/l[a-z~]*.m4|tools/manpages/offpeak[a-z-]*.1)$')" ''
fi
same 'manual pages that it lacks' "$(cd "$BUILD/tools" && for page in *.1; do grep -qx "tools/manpages/$page" "$tmp/packed" || echo "$page"; done)" ''
for made in configure Makefile.in config.h.in build-aux/ltmain.sh; do
	same "has $made" "$(grep -cx -e "$made" packed)" 1
done

section 'a static library'
(umask 077 && mkdir static sources && TZ=Asia/Kathmandu tar -xzf first.tar.gz --touch -C sources)
sources=$(echo "$tmp"/sources/offpeak-*)
configured() {
	(cd static && "$sources/configure" -q --prefix="$tmp/static/usr" --enable-static --disable-shared CFLAGS=-O0 "$@")
}
configured --enable-collector=yes >log 2>&1
same 'with the collector' "$? $(grep -c 'the collector is a shared library: leave out --disable-shared' log)" '1 1'
pass 'without it' configured
pass 'make install' in_build static -j2 install
same 'the library' "$(cd static/usr/lib && echo liboffpeak.*)" liboffpeak.a
pass 'a program of it' program static/usr --static
same 'what it needs' "$(readelf -d program | grep -c 'NEEDED.*offpeak')" 0
same 'what it prints' "$(./program)" "$sections $sets"
mkdir -p moved/bin && cp -r static/usr/share moved && mv program moved/bin/counts && mv static/usr/share/offpeak static/usr/share/away
same 'what it prints after a move, called by its name alone' "$(cd / && PATH=$tmp/moved/bin:$PATH && counts)" "$sections $sets"
mv static/usr/share/away static/usr/share/offpeak
# Another folder, time zone, umask and other times of files, and another build, give the same bytes.
(umask 077 && TZ=Asia/Kathmandu in_build static dist) >log 2>&1
same 'the tarball, made again' "$(cmp first.tar.gz static/offpeak-*.tar.gz && echo equal)" equal
pass 'make clean' in_build static clean
pass 'make uninstall after make clean' in_build static uninstall
same 'what is left' "$(find static/usr ! -type d; find static/usr -name '*offpeak*')" ''

mkdir other
(cd other && "$sources/configure" -q --with-cuda=/nonexist) >log 2>&1
same 'configure --with-cuda of no folder' "$? $(grep -c 'there is no folder /nonexist: --with-cuda names' log)" '1 1'
finish
