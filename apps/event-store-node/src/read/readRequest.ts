// What a ReadReq asks for, as plain data.
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { IdFormat } from '../protocol/eventMessage.ts'
import { BadRequestError, streamNameOf } from '../protocol/identifiers.ts'
import { invalidArgument, unknown } from '../protocol/refusal.ts'
import { type EventFilter, eventFilterOf } from './eventFilter.ts'

/** A revision or a position, or one of the ends. */
export type From = bigint | 'start' | 'end'

type Common = { readonly resolveLinks: boolean; readonly idFormat: IdFormat }

export type StreamTarget = Common & { readonly stream: string; readonly from: From }
export type AllTarget = Common & { readonly from: From; readonly filter: EventFilter | undefined }

type Limits = { readonly backwards: boolean; readonly count: bigint }

export type ReadRequest =
  | (StreamTarget & Limits & { readonly kind: 'read_stream'; readonly compatibility: number })
  | (AllTarget & Limits & { readonly kind: 'read_all' })
  | (StreamTarget & { readonly kind: 'subscribe_stream' })
  | (AllTarget & { readonly kind: 'subscribe_all' })

/** Beyond this a revision or position is out of the log's range anyway. */
const maxInt64 = 9223372036854775807n

/** @throws Refusal */
export function readRequestOf(request: ReadReq): ReadRequest {
  const options = request.getOptions()
  if (options === undefined) throw invalidArgument('Options are required')
  const backwards = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS
  const common: Common = {
    resolveLinks: options.getResolveLinks(),
    idFormat: options.getUuidOption()?.getStructured() ? 'structured' : 'string',
  }
  const subscribes = options.hasSubscription()
  if (subscribes && backwards) throw invalidArgument('A subscription reads forwards')
  const count = BigInt(options.getCount())
  if (!subscribes && count === 0n) throw unknown('The count must be positive')
  const stream = options.getStream()
  if (stream !== undefined) {
    const target = { ...common, stream: nameOf(stream), from: streamFrom(stream) }
    if (subscribes) return { kind: 'subscribe_stream', ...target }
    const compatibility = options.getControlOption()?.getCompatibility() ?? 0
    return { kind: 'read_stream', ...target, backwards, count, compatibility }
  }
  const all = options.getAll()
  if (all === undefined) throw invalidArgument('A stream or all streams must be asked for')
  const filter = options.getFilter()
  const target = { ...common, from: allFrom(all), filter: filter && eventFilterOf(filter) }
  return subscribes ? { kind: 'subscribe_all', ...target } : { kind: 'read_all', ...target, backwards, count }
}

function nameOf(stream: ReadReq.Options.StreamOptions): string {
  try {
    return streamNameOf(stream.getStreamIdentifier())
  } catch (error) {
    if (error instanceof BadRequestError) throw unknown(error.message)
    throw error
  }
}

function streamFrom(stream: ReadReq.Options.StreamOptions): From {
  if (stream.hasStart()) return 'start'
  if (stream.hasEnd()) return 'end'
  return inRange(stream.getRevision())
}

function allFrom(all: ReadReq.Options.AllOptions): From {
  if (all.hasStart()) return 'start'
  if (all.hasEnd()) return 'end'
  return inRange(all.getPosition()?.getCommitPosition() ?? '0')
}

function inRange(text: string): bigint {
  const value = BigInt(text)
  return value > maxInt64 ? maxInt64 : value
}
