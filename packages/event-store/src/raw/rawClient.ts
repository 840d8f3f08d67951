// gRPC calls over the client's connection and credentials, without its JSON parsing: events keep their exact bytes.
import { setTimeout as sleep } from 'node:timers/promises'
import grpcStubs, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { clientMethod, connect } from '../connection/connection.ts'

/** Parameters of the last overload of the generated stub, which has all of them. */
type ReadParameters = Parameters<StreamsClient['read']>
export type CallArguments = [NonNullable<ReadParameters[1]>, NonNullable<ReadParameters[2]>]

/** Covers a server restart or a leader election. */
const retryTimeoutMs = 60_000
/** Used until the first response: a server that has never responded more likely has a wrong address. */
const firstRetryTimeoutMs = 3_000
const firstPauseMs = 50
const maxPauseMs = 2_000

export type RawClient = {
  /** Names the server in error messages. */
  readonly name: string
  /**
   * Makes a call and repeats it while its outcome is unknown.
   * @param attempt must be safe to repeat
   * @throws LogUnusableError when the server rejects the call, or did not respond for a minute (3 s if it never responded)
   */
  call<T>(attempt: (stub: StreamsClient, args: CallArguments) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A log cannot be read or written; the message names the server and the reason. */
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
    // On failures in `execute`, the client replaces its connection or follows the cluster's leader.
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
          // After `close`, a pending read-ahead is not retried.
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

/** gRPC statuses of rejected calls; all others are transient or leave the outcome unknown. */
const permanentCodes = new Set([3, 7, 9, 12, 16])

const isPermanentFailure = (error: unknown) =>
  error instanceof LogUnusableError ||
  (error instanceof Error && 'code' in error && typeof error.code === 'number' && permanentCodes.has(error.code))

function unusableError(name: string, error: unknown): LogUnusableError {
  if (error instanceof LogUnusableError) return error
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ')
  const unconnected = /No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note:/.exec(message)
  if (unconnected === null) return new LogUnusableError(`${name}: ${message}`, { cause: error })
  // The embedded event store has no TLS, which is the client's default.
  const hint = message.includes('wrong version number') ? ': a server without TLS needs tls=false' : ''
  return new LogUnusableError(`${name} cannot be reached${hint}: ${unconnected[1]}`, { cause: error })
}
