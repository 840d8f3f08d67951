// gRPC calls over the client's connection and credentials, without its JSON parsing: events keep their exact bytes.

import { setTimeout as sleep } from 'node:timers/promises'
import grpcStubs, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { anySignal } from '@paylog/runtime/anySignal'
import { clientMethod } from './client.ts'
import { type Connection, createConnections, type ReplaceableConnection } from './connection.ts'
import { isPermanentError, ResponseTimeoutError, withTimeout } from './errors.ts'
import type { Outages } from './outages.ts'
import { boundedCall } from './waiting.ts'

/** Parameters of the last overload of the generated stub, which has all of them. */
type ReadParameters = Parameters<StreamsClient['read']>
export type CallArguments = [NonNullable<ReadParameters[1]>, NonNullable<ReadParameters[2]>]

/** How calls are made, repeated and given up. */
export type CallContext = {
  readonly connection: ReplaceableConnection
  /** A read fails when it gets no message for this long. */
  readonly timeoutMs: number
  /** How long a failing call is repeated. @param hasResponded whether this server has ever responded */
  readonly retryTimeoutMs: (hasResponded: boolean) => number
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal
  /** The error that the caller gets in the end. */
  readonly failure: (error: unknown) => Error
  readonly outages?: Outages
}

/** @param firstMs limit of the wait for the first message, in ms */
export type Attempt<T> = (stub: StreamsClient, args: CallArguments, firstMs: number) => Promise<T>

const firstPauseMs = 25
const maxPauseMs = 1_000
/** The last attempt of a call has a chance, too. */
const shortestMs = 100
const responded = new WeakSet<ReplaceableConnection>()

/**
 * Makes a call to the leader and repeats it while its outcome is unknown, also at the next leader.
 * @param attempt must be safe to repeat
 * @param deadlineMs limit of one attempt; reads have a limit for each message instead
 * @throws the context's `failure`, when the server rejects the call or the retries are over
 */
export async function call<T>(
  context: CallContext,
  attempt: Attempt<T>,
  deadlineMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const retryMs = context.retryTimeoutMs(responded.has(context.connection))
  const retryUntil = performance.now() + retryMs
  return await boundedCall(Math.max(retryMs, context.timeoutMs), (endBy) =>
    repeated(context, attempt, { deadlineMs, endBy, retryUntil: Math.min(retryUntil, endBy) }),
  )
}

/** @param times `endBy` ends the last attempt, and none starts after `retryUntil` */
async function repeated<T>(
  { connection, closing, failure, outages }: CallContext,
  attempt: Attempt<T>,
  {
    deadlineMs,
    endBy,
    retryUntil,
  }: { readonly deadlineMs: number; readonly endBy: number; readonly retryUntil: number },
): Promise<T> {
  const leftMs = () => Math.max(endBy - performance.now(), shortestMs)
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    let open: Connection | undefined
    try {
      open = await connection.current(leftMs())
      const result = await callOnce(open, attempt, { deadlineMs, firstMs: leftMs() })
      responded.add(connection)
      outages?.succeeded()
      return result
    } catch (error) {
      const isFinal = error instanceof LogUnusableError || isPermanentError(error)
      if (closing.aborted) throw failure(error)
      if (!isFinal) connection.suspect()
      // Also when this call gives up: the next one would get no response on it either.
      if (error instanceof ResponseTimeoutError && open !== undefined) connection.replace(open)
      if (isFinal || performance.now() + pauseMs > retryUntil) {
        outages?.failed(error)
        throw failure(error)
      }
      await pause(pauseMs, closing, open?.ended)
    }
  }
}

/** The wait before a repetition. After an election it is over. */
export async function pause(ms: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
  const signal = anySignal(...signals.filter((each) => each !== undefined))
  await sleep(ms, undefined, { signal }).catch(() => {})
}

/**
 * One attempt. On failures in `execute`, the client replaces its channel or follows the leader that a node names.
 * @throws the reason of the connection's end, when its node leads no longer
 */
export async function callOnce<T>(
  { client, ended }: Connection,
  attempt: Attempt<T>,
  { deadlineMs = Number.POSITIVE_INFINITY, firstMs = Number.POSITIVE_INFINITY } = {},
): Promise<T> {
  const callArguments = clientMethod(client, 'callArguments')
  const deadline = deadlineMs === Number.POSITIVE_INFINITY ? deadlineMs : Date.now() + deadlineMs
  const calling = clientMethod(client, 'execute')(grpcStubs.StreamsClient, 'calls', (stub: StreamsClient) =>
    attempt(stub, callArguments({ requiresLeader: true }, { deadline }), firstMs),
  )
  return await withTimeout(calling, Number.POSITIVE_INFINITY, 'Call', ended)
}

/** Longer than any message of a healthy server takes. */
const messageTimeoutMs = 20_000
/** Covers a server restart or a leader election. */
const retryTimeoutMs = 60_000
/** Used until the first response: a server that has never responded more likely has a wrong address. */
const firstRetryTimeoutMs = 3_000

/** A log that a command reads or writes as a whole. */
export type RawClient = CallContext & {
  /** Names the server in error messages. */
  readonly name: string
  close(): Promise<void>
}

/** A log cannot be read or written; the message names the server and the reason. */
export class LogUnusableError extends Error {
  override readonly name = 'LogUnusableError'
}

/**
 * Opens a log for a command. Its calls throw LogUnusableError when the server rejects them, or did not respond for a minute
 * (3 s if it never responded).
 * @throws Error when the connection string cannot be understood
 */
export function createRawClient({
  name,
  connectionString,
}: {
  readonly name: string
  readonly connectionString: string
}): RawClient {
  const closed = new AbortController()
  const { replaceable } = createConnections({ connectionString, closing: closed.signal })
  const connection = replaceable(messageTimeoutMs)
  return {
    name,
    connection,
    timeoutMs: messageTimeoutMs,
    retryTimeoutMs: (hasResponded) => (hasResponded ? retryTimeoutMs : firstRetryTimeoutMs),
    closing: closed.signal,
    failure: (error) => unusableError(name, error),
    async close() {
      closed.abort(new Error('The log was closed'))
      await connection.close()
    },
  }
}

function unusableError(name: string, error: unknown): LogUnusableError {
  if (error instanceof LogUnusableError) return error
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ')
  const unconnected = /No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note:/.exec(message)
  if (unconnected === null) return new LogUnusableError(`${name}: ${message}`, { cause: error })
  // The embedded event store has no TLS, which is the client's default.
  const hint = message.includes('wrong version number') ? ': a server without TLS needs tls=false' : ''
  return new LogUnusableError(`${name} cannot be reached${hint}: ${unconnected[1]}`, { cause: error })
}
