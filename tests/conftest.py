"""What all tests need."""

import signal

# A shell starts what runs in the background deaf to Ctrl-C, which tests send to themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)
