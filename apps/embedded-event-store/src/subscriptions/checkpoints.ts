// Decides when a filtered subscription sends a checkpoint, which means that every match up to it was sent. It depends on
// the number of scanned events, not of matches. Page sizes are EventStoreDB's, because checkpoints make them visible.

/** A page of a catching-up read ends early when this many events matched. */
const maxMatchesPerPage = 32

export type Checkpoints = {
  /** Records an event that was read during catch-up. Returns the checkpoint that is due after it, if any. */
  considered(position: bigint, matched: boolean): bigint | undefined
  /** Records that an event was sent. */
  sent(position: bigint): void
  /** The subscription goes live or has fallen behind. Returns its position, unless the client already has it. */
  phaseChanged(): bigint | undefined
  /** Records a live event. Returns the checkpoint that is due, if any. */
  consideredLive(position: bigint): bigint | undefined
}

/** @param options `start`: the client's start position, -1 for the start of the log */
export function createCheckpoints(options: {
  readonly window: number
  readonly interval: number
  readonly start: bigint
}): Checkpoints {
  const { window, interval, start } = options
  /** The last event or checkpoint that the client got, or its start position. */
  let reached = start
  let announced = -1n
  /** The first page starts at the client's start position, even if there is no event. */
  let pageStart: bigint | undefined = start < 0n ? 0n : start
  let pageConsidered = 0
  let pageMatched = 0
  let considered = 0

  const announce = (position: bigint): bigint | undefined => {
    if (position <= announced) return undefined
    announced = position
    return position
  }

  const endPage = (position: bigint): bigint | undefined => {
    const started = pageStart ?? position
    considered += pageConsidered
    // The next page starts at the next position, which may belong to an empty append.
    pageStart = position + 1n
    pageConsidered = 0
    pageMatched = 0
    if (considered < interval) return undefined
    considered %= interval
    if (reached < started) reached = started
    return announce(reached)
  }

  return {
    considered(position, matched) {
      pageStart ??= position
      pageConsidered += 1
      if (matched) pageMatched += 1
      return pageConsidered >= window || pageMatched >= maxMatchesPerPage ? endPage(position) : undefined
    },
    sent(position) {
      reached = position
    },
    phaseChanged() {
      pageStart = undefined
      pageConsidered = 0
      pageMatched = 0
      considered = 0
      // EventStoreDB sends 2^64-1 here when there is nothing to announce, which is useless to clients.
      return announce(reached)
    },
    consideredLive(position) {
      considered += 1
      if (considered < interval) return undefined
      considered = 0
      if (position < reached) return undefined
      reached = position
      return announce(position)
    },
  }
}
