// Subscriptions to one stream: catch up, announce it, then live. The stream need not exist yet.
import { streamDeleted } from '../protocol/callError.ts'
import type { Form, Log } from '../read/log.ts'
import { caughtUpMessage, confirmationMessage, type Outlet, sendEvents } from '../read/outlet.ts'
import type { ReadRequest } from '../read/readRequest.ts'
import { pageRows } from '../storage/logReader.ts'
import { type StoredEvent, ticksNow, tombstoneType } from '../storage/storedEvent.ts'
import { firstReadable, oldestReadableTicks, type StreamView } from '../storage/streamHead.ts'
import type { Tail } from './tail.ts'

type StreamSubscription = Extract<ReadRequest, { kind: 'subscribe_stream' }>

type Subscription = {
  readonly log: Log
  readonly tail: Tail
  readonly outlet: Outlet
  readonly stream: string
  readonly form: Form
}

/**
 * Runs until the outlet's signal aborts.
 * @throws CallError when the stream is tombstoned (live, after its last event was sent), or after an event that has the type
 *   of a tombstone
 */
export async function subscribeStream(
  log: Log,
  tail: Tail,
  outlet: Outlet,
  request: StreamSubscription,
): Promise<void> {
  const subscription = { log, tail, outlet, stream: request.stream, form: request }
  // Read before the view, so that all later events are in the tail.
  let position = tail.lastPosition
  let view = await viewOfLiving(subscription)
  let sentThrough = request.from === 'start' ? -1n : request.from === 'end' ? view.last : request.from
  await outlet.send(confirmationMessage())
  while (!outlet.signal.aborted) {
    sentThrough = await catchUp(subscription, view, sentThrough)
    await outlet.send(caughtUpMessage())
    sentThrough = await follow(subscription, position, sentThrough)
    if (outlet.signal.aborted) return
    position = tail.lastPosition
    view = await viewOfLiving(subscription)
  }
}

async function viewOfLiving({ log, stream }: Subscription): Promise<StreamView> {
  const view = await log.view(stream)
  if (view.tombstoned) throw streamDeleted(stream)
  return view
}

/** Sends the events of the view after a revision; returns the last revision sent. */
async function catchUp(subscription: Subscription, view: StreamView, after: bigint): Promise<bigint> {
  const { log, outlet, stream, form } = subscription
  const lowest = firstReadable(view)
  const oldestTicks = oldestReadableTicks(view, ticksNow())
  let sentThrough = after
  while (!outlet.signal.aborted) {
    const first = sentThrough + 1n > lowest ? sentThrough + 1n : lowest
    if (first > view.last) break
    const page = await log.streamForwards({ stream, first, last: view.last, oldestTicks }, pageRows)
    await sendToTombstone(subscription, page.events, form)
    const last: StoredEvent | undefined = page.events.at(-1)
    if (last === undefined) break
    sentThrough = last.revision
    if (page.end) break
  }
  return sentThrough
}

/** EventStoreDB recognises a tombstone by its type alone, and sends nothing after it. */
async function sendToTombstone(
  { log, outlet, stream }: Subscription,
  events: readonly StoredEvent[],
  form: Form,
): Promise<void> {
  const tombstone = events.findIndex((event) => event.type === tombstoneType)
  await sendEvents(log, outlet, tombstone < 0 ? events : events.slice(0, tombstone + 1), form)
  if (tombstone >= 0) throw streamDeleted(stream)
}

/** Follows the tail after a position until the client disconnects or falls out of it. */
async function follow(subscription: Subscription, from: bigint, after: bigint): Promise<bigint> {
  const { tail, outlet, stream, form } = subscription
  const follower = tail.follow(outlet.signal)
  let cursor = from
  let sentThrough = after
  try {
    while (!outlet.signal.aborted) {
      const events = tail.after(cursor)
      if (events === undefined) break
      const own = events.filter((event) => event.stream === stream && event.revision > sentThrough)
      const last = own.at(-1)
      if (last !== undefined) {
        await sendToTombstone(subscription, own, { ...form, live: true })
        sentThrough = last.revision
      }
      cursor = events.at(-1)?.position ?? cursor
      await follower.changed(cursor)
    }
    return sentThrough
  } finally {
    follower.stop()
  }
}
