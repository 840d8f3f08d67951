// Claims what is due for the lanes that have capacity.
import type { Logger } from '@paylog/runtime/telemetry/log'
import { type ClaimedDelivery, maxConcurrentTests } from '../tables/claims.ts'
import type { Deliveries } from '../tables/deliveries.ts'
import { capacityOf, claimRequest, expectMore, type Lane, type Lanes } from './lanes.ts'

/** For clock differences, and deliveries that waited for others. */
const sinceMarginMs = 5_000

type ClaimingOptions = {
  readonly deliveries: Pick<Deliveries, 'claim' | 'claimTests'>
  readonly lanes: Lanes
  readonly start: (lane: Lane, claimed: readonly ClaimedDelivery[]) => void
  readonly closed: AbortSignal
  readonly now: () => Date
  readonly log: Logger
}

/**
 * Claims for woken lanes, one statement at a time, until none of them has both capacity and something due.
 * @returns `claim` is to be called when a lane was woken or has capacity again. It claims at the end of this turn of the event
 *   loop, so that slots that become free together share a statement. `done` waits for the running statement.
 */
export function createClaiming(options: ClaimingOptions): { claim(): void; done(): Promise<void> } {
  const { lanes, closed, log } = options
  let isClaiming = false
  let running = Promise.resolve()

  async function claimWhileWoken(): Promise<void> {
    while (!closed.aborted) {
      const woken = [...lanes.values()].filter((lane) => lane.isWoken && capacityOf(lane) > 0)
      if (woken.length === 0) break
      await claimFor(options, woken).catch((error: unknown) => {
        // The next poll wakes them.
        log.warn({ err: error }, 'could not claim deliveries, trying again')
      })
    }
    isClaiming = false
  }

  return {
    claim() {
      if (isClaiming || closed.aborted) return
      isClaiming = true
      setImmediate(() => {
        running = claimWhileWoken()
      })
    },
    done: () => running,
  }
}

async function claimFor(options: ClaimingOptions, woken: readonly Lane[]): Promise<void> {
  const { deliveries, start, now } = options
  const claims = woken.map((lane) => ({ lane, limit: capacityOf(lane) }))
  for (const { lane, limit } of claims) {
    lane.isWoken = false
    lane.claimed += limit
  }
  let found: ReadonlyMap<string, readonly ClaimedDelivery[]> = new Map()
  try {
    const requests = claims.map(({ lane, limit }) => claimRequest(lane, limit))
    found = Map.groupBy(await deliveries.claim(requests, now()), ({ endpoint }) => endpoint)
  } finally {
    for (const { lane, limit } of claims) lane.claimed -= limit
  }
  for (const { lane, limit } of claims) {
    const own = found.get(lane.endpoint.name) ?? []
    lane.hasBacklog = own.length === limit
    lane.isWoken ||= lane.hasBacklog
    if (own.length > 0) {
      expectMore(lane)
      lane.since = new Date(Math.max(...own.map(({ next_attempt_at }) => next_attempt_at.getTime())) - sinceMarginMs)
    }
    start(lane, own)
  }
  const idle = woken.filter((lane) => lane.mayHaveTests && !lane.isWoken)
  await claimTestsFor(options, idle)
}

/** Tests wait until no real delivery does. */
async function claimTestsFor({ deliveries, start, now }: ClaimingOptions, lanes: readonly Lane[]): Promise<void> {
  const free = lanes.filter((lane) => lane.tests < maxConcurrentTests && capacityOf(lane) > 0)
  if (free.length === 0) return
  for (const lane of free) lane.mayHaveTests = false
  const requests = free.map((lane) => claimRequest(lane, Math.min(maxConcurrentTests - lane.tests, capacityOf(lane))))
  const found = Map.groupBy(await deliveries.claimTests(requests, now()), ({ endpoint }) => endpoint)
  for (const lane of free) start(lane, found.get(lane.endpoint.name) ?? [])
}
