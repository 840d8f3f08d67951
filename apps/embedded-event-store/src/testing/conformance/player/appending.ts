// The steps that write: both appends, delete and tombstone.
import { randomUUID } from 'node:crypto'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { AppendResp, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type ServiceError, status } from '@grpc/grpc-js'
import { deleteStream, failed, type RawResponse, tombstoneStream, unaryAppend } from '../../rawCalls.ts'
import type { RawEvent } from '../../rawMessages.ts'
import { batchError, batchRequest, type Chunk, currentRevisionIn } from '../../rawStreams.ts'
import { positionAt } from './ranks.ts'
import type { AppendStep, EventSpec, RecordedResponse, RemoveStep } from './scenario.ts'
import type { Symbols } from './symbols.ts'

export async function playAppend(
  client: StreamsClient,
  symbols: Symbols,
  step: AppendStep,
  timeoutMs: number,
): Promise<RecordedResponse> {
  const events = step.events.map((spec) => eventOf(typeof spec === 'string' ? { id: spec } : spec, symbols))
  const stream = symbols.stream(step.stream)
  if (step.via === 'unary') {
    return unaryResponse(symbols, await unaryAppend(client, { stream, expected: step.expect, events }))
  }
  return batchResponse(client, symbols, chunksOf(step, stream, events), timeoutMs)
}

function eventOf(spec: EventSpec, symbols: Symbols): RawEvent {
  const isBinary = spec.size !== undefined || spec.link !== undefined
  return {
    id: spec.rawId ?? symbols.eventId(spec.id),
    type: spec.noType === true ? null : (spec.type ?? 'T'),
    contentType: spec.contentType ?? (isBinary ? 'application/octet-stream' : 'application/json'),
    data: dataOf(spec, symbols),
    metadata: spec.meta === undefined ? '' : JSON.stringify(spec.meta),
  }
}

function dataOf(spec: EventSpec, symbols: Symbols): string {
  if (spec.data !== undefined) return JSON.stringify(spec.data)
  if (spec.link !== undefined) return spec.link.replace('@', `@${symbols.prefix}`)
  return spec.size === undefined ? JSON.stringify({ e: spec.id }) : 'x'.repeat(spec.size)
}

function chunksOf(step: AppendStep, stream: string, events: readonly RawEvent[]): Chunk[] {
  const count = step.chunks ?? 1
  const correlationId = randomUUID()
  const perChunk = Math.ceil(events.length / count)
  return Array.from({ length: count }, (_, index) => ({
    correlationId,
    ...(index === 0 ? { stream, expected: step.expect } : {}),
    events: events.slice(index * perChunk, (index + 1) * perChunk),
    final: index === count - 1,
  }))
}

/** The first reply of the call, or its end. */
function batchResponse(
  client: StreamsClient,
  symbols: Symbols,
  chunks: readonly Chunk[],
  timeoutMs: number,
): Promise<RecordedResponse> {
  return new Promise((resolve) => {
    const call = client.batchAppend({ deadline: Date.now() + timeoutMs })
    call.on('error', (error: ServiceError) => resolve(failureResponse(symbols, failed(error))))
    call.on('end', () => resolve({ ended: true }))
    call.on('data', (reply: BatchAppendResp) => {
      resolve(replyResponse(reply))
      call.cancel()
    })
    for (const chunk of chunks) call.write(batchRequest(chunk))
  })
}

function replyResponse(reply: BatchAppendResp): RecordedResponse {
  const success = reply.getSuccess()
  if (success !== undefined) return { ok: successResponse(success) }
  const error = batchError(reply)
  if (error === undefined) return { reply: 'of no kind' }
  const { code, type, details } = error
  const isWrongRevision = type.endsWith('WrongExpectedVersion')
  return { status: { code, type, ...(isWrongRevision ? { current: currentRevisionIn(details) } : {}) } }
}

function unaryResponse(symbols: Symbols, result: RawResponse<AppendResp>): RecordedResponse {
  if ('failed' in result) return failureResponse(symbols, result.failed)
  const success = result.response.getSuccess()
  if (success !== undefined) return { ok: successResponse(success) }
  const wrong = result.response.getWrongExpectedVersion()
  return { wrong: { current: wrong?.hasCurrentNoStream() ? 'none' : Number(wrong?.getCurrentRevision()) } }
}

function successResponse(success: AppendResp.Success | BatchAppendResp.Success) {
  return {
    revision: success.hasNoStream() ? 'none' : Number(success.getCurrentRevision()),
    position: positionResponse(success.getPosition()),
  }
}

function positionResponse(position: { getCommitPosition(): string } | undefined) {
  return position === undefined ? 'none' : positionAt(position.getCommitPosition())
}

export async function playRemove(client: StreamsClient, symbols: Symbols, step: RemoveStep): Promise<RecordedResponse> {
  const remove = step.op === 'delete' ? deleteStream : tombstoneStream
  const result = await remove(client, symbols.stream(step.stream), step.expect)
  if ('failed' in result) return failureResponse(symbols, result.failed)
  return { ok: { position: positionResponse(result.response.getPosition()) } }
}

export function failureResponse(symbols: Symbols, failure: ReturnType<typeof failed>): RecordedResponse {
  const trailers = Object.entries(failure.trailers).map(([key, value]) => [
    key,
    symbols.withoutNames(decodeURIComponent(value)),
  ])
  return { error: { code: failure.code, trailers: Object.fromEntries(trailers) } }
}

export const noResponseCode = status[status.DEADLINE_EXCEEDED]
