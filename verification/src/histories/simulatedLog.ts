// The log behind the product's own event store code: a client of EventStoreDB whose server is an array.
import { EventEmitter } from 'node:events'
import { type EventData, EventStoreDBClient, NO_STREAM } from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type Process, runningProcess } from './scheduler.ts'
import { world } from './simulatedBuiltins.ts'

export type LoggedEvent = {
  readonly id: string
  readonly type: string
  readonly stream: string
  readonly revision: number
  readonly data: Readonly<Record<string, unknown>>
  readonly message: ReadResp
}

type Subscription = {
  readonly call: EventEmitter
  readonly owner: Process | undefined
  sent: number
  isWaiting: boolean
}

/** The events and who follows them. */
function createEvents() {
  const events: LoggedEvent[] = []
  const byStream = new Map<string, LoggedEvent[]>()
  const subscriptions = new Set<Subscription>()

  function announce(subscription: Subscription): void {
    if (subscription.isWaiting || subscription.sent === events.length) return
    subscription.isWaiting = true
    const { owner, call } = subscription
    world().send(`the log announces events to the ${owner?.name}`, owner, () => {
      subscription.isWaiting = false
      const fresh = events.slice(subscription.sent)
      subscription.sent = events.length
      for (const { message } of fresh) call.emit('data', message)
    })
  }

  return {
    events,
    of: (stream: string): readonly LoggedEvent[] => byStream.get(stream) ?? [],
    /**
     * Like EventStoreDB: a repeated append of the same events at the same revision succeeds again.
     * @returns the last one; undefined for a conflict
     */
    append(stream: string, added: readonly EventData[], expected: unknown): LoggedEvent | undefined {
      const known = byStream.get(stream) ?? []
      const from = expected === NO_STREAM ? 0 : Number(expected) + 1
      const isRepeated = known.length > from && added.every(({ id }, index) => known[from + index]?.id === id)
      if (isRepeated) return known[from + added.length - 1]
      if (known.length !== from) return undefined
      for (const event of added) {
        const place = { stream, revision: known.length, position: events.length + 1 }
        const { id = '', type, data } = event
        const logged = { id, type, ...place, data: data as LoggedEvent['data'], message: messageOf(event, place) }
        known.push(logged)
        events.push(logged)
      }
      byStream.set(stream, known)
      world().states.changed(stream, JSON.stringify(added, withoutSealed))
      for (const subscription of subscriptions) announce(subscription)
      return known.at(-1)
    },
    subscribe(call: EventEmitter): void {
      const owner = runningProcess()
      const subscription = { call, owner, sent: events.length, isWaiting: false }
      subscriptions.add(subscription)
      owner?.onDeath.push(() => subscriptions.delete(subscription))
      const confirmation = new streams.ReadResp().setConfirmation(new streams.ReadResp.SubscriptionConfirmation())
      const confirm = () => void call.emit('data', confirmation)
      world().send(`the log confirms the subscription of the ${owner?.name}`, owner, confirm)
    },
    selected(options: ReadReq.Options): readonly LoggedEvent[] {
      const count = Number(options.getCount())
      const isBackwards = options.getReadDirection() === 1
      const stream = options.getStream()
      if (stream !== undefined) {
        const known = byStream.get(nameOf(stream.getStreamIdentifier()?.getStreamName_asU8())) ?? []
        const from = Number(stream.getRevision())
        return isBackwards ? known.toReversed().slice(0, count) : known.slice(from, from + count)
      }
      const position = options.getAll()?.getPosition()?.getCommitPosition()
      const from = Number(position ?? (isBackwards ? events.length + 1 : 1))
      if (isBackwards)
        return events
          .slice(0, from - 1)
          .toReversed()
          .slice(0, count)
      const prefixes = options.getFilter()?.getStreamIdentifier()?.getPrefixList() ?? ['']
      const passes = (event: LoggedEvent) => prefixes.some((prefix) => event.stream.startsWith(prefix))
      return events
        .slice(from - 1)
        .filter(passes)
        .slice(0, count)
    },
  }
}

/** Survives the processes. */
export function createSimulatedLog() {
  const { events, of, append, subscribe, selected } = createEvents()

  function read(request: ReadReq): EventEmitter {
    const call = Object.assign(new EventEmitter(), { cancel: () => void call.removeAllListeners('data') })
    const options = request.getOptions()
    if (options === undefined) throw new Error('a read without options')
    if (options.hasSubscription()) {
      subscribe(call)
      return call
    }
    const stream = nameOf(options.getStream()?.getStreamIdentifier()?.getStreamName_asU8())
    const what = `read of ${stream || 'the log'}`
    const run = () => {
      if (world().fault(what, ['the log is unavailable'], 10)) return void call.emit('error', unavailable())
      for (const { message } of selected(options)) call.emit('data', message)
      call.emit('end')
    }
    world().add({ what, owner: runningProcess(), on: stream, isRead: true, run })
    return call
  }

  type Options = { readonly expectedRevision: unknown }
  function appendToStream(stream: string, added: readonly EventData[], { expectedRevision }: Options) {
    const owner = runningProcess()
    const what = `${owner?.name} appends ${added.map(({ type }) => type).join(' and ')}`
    return new Promise((resolve, reject) => {
      const run = () => {
        const fault = world().fault(what, appendFaults, 80)
        const last = fault === 'the append is lost' ? undefined : append(stream, added, expectedRevision)
        if (fault === 'the response of the log is late') return
        const end = fault === undefined ? () => resolve(resultOf(last)) : () => reject(unavailable())
        world().send(`response to: ${what}`, owner, end)
      }
      world().add({ what, owner, on: stream, isRead: false, run })
    })
  }

  const client = {
    appendToStream,
    execute: (_stub: unknown, _name: unknown, act: (stub: object) => Promise<unknown>) => act({ read }),
    callArguments: () => [],
    getChannel: async () => ({ close: () => undefined }),
    dispose: async () => undefined,
  }
  return {
    events: events as readonly LoggedEvent[],
    of,
    /** The event stores that are created from now on use this log. */
    open: () => void Object.assign(EventStoreDBClient, { connectionString: () => client }),
  }
}

const appendFaults = [
  'the append is lost',
  'the response of the log is lost',
  'the response of the log is late',
] as const

/** UNAVAILABLE. */
const unavailable = () => Object.assign(new Error('unavailable'), { code: 14 })

function resultOf(last: LoggedEvent | undefined) {
  if (last === undefined) return { success: false }
  const position = BigInt(last.message.getEvent()?.getCommitPosition() ?? 0)
  return {
    success: true,
    nextExpectedRevision: BigInt(last.revision),
    position: { commit: position, prepare: position },
  }
}

/** Sealed texts differ each time. */
const withoutSealed = (name: string, value: unknown) => (name === '$sealed' ? undefined : value)

const nameOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString()

type Place = { readonly stream: string; readonly revision: number; readonly position: number }

function messageOf({ id = '', type, data, metadata }: EventData, { stream, revision, position }: Place): ReadResp {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
  recorded.setId(new shared.UUID().setString(id))
  recorded.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
  recorded.setStreamRevision(String(revision))
  recorded.setCommitPosition(String(position)).setPreparePosition(String(position))
  const properties = { type, 'content-type': 'application/json', created: String(world().now() * 10_000) }
  for (const [name, value] of Object.entries(properties)) recorded.getMetadataMap().set(name, value)
  recorded.setData(Buffer.from(JSON.stringify(data))).setCustomMetadata(Buffer.from(JSON.stringify(metadata)))
  const event = new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(position))
  return new streams.ReadResp().setEvent(event)
}
