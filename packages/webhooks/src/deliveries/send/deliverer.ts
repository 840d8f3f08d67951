// Sends the deliveries of all endpoints: those that this process records, and those that it claims when they are due.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { WebhookEndpoint } from '../../endpoints/endpoints.ts'
import type { Outbound } from '../../messages/outbound.ts'
import type { ClaimedDelivery } from '../tables/claims.ts'
import type { Deliveries } from '../tables/deliveries.ts'
import { createClaiming } from './claiming.ts'
import { beginning, concurrencyPerEndpoint, type Lane, openLanes, type Reservation, reserve } from './lanes.ts'
import type { MadeAttempt, Sender } from './sender.ts'

/** How late a delivery may be when no wake-up arrives. */
const pollMs = 1_000
const recordAgainMs = 500
/** At most this many abandoned attempts are listed in the error. */
const maxListed = 20

export type Deliverer = ReturnType<typeof createDeliverer>

/**
 * @param deps `scheduleWakeUp` is called with the time of each retry; when `givingUp` aborts during the close, running requests
 *   are aborted, and another worker repeats them
 */
export function createDeliverer(deps: {
  readonly deliveries: Deliveries
  readonly endpoints: readonly WebhookEndpoint[]
  readonly sender: Sender
  readonly scheduleWakeUp: (endpoint: string, at: Date) => void
  readonly givingUp?: AbortSignal
  readonly now: () => Date
  readonly log: Logger
}) {
  const { endpoints, givingUp, now } = deps
  const lanes = openLanes(endpoints)
  const [closing, cuttingOff] = [new AbortController(), new AbortController()]
  const closed = closing.signal
  const attempts = createAttempts({ ...deps, onEnd, closed, cutOff: cuttingOff.signal })
  const claiming = createClaiming({ ...deps, lanes, start: attempts.start, closed })
  let onIdle: () => void = () => undefined
  let polling: NodeJS.Timeout | undefined
  let isOver: Promise<void> | undefined

  function wake(endpoint: string, mayHaveTests = true): void {
    const lane = lanes.get(endpoint)
    if (lane === undefined || closed.aborted) return
    lane.isWoken = true
    lane.mayHaveTests ||= mayHaveTests
    claiming.claim()
  }

  /** It has made room, and may have been the reason why others of its stream waited. */
  function onEnd(lane: Lane, delivery: ClaimedDelivery): void {
    if (delivery.is_test || performance.now() < lane.checkUntilMs) wake(delivery.endpoint, delivery.is_test)
    else if (lane.isWoken) claiming.claim()
    if (attempts.isIdle()) onIdle()
  }

  /** Claims no more and waits for running requests. @throws when some of them were abandoned */
  function close(): Promise<void> {
    isOver ??= closeOnce()
    return isOver
  }

  async function closeOnce(): Promise<void> {
    clearInterval(polling)
    closing.abort()
    for (const lane of lanes.values()) attempts.fill(lane)
    // What it claims is released.
    await claiming.done()
    const idle = new Promise<void>((resolve) => {
      onIdle = resolve
      if (attempts.isIdle()) resolve()
    })
    await finishAttempts(attempts, idle, cuttingOff, givingUp)
  }

  return {
    /** Claims what is due for an endpoint. */
    wake,

    /** See `reserve`. */
    reserve: (messages: readonly Outbound[]): Reservation =>
      reserve({ messages: closed.aborted ? [] : messages, lanes, at: now(), start: attempts.start, wake }),

    /** Looks for due deliveries every second, also when wake-ups are lost, until the signal aborts. */
    start(signal: AbortSignal): void {
      const poll = () => {
        for (const [endpoint, lane] of lanes) {
          lane.since = beginning
          wake(endpoint)
        }
      }
      poll()
      polling = setInterval(poll, pollMs)
      // Callers of `close` get the error.
      signal.addEventListener('abort', () => void close().catch(() => undefined))
    },

    /** When an attempt for an endpoint last ended in this process, with any result. */
    endedAt: (endpoint: string): Date | undefined => lanes.get(endpoint)?.endedAt,

    close,
    underWay: attempts.underWay,
  }
}

async function finishAttempts(
  attempts: Attempts,
  idle: Promise<void>,
  cuttingOff: AbortController,
  givingUp: AbortSignal | undefined,
): Promise<void> {
  let abandoned: readonly string[] = []
  const abandon = () => {
    abandoned = attempts.underWay()
    cuttingOff.abort(new Error('The worker stopped before the endpoint responded'))
  }
  if (givingUp?.aborted) abandon()
  givingUp?.addEventListener('abort', abandon)
  await idle
  await attempts.released()
  givingUp?.removeEventListener('abort', abandon)
  if (abandoned.length > 0) throw new Error(`Stopped before the endpoint responded: ${listNames(abandoned)}`)
}

