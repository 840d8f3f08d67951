// Append, Delete and Tombstone without the client; a failed call is returned, not thrown.
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, {
  type AppendReq,
  type AppendResp,
  type DeleteResp,
  type TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import { type CallOptions, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { streamIdentifier } from '../protocol/identifiers.ts'
import { type RawEvent, type RawExpectation, setExpectation, unaryMessage } from './rawMessages.ts'

const responseTimeoutMs = 15_000

export const deadline = (timeoutMs = responseTimeoutMs): CallOptions => ({ deadline: Date.now() + timeoutMs })

/** The name of the gRPC status, and its details and trailers. */
export type Failed = { readonly code: string; readonly trailers: Readonly<Record<string, string>> }
export type RawResponse<Response> = { readonly response: Response } | { readonly failed: Failed }

/** How a message travels, which differs between servers and clients. KurrentDB compresses. */
const transportHeaders = new Set(['date', 'server', 'content-type', 'content-length', 'grpc-encoding'])

export function failed(error: Partial<ServiceError>): Failed {
  const trailers: Record<string, string> = {}
  for (const [key, value] of Object.entries(error.metadata?.getMap() ?? {})) {
    if (!transportHeaders.has(key)) trailers[key] = String(value)
  }
  return { code: status[error.code ?? status.UNKNOWN], trailers }
}

function settling<Response>(resolve: (result: RawResponse<Response>) => void) {
  return (error: ServiceError | null, response?: Response): void => {
    if (response !== undefined && error === null) resolve({ response })
    else resolve({ failed: failed(error ?? {}) })
  }
}

export type UnaryAppend = {
  readonly stream: string
  readonly expected?: RawExpectation
  readonly events: readonly RawEvent[]
}

export function unaryAppend(client: StreamsClient, append: UnaryAppend): Promise<RawResponse<AppendResp>> {
  const options = new streams.AppendReq.Options()
  options.setStreamIdentifier(streamIdentifier(append.stream))
  setExpectation(options, append.expected ?? 'any', (revision) => options.setRevision(revision))
  const requests = append.events.map((event) => new streams.AppendReq().setProposedMessage(unaryMessage(event)))
  return sendAppend(client, [new streams.AppendReq().setOptions(options), ...requests])
}

/** Any sequence of messages, valid or not. */
export function sendAppend(
  client: StreamsClient,
  requests: readonly AppendReq[],
  timeoutMs = responseTimeoutMs,
): Promise<RawResponse<AppendResp>> {
  return new Promise((resolve) => {
    const call = client.append(new Metadata(), deadline(timeoutMs), settling(resolve))
    // The callback reports the failure, too.
    call.on('error', () => undefined)
    for (const request of requests) call.write(request)
    call.end()
  })
}

export function deleteStream(
  client: StreamsClient,
  stream: string,
  expected: RawExpectation,
): Promise<RawResponse<DeleteResp>> {
  const options = new streams.DeleteReq.Options()
  options.setStreamIdentifier(streamIdentifier(stream))
  setExpectation(options, expected, (revision) => options.setRevision(revision))
  const request = new streams.DeleteReq().setOptions(options)
  return new Promise((resolve) => client.delete(request, new Metadata(), deadline(), settling(resolve)))
}

export function tombstoneStream(
  client: StreamsClient,
  stream: string,
  expected: RawExpectation,
): Promise<RawResponse<TombstoneResp>> {
  const options = new streams.TombstoneReq.Options()
  options.setStreamIdentifier(streamIdentifier(stream))
  setExpectation(options, expected, (revision) => options.setRevision(revision))
  const request = new streams.TombstoneReq().setOptions(options)
  return new Promise((resolve) => client.tombstone(request, new Metadata(), deadline(), settling(resolve)))
}
