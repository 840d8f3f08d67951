// A BatchAppend call that stays open, like the Node client's.
import { randomUUID } from 'node:crypto'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServiceError } from '@grpc/grpc-js'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { uuidOf } from '../protocol/identifiers.ts'
import { type Failed, failed } from './rawCalls.ts'
import { batchRequest, type Chunk } from './rawStreams.ts'

export type BatchSession = {
  send(...chunks: Chunk[]): void
  sendAsIs(request: BatchAppendReq): void
  readonly replies: readonly BatchAppendResp[]
  /** The replies, once there are `count`. */
  first(count: number): Promise<readonly BatchAppendResp[]>
  /** Sends another append and returns all replies before its own. */
  allSoFar(): Promise<readonly BatchAppendResp[]>
  failure(): Promise<Failed>
}

/** Cancelled with the test. Never half-closed, because a server may then end the call early. */
export function openBatch(t: Test, client: StreamsClient): BatchSession {
  const replies: BatchAppendResp[] = []
  let failure: Failed | undefined
  const call = client.batchAppend()
  call.on('data', (reply: BatchAppendResp) => replies.push(reply))
  call.on('error', (error: ServiceError) => {
    failure ??= failed(error)
  })
  t.teardown(() => call.cancel())
  const indexOf = (correlationId: string) =>
    replies.findIndex((reply) => uuidOf(reply.getCorrelationId()) === correlationId)
  return {
    send(...chunks) {
      for (const chunk of chunks) call.write(batchRequest(chunk))
    },
    sendAsIs: (request) => call.write(request),
    replies,
    first: async (count) =>
      waitFor(() => replies.length >= count && replies.slice(0, count), { what: `${count} replies` }),
    async allSoFar() {
      const correlationId = randomUUID()
      call.write(batchRequest({ correlationId, stream: `last-${correlationId}`, events: [{}] }))
      const index = await waitFor(
        () => {
          const found = indexOf(correlationId)
          return found >= 0 && { found }
        },
        { what: 'the reply to the last append' },
      )
      return replies.slice(0, index.found)
    },
    failure: () => waitFor(() => failure, { what: 'the call to fail' }),
  }
}
