// Classifies failed calls: conflict, rejected, or unknown outcome.
import { ErrorType, WrongExpectedVersionError } from '@eventstore/db-client'
import { DomainError } from '@paylog/domain/errors'

export type AppendFailure = 'conflict' | 'too_large' | 'rejected' | 'unknown'

/** INVALID_ARGUMENT, PERMISSION_DENIED, FAILED_PRECONDITION, UNIMPLEMENTED, UNAUTHENTICATED: the request itself is wrong. */
const permanentCodes = new Set([3, 7, 9, 12, 16])
/** CANCELLED and UNAVAILABLE: after these the client reconnects by itself. */
const recoverableCodes = new Set([1, 14])

/** How the embedded event store refuses an append while its disk is full. The client keeps only the text of a reply it does not know. */
const noSpace = 'No space is left on the disk of the log; nothing was written'

/** The event store did not respond in time. */
export class ResponseTimeoutError extends Error {
  override readonly name = 'ResponseTimeoutError'

  constructor(what: string, timeoutMs: number) {
    super(`${what} got no response within ${timeoutMs} ms`)
  }
}

/**
 * Classifies the error of an append. The client throws its own errors or plain gRPC errors (only `code` is set). An error
 * does not mean that nothing was written, so everything that is not definite is `unknown`.
 */
export function appendFailure(error: unknown): AppendFailure {
  if (error instanceof WrongExpectedVersionError) return 'conflict'
  if (typeOf(error) === ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED) return 'too_large'
  return isPermanentError(error) ? 'rejected' : 'unknown'
}

/** Whether the server rejected the request, so that a retry is useless. */
export function isPermanentError(error: unknown): boolean {
  if (error instanceof Error && error.message.includes(noSpace)) return true
  const type = typeOf(error)
  if (type === ErrorType.ACCESS_DENIED || type === ErrorType.STREAM_DELETED) return true
  const code = codeOf(error)
  return code !== undefined && permanentCodes.has(code)
}

/**
 * Whether the client may be stuck and needs a new connection. After a typed error the client reopens its stream. After a
 * timeout, or a plain error from the query for supported methods, it may stay stuck for ever.
 */
export function mayBeStuck(error: unknown): boolean {
  const code = codeOf(error)
  return typeOf(error) === undefined && (code === undefined || !recoverableCodes.has(code))
}

function typeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined
}

function codeOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? error.code
    : undefined
}

/**
 * Waits for work, at most for `timeoutMs`, which may be infinite. The outcome of work that ends later is ignored.
 * @throws ResponseTimeoutError after `timeoutMs`, the signal's reason when it aborts, and the errors of the work
 */
export function withTimeout<T>(work: Promise<T>, timeoutMs: number, what: string, signal?: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const fail = (error: unknown) => {
      end()
      reject(error)
    }
    const abort = () => fail(signal?.reason)
    const isLimited = timeoutMs !== Number.POSITIVE_INFINITY
    const timer = isLimited ? setTimeout(() => fail(new ResponseTimeoutError(what, timeoutMs)), timeoutMs) : undefined
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    work.then((result) => {
      end()
      resolve(result)
    }, fail)
  })
}

const unavailable = (message: string) => (cause: unknown) =>
  new DomainError('event_store_unavailable', message, undefined, { cause })

/** For an append with an unknown outcome. */
export const unconfirmedError = unavailable('The event store did not confirm this; it may or may not be recorded')
/** For an append that the store rejected. */
export const rejectedByStoreError = unavailable('The event store rejected this; nothing was recorded')
/** For an append that was not sent, because no node leads. */
export const leaderlessError = unavailable('The event store has no leader at the moment; nothing was recorded')
/** For a failed read. */
export const unreadableLogError = unavailable('The event store cannot be read at the moment')
