"""The protocol of one centre: a state machine of integers and messages, without I/O."""
