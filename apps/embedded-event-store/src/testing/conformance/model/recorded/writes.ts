// The model's results of writes in the format of a recording.
import { positionAt } from '../../player/ranks.ts'
import type { AppendStep, EventSpec, Expectation, Json, RecordedResponse, RemoveStep } from '../../player/scenario.ts'
import { append, type Expected, softDelete, tombstone, type WriteResponse } from '../model.ts'
import type { Proposed, Store } from '../store.ts'

type Played = { readonly response: RecordedResponse | undefined; readonly store: Store }

const maxAppendBytes = 1 << 20
const symbolicVersions = { any: -2, no_stream: -1, stream_exists: -4 }

const expectedOf = (expect: Expectation): Expected => (typeof expect === 'number' ? BigInt(expect) : expect)
const revisionResponse = (revision: bigint): Json => (revision < 0n ? 'none' : Number(revision))

export function positionResponse(position: number | undefined): Json {
  return position === undefined ? 'none' : positionAt(String(position))
}

/** Malformed events are rejected before any rule of the model applies; the recordings define which. */
export function playAppend(store: Store, step: AppendStep): Played {
  const { stream } = step
  const unary = step.via === 'unary'
  const specs = step.events.map((event) => (typeof event === 'string' ? { id: event } : event))
  const bad = specs.find((event) => event.noType === true || event.rawId !== undefined || event.type === '')
  if (bad !== undefined || stream === '') return { response: badRequest(unary, bad?.noType === true), store }
  const events = specs.map(proposed)
  const bytes = events.reduce((sum, { data }) => sum + data.length, 0)
  if (bytes > maxAppendBytes) return { response: tooLarge(unary), store }
  const written = append(store, stream, expectedOf(step.expect), events)
  return { response: appendResponse(written.response, stream, unary), store: written.store }
}

function proposed(event: EventSpec): Proposed {
  const isBinary = event.size !== undefined || event.link !== undefined
  const contentType = event.contentType ?? (isBinary ? 'application/octet-stream' : 'application/json')
  return {
    id: event.id,
    type: event.type ?? 'T',
    json: contentType === 'application/json',
    data: Buffer.from(dataOf(event)),
    meta: Buffer.from(event.meta === undefined ? '' : JSON.stringify(event.meta)),
  }
}

function dataOf({ id, data, link, size }: EventSpec): string {
  if (data !== undefined) return JSON.stringify(data)
  return link ?? (size === undefined ? JSON.stringify({ e: id }) : 'x'.repeat(size))
}

function badRequest(unary: boolean, noType: boolean): RecordedResponse {
  if (!unary) return { status: { code: 3, type: 'event_store.client.BadRequest' } }
  if (!noType) return { error: { code: 'UNKNOWN', trailers: {} } }
  const exception = 'missing-required-metadata-property'
  const trailers = { exception, 'required-metadata-properties': 'type,content-type' }
  return { error: { code: 'INVALID_ARGUMENT', trailers } }
}

function tooLarge(unary: boolean): RecordedResponse {
  if (!unary) return { status: { code: 3, type: 'event_store.client.MaximumAppendSizeExceeded' } }
  const trailers = { exception: 'maximum-append-size-exceeded', 'maximum-append-size': String(maxAppendBytes) }
  return { error: { code: 'INVALID_ARGUMENT', trailers } }
}

export function streamDeleted(stream: string): RecordedResponse {
  return { error: { code: 'FAILED_PRECONDITION', trailers: { exception: 'stream-deleted', 'stream-name': stream } } }
}

function appendResponse(response: WriteResponse, stream: string, unary: boolean): RecordedResponse {
  if ('ok' in response) {
    return {
      ok: { revision: revisionResponse(response.ok.revision), position: positionResponse(response.ok.position) },
    }
  }
  if ('noResponse' in response) return { error: { code: 'DEADLINE_EXCEEDED', trailers: {} } }
  if ('deleted' in response) {
    return unary ? streamDeleted(stream) : { status: { code: 5, type: 'event_store.client.StreamDeleted' } }
  }
  const current = revisionResponse(response.wrong.current)
  if (unary) return { wrong: { current } }
  return { status: { code: 6, type: 'event_store.client.WrongExpectedVersion', current } }
}

export function playRemoval(store: Store, { op, stream, expect }: RemoveStep): Played {
  const remove = op === 'delete' ? softDelete : tombstone
  const { response, store: after } = remove(store, stream, expectedOf(expect))
  if ('ok' in response) return { response: { ok: { position: positionResponse(response.ok.position) } }, store: after }
  if (!('wrong' in response)) return { response: streamDeleted(stream), store: after }
  // Not modelled: the recorded server could not send this name in a trailer.
  if (/[^ -~]/.test(stream)) return { response: undefined, store: after }
  const trailers = {
    exception: 'wrong-expected-version',
    'stream-name': stream,
    'expected-version': String(typeof expect === 'number' ? expect : symbolicVersions[expect]),
    'actual-version': String(response.wrong.current),
  }
  return { response: { error: { code: 'FAILED_PRECONDITION', trailers } }, store: after }
}
