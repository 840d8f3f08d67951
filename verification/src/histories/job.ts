// What a simulating thread is told to do.

export type Job = {
  readonly kind: 'histories' | 'races'
  /** Of the first history; the next ones follow. */
  readonly seed: number
  /** How many histories; or how many operations race. */
  readonly count: number
  /** The share of this thread: every `threads`-th, from the `thread`-th on. */
  readonly threads: number
  readonly thread: number
  readonly deadline: number
  /** Orders of one race at most. */
  readonly maxOrders: number
  /** Only races whose name has this text; all if it is empty. */
  readonly only: string
  /** A thread stops after this many failing histories: shrinking them takes long. */
  readonly maxFailures: number
}

/** What a thread is started with. */
export type ThreadData = { readonly job: Job; readonly faults: readonly PlantedFault[] }

/** A fault in the product, for the test of the simulation: a piece of text that is replaced when a file is loaded. */
export type PlantedFault = { readonly file: string; readonly text: string; readonly replacement: string }
