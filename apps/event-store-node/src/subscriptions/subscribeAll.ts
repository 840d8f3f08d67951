// The whole log from a position on: catch up, say so, then live.
import { eventMessage } from '../protocol/eventMessage.ts'
import type { Log } from '../read/log.ts'
import { caughtUpMessage, checkpointMessage, confirmationMessage, type Outlet } from '../read/outlet.ts'
import type { ReadRequest } from '../read/readRequest.ts'
import { pageRows } from '../storage/logReader.ts'
import type { StoredEvent } from '../storage/storedEvent.ts'
import { type Checkpoints, createCheckpoints } from './checkpoints.ts'
import type { Tail } from './tail.ts'

type AllSubscription = Extract<ReadRequest, { kind: 'subscribe_all' }>

/** Taken from the tail at a time, so that a slow client does not keep more than this alive. */
const liveEvents = 256

/** Runs until the outlet's signal aborts. A client that falls out of the tail is caught up from the database again. */
export async function subscribeAll(log: Log, tail: Tail, outlet: Outlet, request: AllSubscription): Promise<void> {
  const checkpoints =
    request.filter && createCheckpoints({ window: request.filter.window, interval: request.filter.checkpointInterval })
  const subscription = { log, tail, outlet, request, checkpoints }
  let cursor = request.from === 'start' ? 0n : request.from === 'end' ? tail.lastPosition : request.from
  await outlet.send(confirmationMessage())
  // The event at the start position is not sent but does count as considered.
  if (request.from !== 'end') cursor = await catchUp(subscription, cursor, cursor)
  while (!outlet.signal.aborted) {
    await goneLive(subscription)
    cursor = await follow(subscription, cursor)
    if (!outlet.signal.aborted) cursor = await catchUp(subscription, cursor + 1n, cursor)
  }
}

type Subscription = {
  readonly log: Log
  readonly tail: Tail
  readonly outlet: Outlet
  readonly request: AllSubscription
  readonly checkpoints: Checkpoints | undefined
}

/** Reads from the database until its end; returns the last position considered. */
async function catchUp(subscription: Subscription, from: bigint, start: bigint): Promise<bigint> {
  const { log, outlet, request, checkpoints } = subscription
  let cursor = start
  let next = from
  while (!outlet.signal.aborted) {
    const page = await log.allForwards(next, pageRows)
    const messages = await log.messages(page.events, request)
    for (const [index, event] of page.events.entries()) {
      const matched = request.filter?.matches(event) ?? true
      const sent = matched && event.position > start
      const message = messages[index]
      const slow = sent && message ? outlet.send(message) : undefined
      if (slow !== undefined) await slow
      const checkpoint = checkpoints?.considered(event.position, matched, sent)
      if (checkpoint !== undefined) await outlet.send(checkpointMessage(checkpoint))
      if (outlet.signal.aborted) return cursor
    }
    const last: StoredEvent | undefined = page.events.at(-1)
    if (last !== undefined && last.position > cursor) cursor = last.position
    if (page.end) return cursor
    next = cursor + 1n
  }
  return cursor
}

async function goneLive({ outlet, checkpoints }: Subscription): Promise<void> {
  const checkpoint = checkpoints?.wentLive()
  if (checkpoint !== undefined) await outlet.send(checkpointMessage(checkpoint))
  await outlet.send(caughtUpMessage())
}

/** Follows the tail until the client is gone or has fallen out of it. */
async function follow(subscription: Subscription, from: bigint): Promise<bigint> {
  const { log, tail, outlet, request, checkpoints } = subscription
  let cursor = from
  while (!outlet.signal.aborted) {
    const events = tail.after(cursor, liveEvents)
    if (events === undefined) return cursor
    for (const event of events) {
      if (request.filter?.matches(event) ?? true) {
        const [message] = request.resolveLinks
          ? await log.messages([event], request)
          : [eventMessage(event, request.idFormat)]
        if (message) await outlet.send(message)
      }
      const checkpoint = checkpoints?.consideredLive(event.position)
      if (checkpoint !== undefined) await outlet.send(checkpointMessage(checkpoint))
      cursor = event.position
      if (outlet.signal.aborted) return cursor
    }
    await tail.changed(cursor, outlet.signal)
  }
  return cursor
}
