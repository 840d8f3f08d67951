// The bare protocol, for what the client cannot express or hides.
import { randomUUID } from 'node:crypto'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import grpcStubs, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams, { type BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { credentials } from '@grpc/grpc-js'
import timestampPb from 'google-protobuf/google/protobuf/timestamp_pb.js'
import type { Test } from 'tap'
import { streamIdentifier } from '../protocol/identifiers.ts'

export function connectRaw(t: Test, port: number): StreamsClient {
  const client = new grpcStubs.StreamsClient(`127.0.0.1:${port}`, credentials.createInsecure())
  t.teardown(() => client.close())
  return client
}

export type Chunk = {
  readonly correlationId?: string
  /** Present in the first chunk of an append only. */
  readonly stream?: string
  readonly expected?: 'any' | 'no_stream' | 'stream_exists' | number
  readonly deadline?: Date
  readonly events?: readonly { readonly id?: string; readonly type?: string; readonly bytes?: number }[]
  readonly final?: boolean
}

export function batchRequest(chunk: Chunk): BatchAppendReq {
  const request = new streams.BatchAppendReq()
  request.setCorrelationId(uuid(chunk.correlationId ?? randomUUID()))
  if (chunk.stream !== undefined) request.setOptions(batchOptions(chunk.stream, chunk))
  for (const event of chunk.events ?? []) {
    const message = new streams.BatchAppendReq.ProposedMessage()
    message.setId(uuid(event.id ?? randomUUID()))
    message.getMetadataMap().set('type', event.type ?? 'T')
    message.getMetadataMap().set('content-type', 'application/octet-stream')
    message.setData(Buffer.alloc(event.bytes ?? 1, 'x'))
    request.addProposedMessages(message)
  }
  request.setIsFinal(chunk.final ?? true)
  return request
}

function batchOptions(stream: string, chunk: Chunk): BatchAppendReq.Options {
  const options = new streams.BatchAppendReq.Options()
  options.setStreamIdentifier(streamIdentifier(stream))
  const empty = new shared.Empty()
  if (chunk.expected === 'no_stream') options.setNoStream(empty)
  else if (chunk.expected === 'stream_exists') options.setStreamExists(empty)
  else if (typeof chunk.expected === 'number') options.setStreamPosition(String(chunk.expected))
  else options.setAny(empty)
  options.setDeadline(timestampPb.Timestamp.fromDate(chunk.deadline ?? new Date(Date.now() + 10_000)))
  return options
}

function uuid(text: string) {
  const message = new shared.UUID()
  message.setString(text)
  return message
}

/** Sends chunks on a batch stream of their own and collects as many replies. */
export function batchAppend(client: StreamsClient, chunks: readonly Chunk[], replies = 1): Promise<BatchAppendResp[]> {
  return new Promise((resolve, reject) => {
    const call = client.batchAppend()
    const answers: BatchAppendResp[] = []
    call.on('data', (reply: BatchAppendResp) => answers.push(reply))
    call.on('error', reject)
    // The node ends the stream when everything was answered: what is missing then never came.
    call.on('end', () => {
      if (answers.length === replies) resolve(answers)
      else reject(new Error(`${answers.length} replies instead of ${replies}`))
    })
    for (const chunk of chunks) call.write(batchRequest(chunk))
    call.end()
  })
}

/** A reply in one word, for tables. */
export function wordFor(reply: BatchAppendResp | undefined): string {
  const success = reply?.getSuccess()
  if (success) return success.hasCurrentRevision() ? `revision ${success.getCurrentRevision()}` : 'no stream'
  const type = reply?.getError()?.getDetails()?.getTypeUrl() ?? 'nothing'
  return type.replace('type.googleapis.com/event_store.client.', '')
}
