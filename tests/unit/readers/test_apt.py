"""apt, dpkg and the builds that dpkg starts, in several languages."""

# Lines of output stand as they were printed.
# ruff: noqa: E501, RUF001

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.filter.apt_problems import apt_problems
from tests.unit.readers.captures import capture, names

# capture: ids with the words that the evidence must hold. dkms messages come out of apt, so they are read here too.
READINGS: dict[str, list[tuple[str, str]]] = {
    # Of four repositories only the driver's is missing.
    "apt/01-driver-repo-404-72": [("repo-path-missing", "https://repo.radeon.com/amdgpu/7.2/ubuntu noble Release")],
    "apt/03-key-expired-expkeysig": [
        ("key-expired", "xenial InRelease: The following signatures were invalid: EXPKEYSIG")
    ],
    "apt/04-key-expired-keyexpired": [("key-expired", "KEYEXPIRED 1533155360")],
    "apt/06-ubuntu-packages-shadow-amd": [("distro-package-shadows", "rocminfo (= 1.0.0.50400-72~22.04) but 5.0.0-1")],
    "apt/07-ubuntu-shadow-724": [("distro-package-shadows", "rocm-cmake (= 0.14.0.70204-93~24.04) but 6.0.0-1")],
    # No conflict with ROCm: the distribution's own updates are not enabled.
    "apt/09-updates-pocket-missing": [
        ("updates-pocket-missing", "libsystemd0 (= 255.4-1ubuntu8) but 255.4-1ubuntu8.4")
    ],
    "apt/10-index-size-mismatch-cdn": [
        ("repo-info-changed", "from '7.2.3' to '7.2.4'"),
        ("mirror-out-of-sync", "noble/main/binary-amd64/Packages.gz  File has unexpected size (61315 != 61300)"),
    ],
    "apt/12-ignored-list-file": [
        ("source-file-ignored", "Ignoring file 'rocm' in directory"),
        ("package-not-found", "Unable to locate package rocm-dkms"),
    ],
    "apt/13-signed-by-conflict": [
        ("signed-by-conflict", "tailscale-archive-keyring.gpg != /etc/apt/keyrings/tailscale.gpg")
    ],
    # 051311 is a mainline build: no archive has headers for it.
    "apt/15-no-candidate-headers-czech": [
        ("headers-missing", "linux-headers-5.13.11-051311-generic"),
        ("kernel-mainline", "linux-headers-5.13.11-051311-generic"),
    ],
    "apt/16-update-italian": [],
    "apt/18-jammy-packages-on-noble": [("suite-mismatch", "libcholmod3 but it is not installable")],
    "apt/19-boot-full-initramfs": [
        ("disk-space", "cannot write block : No space left on device"),
        ("initramfs-failed", "failed for /boot/initrd.img-6.17.8+deb14-amd64"),
    ],
    "apt/21-apt-cache-full": [("disk-space", "/var/cache/apt/archives/")],
    "apt/22-therock-deb-size-mismatch": [("mirror-out-of-sync", "(13343180 != 13343700)")],
    # A source entry; what its server answered is not in the text.
    "apt/24-amdgpu-list-722-404": [],
    "dkms/01-old-comma-form-original-module": [],
    "dkms/03-built-and-installed-mixed": [],
    "dkms/04-azure-kernel": [],
    "dkms/06-docs-sample-2404-hwe": [],
    "dkms/07-err-no-dkms-conf": [("dkms-stale-tree", "/var/lib/dkms/amdgpu/6.7.0-1787201.22.04/source/dkms.conf")],
    "dkms/09-other-module-diff-warning": [],
    "dkms/10-empty-output": [],
    "dkms/12-kernel-postinst-autoinstall-fail": [
        ("dkms-failed", "6.8.0-44-generic/x86_64 failed for amdgpu(10)"),
        ("dpkg-broken", "linux-image-6.8.0-44-generic (--configure)"),
    ],
    "dkms/13-mainline-kernel-unsupported": [
        ("dkms-failed", "(bad exit status: 2)"),
        ("kernel-mainline", "linux-headers-6.18.7-061807-generic is not supported"),
    ],
    "dkms/15-headers-missing": [("headers-missing", "linux-headers-6.6.15-amd64")],
    "dkms/16-wrong-kernel-list": [],
}


def ids(text: str) -> list[str]:
    return [problem["id"] for problem in apt_problems(text)]


def test_every_capture_is_read() -> None:
    assert sorted(READINGS) == [*names("apt"), *names("dkms")]


@pytest.mark.parametrize("name", READINGS)
def test_capture(name: str) -> None:
    found = apt_problems(capture(name))
    assert [problem["id"] for problem in found] == [id for id, _ in READINGS[name]]
    for problem, (_, words) in zip(found, READINGS[name], strict=True):
        assert words in problem["evidence"]


REPO = "https://repo.radeon.com/rocm/apt/6.0 jammy InRelease"
URL = "https://repo.radeon.com/rocm/apt/6.0/pool/main/h/hip-dev/hip-dev_6.0.0_amd64.deb"


