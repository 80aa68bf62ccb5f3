"""Which kernel GRUB boots, for the ways in which people pin one."""

import pytest

from ansible_collections.gpufleet.rocm.plugins.module_utils import grub

MENU = """
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="@DEFAULT@"
fi
menuentry 'Ubuntu' --class ubuntu --class os $menuentry_id_option 'gnulinux-simple-7' {
\trecordfail
\tlinux\t/boot/vmlinuz-6.8.0-44-generic root=UUID=1234 ro quiet
\tinitrd\t/boot/initrd.img-6.8.0-44-generic
}
submenu 'Advanced options for Ubuntu' $menuentry_id_option 'gnulinux-advanced-7' {
\tmenuentry 'Ubuntu, with Linux 6.8.0-44-generic' $menuentry_id_option 'gnulinux-6.8.0-44-generic-advanced-7' {
\t\tlinux\t/boot/vmlinuz-6.8.0-44-generic root=UUID=1234 ro quiet
\t}
\tmenuentry 'Ubuntu 6.8.0-44 (recovery)' $menuentry_id_option 'gnulinux-6.8.0-44-generic-recovery-7' {
\t\tlinux\t/boot/vmlinuz-6.8.0-44-generic root=UUID=1234 ro recovery
\t}
\tmenuentry 'Ubuntu, with Linux 6.8.0-41-generic' $menuentry_id_option 'gnulinux-6.8.0-41-generic-advanced-7' {
\t\tlinux\t/boot/vmlinuz-6.8.0-41-generic root=UUID=1234 ro quiet
\t}
}
menuentry 'Memory test' {
\tlinux16\t/boot/memtest86+.bin
}
menuentry "Own kernel" --id own {
\tlinux\t/vmlinuz-6.9.3 root=/dev/sda2
}
"""
OLD, NEW = "6.8.0-41-generic", "6.8.0-44-generic"


@pytest.mark.parametrize(
    ("default", "environment", "expected"),
    [
        ("0", "", NEW),
        ("1>2", "", OLD),
        ("Advanced options for Ubuntu>Ubuntu, with Linux 6.8.0-41-generic", "", OLD),
        ("gnulinux-advanced-7>gnulinux-6.8.0-41-generic-advanced-7", "", OLD),
        ("gnulinux-simple-7", "", NEW),
        ("own", "", "6.9.3"),
        ("3", "", "6.9.3"),
        ("2", "", None),
        ("1", "", None),
        ("1>9", "", None),
        ("gnulinux-6.8.0-41-generic-advanced-7", "", None),
        ("Ubuntu, with Linux 5.4", "", None),
        ("${saved_entry}", "# GRUB Environment Block\nsaved_entry=1>2\n####", OLD),
        ("${saved_entry}", "# GRUB Environment Block\n######", NEW),
        ("0", "next_entry=1>2\n", OLD),
        ("1>2", "next_entry=\n", OLD),
    ],
)
def test_default_release(default: str, environment: str, expected: str | None) -> None:
    assert grub.default_release(MENU.replace("@DEFAULT@", default), environment) == expected


@pytest.mark.parametrize("text", ["", 'set default="0"', "menuentry", "\tmenuentry 'x' {\n\t}\n"])
def test_no_menu(text: str) -> None:
    assert grub.default_release(text, "") is None
