// The messages that a subscription of the model must receive.
import { type Filter, type Found, matches, readLog, readStream, resolved, resolvedLive } from './reads.ts'
import { lastPossibleRevision, lastRevision, type Recorded, type Store } from './store.ts'

export type Message =
  | 'confirmation'
  | 'caught_up'
  | Found
  /** The position of a record. */
  | { readonly checkpoint: number }
  | { readonly end: 'deleted' }

export type SubscriptionRequest = {
  /** Undefined for the whole log. */
  readonly stream: string | undefined
  /** Exclusive start: a revision of the stream, or the position of a record. */
  readonly from: 'start' | 'end' | bigint | number
  readonly links: boolean
  readonly filter: (Filter & { readonly window: number | undefined; readonly every: number }) | undefined
}

export type Subscription = {
  readonly request: SubscriptionRequest
  /** The revision or position of the last sent event. */
  readonly sent: bigint
  readonly lastCheckpoint: number | undefined
  /** Live events since the last live checkpoint. */
  readonly considered: number
  readonly ended: boolean
  readonly received: readonly Message[]
}

/** (`Enumerators/*`) Events per page of a catch-up, and the default window of a filter. */
const pageSize = 32

/** A new subscription, caught up. */
export function subscribe(store: Store, request: SubscriptionRequest): Subscription {
  const { stream } = request
  const opened = { request, lastCheckpoint: undefined, considered: 0, ended: false }
  if (stream === undefined) return subscribeToLog(store, { ...opened, sent: -1n, received: ['confirmation'] })
  const last = lastRevision(store, stream)
  if (last === lastPossibleRevision) return { ...opened, sent: last, ended: true, received: [{ end: 'deleted' }] }
  const sent = startAfter(request, last)
  const read = {
    stream,
    direction: 'forwards',
    from: sent + 1n,
    count: Number.POSITIVE_INFINITY,
    links: request.links,
  } as const
  const response = readStream(store, read)
  const missed = sent < last && 'found' in response ? response.found : []
  const reached = missed.at(-1)
  return {
    ...opened,
    sent: reached === undefined ? sent : ((reached.link ?? reached.event)?.revision ?? sent),
    received: ['confirmation', ...missed, 'caught_up'],
  }
}

function startAfter({ from }: SubscriptionRequest, last: bigint): bigint {
  if (from === 'start') return -1n
  return from === 'end' ? last : BigInt(from)
}

function subscribeToLog(store: Store, opened: Subscription): Subscription {
  const lastRecord = BigInt(store.records - 1)
  const subscription = { ...opened, sent: startAfter(opened.request, lastRecord) }
  if (subscription.sent >= lastRecord) return { ...subscription, received: [...subscription.received, 'caught_up'] }
  const { filter, links } = opened.request
  const caughtUp = filter === undefined ? catchUp(store, subscription, links) : catchUpFiltered(store, subscription)
  return { ...caughtUp, received: [...caughtUp.received, 'caught_up'] }
}

function catchUp(store: Store, subscription: Subscription, links: boolean): Subscription {
  const from = Number(subscription.sent) + 1
  const response = readLog(store, {
    direction: 'forwards',
    from,
    count: Number.POSITIVE_INFINITY,
    links,
    filter: undefined,
  })
  const found = 'found' in response ? response.found : []
  return { ...subscription, received: [...subscription.received, ...found], sent: BigInt(store.records - 1) }
}

/**
 * (`Enumerator.AllSubscriptionFiltered.cs: CatchUp`) A page ends after a number of matches or of considered events, the
 * start included. When the interval is over, a checkpoint is sent at the start of the last page or at its last match.
 * The end of the log sends one at the last match or checkpoint, unless nothing was sent yet.
 */
function catchUpFiltered(store: Store, opened: Subscription): Subscription {
  let subscription = opened
  let from = Math.max(0, Number(opened.sent))
  let counter = 0
  for (;;) {
    const page = pageFrom(store, subscription.request, from)
    for (const event of page.matching) subscription = sendMatch(store, subscription, event, resolved)
    counter += page.considered
    if (page.next === undefined) return sendCheckpoint(subscription, Number(subscription.sent))
    const interval = intervalOf(subscription.request)
    if (counter >= interval) {
      counter %= interval
      subscription = sendCheckpoint(subscription, Math.max(Number(subscription.sent), from))
    }
    from = page.next
  }
}

type Page = { readonly matching: readonly Recorded[]; readonly considered: number; readonly next: number | undefined }

/** (`AllReader.cs: ReadAllEventsForwardInternal`) The page is the last one only when it finds the end before it is full. */
function pageFrom(store: Store, { filter }: SubscriptionRequest, from: number): Page {
  const matching: Recorded[] = []
  const window = filter?.window ?? pageSize
  let considered = 0
  for (const event of store.log) {
    if (event.position < from) continue
    if (filter === undefined || matches(filter, event)) matching.push(event)
    considered += 1
    if (matching.length === pageSize || considered === window) return { matching, considered, next: event.position + 1 }
  }
  return { matching, considered, next: undefined }
}

function intervalOf({ filter }: SubscriptionRequest): number {
  return (filter?.window ?? pageSize) * (filter?.every ?? 1)
}

function sendMatch(
  store: Store,
  subscription: Subscription,
  event: Recorded,
  resolve: (store: Store, event: Recorded) => Found,
): Subscription {
  if (BigInt(event.position) <= subscription.sent) return subscription
  const found = subscription.request.links ? resolve(store, event) : { event }
  return { ...subscription, sent: BigInt(event.position), received: [...subscription.received, found] }
}

/** Checkpoints increase strictly; EventStoreDB's first one before any event (2^64 - 1) is not modelled. */
function sendCheckpoint(subscription: Subscription, checkpoint: number): Subscription {
  if (checkpoint < 0 || (subscription.lastCheckpoint ?? -1) >= checkpoint) return subscription
  const received = [...subscription.received, { checkpoint }]
  return { ...subscription, sent: BigInt(checkpoint), lastCheckpoint: checkpoint, received }
}

/** Delivers the `written` events to a live subscription. */
export function deliver(store: Store, subscription: Subscription, written: readonly Recorded[]): Subscription {
  let after = subscription
  for (const event of written) {
    if (after.ended) return after
    after =
      after.request.stream === undefined ? deliverLogged(store, after, event) : deliverToStream(store, after, event)
  }
  return after
}

function deliverToStream(store: Store, subscription: Subscription, event: Recorded): Subscription {
  const { stream, links } = subscription.request
  if (event.stream !== stream || event.revision <= subscription.sent) return subscription
  const found = links ? resolvedLive(store, event) : { event }
  const received = [...subscription.received, found]
  if (event.type !== '$streamDeleted') return { ...subscription, sent: event.revision, received }
  return { ...subscription, sent: event.revision, ended: true, received: [...received, { end: 'deleted' }] }
}

/** (`SubscriptionsService.cs: ProcessEventCommited`) Every event counts for the interval, matching or not. */
function deliverLogged(store: Store, subscription: Subscription, event: Recorded): Subscription {
  const { filter } = subscription.request
  const allowed = filter === undefined || matches(filter, event)
  const after = allowed ? sendMatch(store, subscription, event, resolvedLive) : subscription
  if (filter === undefined) return after
  const considered = subscription.considered + 1
  if (considered < intervalOf(subscription.request)) return { ...after, considered }
  const checkpointed = BigInt(event.position) < after.sent ? after : sendCheckpoint(after, event.position)
  return { ...checkpointed, considered: 0 }
}
