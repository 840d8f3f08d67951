// Parses a ReadReq into plain data.

import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { invalidArgument, unknown } from '../protocol/callError.ts'
import type { IdFormat } from '../protocol/eventMessage.ts'
import { BadRequestError, revisionOf, streamNameOf } from '../protocol/identifiers.ts'
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
  /** No start position: EventStoreDB ends such a call normally, without messages. */
  | { readonly kind: 'nothing' }

/**
 * The checks have EventStoreDB's order and statuses: INVALID_ARGUMENT for its own checks, UNKNOWN for its exceptions.
 * @throws CallError
 */
export function readRequestOf(request: ReadReq): ReadRequest {
  const options = request.getOptions()
  if (options === undefined) throw unknown('Options are required')
  const ids = options.getUuidOption()
  if (ids === undefined) throw invalidArgument('A UUID option is required')
  const common: Common = {
    resolveLinks: options.getResolveLinks(),
    idFormat: ids.hasString() ? 'string' : 'structured',
  }
  const stream = options.getStream()
  const all = options.getAll()
  if (stream === undefined && all === undefined) throw invalidArgument('A stream or all streams must be requested')
  if (stream?.hasStreamIdentifier() === false) throw unknown('A stream identifier is required')
  rejectCombinations(options)
  if (stream !== undefined) return streamRequest(options, stream, common)
  return all === undefined ? { kind: 'nothing' } : allRequest(options, all, common)
}

function rejectCombinations(options: ReadReq.Options): void {
  const { CountOptionCase, FilterOptionCase, ReadDirection } = streams.ReadReq.Options
  const counts = options.getCountOptionCase()
  const filters = options.getFilterOptionCase()
  if (counts === CountOptionCase.COUNT_OPTION_NOT_SET) throw invalidArgument('A read needs a count')
  if (filters === FilterOptionCase.FILTER_OPTION_NOT_SET) throw invalidArgument('A filter option is required')
  if (options.hasStream() && options.hasFilter()) throw invalidArgument('One stream cannot be filtered')
  const direction = options.getReadDirection()
  const backwards = direction === ReadDirection.BACKWARDS
  if (!backwards && direction !== ReadDirection.FORWARDS) throw invalidArgument('A read goes forwards or backwards')
  if (options.hasSubscription() && backwards) throw invalidArgument('A subscription reads forwards')
}

function streamRequest(options: ReadReq.Options, stream: ReadReq.Options.StreamOptions, common: Common): ReadRequest {
  const from = streamFrom(stream)
  if (from === undefined) return { kind: 'nothing' }
  const target = { ...common, stream: readable(() => streamNameOf(stream.getStreamIdentifier())), from }
  if (options.hasSubscription()) return { kind: 'subscribe_stream', ...target }
  const compatibility = options.getControlOption()?.getCompatibility() ?? 0
  return { kind: 'read_stream', ...target, ...limitsOf(options), compatibility }
}

function allRequest(options: ReadReq.Options, all: ReadReq.Options.AllOptions, common: Common): ReadRequest {
  const from = allFrom(all)
  if (from === undefined) return { kind: 'nothing' }
  const filter = options.getFilter()
  const target = { ...common, from, filter: filter && eventFilterOf(filter) }
  if (!options.hasSubscription()) return { kind: 'read_all', ...target, ...limitsOf(options) }
  if (filter?.getCheckpointintervalmultiplier() === 0) throw unknown('A subscription with a filter needs an interval')
  return { kind: 'subscribe_all', ...target }
}

function limitsOf(options: ReadReq.Options): Limits {
  const count = BigInt(options.getCount())
  if (count === 0n) throw unknown('The count must be positive')
  return { backwards: options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS, count }
}

function streamFrom(stream: ReadReq.Options.StreamOptions): From | undefined {
  if (stream.hasStart()) return 'start'
  if (stream.hasEnd()) return 'end'
  if (!stream.hasRevision()) return undefined
  const revision = readable(() => revisionOf(stream.getRevision()))
  return revision < 0n ? 'end' : revision
}

function allFrom(all: ReadReq.Options.AllOptions): From | undefined {
  if (all.hasStart()) return 'start'
  if (all.hasEnd()) return 'end'
  const position = all.getPosition()
  if (position === undefined) return undefined
  const commit = readable(() => revisionOf(position.getCommitPosition()))
  const prepare = readable(() => revisionOf(position.getPreparePosition()))
  if (commit < 0n && prepare < 0n) return 'end'
  if (commit < 0n || prepare < 0n || commit < prepare) throw unknown('There is no such position')
  return commit
}

/** Errors that are bad requests in an append are UNKNOWN in a read, as in EventStoreDB. */
function readable<Value>(parse: () => Value): Value {
  try {
    return parse()
  } catch (error) {
    if (error instanceof BadRequestError) throw unknown(error.message)
    throw error
  }
}
