// What the runner of a projection does at the moment, for those who ask.

export type RunnerState = {
  role:
    | 'starting'
    /** Another process runs it, and this one waits to take over. */
    | 'standing by'
    | 'running'
    /** The live table is of an earlier definition; another one is being filled. */
    | 'rebuilding'
    /** The live table is of a later definition, which only a later program can keep up. */
    | 'outdated'
    /** At an event that cannot be read. */
    | 'stopped'
  /** Whether the event store has begun to send. */
  isConnected: boolean
}

export const startingState = (): RunnerState => ({ role: 'starting', isConnected: false })
