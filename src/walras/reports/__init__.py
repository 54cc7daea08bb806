"""What a solve, a plan, a training or a network run came to: tables, words, pages and files."""
