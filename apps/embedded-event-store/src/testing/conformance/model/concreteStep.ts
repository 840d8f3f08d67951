// Turns a random step into a concrete call for the current state of a run.
import type { AppendRequest } from './calls.ts'
import type {
  EventIntent,
  ExpectedIntent,
  Intent,
  LinkIntent,
  MetadataIntent,
  PositionIntent,
  Repetition,
  RevisionIntent,
} from './intents.ts'
import type { Expected } from './model.ts'
import type { ModelRun } from './modelRun.ts'
import type { Filter, LogRead, StreamRead } from './reads.ts'
import { beforeRun, type Session } from './session.ts'
import { isMetastream, lastPossibleRevision, lastWritten, metastreamOf, originalOf, type Proposed } from './store.ts'
import type { SubscriptionRequest } from './subscriptions.ts'

export type Step =
  | { readonly append: AppendRequest }
  | { readonly remove: 'delete' | 'tombstone'; readonly stream: string; readonly expected: Expected }
  | { readonly read: StreamRead | LogRead }
  | { readonly subscribe: SubscriptionRequest }

const largeBytes = 70_000
/** More than the server accepts in one append. */
const hugeBytes = (1 << 20) + 1
const linkStream = 'l'
const ownStreams: Filter = { by: 'stream', prefix: ['{P}', '$${P}'] }

export function concreteStep(modelRun: ModelRun, session: Session, intent: Intent): Step {
  switch (intent.do) {
    case 'append':
      return {
        append: appendOf(
          modelRun,
          intent,
          intent.stream,
          intent.events.map((event) => eventOf(modelRun, event)),
        ),
      }
    case 'repeat':
      return { append: repetitionOf(modelRun, intent) }
    case 'link':
      return {
        append: appendOf(
          modelRun,
          intent,
          linkStream,
          intent.targets.map((target) => linkOf(modelRun, target)),
        ),
      }
    case 'set metadata': {
      const events = intent.values.map((value) => metadataOf(modelRun, intent.stream, value))
      return { append: appendOf(modelRun, intent, metastreamOf(intent.stream), events) }
    }
    case 'delete':
    case 'tombstone': {
      const stream = removable(modelRun, intent.stream)
      return { remove: intent.do, stream, expected: expectedOf(modelRun, stream, intent.expected) }
    }
    case 'read stream': {
      const { stream, backwards, count, links } = intent
      const from = revisionOf(modelRun, stream, intent.from)
      return { read: { stream, direction: backwards ? 'backwards' : 'forwards', from, count, links } }
    }
    case 'read log':
      return { read: logReadOf(session, intent) }
    case 'subscribe':
      return { subscribe: subscriptionOf(modelRun, session, intent) }
  }
}

type Sent = { readonly expected: ExpectedIntent; readonly via: 'batch' | 'unary'; readonly chunks: number }

function appendOf(modelRun: ModelRun, sent: Sent, stream: string, events: readonly Proposed[]): AppendRequest {
  return { stream, expected: expectedOf(modelRun, stream, sent.expected), events, via: sent.via, chunks: sent.chunks }
}

/** The last revision before a tombstone, or -1. */
function lastOf(modelRun: ModelRun, stream: string): bigint {
  const last = lastWritten(modelRun.store, stream)
  return last === lastPossibleRevision ? -1n : last
}

/** EventStoreDB breaks when the metadata stream of a tombstoned stream is deleted. */
function removable(modelRun: ModelRun, stream: string): string {
  const isOfTombstoned =
    isMetastream(stream) && lastWritten(modelRun.store, originalOf(stream)) === lastPossibleRevision
  return isOfTombstoned ? originalOf(stream) : stream
}

function notNegative(revision: bigint): bigint {
  return revision < 0n ? 0n : revision
}

function expectedOf(modelRun: ModelRun, stream: string, expected: ExpectedIntent): Expected {
  return typeof expected === 'string' ? expected : notNegative(lastOf(modelRun, stream) + BigInt(expected.offset))
}

function revisionOf(modelRun: ModelRun, stream: string, revision: RevisionIntent): 'start' | 'end' | bigint {
  if (typeof revision === 'string') return revision
  if ('revision' in revision) return BigInt(revision.revision)
  return notNegative(lastOf(modelRun, stream) + BigInt(revision.offset))
}