@pytest.mark.parametrize(
    ("text", "id"),
    [
        (
            f"W: GPG error: {REPO}: The following signatures couldn't be verified: NO_PUBKEY 9386B48A1A693C5C",
            "key-missing",
        ),
        (
            f"Err:5 {REPO}\n  Sub-process /usr/bin/sqv returned an error code (1), error message is: Missing key"
            " CA8BB4727A47B4D09B4EE8969386B48A1A693C5C, which is needed to verify signature.\n"
            f"E: The repository '{REPO}' is not signed.",
            "key-missing",
        ),
        (f"E: The repository '{REPO}' is not signed.", "repo-unsigned"),
        (f"E: Репозиторий «{REPO}» не подписан.", "repo-unsigned"),
        (
            f"W: GPG error: {REPO}: The following signatures were invalid: BADSIG 9386B48A1A693C5C ROCm",
            "signature-invalid",
        ),
        (
            f"W: {REPO}: Policy rejected packet: SHA1 is not considered secure since 2026-02-01T00:00:00Z",
            "signature-weak",
        ),
        (
            f"W: {REPO.split()[0]}/dists/jammy/InRelease: The key(s) in the keyring /etc/apt/keyrings/rocm.gpg are ignored"
            " as the file has an unsupported filetype.",
            "keyring-unusable",
        ),
        (
            f"W: {REPO.split()[0]}/dists/jammy/InRelease: Key is stored in legacy trusted.gpg keyring"
            " (/etc/apt/trusted.gpg), see the DEPRECATION section in apt-key(8) for details.",
            "key-in-trusted-gpg",
        ),
        ("E: Não foi possível encontrar o pacote rocm-hip-sdk", "package-not-found"),
        ("E: 找不到套件 rocm-hip-sdk", "package-not-found"),
        (
            (
                "Err:1 https://repo.radeon.com/rocm/apt/7.0 noble InRelease\n"
                "  Sub-process /usr/bin/sqv returned an error code (1), error message is: Missing key CA8BB4727A47B4D09B4EE8969386B48A1A693C5C, which is needed to verify signature.\n"
                "Warning: OpenPGP signature verification failed: https://repo.radeon.com/rocm/apt/7.0 noble InRelease: Sub-process /usr/bin/sqv returned an error code (1), error message is: Missing key CA8BB4727A47B4D09B4EE8969386B48A1A693C5C, which is needed to verify signature.\n"
                "Error: The repository 'https://repo.radeon.com/rocm/apt/7.0 noble InRelease' is not signed.\n"
                "Notice: Updating from such a repository can't be done securely, and is therefore disabled by default."
            ),
            "key-missing",
        ),
        (
            (
                "Warning: https://repo.radeon.com/amdgpu/6.4.4/ubuntu/dists/noble/InRelease: Policy will reject signature within a year, see --audit for details\n"
                "Audit: https://repo.radeon.com/amdgpu/6.4.4/ubuntu/dists/noble/InRelease: Sub-process /usr/bin/sqv returned an error code (1), error message is:\n"
                "   Signing key on CA8BB4727A47B4D09B4EE8969386B48A1A693C5C is not bound:\n"
                "              No binding signature at time 2025-09-18T22:16:53Z\n"
                "     because: Policy rejected non-revocation signature (PositiveCertification) requiring second pre-image resistance\n"
                "     because: SHA1 is not considered secure since 2026-02-01T00:00:00Z"
            ),
            "signature-weak",
        ),
        (
            (
                "Err:4 http://k.example/kali kali-rolling InRelease\n"
                "  Sub-process /usr/bin/sqv returned an error code (1), error message is: Verifying signature:            Not live until 2026-05-28T11:35:34Z\n"
                "Warning: OpenPGP signature verification failed: http://k.example/kali kali-rolling InRelease: Sub-process /usr/bin/sqv returned an error code (1), error message is: Verifying signature:            Not live until 2026-05-28T11:35:34Z\n"
                "Error: The repository 'http://k.example/kali kali-rolling InRelease' is not signed."
            ),
            "clock-wrong",
        ),
        (
            "Warning: OpenPGP signature verification failed: https://repo.radeon.com/rocm/apt/7.0 noble InRelease: Sub-process /usr/bin/sqv returned an error code (1), error message is: Verifying signature: Expired on 2024-08-01T00:00:00Z",
            "key-expired",
        ),
        (
            "W: Conflicting distribution: https://repo.radeon.com/rocm/apt/6.4 noble InRelease (expected noble but got jammy)",
            "suite-mismatch",
        ),
        (
            "E: Failed to fetch https://repo.radeon.com/x/rocm-llvm_19.deb  Undetermined Error [IP: 192.0.2.1 443]",
            "repo-unreachable",
        ),
        (
            (
                "Err:1 https://repo.radeon.com/rocm/apt/6.4 noble InRelease\n"
                "  Could not handshake: Error in the certificate verification. [IP: 192.0.2.1 443]"
            ),
            "tls-certificate",
        ),
        (
            "Error: Failed to fetch https://repo.radeon.com/rocm/apt/7.0/dists/noble/InRelease  SSL connection failed: error:0A000086:SSL routines::certificate verify failed / Success [IP: 192.0.2.1 443]",
            "tls-certificate",
        ),
        ("Error: Unable to locate package rocm-hip-sdk", "package-not-found"),
        ("Error: Package 'rocm-dev' has no installation candidate", "package-no-candidate"),
        (
            'fatal: [h]: FAILED! => {"changed": false, "msg": "No package matching \'rocm-hip-sdk\' is available"}',
            "package-not-found",
        ),
        (
            'fatal: [h]: FAILED! => {"msg": "Failed to update apt cache: E:The repository \'https://repo.radeon.com/amdgpu/7.2/ubuntu noble Release\' does not have a Release file."}',
            "repo-path-missing",
        ),
        (
            "Warning: https://repo.radeon.com/rocm/apt/6.0/dists/jammy/InRelease: Loading /etc/apt/trusted.gpg from deprecated option Dir::Etc::Trusted",
            "key-in-trusted-gpg",
        ),
        (
            (
                "WARNING: The following packages cannot be authenticated!\n"
                "  rocm-core hip-dev\n"
                "E: There were unauthenticated packages and -y was used without --allow-unauthenticated"
            ),
            "repo-unsigned",
        ),
        (
            (
                "W: (pve-apt-hook) !! WARNING !!\n"
                "W: (pve-apt-hook) You are attempting to remove the meta-package 'proxmox-ve'!\n"
                "E: Sub-process /usr/share/proxmox-ve/pve-apt-hook returned an error code (1)\n"
                "E: Failure running script /usr/share/proxmox-ve/pve-apt-hook"
            ),
            "proxmox-host",
        ),
        (
            (
                "E: Failed to fetch https://repo.radeon.com/rocm/apt/6.4/dists/noble/InRelease  Clearsigned file isn't valid, got 'NOSPLIT' (does the network require authentication?)\n"
                "E: The repository 'https://repo.radeon.com/rocm/apt/6.4 noble InRelease' is not signed."
            ),
            "repo-unreachable",
        ),
        (
            'fatal: [h]: FAILED! => {"changed": false, "msg": "Failed to update apt cache: W:GPG error: https://repo.radeon.com/rocm/apt/6.4 noble InRelease: The following signatures couldn\'t be verified because the public key is not available: NO_PUBKEY 9386B48A1A693C5C"}',
            "key-missing",
        ),
        (
            "W: https://repo.radeon.com/rocm/apt/6.4/dists/jammy/InRelease: Signature by key CA8B uses weak algorithm (rsa1024)",
            "signature-weak",
        ),
        (
            (
                "Err:12 https://repo.radeon.com/rocm/apt/6.4 noble/main amd64 rocblas amd64 4.4.0.60400-47~24.04\n"
                "  404  Not Found [IP: 192.0.2.1 443]\n"
                "E: Failed to fetch https://repo.radeon.com/rocm/apt/6.4/pool/main/r/rocblas/rocblas_4.4.0.60400-47~24.04_amd64.deb  404  Not Found [IP: 192.0.2.1 443]\n"
                "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?"
            ),
            "index-stale",
        ),
        (
            ("Err:1 https://repo.radeon.com/rocm/apt/6.4 noble InRelease\n  Connection failed [IP: 192.0.2.1 443]"),
            "repo-unreachable",
        ),
        (
            (
                "dpkg: error: dpkg frontend lock was locked by another process with pid 4711\n"
                "Note: removing the lock file is always wrong, and can end up damaging the\n"
                "locked area and the entire system. See <https://wiki.debian.org/Teams/Dpkg/FAQ>."
            ),
            "apt-locked",
        ),
        (
            (
                "DKMS make.log for amdgpu-6.8.5-2009582.24.04 for kernel 6.8.0-44-generic (x86_64)\n"
                "make[2]: *** [scripts/Makefile.build:243: /var/lib/dkms/amdgpu/6.8.5-2009582.24.04/build/amd/amdgpu/x.o] Error 1\n"
                "make: *** [Makefile:240: __sub-make] Error 2"
            ),
            "dkms-failed",
        ),
        ("Autoinstall on 6.14.0-24-generic failed for module(s) amdgpu(10).", "dkms-failed"),
        ("E: Unsupported file ./amdgpu-install_6.4_all.deb given on commandline", "package-not-found"),
        (
            (
                "Error: Failed to fetch https://repo.radeon.com/amdgpu/7.2/ubuntu/dists/noble/InRelease  404  Not Found [IP: 192.0.2.1 443]\n"
                "Error: The repository 'https://repo.radeon.com/amdgpu/7.2/ubuntu noble Release' does not have a Release file."
            ),
            "repo-path-missing",
        ),
        (
            '{"msg": "An unknown error occurred: W:GPG error: https://repo.radeon.com/rocm/apt/6.4 noble InRelease: The following signatures couldn\'t be verified because the public key is not available: NO_PUBKEY 9386B48A1A693C5C, E:The repository \'https://repo.radeon.com/rocm/apt/6.4 noble InRelease\' is not signed."}',
            "key-missing",
        ),
        (
            'Warning: OpenPGP signature verification failed: https://r.example noble InRelease: Sub-process /usr/bin/sqv returned an error code (1), error message is: Error: Failed to parse keyring "/etc/apt/keyrings/rocm.gpg"',
            "keyring-unusable",
        ),
        (f"W: GPG error: {REPO}: The following signatures were invalid: NODATA 1 NODATA 2", "signature-invalid"),
        (
            f"W: Skipping acquire of configured file 'foo/binary-amd64/Packages' as repository '{REPO}' doesn't have the component 'foo' (component misspelt in sources.list?)",
            "repo-path-missing",
        ),
        (
            "E: Invalid record in the preferences file /etc/apt/preferences.d/rocm-pin-600, no Package header",
            "source-malformed",
        ),
        ("E: /var/cache/apt/archives/ に充分な空きスペースがありません。", "disk-space"),
        ("E: Nincs elég szabad hely itt: /var/cache/apt/archives/.", "disk-space"),
        # The languages agree on the name of the server and its address only.
        (
            f"Fehl:1 {REPO}\n  Verbindung mit repo.radeon.com:443 konnte nicht aufgebaut werden (192.0.2.1), Zeitüberschreitung aufgetreten",
            "repo-unreachable",
        ),
        (
            f"오류:1 {REPO}\n  repo.radeon.com:443에 연결할 수 없습니다 (192.0.2.1). 연결 제한 시간이 초과했습니다",
            "repo-unreachable",
        ),
        (f'Błąd:1 {REPO}\n  Nie udało się przetłumaczyć nazwy "repo.radeon.com"', "repo-unreachable"),
        (f"錯誤:1 {REPO}\n  暫時無法解析 'repo.radeon.com'", "repo-unreachable"),
        ("E: Kunne ikke lokalisere pakken rocm-dkms", "package-not-found"),
        ("E: Không thể định vị gói rocm-dkms", "package-not-found"),
        ("E: ไม่พบแพกเกจ rocm-dkms", "package-not-found"),
        ("E: Nepavyko rasti paketo rocm-dkms", "package-not-found"),
        ("E: パッケージ rocm-dkms が見つかりません", "package-not-found"),
        ("E: 'rocm-core' のバージョン '6.4.0' が見つかりませんでした", "package-version-missing"),
        ("E: Η έκδοση 6.4.0.60400-47~24.04 για το rocm-core δεν βρέθηκε", "package-version-missing"),
        ("E: Gói “rocm-dkms” không có ứng cử cài đặt", "package-no-candidate"),
        ("E: Неуспех при коригирането на проблемите, имате задържани счупени пакети.", "unmet-dependencies"),
        ("E: Kunne ikke korrigere problemerne, da du har tilbageholdt ødelagte pakker.", "unmet-dependencies"),
        ("E: No es poden corregir els problemes, teniu paquets retinguts que estan trencats.", "unmet-dependencies"),
        (f"E: Arkivet »{REPO.replace('InR', 'R')}« har ikke en udgivelsesfil.", "repo-path-missing"),
        (f"E: El dipòsit «{REPO}» no està signat.", "repo-unsigned"),
        (f"E: Der opstod en fejl {URL}  Hashsum stemmer ikke", "mirror-out-of-sync"),
        (f"Грш:1 {REPO}\n  Несъответствие на контролната сума", "mirror-out-of-sync"),
        (f"E: Udgivelsesfil for {REPO} er udløbet (ugyldig siden 1d 2h).", "repo-expired"),
        (f"E: {REPO} 的 Release 文件已经过期(已经过期了 3h 2min 1s)。", "clock-wrong"),
        (f"W: 發行版本衝突：{REPO}（應當是 noble 但卻得到 jammy）", "suite-mismatch"),
        (
            f"W: 鉴于仓库 '{REPO}' 不含有 'mian' 组件，跳过配置文件 'mian/binary-amd64/Packages' 的获取",
            "repo-path-missing",
        ),
        (
            "E: 软件源 https://repo.radeon.com/rocm/apt/6.4/ noble 的选项 Signed-By 中含有互相冲突的值：/etc/a.gpg != /etc/b.asc",
            "signed-by-conflict",
        ),
        ("E: ソースリスト /etc/apt/sources.list.d/a.list の 1 行にあるタイプ 'x' は不明です", "source-malformed"),
        ("E: Nelze získat zámek dpkg frontendu (/var/lib/dpkg/lock-frontend). Jste root?", "root-required"),
        (
            "E: Das Paket rock-dkms muss neu installiert werden, es kann jedoch kein Archiv dafür gefunden werden.",
            "dpkg-broken",
        ),
        ("Fehler: Paket rocm-dkms kann nicht gefunden werden.", "package-not-found"),
        ("错误：无法定位软件包 rocm-dkms", "package-not-found"),
        ("E: „rocm-dkms” csomagnak nincs telepítésre jelölt verziója", "package-no-candidate"),
        (f"E: Release file for {REPO} is not valid yet (invalid for another 2h 3min 4s).", "clock-wrong"),
        (f"E: Release file for {REPO} is expired (invalid since 10d 5h 3min 2s).", "repo-expired"),
        (f"E: Repository '{REPO}' changed its 'Suite' value from 'stable' to 'jammy'", "repo-info-changed"),
        (
            f"E: Für das Depot »{REPO}« wurde der »Origin«-Wert von »« in »repo.radeon.com« geändert.",
            "repo-info-changed",
        ),
        (
            f"N: Le dépôt «\u00a0{REPO}\u00a0» a modifié sa valeur «\u00a0Version\u00a0» de «\u00a01\u00a0» à «\u00a02\u00a0»",
            "repo-info-changed",
        ),
        (
            "E: The repository 'https://repo.radeon.com/rocm/apt/9.9 jammy Release' does not have a Release file.",
            "repo-path-missing",
        ),
        (
            "E: The repository 'https://repo.radeon.com/rocm/apt/9.9 jammy Release' no longer has a Release file.",
            "repo-path-missing",
        ),
        (
            "E: Репозиторий «https://repo.radeon.com/rocm/apt/9.9 jammy Release» не содержит файла Release.",
            "repo-path-missing",
        ),
        (
            "E: Das Depot »https://repo.radeon.com/rocm/apt/9.9 jammy Release« enthält keine Release-Datei.",
            "repo-path-missing",
        ),
        (f"E: Failed to fetch {URL}  404  Not Found [IP: 192.0.2.10 443]", "index-stale"),
        (f"Err:3 {URL}\n  404  Not Found [IP: 192.0.2.10 443]", "index-stale"),
        (f"E: Selhalo stažení {URL}  Neshoda kontrolních součtů", "mirror-out-of-sync"),
        (
            f"E: Failed to fetch {URL}  Hash Sum mismatch\n   Hashes of expected file:\n    - SHA256:00",
            "mirror-out-of-sync",
        ),
        (f"E: Не удалось получить {URL}  Хеш-сумма не совпадает", "mirror-out-of-sync"),
        (f"W: Failed to fetch {REPO}  503  Service Unavailable [IP: 192.0.2.10 443]", "repo-unreachable"),
        (
            "Err:1 https://repo.radeon.com/rocm/apt/6.0 jammy InRelease\n  Could not resolve 'repo.radeon.com'",
            "repo-unreachable",
        ),
        (
            "Ошб:1 https://repo.radeon.com/rocm/apt/6.0 jammy InRelease\n  Временная ошибка при разрешении «repo.radeon.com»",
            "repo-unreachable",
        ),
        (
            "W: Failed to fetch http://m.example/InRelease  Could not connect to m.example:80 (192.0.2.1). - connect (111: Connection refused)",
            "repo-unreachable",
        ),
        (
            "W: Impossibile recuperare http://m.example/InRelease  Impossibile connettersi a m.example:80 (192.0.2.1). - connect (113: Nessun instradamento)",
            "repo-unreachable",
        ),
        (
            "E: Failed to fetch https://repo.radeon.com/x  Clearsigned file isn't valid, got 'NOSPLIT' (does the network require authentication?)",
            "repo-unreachable",
        ),
        (
            "Err:1 http://m.example jammy InRelease\n  407  Proxy Authentication Required [IP: 192.0.2.1 3128]",
            "proxy-authentication",
        ),
        (
            f"Err:1 {REPO}\n  Certificate verification failed: The certificate is NOT trusted. The certificate issuer is unknown.",
            "tls-certificate",
        ),
        ("E: The method driver /usr/lib/apt/methods/https could not be found.", "apt-https-missing"),
        (
            "W: Target Packages (main/binary-amd64/Packages) is configured multiple times in /etc/apt/sources.list.d/amdgpu.list:1 and /etc/apt/sources.list.d/rocm.sources:1",
            "source-duplicate",
        ),
        ("E: Malformed entry 1 in list file /etc/apt/sources.list.d/rocm.list (URI parse)", "source-malformed"),
        ("E: Type 'ded' is not known on line 1 in source list /etc/apt/sources.list.d/rocm.list", "source-malformed"),
        (
            "N: Ignoruji soubor „rocm“ v adresáři „/etc/apt/sources.list.d/“, jelikož nemá příponu",
            "source-file-ignored",
        ),
        (
            "N: Ignoring file 'rocm.conf' in directory '/etc/apt/preferences.d/' as it has an invalid filename extension",
            "source-file-ignored",
        ),
        (
            "E: Для параметра Signed-By источника https://repo.radeon.com/rocm/apt/6.0/ jammy: /etc/a.gpg != /etc/b.asc",
            "signed-by-conflict",
        ),
        (
            "W: GPG error: https://repo.radeon.com/rocm/apt/6.0 jammy InRelease: Sub-process /usr/bin/sqv returned an error code (1), error message is: The primary key is not alive",
            "key-expired",
        ),
        ("gpgv: Can't check signature: No public key", "key-missing"),
        (
            "W: GPG error: https://repo.radeon.com/rocm/apt/6.0 jammy InRelease: The following signatures were invalid: REVKEYSIG 9386B48A1A693C5C ROCm",
            "key-revoked",
        ),
        ("W: GPG error: https://repo.radeon.com/rocm/apt/6.0 jammy InRelease: KEYREVOKED", "key-revoked"),
        ("     because: Policy rejected non-revocation signature (PositiveCertification)", "signature-weak"),
        ("     because: SHA1 is not considered secure since 2026-02-01T00:00:00Z", "signature-weak"),
        (
            "W: The repository 'https://repo.radeon.com/rocm/apt/6.0 jammy Release' provides only weak security information.",
            "signature-weak",
        ),
        ("Error! Bad return status for module build on kernel: 6.8.0-44-generic (x86_64)", "dkms-failed"),
        ("Error!  Build of amdgpu.ko failed for: 5.4.0-54-generic (x86_64)", "dkms-failed"),
        (
            "Error! Your kernel headers for kernel 6.14.0-24-generic cannot be found at /lib/modules/6.14.0-24-generic/build.",
            "headers-missing",
        ),
        ("Error! Could not locate dkms.conf file.", "dkms-stale-tree"),
        (
            "E: Impossibile aprire il file di blocco /var/lib/dpkg/lock-frontend - open (13: Permesso negato)",
            "root-required",
        ),
        ("mkinitramfs failure zstd 70", "initramfs-failed"),
        (
            "W: Failed to fetch https://repo.radeon.com/rocm/apt/6.0 jammy InRelease (111: Connection refused)",
            "repo-unreachable",
        ),
        ("E: Unable to locate package rocm-hip-sdk6.0.0", "package-not-found"),
        ("E: Невозможно найти пакет rocm-hip-sdk", "package-not-found"),
        ("E: Impossibile trovare il pacchetto amdgpu-dkms", "package-not-found"),
        ("E: Paket rocm-hip-sdk kann nicht gefunden werden.", "package-not-found"),
        ("fatal: E: Unable to locate package rocm-hip-sdk", "package-not-found"),
        ("E: Package 'amdgpu-dkms' has no installation candidate", "package-no-candidate"),
        ("E: Для пакета «amdgpu-dkms» не найден кандидат на установку", "package-no-candidate"),
        ('E: Il pacchetto "amdgpu-dkms" non ha candidati da installare', "package-no-candidate"),
        ("E: Unable to locate package linux-headers-6.8.0-41-generic", "headers-missing"),
        ("E: Unable to locate package linux-modules-extra-6.8.0-1021-azure", "modules-extra-missing"),
        ("E: Version '6.0.0.60000-91~22.04' for 'rocm-hip-sdk' was not found", "package-version-missing"),
        (
            "E: Version »6.0.0.60000-91~22.04« für »rocm-hip-sdk« konnte nicht gefunden werden.",
            "package-version-missing",
        ),
        ("E: Packages were downgraded and -y was used without --allow-downgrades.", "downgrade-refused"),
        ("E: Held packages were changed and -y was used without --allow-change-held-packages.", "package-held"),
        (
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (unattended-upgr)",
            "apt-locked",
        ),
        (
            "Waiting for cache lock: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 812 (apt)...",
            "apt-locked",
        ),
        (
            "E: Не удалось получить блокировку файла /var/lib/dpkg/lock-frontend. Она удерживается процессом 812 (apt)",
            "apt-locked",
        ),
        (
            "E: Could not get lock /var/cache/apt/archives/lock - open (11: Resource temporarily unavailable)",
            "apt-locked",
        ),
        (
            "E: Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)\nE: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?",
            "root-required",
        ),
        (
            "E: dpkg was interrupted, you must manually run 'sudo dpkg --configure -a' to correct the problem.",
            "dpkg-broken",
        ),
        (
            "E: Работа dpkg была прервана, вы должны вручную запустить «dpkg --configure -a» для устранения проблемы.",
            "dpkg-broken",
        ),
        ("E: The package rock-dkms needs to be reinstalled, but I can't find an archive for it.", "dpkg-broken"),
        (
            "dpkg: error processing archive /var/cache/apt/archives/rock-dkms_3.9_all.deb (--unpack):\n trying to overwrite '/etc/modprobe.d/x', which is also in package amdgpu-dkms 19.50",
            "file-conflict",
        ),
        (
            "dpkg: ошибка при обработке архива /tmp/x.deb (--unpack):\n попытка перезаписать «/opt/rocm/x», который уже имеется в пакете y 1",
            "file-conflict",
        ),
        ("E: V /var/cache/apt/archives/ nemáte dostatek volného místa.", "disk-space"),
        ("E: Spazio libero in /var/cache/apt/archives/ insufficiente.", "disk-space"),
        ("E: Недостаточно свободного места в /var/cache/apt/archives/.", "disk-space"),
        ("E: Write error - write (28: Na zařízení není volné místo)", "disk-space"),
        (
            "dpkg: error processing archive x.deb (--unpack):\n cannot copy extracted data: failed to write (No space left on device)",
            "disk-space",
        ),
        (
            "Error! The dkms.conf for module amdgpu includes a BUILD_EXCLUSIVE directive which does not match this kernel/arch.",
            "kernel-unsupported",
        ),
        (
            "Module build for kernel 6.8.0-44-generic was skipped since the\nkernel headers for this kernel do not seem to be installed.",
            "headers-missing",
        ),
        (
            "Error! amdgpu/6.7.0: Missing the module source directory or the symbolic link pointing to it.",
            "dkms-stale-tree",
        ),
        (
            "Error! Module version C502 for amdgpu.ko\nis not newer than what is already found in kernel 4.13.0-36-generic (D358).",
            "dkms-failed",
        ),
    ],
)
def test_known_complaint(text: str, id: str) -> None:
    assert ids(text) == [id]


