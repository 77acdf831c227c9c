# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The bare system of fresh.sh: Debian or Ubuntu as it is after installation, with
# nothing in it that this project needs. Where its packages come from, and by
# which proxy, is what this machine's apt has been told; FRESH_RELEASE names another
# release of the same mirror. Sourced after tap.sh.

# shellcheck disable=SC1091
. /etc/os-release 2>/dev/null
release=${FRESH_RELEASE:-${VERSION_CODENAME-}}

# "SITE RELEASE COMPONENT" for each list that the bare system has.
package_lists()
{
	if [ "$release" != "$VERSION_CODENAME" ]; then
		echo "$(mirror) $release main"
		return
	fi
	own_lists
}

# Those of the distribution itself; those of others may be for this machine only.
own_lists()
{
	apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' |
		awk -v name="$VERSION_CODENAME" '
		$2 != name && index($2, name "-") != 1 { next }
		$3 !~ /^(main|contrib|non-free|non-free-firmware|restricted|universe|multiverse)$/ {
			next
		}
		!seen[$0]++'
}

# The mirror of the release itself.
mirror()
{
	own_lists | awk -v name="$VERSION_CODENAME" '
		$2 == name && $3 == "main" { print $1; exit }'
}

answers()
{
	/usr/lib/apt/apt-helper download-file \
		"$1/dists/$release/Release" "$scratch/release"
}

# Prints why no bare system can be made here, or nothing.
why_none()
{
	if [ "$(id -u)" -ne 0 ]; then
		echo "a bare system takes root"
	elif [ -z "${VERSION_CODENAME-}" ] ||
		! command -v apt-get >/dev/null 2>&1; then
		echo "this is neither Debian nor Ubuntu"
	elif ! unshare --mount --pid --fork sh -c \
		"mount -t tmpfs none '$scratch'" >/dev/null 2>&1; then
		echo "no file system can be mounted here"
	elif [ -z "$(mirror)" ]; then
		echo "apt has no list of $VERSION_CODENAME"
	elif ! answers "$(mirror)" >/dev/null 2>&1; then
		echo "apt's mirror does not answer"
	elif ! { command -v debootstrap || { apt-get -q update &&
		apt-get -q -y install --no-install-recommends debootstrap; }; } \
		>/dev/null 2>&1 </dev/null; then
		echo "debootstrap cannot be installed"
	elif [ ! -e "/usr/share/debootstrap/scripts/$release" ]; then
		echo "debootstrap does not know $release"
	fi
}

# proxy_of SCHEME: as apt has it, or the environment
proxy_of()
{
	proxy=
	eval "$(apt-config shell proxy "Acquire::$1::Proxy")"
	[ -n "$proxy" ] || eval "proxy=\${${1}_proxy-}"
	[ "$proxy" = DIRECT ] || echo "$proxy"
}

# What apt in there needs to know of the way to its mirrors.
tell_apt()
{
	package_lists | awk '{ line = "deb " $1 " " $2 }
		!(line in all) { order[++count] = line }
		{ all[line] = all[line] " " $3 }
		END { for (i = 1; i <= count; i++) print order[i] all[order[i]] }' \
		>"$1/etc/apt/sources.list" &&
		apt-config dump | grep -E '^Acquire::[^ ]+ "[^"]+";$' |
		grep -vE '^Acquire::(IndexTargets|Changelogs|Languages|CompressionTypes|cdrom)' \
			>"$1/etc/apt/apt.conf.d/90machine"
	[ ! -d /etc/apt/trusted.gpg.d ] ||
		cp -RL /etc/apt/trusted.gpg.d "$1/etc/apt/"
	if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
		mkdir -p "$1/etc/ssl/certs" &&
			cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
	fi
	for file in resolv.conf hosts; do
		cp -L "/etc/$file" "$1/etc/" || return 1
	done
}

# The few devices that every program expects, and this machine's /sys to read.
mount_all()
{
	mount -t proc proc "$1/proc" &&
		mount --bind /sys "$1/sys" &&
		mount -o remount,bind,ro "$1/sys" &&
		mount -t tmpfs -o mode=755 devices "$1/dev" || return 1
	for device in null:3 zero:5 full:7 random:8 urandom:9; do
		mknod -m 666 "$1/dev/${device%:*}" c 1 "${device#*:}" || return 1
	done
	mknod -m 666 "$1/dev/tty" c 5 0 &&
		mkdir "$1/dev/shm" "$1/dev/pts" &&
		mount -t tmpfs -o mode=1777 shm "$1/dev/shm" &&
		mount -t devpts -o newinstance,ptmxmode=666 pts "$1/dev/pts" &&
		ln -s pts/ptmx "$1/dev/ptmx" &&
		ln -s /proc/self/fd "$1/dev/fd" &&
		ln -s fd/0 "$1/dev/stdin" &&
		ln -s fd/1 "$1/dev/stdout" &&
		ln -s fd/2 "$1/dev/stderr"
}

# bare_system FOLDER: makes it there, with a user "somebody". What is mounted
# goes with the mount namespace, in which this has to run.
bare_system()
{
	http_proxy=$(proxy_of http)
	https_proxy=$(proxy_of https)
	export http_proxy https_proxy
	# What a power cut would lose of it is no loss.
	mkdir -p "$1/etc/dpkg/dpkg.cfg.d" &&
		echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/machine" &&
		debootstrap --variant=minbase "$release" "$1" \
			"$(mirror)" &&
		tell_apt "$1" &&
		mount_all "$1" &&
		inside root / apt-get -q update &&
		inside root / useradd -m somebody
}

# inside USER FOLDER COMMAND...: there, as after a login of his; TZ and LC_ALL are
# $zone and $locale
inside()
{
	user=$1
	folder=$2
	shift 2
	home=/home/$user
	[ "$user" != root ] || home=/root
	# shellcheck disable=SC2016
	chroot --userspec="$user" "$root" env -i HOME="$home" USER="$user" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive TZ="${zone-UTC0}" \
		LC_ALL="${locale-C}" GPUMEM_TEST_SCALE="${scale-}" \
		http_proxy="${http_proxy-}" https_proxy="${https_proxy-}" \
		sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$@"
}
