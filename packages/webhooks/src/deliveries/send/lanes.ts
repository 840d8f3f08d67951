// Lanes: each endpoint's part of the work in this process. Their limits keep one endpoint from delaying another. New deliveries
// are claimed as they are recorded, so that they are sent at once and need not be read again.
import type { WebhookEndpoint } from '../../endpoints/endpoints.ts'
import type { Outbound } from '../../messages/outbound.ts'
import type { ClaimedDelivery, ClaimRequest } from '../tables/claims.ts'
import type { NewDelivery } from '../tables/recordDeliveries.ts'

/** How many attempts for an endpoint one process makes concurrently. */
export const concurrencyPerEndpoint = 100
/** How many more deliveries it claims for an endpoint that responds fast, because claiming one by one is slow. */
const claimedAhead = 300
const fastMs = 50
/** How much longer than the longest request a claim lasts: claimed deliveries may wait for a slot this long. */
const leaseMarginMs = 5_000

export type Lane = {
  readonly endpoint: WebhookEndpoint
  readonly leaseMs: number
  /** Deliveries that are claimed, being claimed or being recorded. Bounds what the endpoint may occupy. */
  claimed: number
  /** Claimed, and without a slot yet. */
  readonly waiting: ClaimedDelivery[]
  sending: number
  tests: number
  /** Whether something may be due that is not claimed. */
  isWoken: boolean
  mayHaveTests: boolean
  /** Whether more is due than this process has claimed. New deliveries have to queue up then. */
  hasBacklog: boolean
  /** Until then the end of an attempt may make others claimable, those of its stream. Later the poll finds them. */
  checkUntilMs: number
  /** What was due earlier is claimed already. Spares claims the index entries of finished deliveries. */
  since: Date
  lastMs: number
  endedAt: Date | undefined
}

/** Claims from everything that is due. */
export const beginning = new Date(0)

export type Lanes = ReadonlyMap<string, Lane>

/** @returns the lanes by the names of their endpoints */
export function openLanes(endpoints: readonly WebhookEndpoint[]): Lanes {
  return new Map(endpoints.map((endpoint) => [endpoint.name, openLane(endpoint)]))
}

function openLane(endpoint: WebhookEndpoint): Lane {
  return {
    ...{ endpoint, leaseMs: endpoint.timeoutMs + leaseMarginMs, since: beginning, endedAt: undefined },
    ...{ claimed: 0, waiting: [], sending: 0, tests: 0, lastMs: Number.POSITIVE_INFINITY, checkUntilMs: 0 },
    ...{ isWoken: false, mayHaveTests: false, hasBacklog: false },
  }
}

/** How many more deliveries of an endpoint to claim. */
export function capacityOf({ lastMs, claimed }: Lane): number {
  return concurrencyPerEndpoint + (lastMs < fastMs ? claimedAhead : 0) - claimed
}

export function claimRequest({ endpoint, leaseMs, since }: Lane, limit: number): ClaimRequest {
  return { endpoint: endpoint.name, limit, leaseMs, since }
}

const checkMs = 1_000

/** Notes that something was due that this process had not claimed as it was recorded. */
export function expectMore(lane: Lane): void {
  lane.checkUntilMs = performance.now() + checkMs
}

export type Reservation = {
  /** When the lease of a message's delivery ends; `undefined` for one that is not claimed. */
  leaseOf(message: Outbound): Date | undefined
  /** Sends the recorded deliveries. To be called once, also with nothing, because it frees what is reserved. */
  take(recorded: readonly NewDelivery[]): void
}

/**
 * Reserves capacity for new messages, as many as can be sent soon. Those of an endpoint with a backlog queue up, and of a stream
 * only the earliest may be claimed.
 * @param options `start` sends a claimed delivery; `wake` is called for those that were not claimed
 */
export function reserve(options: {
  readonly messages: readonly Outbound[]
  readonly lanes: Lanes
  readonly at: Date
  readonly start: (lane: Lane, claimed: readonly ClaimedDelivery[]) => void
  readonly wake: (endpoint: string, mayHaveTests: boolean) => void
}): Reservation {
  const { messages, lanes, at, start, wake } = options
  const reserved = new Map<string, { readonly lane: Lane; readonly until: Date }>()
  const streams = new Map<string, bigint>()
  for (const { id, endpoint, source_stream, source_revision, is_test } of messages) {
    const lane = lanes.get(endpoint)
    const stream = `${endpoint} ${source_stream}`
    const first = streams.get(stream) ?? source_revision
    streams.set(stream, first)
    if (lane === undefined || is_test || first !== source_revision || reserved.has(id)) continue
    if (lane.hasBacklog || capacityOf(lane) <= 0) continue
    lane.claimed += 1
    reserved.set(id, { lane, until: new Date(at.getTime() + lane.leaseMs) })
  }

  return {
    leaseOf: ({ id }) => reserved.get(id)?.until,
    take(recorded) {
      for (const { lane } of reserved.values()) lane.claimed -= 1
      for (const { message, isClaimed } of recorded) {
        const claim = isClaimed ? reserved.get(message.id) : undefined
        if (claim !== undefined) start(claim.lane, [claimedFrom(message, claim.until)])
        else {
          const lane = lanes.get(message.endpoint)
          if (lane !== undefined && !message.is_test) {
            expectMore(lane)
            lane.hasBacklog ||= capacityOf(lane) <= 0
          }
          wake(message.endpoint, message.is_test)
        }
      }
    },
  }
}

function claimedFrom(message: Outbound, claimed_until: Date): ClaimedDelivery {
  const times = { next_attempt_at: claimed_until, claimed_until }
  return { ...message, traceparent: message.traceparent ?? null, attempts: 0, series_start: 0, ...times }
}
