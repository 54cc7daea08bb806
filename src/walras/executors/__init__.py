"""Where the passes of a first-order solve may run besides threads of this process."""
