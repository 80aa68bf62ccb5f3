"""What apt and pip say of the way to a server is read alike."""

# Lines of output stand as they were printed.

from __future__ import annotations

import pytest

from ansible_collections.gpufleet.rocm.plugins.filter.apt_problems import apt_problems
from ansible_collections.gpufleet.rocm.plugins.filter.python_problems import python_problems

COMPLAINTS = {
    "proxy-authentication": [
        "HTTP status client error (407 Proxy Authentication Required)",
        "Tunnel connection failed: 407 authenticationrequired",
    ],
    "tls-certificate": [
        "SSL: certificate verify failed",
        "invalid peer certificate: UnknownIssuer",
        "[SSL: CERTIFICATE_VERIFY_FAILED] (_ssl.c:1000)",
        "The certificate is NOT trusted.",
        "The certificate issuer is unknown.",
        "No system certificates available. Try installing ca-certificates.",
        "The server's certificate has expired.",
        "unable to get local issuer certificate",
        "self-signed certificate in certificate chain",
        "The name in the certificate of repo.radeon.com does not match the expected one.",
    ],
    "repo-unreachable": [
        "Could not resolve host",
        "Temporary failure in name resolution",
        "m.example:443 ei vastaa (192.0.2.1)",
        "[connect] (111: x)",
        "Connection refused",
        "Connection timed out",
        "Connection reset by peer",
        "Connection failed",
        "Network is unreachable",
        "No route to host",
        "Could not connect to server",
        "Unable to connect to the mirror",
        "Could not handshake: x",
        "Error reading from server. Remote end closed connection",
        "Undetermined Error",
        "Clearsigned file isn't valid, got 'NOSPLIT'",
        "Failed to establish a new connection: x",
        "Read timed out. (read timeout=15)",
        "Max retries exceeded with url: /x",
        "IncompleteRead(123 bytes read, 456 more expected)",
        "failed to lookup address information",
    ],
    "disk-space": [
        "No space left on device",
        "Disk quota exceeded",
        "ENOSPC: write",
        "write (28: x)",
        "OSError: [Errno 28] x",
    ],
}


@pytest.mark.parametrize(("id", "complaint"), [(id, line) for id, lines in COMPLAINTS.items() for line in lines])
def test_both_read_it(id: str, complaint: str) -> None:
    fetched = apt_problems(f"Err:1 https://repo.radeon.com/rocm/apt/6.4 noble InRelease\n  {complaint}\n")
    assert [problem["id"] for problem in fetched] == [id]
    assert [problem["id"] for problem in python_problems(f"{complaint}\n")] == [id]
