// When a filtered subscription owes its client a checkpoint. What counts is how many
// events were considered, not how many matched; a checkpoint says that every match up to it was sent.

/** A page of a catching-up read ends early when this many events matched. */
const maxMatchesPerPage = 32

export type Checkpoints = {
  /** An event was read while catching up. `sent` is false for what lies at or before the start. Returns a checkpoint that is due. */
  considered(position: bigint, matched: boolean, sent: boolean): bigint | undefined
  /** The subscription goes live: a checkpoint at the last match, unless a later one was sent. */
  wentLive(): bigint | undefined
  /** An event arrived while live. */
  consideredLive(position: bigint): bigint | undefined
}

export function createCheckpoints(options: { readonly window: number; readonly interval: number }): Checkpoints {
  const { window, interval } = options
  let pageStart: bigint | undefined
  let pageConsidered = 0
  let pageMatched = 0
  let considered = 0
  let lastSent: bigint | undefined
  let lastCheckpoint: bigint | undefined

  const due = (position: bigint): bigint | undefined => {
    if (lastCheckpoint !== undefined && position <= lastCheckpoint) return undefined
    lastCheckpoint = position
    return position
  }

  /** A page that fills the interval is answered with its beginning, or with its last match when that is later. */
  const endPage = (): bigint | undefined => {
    const start = pageStart
    considered += pageConsidered
    pageStart = undefined
    pageConsidered = 0
    pageMatched = 0
    if (start === undefined || considered < interval) return undefined
    considered %= interval
    return due(lastSent !== undefined && lastSent > start ? lastSent : start)
  }

  return {
    considered(position, matched, sent) {
      pageStart ??= position
      pageConsidered += 1
      if (matched) pageMatched += 1
      if (sent) lastSent = position
      return pageConsidered >= window || pageMatched >= maxMatchesPerPage ? endPage() : undefined
    },
    wentLive() {
      const ofPage = endPage()
      considered = 0
      return (lastSent === undefined ? undefined : due(lastSent)) ?? ofPage
    },
    consideredLive(position) {
      considered += 1
      if (considered < interval) return undefined
      considered = 0
      return due(position)
    },
  }
}
