// Below the client, which parses JSON and writes it anew: its connection, its credentials, but the bytes as they are.
import { setTimeout as sleep } from 'node:timers/promises'
import grpcStubs, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { clientMethod, connect } from '../connection/connection.ts'

/** The generated stub's last overload takes everything. */
type ReadParameters = Parameters<StreamsClient['read']>
export type CallArguments = [NonNullable<ReadParameters[1]>, NonNullable<ReadParameters[2]>]

/** A server that restarts, or a cluster that elects, is back within this. */
const retryTimeoutMs = 60_000
/** One that has never answered is more likely a wrong address. */
const firstRetryTimeoutMs = 3_000
const firstPauseMs = 50
const maxPauseMs = 2_000

export type RawClient = {
  /** What the operator calls this end, for messages. */
  readonly name: string
  /**
   * Makes a call, and makes it again when its outcome is unknown, until there is an answer.
   * @param attempt must be safe to repeat
   * @throws LogUnusableError when the server refuses, or gave no answer for a minute, or has never given one
   */
  call<T>(attempt: (stub: StreamsClient, args: CallArguments) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A log cannot be read or written; the message says which and why. */
export class LogUnusableError extends Error {
  override readonly name = 'LogUnusableError'
}

/**
 * @param options `timeoutMs` is how long one attempt may take
 * @throws Error when the connection string cannot be understood
 */
export function createRawClient(options: {
  readonly name: string
  readonly connectionString: string
  readonly timeoutMs: number
}): RawClient {
  const { name } = options
  const connection = connect(options.connectionString)
  const { client } = connection
  const execute = clientMethod(client, 'execute')
  const callArguments = clientMethod(client, 'callArguments')
  async function callOnce<T>(attempt: (stub: StreamsClient, args: CallArguments) => Promise<T>): Promise<T> {
    // The client replaces its connection, or follows a cluster's leader, after the failures that pass through `execute`.
    return await execute(grpcStubs.StreamsClient, 'raw', (stub: StreamsClient) =>
      attempt(stub, callArguments({ deadline: options.timeoutMs, requiresLeader: true })),
    )
  }
  let hasResponded = false
  let isClosed = false
  return {
    name,
    async call(attempt) {
      const giveUpAt = Date.now() + (hasResponded ? retryTimeoutMs : firstRetryTimeoutMs)
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
        try {
          const result = await callOnce(attempt)
          hasResponded = true
          return result
        } catch (error) {
          // What was read ahead when the work failed or was given up is not waited for.
          if (isClosed || isPermanentFailure(error) || Date.now() + pauseMs > giveUpAt) throw unusableError(name, error)
          await sleep(pauseMs)
        }
      }
    },
    async close() {
      isClosed = true
      await connection.close()
    },
  }
}

/** gRPC statuses by which a server says no; everything else may pass, or leaves open what happened. */
const permanentCodes = new Set([3, 7, 9, 12, 16])

const isPermanentFailure = (error: unknown) =>
  error instanceof LogUnusableError ||
  (error instanceof Error && 'code' in error && typeof error.code === 'number' && permanentCodes.has(error.code))

function unusableError(name: string, error: unknown): LogUnusableError {
  if (error instanceof LogUnusableError) return error
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ')
  const unconnected = /No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note:/.exec(message)
  if (unconnected === null) return new LogUnusableError(`${name}: ${message}`, { cause: error })
  // A node of ours has no TLS, and the client speaks it unless told otherwise.
  const hint = message.includes('wrong version number') ? ': a server without TLS needs tls=false' : ''
  return new LogUnusableError(`${name} cannot be reached${hint}: ${unconnected[1]}`, { cause: error })
}
