// The raw protocol, for connections and BatchAppend calls that the client does not support.
import { randomUUID } from 'node:crypto'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import grpcStubs, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { credentials } from '@grpc/grpc-js'
import timestampPb from 'google-protobuf/google/protobuf/timestamp_pb.js'
import type { Test } from 'tap'
import { streamIdentifier } from '../protocol/identifiers.ts'
import { batchMessage, type RawEvent, type RawExpectation, setExpectation, uuid } from './rawMessages.ts'

/** Same as in the Node client. */
const maxMessageBytes = 17 << 20

export function connectRaw(t: Test, port: number): StreamsClient {
  return connectRawTo(t, `127.0.0.1:${port}`)
}

/** @param address `host:port` of any server without TLS */
export function connectRawTo(t: Test, address: string): StreamsClient {
  const client = new grpcStubs.StreamsClient(address, credentials.createInsecure(), {
    'grpc.max_receive_message_length': maxMessageBytes,
  })
  t.teardown(() => client.close())
  return client
}

export type Chunk = {
  readonly correlationId?: Parameters<typeof uuid>[0]
  /** Present in the first chunk of an append only. */
  readonly stream?: string
  readonly expected?: RawExpectation | undefined
  readonly deadline?: Date
  readonly events?: readonly RawEvent[]
  readonly final?: boolean
}

export function batchRequest(chunk: Chunk): BatchAppendReq {
  const request = new streams.BatchAppendReq()
  request.setCorrelationId(uuid(chunk.correlationId ?? randomUUID()))
  if (chunk.stream !== undefined) request.setOptions(batchOptions(chunk.stream, chunk))
  for (const event of chunk.events ?? []) request.addProposedMessages(batchMessage(event))
  request.setIsFinal(chunk.final ?? true)
  return request
}

function batchOptions(stream: string, chunk: Chunk): BatchAppendReq.Options {
  const options = new streams.BatchAppendReq.Options()
  options.setStreamIdentifier(streamIdentifier(stream))
  setExpectation(options, chunk.expected ?? 'any', (position) => options.setStreamPosition(position))
  options.setDeadline(timestampPb.Timestamp.fromDate(chunk.deadline ?? new Date(Date.now() + 10_000)))
  return options
}

/** Sends chunks on a separate batch stream and collects as many replies. */
export function batchAppend(client: StreamsClient, chunks: readonly Chunk[], replies = 1): Promise<BatchAppendResp[]> {
  return new Promise((resolve, reject) => {
    const call = client.batchAppend()
    const received: BatchAppendResp[] = []
    call.on('data', (reply: BatchAppendResp) => received.push(reply))
    call.on('error', reject)
    // The server ends the stream after all replies, so missing ones will not come.
    call.on('end', () => {
      if (received.length === replies) resolve(received)
      else reject(new Error(`${received.length} replies instead of ${replies}`))
    })
    for (const chunk of chunks) call.write(batchRequest(chunk))
    call.end()
  })
}

/** The decoded error of a reply: its code and the message in its details. */
export function batchError(reply: BatchAppendResp): { code: number; type: string; details: Uint8Array } | undefined {
  const error = reply.getError()
  if (error === undefined) return undefined
  const details = error.getDetails()
  const type = (details?.getTypeUrl() ?? 'nothing').replace(/^.*\//, '')
  return { code: error.getCode(), type, details: details?.getValue_asU8() ?? new Uint8Array() }
}

/** The stream's last revision in a WrongExpectedVersion. */
export function currentRevisionIn(details: Uint8Array): number | 'none' {
  const wrong = shared.WrongExpectedVersion.deserializeBinary(details)
  return wrong.hasCurrentNoStream() ? 'none' : Number(wrong.getCurrentStreamRevision())
}

/** A reply in one word, for tables. */
export function wordFor(reply: BatchAppendResp | undefined): string {
  const success = reply?.getSuccess()
  if (success) return success.hasCurrentRevision() ? `revision ${success.getCurrentRevision()}` : 'no stream'
  const error = reply && batchError(reply)
  return (error?.type ?? 'nothing').replace('event_store.client.', '')
}
