#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The command line's contract for extract: bare images, only to the files that were named.
. "${SOURCE:?}/tests/tap.sh"

training=$recordings/gh100-training.opk

section usage
refuses 2 'one FILE.opk is needed' extract
refuses 2 'one FILE.opk is needed' extract "$simple"
refuses 2 'one FILE.opk is needed' extract --data image
refuses 2 'or -o PREFIX alone' extract "$simple" -o all --data image
refuses 2 'or -o PREFIX alone' extract "$simple" -o all --image 1
refuses 4 'No such file' extract nowhere.opk --data image
refuses 4 'not an .opk file' extract "$SOURCE/README.md" --data image
for file in config image; do
	same "$file" "$(ls $file 2>&1 | grep -c 'No such')" 1
done

section 'some images'
fresh
columns file,content,number,size extract "$simple" --config dir/config --availability dir/availability --data dir/image.cd
out_has '^dir/config,config image,0,[0-9]+$' '^dir/availability,counter-availability image,0,9184$'
out_has '^dir/image.cd,counter data image,1,[0-9]+$'
files_are 'availability config image.cd '
same 'size of the image' "$(wc -c <dir/image.cd | tr -d ' ')" "$(sed -n 's/^dir.image.cd,.*,//p' out)"
same 'what an image begins with' "$(head -c 7 dir/image.cd)" LOPDATA
works extract "$simple" --data dir/image.cd --format json
json 'j == [{"file": "dir/image.cd", "content": "counter data image", "number": 1, "size": j[0]["size"]}]'

section 'what is not there'
fresh
refuses 4 'no counter-data prefix in it' extract "$simple" --prefix dir/prefix
refuses 4 'no counter data image number 2 in it' extract "$simple" --data dir/image --image 2
# All images are written, or none.
refuses 4 'no counter-data prefix in it' extract "$simple" --prefix dir/prefix --data dir/image
files_are ''

section 'several images'
fresh
works extract "$training" --data dir/image.cd
files_are 'image-1.cd image-2.cd image-3.cd image-4.cd image-5.cd image-6.cd '
works extract "$training" --data dir/third --image 3
equal dir/third dir/image-3.cd
fresh
works extract "$training" -o dir/all
files_are 'all-1.data all-2.data all-3.data all-4.data all-5.data all-6.data all.availability '
fresh
works extract "$simple" -o dir/all
files_are 'all.availability all.config all.data '

section 'names'
fresh
cp "$simple" dir/x.opk
cp dir/x.opk x.before
refuses 2 'is the file that is read' extract dir/x.opk --data dir/x.opk
refuses 2 'is the file that is read' extract dir/x.opk --data dir/../dir/x.opk
refuses 2 'named for two files' extract dir/x.opk --data dir/a --config dir/a
refuses 2 'named for two files' extract dir/x.opk --data dir/a --config dir/../dir/a
refuses 2 'named for two files' extract dir/x.opk --data a --config ./a
ln dir/x.opk dir/y.data
refuses 2 'is the file that is read' extract dir/x.opk -o dir/y
rm dir/y.data
refuses 1 "can't create" extract dir/x.opk --data nowhere/a
refuses 1 'not a regular file' extract dir/x.opk --data dir
equal dir/x.opk x.before
files_are 'x.opk '

section 'damage'
fresh
cp "$simple" spoilt
printf oops | dd of=spoilt bs=1 seek=3000 conv=notrunc 2>dd.err
refuses 4 'CRC-32 differs' extract spoilt --config dir/config --data dir/image
files_are ''
works extract spoilt --config dir/config
without_end "$simple" >no_end
notes 'cut off' extract no_end --data dir/image
files_are 'config image '

have_cupti || { skip 'sets and values: no libcupti'; finish; }

section 'sets'
fresh
works build --chip GH100 speed-of-light -o set.opk --raw-config config --raw-prefix prefix
works extract set.opk --config dir/config --prefix dir/prefix
equal dir/config config
equal dir/prefix prefix
fresh
works extract set.opk -o dir/set
files_are 'set.config set.prefix set.rotation '
equal dir/set.config config
equal dir/set.prefix prefix

section 'and back again'
works extract "$simple" --data image
metrics=$("$OFFPEAK" info "$simple" --format json | tr -d '\n ' | sed 's/.*"metrics":\[\([^]]*\)\].*/\1/; s/"//g')
works eval --raw image --metrics "$metrics"
cut -d , -f 3- out | sed 1d >raw.csv
works eval "$simple"
# Only the values are compared, without the columns of facts.
sed -E 's/^[0-9]+,([^,]*),"[^"]*",[0-9x]*,[0-9x]*,[0-9]*,//' out | sed 1d >opk.csv
equal raw.csv opk.csv
section "anybody's config image"
works extract "$simple" --config own.config
gives 'j["chip"] == "GH100" and j["passes"] == len(j["plan"]) and all(p["counters"] > 0 for p in j["plan"])' info --raw-config own.config
works info --raw-config own.config --format csv
out_lacks '^plan'
works info --raw-config own.config --table plan --format csv
same 'the table of passes' "$(head -n 2 out)" "pass,counters
1,10"
refuses 2 'table sections goes with FILE.opk' info --raw-config own.config --table sections
refuses 2 'table plan goes with --raw-config FILE' info "$simple" --table plan
head -c 1500 own.config >cut
echo "no image" >text
refuses 4 'these bytes are not a config image' info --raw-config cut
refuses 4 'names no chip' info --raw-config text
refuses 2 'one FILE.opk, or --raw-config' info

finish