/** Only positions that the server has returned can be used. */
function positionOf({ positions }: Session, position: PositionIntent): 'start' | 'end' | number {
  if (typeof position === 'string') return position
  const known = [...positions.keys()].filter((record) => record !== beforeRun).sort((one, other) => one - other)
  return known[Math.floor(position.share * (known.length - 1))] ?? 'end'
}

function freshId(modelRun: ModelRun): string {
  modelRun.events += 1
  return `e${modelRun.events}`
}

function eventOf(modelRun: ModelRun, { type, content, meta }: EventIntent): Proposed {
  const id = freshId(modelRun)
  return {
    id,
    type,
    json: content === 'json',
    data: contentOf(id, content),
    meta: Buffer.from(meta ? `{"of":"${id}"}` : ''),
  }
}

function contentOf(id: string, content: EventIntent['content']): Buffer {
  if (content === 'json') return Buffer.from(JSON.stringify({ id, text: 'ä€😀' }))
  if (content === 'binary') return Buffer.from([0, 255, 128, ...Buffer.from(id)])
  return Buffer.alloc(content === 'large' ? largeBytes : hugeBytes, id)
}

function linkOf(modelRun: ModelRun, target: LinkIntent): Proposed {
  const text =
    'text' in target
      ? target.text
      : `${notNegative(lastOf(modelRun, target.stream) + BigInt(target.offset))}@${target.stream}`
  return { id: freshId(modelRun), type: '$>', json: false, data: Buffer.from(text), meta: Buffer.alloc(0) }
}

/** No soft deletes after a tombstone, where the server's reads of metadata depend on its caches. */
function metadataOf(modelRun: ModelRun, stream: string, value: MetadataIntent): Proposed {
  const id = freshId(modelRun)
  const { properties, truncateAtLast, json, type } = value
  const last = lastOf(modelRun, stream)
  const tb = truncateAtLast === undefined ? {} : { $tb: Number(notNegative(last + BigInt(truncateAtLast))) }
  const safe = lastWritten(modelRun.store, stream) !== lastPossibleRevision
  const text = value.text?.includes(String(lastPossibleRevision)) && !safe ? undefined : value.text
  return { id, type, json, data: Buffer.from(text ?? JSON.stringify({ ...properties, ...tb })), meta: Buffer.alloc(0) }
}

function repetitionOf(modelRun: ModelRun, intent: Extract<Intent, { do: 'repeat' }>): AppendRequest {
  const { appended } = modelRun
  const original = appended[Math.max(0, appended.length - 1 - intent.back)]
  if (original === undefined) throw new Error('no append to repeat')
  const stream = intent.how === 'in another stream' ? (original.stream === 'a' ? 'b' : 'a') : original.stream
  const events = repeated(modelRun, original.events, intent.how)
  const append = appendOf(modelRun, intent, stream, events)
  return intent.asBefore ? { ...append, expected: original.expected } : append
}

function repeated(modelRun: ModelRun, events: readonly Proposed[], how: Repetition): readonly Proposed[] {
  switch (how) {
    case 'the same':
    case 'in another stream':
      return events
    case 'a prefix':
      return events.slice(0, Math.max(1, events.length - 1))
    case 'a suffix':
      return events.slice(Math.min(1, events.length - 1))
    case 'extended':
      return [...events, eventOf(modelRun, { type: 'T', content: 'json', meta: false })]
    case 'reversed':
      return events.toReversed()
    case 'doubled':
      return [...events, ...events]
  }
}

/** A count of 0 keeps EventStoreDB reading the whole log for ever. */
function logReadOf(session: Session, intent: Extract<Intent, { do: 'read log' }>): LogRead {
  const from = positionOf(session, intent.from)
  return {
    direction: intent.backwards ? 'backwards' : 'forwards',
    from,
    count: Math.max(1, intent.count),
    links: intent.links,
    filter: intent.filter ?? (from === 'start' ? ownStreams : undefined),
  }
}

function subscriptionOf(
  modelRun: ModelRun,
  session: Session,
  intent: Extract<Intent, { do: 'subscribe' }>,
): SubscriptionRequest {
  const { stream, links, window, every } = intent
  if (stream !== undefined)
    return { stream, from: revisionOf(modelRun, stream, intent.revision), links, filter: undefined }
  const from = positionOf(session, intent.position)
  const filter = intent.filter ?? (from === 'start' ? ownStreams : undefined)
  return { stream, from, links, filter: filter && { ...filter, window, every } }
}
