#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# --cache: files that a program reads while it runs, and folders that can't be watched.
. "${SOURCE:?}/tests/collect_common.sh"

exec </dev/null

section 'what the program reads below its folders'
mkdir -p src/part/__pycache__
executable run.sh <<RUN
. src/lib.sh
src/part/step.sh
echo \$RANDOM\$\$ >scratch
cat src/part/__pycache__/m.cpython-312.pyc large scratch >/dev/null
RUN
echo ': # a library' >src/lib.sh
executable src/part/step.sh <<STEP
exec "$prog" init ctx:0 launch:step
STEP
touch src/part/m.py src/part/__pycache__/m.cpython-312.pyc
truncate -s 17M large
kept '' ./run.sh
for name in large src/lib.sh src/part/m.py src/part/step.sh; do
	err_has "^offpeak-collect: cache: $tmp/$name was read: it is an input, too$"
done
same "$last: files that were read" "$(grep -c 'was read' err)" 4
found '' ./run.sh
# changed FILE: the program runs again, and the next run finds the recording.
changed() {
	kept '' ./run.sh
	err_has "^offpeak-collect: cache: miss: what differs is $tmp/$1, which the program reads$"
	found '' ./run.sh
}
echo '# more' >>src/part/step.sh
changed src/part/step.sh
echo '# more' >>src/lib.sh
changed src/lib.sh
echo '# more' >src/part/m.py
changed src/part/m.py
touch large
changed large
# Files that were not read are not inputs, nor are new ones.
echo 1 >src/new
echo 2 >src/part/__pycache__/m.cpython-312.pyc
found '' ./run.sh
rm large

section 'files that are read, and written, too'
export prog
# not_kept TEXT WORDS...
not_kept() {
	tap_text=$1
	shift
	tells 0 "^offpeak-collect: note: not kept in the cache: $tap_text" -v --cache kept -c one.opk -o run.opk -- "$@"
	err_lacks 'kept as'
}
# Opened for reading and writing, but only read; and opened for access without events, as by mmap().
for way in 'read -r name <&3' 'name=$(cat state <&3)' 'name=k'; do
	echo one >state
	cat >both.sh <<BOTH
exec 3<>state
$way
exec "\$prog" init ctx:0 "launch:\$name"
BOTH
	kept '' sh both.sh
	err_has "^offpeak-collect: cache: $tmp/state was read: it is an input, too$"
	found '' sh both.sh
	echo two >state
	kept '' sh both.sh
	err_has "^offpeak-collect: cache: miss: what differs is $tmp/state, which the program reads$"
	case $way in *k) ;; *) rows_are symbol _Z3twoPKfS0_Pfi ;; esac
	found '' sh both.sh
done
# The content of a file that was read and then changed is unknown, unless it was checked before.
changed='was read and then changed, so that what was read is not known; --cache-input looks at it before the program runs$'
for way in 'echo $name >state' 'echo $name >new; mv new state' 'rm state' 'mv state old'; do
	echo one >state
	echo "read -r name <state; $way; exec \"\$prog\" init ctx:0 launch:k" >update.sh
	not_kept "$tmp/state $changed" sh update.sh
done
echo one >state
cat >update.sh <<'UPDATE'
exec 3<>state
read -r name <&3
echo more >&3
exec "$prog" init ctx:0 "launch:$name"
UPDATE
not_kept "$tmp/state $changed" sh update.sh
for way in 'echo $name >state' 'echo $name >new; mv new state'; do
	echo "read -r name <state; $way; exec \"\$prog\" init ctx:0 launch:k" >update.sh
	# A miss is compared with the newest entry; two entries may have the same second.
	rm -rf kept
	echo one >state
	kept '--cache-input state' sh update.sh
	found '--cache-input state' sh update.sh
	echo two >state
	kept '--cache-input state' sh update.sh
	err_has '^offpeak-collect: cache: miss: what differs is input state '
done
# A file that was written first depends on other inputs: new, emptied, or appended to.
for way in 'rm -f made; echo $$ >made' 'echo $$ >made' 'echo $$ >>made'; do
	echo "$way; cat made made; exec \"\$prog\" init ctx:0 launch:k" >make.sh
	kept '' sh make.sh
	err_lacks 'made was read'
	found '' sh make.sh
done

section 'folders that are not watched'
# unseen TEXT WORDS...: the note appears when the recording is kept, and again when it is found.
unseen() {
	tap_text=$1
	shift
	collect 0 -v --cache "$tmp/kept" -c "$tmp/one.opk" -o "$tmp/run.opk" -- "$@"
	err_has "^offpeak-collect: cache: not all that the program reads could be seen \\($tap_text\\): --cache-input names files and folders$"
	err_has 'cache: kept as'
	tells 0 'is from the cache' --cache "$tmp/kept" -c "$tmp/one.opk" -o "$tmp/run.opk" -- "$@"
	err_has "^offpeak-collect: note: cache: when it was recorded, not all that the program read was seen \\($tap_text\\): --cache-input names files and folders$"
}
# Programs are in the key; what else is in their folder is others'.
kept '' "$(command -v sh)" make.sh
err_has '^offpeak-collect: cache: /[a-z/]*bin is not watched, because all programs read there$'
err_lacks 'not all that the program reads'
found '' "$(command -v sh)" make.sh
cd /etc || exit 99
unseen '/etc: it is not watched, because all programs read there' "$prog" init ctx:0 launch:etc
# Other folders of /usr are watched like all folders.
file=$(find /usr/share -mindepth 2 -maxdepth 2 -type f -size -100k -readable 2>/dev/null | head -n 1)
if [ "$file" ]; then
	cd "$(dirname "$file")" || exit 99
	printf '%s\n' "cat $(basename "$file") >/dev/null" "exec '$prog' init ctx:0 launch:usr" >"$tmp/usr.sh"
	collect 0 -v --cache "$tmp/kept" -c "$tmp/one.opk" -o "$tmp/run.opk" -- sh "$tmp/usr.sh"
	err_has "^offpeak-collect: cache: $file was read: it is an input, too$"
else
	skip 'a file in /usr/share: there is none'
fi
cd "$tmp" || exit 99
mkdir many
(cd many && seq 600 | xargs mkdir)
# A user namespace has its own limits.
for limit in instances watches; do
	set -- unshare -Ur sh -c "echo 0 >/proc/sys/user/max_inotify_$limit && \"\$@\"" sh
	case $limit in
	instances) reason='inotify: Too many open files' ;;
	watches) reason="$tmp: the limit of inotify watches is reached \\(fs.inotify.max_user_watches\\)" ;;
	esac
	if "$@" true 2>/dev/null; then
		"$@" "$collector" --cupti "$cupti" --cache kept -c one.opk -o run.opk -- "$prog" init ctx:0 launch:$limit >out 2>err
		err_has "^offpeak-collect: cache: not all that the program reads could be seen \\($reason\\): "
		collect 0 --cache kept -c one.opk -o run.opk -- "$prog" init ctx:0 launch:$limit
		err_has "^offpeak-collect: note: cache: when it was recorded, not all that the program read was seen \\($reason\\): "
	else
		skip "the limit of inotify's $limit: no user namespaces"
	fi
done
unseen '/[^ ]*/many/[0-9]*: more folders than are watched' "$prog" init ctx:0 launch:many

finish
