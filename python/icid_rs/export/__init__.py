"""Ways out to files and other libraries, and back."""
