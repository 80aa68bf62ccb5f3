#!/bin/sh
# Runs on the building machine for mmdebstrap: $1 is the new root, $2 the folder of this script, $3 that of the
# containers' image, whose people, logins and masked timers the machine shares, $4 the host and port of the package
# server, $5 the archive that the machine uses there.
set -eu
root=$1
here=$2
containers=$3
server=$4
archive=$5

install_packages() {
    chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "$@"
}

# The machine starts with the last kernel but one of its series; a test upgrades to the last.
chroot "$root" apt-cache search --names-only '^linux-image-6\.1\.0-[0-9]+-cloud-amd64$' | cut -d' ' -f1 |
    sed 's/^linux-image-//' | sort --version-sort | tail -n 2 > "$root/etc/gpufleet-kernels"
[ "$(wc -l < "$root/etc/gpufleet-kernels")" -eq 2 ] || { echo 'the mirror has no two kernels of one series' >&2; exit 1; }
kernel=$(head -n 1 "$root/etc/gpufleet-kernels")
newer=$(tail -n 1 "$root/etc/gpufleet-kernels")

cp -R --no-preserve=ownership "$here/rootfs/." "$root/"
install_packages "linux-image-$kernel" "linux-headers-$kernel" "linux-headers-$newer"
cp -R "$here/gpu" "$root/root/gpu"
for release in "$kernel" "$newer"; do
    chroot "$root" make -s -C "/usr/src/linux-headers-$release" M=/root/gpu modules
    install -D -m 0644 "$root/root/gpu/gpufleet_gpu.ko" "$root/lib/modules/$release/extra/gpufleet_gpu.ko"
    chroot "$root" make -s -C "/usr/src/linux-headers-$release" M=/root/gpu clean
done
rm -r "$root/root/gpu"
chroot "$root" depmod "$kernel"
chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get purge --yes --quiet "linux-headers-$newer"

# DKMS makes a key before its first build, which takes an emulated processor a while.
chroot "$root" dkms generate_mok

# After the kernel, whose installation would run update-grub. There is no partition to install GRUB into: it lies on a
# small disk of its own, which reads the menu from this one.
install_packages grub-pc-bin grub2-common
mkdir -p "$root/boot/grub"
cp -R "$root/usr/lib/grub/i386-pc" "$root/boot/grub/i386-pc"
sed "s/@KERNEL@/$kernel/" "$here/grub.cfg" > "$root/boot/grub/grub.cfg"
cp "$here/boot.cfg" "$root/boot/grub/boot.cfg"
chroot "$root" grub-mkimage --format=i386-pc --config=/boot/grub/boot.cfg --prefix=/boot/grub \
    --output=/boot/grub/core.img biosdisk ext2 search search_label normal serial

# Package lists as the machine would fetch them from the sandbox's server: unpacking them is slow there.
for list in "$root"/var/lib/apt/lists/*_"${archive}"_dists_*; do
    mv "$list" "$root/var/lib/apt/lists/${server}_${archive}_dists_${list#*_dists_}"
done
find "$root/var/lib/apt/lists" -name '*_dists_*' ! -name "${server}_*" -delete

sh "$containers/customize.sh" "$root" "$containers/rootfs"
cp "$root/usr/lib/os-release.distrib" "$root/usr/lib/os-release"
rm "$root/etc/lsb-release"
cp "$here/rootfs/etc/gpufleet-sandbox" "$root/etc/gpufleet-sandbox"
# A sparse file system stays sparse without the kernel's own initialisation of its inode tables.
printf 'LABEL=gpufleet / ext4 errors=remount-ro,noinit_itable 0 1\n' > "$root/etc/fstab"
chroot "$root" systemctl --quiet enable systemd-networkd.service
