"""From what is known of a host, or of a text alone, to ranked causes: evidence first, then what it means."""