function listNames(all: readonly string[]): string {
  const more = all.length - maxListed
  return `${all.slice(0, maxListed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

type Attempts = ReturnType<typeof createAttempts>

type AttemptsOptions = {
  readonly deliveries: Pick<Deliveries, 'release'>
  readonly sender: Sender
  readonly scheduleWakeUp: (endpoint: string, at: Date) => void
  /** Called when a delivery has left its lane. */
  readonly onEnd: (lane: Lane, delivery: ClaimedDelivery) => void
  /** Nothing is sent any more: claimed deliveries are released. */
  readonly closed: AbortSignal
  /** Running requests are aborted. */
  readonly cutOff: AbortSignal
  readonly now: () => Date
  readonly log: Logger
}

/** Makes the attempts of claimed deliveries, within the slots of their lanes. */
function createAttempts(options: AttemptsOptions) {
  const { sender, scheduleWakeUp, onEnd, closed, cutOff, now, log } = options
  /** The deliveries that this process has claimed, each with its lane. */
  const underWay = new Map<string, Lane>()
  const releasing = createReleasing(options)

  function start(lane: Lane, claimed: readonly ClaimedDelivery[]): void {
    for (const delivery of claimed) {
      // After the end of its lease it may be claimed again here, while the attempt goes on.
      if (underWay.has(delivery.id)) continue
      underWay.set(delivery.id, lane)
      lane.claimed += 1
      if (delivery.is_test) lane.tests += 1
      lane.waiting.push(delivery)
    }
    fill(lane)
  }

  function fill(lane: Lane): void {
    while (lane.waiting.length > 0 && (closed.aborted || lane.sending < concurrencyPerEndpoint)) {
      const delivery = lane.waiting.shift()
      if (delivery === undefined) return
      // Another worker could claim it before the endpoint responds.
      const isLate = delivery.claimed_until.getTime() - now().getTime() < lane.endpoint.timeoutMs
      if (closed.aborted || isLate) {
        releasing.add(delivery.id)
        leave(lane, delivery)
      } else void deliver(lane, delivery)
    }
  }

  async function deliver(lane: Lane, delivery: ClaimedDelivery): Promise<void> {
    lane.sending += 1
    try {
      const made = await sender.post(lane.endpoint, delivery, cutOff).finally(() => {
        lane.sending -= 1
      })
      lane.lastMs = made.ms
      fill(lane)
      const next = await record(made)
      lane.endedAt = now()
      if (next !== undefined) scheduleWakeUp(lane.endpoint.name, next)
    } catch (error) {
      log.warn({ err: error, node: delivery.endpoint }, 'an attempt ended unrecorded, it will be repeated')
      if (cutOff.aborted) releasing.add(delivery.id)
      fill(lane)
    }
    leave(lane, delivery)
  }

  /** While Postgres is away nobody can claim the delivery, so its result is kept until the lease ends. */
  async function record(made: MadeAttempt): Promise<Date | undefined> {
    for (;;) {
      try {
        return await sender.record(made)
      } catch (error) {
        if (closed.aborted || now() >= made.delivery.claimed_until) throw error
        log.warn({ err: error, node: made.endpoint.name }, 'could not record an attempt, trying again')
        await sleep(recordAgainMs)
      }
    }
  }

  function leave(lane: Lane, delivery: ClaimedDelivery): void {
    underWay.delete(delivery.id)
    lane.claimed -= 1
    if (delivery.is_test) lane.tests -= 1
    onEnd(lane, delivery)
  }

  return {
    /** Sends claimed deliveries as soon as their lane has free slots. */
    start,
    /** Fills free slots; releases what waits after the close. */
    fill,
    /** The deliveries that are claimed here, by endpoint and id. */
    underWay: () => [...underWay].map(([id, { endpoint }]) => `endpoint ${endpoint.name}, delivery ${id}`),
    isIdle: () => underWay.size === 0,
    /** Waits until all releases are stored. */
    released: releasing.done,
  }
}

/** Releases claims, those of one turn of the event loop together. */
function createReleasing({ deliveries, log }: Pick<AttemptsOptions, 'deliveries' | 'log'>) {
  let ids: string[] = []
  let running = Promise.resolve()

  async function release(): Promise<void> {
    const released = ids
    ids = []
    if (released.length === 0) return
    await deliveries.release(released).catch((error: unknown) => {
      log.warn({ err: error, deliveries: released.length }, 'could not release deliveries, their leases will end')
    })
  }

  return {
    add(id: string): void {
      if (ids.length === 0) running = running.then(release)
      ids.push(id)
    },
    done: (): Promise<void> => running,
  }
}
