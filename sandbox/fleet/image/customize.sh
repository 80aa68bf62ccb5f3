#!/bin/sh
# Runs on the building machine for mmdebstrap: $1 is the new root, $2 the folder with the files to add.
set -eu
root=$1
files=$2

# Identity of Ubuntu 22.04. The distribution's own file is diverted, so that an upgrade of base-files keeps ours.
chroot "$root" dpkg-divert --quiet --add --rename --divert /usr/lib/os-release.distrib /usr/lib/os-release
cp -R --no-preserve=ownership "$files/." "$root/"
chown -R root:root "$root/etc/gpufleet-sandbox" "$root/etc/lsb-release" "$root/usr/lib/os-release"
chmod 0440 "$root/etc/sudoers.d/ops"

# People: ops manages the host, ada is an ordinary user.
chroot "$root" useradd --create-home --shell /bin/bash --uid 1000 --user-group ops
chroot "$root" useradd --create-home --shell /bin/bash --uid 1001 --user-group ada
install -d -m 0700 -o 1000 -g 1000 "$root/home/ops/.ssh"

# No timer may fight a play for the apt lock.
for unit in apt-daily.timer apt-daily-upgrade.timer apt-daily.service apt-daily-upgrade.service \
    dpkg-db-backup.timer e2scrub_all.timer fstrim.timer; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done

# Each host brings its own identity and keys at start.
rm -f "$root"/etc/ssh/ssh_host_*_key* "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/*
: > "$root/etc/machine-id"
