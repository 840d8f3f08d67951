// Subscriptions to the whole log: catch up, announce it, then live.
import { isHidden } from '../read/eventFilter.ts'
import type { Log } from '../read/log.ts'
import { caughtUpMessage, checkpointMessage, confirmationMessage, inPortions, type Outlet } from '../read/outlet.ts'
import type { ReadRequest } from '../read/readRequest.ts'
import { pageRows } from '../storage/logReader.ts'
import type { StoredEvent } from '../storage/storedEvent.ts'
import { type Checkpoints, createCheckpoints } from './checkpoints.ts'
import type { Tail } from './tail.ts'

type AllSubscription = Extract<ReadRequest, { kind: 'subscribe_all' }>

/** Before every possible position. */
const beforeEverything = -1n

/** Runs until the outlet's signal aborts. A client that falls out of the tail catches up from the database again. */
export async function subscribeAll(log: Log, tail: Tail, outlet: Outlet, request: AllSubscription): Promise<void> {
  const end = tail.lastPosition
  const start = startOf(request, end)
  const checkpoints = checkpointsOf(request, start)
  const matches = request.filter?.matches ?? isShown
  const subscription = { log, tail, outlet, request, matches, start, checkpoints }
  let cursor = end
  await outlet.send(confirmationMessage())
  // A subscription from the end, or after it, has no catch-up and gets no checkpoint.
  if (start < end) {
    cursor = await catchUp(subscription, start < 0n ? 0n : start)
    await announcePhase(subscription)
  }
  while (!outlet.signal.aborted) {
    await outlet.send(caughtUpMessage())
    cursor = await follow(subscription, cursor)
    await announcePhase(subscription)
    cursor = await catchUp(subscription, cursor + 1n)
    await announcePhase(subscription)
  }
}

type Subscription = {
  readonly log: Log
  readonly tail: Tail
  readonly outlet: Outlet
  readonly request: AllSubscription
  readonly matches: (event: StoredEvent) => boolean
  /** Events up to here are scanned but not sent. */
  readonly start: bigint
  readonly checkpoints: Checkpoints | undefined
}

function isShown(event: StoredEvent): boolean {
  return !isHidden(event.stream)
}

function startOf(request: AllSubscription, end: bigint): bigint {
  if (request.from === 'start') return beforeEverything
  return request.from === 'end' ? end : request.from
}

function checkpointsOf({ filter }: AllSubscription, start: bigint): Checkpoints | undefined {
  return filter && createCheckpoints({ window: filter.window, interval: filter.checkpointInterval, start })
}

/**
 * Reads the database from a position to its end; returns the last scanned position. The next page is read while one is
 * sent.
 */
async function catchUp(subscription: Subscription, from: bigint): Promise<bigint> {
  const { log, outlet, request } = subscription
  const read = (position: bigint) => {
    const page = log.allForwards(position, pageRows)
    // If the client disconnects, nothing awaits this promise, and an unhandled rejection would end the process.
    page.catch(() => undefined)
    return page
  }
  let cursor = from
  if (outlet.signal.aborted) return cursor
  let reading = read(from)
  while (!outlet.signal.aborted) {
    const page = await reading
    const last: StoredEvent | undefined = page.events.at(-1)
    if (!page.end && last !== undefined) reading = read(last.position + 1n)
    for (const portion of inPortions(page.events, request)) {
      await consider(subscription, portion)
      if (outlet.signal.aborted) return cursor
    }
    if (last !== undefined && last.position > cursor) cursor = last.position
    if (page.end || last === undefined) return cursor
  }
  return cursor
}

/** Sends the matching events and the checkpoints that become due. */
async function consider(subscription: Subscription, events: readonly StoredEvent[]): Promise<void> {
  const { log, outlet, request, matches, start, checkpoints } = subscription
  const matching = events.filter(matches)
  const messages = await log.messages(matching, request)
  let found = 0
  for (const event of events) {
    const matched = event === matching[found]
    const message = matched ? messages[found++] : undefined
    if (message !== undefined && event.position > start) {
      const slow = outlet.send(message)
      if (slow !== undefined) await slow
      checkpoints?.sent(event.position)
    }
    const checkpoint = checkpoints?.considered(event.position, matched)
    if (checkpoint !== undefined) await outlet.send(checkpointMessage(checkpoint))
    if (outlet.signal.aborted) return
  }
}

async function announcePhase({ outlet, checkpoints }: Subscription): Promise<void> {
  const checkpoint = checkpoints?.phaseChanged()
  if (checkpoint !== undefined) await outlet.send(checkpointMessage(checkpoint))
}

/** Follows the tail until the client disconnects or falls out of it; returns the last scanned position. */
async function follow(subscription: Subscription, from: bigint): Promise<bigint> {
  const { log, tail, outlet, request, matches, start, checkpoints } = subscription
  const follower = tail.follow(outlet.signal)
  let cursor = from
  try {
    while (!outlet.signal.aborted) {
      const events = tail.after(cursor)
      if (events === undefined) return cursor
      for (const event of events) {
        if (event.position > start && matches(event)) {
          const messages = log.messages([event], { ...request, live: true })
          const [message] = messages instanceof Promise ? await messages : messages
          const slow = message && outlet.send(message)
          if (slow !== undefined) await slow
          checkpoints?.sent(event.position)
        }
        const checkpoint = checkpoints?.consideredLive(event.position)
        if (checkpoint !== undefined) await outlet.send(checkpointMessage(checkpoint))
        cursor = event.position
        if (outlet.signal.aborted) return cursor
      }
      await follower.changed(cursor)
    }
    return cursor
  } finally {
    follower.stop()
  }
}