def test_a_driver_package_that_does_not_build() -> None:
    text = (
        "dpkg: error processing package amdgpu-dkms (--configure):\n"
        " installed amdgpu-dkms package post-installation script subprocess returned error exit status 10\n"
        "E: Sub-process /usr/bin/dpkg returned an error code (1)\n"
    )
    assert ids(text) == ["dpkg-broken", "dkms-failed"]
    assert ids(text.splitlines()[-1]) == ["dpkg-broken"]


HEAD = "The following packages have unmet dependencies:\n"


@pytest.mark.parametrize(
    ("text", "id"),
    [
        (
            HEAD + " app : Depends: hipcc (= 1.1.1.70204-93~24.04) but 5.7.1-3 is to be installed",
            "distro-package-shadows",
        ),
        (" app : Závisí na: hipcc (= 1.1.1.70204-93~24.04) ale 5.7.1-3 se bude instalovat", "distro-package-shadows"),
        (
            " app : Dipende: hipcc (= 1.1.1.70204-93~24.04) ma la versione 5.7.1-3 sta per essere installata",
            "distro-package-shadows",
        ),
        (" app : Зависит: hipcc (= 1.1.1.70204-93~24.04) но 5.7.1-3 должен быть установлен", "distro-package-shadows"),
        (
            " app : Hängt ab von: lib (= 6.0.0.60000-91~22.04) soll aber nicht installiert werden\n"
            "       Hängt ab von: rocminfo (= 1.0.0.60000-91~22.04) aber 5.0.0-1 soll installiert werden",
            "distro-package-shadows",
        ),
        ("app : Depends: hipcc (= 1.1.1.70204-93~24.04) but 5.7.1-3 is to be installed", "distro-package-shadows"),
        (" app : Depends: hip-dev (= 6.0.0.60000-91~22.04) but 6.1.0.60100-82~22.04 is to be installed", "release-mix"),
        (
            " amdgpu-dkms : Depends: amdgpu-dkms-firmware (= 1:6.10.5.60302-2109964.24.04)"
            " but 1:6.12.12.60400-2147987.24.04 is to be installed",
            "release-mix",
        ),
        (
            " app : Dépend: hipcc (= 1.1.1.70204-93~24.04) mais 5.7.1-3 devra être installé",
            "distro-package-shadows",
        ),
        (
            " app : 依存: hipcc (= 1.1.1.70204-93~24.04) しかし、5.7.1-3 はインストールされようとしています",
            "distro-package-shadows",
        ),
        (" app : 依赖: hipcc (= 1.1.1.70204-93~24.04) 但是 5.7.1-3 正要被安装", "distro-package-shadows"),
        (
            "amdgpu-dkms : Wymaga: amdgpu-dkms-firmware (= 1:6.12.12.60400-2147987.24.04) ale 1:6.12.12.60401-2164967.24.04 jest zainstalowany",
            "release-mix",
        ),
        (
            " amdgpu-dkms : PreDepends: amdgpu-dkms-firmware (= 1:5.6.5.24-1109583) but it is not installable",
            "unmet-dependencies",
        ),
        (" rocm-gdb : Depends: libpython3.10 (>= 3.10.0) men den kan ikke installeres", "suite-mismatch"),
        (" app : Зависит: libpython3.10 (>= 3.10.0) но он не может быть установлен", "suite-mismatch"),
        (" app : Dipende: libtinfo5 ma non è installabile", "suite-mismatch"),
        (
            " app:i386 : Depends: libc6:i386 (= 2.39-0ubuntu8) but 2.39-0ubuntu8.4 is to be installed",
            "updates-pocket-missing",
        ),
        (" app : Depends: lib (= 1.0) but it is not going to be installed", "unmet-dependencies"),
        (" app : Depends: rocm-core but it is not installable", "unmet-dependencies"),
        ("       rocm-dkms : Depends: rocm-dev but it is not going to be installed", "unmet-dependencies"),
        (
            " openmp-extras : Depends: libstdc++-5-dev but it is not installable or\n"
            "                          libstdc++-7-dev but it is not installable\n"
            "                 Depends: libgcc-5-dev but it is not installable or",
            "suite-mismatch",
        ),
        (" app : Conflicts: lib (>= 1.0) but 2.0 is to be installed", "unmet-dependencies"),
        ("E: Unable to correct problems, you have held broken packages.", "unmet-dependencies"),
        ("E: Невозможно исправить ошибки: у вас зафиксированы сломанные пакеты.", "unmet-dependencies"),
        ("E: Unable to satisfy dependencies. Reached two conflicting assignments:", "unmet-dependencies"),
    ],
)
def test_unmet_dependencies(text: str, id: str) -> None:
    assert ids(text) == [id]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hit:1 https://repo.radeon.com/rocm/apt/6.0 jammy InRelease\nReading package lists... Done\n",
        "Get:1 https://repo.radeon.com/rocm/apt/6.0 jammy/main amd64 Packages [404 kB]\nFetched 404 kB in 1s (500 kB/s)",
        "N: Ignoring file 'rocm.list.save' in directory '/etc/apt/sources.list.d/' as it has an invalid filename extension",
        "N: Ignoring file 'x.list.dpkg-old' in directory '/etc/apt/sources.list.d/' as it has an invalid filename extension",
        "Package: x\nDepends: libc6 (>= 2.35), libstdc++6 (>= 12)\n",
        "  Depends: libc6\n",
        "W: Possible missing firmware /lib/firmware/amdgpu/gc_11_0_0_pfp.bin for module amdgpu",
        "Autoinstall of module amdgpu/6.16.13 for kernel 6.18.7-061807-generic (x86_64)\nBuilding module(s)... done.",
        "linux-headers-6.6.10-76060610-generic è già alla versione più recente.",
        "0 upgraded, 0 newly installed, 0 to remove and 5 not upgraded.",
        # The repository has no packages for a second architecture.
        f"N: Skipping acquire of configured file 'main/binary-i386/Packages' as repository '{REPO}' doesn't support architecture 'i386'",
        "N: Download is performed unsandboxed as root as file '/root/x.deb' couldn't be accessed by user '_apt'. - pkgAcquire::Run (13: Permission denied)",
        "Ign:3 https://repo.radeon.com/rocm/apt/5.0 ubuntu InRelease\nHit:4 https://repo.radeon.com/rocm/apt/5.0 ubuntu Release",
        "Warning: apt-key is deprecated. Manage keyring files in trusted.gpg.d instead (see apt-key(8)).\nOK",
        "rocminfo:\n  Installed: (none)\n  Candidate: 1.0.0.60400-47~24.04\n     5.7.1-3build1 500\n        500 http://archive.ubuntu.com/ubuntu noble/universe amd64 Packages",
        "E: Unable to read /etc/apt/preferences.d/rocm-pin-600 - open (13: Permission denied)",
        "E: Download of 2 files listed in /etc/apt/sources.list.d/rocm.list from https://repo.radeon.com was stopped",
        "E: Version '1' of https://repo.radeon.com/ for 'xx' is not taken",
        "E: Ladattavaa tiedostoa ei löydy",
        "E: ファイルが見つかりません",
        "N: Het downloaden gebeurt als root (beheerder) en niet in een sandbox",
        "Hash Sum mismatches are explained in our wiki, which is not signed.",
        "(Reading database ... 404503 files and directories currently installed.)\nUnpacking rocm-core (6.4.0.60400-47~24.04) ...",
        "The following packages have been kept back:\n  linux-generic\nThe currently running kernel version is not the expected kernel version 6.8.0-44-generic.",
    ],
)
def test_what_is_no_complaint(text: str) -> None:
    assert ids(text) == []


