package main

// Exit codes, the same for every command. 3 is kept for a breached objective.
const (
	exitOK          = 0
	exitFailed      = 1 // could not run
	exitUsage       = 2 // bad arguments or configuration
	exitUntold      = 4 // could not tell
	exitInterrupted = 130
)
