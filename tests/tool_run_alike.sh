#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Programs that use no GPU are the same under gpumem-run: their output, errors and
# exit status. Each line below is a command for a shell, begun with the program that
# has to be there; it finds a text in the file text, and an empty folder.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool run
need_no_sanitizer
# The program itself: a script that stands for it would have descriptors of its own.
run=$(cd "$tools" && pwd)/gpumem-run
[ ! -x "${run%/*}/.libs/gpumem-run" ] || run=${run%/*}/.libs/gpumem-run
LD_LIBRARY_PATH=$(cd "$top_builddir" && pwd)/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
LC_ALL=C
export LC_ALL LD_LIBRARY_PATH
cd "$scratch" || exit 1
count=0

# start with|without COMMAND
start()
{
	[ "$1" = without ] || set -- "$@" "$run" --report="$scratch/report"
	command=$2
	shift 2
	exec "$@" sh -c "$command"
}

# alike COMMAND: in a folder of its own each time, which is the same folder
alike()
{
	program=${1%% *}
	command -v "$program" >/dev/null 2>&1 || return
	for how in without with; do
		rm -rf here
		mkdir here
		seq -f 'line %g of a text' 40 >here/text
		(cd here && start $how "$1") >$how.out 2>$how.err </dev/null
		echo "status $?" >>$how.out
	done
	count=$((count + 1))
	if cmp -s without.out with.out && cmp -s without.err with.err; then
		pass "$1"
	else
		fail "$1" "$(diff without.out with.out
		diff without.err with.err)"
	fi
}

while read -r line; do
	[ -z "$line" ] || alike "$line"
done <<'LIST'
sh -c 'echo out; echo err >&2; exit 5'
sh -c 'x=$(seq 5 | wc -l); echo $x; kill -9 $$'
sh -c 'trap "echo trapped" TERM; kill -TERM $$; echo after'
sh -c 'set -e; false; echo not'
sh -c '(exit 3) & wait $!; echo $?'
sh -c 'exec 3<text; read -r x <&3; echo "$x"; ls /proc/self/fd | wc -l'
sh -c 'ulimit -n 20; ulimit -n; cat text | head -n 1'
sh -c 'umask 027; touch f; stat -c %a f; umask'
sh -c 'cd / && pwd; nothing_of_this_name'
dash -c 'for i in 1 2 3; do echo $i; done | sort -r; exit 2'
bash -c 'a=(1 2 3); echo ${a[@]:1}; diff <(echo a) <(echo b)'
bash -c 'coproc cat; echo hi >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x'
bash -c 'set -o pipefail; false | true; echo $?'
bash --version
ksh -c 'echo $((2 ** 10))'
zsh -c 'print ${(U):-abc}'
mksh -c 'echo $((7 / 2))'
fish -c 'echo (math 1 + 1)'
arch
b2sum text
base32 text
base64 text
basename /a/b.c .c
basenc --base16 text
cat -A text
chmod 600 text && stat -c %a text
cksum text
comm text text
cp text copy && cmp text copy
csplit text 10 20
cut -d ' ' -f 2 text
date -u -d @0
dd if=text bs=10 count=2 status=none
df -P /nonexistent
dir
dircolors -b
dirname /a/b/c
du -b text
echo a b c
expand text
expr 6 '*' 7
expr 1 = 2
factor 1234567
false
fmt -w 30 text
fold -w 7 text
groups root
head -c 20 text
id -u
install -m 600 text other && stat -c %a other
join text text
link text hard && stat -c %h text
ln -s text soft && readlink soft
ls -1
ls /nonexistent
md5sum text
mkdir -p a/b/c && find a
mkfifo pipe && test -p pipe
mktemp -u XXX | wc -c
mv text moved && ls
nice -n 1 echo nice
nl text
nohup echo hup
nproc
numfmt --to=iec 123456789
od -c text
paste text text
pathchk /a
pr -t text
printenv HOME
printf '%d %s\n' 3 x
ptx text
pwd
readlink -f .
realpath --relative-to=/ /usr
rm text && ls
rm nothing
rmdir text
seq 3 7
sha1sum text
sha224sum text
sha256sum text
sha384sum text
sha512sum text
shred -u text && ls
shuf --random-source=text text
sleep 0
sort -k 2 -n -r text
sort --parallel=2 text text
split -l 10 text && ls
stat -c %s text
stdbuf -o0 cat text
stty size
sum text
tac text
tail -n 3 text
tee copy <text
test -f text
timeout 5 echo in time
timeout 0.1 sleep 5
touch -d @0 text && stat -c %Y text
tr a-z A-Z <text
true
truncate -s 5 text && cat text
tsort /dev/null
tty
uname -s
unexpand -a text
uniq -c text
unlink text && ls
vdir -d --time-style=+x /usr
wc text
whoami
yes | head -n 3
grep -c line text
grep -P '\d$' text
grep nothing text
egrep 'line (3|4) ' text
fgrep 'f a' text
sed -n '3,5s/line/LINE/p' text
sed -i 's/a/b/' text && cat text
awk '{ s += $2 } END { print s; exit 4 }' text
awk 'BEGIN { "echo x" | getline y; print y; print z | "cat"; close("cat") }'
mawk 'BEGIN { printf "%.3f\n", 1 / 3 }'
gawk 'BEGIN { print strftime("%Y", 0, 1) }'
find . -name 't*' -exec wc -l {} +
xargs -n 5 echo <text
xargs -P 2 -n 20 true <text
diff text /dev/null
cmp text /dev/null
diff3 text text /dev/null
sdiff text text
patch --version
ed -s text
tar -cf a.tar text && tar -tf a.tar
tar -czf a.tgz text && tar -xzOf a.tgz | md5sum
gzip -c text | gunzip | md5sum
zcat nothing
bzip2 -c text | bunzip2 | md5sum
xz -T2 -c text | unxz | md5sum
zstd -q -c text | md5sum
cpio --version
perl -e 'print 6 * 7, "\n"; exit 3'
perl -MPOSIX -e 'print floor(2.5), "\n"; if (!fork) { exit 1 } wait; print $? >> 8, "\n"'
perl -ne 'print if /3/' text
perl -e 'local $SIG{ALRM} = sub { print "alarm\n" }; kill ALRM => $$;'
perl -e 'die "dead\n"'
python3 -c 'import ctypes; print(ctypes.CDLL(None).abs(-3))'
python3 -c 'import os, sys; os.write(2, b"x"); sys.exit(4)'
python3 -c 'import threading as t; a = [t.Thread(target=print, args=(i,)) for i in range(3)]; [(x.start(), x.join()) for x in a]'
python3 -c 'import subprocess as s; print(s.run(["false"]).returncode)'
python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))'
python3 -c 'import ctypes; ctypes.CDLL("libcuda_none.so")' 2>&1 | tail -n 1
python3 -c 'import sqlite3; print(sqlite3.connect(":memory:").execute("select 1").fetchall())'
python3 -c 'import zlib, hashlib, json, decimal; print(hashlib.md5(b"").hexdigest())'
python3 -c 'import os; os.abort()'
ruby -e 'puts 6 * 7'
node -e 'console.log(6 * 7)'
lua -e 'print(6 * 7)'
tclsh text
php -r 'echo 6 * 7;'
guile -c '(display (* 6 7))'
java -version
go version
rustc --version
cc -E -P -x c text
cc -dM -E -x c /dev/null | sort | md5sum
cc -x c nothing.c
gcc -print-file-name=libc.so
gcc -S -O2 -o - -x c - </dev/null
g++ -fsyntax-only -x c++ text 2>&1 | head -n 2
clang -x c -fsyntax-only /dev/null
echo 'int main(void) { return 7; }' >m.c && cc m.c -o m && ./m
echo 'int main(void) { return 7; }' >m.c && cc -static m.c -o m && ./m
cpp -P text
as --version
ld --version
ar rc a.a text && ar t a.a
nm /nonexistent
objdump -f /bin/true | grep -c format
readelf -h /bin/true | md5sum
strings -n 4 text
strip --version
size /bin/true
ldd /nonexistent
make -f /dev/null nothing
printf 'all: a b\na b:\n\techo $@\n' >Makefile && make -s -j2 | sort
m4 text
bc --version
dc --version
gdb --version
strace --version
valgrind --version
file --version
git init -q . && git add text && git status --short
git hash-object text
git --exec-path
gpg --version
openssl version
ssh -V
curl --version
wget --version
dpkg --print-architecture
dpkg-query -W -f '${Status}\n' libc6
apt-config dump APT::Architecture
getconf PAGE_SIZE
getent passwd root
locale -a | head -n 1
iconv -f ascii -t utf-16 text | md5sum
ldconfig -V
kill -l 9
flock text echo locked
getopt -o a -- -a b
hexdump -C text
column -t text
rev text
look line text
script --version
setsid -w echo session
taskset -c 0 true
nsenter --version
ionice
mountpoint /
lsblk --version
findmnt --version
uuidgen --version
more text
less text
info --version
man --version
locale
autoconf --version
automake --version
libtool --version
pkg-config --version
cmake --version
jq -n 1+1
sqlite3 :memory: 'select 6 * 7'
rsync --version
screen -v
tmux -V
emacs --version
nano --version
ping -V
ip -V
ps --version
free --version
pgrep --version
top -v
LIST
diag "$count programs and ways to call them"
check "they were many" [ $count -ge 100 ]

# What a program is surrounded by, in one that says so.
alike "grep -E '^(Sig(Blk|Ign|Cgt)|Threads|NoNewPrivs|Seccomp):' /proc/self/status"
alike "sh -c 'cd /proc/self/fd && echo *'"
alike "cat /proc/self/limits"
alike "cat /proc/self/cgroup"
alike "grep -c libcuda /proc/self/maps"
alike "sh -c 'exec <&-; cd /proc/self/fd && echo *'"

# Whatever is closed stays closed, and only what writes there fails.
for closed in '0<&-' '1>&-' '2>&-' '0<&- 1>&-' '0<&- 1>&- 2>&-'; do
	for how in without with; do
		runner=
		[ $how = without ] || runner="'$run' --report='$scratch/report'"
		sh -c "$runner sh -c 'cd /proc/self/fd && echo * >\"$scratch/$how\";
			exit 7' $closed"
		echo "status $?" >>$how
	done
	is "$(cat with)" "$(cat without)" "closed: $closed"
done
exits 1 "a report for closed errors" sh -c "'$run' true 1>&- 2>&-"
exits 1 "help for closed output" sh -c "'$run' --help 1>&-"

done_testing
