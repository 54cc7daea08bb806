"""One centre's side of the conversation: a state machine of integers and messages, without I/O."""
