// One long-lived batch stream, like the client's: exactly one reply per append.
import { randomUUID } from 'node:crypto'
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { ServiceError } from '@grpc/grpc-js'
import { batchRequest, type Chunk } from '../../rawStreams.ts'

export type BatchStream = {
  /** @returns the reply; undefined after a timeout */
  append(chunks: readonly Chunk[], timeoutMs: number): Promise<BatchAppendResp | undefined>
  /** Unexpected replies, or the end of the stream. */
  readonly problems: readonly string[]
  close(): void
}

export function openBatchStream(client: StreamsClient): BatchStream {
  const waiting = new Map<string, (reply: BatchAppendResp | undefined) => void>()
  const problems: string[] = []
  const call = client.batchAppend()
  let closed = false
  call.on('data', (reply: BatchAppendResp) => {
    const id = reply.getCorrelationId()?.getString() ?? 'none'
    const settle = waiting.get(id)
    if (settle === undefined) problems.push(`a reply with the correlation id ${id}`)
    waiting.delete(id)
    settle?.(reply)
  })
  call.on('error', (error: ServiceError) => {
    if (!closed) problems.push(`the batch stream failed: ${error.message}`)
  })
  call.on('end', () => {
    if (!closed) problems.push('the batch stream ended')
  })
  return {
    problems,
    append(chunks, timeoutMs) {
      const correlationId = randomUUID()
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(correlationId)
          resolve(undefined)
        }, timeoutMs)
        waiting.set(correlationId, (reply) => {
          clearTimeout(timer)
          resolve(reply)
        })
        for (const chunk of chunks) call.write(batchRequest({ ...chunk, correlationId }))
      })
    },
    close() {
      closed = true
      call.cancel()
    },
  }
}