@pytest.mark.parametrize(
    "complaint",
    [
        "E: Failed to fetch https://repo.radeon.com/x/InRelease  403  Forbidden [IP: 192.0.2.1 443]",
        "Err:1 https://repo.radeon.com/x noble InRelease\n  Certificate verification failed: The certificate is NOT trusted.",
    ],
)
def test_a_server_without_an_answer_has_no_signature(complaint: str) -> None:
    """apt calls a repository unsigned that it could not ask."""
    found = ids(f"{complaint}\nE: The repository 'https://repo.radeon.com/x noble InRelease' is not signed.")
    assert found == ids(complaint)
    assert len(found) == 1


def test_an_unreachable_server_is_not_a_missing_path() -> None:
    text = (
        "Err:1 https://repo.radeon.com/rocm/apt/6.0 jammy Release\n  503  Service Unavailable\n"
        "E: The repository 'https://repo.radeon.com/rocm/apt/6.0 jammy Release' does not have a Release file.\n"
    )
    assert ids(text) == ["repo-unreachable"]


def test_colours_and_lines() -> None:
    text = "\x1b[31mE: \x1b[0mUnable to locate package rocm-dkms\r\n"
    assert ids(text) == ["package-not-found"]
    assert (
        apt_problems(["x", "E: Unable to locate package rocm-dkms"])[0]["evidence"]
        == "E: Unable to locate package rocm-dkms"
    )
