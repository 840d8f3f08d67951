// When a filtered subscription owes its client a checkpoint. What counts is how many events were considered, not how
// many matched; a checkpoint says that every match up to it was sent. The pages, and what each of them is answered
// with, are the real server's: it shows them to the client by its checkpoints.

/** A page of a catching-up read ends early when this many events matched. */
const maxMatchesPerPage = 32

export type Checkpoints = {
  /** An event was read while catching up. Returns a checkpoint that is due after it. */
  considered(position: bigint, matched: boolean): bigint | undefined
  /** An event was sent. */
  sent(position: bigint): void
  /** The subscription goes live, or has fallen behind. Returns where it stands, unless the client was told. */
  turned(): bigint | undefined
  /** An event arrived while live. */
  consideredLive(position: bigint): bigint | undefined
}

/** @param options `start` is the position that the client named, -1 for the beginning of the log */
export function createCheckpoints(options: {
  readonly window: number
  readonly interval: number
  readonly start: bigint
}): Checkpoints {
  const { window, interval, start } = options
  /** The last event or checkpoint that the client knows of, its own start included. */
  let reached = start
  let announced = -1n
  /** The first page begins where the client asked to begin, whether there is an event or not. */
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
    const begun = pageStart ?? position
    considered += pageConsidered
    // The next page begins right behind, where an append without events may stand.
    pageStart = position + 1n
    pageConsidered = 0
    pageMatched = 0
    if (considered < interval) return undefined
    considered %= interval
    if (reached < begun) reached = begun
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
    turned() {
      pageStart = undefined
      pageConsidered = 0
      pageMatched = 0
      considered = 0
      // The real server announces 2^64-1 here when there is nothing to announce, which no client can use.
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
