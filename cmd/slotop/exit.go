package main

// Exit codes, the same for every command.
const (
	exitOK          = 0
	exitFailed      = 1 // could not run
	exitUsage       = 2 // bad arguments or configuration
	exitMissed      = 3 // an objective was breached
	exitUntold      = 4 // could not tell
	exitInterrupted = 130
)
