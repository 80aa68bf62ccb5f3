"""Complaints about the way to a server, which apt and pip share."""

from __future__ import annotations

from ansible_collections.gpufleet.rocm.plugins.plugin_utils.readers.problems import phrases, rule

PROXY = rule("proxy-authentication", r"\b407 +Proxy Authentication|Tunnel connection failed: 407")
CERTIFICATE = rule(
    "tls-certificate",
    r"certificate verif|invalid peer certificate|CERTIFICATE_VERIFY_FAILED|certificate is NOT trusted"
    r"|certificate issuer is unknown"
    r"|No system certificates available|certificate (?:has )?expired|unable to get local issuer certificate"
    r"|self[- ]signed certificate|certificate .{0,200}does not match",
)
# errno numbers of the network stand in front of the translated reason: "connect (111: Connection refused)"; of a
# time-out only the server is left as it is.
_SERVER = r"\w: ?\d{2,5}[^()\d]{0,60}\((?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f:]*:[0-9a-f:]+)\)"
NO_ANSWER = rule(
    "repo-unreachable",
    rf"{phrases('no-address')}|{_SERVER}|\((?:101|104|110|111|113): "
    r"|Connection (?:refused|timed out|reset by peer|failed)"
    r"|Network is unreachable|No route to host|Could not connect to|Unable to connect to|Could not handshake"
    r"|Error reading from server|Undetermined Error|\bNOSPLIT\b|Failed to establish a new connection|Read timed out"
    r"|Max retries exceeded|IncompleteRead|failed to lookup address information",
    unless=f"{PROXY.pattern.pattern}|{CERTIFICATE.pattern.pattern}",
)
